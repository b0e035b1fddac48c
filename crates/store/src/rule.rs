//! What makes a document a copy of an original.

use std::fmt;
use std::str::FromStr;

/// What makes a document a copy of an original.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// Exact resemblance of at least this, above 0 and up to 1. Candidates come from features, at
    /// least 99 % of them at the threshold itself, more above it; every one is verified.
    Threshold(f64),
    /// At least this many of the six features agree: the papers' rule.
    Features(usize),
}

/// How many features a document has in a rule of features: the papers' six.
pub const FEATURE_COUNT: usize = 6;

/// The papers' 2 of 6.
impl Default for Rule {
    fn default() -> Self {
        Rule::Features(2)
    }
}

impl Rule {
    /// Whether a document is a copy by what it has in common with an original.
    #[must_use]
    pub fn makes_a_copy(self, resemblance: f64, features_equal: usize) -> bool {
        match self {
            Rule::Threshold(threshold) => resemblance >= threshold,
            Rule::Features(needed) => features_equal >= needed,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Threshold(threshold) => write!(f, "threshold={threshold}"),
            Rule::Features(needed) => write!(f, "{needed}of{FEATURE_COUNT}"),
        }
    }
}

/// The one way a rule can be wrong: it is not one of the two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "write threshold=0.8 (any number above 0, up to 1) or 2of6 (any number of the six features, \
     from 1)"
)]
pub struct NotARule;

impl FromStr for Rule {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Self, NotARule> {
        if let Some(number) = text.strip_prefix("threshold=") {
            let threshold: f64 = number.parse().map_err(|_| NotARule)?;
            return if threshold > 0.0 && threshold <= 1.0 {
                Ok(Rule::Threshold(threshold))
            } else {
                Err(NotARule)
            };
        }
        let (needed, of) = text.split_once("of").ok_or(NotARule)?;
        let parse = |number: &str| number.parse::<usize>().map_err(|_| NotARule);
        match (parse(needed)?, parse(of)?) {
            (needed @ 1.., of) if of == FEATURE_COUNT && needed <= of => Ok(Rule::Features(needed)),
            _ => Err(NotARule),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_counts_the_features_a_document_has_by_default() {
        assert_eq!(wonbon_sketch::FeatureParams::default().groups, FEATURE_COUNT);
    }

    #[test]
    fn rules_are_read_as_they_are_written() {
        for text in ["threshold=0.8", "threshold=1", "2of6", "6of6"] {
            assert_eq!(text.parse::<Rule>().unwrap().to_string(), text);
        }
        for text in
            ["", "0.8", "threshold=0", "threshold=1.1", "threshold=NaN", "0of6", "7of6", "2of5"]
        {
            assert!(text.parse::<Rule>().is_err(), "{text}");
        }
    }
}
