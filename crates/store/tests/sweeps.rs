//! A toy web over six sweeps, with the answers written by hand; random sweeps against a model; tables of
//! version 1.
//!
//! Texts are words that occur once, so that the number of shingles is the number of words less four
//! and every resemblance can be told by counting.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use std::time::Duration;
use wonbon_store::{
    Changes, ChangesQuestion, Finding, Holder, NewDocument, Redirect, Rule, Sighting, Store,
    StoreError, StoreParams, Stored, SweepChanges,
};
use wonbon_time::Timestamp;

const DAY: Duration = Duration::from_secs(86_400);

fn day(number: u32) -> Timestamp {
    Timestamp::EPOCH + (20_000 + number) * DAY
}

/// The day of a time.
fn number_of(time: Timestamp) -> u64 {
    time.since(day(0)).as_secs() / DAY.as_secs()
}

/// Words that only this topic has.
fn words(topic: &str, range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|at| format!("{topic}{at}")).collect()
}

fn text(topic: &str, count: usize) -> String {
    words(topic, 0..count).join(" ")
}

/// A text of 104 words with other words at some places: each takes up to five of 100 shingles.
fn edited(topic: &str, places: &[usize]) -> String {
    let mut words = words(topic, 0..104);
    for &place in places {
        words[place] = format!("{topic}other{place}");
    }
    words.join(" ")
}

fn params() -> StoreParams {
    StoreParams { rule: Rule::Threshold(0.8), ..StoreParams::default() }
}

fn see(store: &Store, sweep: u32, key: &str, text: &str) -> Stored {
    let created = day(sweep);
    let known = store.get(key).unwrap().is_some();
    let document = NewDocument::text(key, (!known).then_some(created), text).seen(created);
    store.add(&document).unwrap().stored
}

fn redirect(store: &Store, sweep: u32, key: &str, target: &str) -> bool {
    let (key, target) = (key.to_owned(), target.to_owned());
    store.add_redirect(&Redirect { key, target, sweep: day(sweep), site: None }).unwrap()
}

const ONE: &str = "https://one.example/";
const TWO: &str = "https://two.example/";
const THREE: &str = "https://three.example/";

/// Pages by the sweeps that see them. Site one is swept six times, two at 1, 2, 4 and 6, three at 2 and
/// 5.
fn toy_web(directory: &Path) -> Store {
    let store = Store::create(directory, &params()).unwrap();
    let whole = text("whole", 204);
    let large = format!("{} {} {}", text("first", 54), text("second", 54), text("large", 100));
    for sweep in 1..=6 {
        let mut pages: Vec<(String, String)> = Vec::new();
        let mut page = |site: &str, name: &str, seen: &[u32], text: String| {
            if seen.contains(&sweep) {
                pages.push((format!("{site}{name}"), text));
            }
        };
        page(ONE, "stay", &[1, 2, 3, 4, 5, 6], text("stay", 60));
        let edit = match sweep {
            1 | 2 => edited("edit", &[]),
            3 => edited("edit", &[50]),
            _ => edited("edit", &[50, 103]),
        };
        page(ONE, "edit", &[1, 2, 3, 4, 5, 6], edit);
        page(ONE, "old", &[1, 2], text("old", 80));
        page(ONE, "new", &[3, 4, 5, 6], text("old", 80));
        page(ONE, "leave", &[1, 2, 3], edited("leave", &[]));
        page(ONE, "whole", &[1, 2, 3], whole.clone());
        page(ONE, "part-1", &[4, 5, 6], words("whole", 0..102).join(" "));
        page(ONE, "part-2", &[4, 5, 6], words("whole", 102..204).join(" "));
        page(ONE, "small-1", &[1, 2, 3, 4], text("first", 54));
        page(ONE, "small-2", &[1, 2, 3, 4], text("second", 54));
        page(ONE, "large", &[5, 6], large.clone());
        page(ONE, "dead", &[1, 2], text("dead", 60));
        page(ONE, "back", &[1, 2, 5, 6], text("back", 60));
        page(TWO, "mirror", &[1, 2, 4, 6], edited("edit", &[]));
        page(TWO, "arrive", &[4, 6], edited("leave", &[103]));
        page(THREE, "other", &[2, 5], text("other", 60));
        page(THREE, "copy", &[5], edited("edit", &[50]));
        for (key, text) in pages {
            see(&store, sweep, &key, &text);
        }
        match sweep {
            1 => assert!(redirect(&store, 1, &format!("{ONE}older"), &format!("{ONE}old"))),
            3 => assert!(redirect(&store, 3, &format!("{ONE}old"), &format!("{ONE}new"))),
            _ => {}
        }
    }
    store
}

