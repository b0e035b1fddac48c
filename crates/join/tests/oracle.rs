//! Every algorithm, measure and join kind against the rational brute-force oracle.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test by unwrapping")]
use std::collections::BTreeSet;

use proptest::prelude::*;
use wonbon_join::auto::{Auto, Way};
use wonbon_join::{
    Algorithm, CollectionBuilder, Counters, JoinParams, Measure, Pair, Side, Threshold, algorithms,
    join_pairs,
};
use wonbon_testkit::join::oracle::{OracleMeasure, self_join, two_file_join};

fn measures() -> [(Measure, OracleMeasure); 5] {
    [
        (Measure::Jaccard, OracleMeasure::Jaccard),
        (Measure::Cosine, OracleMeasure::Cosine),
        (Measure::Dice, OracleMeasure::Dice),
        (Measure::Overlap, OracleMeasure::Overlap),
        (Measure::Containment, OracleMeasure::Containment),
    ]
}

type Sets = Vec<BTreeSet<u32>>;

/// What is run: an algorithm, its threads and the bytes its index may take.
#[derive(Clone, Copy)]
struct Variant {
    algorithm: &'static dyn Algorithm,
    threads: usize,
    index_bytes: u64,
}

impl Variant {
    fn plain(algorithm: &'static dyn Algorithm) -> Self {
        Self { algorithm, threads: 1, index_bytes: u64::MAX }
    }
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { algorithm, threads, index_bytes } = self;
        write!(f, "{} with {threads} threads in {index_bytes} bytes", algorithm.name())
    }
}

/// Every algorithm, and both ways of `auto`, whole and in small blocks.
fn variants(threads: usize) -> Vec<Variant> {
    let mut all: Vec<Variant> = algorithms().into_iter().map(Variant::plain).collect();
    for algorithm in [&BY_POSTINGS as &dyn Algorithm, &BY_COLUMNS] {
        for index_bytes in [300, u64::MAX] {
            all.push(Variant { algorithm, threads, index_bytes });
        }
    }
    all
}

static BY_POSTINGS: Auto = Auto { way: Way::Postings };
static BY_COLUMNS: Auto = Auto { way: Way::Columns };

fn run(
    variant: Variant,
    measure: Measure,
    threshold: Threshold,
    lefts: &[BTreeSet<u32>],
    rights: Option<&[BTreeSet<u32>]>,
) -> (Vec<(u32, u32, u32)>, Counters) {
    let mut builder = if rights.is_some() {
        CollectionBuilder::for_two_files()
    } else {
        CollectionBuilder::for_self_join()
    };
    for set in lefts {
        builder.push(Side::Left, &Vec::from_iter(set.iter().copied())).unwrap();
    }
    for set in rights.unwrap_or_default() {
        builder.push(Side::Right, &Vec::from_iter(set.iter().copied())).unwrap();
    }
    let collection = builder.finish();
    let mut params = JoinParams::new(measure, threshold).unwrap().with_threads(variant.threads);
    params.index_bytes = variant.index_bytes;
    let mut pairs: Vec<Pair> = Vec::new();
    let counters = join_pairs(variant.algorithm, &collection, &params, None, &mut pairs).unwrap();
    pairs.sort_unstable();
    for pair in &pairs {
        let right = &rights.unwrap_or(lefts)[pair.right as usize];
        assert_eq!(pair.left_size as usize, lefts[pair.left as usize].len());
        assert_eq!(pair.right_size as usize, right.len());
    }
    let found = pairs.iter().map(|pair| (pair.left, pair.right, pair.overlap)).collect();
    (found, counters)
}

fn check_all(lefts: &Sets, rights: &Sets, numerator: u64, denominator: u64, threads: usize) {
    for (measure, oracle) in measures() {
        let (numerator, denominator) =
            if measure == Measure::Overlap { (numerator, 1) } else { (numerator, denominator) };
        let threshold = Threshold::new(numerator, denominator).unwrap();
        let expected_self = self_join(oracle, numerator, denominator, lefts);
        let expected_two = two_file_join(oracle, numerator, denominator, lefts, rights);
        for variant in variants(threads) {
            let (found, counters) = run(variant, measure, threshold, lefts, None);
            assert_eq!(found, expected_self, "{variant} {measure} {threshold} self");
            assert!(counters.candidates >= counters.results, "{variant} {counters:?}");
            let (found, _) = run(variant, measure, threshold, lefts, Some(rights));
            assert_eq!(found, expected_two, "{variant} {measure} {threshold} two files");
        }
    }
}

