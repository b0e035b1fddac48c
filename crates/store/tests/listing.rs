//! Lists are what a slow look at all documents says, and writes happen only to what is expected.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "support/mod.rs"]
mod support;

use std::collections::BTreeMap;

use wonbon_store::{
    Expected, Kind, NewDocument, Store, StoreError, StoreParams, Stored, StoredDocument,
};
use wonbon_time::Timestamp;

fn text_of(family: u64) -> String {
    (0..40).map(|word| format!("w{family}x{} ", word * (family + 3))).collect()
}

fn store_with_families() -> (support::Place, Store) {
    let folder = support::place();
    let store = Store::create(folder.path(), &StoreParams::default()).unwrap();
    // Family n has n copies, and their turns are mixed.
    let mut created = 0;
    for round in 0..6_u64 {
        for family in round..6 {
            let key = format!("https://site{}.example/{family}/{round}", round % 3);
            created += 1;
            store
                .add(&NewDocument::text(
                    &key,
                    Some(Timestamp::from_microseconds(created)),
                    &text_of(family),
                ))
                .unwrap();
        }
    }
    (folder, store)
}

fn everything(store: &Store) -> Vec<StoredDocument> {
    let mut all = Vec::new();
    store
        .for_each(|document| {
            all.push(document);
            Ok::<(), StoreError>(())
        })
        .unwrap();
    all
}

#[test]
fn families_come_largest_first_in_pages_that_join_without_gap_or_overlap() {
    let (_folder, store) = store_with_families();
    let mut slow: BTreeMap<String, u64> = BTreeMap::new();
    for document in everything(&store) {
        if let Some(original) = document.verdict.original {
            *slow.entry(original).or_default() += 1;
        }
    }
    for most in [1, 2, 3, 100] {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let part = store.families(after, most).unwrap();
            assert_eq!(part.total, slow.len() as u64);
            assert_eq!(part.sizes.values().sum::<u64>(), part.total);
            found.extend(
                part.families.into_iter().map(|family| (family.original.key, family.copies)),
            );
            after = part.next;
            if after.is_none() {
                break;
            }
        }
        assert!(found.windows(2).all(|pair| pair[0].1 >= pair[1].1), "{found:?}");
        assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), slow, "pages of {most}");
    }
}

#[test]
fn a_family_stands_on_the_sites_of_all_its_documents() {
    let (_folder, store) = store_with_families();
    let largest = &store.families(None, 1).unwrap().families[0];
    assert_eq!((largest.copies, largest.sites), (5, 3));
    let family = store.family(&largest.original.key).unwrap();
    assert_eq!(largest.last, family.iter().map(|document| document.created).max().unwrap());
}

#[test]
fn parts_of_a_family_put_together_are_the_family() {
    let (_folder, store) = store_with_families();
    let key = &store.families(None, 1).unwrap().families[0].original.key;
    let whole = store.family(key).unwrap();
    let member = &whole[3].key;
    let mut parts = Vec::new();
    for offset in (0..whole.len()).step_by(2) {
        let part = store.family_part(member, offset, 2).unwrap().unwrap();
        assert_eq!(part.total, whole.len() as u64);
        parts.extend(part.documents);
    }
    assert_eq!(parts, whole);
    assert!(store.family_part("nobody", 0, 5).unwrap().is_none());
}

#[test]
fn the_latest_documents_are_the_last_that_came_in() {
    let (_folder, store) = store_with_families();
    let mut keys: Vec<String> = everything(&store).into_iter().map(|found| found.key).collect();
    keys.reverse();
    let first = store.latest(None, 5).unwrap();
    let rest = store.latest(Some(first[4].row), 100).unwrap();
    let listed: Vec<String> = first.iter().chain(&rest).map(|found| found.key.clone()).collect();
    assert_eq!(listed, keys);
    let copy = rest.iter().chain(&first).find(|found| found.kind.is_copy()).unwrap();
    let stored = store.get(&copy.key).unwrap().unwrap();
    assert_eq!(copy.original, stored.verdict.original);
}

#[test]
fn a_write_that_expects_something_else_is_refused_and_others_go_on() {
    let (_folder, store) = store_with_families();
    let text = text_of(90);
    let document = NewDocument::text("guarded", Some(Timestamp::from_microseconds(1)), &text);
    let prepared = || store.prepare(&document).unwrap();
    let refused = |result| matches!(result, Err(StoreError::NotAsExpected { .. }));

    assert!(refused(store.submit(prepared().only_if(Expected::Present)).unwrap().wait()));
    let added = store.submit(prepared().only_if(Expected::Absent)).unwrap().wait().unwrap();
    assert_eq!((added.stored, added.verdict.kind), (Stored::New, Kind::Original));
    assert!(refused(store.submit(prepared().only_if(Expected::Absent)).unwrap().wait()));

    let edit = store.get("guarded").unwrap().unwrap().edit();
    let changed = NewDocument::text(
        "guarded",
        Some(Timestamp::from_microseconds(1)),
        "something else that was written later on",
    );
    let change = || store.prepare(&changed).unwrap().only_if(Expected::Edit(edit));
    // Two who saw the same edit, queued together: the first wins.
    let pending = [store.submit(change()).unwrap(), store.submit(change()).unwrap()];
    let results = pending.map(wonbon_store::Pending::wait);
    assert_eq!(results[0].as_ref().unwrap().stored, Stored::Updated);
    assert!(refused(results.into_iter().nth(1).unwrap()));

    assert!(matches!(
        store.delete_if("guarded", Expected::Edit(edit)),
        Err(StoreError::NotAsExpected { .. })
    ));
    let now = store.get("guarded").unwrap().unwrap().edit();
    assert!(store.delete_if("guarded", Expected::Edit(now)).unwrap());
    assert_eq!(store.verify().unwrap().differences, 0);
}

#[test]
fn what_is_derived_is_behind_until_it_has_caught_up() {
    let (folder, store) = store_with_families();
    store.catch_up().unwrap();
    store.shingles().unwrap();
    assert_eq!((store.search_behind().unwrap(), store.shingles_behind().unwrap()), (0, 0));
    store.close().unwrap();
    let store = Store::open(folder.path()).unwrap();
    store.shingles().unwrap();
    assert_eq!(store.shingles_behind().unwrap(), 0);
    // A store that only reads has seen none of what it was not asked about.
    let reader = Store::open_read_only(folder.path()).unwrap();
    assert!(reader.shingles_behind().unwrap() > 0);
}
