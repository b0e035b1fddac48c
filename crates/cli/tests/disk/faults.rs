//! Faults: each command is stopped at an operation on its files, or gets an error from it. It then ends with a sentence
//! or is killed; what was there and what it acknowledged stays; and the same command succeeds afterwards.
//!
//! By default a few operations of each command, in turn with every kind of fault; `WONBON_FAULTS=all`
//! (scripts/hard.sh): every operation with every kind, and every memory limit.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use wonbon_app::tokens::Tokens;
use wonbon_store::Store;
use wonbon_testkit::disk::{Failure, Layer};
use wonbon_testkit::long;

use crate::place::{Place, acknowledged, copy, rows, text, verify};
use crate::site;
use crate::support::{command, json, stderr, stdout};

/// What can happen at an operation.
const FAILURES: [Failure; 6] = [
    Failure::Abort,
    Failure::Error("EIO"),
    Failure::ErrorFromHere("ENOSPC"),
    Failure::ErrorFromHere("EIO"),
    Failure::ErrorFromHere("EROFS"),
    Failure::ErrorFromHere("EMFILE"),
];

/// No run takes so long; one that does hangs.
const HANGS: Duration = Duration::from_secs(100);

/// Documents that are there before.
const BEFORE: u64 = 30;
/// Documents that are added.
const ADDED: std::ops::Range<u64> = 25..45;

/// A command, what it needs, and what must hold after it failed and after it succeeded.
struct Case<'a> {
    name: &'a str,
    arguments: Vec<&'a str>,
    /// What the directory has before.
    template: &'a Path,
    after_failure: &'a dyn Fn(&Output),
    after_success: &'a dyn Fn(&Output),
    /// The command that continues, if it is another.
    again: Option<&'a dyn Fn() -> Output>,
}

/// Counts of what happened.
#[derive(Default)]
struct Counts {
    cells: u64,
    refused: u64,
    killed: u64,
    unharmed: u64,
}

impl Counts {
    fn report(&self, what: &str) {
        let Counts { cells, refused, killed, unharmed } = *self;
        let counts =
            [("tried", cells), ("refused", refused), ("killed", killed), ("went on", unharmed)];
        long::report(what, &[&counts[..], &[("lost", 0)]].concat());
    }
}

/// The cells of this part of a long form.
fn of_this_part<T>(cells: impl IntoIterator<Item = T>) -> Vec<T> {
    let (part, parts) = long::part();
    cells.into_iter().skip(part as usize).step_by(parts as usize).collect()
}

fn is_long() -> bool {
    std::env::var("WONBON_FAULTS").is_ok_and(|text| text == "all")
}

