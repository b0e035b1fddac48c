//! Backups, restoring them, and logs that belong to another database.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::{Path, PathBuf};
use std::sync::Barrier;

use wonbon_store::{NewDocument, OldStore, Store, StoreError, StoreParams};

fn text(number: u64) -> String {
    let words = (0..60).map(|at| format!("word{}", (number * 977 + at * at * 31) % 5000));
    words.collect::<Vec<_>>().join(" ")
}

fn add(store: &Store, numbers: std::ops::Range<u64>) {
    for number in numbers {
        store.add(&NewDocument::text(&format!("document {number}"), None, &text(number))).unwrap();
    }
}

fn documents(directory: &Path) -> u64 {
    let store = Store::open(directory).unwrap();
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    let documents = store.counts().unwrap().documents;
    store.close().unwrap();
    documents
}

fn database(directory: &Path) -> PathBuf {
    directory.join("documents.sqlite")
}

fn log(directory: &Path) -> PathBuf {
    directory.join("documents.sqlite-wal")
}

/// Copies the files of a store as they are at this moment: what a killed process leaves behind.
fn copy_as_killed(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
        }
    }
}

/// A store with 20 documents, a backup of its first 10, and what a kill leaves of it with all 20.
struct Places {
    _top: tempfile::TempDir,
    store: PathBuf,
    backup: PathBuf,
    killed: PathBuf,
}

fn places() -> Places {
    let top = tempfile::tempdir().unwrap();
    let place = |name: &str| top.path().join(name);
    let (store, backup, killed) = (place("store"), place("backup"), place("killed"));
    let open = Store::create(&store, &StoreParams::default()).unwrap();
    add(&open, 0..10);
    open.backup(&backup).unwrap();
    add(&open, 10..20);
    copy_as_killed(&store, &killed);
    open.close().unwrap();
    assert!(std::fs::metadata(log(&killed)).unwrap().len() > 0);
    Places { _top: top, store, backup, killed }
}

#[test]
fn a_killed_store_keeps_its_own_log() {
    let places = places();
    assert_eq!(documents(&places.killed), 20);
    assert_eq!(documents(&places.killed), 20);
}

#[test]
fn a_backup_that_is_copied_over_a_killed_store_is_not_mixed_with_its_log() {
    let places = places();
    std::fs::copy(database(&places.backup), database(&places.killed)).unwrap();
    for opened in [Store::open(&places.killed), Store::open_read_only(&places.killed)] {
        let error = opened.unwrap_err();
        assert!(matches!(error, StoreError::ForeignLog { .. }), "{error}");
        assert!(error.to_string().contains("documents.sqlite-wal"), "{error}");
    }
    assert!(log(&places.killed).exists(), "it is left alone");
    std::fs::remove_file(log(&places.killed)).unwrap();
    assert_eq!(documents(&places.killed), 10);
}

#[test]
fn an_earlier_copy_of_the_same_file_is_not_mixed_with_a_later_log() {
    let top = tempfile::tempdir().unwrap();
    let place = |name: &str| top.path().join(name);
    let store = Store::create(&place("store"), &StoreParams::default()).unwrap();
    add(&store, 0..10);
    store.close().unwrap();
    // Not by `backup`: the file of a closed store, copied.
    std::fs::copy(database(&place("store")), place("copy")).unwrap();
    let store = Store::open(&place("store")).unwrap();
    add(&store, 10..20);
    copy_as_killed(&place("store"), &place("killed"));
    store.close().unwrap();
    std::fs::copy(place("copy"), database(&place("killed"))).unwrap();
    let error = Store::open(&place("killed")).unwrap_err();
    assert!(matches!(error, StoreError::ForeignLog { .. }), "{error}");
    std::fs::remove_file(log(&place("killed"))).unwrap();
    assert_eq!(documents(&place("killed")), 10);
}

#[test]
fn what_was_derived_from_a_replaced_database_is_not_believed() {
    let places = places();
    // The store was closed: no log, but an index, a search index and an index of shingles of 20.
    let earlier = std::fs::read(database(&places.backup)).unwrap();
    std::fs::write(database(&places.store), earlier).unwrap();
    let store = Store::open(&places.store).unwrap();
    assert_eq!(store.index_len(), 10);
    // As many changes again as the old files have seen, so that their numbers look right.
    add(&store, 100..110);
    copy_as_killed(&places.store, &places.store.with_extension("again"));
    store.close().unwrap();
    assert_eq!(documents(&places.store), 20);
}

#[test]
fn no_store_is_created_beside_a_log_that_was_left_over() {
    let places = places();
    std::fs::remove_file(database(&places.killed)).unwrap();
    for created in [
        Store::create(&places.killed, &StoreParams::default()),
        Store::open_or_create(&places.killed, None),
    ] {
        let error = created.unwrap_err();
        assert!(matches!(error, StoreError::ForeignLog { .. }), "{error}");
    }
    assert!(log(&places.killed).exists() && !database(&places.killed).exists());
    std::fs::remove_file(log(&places.killed)).unwrap();
    Store::create(&places.killed, &StoreParams::default()).unwrap().close().unwrap();
    assert_eq!(documents(&places.killed), 0);
}

#[test]
fn a_backup_is_restored_where_there_is_nothing() {
    let places = places();
    let to = places.store.with_file_name("restored");
    assert_eq!(Store::restore(&places.backup, &to, OldStore::Refuse).unwrap(), None);
    assert_eq!(documents(&to), 10);
    assert!(!places.store.with_file_name("restored.partial").exists());
    // The backup is as it was, and can be restored once more.
    let again = places.store.with_file_name("again");
    std::fs::create_dir(&again).unwrap();
    Store::restore(&places.backup, &again, OldStore::Refuse).unwrap();
    assert_eq!(documents(&again), 10);
}