/// Sets made by editing a few originals, so that many pairs lie near or on the threshold;
/// some are empty, some hold one token, some are equal.
fn edited_sets(universe: u32, largest: usize, most: usize) -> impl Strategy<Value = Sets> {
    let original = proptest::collection::btree_set(0..universe, 0..largest);
    let edits = proptest::collection::vec((0..universe, any::<bool>()), 0..6);
    (
        proptest::collection::vec(original, 1..6),
        proptest::collection::vec((any::<proptest::sample::Index>(), edits), 0..most),
    )
        .prop_map(|(originals, copies)| {
            let mut sets = originals.clone();
            for (which, edits) in copies {
                let mut set = which.get(&originals).clone();
                for (token, add) in edits {
                    if add {
                        set.insert(token);
                    } else {
                        set.remove(&token);
                    }
                }
                sets.push(set);
            }
            sets
        })
}

fn thresholds() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        Just((1, 10)),
        Just((1, 3)),
        Just((1, 2)),
        Just((3, 5)),
        Just((2, 3)),
        Just((7, 10)),
        Just((3, 4)),
        Just((4, 5)),
        Just((17, 20)),
        Just((9, 10)),
        Just((19, 20)),
        Just((1, 1)),
        (1_u64..30).prop_flat_map(|n| (Just(n), n..31)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn small_sets_give_the_pairs_of_the_oracle(
        lefts in edited_sets(40, 24, 24),
        rights in edited_sets(40, 24, 24),
        (numerator, denominator) in thresholds(),
        threads in 1_usize..4,
    ) {
        check_all(&lefts, &rights, numerator, denominator, threads);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn tiny_universes_give_the_pairs_of_the_oracle(
        lefts in edited_sets(6, 5, 40),
        rights in edited_sets(6, 5, 40),
        (numerator, denominator) in thresholds(),
    ) {
        check_all(&lefts, &rights, numerator, denominator, 2);
    }

    #[test]
    fn long_sets_give_the_pairs_of_the_oracle(
        lefts in edited_sets(900, 300, 30),
        rights in edited_sets(900, 300, 30),
        (numerator, denominator) in thresholds(),
    ) {
        check_all(&lefts, &rights, numerator, denominator, 2);
    }
}

#[test]
fn sizes_18_and_20_pair_at_exactly_nine_tenths() {
    let sets: Sets = vec![(0..18).collect(), (0..20).collect()];
    for variant in variants(1) {
        let nine_tenths = "0.9".parse().unwrap();
        let (found, _) = run(variant, Measure::Jaccard, nine_tenths, &sets, None);
        assert_eq!(found, vec![(0, 1, 18)], "{variant}");
        let above = "0.900000001".parse().unwrap();
        let (found, _) = run(variant, Measure::Jaccard, above, &sets, None);
        assert!(found.is_empty(), "{variant}");
    }
}

/// For every pair of sizes and every overlap, the threshold that is exactly its value finds
/// the pair.
#[test]
fn every_pair_exactly_on_its_threshold_is_found() {
    for a in 1_u32..14 {
        for b in a..20 {
            for shared in 1..=a {
                let sets: Sets = vec![(0..a).collect(), (a - shared..a - shared + b).collect()];
                let (a, b, shared) = (u64::from(a), u64::from(b), u64::from(shared));
                let cases = [
                    (Measure::Jaccard, shared, a + b - shared),
                    (Measure::Dice, 2 * shared, a + b),
                    (Measure::Overlap, shared, 1),
                    (Measure::Containment, shared, a),
                ];
                for (measure, numerator, denominator) in cases {
                    let threshold = Threshold::new(numerator, denominator).unwrap();
                    for variant in variants(1) {
                        let (found, _) = run(variant, measure, threshold, &sets, None);
                        assert_eq!(found, vec![(0, 1, shared as u32)]);
                    }
                }
            }
        }
    }
}