/// Key, resemblance in shingles, first and last day of a holder.
fn told(holder: &Holder) -> (String, Option<(usize, usize)>, u64, u64) {
    let overlap = holder.overlap.map(|overlap| (overlap.shared, overlap.union()));
    (holder.place.key.clone(), overlap, number_of(holder.place.first), number_of(holder.place.last))
}

#[test]
fn pages_that_move_split_merge_die_and_come_back_are_found() {
    let directory = support::place();
    let store = toy_web(directory.path());
    let moved = |name: &str| store.moved(&format!("{ONE}{name}"), 0.5).unwrap();
    let holders = |finding: &Finding| match finding {
        Finding::Moved(holders) | Finding::Merged(holders) | Finding::Gone(holders) => {
            holders.iter().map(told).collect::<Vec<_>>()
        }
        Finding::Split { parts, .. } => parts.iter().map(told).collect(),
        Finding::Here => Vec::new(),
    };

    let old = moved("old").unwrap();
    assert_eq!(holders(&old.finding), [(format!("{ONE}new"), Some((76, 76)), 3, 6)]);
    assert!(matches!(&old.finding, Finding::Moved(places) if places[0].redirect == Some(day(3))));
    assert_eq!(old.place.unwrap().gone, Some(day(3)));

    let leave = moved("leave").unwrap();
    assert!(matches!(leave.finding, Finding::Moved(_)));
    assert_eq!(holders(&leave.finding), [(format!("{TWO}arrive"), Some((99, 101)), 4, 6)]);

    let whole = moved("whole").unwrap();
    assert_eq!(
        holders(&whole.finding),
        [
            (format!("{ONE}part-1"), Some((98, 200)), 4, 6),
            (format!("{ONE}part-2"), Some((98, 200)), 4, 6)
        ]
    );
    assert!(matches!(whole.finding, Finding::Split { covered, .. } if covered == 0.98));

    let small = moved("small-1").unwrap();
    assert!(matches!(small.finding, Finding::Merged(_)), "{small:?}");
    assert_eq!(holders(&small.finding), [(format!("{ONE}large"), Some((50, 204)), 5, 6)]);

    assert_eq!(moved("dead").unwrap().finding, Finding::Gone(Vec::new()));
    assert_eq!(moved("stay").unwrap().finding, Finding::Here);
    assert_eq!(moved("back").unwrap().finding, Finding::Here);
    let edit = moved("edit").unwrap();
    assert_eq!(edit.finding, Finding::Here);
    let also: Vec<_> = edit.also.iter().map(told).collect();
    assert_eq!(
        also,
        [
            (format!("{TWO}mirror"), Some((94, 106)), 1, 6),
            (format!("{THREE}copy"), Some((99, 101)), 5, 5)
        ]
    );

    // Only redirects of this address were seen: it led to old, which led to new.
    let older = moved("older").unwrap();
    assert_eq!((older.place, older.redirects.len()), (None, 2));
    assert_eq!(holders(&older.finding), [(format!("{ONE}new"), None, 3, 6)]);
    assert_eq!(moved("never"), None);

    // What is deleted is in no answer.
    assert!(store.delete(&format!("{ONE}new")).unwrap());
    assert!(store.delete(&format!("{TWO}mirror")).unwrap());
    assert_eq!(moved("old").unwrap().finding, Finding::Gone(Vec::new()));
    assert_eq!(moved("old").unwrap().redirects, []);
    assert_eq!(moved("edit").unwrap().also.len(), 1);
    assert_eq!(moved("new"), None);
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
}

