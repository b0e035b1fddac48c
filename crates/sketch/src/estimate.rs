//! Estimates with their standard errors.
//!
//! Every estimator here is a share: of n things drawn from a set, how many are shared. Drawn
//! without replacement from a set of which the fraction f was sampled, the share p has the
//! variance `p (1 - p) / n * (1 - f)`, for which `q (1 - q) / (n - 1) * (1 - f)` with the
//! measured share q is an unbiased estimate. In place of q stands `(shared + 1/2) / (n + 1)`,
//! never 0 or 1, so that "five of five agree" is not reported as certainty. The reported error
//! is therefore a few per cent too large in the middle of the range, and more where p is near
//! 0 or 1 and samples are few (measured: up to four times, for p = 0.995 and 8 to 32 samples);
//! `tests/curve.rs` checks that it is not too small.

/// A measured share of a set, and how far off it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate, between 0 and 1.
    pub value: f64,
    /// Its standard error; 0 when the whole of both sets was seen.
    pub standard_error: f64,
    /// How many samples it rests on. With none, the value is 0 and its standard error 0.5, the
    /// largest anything between 0 and 1 can have: nothing is known.
    pub samples: u64,
}

impl Estimate {
    /// `shared` out of `samples`, where the samples are the fraction `sampled` of what they
    /// were drawn from (0 when drawn independently).
    #[must_use]
    pub fn of_share(shared: u64, samples: u64, sampled: f64) -> Self {
        if samples == 0 {
            // An empty sample of everything is an empty set: its resemblance is 0, for certain.
            let standard_error = if sampled >= 1.0 { 0.0 } else { 0.5 };
            return Self { value: 0.0, standard_error, samples };
        }
        let likely = (shared as f64 + 0.5) / (samples as f64 + 1.0);
        let degrees = samples.saturating_sub(1).max(1) as f64;
        let variance = likely * (1.0 - likely) / degrees * (1.0 - sampled);
        Self {
            value: shared as f64 / samples as f64,
            standard_error: variance.max(0.0).sqrt(),
            samples,
        }
    }
}

/// From an estimate of resemblance and the sizes of the two sets to both containments: of the
/// left set in the right, and of the right in the left.
///
/// With `r = |A and B| / |A or B|`, containment of A is `r / (1 + r) * (|A| + |B|) / |A|`; the
/// standard error follows by the derivative of that. Unlike the direct estimators this one is
/// unbiased only as far as the curve is straight. An empty set is contained in nothing.
#[must_use]
pub fn containments_from_resemblance(
    resemblance: Estimate,
    left_size: u64,
    right_size: u64,
) -> (Estimate, Estimate) {
    let total = (left_size + right_size) as f64;
    let containment = |size: u64| {
        if size == 0 {
            return Estimate { value: 0.0, standard_error: 0.0, ..resemblance };
        }
        let scale = total / size as f64;
        let r = resemblance.value;
        Estimate {
            value: (scale * r / (1.0 + r)).min(1.0),
            standard_error: scale * resemblance.standard_error / ((1.0 + r) * (1.0 + r)),
            samples: resemblance.samples,
        }
    };
    (containment(left_size), containment(right_size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_set_seen_leaves_no_error() {
        assert_eq!(Estimate::of_share(3, 4, 1.0).standard_error, 0.0);
        assert_eq!(Estimate::of_share(0, 0, 1.0).standard_error, 0.0);
    }

    #[test]
    fn agreement_of_every_sample_is_not_certainty() {
        let all = Estimate::of_share(84, 84, 0.0);
        assert_eq!(all.value, 1.0);
        assert!(all.standard_error > 0.0 && all.standard_error < 0.02);
    }

    #[test]
    fn no_samples_mean_nothing_is_known() {
        let none = Estimate::of_share(0, 0, 0.04);
        assert_eq!((none.value, none.standard_error, none.samples), (0.0, 0.5, 0));
    }

    #[test]
    fn containments_follow_from_resemblance_and_sizes() {
        // 30 shared of 40 and 60: union 70.
        let resemblance = Estimate { value: 30.0 / 70.0, standard_error: 0.01, samples: 84 };
        let (left, right) = containments_from_resemblance(resemblance, 40, 60);
        assert!((left.value - 0.75).abs() < 1e-12);
        assert!((right.value - 0.5).abs() < 1e-12);
        // The slope, checked against a small step.
        let step = Estimate { value: resemblance.value + 1e-6, ..resemblance };
        let slope = (containments_from_resemblance(step, 40, 60).0.value - left.value) / 1e-6;
        assert!((left.standard_error - 0.01 * slope).abs() < 1e-6);
    }
}
