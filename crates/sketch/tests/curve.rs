//! Copies are found with the probability of the formula, and the estimators are unbiased.
//!
//! Every check is over [`PAIRS`] pairs built with an exact resemblance, for elements with and
//! without structure, under one published seed and under a new seed for every pair. The bounds:
//!
//! - A rate of independent events of probability P has the standard error
//!   `sqrt(P (1 - P) / PAIRS)`; P is the formula's, not the measured one.
//! - A mean of independent estimates has the standard error `deviation / sqrt(PAIRS)`, the
//!   deviation being that of the estimates themselves.
//!
//! A check passes within three of them. With 20,000 pairs that is 0.0105 at the steepest part
//! of the curve and about 0.001 for the estimators. A fair check fails by chance once in 370
//! times; the numbers are seeded, so a run that passes passes always.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use wonbon_sketch::{
    Estimate, FeatureMaker, FeatureParams, ModulusMaker, ModulusParams, Seed, SmallestMaker,
    SmallestParams, Width, copy_probability,
};
use wonbon_testkit::sketch::{Numbers, Pair, Source, pair};

const PAIRS: usize = 20_000;
const PERCENTS: [usize; 5] = [70, 80, 90, 95, 98];
/// Sizes of the union, in turn.
const UNIONS: [usize; 3] = [200, 400, 800];

#[derive(Clone, Copy)]
enum Seeds {
    /// The published seed for all pairs: the sets are what varies.
    One,
    /// A new seed for each pair, over the same few sets: the permutations are what varies.
    Many,
}

/// Everything that is made from a seed.
struct Makers {
    features: FeatureMaker,
    smallest: SmallestMaker,
    modulus_40: ModulusMaker,
    modulus_64: ModulusMaker,
}

impl Makers {
    fn new(seed: &Seed) -> Self {
        let seed = || seed.clone();
        let modulus =
            |width| ModulusMaker::new(ModulusParams { modulus: 25, width, seed: seed() }).unwrap();
        let features = FeatureParams { seed: seed(), ..FeatureParams::default() };
        Self {
            features: FeatureMaker::new(features).unwrap(),
            smallest: SmallestMaker::new(SmallestParams { count: 64, seed: seed() }).unwrap(),
            modulus_40: modulus(Width::Bits40),
            modulus_64: modulus(Width::Bits64),
        }
    }
}

/// Mean and spread of one estimator.
#[derive(Default)]
struct Tally {
    count: f64,
    off: f64,
    off_squared: f64,
    reported: f64,
}

impl Tally {
    fn add(&mut self, estimate: Estimate, truth: f64) {
        if estimate.samples > 0 {
            let off = estimate.value - truth;
            self.count += 1.0;
            self.off += off;
            self.off_squared += off * off;
            self.reported += estimate.standard_error * estimate.standard_error;
        }
    }

    fn check(&self, what: &str) {
        let mean = self.off / self.count;
        let deviation = (self.off_squared / self.count - mean * mean).sqrt();
        let standard_error = deviation / self.count.sqrt();
        let (ratio, reported) = (mean / standard_error, (self.reported / self.count).sqrt());
        println!(
            "{what}: off by {mean:.6} = {ratio:.2} standard errors, spread {deviation:.4}, reported {reported:.4}"
        );
        assert!(ratio.abs() <= 3.0, "{what} is biased: off by {mean}, {ratio} standard errors");
        // The spread of 20,000 estimates is known to about a half per cent.
        assert!(
            reported > 0.97 * deviation,
            "{what}: {reported} is reported, {deviation} measured"
        );
    }
}

fn check(source: Source, seeds: Seeds) {
    for percent in PERCENTS {
        let mut numbers = Numbers(percent as u64);
        let published = Makers::new(&Seed::default());
        let mut few_sets: Vec<Pair> =
            UNIONS.map(|union| pair(source, union, percent, &mut numbers)).into();
        let mut copies = 0;
        let mut tallies: [Tally; 8] = Default::default();
        for round in 0..PAIRS {
            let place = round % UNIONS.len();
            let drawn;
            let makers = match seeds {
                Seeds::One => {
                    few_sets[place] = pair(source, UNIONS[place], percent, &mut numbers);
                    &published
                }
                Seeds::Many => {
                    drawn = Makers::new(&Seed::number(numbers.draw()));
                    &drawn
                }
            };
            let Pair { left, right, shared, .. } = &few_sets[place];
            let resemblance = few_sets[place].resemblance();
            let containments =
                [*shared as f64 / left.len() as f64, *shared as f64 / right.len() as f64];

            let (a, b) = (makers.features.min_values(left), makers.features.min_values(right));
            copies += usize::from(a.features().is_copy(&b.features(), 2).unwrap());
            tallies[0].add(a.estimate_resemblance(&b).unwrap(), resemblance);
            let (a, b) = (makers.smallest.sketch(left), makers.smallest.sketch(right));
            tallies[1].add(a.estimate_resemblance(&b).unwrap(), resemblance);
            for (maker, tallies) in
                [&makers.modulus_40, &makers.modulus_64].into_iter().zip(tallies[2..].chunks_mut(3))
            {
                let (a, b) = (maker.sketch(left), maker.sketch(right));
                tallies[0].add(a.estimate_resemblance(&b).unwrap(), resemblance);
                tallies[1].add(a.estimate_containment_in(&b).unwrap(), containments[0]);
                tallies[2].add(b.estimate_containment_in(&a).unwrap(), containments[1]);
            }
        }
        let name = format!("{source:?} at resemblance 0.{percent}");
        let expected = copy_probability(percent as f64 / 100.0, 6, 14, 2);
        let rate = copies as f64 / PAIRS as f64;
        let standard_error = (expected * (1.0 - expected) / PAIRS as f64).sqrt();
        let ratio = (rate - expected) / standard_error;
        println!("{name}: {rate:.4} are copies, the curve says {expected:.4} ({ratio:.2})");
        assert!(ratio.abs() <= 3.0, "{name}: {rate} are copies, {ratio} errors from {expected}");
        let what = [
            "min-values",
            "smallest 64",
            "modulus 25 of 40 bits",
            "its left containment",
            "its right containment",
            "modulus 25 of 64 bits",
            "its left containment",
            "its right containment",
        ];
        for (tally, what) in tallies.iter().zip(what) {
            tally.check(&format!("{name}, {what}"));
        }
    }
}

#[test]
fn random_sets_lie_on_the_curve_under_the_published_seed() {
    check(Source::Random, Seeds::One);
}

#[test]
fn consecutive_things_lie_on_the_curve_under_the_published_seed() {
    check(Source::ConsecutiveThings, Seeds::One);
}

#[test]
fn consecutive_things_lie_on_the_curve_over_many_seeds() {
    check(Source::ConsecutiveThings, Seeds::Many);
}

#[test]
fn bare_consecutive_integers_lie_on_the_curve_under_the_published_seed() {
    check(Source::Consecutive, Seeds::One);
}

#[test]
fn bare_consecutive_integers_lie_on_the_curve_over_many_seeds() {
    check(Source::Consecutive, Seeds::Many);
}

#[test]
fn shingle_like_polynomials_lie_on_the_curve_under_the_published_seed() {
    check(Source::Polynomial, Seeds::One);
}

#[test]
fn shingle_like_polynomials_lie_on_the_curve_over_many_seeds() {
    check(Source::Polynomial, Seeds::Many);
}
