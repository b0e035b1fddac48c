//! Real revisions as sweeps: Korean laws, each sweep with every law as it then was; the pages of a
//! project's documentation, each sweep one release, once under addresses that carry the release and once
//! under addresses that stay.
//!
//! Expected values come from the labels and from comparing everything with everything.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "support/mod.rs"]
mod support;

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::Path;

use serde_json::Value;
use wonbon_sketch::ElementSet;
use wonbon_store::{ChangesQuestion, Finding, NewDocument, Store, StoreParams};
use wonbon_testkit::corpora::corpus;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, shingles};
use wonbon_time::Timestamp;

const DAY: i64 = 86_400;

fn rows(path: &Path) -> Vec<Value> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    zstd::stream::read::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn text_of<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap()
}

fn set(text: &str) -> ElementSet {
    ElementSet::new(shingles(text, DEFAULT_SHINGLE_WORDS))
}

/// Adds a sweep; tells how many documents were recognised, and how many had to be prepared.
fn sweep(
    store: &Store,
    date: Timestamp,
    pages: &[(&str, Option<Timestamp>, &str)],
) -> (usize, usize) {
    let mut pending = Vec::new();
    let mut recognised = 0;
    for (key, created, text) in pages {
        let document = NewDocument::text(key, *created, text).seen(date);
        pending.push(match store.recognise(&document).unwrap() {
            Some(known) => {
                recognised += 1;
                store.submit_recognised(known).unwrap()
            }
            None => store.submit(store.prepare(&document).unwrap()).unwrap(),
        });
    }
    let added = pending.len();
    for pending in pending {
        pending.wait().unwrap();
    }
    (recognised, added - recognised)
}

#[test]
fn every_law_has_as_many_versions_as_revisions() {
    let Some(path) = corpus("labelled/ko-law-revisions.jsonl.zst") else { return };
    let rows = rows(&path);
    // Of each law its revisions in order of date.
    let mut laws: BTreeMap<&str, Vec<(Timestamp, &str)>> = BTreeMap::new();
    for row in &rows {
        let created = Timestamp::parse_text(text_of(row, "created")).unwrap();
        laws.entry(text_of(row, "group")).or_default().push((created, text_of(row, "text")));
    }
    for revisions in laws.values_mut() {
        revisions.sort_unstable();
    }
    let most = laws.values().map(Vec::len).max().unwrap();
    let directory = support::place();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    let mut known = 0;
    for at in 0..most {
        let pages: Vec<(&str, Option<Timestamp>, &str)> = laws
            .iter()
            .map(|(law, revisions)| {
                let (created, text) = revisions[at.min(revisions.len() - 1)];
                (*law, Some(created), text)
            })
            .collect();
        let date = Timestamp::from_seconds((20_000 + at as i64) * DAY);
        let (recognised, prepared) = sweep(&store, date, &pages);
        let revised = laws.values().filter(|revisions| revisions.len() > at).count();
        assert_eq!((recognised, prepared), (laws.len() - revised, revised), "sweep {at}");
        known += recognised;
    }
    assert!(known > 0 && most > 2, "the corpus shows nothing");

    let mut histogram = [0_u64; 11];
    for (law, revisions) in &laws {
        let history = store.history(law, None).unwrap().unwrap();
        assert_eq!(history.versions.len(), revisions.len(), "{law}");
        for (pair, version) in revisions.windows(2).zip(&history.versions[1..]) {
            let resemblance = set(pair[0].1).resemblance(&set(pair[1].1));
            assert_eq!(version.resemblance, Some(resemblance), "{law}");
            histogram[(resemblance * 10.0) as usize] += 1;
        }
        let seen: usize = history.versions.iter().map(|version| version.seen.len()).sum();
        assert_eq!(seen, revisions.len(), "each version is one run: {law}");
    }
    let changes = store.changes(&ChangesQuestion::default()).unwrap();
    assert_eq!(changes.resemblances, histogram);
    for (at, counts) in changes.sweeps.iter().enumerate().skip(1) {
        let revised = laws.values().filter(|revisions| revisions.len() > at).count() as u64;
        let expected = (revised, laws.len() as u64 - revised, 0, 0);
        assert_eq!(
            (counts.changed, counts.unchanged, counts.born, counts.died),
            expected,
            "sweep {at}"
        );
    }
    // Who holds a law, for a few: all that resembles a version of it, and its family.
    for (law, revisions) in laws.iter().step_by(laws.len() / 5) {
        let copies = store.copies(law, 0.5).unwrap().unwrap();
        let sets: Vec<ElementSet> = revisions.iter().map(|(_, text)| set(text)).collect();
        let mut told = HashSet::new();
        for copy in copies.sites.iter().flat_map(|site| &site.copies) {
            told.insert(copy.place.key.as_str());
            let other = set(laws[copy.place.key.as_str()].last().unwrap().1);
            let followed = &sets[copy.follows as usize - 1];
            assert_eq!(copy.resemblance, followed.resemblance(&other));
            assert!(copy.family || copy.resemblance >= 0.5);
        }
        for (other, revisions) in laws.iter().filter(|(other, _)| *other != law) {
            let other_set = set(revisions.last().unwrap().1);
            let alike = sets.iter().any(|set| set.resemblance(&other_set) >= 0.5);
            assert!(!alike || told.contains(other), "{other} holds {law}");
        }
        assert!(matches!(store.moved(law, 0.5).unwrap().unwrap().finding, Finding::Here));
    }
    store.close().unwrap();
}