/// Runs to the end, or tells that it hangs.
fn run(mut command: Command) -> Output {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let id = child.id();
    let (ended, waits) = std::sync::mpsc::channel();
    let watcher = std::thread::spawn(move || {
        let hangs = waits.recv_timeout(HANGS) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
        if hangs {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
        hangs
    });
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let read = |mut from: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            from.read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    let (out, err) = (read(Box::new(out)), read(Box::new(err)));
    let status = child.wait().unwrap();
    let _ = ended.send(());
    assert!(!watcher.join().unwrap(), "it hangs: {command:?}");
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

impl Case<'_> {
    fn prepare(&self, place: &Place) {
        std::fs::remove_dir_all(&place.root).unwrap();
        copy(self.template, &place.root);
    }

    /// How many operations it makes when nothing fails.
    fn operations(&self, place: &Place) -> u64 {
        self.prepare(place);
        let file = place.beside("count", "");
        let mut counted = command(&self.arguments);
        Layer::get().count(&mut counted, &place.root, Path::new(&file));
        let output = run(counted);
        assert_eq!(output.status.code(), Some(0), "{}: {}", self.name, stderr(&output));
        (self.after_success)(&output);
        std::fs::read_to_string(file).unwrap().trim().parse().unwrap()
    }

    fn try_one(&self, place: &Place, prepare: impl FnOnce(&mut Command), counts: &mut Counts) {
        self.prepare(place);
        let mut failing = command(&self.arguments);
        prepare(&mut failing);
        let output = run(failing);
        let said = stderr(&output);
        counts.cells += 1;
        match (output.status.code(), output.status.signal()) {
            (Some(0), _) => {
                counts.unharmed += 1;
                (self.after_success)(&output);
            }
            (Some(1 | 2), _) => {
                counts.refused += 1;
                assert!(said.lines().any(|line| line.starts_with("error: ")), "{said}");
                assert!(!said.contains("panicked"), "{said}");
                (self.after_failure)(&output);
            }
            (_, Some(9)) => {
                counts.killed += 1;
                assert!(!said.contains("panicked"), "{said}");
                (self.after_failure)(&output);
            }
            other => panic!("{other:?}: {said}"),
        }
        if output.status.code() != Some(0) {
            let again = match self.again {
                Some(again) => again(),
                None => run(command(&self.arguments)),
            };
            assert_eq!(again.status.code(), Some(0), "again: {}", stderr(&again));
            (self.after_success)(&again);
        }
    }

    fn try_all(&self, place: &Place) {
        let operations = self.operations(place);
        assert!(operations > 0);
        let mut counts = Counts::default();
        let cells: Vec<(u64, Failure)> = match is_long() {
            true => of_this_part(
                (0..operations).flat_map(|operation| FAILURES.map(|failure| (operation, failure))),
            ),
            false => {
                let every = FAILURES.into_iter().enumerate();
                every.map(|(at, f)| ((operations * (2 * at as u64 + 1)) / 12, f)).collect()
            }
        };
        for (operation, failure) in cells {
            let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let prepare = |command: &mut Command| {
                    Layer::get().fail(command, &place.root, operation, failure);
                };
                self.try_one(place, prepare, &mut counts);
            }));
            if let Err(panic) = tried {
                eprintln!("{}: {failure:?} at operation {operation} of {operations}", self.name);
                std::panic::resume_unwind(panic);
            }
        }
        counts.report(&format!("faults: {}", self.name));
    }

    /// The same with less and less memory.
    fn try_memory(&self, place: &Place) {
        let limits: Vec<u64> = match is_long() {
            true => of_this_part([16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 256, 384, 512]),
            false => vec![24, 96],
        };
        let mut counts = Counts::default();
        for megabytes in limits {
            let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let prepare = |failing: &mut Command| {
                    let mut limited = Command::new("sh");
                    limited
                        .arg("-c")
                        .arg(format!("ulimit -v {} && exec \"$0\" \"$@\"", megabytes << 10))
                        .arg(failing.get_program())
                        .args(failing.get_args())
                        .env("NO_COLOR", "1");
                    *failing = limited;
                };
                self.try_memory_one(place, prepare, &mut counts);
            }));
            if let Err(panic) = tried {
                eprintln!("{} in {megabytes} MB", self.name);
                std::panic::resume_unwind(panic);
            }
        }
        counts.report(&format!("little memory: {}", self.name));
    }

    /// A program without memory may end as it can; what it leaves must be whole.
    fn try_memory_one(
        &self,
        place: &Place,
        prepare: impl FnOnce(&mut Command),
        counts: &mut Counts,
    ) {
        self.prepare(place);
        let mut failing = command(&self.arguments);
        prepare(&mut failing);
        let output = run(failing);
        counts.cells += 1;
        match output.status.code() {
            Some(0) => {
                counts.unharmed += 1;
                return (self.after_success)(&output);
            }
            Some(_) => counts.refused += 1,
            None => counts.killed += 1,
        }
        (self.after_failure)(&output);
        let again = match self.again {
            Some(again) => again(),
            None => run(command(&self.arguments)),
        };
        assert_eq!(again.status.code(), Some(0), "again: {}", stderr(&again));
        (self.after_success)(&again);
    }
}

