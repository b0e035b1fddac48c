//! The five measures, as integer questions.
//!
//! A join only ever asks one thing of a measure: how many tokens must two sets of given sizes
//! share so that the pair reaches the threshold? [`Measure::required_overlap`] answers it
//! exactly; everything else (size windows, prefixes, tables) follows from it in
//! [`crate::bounds`].
//!
//! | measure | value of sets x, y | scale |
//! |---|---|---|
//! | Jaccard | shared / (x + y - shared): the resemblance | (0, 1] |
//! | cosine | shared / sqrt(x * y) | (0, 1] |
//! | dice | 2 shared / (x + y) | (0, 1] |
//! | overlap | shared | 1, 2, 3, ... |
//! | containment | shared / x, the part of x that y has too | (0, 1] |
//!
//! Containment is not symmetric. In a join of two files x is the record of the first file. In
//! a self join x is the smaller record of the pair, so a pair is found when either contains
//! enough of the other.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use crate::error::JoinError;
use crate::threshold::Threshold;

/// How two sets are compared; see the module's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Measure {
    /// Shared over united: the resemblance.
    #[default]
    Jaccard,
    /// Shared over the geometric mean of the sizes.
    Cosine,
    /// Shared over the arithmetic mean of the sizes.
    Dice,
    /// The number of shared tokens itself.
    Overlap,
    /// Shared over the size of the first file's record, or of the smaller one in a self join.
    Containment,
}

/// Every measure, in the order of the documentation.
pub const MEASURES: [Measure; 5] =
    [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap, Measure::Containment];

/// The two sizes of a pair as the measure sees them: `reference` is what containment divides by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairSizes {
    /// Size of the record containment is about: the first file's, or the smaller one.
    pub reference: u32,
    /// Size of the other record.
    pub other: u32,
}

impl Measure {
    /// The name used in flags and output.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jaccard => "jaccard",
            Self::Cosine => "cosine",
            Self::Dice => "dice",
            Self::Overlap => "overlap",
            Self::Containment => "containment",
        }
    }

    /// Checks that a threshold makes sense for this measure.
    ///
    /// # Errors
    /// Above 1 for the relative measures; not a whole number for overlap.
    pub fn check(self, threshold: Threshold) -> Result<(), JoinError> {
        match self {
            Self::Overlap if threshold.denominator() != 1 => {
                Err(JoinError::OverlapNotWhole { threshold: threshold.to_string() })
            }
            Self::Overlap => Ok(()),
            _ if threshold.numerator() > threshold.denominator() => {
                Err(JoinError::ThresholdOutOfRange {
                    threshold: threshold.to_string(),
                    measure: self,
                })
            }
            _ => Ok(()),
        }
    }

    /// The least number of shared tokens with which sets of these sizes reach the threshold.
    ///
    /// The answer may exceed the smaller size: then no such pair exists. Sizes of zero never
    /// join; callers drop empty sets before they ask.
    ///
    /// ```
    /// use wonbon_join::{Measure, PairSizes};
    /// let sizes = PairSizes { reference: 18, other: 20 };
    /// assert_eq!(Measure::Jaccard.required_overlap("0.9".parse()?, sizes), 18);
    /// # Ok::<(), wonbon_join::JoinError>(())
    /// ```
    #[must_use]
    pub fn required_overlap(self, threshold: Threshold, sizes: PairSizes) -> u32 {
        let (n, d) = (threshold.numerator(), threshold.denominator());
        let (a, b) = (u64::from(sizes.reference), u64::from(sizes.other));
        // n <= 10^9 and a + b < 2^33, so n * (a + b) < 2^63; n^2 * a * b < 2^124.
        let required = match self {
            Self::Jaccard => (n * (a + b)).div_ceil(n + d),
            Self::Dice => (n * (a + b)).div_ceil(2 * d),
            Self::Overlap => n,
            Self::Containment => (n * a).div_ceil(d),
            Self::Cosine => {
                let wide = u128::from;
                let square = (wide(n) * wide(n) * wide(a) * wide(b)).div_ceil(wide(d) * wide(d));
                let floor = square.isqrt();
                (floor + u128::from(floor * floor < square)) as u64
            }
        };
        u32::try_from(required).unwrap_or(u32::MAX).max(1)
    }

    /// The value of a pair as the nearest double, for printing.
    #[must_use]
    pub fn value(self, overlap: u32, sizes: PairSizes) -> f64 {
        let shared = f64::from(overlap);
        let (a, b) = (f64::from(sizes.reference), f64::from(sizes.other));
        match self {
            Self::Jaccard => shared / (a + b - shared),
            Self::Cosine => shared / (a * b).sqrt(),
            Self::Dice => 2.0 * shared / (a + b),
            Self::Overlap => shared,
            Self::Containment => shared / a,
        }
    }

    /// Exact comparison of two pairs' values (cosine by its squares).
    #[must_use]
    pub fn compare(self, one: (u32, PairSizes), two: (u32, PairSizes)) -> Ordering {
        let fraction = |(overlap, sizes): (u32, PairSizes)| -> (u128, u128) {
            let shared = u128::from(overlap);
            let (a, b) = (u128::from(sizes.reference), u128::from(sizes.other));
            match self {
                Self::Jaccard => (shared, a + b - shared),
                Self::Cosine => (shared * shared, a * b),
                Self::Dice => (2 * shared, a + b),
                Self::Overlap => (shared, 1),
                Self::Containment => (shared, a),
            }
        };
        let ((above_one, below_one), (above_two, below_two)) = (fraction(one), fraction(two));
        (above_one * below_two).cmp(&(above_two * below_one))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Measure {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        MEASURES.into_iter().find(|measure| measure.name() == name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_18_and_20_at_nine_tenths_need_18_shared_tokens() {
        let nine_tenths: Threshold = "0.9".parse().unwrap();
        let sizes = PairSizes { reference: 18, other: 20 };
        assert_eq!(Measure::Jaccard.required_overlap(nine_tenths, sizes), 18);
        let in_doubles = (38.0 * 0.9_f64 / (1.0 + 0.9)).ceil();
        assert!(in_doubles > 18.0, "doubles would lose the pair: {in_doubles}");
    }

    #[test]
    fn largest_sizes_do_not_overflow() {
        let threshold = Threshold::new(999_999_999, 1_000_000_000).unwrap();
        let sizes = PairSizes { reference: u32::MAX - 1, other: u32::MAX - 1 };
        for measure in MEASURES {
            if measure != Measure::Overlap {
                let required = measure.required_overlap(threshold, sizes);
                assert!(required > 4_294_967_000 && required < u32::MAX, "{measure}: {required}");
            }
        }
    }

    #[test]
    fn required_overlap_is_the_first_that_reaches_the_threshold() {
        for (n, d) in [(1, 10), (1, 2), (2, 3), (3, 4), (9, 10), (17, 20), (19, 20), (1, 1)] {
            let threshold = Threshold::new(n, d).unwrap();
            for reference in 1..40 {
                for other in 1..40 {
                    let sizes = PairSizes { reference, other };
                    let (a, b) = (u64::from(reference), u64::from(other));
                    for measure in [Measure::Jaccard, Measure::Cosine, Measure::Dice] {
                        let required = u64::from(measure.required_overlap(threshold, sizes));
                        let reaches = |o: u64| match measure {
                            Measure::Jaccard => o > a + b || o * d >= n * (a + b - o),
                            Measure::Cosine => o * o * d * d >= n * n * a * b,
                            _ => 2 * o * d >= n * (a + b),
                        };
                        assert!(reaches(required) && !reaches(required - 1));
                    }
                }
            }
        }
    }
}
