//! A threshold is a rational number, read exactly from text.
//!
//! Why not a float: `0.9` is not representable, and `ceil((18 + 20) * t / (1 + t))` in doubles
//! is 19 where the true bound is 18, so a pair lying exactly on the threshold is lost. Here the
//! text `0.9` is 9/10 and every bound is integer arithmetic.
//!
//! Guarantee: numerator and denominator are coprime, positive and at most 10^9, which is what
//! keeps every product in [`crate::measure`] inside 128 bits.

use std::fmt;
use std::str::FromStr;

use crate::error::JoinError;

/// The largest numerator and denominator: nine decimals.
const LARGEST: u64 = 1_000_000_000;

/// A positive rational number in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Threshold {
    numerator: u64,
    denominator: u64,
}

impl Threshold {
    /// The threshold `numerator / denominator`, reduced.
    ///
    /// # Errors
    /// Zero on either side, or over nine digits after reduction.
    ///
    /// ```
    /// use wonbon_join::Threshold;
    /// assert_eq!(Threshold::new(85, 100)?, "0.85".parse()?);
    /// assert_eq!(Threshold::new(85, 100)?.numerator(), 17);
    /// # Ok::<(), wonbon_join::JoinError>(())
    /// ```
    pub fn new(numerator: u64, denominator: u64) -> Result<Self, JoinError> {
        let text = || format!("{numerator}/{denominator}");
        if numerator == 0 || denominator == 0 {
            return Err(JoinError::ThresholdNotANumber { text: text() });
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        let reduced = Self { numerator: numerator / divisor, denominator: denominator / divisor };
        if reduced.numerator > LARGEST || reduced.denominator > LARGEST {
            return Err(JoinError::ThresholdTooFine { text: text() });
        }
        Ok(reduced)
    }

    /// The number above the line.
    #[must_use]
    pub fn numerator(self) -> u64 {
        self.numerator
    }

    /// The number below the line.
    #[must_use]
    pub fn denominator(self) -> u64 {
        self.denominator
    }

    /// The nearest double, for printing and for cost estimates, never for bounds.
    #[must_use]
    pub fn approximate(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

impl FromStr for Threshold {
    type Err = JoinError;

    fn from_str(text: &str) -> Result<Self, JoinError> {
        let not_a_number = || JoinError::ThresholdNotANumber { text: text.to_owned() };
        let too_fine = || JoinError::ThresholdTooFine { text: text.to_owned() };
        let digits = |part: &str| -> Result<u64, JoinError> {
            if !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(not_a_number());
            }
            if part.is_empty() { Ok(0) } else { part.parse().map_err(|_| too_fine()) }
        };
        let trimmed = text.trim();
        let positive = |numerator: u64, denominator: u64| {
            if numerator == 0 && denominator != 0 {
                return Err(JoinError::ThresholdZero { text: trimmed.to_owned() });
            }
            Self::new(numerator, denominator).map_err(|error| match error {
                JoinError::ThresholdTooFine { .. } => too_fine(),
                _ => not_a_number(),
            })
        };
        if let Some((above, below)) = trimmed.split_once('/') {
            let (above, below) = (above.trim(), below.trim());
            if above.is_empty() || below.is_empty() {
                return Err(not_a_number());
            }
            return positive(digits(above)?, digits(below)?);
        }
        let (whole, decimals) = trimmed.split_once('.').unwrap_or((trimmed, ""));
        if whole.is_empty() && decimals.is_empty() {
            return Err(not_a_number());
        }
        let (whole, decimals) = (digits(whole)?, {
            digits(decimals)?;
            decimals.trim_end_matches('0')
        });
        if decimals.len() > 9 {
            return Err(too_fine());
        }
        let denominator = 10_u64.pow(decimals.len() as u32);
        let numerator = whole
            .checked_mul(denominator)
            .and_then(|scaled| scaled.checked_add(digits(decimals).unwrap_or(0)))
            .ok_or_else(too_fine)?;
        positive(numerator, denominator)
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (u64, u64) {
        let threshold: Threshold = text.parse().unwrap();
        (threshold.numerator(), threshold.denominator())
    }

    #[test]
    fn decimals_and_fractions_are_read_exactly() {
        assert_eq!(parts("0.85"), (17, 20));
        assert_eq!(parts("17/20"), (17, 20));
        assert_eq!(parts(".5"), (1, 2));
        assert_eq!(parts("1"), (1, 1));
        assert_eq!(parts("1.000"), (1, 1));
        assert_eq!(parts("0.1000000000000"), (1, 10));
        assert_eq!(parts("0.333333333"), (333_333_333, 1_000_000_000));
        assert_eq!(parts("7"), (7, 1));
    }

    #[test]
    fn what_is_no_positive_number_is_refused() {
        for text in ["", ".", "x", "-0.5", "0.5x", "1/0", "/2", "1/", "0,5", "1e-1", "nan"] {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(matches!(error, JoinError::ThresholdNotANumber { .. }), "{text}: {error}");
        }
        for text in ["0", "0.0", "0/5", "000"] {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(matches!(error, JoinError::ThresholdZero { .. }), "{text}: {error}");
        }
        for text in ["0.1234567891", "1/1000000001", "99999999999999999999"] {
            let error = text.parse::<Threshold>().unwrap_err();
            assert!(matches!(error, JoinError::ThresholdTooFine { .. }), "{text}: {error}");
        }
    }
}
