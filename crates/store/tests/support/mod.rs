//! Where the stores of the tests are: in a temporary directory, or, in the test binaries whose names begin with
//! `postgres`, in a schema of their own in a PostgreSQL that is started for the run.
//!
//! Without PostgreSQL's programs, which `scripts/tools.sh` installs, those binaries say so and use directories.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::print_stderr, reason = "what was skipped is told")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// Whether this binary's stores are in PostgreSQL.
pub(crate) fn in_postgres() -> bool {
    env!("CARGO_CRATE_NAME").starts_with("postgres") && server().is_some()
}

/// How many random cases are tried: fewer where a store costs a schema and three handles.
pub(crate) fn cases(in_directories: u32) -> u32 {
    match in_postgres() {
        true if leaves_out_large_corpora() => in_directories.div_ceil(20),
        true => in_directories.div_ceil(4),
        false => in_directories,
    }
}

/// Whether the larger corpora are left out: where a store is in PostgreSQL they take minutes, and scripts/hard.sh asks for
/// them by `WONBON_ALL_CORPORA`.
pub(crate) fn leaves_out_large_corpora() -> bool {
    in_postgres() && std::env::var_os("WONBON_ALL_CORPORA").is_none()
}

/// A place for a store, removed at the end.
pub(crate) struct Place {
    directory: TempDir,
    path: PathBuf,
}

impl Place {
    /// What names the store.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A folder for whatever else a test needs.
    pub(crate) fn folder(&self) -> &Path {
        self.directory.path()
    }
}

/// A place where no store is yet.
pub(crate) fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let path = match in_postgres().then(server).flatten() {
        Some(server) => {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            // Each file that is a module of a binary has a copy of this one.
            let file = module_path!().split("::").nth(1).unwrap_or("test");
            let schema = format!("{file}_{}", NEXT.fetch_add(1, Ordering::Relaxed));
            server.address(&schema, directory.path()).into()
        }
        None => directory.path().join("store"),
    };
    Place { directory, path }
}

/// A running PostgreSQL. It ends when the process does, however that ends: its guardian reads our end of a pipe.
pub(crate) struct Server {
    sockets: PathBuf,
    programs: PathBuf,
    /// Of the copy of this file that started it.
    _guardian: Option<std::process::Child>,
}

impl Server {
    /// What names a store in this schema.
    pub(crate) fn address(&self, schema: &str, derived: &Path) -> String {
        format!(
            "postgres://wonbon@/postgres?host={}&schema={schema}&derived={}",
            encode(&self.sockets),
            encode(derived)
        )
    }

    /// The folder of its socket.
    pub(crate) fn sockets(&self) -> &Path {
        &self.sockets
    }

    /// Runs a statement with PostgreSQL's own client, and returns what it prints.
    pub(crate) fn psql(&self, sql: &str) -> String {
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-U", "wonbon", "-d", "postgres", "-h"])
            .arg(&self.sockets)
            .args(["-v", "ON_ERROR_STOP=1", "-c", sql])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

/// A path in an address.
fn encode(path: &Path) -> String {
    path.to_str().unwrap().replace('%', "%25").replace('/', "%2F")
}

/// The PostgreSQL of this run; none where its programs are not installed.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER
        .get_or_init(|| {
            let Some(programs) = programs() else {
                eprintln!("PostgreSQL is not installed: these tests were skipped");
                return None;
            };
            Some(start(programs))
        })
        .as_ref()
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

/// Makes a cluster in a temporary folder and starts it; its machine does not fail here, so it need not sync. PostgreSQL refuses to run as root, so root becomes the user that
/// Debian made for it.
fn start(programs: PathBuf) -> Server {
    let folder = std::env::temp_dir().join(format!("wonbon-pg-{}", std::process::id()));
    if std::fs::create_dir(&folder).is_err() {
        // Another copy of this file in the same process was first.
        while !folder.join("started").exists() {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        return Server { sockets: folder, programs, _guardian: None };
    }
    let script = r#"
        cd "$1"
        mkdir data
        run() { if [ "$(id -u)" = 0 ]; then chown -R postgres .; runuser -u postgres -- "$@"; else "$@"; fi; }
        run "$2/initdb" -D data -U wonbon -A trust -E UTF8 --locale=C >initdb.log 2>&1 &&
        run "$2/pg_ctl" -D data -w -t 120 -l server.log -o "-k $1 -c listen_addresses='' -c max_connections=400 -c fsync=off" start >pg_ctl.log 2>&1 &&
        touch started && echo started
        read -r _
        run "$2/pg_ctl" -D data -w -m immediate stop >>pg_ctl.log 2>&1
        cd / && rm -rf "$1"
    "#;
    let mut guardian = Command::new("bash")
        .args(["-c", script, "guardian"])
        .args([&folder, &programs])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(guardian.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    assert_eq!(line.trim(), "started", "see the logs in {}", folder.display());
    Server { sockets: folder, programs, _guardian: Some(guardian) }
}
