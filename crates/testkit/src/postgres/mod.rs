//! Real servers of PostgreSQL on loopback, for tests and benchmarks, and a [`Proxy`] that brings about faults.
//!
//! A server is made by `initdb` in a temporary folder and listens on a Unix socket there. A guardian, which is a shell, starts it
//! and carries out what a test asks for: crashes, restarts, standbys. The guardian stops the server and removes the folder
//! when the pipe to it closes, so nothing is left behind however a test ends. Without PostgreSQL's programs, which
//! `scripts/tools.sh` installs, there is no server, and a test says that it was skipped.
//!
//! Cost: a server is ready after some two seconds. Tests that do not harm it share one ([`shared_server`]).

mod proxy;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

pub use proxy::{Direction, Fault, Place, Proxy, TurnMessages};

/// Settings of every server. Machines do not fail here, so it need not sync.
const SETTINGS: &str =
    "-c listen_addresses='' -c max_connections=400 -c fsync=off -c wal_keep_size=256MB";

/// What a guardian does: one command a line, and the end of everything when there are no more lines.
const GUARDIAN: &str = r#"
    cd "$1" && programs="$2"
    run() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
    every() { p=$(head -n 1 data/postmaster.pid); kill "$1" "$p" $(pgrep -P "$p"); }
    start() { run "$programs/pg_ctl" -D data -w -t 120 -l server.log -o "-k $PWD $settings" start; }
    mkdir -m 700 data && { [ "$(id -u)" != 0 ] || chown postgres . data; }
    while read -r line; do
        { eval "$line"; } >>guardian.log 2>&1 </dev/null
        echo "done $?"
    done
    [ -e data/postmaster.pid ] && every -CONT 2>>guardian.log
    run "$programs/pg_ctl" -D data -w -m immediate stop >>guardian.log 2>&1
    cd / && { umount "$1/data" 2>&1; rm -rf "$1"; } >"$1/guardian.log" 2>&1
"#;

/// A running PostgreSQL of this process.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    programs: PathBuf,
    guardian: Mutex<Guardian>,
}

#[derive(Debug)]
struct Guardian {
    process: Child,
    /// None once it is told to end.
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

/// How a server is started.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServerOptions<'a> {
    /// More settings, as the server's own flags.
    pub settings: &'a str,
    /// Its tables lie on a disk of so many kilobytes; its log is elsewhere.
    pub disk_kilobytes: Option<u32>,
}

/// The server that all tests of this process share; none where PostgreSQL is not installed.
pub fn shared_server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(ServerOptions::default())).as_ref()
}

/// The folder of the newest installed programs.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|programs| programs.join("initdb").exists())
        .collect();
    versions.sort();
    versions.pop()
}

/// A path in an address.
fn encode(path: &Path) -> String {
    path.display().to_string().replace('%', "%25").replace('/', "%2F")
}

/// The address of a store: the first of the servers in these folders that can be written to.
#[must_use]
pub fn address(sockets: &[&Path], schema: &str, derived: &Path) -> String {
    let hosts: Vec<String> = sockets.iter().map(|folder| encode(folder)).collect();
    let hosts = hosts.join(",");
    let several = if sockets.len() > 1 { "&target_session_attrs=read-write" } else { "" };
    let derived = encode(derived);
    format!("postgres://wonbon@/postgres?host={hosts}{several}&schema={schema}&derived={derived}")
}

impl Server {
    /// Makes a server of its own; none where PostgreSQL is not installed, or the disk that it asks for cannot be mounted.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[must_use]
    pub fn start(options: ServerOptions<'_>) -> Option<Server> {
        let server = Self::guarded(options)?;
        let mounted = match options.disk_kilobytes {
            Some(size) => {
                format!("mount -t tmpfs -o size={size}k tmpfs data && chown postgres data")
            }
            None => "true".to_owned(),
        };
        if !server.ask(&mounted) {
            skipped("no disk of its own can be mounted here");
            return None;
        }
        server.order("run \"$programs/initdb\" -D data -X \"$PWD/wal\" -U wonbon -A trust -E UTF8 --locale=C");
        server.order("start");
        Some(server)
    }

