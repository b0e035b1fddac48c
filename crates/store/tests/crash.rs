//! kill -9 at random moments: nothing acknowledged is lost, nothing is half stored.
//!
//! The test starts itself as a child that adds documents and decides about some from four clients and logs
//! every acknowledgement; the parent kills it, opens the store and looks. `WONBON_KILLS` sets how often,
//! 40 by default; scripts/hard.sh: 200.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use wonbon_store::{By, Decision, NewDocument, Store};
use wonbon_testkit::long;
use wonbon_time::Timestamp;

const CLIENTS: u64 = 4;
/// A store is begun anew after so many kills, so that looking at it stays quick.
const KILLS_OF_A_STORE: u64 = 10;

fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (number ^ (number >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (number >> 32)
}

/// Two documents in three are alone, the rest are copies of a few; some are edited, some arrive late.
fn text(number: u64) -> String {
    let about = if number.is_multiple_of(3) { number % 7 } else { 1000 + number };
    let words = (0..40).map(|at| format!("word{}", mixed(about * 100 + at) % 5000));
    words.collect::<Vec<_>>().join(" ")
}

/// What the child does until it is killed.
#[test]
fn child() {
    let Ok(directory) = std::env::var("WONBON_CRASH_STORE") else { return };
    let run: u64 = std::env::var("WONBON_CRASH_RUN").unwrap().parse().unwrap();
    let directory = Path::new(&directory);
    let store = Store::open_or_create(&directory.join("store"), None);
    let store = store.unwrap();
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let store = &store;
            scope.spawn(move || {
                let log = directory.join(format!("acknowledged.{client}"));
                let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
                let decided = directory.join(format!("decided.{client}"));
                let mut decided_log =
                    OpenOptions::new().create(true).append(true).open(decided).unwrap();
                for at in 0.. {
                    let number = (run * CLIENTS + client) * 1_000_000 + at;
                    // Every eighth is a new version of an earlier one.
                    let named = if at % 8 == 7 { number - 3 } else { number };
                    let created = (mixed(number) % 1000) as i64;
                    let key = format!("document {named}");
                    let text = text(number);
                    let document =
                        NewDocument::text(&key, Some(Timestamp::from_microseconds(created)), &text);
                    // A run is a sweep.
                    store.add(&document.seen(Timestamp::from_microseconds(run as i64))).unwrap();
                    // One write: a kill leaves the whole line or nothing.
                    log.write_all(format!("{named} {number}\n").as_bytes()).unwrap();
                    // Every sixteenth is decided about; every other one of those twice.
                    if at % 16 == 5 {
                        let decisions = [Decision::NotACopy, Decision::Original];
                        for decision in &decisions[..1 + usize::from(at % 32 == 5)] {
                            let decided = store.decide(&key, *decision, &By::default(), None);
                            let entry = decided.unwrap().unwrap().entry;
                            decided_log.write_all(format!("{named} {entry}\n").as_bytes()).unwrap();
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let kills = long::share(long::number("WONBON_KILLS", 40));
    let first = long::part().0 * kills;
    let mut directory = tempfile::tempdir().unwrap();
    let (mut acknowledged, mut midst) = (0, 0);
    for kill in first..first + kills {
        if (kill - first).is_multiple_of(KILLS_OF_A_STORE) {
            directory = tempfile::tempdir().unwrap();
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["child", "--exact", "--nocapture"])
            .env("WONBON_CRASH_STORE", directory.path())
            .env("WONBON_CRASH_RUN", kill.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(20_000 + mixed(kill) % 150_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let (seen, complete) = look(directory.path());
        acknowledged += seen;
        midst += u64::from(seen > 0 && complete);
    }
    assert!(
        acknowledged > 0 && midst > kills / 4,
        "{acknowledged} documents, {midst} kills in the midst"
    );
    long::report(
        "kills of a store",
        &[("tried", kills), ("amid writes", midst), ("acknowledged", acknowledged), ("lost", 0)],
    );
}

/// Opens the store of a killed child: everything that was acknowledged is there as it was given.
fn look(directory: &Path) -> (u64, bool) {
    let store = match Store::open(&directory.join("store")) {
        Ok(store) => store,
        // Killed before there was one: then nothing was acknowledged.
        Err(wonbon_store::StoreError::NoStore { .. }) => {
            let logged = (0..CLIENTS).any(|client| {
                directory
                    .join(format!("acknowledged.{client}"))
                    .metadata()
                    .is_ok_and(|m| m.len() > 0)
            });
            assert!(!logged, "acknowledged without a store");
            return (0, false);
        }
        Err(error) => panic!("{error}"),
    };
    let mut seen = 0;
    for client in 0..CLIENTS {
        let mut log = String::new();
        let Ok(mut file) = File::open(directory.join(format!("acknowledged.{client}"))) else {
            continue;
        };
        file.read_to_string(&mut log).unwrap();
        let mut last = std::collections::HashMap::new();
        for line in log.lines() {
            let (named, number) = line.split_once(' ').unwrap();
            last.insert(named.to_owned(), number.parse::<u64>().unwrap());
        }
        for (named, number) in last {
            let stored = store.get(&format!("document {named}")).unwrap();
            let stored = stored.unwrap_or_else(|| panic!("{named} was acknowledged and is lost"));
            let given: Vec<String> = [number, named.parse::<u64>().unwrap() + 3].map(text).to_vec();
            // A newer version may have been stored and not yet acknowledged.
            assert!(given.contains(&stored.text), "{named} is not what was acknowledged");
            let sweep = Timestamp::from_microseconds((number / 1_000_000 / CLIENTS) as i64);
            let sightings = store.sightings(&stored.key).unwrap();
            assert!(
                sightings.last().is_some_and(|run| run.last == sweep),
                "{named}: {sightings:?}"
            );
            seen += 1;
        }
    }
    let entries = store.decisions(None, None, usize::MAX).unwrap();
    for client in 0..CLIENTS {
        let log = std::fs::read_to_string(directory.join(format!("decided.{client}")));
        for line in log.unwrap_or_default().lines() {
            let (named, entry) = line.split_once(' ').unwrap();
            let entry: usize = entry.parse().unwrap();
            // The latest first.
            let found = &entries[entries.len() - entry];
            assert_eq!(found.key, format!("document {named}"), "an acknowledged decision is lost");
        }
    }
    let verified = store.verify().unwrap();
    assert_eq!(verified.differences, 0, "{:?}", verified.first);
    store.close().unwrap();
    (seen, true)
}
