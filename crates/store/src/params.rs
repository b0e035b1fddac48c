//! What changes results: written into a store when it is made, checked whenever it is opened.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use wonbon_index::IndexParams;
use wonbon_sketch::{FeatureMaker, FeatureParams, Seed};
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, MAX_SHINGLE_WORDS, SHINGLE_HASH_VERSION};
use wonbon_text::words::NORMAL_FORM_VERSION;
use wonbon_time::Dates;

use crate::error::StoreError;
use crate::rule::{FEATURE_COUNT, Rule};

/// What share of the documents exactly at the threshold finds its original, at least.
const RECALL: f64 = 0.99;

/// The most features under a threshold: each costs a table of the index, about 13 bytes an original.
const MOST_FEATURES: usize = 12;

/// Where the permutations come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeedSource {
    /// A published seed: anyone can make the same features, and two stores decide alike.
    Number(u64),
    /// A secret one, kept in the store: nobody outside can tell which few words to change.
    Secret([u8; 16]),
}

impl SeedSource {
    fn seed(&self) -> Seed {
        match self {
            SeedSource::Number(number) => Seed::number(*number),
            SeedSource::Secret(bytes) => Seed::secret(bytes),
        }
    }

    /// As it is kept in the database.
    pub(crate) fn to_text(&self) -> String {
        match self {
            SeedSource::Number(number) => format!("number {number}"),
            SeedSource::Secret(bytes) => format!("secret {:032x}", u128::from_be_bytes(*bytes)),
        }
    }

    /// What [`SeedSource::to_text`] wrote.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("number", number) => number.parse().ok().map(SeedSource::Number),
            ("secret", hex) if hex.len() == 32 => {
                u128::from_str_radix(hex, 16).ok().map(|n| SeedSource::Secret(n.to_be_bytes()))
            }
            _ => None,
        }
    }
}

/// A number is shown, a secret only by its fingerprint.
impl fmt::Display for SeedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeedSource::Number(number) => write!(f, "{number}"),
            SeedSource::Secret(_) => write!(f, "secret ({})", self.seed().fingerprint()),
        }
    }
}

/// The text is neither a number nor `secret`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write a number, or `secret` for one that is drawn and kept in the store")]
pub struct NotASeed;

impl FromStr for SeedSource {
    type Err = NotASeed;

    fn from_str(text: &str) -> Result<Self, NotASeed> {
        if text == "secret" {
            return Ok(SeedSource::Secret(drawn_bytes()));
        }
        text.parse().map(SeedSource::Number).map_err(|_| NotASeed)
    }
}

/// Sixteen bytes that nobody else has: the standard library's random keys, which come from the
/// system, through its keyed hash.
pub(crate) fn drawn_bytes() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    let half = || RandomState::new().hash_one(std::time::Instant::now()).to_le_bytes();
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&half());
    bytes[8..].copy_from_slice(&half());
    bytes
}

/// How a store decides.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreParams {
    /// What makes a copy.
    pub rule: Rule,
    /// w, the words of a shingle.
    pub shingle_words: NonZeroUsize,
    /// Where the permutations come from.
    pub seed: SeedSource,
    /// Which dates decide who is the original, unless an add says otherwise.
    pub dates: Dates,
}

/// The papers' 2 of 6 over shingles of five words, under the published seed number 0.
impl Default for StoreParams {
    fn default() -> Self {
        StoreParams {
            rule: Rule::default(),
            shingle_words: DEFAULT_SHINGLE_WORDS,
            seed: SeedSource::Number(0),
            dates: Dates::default(),
        }
    }
}

impl StoreParams {
    /// k, s and z: how features are made and how many must agree.
    #[must_use]
    pub fn features(&self) -> (FeatureParams, IndexParams) {
        let (groups, group_size, agreeing) = match self.rule {
            Rule::Features(agreeing) => {
                (FEATURE_COUNT, FeatureParams::default().group_size, agreeing)
            }
            Rule::Threshold(threshold) => {
                let (groups, group_size) = for_threshold(threshold);
                (groups, group_size, 1)
            }
        };
        let features = FeatureParams { groups, group_size, seed: self.seed.seed() };
        (features, IndexParams { features: groups, agreeing })
    }

    /// What makes the features.
    ///
    /// # Errors
    ///
    /// [`StoreError::Sketch`] when parameters are out of range.
    pub fn feature_maker(&self) -> Result<FeatureMaker, StoreError> {
        Ok(FeatureMaker::new(self.features().0)?)
    }