#[test]
fn holders_stand_by_site_with_the_version_they_follow() {
    let directory = support::place();
    let store = toy_web(directory.path());
    let copies = store.copies(&format!("{ONE}edit"), 0.5).unwrap().unwrap();
    assert_eq!(copies.place.versions, 3);
    let told: Vec<_> = copies
        .sites
        .iter()
        .flat_map(|site| site.copies.iter().map(move |copy| (site, copy)))
        .map(|(site, copy)| {
            let name = site.site.as_deref().unwrap();
            (name, &*copy.place.key, site.first, site.last, copy.follows, copy.resemblance)
        })
        .collect();
    let (mirror, copy) = (format!("{TWO}mirror"), format!("{THREE}copy"));
    assert_eq!(
        told,
        [
            ("three.example", &*copy, day(5), day(5), 2, 1.0),
            ("two.example", &*mirror, day(1), day(6), 1, 1.0),
        ]
    );
    // Nothing resembles it so much, but the family remains.
    let family = store.copies(&format!("{ONE}leave"), 1.0).unwrap().unwrap();
    assert_eq!(family.sites.len(), 1);
    assert!(family.sites[0].copies[0].family);
    assert_eq!(family.sites[0].copies[0].resemblance, 99.0 / 101.0);
    assert_eq!(store.copies(&format!("{ONE}never"), 0.5).unwrap(), None);
}

/// Date, seen, found, born, came back, changed, unchanged, died, moved within, moved between.
fn row(counts: &SweepChanges) -> [u64; 10] {
    let c = counts;
    [
        number_of(c.sweep),
        c.seen,
        c.found,
        c.born,
        c.came_back,
        c.changed,
        c.unchanged,
        c.died,
        c.moved_within,
        c.moved_between,
    ]
}