    /// A standby of this server, which follows it from now on; it counts in `synchronous_standby_names` as `standby`.
    ///
    /// # Panics
    ///
    /// If it does not start.
    #[must_use]
    pub fn standby(&self) -> Server {
        let standby =
            Self::guarded(ServerOptions::default()).expect("a server runs from the same programs");
        standby.order(&format!(
            "run \"$programs/pg_basebackup\" -D data -R -c fast -X stream -d 'host={} user=wonbon application_name=standby'",
            self.folder.display()
        ));
        standby.order("start");
        standby
    }

    fn guarded(options: ServerOptions<'_>) -> Option<Server> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Some(programs) = programs() else {
            skipped("PostgreSQL is not installed");
            return None;
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wonbon-pg-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("the name is new");
        let mut command = match options.disk_kilobytes {
            None => Command::new("bash"),
            // What it mounts ends with it.
            Some(_) => {
                let mut command = Command::new("unshare");
                command.args(["--mount", "bash"]);
                command
            }
        };
        let mut process = command
            .args(["-c", GUARDIAN, "guardian"])
            .args([&folder, &programs])
            .env("settings", format!("{SETTINGS} {}", options.settings))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let commands = process.stdin.take();
        let answers = BufReader::new(process.stdout.take().expect("it was asked for"));
        let guardian = Mutex::new(Guardian { process, commands, answers });
        Some(Server { folder, programs, guardian })
    }

    /// Whether a command of the guardian ended well.
    fn ask(&self, command: &str) -> bool {
        let mut guardian = self.guardian.lock().expect("no one panics with it");
        let commands = guardian.commands.as_mut().expect("it ends with the server");
        writeln!(commands, "{command}").expect("the guardian listens");
        let mut line = String::new();
        guardian.answers.read_line(&mut line).expect("the guardian answers");
        line.trim() == "done 0"
    }

    fn order(&self, command: &str) {
        let log = self.folder.join("guardian.log");
        let told = || std::fs::read_to_string(&log).unwrap_or_default();
        assert!(self.ask(command), "{command}: {}", told());
    }

    /// The folder of its socket.
    #[must_use]
    pub fn sockets(&self) -> &Path {
        &self.folder
    }

    /// What names a store in this schema.
    #[must_use]
    pub fn address(&self, schema: &str, derived: &Path) -> String {
        address(&[&self.folder], schema, derived)
    }

    /// Ends it as a power cut would, as far as a server can tell.
    pub fn crash(&self) {
        self.order("run \"$programs/pg_ctl\" -D data -w -m immediate stop");
    }

    /// Starts it again after a crash.
    pub fn restart(&self) {
        self.order("start");
    }

    /// Makes a standby the primary.
    pub fn promote(&self) {
        self.order("run \"$programs/pg_ctl\" -D data -w -t 120 promote");
    }

    /// From now on this role needs its password.
    pub fn require_password(&self, role: &str) {
        self.order(&format!("sed -i '1i local all {role} scram-sha-256' data/pg_hba.conf"));
        self.order("run \"$programs/pg_ctl\" -D data reload");
    }

    /// Stops all its processes where they are: it holds its connections and says nothing.
    pub fn freeze(&self) {
        self.order("every -STOP");
    }

    /// Lets them go on.
    pub fn thaw(&self) {
        self.order("every -CONT");
    }

    /// Writes a file of zeros beside its tables until the disk is full.
    pub fn fill_disk(&self) {
        // It ends with an error, because the disk is full.
        self.ask("cat /dev/zero >data/ballast");
    }

    /// Removes that file.
    pub fn make_room(&self) {
        self.order("rm data/ballast");
    }

    /// Runs a statement with PostgreSQL's own client, and returns what it prints.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    #[must_use]
    pub fn ask_psql(&self, sql: &str) -> String {
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-U", "wonbon", "-d", "postgres", "-h"])
            .arg(&self.folder)
            .args(["-v", "ON_ERROR_STOP=1", "-c", sql])
            .output()
            .expect("psql is beside the server");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs a statement that has no answer.
    ///
    /// # Panics
    ///
    /// If the server refuses.
    pub fn psql(&self, sql: &str) {
        let _ = self.ask_psql(sql);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let guardian = self.guardian.get_mut().expect("no one panics with it");
        drop(guardian.commands.take());
        // It has removed everything when it ends.
        let _ = guardian.process.wait();
    }
}

#[allow(clippy::print_stderr, reason = "what was skipped is told")]
fn skipped(why: &str) {
    eprintln!("{why}: these tests were skipped");
}
