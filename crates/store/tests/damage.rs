//! What happens when files are not as they were written, or cannot be.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::{Path, PathBuf};

use wonbon_store::{
    Measure, NewDocument, Page, Query, Question, Rule, Store, StoreError, StoreParams,
};
use wonbon_time::Timestamp;

fn text(number: u64) -> String {
    let words = (0..60).map(|at| format!("word{}", (number * 977 + at * at * 31) % 5000));
    words.collect::<Vec<_>>().join(" ")
}

/// A closed store of some documents, with copies among them.
fn filled(directory: &Path) -> u64 {
    let store = Store::create(directory, &StoreParams::default()).unwrap();
    for number in 0..300 {
        let key = format!("document {number}");
        let text = text(number % 200);
        store
            .add(&NewDocument::text(&key, Some(Timestamp::from_microseconds(number as i64)), &text))
            .unwrap();
    }
    let originals = store.counts().unwrap().originals;
    store.close().unwrap();
    originals
}

fn files_in(directory: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 0x20;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn damage_among_the_shingles_is_noticed_and_built_again() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let segment = files_in(&directory.path().join("shingles"))
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "segment"))
        .unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    // Behind the header and the table of documents: no number among the postings ends any more.
    let number = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize;
    let (documents, posting_bytes) = (number(16), number(32));
    let postings = 64 + documents * 12..64 + documents * 12 + posting_bytes;
    bytes[postings].iter_mut().for_each(|byte| *byte |= 0x80);
    std::fs::write(&segment, bytes).unwrap();

    let question = Question { measure: Measure::Resemblance, min: 0.9, limit: 10 };
    let found = |store: &Store| store.ask(&text(7), &question).unwrap().matches.len();
    // Beside a process that writes, in memory only.
    let reader = Store::open_read_only(directory.path()).unwrap();
    assert_eq!(found(&reader), 2);
    drop(reader);
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(found(&store), 2);
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    store.close().unwrap();
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(found(&store), 2);
    assert_eq!(store.verify().unwrap().differences, 0);
}

#[test]
fn a_damaged_snapshot_is_noticed_and_built_again() {
    let directory = tempfile::tempdir().unwrap();
    let originals = filled(directory.path());
    let snapshot = files_in(directory.path())
        .into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "snapshot"))
        .unwrap();
    let length = std::fs::metadata(&snapshot).unwrap().len() as usize;
    for at in [0, 13, 30, length / 2, length - 1] {
        flip(&snapshot, at);
        let store = Store::open(directory.path()).unwrap();
        assert!(store.index_rebuilt().is_some(), "byte {at}");
        assert_eq!(store.index_len() as u64, originals);
        assert_eq!(store.verify().unwrap().differences, 0);
        // Something changes, so that the snapshot is written again.
        let key = format!("later {at}");
        store.add(&NewDocument::text(&key, None, "nothing like the others at all, is it")).unwrap();
        store.delete(&key).unwrap();
        store.close().unwrap();
        let store = Store::open(directory.path()).unwrap();
        assert_eq!(store.index_rebuilt(), None);
        store.close().unwrap();
    }
}

#[test]
fn a_damaged_search_index_is_noticed_and_built_again() {
    let directory = tempfile::tempdir().unwrap();
    let originals = filled(directory.path());
    let query = Query::parse("word0").unwrap();
    let page = Page { offset: 0, limit: 50 };
    let store = Store::open(directory.path()).unwrap();
    store.catch_up().unwrap();
    let before = store.search(&query, page).unwrap().total;
    assert!(before > 0);
    store.close().unwrap();
    for path in files_in(&directory.path().join("search")) {
        // Names change with every rebuilding: what is gone was replaced.
        let Ok(metadata) = std::fs::metadata(&path) else { continue };
        let length = metadata.len() as usize;
        if length == 0 || path.extension().is_some_and(|extension| extension == "lock") {
            continue;
        }
        flip(&path, length / 2);
        let store = Store::open(directory.path()).unwrap();
        store.catch_up().unwrap();
        assert_eq!(store.search(&query, page).unwrap().total, before, "{}", path.display());
        let verified = store.verify().unwrap();
        assert_eq!(verified.differences, 0, "{:?}", verified.first);
        assert_eq!(store.counts().unwrap().originals, originals);
        store.close().unwrap();
    }
    std::fs::remove_dir_all(directory.path().join("search")).unwrap();
    let store = Store::open(directory.path()).unwrap();
    store.catch_up().unwrap();
    assert_eq!(store.search(&query, page).unwrap().total, before);
}

