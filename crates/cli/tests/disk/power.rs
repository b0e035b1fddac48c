//! Power cuts: whatever a cut leaves of the files, what was acknowledged is there, and the same command continues or
//! begins again. A cut may drop or tear every write and every change of a name that was not synced.
//!
//! Each test records the file operations of real commands once and builds from the recording what cuts at random
//! moments leave. `WONBON_CUTS` sets how many cuts there are in all, 50 by default; scripts/hard.sh: 500.

use std::path::Path;

use wonbon_app::tokens::Tokens;
use wonbon_store::{NewDocument, Store, StoreError};
use wonbon_testkit::disk::{Cut, Recording};
use wonbon_testkit::long;

use crate::place::{Place, acknowledged, list, rows, text, verify};
use crate::site;
use crate::support::{self, command, stderr};

const BATCHES: u64 = 5;
const BATCH: u64 = 12;

/// The part of all cuts that a test makes.
fn number_of_cuts(percent: u64) -> usize {
    long::share((long::number("WONBON_CUTS", 50) * percent).div_ceil(100)) as usize
}

/// Checks a cut; a failed check says which cut it was.
fn each_cut(name: &str, place: &Place, recording: &Recording, number: usize, check: impl Fn(Cut)) {
    assert!(recording.len() > 10, "{} operations", recording.len());
    for cut in recording.cuts(number, 16 + (long::part().0 << 32)) {
        place.cut(recording, cut);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(cut)));
        if let Err(panic) = checked {
            let listed: Vec<_> = list(&place.root).into_keys().collect();
            eprintln!("{cut:?} of {}; left: {listed:?}", recording.len());
            std::panic::resume_unwind(panic);
        }
    }
    long::report(&format!("power cuts: {name}"), &[("tried", number as u64), ("lost", 0)]);
}

#[test]
fn a_store_keeps_what_it_acknowledged() {
    let place = Place::new();
    let mut recording = Recording::begin(&place.root);
    let directory = place.inside("store");
    for batch in 0..BATCHES {
        let input = place.beside("in.jsonl", &rows(batch * BATCH..(batch + 1) * BATCH));
        place.record(&["--store", &directory, "add", &input, "--json", "--threads", "1"]);
    }
    recording.read(&place.log());
    each_cut("store", &place, &recording, number_of_cuts(40), |cut| {
        let known = acknowledged(&recording.said(cut));
        let path = Path::new(&directory);
        let store = match Store::open(path) {
            Ok(store) => store,
            Err(StoreError::NoStore { .. }) => {
                assert_eq!(known, Vec::<u64>::new(), "there is no store");
                Store::open_or_create(path, None).unwrap()
            }
            Err(error) => panic!("{error}"),
        };
        for number in known {
            let document = store.get(&format!("d{number}")).unwrap();
            let document = document.unwrap_or_else(|| panic!("d{number} is lost"));
            assert_eq!(document.text, text(number));
        }
        verify(&store);
        for number in 0..BATCHES * BATCH {
            let key = format!("d{number}");
            store.add(&NewDocument::text(&key, None, &text(number))).unwrap();
        }
        store.close().unwrap();
        let store = Store::open(path).unwrap();
        assert_eq!(store.counts().unwrap().documents, BATCHES * BATCH);
        verify(&store);
    });
}

#[test]
fn a_backup_is_whole_or_not_there() {
    let place = Place::new();
    let directory = place.inside("store");
    let input = place.beside("in.jsonl", &rows(0..40));
    let added = command(&["--store", &directory, "add", &input]).output().unwrap();
    assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
    let mut recording = Recording::begin(&place.root);
    let backup = place.inside("backup");
    place.record(&["--store", &directory, "backup", &backup]);
    recording.read(&place.log());
    each_cut("backup", &place, &recording, number_of_cuts(12), |cut| {
        match Store::open(Path::new(&backup)) {
            Ok(copy) => {
                assert_eq!(copy.counts().unwrap().documents, 40);
                verify(&copy);
            }
            Err(StoreError::NoStore { .. }) => assert!(cut.after < recording.len()),
            Err(error) => panic!("{error}"),
        }
        let store = Store::open(Path::new(&directory)).unwrap();
        assert_eq!(store.counts().unwrap().documents, 40);
        verify(&store);
        // The command can be given again.
        if !Path::new(&backup).join("documents.sqlite").exists() {
            store.backup(Path::new(&backup)).unwrap();
            assert_eq!(Store::open(Path::new(&backup)).unwrap().counts().unwrap().documents, 40);
        }
    });
}

#[test]
fn tokens_that_were_shown_are_known() {
    let place = Place::new();
    let mut recording = Recording::begin(&place.root);
    let file = place.inside("tokens");
    for name in ["one", "two", "three", "four"] {
        place.record(&["token", "create", name, "--tokens", &file]);
    }
    recording.read(&place.log());
    each_cut("tokens", &place, &recording, number_of_cuts(12), |cut| {
        let said = String::from_utf8(recording.said(cut)).unwrap();
        let shown: Vec<&str> =
            said.split_whitespace().filter(|word| word.starts_with("wonbon_")).collect();
        if shown.is_empty() && !Path::new(&file).exists() {
            return;
        }
        let tokens = Tokens::read(Path::new(&file)).unwrap();
        for secret in shown {
            assert!(tokens.find(secret).is_some(), "a token that was shown is lost");
        }
        Tokens::change(Path::new(&file), |_| Ok(())).unwrap();
    });
}

#[test]
fn dedup_is_whole_or_goes_on() {
    let place = Place::new();
    let input = place.beside("in.jsonl", &rows(0..60));
    let out = place.inside("out");
    let arguments = ["dedup", &input, "-o", &out, "--threads", "1"];
    let mut recording = Recording::begin(&place.root);
    place.record(&arguments);
    recording.read(&place.log());
    let results = || {
        ["families.jsonl", "kept/in.jsonl"]
            .map(|name| std::fs::read_to_string(place.root.join("out").join(name)).unwrap())
    };
    let expected = results();
    each_cut("dedup", &place, &recording, number_of_cuts(20), |cut| {
        let is_there = place.root.join("out").exists();
        assert!(is_there || cut.after < recording.len(), "the results are lost");
        if !is_there {
            let again = command(&arguments).output().unwrap();
            assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
        }
        assert_eq!(results(), expected);
    });
}

#[test]
fn a_crawl_goes_on() {
    let place = Place::new();
    let site = format!("http://127.0.0.5:{}/", site::serve());
    let out = place.inside("out");
    let crawl = ["--allow-private", "127.0.0.0/8", "--json"];
    let begin = [&["crawl", &site, "--delay", "0", "--out", &out][..], &crawl].concat();
    let resume = [&["crawl", "--resume", &out][..], &crawl].concat();
    let mut recording = Recording::begin(&place.root);
    place.record(&begin);
    recording.read(&place.log());
    let pages = |output: &std::process::Output| {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        support::json(output)["pages"].clone()
    };
    each_cut("crawl", &place, &recording, number_of_cuts(16), |cut| {
        let resumed = command(&resume).output().unwrap();
        // Nothing of it was durable: it begins again.
        let again = match stderr(&resumed) {
            said if said.contains("holds no crawl") || said.contains("was interrupted before") => {
                assert!(cut.after < recording.len(), "{said}");
                command(&begin).output().unwrap()
            }
            _ => resumed,
        };
        assert_eq!(pages(&again), 3);
    });
}