/// Checks the documents of a store and what an add acknowledged.
fn check_store(directory: &str, said: &[u8], expected: Option<u64>) {
    let store = Store::open(Path::new(directory)).unwrap();
    let acknowledged = acknowledged(said);
    for number in (0..BEFORE).chain(acknowledged) {
        let document = store.get(&format!("d{number}")).unwrap();
        let document = document.unwrap_or_else(|| panic!("d{number} is lost"));
        assert_eq!(document.text, text(number));
    }
    verify(&store);
    if let Some(expected) = expected {
        assert_eq!(store.counts().unwrap().documents, expected);
    }
    store.close().unwrap();
}

/// A directory with a store of some documents, and a file of some more beside it.
fn with_store(place: &Place) -> (String, String) {
    let store = place.inside("store");
    let first = place.beside("first.jsonl", &rows(0..BEFORE));
    let added = run(command(&["--store", &store, "add", &first]));
    assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
    (store, place.beside("second.jsonl", &rows(ADDED)))
}

/// The state of the directory as it is now.
fn template(place: &Place) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy(&place.root, folder.path());
    folder
}

#[test]
fn adding() {
    let place = Place::new();
    let (store, input) = with_store(&place);
    let before = template(&place);
    let case = Case {
        name: "add",
        arguments: vec!["--store", &store, "add", &input, "--json", "--threads", "1"],
        template: before.path(),
        after_failure: &|output| check_store(&store, &output.stdout, None),
        after_success: &|output| check_store(&store, &output.stdout, Some(ADDED.end)),
        again: None,
    };
    case.try_all(&place);
    case.try_memory(&place);
}

#[test]
fn making_a_store() {
    let place = Place::new();
    let empty = tempfile::tempdir().unwrap();
    let input = place.beside("first.jsonl", &rows(0..BEFORE));
    let store = place.inside("store");
    let case = Case {
        name: "a new store",
        arguments: vec!["--store", &store, "add", &input, "--json", "--threads", "1"],
        template: empty.path(),
        after_failure: &|output| {
            for number in acknowledged(&output.stdout) {
                let opened = Store::open(Path::new(&store)).unwrap();
                assert_eq!(opened.get(&format!("d{number}")).unwrap().unwrap().text, text(number));
            }
        },
        after_success: &|output| check_store(&store, &output.stdout, Some(BEFORE)),
        again: None,
    };
    case.try_all(&place);
    case.try_memory(&place);
}

#[test]
fn rebuilding() {
    let place = Place::new();
    let (store, _) = with_store(&place);
    let before = template(&place);
    let case = Case {
        name: "rebuild",
        arguments: vec!["--store", &store, "rebuild", "--rule", "threshold=0.7"],
        template: before.path(),
        after_failure: &|_| check_store(&store, b"", Some(BEFORE)),
        after_success: &|_| check_store(&store, b"", Some(BEFORE)),
        again: None,
    };
    case.try_all(&place);
    case.try_memory(&place);
}

#[test]
fn backing_up_and_restoring() {
    let place = Place::new();
    let (store, _) = with_store(&place);
    let (backup, restored) = (place.inside("backup"), place.inside("restored"));
    let is_whole = |directory: &str| check_store(directory, b"", Some(BEFORE));
    let is_whole_or_absent = |directory: &str| {
        if Path::new(directory).join("documents.sqlite").exists() {
            is_whole(directory);
        }
    };
    let back_up = ["--store", &store, "backup", &backup];
    let before = template(&place);
    let case = Case {
        name: "backup",
        arguments: back_up.to_vec(),
        template: before.path(),
        after_failure: &|_| {
            is_whole(&store);
            is_whole_or_absent(&backup);
        },
        after_success: &|_| {
            is_whole(&store);
            is_whole(&backup);
        },
        again: Some(&|| {
            if Path::new(&backup).join("documents.sqlite").exists() {
                std::fs::remove_dir_all(&backup).unwrap();
            }
            run(command(&back_up))
        }),
    };
    case.try_all(&place);
    case.try_memory(&place);

    case.prepare(&place);
    assert_eq!(run(command(&back_up)).status.code(), Some(0));
    let restore = ["restore", &backup, "--store", &restored];
    let before = template(&place);
    let case = Case {
        name: "restore",
        arguments: restore.to_vec(),
        template: before.path(),
        after_failure: &|_| {
            is_whole(&backup);
            is_whole_or_absent(&restored);
        },
        after_success: &|_| is_whole(&restored),
        again: Some(&|| {
            if Path::new(&restored).exists() {
                std::fs::remove_dir_all(&restored).unwrap();
            }
            run(command(&restore))
        }),
    };
    case.try_all(&place);
    case.try_memory(&place);
}

