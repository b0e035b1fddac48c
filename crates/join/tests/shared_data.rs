//! Every algorithm finds the same number of pairs on real sets, where they are beside the
//! checkout.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by unwrapping")]

use wonbon_join::auto::{Auto, Way};
use wonbon_join::interner::WordNumbers;
use wonbon_join::{
    Algorithm, Collection, CollectionBuilder, Counters, JoinParams, Match, Measure, Side,
    algorithms,
};

const FILES: [&str; 4] = ["acl", "bmspos", "debdesc", "enronspam"];

fn read(name: &str) -> Option<Collection> {
    let path = wonbon_testkit::corpora::corpus(&format!("join/{name}_set.txt.zst"))?;
    let mut source = wonbon_input::open(&path).unwrap();
    let mut numbers = WordNumbers::new();
    let mut builder = CollectionBuilder::for_self_join();
    let (mut line, mut tokens) = (String::new(), Vec::new());
    while source.reader().read_line(&mut line).unwrap() > 0 {
        tokens.clear();
        tokens.extend(line.split_whitespace().map(|word| numbers.number(word.as_bytes()).unwrap()));
        builder.push(Side::Left, &tokens).unwrap();
        line.clear();
    }
    Some(builder.finish())
}

fn matches(algorithm: &dyn Algorithm, collection: &Collection, threshold: &str) -> Vec<Match> {
    let params = JoinParams::new(Measure::Jaccard, threshold.parse().unwrap()).unwrap();
    let mut matches = Vec::new();
    let mut counters = Counters::default();
    algorithm.join(collection, &params.with_threads(2), &mut matches, &mut counters).unwrap();
    assert_eq!(counters.results, matches.len() as u64);
    matches.sort_unstable();
    matches
}

fn check(thresholds: &[&str]) {
    for name in FILES {
        let Some(collection) = read(name) else { continue };
        for threshold in thresholds {
            let expected = matches(&wonbon_join::papers::ApJoin, &collection, threshold);
            for algorithm in algorithms() {
                let found = matches(algorithm, &collection, threshold);
                assert!(found == expected, "{} on {name} at {threshold}", algorithm.name());
            }
            for way in [Way::Postings, Way::Columns] {
                let found = matches(&Auto { way }, &collection, threshold);
                assert!(found == expected, "{way:?} on {name} at {threshold}");
            }
        }
    }
}

#[test]
fn all_algorithms_find_the_same_pairs_at_high_thresholds() {
    check(&["0.85", "0.95"]);
}

#[test]
#[ignore = "minutes of work; the benchmark's table shows the same counts"]
fn all_algorithms_find_the_same_pairs_at_every_threshold() {
    check(&["0.5", "0.6", "0.7", "0.8", "0.85", "0.9", "0.95"]);
}

/// The sink hears the same sequence of matches whatever the number of threads.
#[test]
fn the_order_of_matches_does_not_depend_on_threads() {
    let Some(collection) = read("bmspos") else { return };
    let params = JoinParams::new(Measure::Jaccard, "0.7".parse().unwrap()).unwrap();
    let run = |threads: usize| {
        let mut matches = Vec::new();
        let mut counters = Counters::default();
        wonbon_join::auto::AUTO
            .join(&collection, &params.with_threads(threads), &mut matches, &mut counters)
            .unwrap();
        (matches, counters)
    };
    let one = run(1);
    assert!(!one.0.is_empty());
    for threads in [2, 3, 7] {
        assert!(run(threads) == one, "{threads} threads");
    }
}
