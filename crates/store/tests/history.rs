//! Concurrent histories are linearizable: every answer is one that some order of the operations explains, an order that
//! keeps whatever ended before something else began. Backups taken meanwhile equal a commit point.
//!
//! Documents fall into groups that share no words, so each group is checked by itself (histories of independent
//! objects compose). Eight threads add, edit, delete, decide, check and read in rounds; after each round a search over
//! all orders of a group's operations, with what was tried remembered, must find one that the model agrees with. On
//! PostgreSQL the threads share three handles, as three processes would have.
//!
//! `WONBON_OPERATIONS` sets how many operations, 6,000 by default (3,000 on PostgreSQL); `WONBON_BACKUPS` how many backups, 3 by default.
//! scripts/hard.sh: a million, and 100.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use wonbon_store::{By, Decision, Kind, NewDocument, OldStore, Store, StoreError, StoreParams};
use wonbon_testkit::generate::random::Random;
use wonbon_testkit::long::{self, number};
use wonbon_time::Timestamp;

const THREADS: u64 = 8;
const GROUPS: u64 = 24;
const OPERATIONS_A_ROUND: u64 = 240;
const KEYS: u64 = 4;
const VARIANTS: u64 = 2;

fn text(group: u64, variant: u64) -> String {
    let words = (0..20).map(|at| format!("g{group}v{variant}n{at}"));
    words.collect::<Vec<_>>().join(" ")
}

fn key(group: u64, key: u64) -> String {
    format!("{group}/{key}")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Add { key: u64, created: u64, variant: u64 },
    Delete { key: u64 },
    Decide { key: u64, decision: Decision },
    Check { variant: u64 },
    Get { key: u64 },
}

/// What an operation answered: a kind with its original for adds, checks and reads, or whether the
/// document was there.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Answer {
    Verdict(Kind, Option<String>),
    Read(Option<(u64, Kind, Option<String>)>),
    Existed(bool),
}

/// An operation with its answer, and the moments at which it began and ended.
#[derive(Debug, Clone)]
struct Event {
    operation: Operation,
    answer: Answer,
    began: u64,
    ended: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Held {
    created: u64,
    arrival: u64,
    variant: u64,
    decided: Option<u8>,
}

/// The documents of a group: everything its verdicts depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Model {
    documents: BTreeMap<u64, Held>,
    arrivals: u64,
}

const ORIGINAL: u8 = 1;

impl Model {
    /// Kind and original of every document, by the definition.
    fn families(&self) -> BTreeMap<u64, (Kind, Option<u64>)> {
        let mut order: Vec<(&u64, &Held)> = self.documents.iter().collect();
        order.sort_by_key(|(_, held)| (held.decided != Some(ORIGINAL), held.created, held.arrival));
        let mut originals: BTreeMap<u64, u64> = BTreeMap::new();
        let mut said = BTreeMap::new();
        for (&key, held) in order {
            let original = originals.get(&held.variant).copied();
            let verdict = match (original, held.decided) {
                (Some(original), None) => (Kind::Identical, Some(original)),
                _ => (Kind::Original, None),
            };
            originals.entry(held.variant).or_insert(key);
            said.insert(key, verdict);
        }
        said
    }

    fn answer(&self, group: u64, found: u64) -> (Kind, Option<String>) {
        let (kind, original) = self.families()[&found];
        (kind, original.map(|original| key(group, original)))
    }

    /// The state after an operation, if its answer is right.
    fn step(&self, group: u64, event: &Event) -> Option<Model> {
        let mut next = self.clone();
        let answer = match event.operation {
            Operation::Add { key, created, variant } => {
                match next.documents.get_mut(&key) {
                    Some(held) => (held.created, held.variant) = (created, variant),
                    None => {
                        next.arrivals += 1;
                        let arrival = next.arrivals;
                        let held = Held { created, arrival, variant, decided: None };
                        next.documents.insert(key, held);
                    }
                }
                let (kind, original) = next.answer(group, key);
                Answer::Verdict(kind, original)
            }
            Operation::Delete { key } => Answer::Existed(next.documents.remove(&key).is_some()),
            Operation::Decide { key, decision } => {
                let held = next.documents.get_mut(&key);
                let existed = held.is_some();
                if let Some(held) = held {
                    held.decided = Some(u8::from(decision == Decision::Original));
                }
                Answer::Existed(existed)
            }
            Operation::Check { variant } => {
                // A new document, created after all others.
                let key = u64::MAX;
                let (created, arrival) = (u64::MAX, u64::MAX);
                next.documents.insert(key, Held { created, arrival, variant, decided: None });
                let (kind, original) = next.answer(group, key);
                next.documents.remove(&key);
                Answer::Verdict(kind, original)
            }
            Operation::Get { key } => Answer::Read(next.documents.get(&key).map(|held| {
                let (kind, original) = self.answer(group, key);
                (held.variant, kind, original)
            })),
        };
        (answer == event.answer).then_some(next)
    }
}

