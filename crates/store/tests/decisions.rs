//! What people decide: who becomes whose copy, the log, and what it survives. Random sequences are the
//! model's business (`model.rs`); here are the cases with names.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "support/mod.rs"]
mod support;

use std::path::Path;

use wonbon_store::{
    By, Decision, DecisionChange, Edit, Expected, Kind, NewDocument, Page, Query, Rule, Store,
    StoreError, StoreParams,
};
use wonbon_time::Timestamp;

const TEXT: &str = "the ferry did not come that morning and the whole village stood waiting on the \
    quay with baskets and goats and the letters that nobody had written the evening before";

/// The same with its last words changed.
fn near(words: &str) -> String {
    TEXT.replace("the evening before", words)
}

fn by(reason: &str) -> By<'_> {
    By { who: "somebody", reason: Some(reason) }
}

/// Threshold one half; three documents that are alike, in the order of their creation.
fn three(directory: &Path) -> Store {
    let params = StoreParams { rule: Rule::Threshold(0.5), ..StoreParams::default() };
    let store = Store::create(directory, &params).unwrap();
    for (key, created) in [("a", 1), ("b", 2), ("c", 3)] {
        store
            .add(&NewDocument::text(key, Some(Timestamp::from_microseconds(created)), TEXT))
            .unwrap();
    }
    store
}

fn original_of(store: &Store, key: &str) -> Option<String> {
    let document = store.get(key).unwrap().unwrap();
    assert_eq!(document.verdict.original.is_none(), document.verdict.kind == Kind::Original);
    document.verdict.original
}

fn whole(store: &Store) {
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
}

fn found(store: &Store) -> Vec<String> {
    store.catch_up().unwrap();
    let query = Query::parse("ferry").unwrap();
    let results = store.search(&query, Page { offset: 0, limit: 10 }).unwrap();
    results.results.into_iter().map(|result| result.document.key).collect()
}

#[test]
fn the_original_comes_before_all_others_and_search_follows() {
    let directory = support::place();
    let store = three(directory.path());
    assert_eq!(found(&store), ["a"]);
    store.decide("b", Decision::Original, &by("the author told us"), None).unwrap();
    assert_eq!(original_of(&store, "b"), None);
    assert_eq!(original_of(&store, "a").as_deref(), Some("b"));
    assert_eq!(original_of(&store, "c").as_deref(), Some("b"));
    assert_eq!(found(&store), ["b"]);
    // One that arrives late, created before all, is a copy too.
    let late = NewDocument::text("late", Some(Timestamp::from_microseconds(0)), TEXT);
    assert_eq!(store.check(&late).unwrap().original.as_deref(), Some("b"));
    assert_eq!(store.add(&late).unwrap().verdict.original.as_deref(), Some("b"));
    // Of two the earlier comes first, and each is an original.
    store.decide("c", Decision::Original, &By::default(), None).unwrap();
    assert_eq!(original_of(&store, "c"), None);
    assert_eq!(original_of(&store, "a").as_deref(), Some("b"));
    whole(&store);
    store.close().unwrap();

    let store = Store::open(directory.path()).unwrap();
    assert_eq!(original_of(&store, "late").as_deref(), Some("b"));
    store.undo_decision("b", None, &By::default(), None).unwrap();
    // Now only `c` was decided to be the original.
    assert_eq!(original_of(&store, "b").as_deref(), Some("c"));
    assert_eq!(found(&store), ["c"]);
    store.undo_decision("c", None, &By::default(), None).unwrap();
    assert_eq!(original_of(&store, "c").as_deref(), Some("late"));
    assert_eq!(found(&store), ["late"]);
    whole(&store);
}

#[test]
fn what_is_not_a_copy_keeps_its_place() {
    let directory = support::place();
    let store = three(directory.path());
    store.decide("b", Decision::NotACopy, &By::default(), None).unwrap();
    assert_eq!(original_of(&store, "b"), None);
    // `c` is as like `a` as it is like `b`: the earlier is its original.
    assert_eq!(original_of(&store, "c").as_deref(), Some("a"));
    assert!(store.delete("a").unwrap());
    assert_eq!(original_of(&store, "c").as_deref(), Some("b"));
    // One that comes before `b` and has its words is the original of `c`, and `b` stays what it is.
    store.add(&NewDocument::text("late", Some(Timestamp::from_microseconds(0)), TEXT)).unwrap();
    assert_eq!(original_of(&store, "b"), None);
    assert_eq!(original_of(&store, "c").as_deref(), Some("late"));
    whole(&store);
}