    /// Name and value of everything that changes results, as the database keeps it.
    pub(crate) fn to_values(&self) -> Vec<(&'static str, String)> {
        let (features, index) = self.features();
        let mut values = vec![
            ("rule", self.rule.to_string()),
            ("shingle words", self.shingle_words.to_string()),
            ("seed", self.seed.to_text()),
            ("features", features.groups.to_string()),
            ("min-values in a feature", features.group_size.to_string()),
            ("features that must agree", index.agreeing.to_string()),
            ("normal form version", NORMAL_FORM_VERSION.to_string()),
            ("shingle hash version", SHINGLE_HASH_VERSION.to_string()),
        ];
        // Stores from before there was a choice do not have it.
        if self.dates != Dates::default() {
            values.push(("dates", self.dates.to_string()));
        }
        values
    }

    /// The parameters that these values describe, if this program would decide by them as the one
    /// that wrote them did.
    pub(crate) fn from_values(
        value: impl Fn(&'static str) -> Option<String>,
        damaged: impl Fn(String) -> StoreError,
    ) -> Result<Self, StoreError> {
        let read = |name: &'static str| {
            value(name).ok_or_else(|| damaged(format!("it does not say what its {name} is")))
        };
        let wrong = |name: &str, value: &str| damaged(format!("its {name} is given as {value:?}"));
        let (rule, words, seed) = (read("rule")?, read("shingle words")?, read("seed")?);
        let words_number: Option<NonZeroUsize> = words.parse().ok();
        let params = StoreParams {
            rule: rule.parse().map_err(|_| wrong("rule", &rule))?,
            shingle_words: words_number
                .filter(|words| words.get() <= MAX_SHINGLE_WORDS)
                .ok_or_else(|| wrong("shingle words", &words))?,
            seed: SeedSource::from_text(&seed).ok_or_else(|| wrong("seed", "something else"))?,
            dates: match value("dates") {
                Some(dates) => dates.parse().map_err(|_| wrong("dates", &dates))?,
                None => Dates::default(),
            },
        };
        for (what, asked) in params.to_values() {
            let stored = read(what)?;
            if stored != asked {
                return Err(StoreError::ParamsMismatch { what, stored, asked });
            }
        }
        Ok(params)
    }

    /// Refuses parameters that differ from these.
    pub(crate) fn check_asked(&self, asked: &StoreParams) -> Result<(), StoreError> {
        let refuse = |what, stored: String, asked: String| {
            Err(StoreError::ParamsMismatch { what, stored, asked })
        };
        if self.rule != asked.rule {
            return refuse("the rule", self.rule.to_string(), asked.rule.to_string());
        }
        if self.shingle_words != asked.shingle_words {
            let (stored, asked) = (self.shingle_words, asked.shingle_words);
            return refuse("shingles of", format!("{stored} words"), format!("{asked} words"));
        }
        if self.seed != asked.seed {
            return refuse("the seed", self.seed.to_string(), asked.seed.to_string());
        }
        if self.dates != asked.dates {
            return refuse("the dates", self.dates.to_string(), asked.dates.to_string());
        }
        Ok(())
    }
}

/// k features of s min-values of which one must agree: as many min-values as [`MOST_FEATURES`] allow
/// with [`RECALL`] at the threshold, because more min-values mean fewer candidates below it.
fn for_threshold(threshold: f64) -> (usize, usize) {
    let needed = |group_size: usize| -> f64 {
        let agree = threshold.powf(group_size as f64);
        if agree >= 1.0 { 1.0 } else { ((1.0 - RECALL).ln() / (-agree).ln_1p()).ceil() }
    };
    let group_size = (1..=16).rev().find(|&size| needed(size) <= MOST_FEATURES as f64).unwrap_or(1);
    // A very low threshold takes as many single min-values as it needs, within reason.
    ((needed(group_size) as usize).min(64), group_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_99_of_100_are_found_at_every_threshold() {
        for hundredths in 10..=100 {
            let threshold = f64::from(hundredths) / 100.0;
            let params = StoreParams { rule: Rule::Threshold(threshold), ..StoreParams::default() };
            let (features, index) = params.features();
            let found = wonbon_sketch::copy_probability(
                threshold,
                features.groups,
                features.group_size,
                index.agreeing,
            );
            assert!(found >= 0.99, "{found} at {threshold}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let params = StoreParams {
            rule: Rule::Threshold(0.85),
            shingle_words: NonZeroUsize::new(7).unwrap(),
            seed: SeedSource::Secret(drawn_bytes()),
            dates: Dates::Claimed,
        };
        let values = params.to_values();
        let value = |name: &str| values.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
        let damaged = |what| StoreError::Damaged { path: "x".into(), what };
        assert_eq!(StoreParams::from_values(value, damaged).unwrap(), params);

        let other = |name: &'static str| {
            if name == "normal form version" { Some("999".to_owned()) } else { value(name) }
        };
        let error = StoreParams::from_values(other, damaged).unwrap_err();
        assert_eq!(error.to_string(), "the store has normal form version 999, not 1");
    }
}
