//! The rule by which commands that have no store decide.

pub(crate) use wonbon_store::{FEATURE_COUNT, Rule};

/// Four fifths of the shingles shared: the level at which people say "the same text, edited".
pub(crate) const DEFAULT_RULE: Rule = Rule::Threshold(0.8);