/// The releases in their order.
const RELEASES: [&str; 30] = [
    "07", "08", "081", "082", "090", "0100", "0101", "0102", "0110", "10", "11", "20", "21", "22",
    "23", "24", "25", "26", "27", "28", "30", "31", "32", "33", "34", "35", "36", "37", "38", "39",
];

fn release_date(at: usize) -> Timestamp {
    Timestamp::from_seconds((15_000 + 100 * at as i64) * DAY)
}

#[test]
fn a_page_of_an_old_release_is_found_in_the_newest_that_has_it() {
    let Some(path) = corpus("labelled/en-kafka-html-versions.jsonl.zst") else { return };
    let rows = rows(&path);
    let directory = support::place();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    let mut seen = Vec::new();
    for (at, release) in RELEASES.iter().enumerate() {
        let pages: Vec<(&str, Option<Timestamp>, &str)> = rows
            .iter()
            .filter(|row| text_of(row, "version") == *release)
            .map(|row| (text_of(row, "source"), Some(release_date(at)), text_of(row, "text")))
            .collect();
        sweep(&store, release_date(at), &pages);
        seen.push(pages);
    }
    assert_eq!(seen.iter().map(Vec::len).sum::<usize>(), rows.len(), "a release is missing here");

    // Every sweep sees other addresses than the one before: all die, all are born, and what is in one
    // family moved.
    let changes = store.changes(&ChangesQuestion::default()).unwrap();
    let mut moves = 0;
    for (at, counts) in changes.sweeps.iter().enumerate() {
        let before = if at == 0 { 0 } else { seen[at - 1].len() };
        assert_eq!(counts.died, before as u64, "release {}", RELEASES[at]);
        assert_eq!(counts.found + counts.born, seen[at].len() as u64);
        assert!(counts.moved_within <= counts.died.min(counts.born));
        assert_eq!(counts.moved_between, 0, "there is one site");
        moves += counts.moved_within;
    }
    println!("{moves} moves between neighbouring releases");
    assert!(moves > 0);

    // Asked for pages of old releases, the answer is what comparing with the newest release gives.
    let newest = seen.last().unwrap();
    let newest_sets: Vec<ElementSet> = newest.iter().map(|(_, _, text)| set(text)).collect();
    let (mut moved, mut not) = (0, 0);
    for (key, _, text) in seen[..RELEASES.len() - 1].iter().flatten().step_by(61) {
        let own = set(text);
        let answer = store.moved(key, 0.5).unwrap().unwrap();
        let best = newest
            .iter()
            .zip(&newest_sets)
            .map(|((other, ..), set)| (own.resemblance(set), *other))
            .filter(|(resemblance, _)| *resemblance >= 0.5)
            // The most alike; of equals the first by key.
            .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)));
        match (&answer.finding, best) {
            (Finding::Moved(places), Some((resemblance, other))) => {
                assert_eq!(places[0].place.key, other, "{key}");
                assert_eq!(places[0].overlap.unwrap().resemblance(), resemblance);
                assert_eq!(places[0].place.last, release_date(RELEASES.len() - 1));
                moved += 1;
            }
            // A family may hold what resembles it less.
            (Finding::Moved(places), None) => {
                assert!(places[0].overlap.unwrap().resemblance() < 0.5, "{key}");
            }
            (Finding::Merged(_) | Finding::Split { .. } | Finding::Gone(_), None) => not += 1,
            (finding, best) => panic!("{key}: {finding:?}, but {best:?}"),
        }
    }
    println!("{moved} moved, {not} not");
    assert!(moved > 0 && not > 0);

    // Who holds a page: every page of any release that is alike, each on the one site there is.
    let all: Vec<(&str, ElementSet)> =
        seen.iter().flatten().map(|(key, _, text)| (*key, set(text))).collect();
    let mut holders = 0;
    for (key, own) in all.iter().step_by(all.len() / 3) {
        let copies = store.copies(key, 0.5).unwrap().unwrap();
        let told: BTreeMap<&str, f64> = copies
            .sites
            .iter()
            .flat_map(|site| &site.copies)
            .filter(|copy| copy.resemblance >= 0.5)
            .map(|copy| (copy.place.key.as_str(), copy.resemblance))
            .collect();
        let alike: BTreeMap<&str, f64> = all
            .iter()
            .filter(|(other, _)| other != key)
            .map(|(other, set)| (*other, own.resemblance(set)))
            .filter(|(_, resemblance)| *resemblance >= 0.5)
            .collect();
        assert_eq!(told, alike, "{key}");
        assert!(copies.sites.len() <= 1);
        holders += told.len();
    }
    println!("{holders} holders");
    assert!(holders > 0);
    store.close().unwrap();
}

