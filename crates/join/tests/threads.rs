//! The number of threads changes nothing that a caller sees.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by unwrapping")]

use wonbon_join::auto::{Auto, Way};
use wonbon_join::{
    Algorithm, Collection, CollectionBuilder, Counters, JoinParams, Match, Measure, Side,
};
use wonbon_testkit::join::shapes::{DBLP, ENRON, Shape};

fn collection(shape: &Shape, records: u32, two_files: bool) -> Collection {
    let mut builder = if two_files {
        CollectionBuilder::for_two_files()
    } else {
        CollectionBuilder::for_self_join()
    };
    let mut next = Side::Left;
    (*shape).with_records(records).generate(|tokens| {
        builder.push(next, tokens).unwrap();
        if two_files {
            next = next.other();
        }
    });
    builder.finish()
}

fn run(
    collection: &Collection,
    way: Way,
    threshold: &str,
    threads: usize,
) -> (Vec<Match>, Counters) {
    let params = JoinParams::new(Measure::Jaccard, threshold.parse().unwrap()).unwrap();
    let (mut matches, mut counters) = (Vec::new(), Counters::default());
    Auto { way }
        .join(collection, &params.with_threads(threads), &mut matches, &mut counters)
        .unwrap();
    (matches, counters)
}

/// Large enough that threads have segments, and that who is done takes over from others.
#[test]
fn matches_their_order_and_counts_do_not_depend_on_threads() {
    for (shape, records, two_files) in
        [(&DBLP, 12_000, false), (&DBLP, 8_000, true), (&ENRON, 700, false)]
    {
        let collection = collection(shape, records, two_files);
        for threshold in ["0.5", "0.8", "0.95"] {
            for way in [Way::Fastest, Way::Postings] {
                let one = run(&collection, way, threshold, 1);
                for threads in [2, 3, 8] {
                    let several = run(&collection, way, threshold, threads);
                    assert!(several == one, "{threshold} {way:?} {threads} threads");
                }
            }
        }
    }
}
