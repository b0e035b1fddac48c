//! A document that arrives late and is older than a whole family takes it over: as if it had come first, while others
//! write, and how long they wait.
//!
//! `WONBON_COPIES` sets how many copies the large family has, 400 by default; scripts/hard.sh: 20,000. Times are printed and
//! decide nothing.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use wonbon_store::{Kind, NewDocument, SeedSource, Store, StoreParams};
use wonbon_testkit::generate::random::Random;
use wonbon_testkit::long;
use wonbon_time::Timestamp;

const WORDS: u64 = 300;

fn at(second: i64) -> Option<Timestamp> {
    Some(Timestamp::from_seconds(second))
}

/// The text of the family, in which so many words are others.
fn text(changed: u64, number: u64) -> String {
    let mut random = Random::new(7, 16, number);
    let mut words: Vec<String> = (0..WORDS).map(|at| format!("word{at}")).collect();
    for _ in 0..changed {
        words[random.below(WORDS) as usize] = format!("other{}", random.below(1000));
    }
    words.join(" ")
}

/// Copies near and less near, some of them the same; a few are so far that they resemble only some of the others. Only so
/// few that one document is still compared with all originals.
fn copy(number: u64) -> String {
    match number % 8 {
        0 | 1 => text(0, 0),
        2 => text(1, 1),
        3 if number < 400 => text(9, number),
        _ => text(1 + number % 3, number),
    }
}

fn kinds(store: &Store, copies: u64) -> Vec<(String, Kind, Option<String>, Option<f64>)> {
    let keys = (0..copies).map(|number| format!("copy{number}"));
    let keys = keys.chain(["first".to_owned(), "late".to_owned()]);
    keys.map(|key| {
        let document = store.get(&key).unwrap().unwrap();
        let verdict = document.verdict;
        (key, verdict.kind, verdict.original, verdict.resemblance)
    })
    .collect()
}

#[test]
fn a_late_original_takes_a_family_over_as_if_it_had_come_first() {
    const COPIES: u64 = 60;
    let late = text(3, 1_000_000);
    let add = |store: &Store, key: &str, second, text: &str| {
        store.add(&NewDocument::text(key, at(second), text)).unwrap();
    };
    let stores = [true, false].map(|arrives_late| {
        let directory = tempfile::tempdir().unwrap();
        let params = StoreParams { seed: SeedSource::Number(5), ..StoreParams::default() };
        let store = Store::create(directory.path(), &params).unwrap();
        if !arrives_late {
            add(&store, "late", 1, &late);
        }
        add(&store, "first", 10, &text(0, 0));
        for number in 0..COPIES {
            add(&store, &format!("copy{number}"), 100 + number as i64, &copy(number));
        }
        if arrives_late {
            let added = store.add(&NewDocument::text("late", at(1), &late)).unwrap();
            assert_eq!(added.verdict.kind, Kind::Original);
        }
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
        (directory, store)
    });
    let [came_late, came_first] = stores.each_ref().map(|(_, store)| kinds(store, COPIES));
    assert_eq!(came_late, came_first);
    let of_late = came_late.iter().filter(|(.., original, _)| original.as_deref() == Some("late"));
    assert!(of_late.count() > 20, "{came_late:?}");
}

#[test]
fn others_write_while_a_family_is_taken_over() {
    let copies = long::number("WONBON_COPIES", 400);
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
    store.add(&NewDocument::text("first", at(10), &text(0, 0))).unwrap();
    let mut waiting = Vec::new();
    for number in 0..copies {
        let (key, text) = (format!("copy{number}"), copy(number));
        let document = NewDocument::text(&key, at(100 + number as i64), &text);
        waiting.push(store.submit(store.prepare(&document).unwrap()).unwrap());
        if waiting.len() == 500 {
            waiting.drain(..).for_each(|pending| drop(pending.wait().unwrap()));
        }
    }
    waiting.drain(..).for_each(|pending| drop(pending.wait().unwrap()));
    let copies_before = store.get("first").unwrap().unwrap().copies;
    let stop = AtomicBool::new(false);
    // Twice: the first late document also makes the index of copies.
    let mut report = vec![("copies", copies_before)];
    for (late, created, names) in [
        (1, 5, ["microseconds of the first late add", "longest wait of others"]),
        (2, 1, ["microseconds of the second late add", "longest wait of others then"]),
    ] {
        stop.store(false, Ordering::Relaxed);
        let (took, longest) = std::thread::scope(|scope| {
            let others = scope.spawn(|| {
                let (mut longest, mut number) = (Duration::ZERO, 0);
                while !stop.load(Ordering::Relaxed) || number < 20 {
                    // New ones, and copies of the family that come meanwhile.
                    let (key, text) = match number % 4 {
                        0 => (format!("{late} more {number}"), copy(copies + number)),
                        _ => (
                            format!("{late} other {number}"),
                            format!("alone{late}{number} ").repeat(9),
                        ),
                    };
                    let begun = Instant::now();
                    store.add(&NewDocument::text(&key, None, &text)).unwrap();
                    longest = longest.max(begun.elapsed());
                    number += 1;
                }
                longest
            });
            let begun = Instant::now();
            let text = text(late, 1_000_000 + late);
            let added = store.add(&NewDocument::text(&format!("late{late}"), at(created), &text));
            let took = begun.elapsed();
            stop.store(true, Ordering::Relaxed);
            assert_eq!(added.unwrap().verdict.kind, Kind::Original);
            (took, others.join().unwrap())
        });
        report.push((names[0], took.as_micros() as u64));
        report.push((names[1], longest.as_micros() as u64));
    }
    assert_eq!(store.get("first").unwrap().unwrap().verdict.original.as_deref(), Some("late2"));
    let verified = store.verify().unwrap();
    report.push(("wrong", verified.differences));
    long::report("a family taken over by late documents", &report);
    assert_eq!(verified.first, Vec::<String>::new());
}