#[test]
fn pages_under_addresses_that_stay_change_with_the_releases() {
    let Some(path) = corpus("labelled/en-kafka-html-versions.jsonl.zst") else { return };
    let rows = rows(&path);
    let directory = support::place();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    let mut texts: BTreeMap<&str, BTreeMap<usize, &str>> = BTreeMap::new();
    for (at, release) in RELEASES.iter().enumerate() {
        let of_release = rows.iter().filter(|row| text_of(row, "version") == *release);
        let pages: Vec<(&str, Option<Timestamp>, &str)> =
            of_release.map(|row| (text_of(row, "group"), None, text_of(row, "text"))).collect();
        for (page, _, text) in &pages {
            texts.entry(page).or_default().insert(at, text);
        }
        sweep(&store, release_date(at), &pages);
    }
    let changes = store.changes(&ChangesQuestion::default()).unwrap();
    for (at, release) in RELEASES.iter().enumerate().skip(1) {
        let mut expected = [0_u64; 5];
        for releases in texts.values() {
            let ever = releases.range(..at).next().is_some();
            let place = match (releases.get(&(at - 1)), releases.get(&at)) {
                (None, None) => continue,
                (Some(_), None) => 4,
                (None, Some(_)) => usize::from(ever),
                (Some(before), Some(now)) => 2 + usize::from(before == now),
            };
            expected[place] += 1;
        }
        let counts = &changes.sweeps[at];
        let counted =
            [counts.born, counts.came_back, counts.changed, counts.unchanged, counts.died];
        assert_eq!(counted, expected, "release {release}");
    }
    for (page, releases) in &texts {
        let mut versions: Vec<&str> = releases.values().copied().collect();
        versions.dedup();
        let history = store.history(page, None).unwrap().unwrap();
        assert_eq!(history.versions.len(), versions.len(), "{page}");
    }
    assert_eq!(changes.pages, texts.len() as u64);
    let changed: u64 = changes.sweeps.iter().map(|sweep| sweep.changed).sum();
    assert_eq!(changes.changed_intervals, changed);
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    store.close().unwrap();
}
