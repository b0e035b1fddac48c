//! What makes a document a copy of an original.

use std::fmt;
use std::str::FromStr;

use wonbon_sketch::FeatureParams;

use crate::bands::Bands;

/// The threshold of resemblance unless another is given: the level at which people say "the same text,
/// edited". A lower one finds more and costs more candidates.
pub const DEFAULT_THRESHOLD: f64 = 0.8;

/// The exact resemblance that a copy by features has at least, unless another is given. Features are
/// public where the seed is: two documents that agree in two features can be constructed although they
/// have nothing in common. Half is far below what honest copies by `2of6` have.
pub const DEFAULT_FLOOR: f64 = 0.5;

/// How many features a document has under a rule of features: the papers' six.
pub const FEATURE_COUNT: usize = 6;

/// What makes a document a copy of an original.
///
/// ```
/// use wonbon_rule::Rule;
/// assert_eq!("threshold=0.8".parse(), Ok(Rule::default()));
/// assert_eq!("2of6".parse::<Rule>().unwrap().to_string(), "2of6,floor=0.5");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Exact resemblance of at least this, above 0 and up to 1. Candidates come from features; at the
    /// threshold itself at most one original in a thousand is not found ([`Bands`]), fewer above it;
    /// every candidate is verified.
    Threshold(f64),
    /// The papers' rule.
    Features {
        /// At least so many of the six features agree.
        needed: usize,
        /// The exact resemblance is at least this, from 0 (not verified, as in the papers) to 1.
        floor: f64,
    },
}

/// An exact threshold of [`DEFAULT_THRESHOLD`].
impl Default for Rule {
    fn default() -> Self {
        Rule::Threshold(DEFAULT_THRESHOLD)
    }
}

impl Rule {
    /// The papers' rule with the default floor.
    #[must_use]
    pub const fn features(needed: usize) -> Self {
        Rule::Features { needed, floor: DEFAULT_FLOOR }
    }

    /// Whether its numbers are in range.
    #[must_use]
    pub fn is_valid(self) -> bool {
        match self {
            Rule::Threshold(threshold) => threshold > 0.0 && threshold <= 1.0,
            Rule::Features { needed, floor } => {
                (1..=FEATURE_COUNT).contains(&needed) && (0.0..=1.0).contains(&floor)
            }
        }
    }

    /// Whether a document is a copy by what it has in common with an original.
    #[must_use]
    pub fn makes_a_copy(self, resemblance: f64, features_equal: usize) -> bool {
        match self {
            Rule::Threshold(threshold) => resemblance >= threshold,
            Rule::Features { needed, floor } => features_equal >= needed && resemblance >= floor,
        }
    }

    /// The exact resemblance below which no document is a copy.
    #[must_use]
    pub fn least_resemblance(self) -> f64 {
        match self {
            Rule::Threshold(least) | Rule::Features { floor: least, .. } => least,
        }
    }

    /// How many features an original and a copy have in common at least.
    #[must_use]
    pub fn least_agreeing(self) -> usize {
        match self {
            Rule::Threshold(_) => 1,
            Rule::Features { needed, .. } => needed,
        }
    }

    /// The features by which candidates are found.
    #[must_use]
    pub fn bands(self) -> Bands {
        match self {
            Rule::Threshold(threshold) => Bands::for_threshold(threshold),
            Rule::Features { .. } => {
                Bands { bands: FEATURE_COUNT, rows: FeatureParams::default().group_size }
            }
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Threshold(threshold) => write!(f, "threshold={threshold}"),
            Rule::Features { needed, floor } => {
                write!(f, "{needed}of{FEATURE_COUNT},floor={floor}")
            }
        }
    }
}

/// The text is not a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "write threshold=0.8 (any number above 0, up to 1) or 2of6 (any number of the six features, from 1), \
     or 2of6,floor=0.3 for another floor than 0.5"
)]
pub struct NotARule;

impl FromStr for Rule {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Self, NotARule> {
        let number = |text: &str| text.parse::<f64>().map_err(|_| NotARule);
        let rule = if let Some(threshold) = text.strip_prefix("threshold=") {
            Rule::Threshold(number(threshold)?)
        } else {
            let (features, floor) = match text.split_once(",floor=") {
                Some((features, floor)) => (features, number(floor)?),
                None => (text, DEFAULT_FLOOR),
            };
            let needed = features.strip_suffix("of6").ok_or(NotARule)?;
            Rule::Features { needed: needed.parse().map_err(|_| NotARule)?, floor }
        };
        if rule.is_valid() { Ok(rule) } else { Err(NotARule) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_counts_the_features_a_document_has_by_default() {
        assert_eq!(FeatureParams::default().groups, FEATURE_COUNT);
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["threshold=0.8", "threshold=1", "2of6,floor=0.5", "6of6,floor=0"] {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        assert_eq!("2of6".parse(), Ok(Rule::features(2)));
        for text in [
            "",
            "0.8",
            "threshold=0",
            "threshold=1.1",
            "threshold=NaN",
            "0of6",
            "7of6",
            "2of5",
            "2of6,floor=2",
            "2of6,floor=-1",
            "2of6,floor=NaN",
            "2of6,",
            "threshold=0.8,floor=0.5",
        ] {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_below_the_least_of_a_rule_is_no_copy() {
        let threshold = Rule::Threshold(0.7);
        assert_eq!((threshold.least_resemblance(), threshold.least_agreeing()), (0.7, 1));
        let features = Rule::Features { needed: 3, floor: 0.4 };
        assert_eq!((features.least_resemblance(), features.least_agreeing()), (0.4, 3));
        assert!(features.makes_a_copy(0.4, 3) && !features.makes_a_copy(0.4, 2));
    }

    #[test]
    fn exactly_at_the_threshold_and_at_the_floor_is_a_copy() {
        for (shared, union, text) in
            [(4_u32, 5_u32, "0.8"), (3, 4, "0.75"), (1, 2, "0.5"), (7, 10, "0.7")]
        {
            let (at, below) = (
                f64::from(shared) / f64::from(union),
                f64::from(shared * 1_000_000 - 1) / f64::from(union * 1_000_000),
            );
            let threshold: Rule = format!("threshold={text}").parse().unwrap();
            assert!(threshold.makes_a_copy(at, 0) && !threshold.makes_a_copy(below, 6), "{text}");
            let features: Rule = format!("2of6,floor={text}").parse().unwrap();
            assert!(features.makes_a_copy(at, 2) && !features.makes_a_copy(below, 6), "{text}");
            assert!(!features.makes_a_copy(1.0, 1), "{text}");
        }
    }
}