#[test]
fn births_deaths_changes_and_moves_are_counted_per_sweep() {
    let directory = support::place();
    let store = toy_web(directory.path());
    let changes = store.changes(&ChangesQuestion::default()).unwrap();
    let rows: Vec<_> = changes.sweeps.iter().map(row).collect();
    assert_eq!(
        rows,
        [
            [1, 10, 10, 0, 0, 0, 0, 0, 0, 0],
            [2, 11, 1, 0, 0, 0, 10, 0, 0, 0],
            [3, 7, 0, 1, 0, 1, 5, 3, 1, 0],
            [4, 9, 0, 3, 0, 1, 5, 2, 0, 1],
            [5, 9, 0, 2, 1, 0, 6, 2, 0, 0],
            [6, 9, 0, 0, 0, 0, 9, 0, 0, 0],
        ]
    );
    assert_eq!(changes.sweeps[2].mean_resemblance(), Some(95.0 / 105.0));
    assert_eq!(changes.sweeps[3].mean_resemblance(), Some(99.0 / 101.0));
    assert_eq!(changes.sweeps[5].mean_resemblance(), None);
    assert_eq!((changes.pages, changes.intervals, changes.changed_intervals), (17, 37, 2));
    assert_eq!(changes.changes_per_page, BTreeMap::from([(0, 16), (2, 1)]));
    assert_eq!(changes.rates, [15, 0, 1, 0, 0, 0]);
    assert_eq!(changes.resemblances, [0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]);
    assert_eq!((changes.ended.pages, changes.going_on.pages), (6, 11));
    assert_eq!(changes.ended.by_sweeps, [0, 2, 4, 0, 0, 0]);
    assert_eq!(changes.going_on.by_sweeps, [1, 3, 4, 3, 0, 0]);
    assert_eq!(changes.ended.median, Some(2 * DAY));
    assert_eq!(changes.ended.mean(), Some(2 * DAY));

    let of_two = ChangesQuestion { site: Some("two.example"), since: None };
    let rows: Vec<_> = store.changes(&of_two).unwrap().sweeps.iter().map(row).collect();
    assert_eq!(
        rows,
        [
            [1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
            [2, 1, 0, 0, 0, 0, 1, 0, 0, 0],
            [4, 2, 0, 1, 0, 0, 1, 0, 0, 1],
            [6, 2, 0, 0, 0, 0, 2, 0, 0, 0],
        ]
    );
    let late = ChangesQuestion { site: None, since: Some(day(4)) };
    let late = store.changes(&late).unwrap();
    assert_eq!(
        late.sweeps.iter().map(row).collect::<Vec<_>>(),
        changes.sweeps[3..].iter().map(row).collect::<Vec<_>>()
    );
    assert_eq!((late.intervals, late.changed_intervals), (21, 1));
    let none = ChangesQuestion { site: Some("nowhere.example"), since: None };
    assert_eq!(store.changes(&none).unwrap(), Changes::default());
}

#[test]
fn a_pages_versions_say_when_they_were_seen_and_how_much_they_resemble() {
    let directory = support::place();
    let store = toy_web(directory.path());
    let history = store.history(&format!("{ONE}edit"), None).unwrap().unwrap();
    let told: Vec<_> = history
        .versions
        .iter()
        .map(|version| (version.version, version.words, version.resemblance, version.seen.clone()))
        .collect();
    assert_eq!(
        told,
        [
            (1, 104, None, vec![(day(1), day(2))]),
            (2, 104, Some(95.0 / 105.0), vec![(day(3), day(3))]),
            (3, 104, Some(99.0 / 101.0), vec![(day(4), day(6))]),
        ]
    );
    let late = store.history(&format!("{ONE}edit"), Some(day(3))).unwrap().unwrap();
    assert_eq!(late.versions.len(), 2);
    assert_eq!(store.history("never", None).unwrap(), None);
}

#[test]
fn a_recognised_document_that_changed_meanwhile_is_added_in_the_order_of_the_queue() {
    let directory = support::place();
    let store = Store::create(directory.path(), &params()).unwrap();
    let texts = [text("a", 60), text("b", 60), text("c", 60)];
    let at = |number: usize| NewDocument::text("a", None, &texts[number]).seen(day(2));
    store.add(&NewDocument::text("a", Some(day(1)), &texts[0]).seen(day(1))).unwrap();
    let recognised = store.recognise(&at(0)).unwrap().unwrap();
    let pending = [
        store.submit(store.prepare(&at(1)).unwrap()).unwrap(),
        store.submit_recognised(recognised).unwrap(),
        store.submit(store.prepare(&at(2)).unwrap()).unwrap(),
        store.submit_document(&at(2)).unwrap(),
    ];
    let stored = pending.map(|pending| pending.wait().unwrap().stored);
    assert_eq!(stored[..3], [Stored::Updated; 3]);
    let document = store.get("a").unwrap().unwrap();
    assert_eq!((document.version, &document.text), (4, &texts[2]));
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
}

#[test]
fn a_document_is_recognised_before_anything_is_made_of_it() {
    let directory = support::place();
    let store = Store::create(directory.path(), &params()).unwrap();
    let (a, b) = (text("a", 60), text("b", 60));
    let first = NewDocument::text("a", Some(day(1)), &a).seen(day(1));
    assert_eq!(store.recognise(&first).unwrap(), None);
    store.add(&first).unwrap();
    let again = first.clone().seen(day(2));
    let recognised = store.recognise(&again).unwrap().expect("it is stored as it is");
    let added = store.submit_recognised(recognised.clone()).unwrap().wait().unwrap();
    assert_eq!(added.stored, Stored::Unchanged);
    assert_eq!(
        store.sightings("a").unwrap(),
        [Sighting { first: day(1), last: day(2), version: 1 }]
    );
    // Other bytes, another creation time or another title are not what is stored.
    for other in [
        NewDocument::text("a", Some(day(1)), &b),
        NewDocument::text("a", Some(day(2)), &a),
        NewDocument { title: Some("t".into()), ..NewDocument::text("a", None, &a) },
    ] {
        assert_eq!(store.recognise(&other).unwrap(), None);
    }
    // It changes before the recognised one is taken: then that one is added in full.
    store.add(&NewDocument::text("a", None, &b).seen(day(2))).unwrap();
    let added = store.submit_recognised(recognised).unwrap().wait().unwrap();
    assert_eq!(added.stored, Stored::Updated);
    assert_eq!(store.get("a").unwrap().unwrap().text, a);
    // The sweep saw both versions; what it saw last counts.
    assert_eq!(
        store.sightings("a").unwrap(),
        [
            Sighting { first: day(1), last: day(1), version: 1 },
            Sighting { first: day(2), last: day(2), version: 3 }
        ]
    );
}

#[test]
fn an_earlier_sweep_is_refused_and_the_latest_may_be_continued() {
    let directory = support::place();
    let store = Store::create(directory.path(), &params()).unwrap();
    let (a, b) = (text("a", 60), text("b", 60));
    store.add(&NewDocument::text("a", None, &a).seen(day(5))).unwrap();
    let early = store.add(&NewDocument::text("b", None, &b).seen(day(4)));
    assert!(
        matches!(early, Err(StoreError::SweepTooEarly { sweep, latest }) if (sweep, latest) == (day(4), day(5))),
        "{early:?}"
    );
    assert_eq!(store.get("b").unwrap(), None, "nothing of it was stored");
    let early = Redirect { key: "x".into(), target: "y".into(), sweep: day(4), site: None };
    assert!(matches!(store.add_redirect(&early), Err(StoreError::SweepTooEarly { .. })));
    for stored in [Stored::New, Stored::Unchanged] {
        assert_eq!(
            store.add(&NewDocument::text("b", None, &b).seen(day(5))).unwrap().stored,
            stored
        );
    }
    assert_eq!(store.sweeps().unwrap(), [day(5)]);
    assert_eq!(store.counts().unwrap().latest_sweep, Some(day(5)));
}

#[test]
fn watched_documents_tell_faithful_outdated_and_differing_copies_apart() {
    let directory = support::place();
    let store = Store::create(directory.path(), &params()).unwrap();
    let before = edited("law", &[10]);
    for (key, text) in [
        ("law", &before),
        ("law", &edited("law", &[])),
        ("faithful", &edited("law", &[]).to_uppercase()),
        ("outdated", &before),
        ("tampered", &edited("law", &[80])),
        ("other", &text("other", 60)),
    ] {
        store.add(&NewDocument::text(key, None, text)).unwrap();
    }
    assert!(!store.watch("nothing").unwrap());
    assert!(store.watch("law").unwrap());
    let watched = store.watched().unwrap();
    assert_eq!(watched.len(), 1);
    let report = store.watch_report(&watched[0], 0.8).unwrap().unwrap();
    assert_eq!(report.faithful, 1);
    let outdated: Vec<_> = report.outdated.iter().map(|(place, v)| (&*place.key, *v)).collect();
    assert_eq!(outdated, [("outdated", 1)]);
    assert_eq!(report.differing.len(), 1);
    let tampered = &report.differing[0];
    assert_eq!((&*tampered.place.key, tampered.words), ("tampered", (1, 1)));
    assert_eq!(tampered.resemblance, 95.0 / 105.0);
    let passage = &tampered.passages[0];
    assert_eq!((&*passage.reference, &*passage.copy), ("law80", "lawother80"));

    assert!(store.delete("tampered").unwrap());
    let report = store.watch_report(&watched[0], 0.8).unwrap().unwrap();
    assert!(report.differing.is_empty());
    assert!(store.delete("law").unwrap());
    assert_eq!(store.watched().unwrap(), []);
    assert!(!store.unwatch("law").unwrap());
    assert_eq!(store.verify().unwrap().differences, 0);
}

/// The tables as the first release made them.
const VERSION_1: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    version INTEGER NOT NULL,
    url TEXT, site TEXT, author TEXT, title TEXT, language TEXT,
    words INTEGER NOT NULL,
    content_name BLOB NOT NULL, text_name INTEGER NOT NULL, shingle_set_name INTEGER NOT NULL,
    features BLOB NOT NULL,
    kind INTEGER NOT NULL, original INTEGER, features_equal INTEGER, resemblance REAL,
    fingerprint INTEGER NOT NULL
) STRICT;
CREATE INDEX families ON documents (original, created) WHERE original IS NOT NULL;
CREATE TABLE texts (row INTEGER PRIMARY KEY, text BLOB NOT NULL) STRICT;
CREATE TABLE versions (
    row INTEGER NOT NULL, version INTEGER NOT NULL,
    created INTEGER NOT NULL, stored INTEGER NOT NULL, title TEXT, text BLOB NOT NULL,
    PRIMARY KEY (row, version)
) STRICT;
CREATE TABLE changes (change INTEGER PRIMARY KEY, row INTEGER NOT NULL) STRICT;
PRAGMA application_id = 2003791458;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
";

