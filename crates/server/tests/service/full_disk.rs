//! A disk that fills while documents are streamed in: one clear problem for each line that found no room,
//! nothing acknowledged is lost, readers go on, and when there is room again so do writers.
//!
//! The disk is a real one of a few megabytes, mounted in a namespace of its own that ends with the process
//! that holds it, so nothing is left behind however a test ends. Where the system does not allow that, the
//! tests say that they were skipped. A limit on the size of files does for writes that fail otherwise.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use wonbon_store::Store;

use crate::process::{acknowledged, address_of, ask, start_child, stream};
use crate::support::{Answer, text};

/// A disk of some size.
struct SmallDisk {
    holder: Child,
    /// Where it is mounted, for whoever is in its namespace.
    folder: tempfile::TempDir,
    /// Whether that is a user's namespace too.
    has_user: bool,
}

impl SmallDisk {
    fn new(kilobytes: u32) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        // Mounted, told, and held until its standard input ends.
        let script =
            format!("mount -t tmpfs -o size={kilobytes}k tmpfs \"$0\" && echo ready && read -r _");
        // As whoever may mount, or as root of a namespace.
        for namespace in [&["--mount"][..], &["--mount", "--map-root-user"]] {
            let holder = Command::new("unshare")
                .args(namespace)
                .args(["sh", "-c", &script])
                .arg(folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn();
            let Ok(mut holder) = holder else { continue };
            let mut told = String::new();
            BufReader::new(holder.stdout.take().unwrap()).read_line(&mut told).unwrap();
            if told.trim() == "ready" {
                return Some(SmallDisk { holder, folder, has_user: namespace.len() > 1 });
            }
            let _ = holder.kill();
            holder.wait().unwrap();
        }
        println!("skipped: no disk of its own can be mounted here");
        None
    }

    /// Something on it, as it is seen from outside. SQLite does not find its files by such a path.
    fn seen(&self, name: &str) -> PathBuf {
        let inside = self.folder.path().strip_prefix("/").unwrap();
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(inside).join(name)
    }