#[test]
fn a_damaged_database_is_never_answered_from() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let database = directory.path().join("documents.sqlite");
    let whole = std::fs::read(&database).unwrap();
    let (mut refused, mut right) = (0, 0);
    for step in 0..120 {
        let mut bytes = whole.clone();
        let at = (step * 7919 + 13) * 31 % bytes.len();
        bytes[at] ^= 1 << (step % 8);
        std::fs::write(&database, &bytes).unwrap();
        let answers = Store::open_read_only(directory.path()).and_then(|store| {
            for number in 0..300 {
                let document = store.get(&format!("document {number}"))?;
                let Some(document) = document else {
                    // A damaged page of the key's index: told by verify, which reads it all.
                    assert!(store.verify()?.differences > 0, "byte {at}");
                    continue;
                };
                assert_eq!(document.text, text(number % 200), "byte {at}");
                let expected = (number >= 200).then(|| format!("document {}", number - 200));
                assert_eq!(document.verdict.original, expected, "byte {at}");
            }
            Ok(())
        });
        match answers {
            Ok(()) => right += 1,
            Err(StoreError::Damaged { .. } | StoreError::ParamsMismatch { .. }) => refused += 1,
            Err(StoreError::NewerTables { .. }) => refused += 1,
            Err(StoreError::Database(_) | StoreError::NoStore { .. }) => refused += 1,
            Err(error) => panic!("byte {at}: {error}"),
        }
    }
    assert!(refused > 0 && right > 0, "{refused} refused, {right} unharmed");
    for length in [0, 100, whole.len() / 2, whole.len() - 4096] {
        std::fs::write(&database, &whole[..length]).unwrap();
        let opened = Store::open(directory.path());
        assert!(matches!(opened, Err(StoreError::Damaged { .. })), "{length}: {opened:?}");
    }
    std::fs::write(&database, b"something else entirely, but long enough to be looked at").unwrap();
    assert!(matches!(Store::open(directory.path()), Err(StoreError::Damaged { .. })));
}

#[test]
fn another_store_or_other_parameters_are_refused_with_both_values() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let asked = StoreParams { rule: Rule::Threshold(0.9), ..StoreParams::default() };
    let error = Store::open_or_create(directory.path(), Some(&asked)).unwrap_err();
    assert_eq!(error.to_string(), "the store has the rule threshold=0.8, not threshold=0.9");
    assert!(matches!(
        Store::create(directory.path(), &asked),
        Err(StoreError::AlreadyThere { .. })
    ));
    let nowhere = directory.path().join("nowhere");
    assert!(matches!(Store::open(&nowhere), Err(StoreError::NoStore { .. })));
}

#[test]
fn one_process_writes_and_others_read() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let writer = Store::open(directory.path()).unwrap();
    assert!(matches!(Store::open(directory.path()), Err(StoreError::InUse { .. })));
    let reader = Store::open_read_only(directory.path()).unwrap();
    assert!(reader.get("document 7").unwrap().is_some());
    assert!(matches!(reader.delete("document 7"), Err(StoreError::ReadOnly { .. })));
    writer.delete("document 7").unwrap();
    assert!(reader.get("document 7").unwrap().is_none());
    writer.close().unwrap();
}

/// What the child of the next test does: adds until there is no room, reads on, tells.
#[test]
fn child_without_room() {
    let Ok(directory) = std::env::var("WONBON_FULL_STORE") else { return };
    let store = Store::open(Path::new(&directory)).unwrap();
    for number in 1000_u64.. {
        let key = format!("document {number}");
        let added = store.add(&NewDocument::text(&key, None, &text(number)));
        match added {
            Ok(_) => println!("acknowledged {number}"),
            Err(error) => {
                println!("refused: {error}");
                break;
            }
        }
    }
    // Readers go on.
    assert!(store.get("document 3").unwrap().is_some());
    println!("still reading");
    std::process::exit(0);
}

#[test]
fn without_room_nothing_acknowledged_is_lost_and_readers_go_on() {
    let directory = tempfile::tempdir().unwrap();
    filled(directory.path());
    let child = std::env::current_exe().unwrap();
    // Files may grow to 400 kB: the write that fails is told instead of killing the process.
    let script = format!(
        "trap '' XFSZ; ulimit -f 400; exec {} child_without_room --exact --nocapture",
        child.display()
    );
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .env("WONBON_FULL_STORE", directory.path())
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("refused: "), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("still reading"), "{told}");
    let store = Store::open(directory.path()).unwrap();
    let mut acknowledged = 0;
    for line in told.lines() {
        if let Some((_, number)) = line.split_once("acknowledged ") {
            let number: u64 = number.trim().parse().unwrap();
            let document = store.get(&format!("document {number}")).unwrap();
            assert_eq!(document.unwrap().text, text(number));
            acknowledged += 1;
        }
    }
    assert!(acknowledged > 0, "{told}");
    assert_eq!(store.verify().unwrap().differences, 0);
    store.add(&NewDocument::text("more", None, "there is room again for this one")).unwrap();
    store.close().unwrap();
}

#[test]
fn a_backup_is_a_store_and_is_taken_while_others_write() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("store"), directory.path().join("copy"));
    filled(&from);
    let store = Store::open(&from).unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 5000_u64.. {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                let key = format!("document {number}");
                store.add(&NewDocument::text(&key, None, &text(number))).unwrap();
            }
        });
        store.backup(&to).unwrap();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(matches!(store.backup(&to), Err(StoreError::AlreadyThere { .. })));
    let copy = Store::open(&to).unwrap();
    assert!(copy.counts().unwrap().documents >= 300);
    let verified = copy.verify().unwrap();
    assert_eq!(verified.differences, 0, "{:?}", verified.first);
    copy.close().unwrap();
    store.close().unwrap();
}
