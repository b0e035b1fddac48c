//! When a document claims to be published: kept, shown, checked, and without effect on who is the
//! original.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use wonbon_store::{Content, Kind, NewDocument, Store, StoreParams, Stored};
use wonbon_time::{Dates, Timestamp};

const TEXT: &str = "one morning the old ferry did not come and the whole village stood on the quay";

fn at(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp::from_seconds(seconds))
}

#[test]
fn a_claim_is_kept_until_another_is_made_and_decides_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    store.add(&NewDocument::text("first", at(100), TEXT)).unwrap();
    let claims = NewDocument { published: at(1), ..NewDocument::text("claims", at(200), TEXT) };
    let added = store.add(&claims).unwrap();
    assert_eq!(added.verdict.kind, Kind::Identical);
    assert_eq!(added.verdict.original.as_deref(), Some("first"));
    assert_eq!(store.add(&claims).unwrap().stored, Stored::Unchanged);

    let published = || store.get("claims").unwrap().unwrap().published;
    assert_eq!(published(), at(1));
    let silent = NewDocument::text("claims", None, TEXT);
    assert_eq!(store.add(&silent).unwrap().stored, Stored::Unchanged);
    assert_eq!(published(), at(1));
    let other = NewDocument { published: at(2), ..silent };
    assert_eq!(store.add(&other).unwrap().stored, Stored::Updated);
    assert_eq!(published(), at(2));
    assert_eq!(store.latest(None, 10).unwrap()[0].published, at(2));
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
}

#[test]
fn the_claim_of_a_page_is_read_from_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    let meta = "<meta property=\"article:published_time\" content=\"1999-01-01T00:00:00Z\">";
    let page = format!("<html><head>{meta}</head><body><p>{TEXT}</p></body></html>");
    let content = Content::Html(&page);
    store.add(&NewDocument { content, ..NewDocument::text("page", at(100), "") }).unwrap();
    let document = store.get("page").unwrap().unwrap();
    assert_eq!((Some(document.created), document.published), (at(100), at(915_148_800)));
}

#[test]
fn a_document_that_was_only_seen_later_is_recognised_and_keeps_its_creation() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    let seen = |created, sweep: i64| NewDocument {
        created_at_the_latest: true,
        ..NewDocument::text("a", created, TEXT).seen(Timestamp::from_seconds(sweep))
    };
    store.add(&seen(at(100), 100)).unwrap();
    assert!(store.recognise(&seen(at(200), 200)).unwrap().is_some());
    assert_eq!(store.add(&seen(at(200), 200)).unwrap().stored, Stored::Unchanged);
    assert_eq!(Some(store.get("a").unwrap().unwrap().created), at(100));
    // Whoever saw it before knows better.
    assert!(store.recognise(&seen(at(50), 200)).unwrap().is_none());
    assert_eq!(store.add(&seen(at(50), 200)).unwrap().stored, Stored::Updated);
    assert_eq!(Some(store.get("a").unwrap().unwrap().created), at(50));
    // A claim that is not known yet is something new.
    let claims = NewDocument { published: at(1), ..seen(at(300), 300) };
    assert!(store.recognise(&claims).unwrap().is_none());
}

#[test]
fn a_claim_that_was_altered_is_not_believed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    store.add(&NewDocument { published: at(1), ..NewDocument::text("a", at(100), TEXT) }).unwrap();
    store.close().unwrap();
    let connection = rusqlite::Connection::open(directory.path().join("documents.sqlite")).unwrap();
    connection.execute("UPDATE documents SET published = 7", []).unwrap();
    drop(connection);
    let store = Store::open_read_only(directory.path()).unwrap();
    assert!(store.get("a").unwrap_err().to_string().contains("is not as it was written"));
}

#[test]
fn the_dates_that_decide_are_a_parameter_of_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let params = StoreParams { dates: Dates::Claimed, ..StoreParams::default() };
    Store::create(directory.path(), &params).unwrap().close().unwrap();
    let store = Store::open(directory.path()).unwrap();
    assert_eq!(store.params().dates, Dates::Claimed);
    store.close().unwrap();
    let other = StoreParams { dates: Dates::Created, ..params };
    let refused = Store::open_or_create(directory.path(), Some(&other));
    assert_eq!(refused.unwrap_err().to_string(), "the store has the dates claimed, not created");
}
