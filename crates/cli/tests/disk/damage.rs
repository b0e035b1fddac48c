//! One flipped bit anywhere in any file of a store, a crawl or a run: it is noticed and repaired from the source of
//! truth, refused by name, or harmless. Never a wrong answer, never a panic.
//!
//! Files are taken in turn, so that small ones are hit as often as the database. `WONBON_FLIPS` sets how many bits are
//! flipped in all, 240 by default; scripts/hard.sh: 10,000.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wonbon_store::{Kind, Measure, Page, Query, Question, Store, StoreError};
use wonbon_testkit::disk::{Failure, Layer};
use wonbon_testkit::long;

use crate::place::{Place, copy, list, rows, text};
use crate::site;
use crate::support::{command, json, stderr};

const DOCUMENTS: u64 = 40;

fn flips(percent: u64) -> u64 {
    long::share(long::number("WONBON_FLIPS", 240) * percent / 100)
}

/// What became of a flipped bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// Every answer is right, because what was damaged was built anew or carries nothing.
    Right,
    /// Refused, with a sentence.
    Refused,
    /// Something is missing or different, and `verify` says so.
    ToldByVerify,
}

/// Flips bits in copies of a directory and counts what `check` says of each; `check` panics on wrong answers.
fn flip_all(
    name: &str,
    template: &Path,
    target: &Path,
    number: u64,
    check: impl Fn() -> Fate,
) -> BTreeMap<Fate, u64> {
    let files: Vec<PathBuf> = list(template)
        .into_iter()
        .filter(|(_, bytes)| *bytes > 0)
        .map(|(path, _)| path.strip_prefix(template).unwrap().to_owned())
        .collect();
    let mut fates = BTreeMap::new();
    let mut random = long::random(97);
    let first = long::part().0 * number;
    for flip in first..first + number {
        let file = &files[(flip % files.len() as u64) as usize];
        let _ = std::fs::remove_dir_all(target);
        copy(template, target);
        let path = target.join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        let (at, bit) = (random.below(bytes.len() as u64) as usize, random.below(8));
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, bytes).unwrap();
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&check));
        match checked {
            Ok(fate) => *fates.entry(fate).or_default() += 1,
            Err(panic) => {
                eprintln!("{name}: bit {bit} of byte {at} of {}", file.display());
                std::panic::resume_unwind(panic);
            }
        }
    }
    let count = |fate| fates.get(&fate).copied().unwrap_or(0);
    long::report(
        &format!("flipped bits: {name}"),
        &[
            ("tried", number),
            ("right", count(Fate::Right)),
            ("refused by name", count(Fate::Refused)),
            ("told by verify", count(Fate::ToldByVerify)),
            ("wrong", 0),
        ],
    );
    fates
}

/// What a store answers.
#[derive(Debug, PartialEq)]
struct Answers {
    documents: BTreeMap<String, (String, Kind, Option<String>, Option<String>)>,
    found: Vec<String>,
    similar: Vec<(String, f64)>,
}

fn answers(store: &Store) -> Result<Answers, StoreError> {
    let mut documents = BTreeMap::new();
    for number in 0..DOCUMENTS {
        let key = format!("d{number}");
        let Some(found) = store.get(&key)? else { continue };
        let created = Some(found.created.to_string());
        documents.insert(key, (found.text, found.verdict.kind, found.verdict.original, created));
    }
    store.catch_up()?;
    let word = text(7).split(' ').next().unwrap().to_owned();
    let query = Query::parse(&word).unwrap();
    let hits = store.search(&query, Page { offset: 0, limit: 50 })?.results;
    let mut found: Vec<String> = hits.into_iter().map(|hit| hit.document.key).collect();
    found.sort();
    let question = Question { measure: Measure::Resemblance, min: 0.5, limit: 50 };
    let matches = store.ask(&text(3), &question)?.matches;
    let mut similar: Vec<(String, f64)> = matches
        .into_iter()
        .map(|found| (found.document.key, found.overlap.resemblance()))
        .collect();
    similar.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(Answers { documents, found, similar })
}

#[test]
fn a_flipped_bit_in_a_store() {
    let place = Place::new();
    let directory = place.root.join("store");
    let input = place.beside("in.jsonl", &rows(0..DOCUMENTS));
    let store = place.inside("store");
    let added = command(&["--store", &store, "add", &input]).output().unwrap();
    assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
    let opened = Store::open(&directory).unwrap();
    let expected = answers(&opened).unwrap();
    assert_eq!(expected.documents.len() as u64, DOCUMENTS);
    assert!(!expected.found.is_empty() && expected.similar.len() > 2);
    opened.close().unwrap();
    let template = tempfile::tempdir().unwrap();
    copy(&directory, template.path());
    let fates = flip_all("store", template.path(), &directory, flips(60), || {
        let store = match Store::open(&directory) {
            Ok(store) => store,
            Err(error) => {
                let said = error.to_string();
                let names_it = said.contains(directory.to_str().unwrap());
                assert!(names_it || said.contains("documents.sqlite"), "which file? {said}");
                return Fate::Refused;
            }
        };
        match answers(&store) {
            Ok(answers) if answers == expected => Fate::Right,
            Ok(answers) => {
                // A damaged index of keys does not find a document: what is there must still be right.
                let verified = store.verify();
                let told = verified.as_ref().is_ok_and(|verified| verified.differences > 0);
                assert!(told || verified.is_err(), "{answers:#?}\ninstead of\n{expected:#?}");
                for (key, document) in &answers.documents {
                    assert_eq!(document, &expected.documents[key], "{key}");
                }
                Fate::ToldByVerify
            }
            Err(_) => Fate::Refused,
        }
    });
    assert!(fates[&Fate::Refused] > 0 && fates[&Fate::Right] > 0);
}