    /// Starts a server process that sees it.
    fn start_child(&self, directory: &Path) -> Child {
        let holder = self.holder.id().to_string();
        let user = ["--user", "--preserve-credentials"];
        let user = if self.has_user { &user[..] } else { &[] };
        let by = [&["nsenter", "--target", &holder], user, &["--mount"]].concat();
        start_child(directory, &by)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Bytes of the file that is removed to make room: more than what the search index still has to write takes.
const BALLAST: usize = 3 << 20;

/// A server process over a store on a small disk, with a file on it that can be removed to make room.
struct Cramped {
    folder: tempfile::TempDir,
    disk: SmallDisk,
    child: Child,
    address: SocketAddr,
}

impl Cramped {
    fn start(kilobytes: u32) -> Option<Cramped> {
        let disk = SmallDisk::new(kilobytes)?;
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(disk.seen("store")).unwrap();
        let inside = disk.folder.path().join("store");
        std::os::unix::fs::symlink(inside, folder.path().join("store")).unwrap();
        std::fs::write(disk.seen("ballast"), vec![1; BALLAST]).unwrap();
        let child = disk.start_child(folder.path());
        let address = address_of(folder.path());
        Some(Cramped { folder, disk, child, address })
    }

    fn make_room(&self) {
        std::fs::remove_file(self.disk.seen("ballast")).unwrap();
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.child = self.disk.start_child(self.folder.path());
        self.address = address_of(self.folder.path());
    }

    /// The store as it lies on the disk, in a directory that needs no namespace.
    fn copied(&self) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        let mut copying = Command::new("cp");
        copying.arg("-r").arg(self.disk.seen("store")).arg(copy.path());
        assert!(copying.status().unwrap().success());
        copy
    }
}

impl Drop for Cramped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn add(address: SocketAddr, id: &str, words: &str) -> Answer {
    let body = json!({"id": id, "text": words}).to_string();
    ask(address, "POST", "/v1/documents", &[("content-type", "application/json")], &body)
}

/// A text that takes room, however well it is packed.
fn bulky(number: u64) -> String {
    let words = (0..3000_u64).map(|at| {
        let mixed = (number * 3000 + at).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        format!("{:x}", mixed ^ mixed >> 29)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The answer to an add for which there is no room; none where no disk can be filled.
pub(crate) fn answer_without_room() -> Option<Answer> {
    let cramped = Cramped::start(8 << 10)?;
    let full = (0..1000)
        .map(|number| add(cramped.address, &format!("d{number}"), &bulky(number)))
        .find(|answer| answer.status != 201);
    Some(full.unwrap())
}

/// Files may grow to 600 kB: the write beyond is told to the process instead of killing it.
const LIMITED: [&str; 3] = ["bash", "-c", "trap '' XFSZ; ulimit -f 600; exec \"$0\" \"$@\""];

/// The answer to an add whose write fails for another reason: files may not grow any more.
pub(crate) fn answer_when_writing_fails() -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start_child(folder.path(), &LIMITED);
    let address = address_of(folder.path());
    let failed = (0..1000)
        .map(|number| add(address, &format!("d{number}"), &bulky(number)))
        .find(|answer| answer.status != 201);
    child.kill().unwrap();
    child.wait().unwrap();
    failed.unwrap()
}

/// Lines of each stream: more than there is room for.
const LINES: u64 = 6000;

#[test]
fn a_disk_that_fills_under_streams_loses_nothing_that_was_acknowledged() {
    let Some(mut cramped) = Cramped::start(8 << 10) else { return };
    let address = cramped.address;
    let streams: Vec<Vec<Value>> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2_u64)
            .map(|client| {
                let first = client * 1_000_000;
                scope.spawn(move || stream(address, first..first + LINES, &AtomicBool::new(false)))
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let mut all = std::collections::BTreeSet::new();
    for verdicts in &streams {
        // Every line was answered, and a summary says that these were all.
        let (summary, answers) = verdicts.split_last().unwrap();
        assert_eq!(answers.len() as u64, LINES, "{summary}");
        let refused: Vec<&Value> = answers.iter().filter(|line| line["code"].is_string()).collect();
        assert!(!refused.is_empty(), "the disk did not fill");
        for line in &refused {
            assert_eq!((&line["code"], &line["status"]), (&json!("disk_full"), &json!(507)));
        }
        assert_eq!(summary["summary"]["refused"], refused.len());
        assert_eq!(answers[refused[0]["line"].as_u64().unwrap() as usize - 1], *refused[0]);
        all.extend(acknowledged(verdicts));
    }
    assert!(!all.is_empty());
    // Readers go on.
    let some = all.iter().next().unwrap();
    let shown = ask(address, "GET", &format!("/v1/documents/{some}"), &[], "");
    assert_eq!((shown.status.as_u16(), &shown.json()["key"]), (200, &json!(some)));
    assert_eq!(ask(address, "GET", "/healthz", &[], "").status, 200);
    assert_eq!(ask(address, "GET", "/v1/status", &[], "").json()["documents"], all.len());
    let page = ask(address, "GET", "/families", &[("accept", "text/html")], "");
    assert_eq!(page.status, 200);
    // With room again writers do too.
    cramped.make_room();
    let more = add(address, "more", "there is room again for this one");
    assert_eq!(more.status, 201, "{more:?}");
    all.insert("more".to_owned());
    // After a kill everything that was acknowledged is there, and nothing else is.
    cramped.kill();
    let copy = cramped.copied();
    assert_all_there(copy.path(), &all);
    cramped.start_again();
    let counted = ask(cramped.address, "GET", "/v1/status", &[], "").json();
    assert_eq!(counted["documents"], all.len());
    assert_eq!(add(cramped.address, "again", "and for this one too").status, 201);
}

fn assert_all_there(folder: &Path, all: &std::collections::BTreeSet<String>) {
    let store = Store::open(&folder.join("store")).unwrap();
    for id in all {
        assert!(store.get(id).unwrap().is_some(), "{id} was acknowledged and is not there");
    }
    assert_eq!(store.counts().unwrap().documents, all.len() as u64);
    let verified = store.verify().unwrap();
    assert_eq!((verified.differences, &verified.first), (0, &Vec::new()));
    store.close().unwrap();
}

#[test]
fn writes_that_fail_are_told_and_lose_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = start_child(folder.path(), &LIMITED);
    let address = address_of(folder.path());
    let mut all = std::collections::BTreeSet::new();
    let refused = loop {
        let id = format!("d{}", all.len());
        let answer = add(address, &id, &bulky(all.len() as u64));
        if answer.status != 201 {
            break answer;
        }
        all.insert(id);
    };
    assert_eq!(refused.code(), "write_failed", "{refused:?}");
    assert!(!all.is_empty());
    assert_eq!(ask(address, "GET", "/v1/documents/d0", &[], "").status, 200);
    let asked = json!({"text": text(1)}).to_string();
    let kind = [("content-type", "application/json")];
    assert_eq!(ask(address, "POST", "/v1/check", &kind, &asked).status, 200);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_all_there(folder.path(), &all);
}
