//! Many threads at once: exactly one original for each family, whatever the timing.
//!
//! `WONBON_OPERATIONS` sets how many operations: 25,000 by default, a million in scripts/hard.sh.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "support/mod.rs"]
mod support;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use wonbon_store::{Kind, NewDocument, Store, StoreParams};
use wonbon_time::Timestamp;

const THREADS: u64 = 8;
const FAMILIES: u64 = 500;

/// Creation, key, kind, original.
type Member = (Timestamp, String, Kind, Option<String>);

fn text(family: u64) -> String {
    let words = (0..12).map(|at| format!("w{}", family * 31 + at * 7 % 13));
    format!("family {family} {}", words.collect::<Vec<_>>().join(" "))
}

/// A number that looks random.
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (number ^ (number >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (number >> 32)
}

#[test]
fn eight_threads_agree_on_one_original_for_each_family() {
    let usual = if support::in_postgres() { 4_000 } else { 25_000 };
    let operations: u64 =
        std::env::var("WONBON_OPERATIONS").map_or(usual, |text| text.parse().unwrap());
    let directory = support::place();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    let said_original = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, said_original) = (&store, &said_original);
            scope.spawn(move || {
                let mut pending = Vec::new();
                for operation in 0..operations / THREADS {
                    let draw = mixed(operation * THREADS + thread);
                    let family = draw % FAMILIES;
                    // Few enough keys that documents are met again, deleted and stored anew.
                    let key = format!("{family}/{}", (draw >> 20) % 200);
                    if (draw >> 40).is_multiple_of(10) {
                        store.delete(&key).unwrap();
                        continue;
                    }
                    let created = ((draw >> 20) % 200) as i64;
                    let text = text(family);
                    let document =
                        NewDocument::text(&key, Some(Timestamp::from_microseconds(created)), &text);
                    pending.push(store.submit(store.prepare(&document).unwrap()).unwrap());
                    if pending.len() == 64 {
                        for added in pending.drain(..) {
                            let kind = added.wait().unwrap().verdict.kind;
                            let original = u64::from(kind == Kind::Original);
                            said_original.fetch_add(original, Ordering::Relaxed);
                        }
                    }
                }
                for added in pending {
                    added.wait().unwrap();
                }
            });
        }
    });
    assert!(said_original.load(Ordering::Relaxed) > 0);
    let mut families: HashMap<String, Vec<Member>> = HashMap::new();
    let read: Result<(), wonbon_store::StoreError> = store.for_each(|document| {
        let family = document.key.split('/').next().unwrap().to_owned();
        let verdict = document.verdict;
        families.entry(family).or_default().push((
            document.created,
            document.key,
            verdict.kind,
            verdict.original,
        ));
        Ok(())
    });
    read.unwrap();
    assert!(families.len() as u64 > FAMILIES / 2);
    for (family, mut members) in families {
        members.sort();
        let (_, first, ..) = members[0].clone();
        let originals = members.iter().filter(|member| member.2 == Kind::Original).count();
        assert_eq!(originals, 1, "family {family}: {members:?}");
        for (_, key, kind, original) in &members {
            if *key == first {
                assert_eq!((*kind, original), (Kind::Original, &None), "family {family}");
            } else {
                assert_eq!((*kind, original.as_ref()), (Kind::Identical, Some(&first)));
            }
        }
    }
    let verified = store.verify().unwrap();
    assert_eq!(verified.differences, 0, "{:?}", verified.first);
    store.close().unwrap();
}