#[test]
fn a_store_is_overwritten_never_and_moved_aside_when_asked() {
    let places = places();
    let refused = Store::restore(&places.backup, &places.killed, OldStore::Refuse).unwrap_err();
    assert!(matches!(refused, StoreError::AlreadyThere { .. }), "{refused}");
    let aside = Store::restore(&places.backup, &places.killed, OldStore::MoveAside).unwrap();
    let aside = aside.expect("there was one");
    assert_eq!(documents(&places.killed), 10);
    assert_eq!(documents(&aside), 20, "with its log");
    let second = Store::restore(&places.backup, &places.killed, OldStore::MoveAside).unwrap();
    let second = second.expect("there was one");
    assert_ne!(aside, second);
    assert_eq!(documents(&aside), 20);
    assert_eq!(documents(&second), 10);
}

#[test]
fn other_files_in_the_place_are_not_touched_unless_asked() {
    let places = places();
    let to = places.store.with_file_name("mine");
    std::fs::create_dir(&to).unwrap();
    std::fs::write(to.join("thesis.txt"), "years of work").unwrap();
    let refused = Store::restore(&places.backup, &to, OldStore::Refuse).unwrap_err();
    assert!(matches!(refused, StoreError::NotEmpty { .. }), "{refused}");
    let aside = Store::restore(&places.backup, &to, OldStore::MoveAside).unwrap().unwrap();
    assert_eq!(std::fs::read(aside.join("thesis.txt")).unwrap(), b"years of work");
    assert_eq!(documents(&to), 10);
}

#[test]
fn a_store_that_is_in_use_is_not_moved_aside() {
    let places = places();
    let open = Store::open(&places.store).unwrap();
    let refused = Store::restore(&places.backup, &places.store, OldStore::MoveAside).unwrap_err();
    assert!(matches!(refused, StoreError::InUse { .. }), "{refused}");
    open.close().unwrap();
    assert_eq!(documents(&places.store), 20);
}

#[test]
fn a_damaged_backup_is_refused_before_anything_is_moved() {
    let mut places = places();
    let store = Store::open(&places.store).unwrap();
    add(&store, 100..400);
    places.backup = places.store.with_file_name("larger");
    store.backup(&places.backup).unwrap();
    store.delete("document 0").unwrap();
    store.close().unwrap();
    let (in_backup, in_store) = (320, 319);
    let path = database(&places.backup);
    let whole = std::fs::read(&path).unwrap();
    let mut refusals = 0;
    for at in (5000..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at..(at + 64).min(whole.len())].fill(0xFF);
        std::fs::write(&path, bytes).unwrap();
        let restored = Store::restore(&places.backup, &places.store, OldStore::MoveAside);
        match restored {
            Err(StoreError::Damaged { .. } | StoreError::ParamsMismatch { .. }) => {
                refusals += 1;
                assert_eq!(documents(&places.store), in_store);
            }
            Err(other) => panic!("{other}"),
            // Free space of a page.
            Ok(aside) => {
                assert_eq!(documents(&places.store), in_backup);
                std::fs::remove_dir_all(&places.store).unwrap();
                std::fs::rename(aside.unwrap(), &places.store).unwrap();
            }
        }
    }
    assert!(refusals > 10, "{refusals}");
    for cut in [0, 1000, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let restored = Store::restore(&places.backup, &places.store, OldStore::MoveAside);
        assert!(matches!(restored, Err(StoreError::Damaged { .. })), "{cut}: {restored:?}");
    }
    std::fs::remove_file(&path).unwrap();
    let none = Store::restore(&places.backup, &places.store, OldStore::MoveAside);
    assert!(matches!(none, Err(StoreError::NoStore { .. })));
    assert_eq!(documents(&places.store), in_store);
}

#[test]
fn backups_of_one_name_at_the_same_time_do_not_meet() {
    let places = places();
    let store = Store::open(&places.store).unwrap();
    for round in 0..10 {
        let to = places.store.with_file_name(format!("backup-{round}"));
        let begin = Barrier::new(4);
        let made = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| {
                scope.spawn(|| {
                    begin.wait();
                    store.backup(&to)
                })
            });
            threads.map(|thread| thread.join().unwrap())
        });
        let done = made.iter().filter(|made| made.is_ok()).count();
        assert_eq!(done, 1, "{made:?}");
        for refused in made.into_iter().filter_map(Result::err) {
            let known =
                matches!(refused, StoreError::AlreadyThere { .. } | StoreError::InUse { .. });
            assert!(known, "{refused}");
        }
        assert_eq!(documents(&to), 20);
    }
    store.close().unwrap();
}

#[cfg(unix)]
#[test]
fn stores_and_backups_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt as _;
    fn check(path: &Path) {
        let metadata = std::fs::metadata(path).unwrap();
        let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, wanted, "{}", path.display());
        if metadata.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                check(&entry.unwrap().path());
            }
        }
    }
    let places = places();
    let restored = places.store.with_file_name("restored");
    Store::restore(&places.backup, &restored, OldStore::Refuse).unwrap();
    for directory in [&places.store, &places.backup, &restored] {
        let store = Store::open(directory).unwrap();
        add(&store, 50..55);
        store.flush().unwrap();
        check(&database(directory));
        check(&log(directory));
        store.close().unwrap();
        assert_eq!(
            std::fs::metadata(directory).unwrap().permissions().mode() & 0o777,
            0o700,
            "{}",
            directory.display()
        );
    }
}
