//! Candidates are found as often as the formula of the bands says.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use wonbon_rule::Bands;
use wonbon_sketch::{FeatureMaker, FeatureParams, finalise};

/// Pairs for each resemblance: the share found has a standard error of at most 0.0112.
const PAIRS: u64 = 2000;

#[test]
fn the_measured_curve_lies_on_the_formula() {
    for threshold in [0.5, 0.8, 0.9] {
        let bands = Bands::for_threshold(threshold);
        let params = FeatureParams {
            groups: bands.bands,
            group_size: bands.rows,
            ..FeatureParams::default()
        };
        let maker = FeatureMaker::new(params).unwrap();
        for tenths in [3_u64, 5, 7, 8, 9] {
            let mut found = 0;
            for pair in 0..PAIRS {
                // A union of 200 elements of which tenths / 10 are shared, the rest in halves.
                let element = |at: u64| finalise(pair * 1000 + tenths * 10_000_000 + at + 1);
                let shared = 20 * tenths;
                let own = (200 - shared) / 2;
                let left: Vec<u64> = (0..shared + own).map(element).collect();
                let right: Vec<u64> = (0..shared).chain(shared + own..200).map(element).collect();
                let agreeing = maker.features(&left).agreeing(&maker.features(&right)).unwrap();
                found += u64::from(agreeing > 0);
            }
            let expected = bands.probability(tenths as f64 / 10.0);
            let share = found as f64 / PAIRS as f64;
            let deviation = (expected * (1.0 - expected) / PAIRS as f64).sqrt();
            // Four standard errors, and one pair for the curve's flat ends.
            let bound = 4.0 * deviation + 1.0 / PAIRS as f64;
            assert!(
                (share - expected).abs() <= bound,
                "threshold {threshold}, resemblance 0.{tenths}: {share}, not {expected} +- {bound}"
            );
        }
    }
}