#[test]
fn an_edit_keeps_a_decision_which_says_nothing_while_there_are_no_words() {
    let directory = support::place();
    let store = three(directory.path());
    store.decide("c", Decision::Original, &By::default(), None).unwrap();
    store.add(&NewDocument::text("c", None, "...")).unwrap();
    assert_eq!(store.get("c").unwrap().unwrap().verdict.kind, Kind::Empty);
    assert_eq!(original_of(&store, "b").as_deref(), Some("a"));
    assert!(matches!(
        store.decide("c", Decision::NotACopy, &By::default(), None),
        Err(StoreError::NoWords)
    ));
    store.add(&NewDocument::text("c", None, &near("in the lamplight"))).unwrap();
    assert_eq!(original_of(&store, "a").as_deref(), Some("c"));
    assert_eq!(store.get("c").unwrap().unwrap().decision, Some(Decision::Original));
    whole(&store);
}

#[test]
fn the_log_tells_who_decided_what_and_when_and_why() {
    let directory = support::place();
    let store = three(directory.path());
    let first = store.decide("b", Decision::Original, &by("  first  "), None).unwrap().unwrap();
    assert_eq!(store.decide("b", Decision::Original, &by("again"), None).unwrap(), None);
    store.decide("b", Decision::NotACopy, &by(" "), None).unwrap().unwrap();
    store.decide("c", Decision::NotACopy, &by("third"), None).unwrap().unwrap();
    // The entry that is named has to be the last of the document.
    let refused = store.undo_decision("b", Some(first.entry), &By::default(), None);
    assert!(matches!(
        refused,
        Err(StoreError::NothingToUndo { entry: Some(1), last: Some(2), .. })
    ));
    store.undo_decision("b", Some(2), &by("wrong"), None).unwrap();
    assert_eq!(store.get("b").unwrap().unwrap().decision, Some(Decision::Original));
    // What was taken back is not taken back again: the next is the one before.
    store.undo_decision("b", None, &By::default(), None).unwrap();
    assert_eq!(store.get("b").unwrap().unwrap().decision, None);
    assert!(matches!(
        store.undo_decision("b", None, &By::default(), None),
        Err(StoreError::NothingToUndo { entry: None, last: None, .. })
    ));
    assert!(store.delete_as("c", None, "a token").unwrap());
    store.add(&NewDocument::text("c", Some(Timestamp::from_microseconds(3)), TEXT)).unwrap();
    assert_eq!(store.get("c").unwrap().unwrap().decision, None);
    // What was decided of the document that was removed is over.
    assert!(matches!(
        store.undo_decision("c", None, &By::default(), None),
        Err(StoreError::NothingToUndo { .. })
    ));

    let (original, not_a_copy) = (Some(Decision::Original), Some(Decision::NotACopy));
    use DecisionChange::{Decided, Removed, Undone};
    let expected = [
        (6, "a token", Removed, "c", not_a_copy, None, None, None),
        (5, "local", Undone, "b", original, None, Some(1), None),
        (4, "somebody", Undone, "b", not_a_copy, original, Some(2), Some("wrong")),
        (3, "somebody", Decided, "c", None, not_a_copy, None, Some("third")),
        (2, "somebody", Decided, "b", original, not_a_copy, None, None),
        (1, "somebody", Decided, "b", None, original, None, Some("first")),
    ];
    let log = store.decisions(None, None, 100).unwrap();
    assert_eq!(log.len(), expected.len());
    for (entry, expected) in log.iter().zip(expected) {
        let (who, key, reason) = (entry.who.as_str(), entry.key.as_str(), entry.reason.as_deref());
        let told =
            (entry.entry, who, entry.change, key, entry.before, entry.after, entry.undoes, reason);
        assert_eq!(told, expected);
    }
    assert!(log.windows(2).all(|pair| pair[0].time >= pair[1].time));
    let part = store.decisions(Some("b"), Some(5), 2).unwrap();
    assert_eq!(part.iter().map(|entry| entry.entry).collect::<Vec<_>>(), [4, 2]);
    whole(&store);

    let backup = directory.folder().join("backup");
    store.backup(&backup).unwrap();
    let copy = Store::open(&backup).unwrap();
    assert_eq!(copy.decisions(None, None, 100).unwrap(), log);
    whole(&copy);
}

