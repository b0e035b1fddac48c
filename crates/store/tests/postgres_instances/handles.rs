//! Three handles on one store, and copies of stores.

use std::sync::atomic::{AtomicU64, Ordering};

use wonbon_store::{Freshness, Kind, NewDocument, Store, StoreError, StoreParams};

use super::{assert_as_one_writer_gives, standings, support, text};

#[test]
fn three_handles_give_one_original_for_each_text() {
    if support::server().is_none() {
        return;
    }
    let place = support::place();
    let stores: Vec<Store> = std::thread::scope(|scope| {
        // All at once: one of them makes the store.
        let opening: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| Store::open_or_create(place.path(), None).unwrap()))
            .collect();
        opening.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let originals = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for client in 0..9 {
            let (store, originals) = (&stores[client % 3], &originals);
            scope.spawn(move || {
                for at in 0..60 {
                    let key = format!("{client}/{at}");
                    let text = text(at % 40);
                    let document = NewDocument::text(&key, None, &text);
                    let kind = store.add(&document).unwrap().verdict.kind;
                    originals.fetch_add(u64::from(kind == Kind::Original), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(originals.into_inner(), 40);
    for store in &stores {
        // What others stored a moment ago is seen by a check, and found once search has caught up.
        let text = text(7);
        assert_eq!(
            store.check(&NewDocument::text("x", None, &text)).unwrap().kind,
            Kind::Identical
        );
        store.catch_up().unwrap();
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    }
    assert_as_one_writer_gives(&stores[0]);
}

/// An add that was acknowledged anywhere is seen by every check that begins after it.
#[test]
fn no_check_is_older_than_an_acknowledged_add() {
    if support::server().is_none() {
        return;
    }
    let place = support::place();
    let one = Store::create(place.path(), &StoreParams::default()).unwrap();
    let other = Store::open(place.path()).unwrap();
    for at in 0..200 {
        let (adds, checks) = if at % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let (key, text) = (format!("key {at}"), text(at));
        adds.add(&NewDocument::text(&key, None, &text)).unwrap();
        let verdict = checks.check(&NewDocument::text("asked", None, &text)).unwrap();
        assert_eq!(verdict.original.as_deref(), Some(key.as_str()));
        adds.delete(&key).unwrap();
        let verdict = checks.check(&NewDocument::text("asked", None, &text)).unwrap();
        assert_eq!(verdict.original, None, "{at}");
    }
}

#[test]
fn a_check_knows_what_it_is_asked_to_know() {
    if support::server().is_none() {
        return;
    }
    let place = support::place();
    let one = Store::create(place.path(), &StoreParams::default()).unwrap();
    let other = Store::open(place.path()).unwrap();
    let text = text(1);
    let asked = NewDocument::text("asked", None, &text);
    let added = one.add(&NewDocument::text("a", None, &text)).unwrap();
    assert_eq!(added.change, 1);
    let (verdict, _) = other.check_as_of(&asked, Freshness::AtLeast(added.change)).unwrap();
    assert_eq!(verdict.original.as_deref(), Some("a"));
    // What others did comes by itself.
    while other.shared_state().unwrap().unwrap().behind > 0 {
        std::thread::yield_now();
    }
    let (verdict, change) = other.check_as_of(&asked, Freshness::Any).unwrap();
    assert_eq!((verdict.original.as_deref(), change), (Some("a"), 1));
    let (one, other) = (one.shared_state().unwrap(), other.shared_state().unwrap());
    assert_eq!(one.unwrap().history, other.unwrap().history);
}

#[test]
fn a_copy_is_equal_and_a_second_one_is_refused() {
    if support::server().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (first, last) = (directory.path().join("first"), directory.path().join("last"));
    let place = support::place();
    let store = Store::create(&first, &StoreParams::default()).unwrap();
    for at in 0..120 {
        let (key, text) = (format!("key {}", at % 100), text(at % 70));
        store.add(&NewDocument::text(&key, None, &text)).unwrap();
    }
    store.watch("key 3").unwrap();
    let decision = wonbon_store::Decision::Original;
    store.decide("key 75", decision, &wonbon_store::By::default(), None).unwrap();
    let expected: Vec<_> = standings(&store);
    let all = |store: &Store, key: &str| {
        let found = store.get(key).unwrap().unwrap();
        let history = store.history(key, None).unwrap();
        (found, format!("{history:?}"))
    };
    let known: Vec<_> = expected.iter().map(|(key, ..)| all(&store, key)).collect();
    let decisions = store.decisions(None, None, 100).unwrap();
    store.close().unwrap();

    Store::copy(&first, place.path(), |_| true).unwrap();
    let refused = Store::copy(&first, place.path(), |_| true);
    assert!(matches!(refused, Err(StoreError::AlreadyThere { .. })), "{refused:?}");
    Store::copy(place.path(), &last, |_| true).unwrap();
    for copy in [place.path(), &last] {
        let copy = Store::open(copy).unwrap();
        assert_eq!(standings(&copy), expected);
        for (key, known) in expected.iter().map(|document| &document.0).zip(&known) {
            assert_eq!(&all(&copy, key), known);
        }
        assert_eq!(copy.decisions(None, None, 100).unwrap(), decisions);
        assert_eq!(copy.watched().unwrap().len(), 1);
        assert_eq!(copy.verify().unwrap().first, Vec::<String>::new());
    }
}
