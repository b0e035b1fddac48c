//! A join can be watched and stopped, and keeps the best pairs when asked.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by unwrapping")]

use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use wonbon_join::auto::AUTO;
use wonbon_join::{
    Collection, CollectionBuilder, Counters, JoinError, JoinParams, Match, MatchSink, Measure,
    Pair, Side, algorithms, join_pairs,
};
use wonbon_progress::Progress;
use wonbon_testkit::join::shapes::DBLP;

fn collection(records: u32) -> Collection {
    let mut builder = CollectionBuilder::for_self_join();
    DBLP.with_records(records).generate(|tokens| builder.push(Side::Left, tokens).unwrap());
    builder.finish()
}

struct StopAfter {
    calls: AtomicU64,
    most: u64,
    total: AtomicU64,
    furthest: AtomicU64,
}

impl Progress for StopAfter {
    fn begin(&self, _: &'static str, total: u64) {
        self.total.store(total, Relaxed);
    }

    fn advance(&self, done: u64) {
        assert!(done <= self.total.load(Relaxed));
        self.furthest.fetch_max(done, Relaxed);
    }

    fn stop_asked(&self) -> bool {
        self.calls.fetch_add(1, Relaxed) >= self.most
    }
}

#[test]
fn a_watcher_can_stop_every_algorithm() {
    let collection = collection(3000);
    for algorithm in algorithms() {
        for threads in [1, 3] {
            let watcher =
                StopAfter { calls: 0.into(), most: 2, total: 0.into(), furthest: 0.into() };
            let mut params = JoinParams::new(Measure::Jaccard, "0.6".parse().unwrap()).unwrap();
            params.progress = &watcher;
            params.threads = threads;
            let mut matches: Vec<Match> = Vec::new();
            let end = algorithm.join(&collection, &params, &mut matches, &mut Counters::default());
            assert_eq!(end, Err(JoinError::Stopped), "{}", algorithm.name());
            assert!(watcher.furthest.load(Relaxed) < collection.len() as u64);
        }
    }
}

#[test]
fn a_sink_can_stop_every_algorithm() {
    struct Full;
    impl MatchSink for Full {
        fn accept(&mut self, _: &[Match]) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    let collection = collection(3000);
    let params = JoinParams::new(Measure::Jaccard, "0.6".parse().unwrap()).unwrap();
    for algorithm in algorithms() {
        let end = algorithm.join(&collection, &params, &mut Full, &mut Counters::default());
        assert_eq!(end, Err(JoinError::Stopped), "{}", algorithm.name());
    }
}

#[test]
fn progress_reaches_the_end() {
    let collection = collection(3000);
    for algorithm in algorithms() {
        let watcher =
            StopAfter { calls: 0.into(), most: u64::MAX, total: 0.into(), furthest: 0.into() };
        let mut params = JoinParams::new(Measure::Jaccard, "0.8".parse().unwrap()).unwrap();
        params.progress = &watcher;
        let mut matches: Vec<Match> = Vec::new();
        algorithm.join(&collection, &params, &mut matches, &mut Counters::default()).unwrap();
        let records = collection.len() as u64;
        assert!(watcher.furthest.load(Relaxed) + 1 >= records, "{}", algorithm.name());
    }
}

/// A pair stays if it is among the best `n` of either of its lines.
#[test]
fn the_best_pairs_are_those_a_full_sort_keeps() {
    let collection = collection(4000);
    for measure in [Measure::Jaccard, Measure::Cosine, Measure::Containment] {
        let params = JoinParams::new(measure, "0.4".parse().unwrap()).unwrap();
        let mut all: Vec<Pair> = Vec::new();
        join_pairs(&AUTO, &collection, &params, None, &mut all).unwrap();
        assert!(all.len() > 50);
        for count in [1, 2, 5] {
            let best_of = |line: u32| {
                let mut own: Vec<Pair> =
                    all.iter().copied().filter(|p| p.left == line || p.right == line).collect();
                own.sort_by(|one, two| {
                    let value = |pair: &Pair| (pair.overlap, pair.sizes(false));
                    let other = |pair: &Pair| pair.left + pair.right - line;
                    let by_value = measure.compare(value(two), value(one));
                    if by_value == Ordering::Equal { other(one).cmp(&other(two)) } else { by_value }
                });
                own.truncate(count);
                own
            };
            let mut expected: Vec<Pair> = all
                .iter()
                .flat_map(|pair| [best_of(pair.left), best_of(pair.right)])
                .flatten()
                .collect();
            expected.sort_unstable();
            expected.dedup();
            let mut found: Vec<Pair> = Vec::new();
            join_pairs(&AUTO, &collection, &params, Some(count), &mut found).unwrap();
            found.sort_unstable();
            assert!(found == expected, "{measure} top {count}");
        }
    }
}