/// All states in which a group may be after a history; empty if no order explains it.
fn explain(group: u64, from: &HashSet<Model>, events: &[Event]) -> HashSet<Model> {
    assert!(events.len() < 64, "{} operations of one group", events.len());
    let all = (1_u64 << events.len()) - 1;
    let (mut ends, mut seen) = (HashSet::new(), HashSet::new());
    let mut open: Vec<(u64, Model)> = from.iter().map(|model| (0, model.clone())).collect();
    while let Some((done, model)) = open.pop() {
        if !seen.insert((done, model.clone())) {
            continue;
        }
        if done == all {
            ends.insert(model);
            continue;
        }
        let left = || events.iter().enumerate().filter(|(at, _)| done >> at & 1 == 0);
        let first_end = left().map(|(_, event)| event.ended).min().unwrap();
        // Only what began before anything else that is left had ended may be next.
        for (at, event) in left().filter(|(_, event)| event.began <= first_end) {
            if let Some(next) = model.step(group, event) {
                open.push((done | 1 << at, next));
            }
        }
    }
    ends
}

fn draw(random: &mut Random) -> Operation {
    let key = random.below(KEYS);
    match random.below(20) {
        0..8 => Operation::Add { key, created: random.below(30), variant: random.below(VARIANTS) },
        8..11 => Operation::Delete { key },
        11 => Operation::Decide { key, decision: Decision::Original },
        12 => Operation::Decide { key, decision: Decision::NotACopy },
        13..17 => Operation::Check { variant: random.below(VARIANTS) },
        _ => Operation::Get { key },
    }
}

fn perform(store: &Store, group: u64, operation: Operation) -> Answer {
    let time = |created: u64| Timestamp::from_microseconds(created as i64);
    match operation {
        Operation::Add { key: named, created, variant } => {
            let (key, text) = (key(group, named), text(group, variant));
            let added = store.add(&NewDocument::text(&key, Some(time(created)), &text)).unwrap();
            Answer::Verdict(added.verdict.kind, added.verdict.original)
        }
        Operation::Delete { key: named } => {
            Answer::Existed(store.delete(&key(group, named)).unwrap())
        }
        Operation::Decide { key: named, decision } => {
            let decided = store.decide(&key(group, named), decision, &By::default(), None);
            Answer::Existed(match decided {
                Ok(_) => true,
                Err(StoreError::UnknownDocument { .. }) => false,
                Err(error) => panic!("{error}"),
            })
        }
        Operation::Check { variant } => {
            let text = text(group, variant);
            let asked = NewDocument::text("somebody", Some(time(1 << 40)), &text);
            let verdict = store.check(&asked).unwrap();
            Answer::Verdict(verdict.kind, verdict.original)
        }
        Operation::Get { key: named } => {
            let found = store.get(&key(group, named)).unwrap();
            Answer::Read(found.map(|found| {
                let variant = (0..VARIANTS).find(|&variant| found.text == text(group, variant));
                (variant.unwrap(), found.verdict.kind, found.verdict.original)
            }))
        }
    }
}

#[test]
fn every_answer_is_one_that_some_order_explains() {
    let place = support::place();
    let stores = support::handles(place.path(), &StoreParams::default());
    let clock = AtomicU64::new(0);
    let mut states: Vec<HashSet<Model>> = vec![HashSet::from([Model::default()]); GROUPS as usize];
    let usual = if support::in_postgres() { 3000 } else { 6000 };
    let rounds = long::share(number("WONBON_OPERATIONS", usual)).div_ceil(OPERATIONS_A_ROUND);
    // Each part of a long form draws other operations.
    let first = long::part().0 * rounds;
    let (mut overlapping, mut operations) = (0, 0);
    for round in 0..rounds {
        let mut events: Vec<(u64, Event)> = std::thread::scope(|scope| {
            let running: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (store, clock) = (&stores[thread as usize % stores.len()], &clock);
                    scope.spawn(move || {
                        let mut random = Random::new(7, first + round, thread);
                        let mut events = Vec::new();
                        for _ in 0..OPERATIONS_A_ROUND / THREADS {
                            // Few groups at a time, so that operations meet.
                            let group = (round * 3 + random.below(3)) % GROUPS;
                            let operation = draw(&mut random);
                            if events.iter().filter(|(of, _)| *of == group).count() >= 6 {
                                continue;
                            }
                            let began = clock.fetch_add(1, Ordering::SeqCst);
                            let answer = perform(store, group, operation);
                            let ended = clock.fetch_add(1, Ordering::SeqCst);
                            events.push((group, Event { operation, answer, began, ended }));
                        }
                        events
                    })
                })
                .collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        operations += events.len() as u64;
        events.sort_by_key(|(group, event)| (*group, event.began));
        for of_group in events.chunk_by(|a, b| a.0 == b.0) {
            let group = of_group[0].0;
            let history: Vec<Event> = of_group.iter().map(|(_, event)| event.clone()).collect();
            overlapping += history.windows(2).filter(|two| two[1].began < two[0].ended).count();
            let ends = explain(group, &states[group as usize], &history);
            assert!(
                !ends.is_empty(),
                "round {round}: no order explains {history:#?}\nfrom {:#?}",
                states[group as usize]
            );
            states[group as usize] = ends;
        }
    }
    assert!(overlapping as u64 > rounds, "operations did not meet: {overlapping}");
    for store in stores {
        let verified = store.verify().unwrap();
        assert_eq!(verified.differences, 0, "{:?}", verified.first);
        store.close().unwrap();
    }
    long::report(
        "concurrent operations",
        &[("tried", operations), ("overlapping", overlapping as u64), ("unexplained", 0)],
    );
}

