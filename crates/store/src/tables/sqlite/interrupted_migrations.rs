//! A migration that is killed, or gets an error from the disk, at any operation leaves a store that opens afterwards and
//! answers as before.
//!
//! Every version in turn with some operations by default; `WONBON_FAULTS=all` (scripts/hard.sh): every operation of
//! every version.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::path::Path;
use std::process::Command;

use wonbon_testkit::disk::{Failure, Layer};

use super::earlier_versions::{THRESHOLD, assert_answers, build_store};
use super::schema::SCHEMA_VERSION;
use crate::Store;

/// What the child does: opens a store of an earlier version.
#[test]
fn child_that_migrates() {
    let Ok(directory) = std::env::var("WONBON_MIGRATED_STORE") else { return };
    if let Ok(store) = Store::open(Path::new(&directory)) {
        // Closing may fail as opening may; what is looked at is what is left.
        let _ = store.close();
    }
}

fn migrate(directory: &Path, prepare: impl FnOnce(&mut Command)) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["child_that_migrates", "--test-threads", "1"]);
    child.env("WONBON_MIGRATED_STORE", directory);
    prepare(&mut child);
    drop(child.output().unwrap());
}

#[test]
fn an_interrupted_migration_is_done_again() {
    let all = std::env::var("WONBON_FAULTS").is_ok_and(|text| text == "all");
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().canonicalize().unwrap();
    let mut tried = 0;
    for version in 1..SCHEMA_VERSION as usize {
        let directory = top.join(version.to_string());
        let build = || {
            let _ = std::fs::remove_dir_all(&directory);
            std::fs::create_dir(&directory).unwrap();
            build_store(&directory, version, THRESHOLD);
        };
        build();
        let count = top.join("count");
        migrate(&directory, |child| Layer::get().count(child, &directory, &count));
        let operations: u64 = std::fs::read_to_string(&count).unwrap().trim().parse().unwrap();
        assert!(operations > 5, "{operations} operations");
        let step = if all { 1 } else { operations.div_ceil(6) };
        for operation in (0..operations).step_by(step as usize) {
            for failure in [Failure::Abort, Failure::Error("EIO"), Failure::ErrorFromHere("ENOSPC")]
            {
                build();
                migrate(&directory, |child| {
                    Layer::get().fail(child, &directory, operation, failure);
                });
                let what = format!("version {version}, {failure:?} at {operation} of {operations}");
                let store =
                    Store::open(&directory).unwrap_or_else(|error| panic!("{what}: {error}"));
                store.catch_up().unwrap();
                assert_answers(&store, version, &what);
                assert_eq!(store.verify().unwrap().first, Vec::<String>::new(), "{what}");
                store.close().unwrap();
                tried += 1;
            }
        }
    }
    wonbon_testkit::long::report("interrupted migrations", &[("tried", tried), ("lost", 0)]);
}