#[test]
fn a_request_that_is_wrong_changes_nothing() {
    let directory = support::place();
    let store = three(directory.path());
    let unknown = store.decide("nobody", Decision::Original, &By::default(), None);
    assert!(matches!(unknown, Err(StoreError::UnknownDocument { .. })));
    let long = "원".repeat(1001);
    let refused = store.decide("b", Decision::Original, &by(&long), None);
    assert!(matches!(refused, Err(StoreError::ReasonTooLong { characters: 1001, most: 1000 })));
    let seen = store.get("b").unwrap().unwrap().edit();
    assert_eq!(seen, Edit { decision_entry: 0, ..seen });
    let expected = Some(Expected::Edit(seen));
    store.decide("b", Decision::NotACopy, &By::default(), expected).unwrap();
    // Another saw the same and comes too late, as does an edit.
    let late = store.decide("b", Decision::Original, &By::default(), expected);
    assert!(matches!(late, Err(StoreError::NotAsExpected { .. })));
    let late = store.delete_if("b", Expected::Edit(seen));
    assert!(matches!(late, Err(StoreError::NotAsExpected { .. })));
    let late = store.undo_decision("b", None, &By::default(), expected);
    assert!(matches!(late, Err(StoreError::NotAsExpected { .. })));
    assert_eq!(store.decisions(None, None, 100).unwrap().len(), 1);
    whole(&store);
}

#[test]
fn the_log_cannot_be_rewritten_and_verify_notices_if_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let store = three(directory.path());
    store.decide("b", Decision::Original, &By::default(), None).unwrap();
    store.decide("c", Decision::NotACopy, &By::default(), None).unwrap();
    store.close().unwrap();
    let path = directory.path().join("documents.sqlite");
    let database = rusqlite::Connection::open(&path).unwrap();
    for sql in ["UPDATE decisions SET who = 'x'", "DELETE FROM decisions WHERE entry = 2"] {
        let refused = database.execute_batch(sql).unwrap_err();
        assert!(refused.to_string().contains("only added to"), "{refused}");
    }
    // By force: an entry that goes, one that is another, and a document's row that has another.
    let force = "DROP TRIGGER decisions_last; DROP TRIGGER decisions_stay;";
    database.execute_batch(force).unwrap();
    for (damage, repair) in [
        (
            "CREATE TABLE kept AS SELECT * FROM decisions WHERE entry = 1; \
             DELETE FROM decisions WHERE entry = 1",
            "INSERT INTO decisions SELECT * FROM kept",
        ),
        (
            "UPDATE decisions SET effect_after = 1 WHERE entry = 1",
            "UPDATE decisions SET effect_after = 0 WHERE entry = 1",
        ),
        (
            "UPDATE documents SET decision = 1 WHERE key = 'b'",
            "UPDATE documents SET decision = 0 WHERE key = 'b'",
        ),
        (
            "UPDATE documents SET decision = NULL, decision_entry = NULL WHERE key = 'c'",
            "UPDATE documents SET decision = 1, decision_entry = 2 WHERE key = 'c'",
        ),
    ] {
        database.execute_batch(damage).unwrap();
        let store = Store::open_read_only(directory.path()).unwrap();
        assert!(store.verify().unwrap().differences > 0, "{damage}");
        drop(store);
        database.execute_batch(repair).unwrap();
        whole(&Store::open_read_only(directory.path()).unwrap());
    }
}

/// Takes back what the migration to version 3 did: tables as they were before there were decisions.
const TO_VERSION_2: &str = "
DROP TRIGGER decisions_stay;
DROP TRIGGER decisions_last;
DROP INDEX decisions_of;
DROP TABLE decisions;
ALTER TABLE documents DROP COLUMN decision;
ALTER TABLE documents DROP COLUMN decision_entry;
ALTER TABLE documents DROP COLUMN published;
PRAGMA user_version = 2;
";

/// Everything a database is made of, and its version.
fn tables(directory: &Path) -> (i32, Vec<(String, Option<String>)>) {
    let path = directory.join("documents.sqlite");
    let database = rusqlite::Connection::open(path).unwrap();
    let version = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let sql = "SELECT type || ' ' || name, sql FROM sqlite_schema ORDER BY type, name";
    let mut select = database.prepare(sql).unwrap();
    let parts = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    (version, parts.collect::<Result<_, _>>().unwrap())
}

