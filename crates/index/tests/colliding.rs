//! Documents that collide: the same features, one band of a template in common, the same slots of hash tables. What a
//! question costs does not grow with how many there are.
//!
//! `WONBON_COLLIDING` sets how many, 20,000 by default; scripts/hard.sh: a million. Times are printed and decide nothing.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::time::{Duration, Instant};

use wonbon_index::{IndexParams, MemoryIndex, Row};
use wonbon_testkit::generate::random::Random;
use wonbon_testkit::long;

/// A threshold of 0.8: 18 bands, of which one has to agree.
const PARAMS: IndexParams = IndexParams { features: 18, agreeing: 1 };
/// As a store asks.
const MOST: usize = 256;
const QUESTIONS: u64 = 2000;

/// How the features of documents collide.
#[derive(Clone, Copy, Debug)]
enum Colliding {
    /// All features are the same.
    Same,
    /// One band is the template's, the others are their own.
    Template,
    /// Features differ only in their upper bits, or only in their lower ones.
    Buckets,
    /// They do not.
    Not,
}

fn features(colliding: Colliding, number: u64) -> Vec<u64> {
    let mut random = Random::new(16, 12, number);
    let own: Vec<u64> = (0..PARAMS.features).map(|_| random.bits()).collect();
    match colliding {
        Colliding::Same => (0..PARAMS.features as u64).collect(),
        Colliding::Template => {
            let template = number as usize % PARAMS.features;
            let with = |(at, own): (usize, u64)| if at == template { 7 } else { own };
            own.into_iter().enumerate().map(with).collect()
        }
        Colliding::Buckets if number.is_multiple_of(2) => {
            (0..PARAMS.features as u64).map(|at| (number << 32) | at).collect()
        }
        Colliding::Buckets => (0..PARAMS.features as u64).map(|at| (at << 48) | number).collect(),
        Colliding::Not => own,
    }
}

/// The 99th of a hundred times of a question.
fn ask(colliding: Colliding, count: u64) -> Duration {
    let rows = (0..count).map(|row| Row(row as u32)).collect();
    let all = (0..count).flat_map(|number| features(colliding, number)).collect();
    let index = MemoryIndex::build(PARAMS, rows, all).unwrap();
    let mut times = Vec::new();
    for question in 0..QUESTIONS {
        let number = question * (count / QUESTIONS).max(1) % count;
        let asked = features(colliding, number);
        let begun = Instant::now();
        let found = index.closest(&asked, MOST).unwrap();
        times.push(begun.elapsed());
        assert!(found.matches.len() <= MOST);
        let itself = found.matches.iter().any(|found| found.row == Row(number as u32));
        match colliding {
            Colliding::Same => assert!(found.matches.iter().all(|found| found.agreeing == 18)),
            // Whoever agrees in everything comes first, whatever else collides.
            _ => assert!(itself && found.matches[0].row == Row(number as u32), "{number}"),
        }
        assert!(itself || !found.complete, "what was left out is told");
    }
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

#[test]
fn what_collides_costs_no_more_where_there_is_more_of_it() {
    let count = long::number("WONBON_COLLIDING", 20_000);
    for colliding in [Colliding::Not, Colliding::Same, Colliding::Template, Colliding::Buckets] {
        let (few, many) = (ask(colliding, 1000), ask(colliding, count));
        long::report(
            &format!("colliding documents: {colliding:?}"),
            &[
                ("tried", count),
                ("nanoseconds p99 among 1,000", few.as_nanos() as u64),
                ("nanoseconds p99 among all", many.as_nanos() as u64),
                ("wrong", 0),
            ],
        );
    }
}