#[test]
fn tables_of_version_1_are_brought_up_when_opened_for_writing() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &params()).unwrap();
    for places in [&[][..], &[50], &[50, 103]] {
        store.add(&NewDocument::text("page", Some(day(1)), &edited("page", places))).unwrap();
    }
    store.add(&NewDocument::text("copy", Some(day(2)), &edited("page", &[103]))).unwrap();
    store.close().unwrap();
    let (present, first) =
        (directory.path().join("documents.sqlite"), directory.path().join("first.sqlite"));
    let old = rusqlite::Connection::open(&first).unwrap();
    old.execute_batch(VERSION_1).unwrap();
    old.execute("ATTACH ?1 AS present", [present.to_str().unwrap()]).unwrap();
    for (table, columns) in [
        ("meta", "*"),
        (
            "documents",
            "row, key, created, stored, version, url, site, author, title, language, words, \
             content_name, text_name, shingle_set_name, features, kind, original, features_equal, \
             resemblance, fingerprint",
        ),
        ("texts", "*"),
        ("versions", "row, version, created, stored, title, text"),
        ("changes", "*"),
    ] {
        let sql = format!("INSERT INTO main.{table} SELECT {columns} FROM present.{table}");
        old.execute_batch(&sql).unwrap();
    }
    old.execute_batch("DETACH present").unwrap();
    old.close().unwrap();
    std::fs::rename(&first, &present).unwrap();

    let refused = Store::open_read_only(directory.path());
    assert!(matches!(refused, Err(StoreError::OlderTables { stored: 1, .. })), "{refused:?}");
    let store = Store::open(directory.path()).unwrap();
    let history = store.history("page", None).unwrap().unwrap();
    let told: Vec<_> = history.versions.iter().map(|v| (v.words, v.resemblance)).collect();
    assert_eq!(told, [(104, None), (104, Some(95.0 / 105.0)), (104, Some(99.0 / 101.0))]);
    let all = store.changes(&ChangesQuestion::default()).unwrap();
    assert_eq!(all.resemblances[9], 2);
    see(&store, 3, "page", &edited("page", &[50, 103]));
    assert_eq!(
        store.sightings("page").unwrap(),
        [Sighting { first: day(3), last: day(3), version: 3 }]
    );
    assert_eq!(store.get("copy").unwrap().unwrap().verdict.original.as_deref(), Some("page"));
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    store.close().unwrap();
    assert!(Store::open_read_only(directory.path()).is_ok());
}