#[test]
fn tables_of_version_2_are_brought_up_and_take_decisions() {
    let directory = tempfile::tempdir().unwrap();
    let store = three(directory.path());
    store
        .add(&NewDocument::text(
            "edited",
            Some(Timestamp::from_microseconds(5)),
            "something else altogether",
        ))
        .unwrap();
    store
        .add(&NewDocument::text(
            "edited",
            Some(Timestamp::from_microseconds(5)),
            &near("in the spring"),
        ))
        .unwrap();
    store
        .add(&NewDocument::text("without words", Some(Timestamp::from_microseconds(6)), " … "))
        .unwrap();
    let seen = NewDocument {
        sweep: Some(Timestamp::from_microseconds(7)),
        ..NewDocument::text("seen", Some(Timestamp::from_microseconds(7)), "a page")
    };
    store.add(&seen).unwrap();
    assert!(store.watch("a").unwrap());
    let keys = ["a", "b", "c", "edited", "without words", "seen"];
    let before: Vec<_> = keys.map(|key| store.get(key).unwrap().unwrap()).into();
    store.close().unwrap();
    let made = tables(directory.path());
    let path = directory.path().join("documents.sqlite");
    let old = rusqlite::Connection::open(path).unwrap();
    old.execute_batch(TO_VERSION_2).unwrap();
    old.close().unwrap();
    let (version, parts) = tables(directory.path());
    assert_eq!(version, 2);
    let has_decisions = |part: &(String, Option<String>)| {
        part.0.contains("decision") || part.1.as_ref().is_some_and(|sql| sql.contains("decision"))
    };
    assert!(made.1.iter().any(has_decisions) && !parts.iter().any(has_decisions), "{parts:?}");

    // Who only reads changes nothing, and says so.
    let refused = Store::open_read_only(directory.path());
    assert!(matches!(refused, Err(StoreError::OlderTables { stored: 2, .. })), "{refused:?}");
    let store = Store::open(directory.path()).unwrap();
    let after: Vec<_> = keys.map(|key| store.get(key).unwrap().unwrap()).into();
    assert_eq!(after, before);
    assert_eq!(store.watched().unwrap().len(), 1);
    assert!(store.decisions(None, None, 10).unwrap().is_empty());
    whole(&store);
    // Decisions are made, respected by what comes later, and taken back.
    let made_original = store.decide("b", Decision::Original, &by("told us"), None).unwrap();
    assert_eq!(made_original.map(|entry| entry.entry), Some(1));
    store.add(&NewDocument::text("late", Some(Timestamp::from_microseconds(0)), TEXT)).unwrap();
    for key in ["a", "c", "edited", "late"] {
        assert_eq!(original_of(&store, key).as_deref(), Some("b"), "{key}");
    }
    whole(&store);
    store.undo_decision("b", None, &by("a mistake"), None).unwrap();
    assert_eq!(original_of(&store, "b").as_deref(), Some("late"));
    whole(&store);
    store.close().unwrap();
    // The tables are those of a store that never had others.
    assert_eq!(tables(directory.path()), made);
    let store = Store::open_read_only(directory.path()).unwrap();
    assert_eq!(store.decisions(None, None, 10).unwrap().len(), 2);
}

#[test]
fn a_verdict_says_when_candidates_were_left_unverified() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    // Pages of one template, just too unlike to be copies: each is a candidate of every other.
    let template: Vec<String> = (0..200).map(|at| format!("t{at}")).collect();
    let page = |number: u32| {
        let own: Vec<String> = (0..29).map(|at| format!("p{number}x{at}")).collect();
        format!("{} {}", template.join(" "), own.join(" "))
    };
    for number in 0..300 {
        let text = page(number);
        let added = store.add(&NewDocument::text(&format!("p{number}"), None, &text)).unwrap();
        assert_eq!(added.verdict.kind, Kind::Original);
        assert!(number > 200 || !added.verdict.stopped_early, "{number}");
    }
    let check = |text: &str| store.check(&NewDocument::text("asked", None, text)).unwrap();
    let more = check(&page(300));
    assert!(more.kind == Kind::Original && more.stopped_early);
    assert!(!check("something else that has nothing in common with any page").stopped_early);
    let text = page(301);
    let added = store.add(&NewDocument::text("p301", None, &text)).unwrap();
    assert!(added.verdict.stopped_early);
    // The closest are verified all the same.
    let edited = page(7).replace("p7x28", "edited");
    let copy = check(&edited);
    assert_eq!((copy.kind, copy.original.as_deref()), (Kind::Copy, Some("p7")));
}