#[test]
fn a_wrong_answer_is_explained_by_no_order() {
    let event = |operation, answer, began, ended| Event { operation, answer, began, ended };
    let add = |key, created| Operation::Add { key, created, variant: 0 };
    let original = || Answer::Verdict(Kind::Original, None);
    let copy = |of: &str| Answer::Verdict(Kind::Identical, Some(of.to_owned()));
    let start = HashSet::from([Model::default()]);
    // At the same moment either may be the original, but not both.
    let one = event(add(0, 5), original(), 0, 3);
    let two = event(add(1, 6), copy("1/0"), 1, 2);
    assert_eq!(explain(1, &start, &[one.clone(), two]).len(), 1);
    let both = event(add(1, 6), original(), 1, 2);
    assert_eq!(explain(1, &start, &[one.clone(), both.clone()]).len(), 1, "two came first");
    let later = event(add(1, 6), original(), 4, 5);
    assert!(explain(1, &start, &[one.clone(), later]).is_empty());
    let lost = event(Operation::Get { key: 0 }, Answer::Read(None), 4, 5);
    assert!(explain(1, &start, &[one, lost]).is_empty());
}

#[test]
fn a_backup_taken_while_others_write_is_a_commit_point() {
    let place = support::place();
    let folder = place.folder();
    let store = Store::create(place.path(), &StoreParams::default()).unwrap();
    let (backups, writers) = (number("WONBON_BACKUPS", 3), 3);
    // How many documents of each writer were begun and acknowledged.
    let begun: Vec<AtomicU64> = (0..writers).map(|_| AtomicU64::new(0)).collect();
    let acknowledged: Vec<AtomicU64> = (0..writers).map(|_| AtomicU64::new(0)).collect();
    let stop = AtomicBool::new(false);
    let counts = |counts: &[AtomicU64]| -> Vec<u64> {
        counts.iter().map(|count| count.load(Ordering::SeqCst)).collect()
    };
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (store, stop, begun, acknowledged) = (&store, &stop, &begun, &acknowledged);
            scope.spawn(move || {
                for number in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        return;
                    }
                    begun[writer].store(number + 1, Ordering::SeqCst);
                    let key = format!("{writer}/{number}");
                    let text = text(number % 40, writer as u64);
                    store.add(&NewDocument::text(&key, None, &text)).unwrap();
                    acknowledged[writer].store(number + 1, Ordering::SeqCst);
                }
            });
        }
        for backup in 0..backups {
            let before = counts(&acknowledged);
            let (copy, restored) = (folder.join("copy"), folder.join("restored"));
            store.backup(&copy).unwrap();
            let after = counts(&begun);
            Store::restore(&copy, &restored, OldStore::Refuse).unwrap();
            for directory in [&copy, &restored] {
                let copy = Store::open(directory).unwrap();
                let mut found = vec![0; writers];
                for writer in 0..writers {
                    let has = |number: u64| copy.get(&format!("{writer}/{number}")).unwrap();
                    while has(found[writer]).is_some() {
                        found[writer] += 1;
                    }
                    let range = before[writer]..=after[writer];
                    assert!(range.contains(&found[writer]), "backup {backup}: {found:?}");
                }
                // Nothing behind a gap.
                assert_eq!(copy.counts().unwrap().documents, found.iter().sum::<u64>());
                let verified = copy.verify().unwrap();
                assert_eq!(verified.differences, 0, "{:?}", verified.first);
                copy.close().unwrap();
                std::fs::remove_dir_all(directory).unwrap();
            }
        }
        stop.store(true, Ordering::SeqCst);
    });
    store.close().unwrap();
    long::report("backups while others write", &[("tried", backups), ("lost", 0)]);
}