#[test]
fn a_backup_carries_sweeps_redirects_and_watched_documents() {
    let directory = support::place();
    let store = toy_web(directory.path());
    store.watch(&format!("{ONE}edit")).unwrap();
    store.backup(&directory.folder().join("copy")).unwrap();
    let copy = Store::open(&directory.folder().join("copy")).unwrap();
    assert_eq!(copy.watched().unwrap().len(), 1);
    let all = ChangesQuestion::default();
    assert_eq!(copy.changes(&all).unwrap(), store.changes(&all).unwrap());
    let older = format!("{ONE}older");
    assert_eq!(copy.moved(&older, 0.5).unwrap(), store.moved(&older, 0.5).unwrap());
}

/// What a sweep does to a page: which of ten on which of three sites, and which of three texts.
#[derive(Debug, Clone)]
enum Step {
    See { later: bool, page: usize, text: usize },
    Delete { page: usize },
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        30 => (prop::bool::weighted(0.25), 0_usize..10, 0_usize..3)
            .prop_map(|(later, page, text)| Step::See { later, page, text }),
        2 => (0_usize..10).prop_map(|page| Step::Delete { page }),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..80)
}

/// What was seen, without runs: for each page its version in each sweep.
#[derive(Default)]
struct Model {
    pages: BTreeMap<usize, (u32, usize, BTreeMap<Timestamp, u32>)>,
    site_sweeps: BTreeMap<usize, BTreeSet<Timestamp>>,
}