#[test]
fn deduplicating() {
    let place = Place::new();
    let empty = tempfile::tempdir().unwrap();
    let input = place.beside("in.jsonl", &rows(0..60));
    let out = place.inside("out");
    let arguments = ["dedup", &input, "-o", &out, "--threads", "1"];
    let results = || {
        ["families.jsonl", "kept/in.jsonl"]
            .map(|name| std::fs::read_to_string(Path::new(&out).join(name)).unwrap())
    };
    assert_eq!(run(command(&arguments)).status.code(), Some(0));
    let expected = results();
    let is_whole = |_: &Output| assert_eq!(results(), expected);
    let case = Case {
        name: "dedup",
        arguments: arguments.to_vec(),
        template: empty.path(),
        after_failure: &|output| {
            if Path::new(&out).exists() {
                is_whole(output);
            }
        },
        after_success: &is_whole,
        again: Some(&|| {
            // The last sync failed after the results had their name: they are whole.
            if Path::new(&out).exists() {
                std::fs::remove_dir_all(&out).unwrap();
            }
            run(command(&arguments))
        }),
    };
    case.try_all(&place);
    case.try_memory(&place);
}

#[test]
fn making_tokens() {
    let place = Place::new();
    let file = place.inside("tokens");
    let create = |name| run(command(&["token", "create", name, "--tokens", &file]));
    let secret = |output: &Output| {
        let said = stdout(output);
        said.split_whitespace().find(|word| word.starts_with("wonbon_")).map(str::to_owned)
    };
    let first = secret(&create("first")).unwrap();
    let knows = |output: &Output| {
        let tokens = Tokens::read(Path::new(&file)).unwrap();
        assert!(tokens.find(&first).is_some(), "a token is lost");
        if let Some(shown) = secret(output) {
            assert!(tokens.find(&shown).is_some(), "a token that was shown is lost");
        }
    };
    let before = template(&place);
    let case = Case {
        name: "token create",
        arguments: vec!["token", "create", "second", "--tokens", &file],
        template: before.path(),
        after_failure: &knows,
        after_success: &knows,
        again: None,
    };
    case.try_all(&place);
    case.try_memory(&place);
}

#[test]
fn crawling() {
    let place = Place::new();
    let empty = tempfile::tempdir().unwrap();
    let site = format!("http://127.0.0.5:{}/", site::serve());
    let out = place.inside("out");
    let network = ["--allow-private", "127.0.0.0/8", "--json"];
    let begin = [&["crawl", &site, "--delay", "0", "--out", &out][..], &network].concat();
    let resume = [&["crawl", "--resume", &out][..], &network].concat();
    let case = Case {
        name: "crawl",
        arguments: begin.clone(),
        template: empty.path(),
        after_failure: &|_| {},
        after_success: &|output| assert_eq!(json(output)["pages"], 3),
        again: Some(&|| {
            let resumed = run(command(&resume));
            let said = stderr(&resumed);
            match said.contains("holds no crawl") || said.contains("was interrupted before") {
                true => run(command(&begin)),
                false => resumed,
            }
        }),
    };
    case.try_all(&place);
    case.try_memory(&place);
}