#[test]
fn a_flipped_bit_in_a_crawl() {
    let place = Place::new();
    let site = format!("http://127.0.0.5:{}/", site::serve());
    let out = place.inside("out");
    let network = ["--allow-private", "127.0.0.0/8", "--json"];
    let begun = [&["crawl", &site, "--delay", "0", "--out", &out][..], &network].concat();
    let crawled = command(&begun).output().unwrap();
    let expected = json(&crawled)["pages"].clone();
    let template = tempfile::tempdir().unwrap();
    copy(Path::new(&out), template.path());
    let resume = [&["crawl", "--resume", &out][..], &network].concat();
    let archive = place.inside("out/archive");
    let texts = |archive: &str| {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        let added =
            command(&["--store", store.to_str().unwrap(), "add", archive]).output().unwrap();
        assert!(matches!(added.status.code(), Some(0..=2)), "{}", stderr(&added));
        assert!(!stderr(&added).contains("panicked"), "{}", stderr(&added));
        let is_whole = added.status.code() == Some(0);
        let mut texts = Vec::new();
        if let Ok(store) = Store::open_read_only(&store) {
            store
                .for_each::<StoreError>(|document| {
                    texts.push((document.key, document.text));
                    Ok(())
                })
                .unwrap();
        }
        texts.sort();
        (texts, is_whole)
    };
    let (all, is_whole) = texts(&archive);
    assert!(is_whole && all.len() == 3, "{all:?}");
    let fates = flip_all("crawl", template.path(), Path::new(&out), flips(20), || {
        let (read, is_whole) = texts(&archive);
        assert!(read == all || !is_whole, "pages are missing or different, and nobody says so");
        assert!(read.iter().all(|page| all.contains(page)), "{read:?}");
        let resumed = command(&resume).output().unwrap();
        let said = stderr(&resumed);
        assert!(!said.contains("panicked"), "{said}");
        match resumed.status.code() {
            Some(0) if is_whole => {
                assert_eq!(json(&resumed)["pages"], expected, "{said}");
                Fate::Right
            }
            Some(0 | 2) => {
                assert!(is_whole || !said.is_empty() || resumed.status.success());
                Fate::Refused
            }
            code => panic!("{code:?}: {said}"),
        }
    });
    assert!(fates.contains_key(&Fate::Refused), "{fates:?}");
}

#[test]
fn a_flipped_bit_in_an_unfinished_run() {
    let place = Place::new();
    let input = place.beside("in.jsonl", &rows(0..60));
    let out = place.inside("out");
    let arguments = ["dedup", &input, "-o", &out, "--threads", "1"];
    let results = || {
        ["families.jsonl", "kept/in.jsonl"]
            .map(|name| std::fs::read_to_string(Path::new(&out).join(name)).unwrap())
    };
    let count = place.beside("count", "");
    let mut counted = command(&arguments);
    Layer::get().count(&mut counted, &place.root, Path::new(&count));
    assert_eq!(counted.output().unwrap().status.code(), Some(0));
    let expected = results();
    let operations: u64 = std::fs::read_to_string(count).unwrap().trim().parse().unwrap();
    // Killed at the middle and near the end.
    for killed_at in [operations / 2, operations * 4 / 5] {
        std::fs::remove_dir_all(&place.root).unwrap();
        std::fs::create_dir(&place.root).unwrap();
        let mut killed = command(&arguments);
        Layer::get().fail(&mut killed, &place.root, killed_at, Failure::Abort);
        assert_eq!(killed.output().unwrap().status.code(), None);
        let template = tempfile::tempdir().unwrap();
        copy(&place.root, template.path());
        flip_all("unfinished run", template.path(), &place.root, flips(10), || {
            let again = command(&arguments).output().unwrap();
            let said = stderr(&again);
            assert!(!said.contains("panicked"), "{said}");
            match again.status.code() {
                Some(0) => {
                    assert_eq!(results(), expected);
                    Fate::Right
                }
                Some(2) => {
                    assert!(said.contains("out.partial"), "which file? {said}");
                    Fate::Refused
                }
                code => panic!("{code:?}: {said}"),
            }
        });
    }
}