impl Model {
    /// The counts of a sweep, one page after another.
    fn counts(&self, sweep: Timestamp) -> SweepChanges {
        let mut counts = SweepChanges { sweep, ..SweepChanges::default() };
        for (page, (_, _, seen)) in &self.pages {
            let of_site = &self.site_sweeps[&(page % 3)];
            if !of_site.contains(&sweep) {
                continue;
            }
            let before = of_site.range(..sweep).next_back();
            let was = before.and_then(|before| seen.get(before));
            let ever = seen.range(..sweep).next().is_some();
            match (was, seen.get(&sweep)) {
                (None, None) => continue,
                (Some(_), None) => {
                    counts.died += 1;
                    continue;
                }
                (None, Some(_)) if before.is_none() => counts.found += 1,
                (None, Some(_)) if ever => counts.came_back += 1,
                (None, Some(_)) => counts.born += 1,
                (Some(was), Some(is)) if was == is => counts.unchanged += 1,
                (Some(_), Some(_)) => counts.changed += 1,
            }
            counts.seen += 1;
        }
        counts
    }
}

fn key(page: usize) -> String {
    format!("https://site{}.example/{page}", page % 3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(48), ..ProptestConfig::default() })]

    #[test]
    fn sightings_are_the_models(steps in steps()) {
        let directory = support::place();
        let mut store = Store::create(directory.path(), &params()).unwrap();
        let mut model = Model::default();
        let mut sweep = day(0);
        let mut sweeps = BTreeSet::new();
        for step in &steps {
            match *step {
                Step::See { later, page, text: which } => {
                    sweep = if later { sweep + DAY } else { sweep };
                    sweeps.insert(sweep);
                    let text = text(&format!("page{page}text{which}x"), 12);
                    let key = key(page);
                    let document = NewDocument::text(&key, None, &text).seen(sweep);
                    let added = store.add(&document).unwrap();
                    let known = model.pages.entry(page).or_insert((0, 9, BTreeMap::new()));
                    prop_assert_eq!(added.stored == Stored::Unchanged, known.1 == which);
                    if known.1 != which {
                        *known = (known.0 + 1, which, std::mem::take(&mut known.2));
                    }
                    known.2.insert(sweep, known.0);
                    model.site_sweeps.entry(page % 3).or_default().insert(sweep);
                }
                Step::Delete { page } => {
                    prop_assert_eq!(store.delete(&key(page)).unwrap(), model.pages.remove(&page).is_some());
                }
                Step::Reopen => {
                    store.close().unwrap();
                    store = Store::open(directory.path()).unwrap();
                }
            }
        }
        prop_assert_eq!(store.sweeps().unwrap(), sweeps.iter().copied().collect::<Vec<_>>());
        for (page, (_, _, seen)) in &model.pages {
            let runs = store.sightings(&key(*page)).unwrap();
            let of_site = &model.site_sweeps[&(page % 3)];
            let mut expanded = BTreeMap::new();
            for run in &runs {
                for sweep in of_site.range(run.first..=run.last) {
                    expanded.insert(*sweep, run.version);
                }
            }
            prop_assert_eq!(&expanded, seen, "page {}", page);
            // Two runs are two for a reason.
            for pair in runs.windows(2) {
                let gap = of_site.range(pair[0].last + DAY..pair[1].first).next().is_some();
                prop_assert!(gap || pair[0].version != pair[1].version);
            }
        }
        let changes = store.changes(&ChangesQuestion::default()).unwrap();
        let counted: Vec<_> = changes.sweeps.iter().map(|counts| row(counts)[..8].to_vec()).collect();
        let expected: Vec<_> =
            sweeps.iter().map(|&sweep| row(&model.counts(sweep))[..8].to_vec()).collect();
        prop_assert_eq!(counted, expected);
        let verified = store.verify().unwrap();
        prop_assert_eq!(verified.first, Vec::<String>::new());
    }
}
