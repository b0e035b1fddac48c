//! The parameters of a store: everything that changes results. They are written into a store when it is created and checked
//! whenever it is opened.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use wonbon_index::IndexParams;
use wonbon_rule::{Bands, Rule};
use wonbon_sketch::{FeatureMaker, FeatureParams, Seed};
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, MAX_SHINGLE_WORDS, SHINGLE_HASH_VERSION};
use wonbon_text::words::NORMAL_FORM_VERSION;
use wonbon_time::Dates;

use crate::error::StoreError;

/// The version of the fingerprints of contents, texts and shingle sets (`wonbon_rule::Fingerprints`).
/// Stores made before there was one have fingerprints of version 1.
const FINGERPRINT_VERSION: u32 = 2;
const FINGERPRINT_VERSION_NAME: &str = "fingerprint version";

/// Where the permutations come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SeedSource {
    /// A published seed: anyone can make the same features, and two stores decide alike.
    Number(u64),
    /// A secret seed, kept in the store: nobody outside can tell which few words to change to avoid detection.
    Secret([u8; 16]),
}

impl SeedSource {
    /// A new secret.
    ///
    /// # Panics
    ///
    /// When the system has no random bytes, which means that nothing can be kept secret on it.
    #[must_use]
    pub fn draw() -> Self {
        SeedSource::Secret(random_bytes())
    }

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
            return Ok(SeedSource::draw());
        }
        text.parse().map(SeedSource::Number).map_err(|_| NotASeed)
    }
}

/// Sixteen bytes from the system's random generator.
pub(crate) fn random_bytes() -> [u8; 16] {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes
}

/// A name that no other store has.
pub(crate) fn random_identity() -> String {
    format!("{:016x}", u128::from_le_bytes(random_bytes()) as u64)
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
    /// Which program made the store; decides what is not a choice.
    pub made_by: MadeBy,
}

/// What a store took from the program that made it. New stores take what is right today; stores of earlier
/// programs keep what they have, because their rows were written with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MadeBy {
    /// Bands and fingerprints as `wonbon-rule` has them.
    #[default]
    Current,
    /// Sets were fingerprinted in order and with 64 bits, and the bands of a threshold missed up to 1 %.
    Earlier(Bands),
}

/// An exact threshold of 0.8 over shingles of five words, under a secret seed drawn at this moment.
impl Default for StoreParams {
    fn default() -> Self {
        StoreParams {
            rule: Rule::default(),
            shingle_words: DEFAULT_SHINGLE_WORDS,
            seed: SeedSource::draw(),
            dates: Dates::default(),
            made_by: MadeBy::Current,
        }
    }
}

impl StoreParams {
    /// k, s and z: how features are made and how many must agree.
    #[must_use]
    pub fn features(&self) -> (FeatureParams, IndexParams) {
        let Bands { bands, rows } = match self.made_by {
            MadeBy::Current => self.rule.bands(),
            MadeBy::Earlier(bands) => bands,
        };
        let features = FeatureParams { groups: bands, group_size: rows, seed: self.seed.seed() };
        (features, IndexParams { features: bands, agreeing: self.rule.least_agreeing() })
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
        if self.made_by == MadeBy::Current {
            values.push((FINGERPRINT_VERSION_NAME, FINGERPRINT_VERSION.to_string()));
        }
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
        let number = |name: &'static str| {
            let text = read(name)?;
            let number: Option<NonZeroUsize> = text.parse().ok();
            number.ok_or_else(|| wrong(name, &text))
        };
        let (rule_text, seed) = (read("rule")?, read("seed")?);
        let mut rule: Rule = rule_text.parse().map_err(|_| wrong("rule", &rule_text))?;
        let made_by = match value(FINGERPRINT_VERSION_NAME) {
            Some(_) => MadeBy::Current,
            None => {
                // There was no floor.
                if let Rule::Features { floor, .. } = &mut rule {
                    *floor = 0.0;
                }
                let bands = number("features")?.get();
                MadeBy::Earlier(Bands { bands, rows: number("min-values in a feature")?.get() })
            }
        };
        let shingle_words = number("shingle words")?;
        if shingle_words.get() > MAX_SHINGLE_WORDS {
            return Err(wrong("shingle words", &shingle_words.to_string()));
        }
        let params = StoreParams {
            rule,
            shingle_words,
            seed: SeedSource::from_text(&seed).ok_or_else(|| wrong("seed", "something else"))?,
            dates: match value("dates") {
                Some(dates) => dates.parse().map_err(|_| wrong("dates", &dates))?,
                None => Dates::default(),
            },
            made_by,
        };
        for (what, asked) in params.to_values() {
            let stored = match (what, made_by) {
                ("rule", MadeBy::Earlier(_)) => continue,
                _ => read(what)?,
            };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged(what: String) -> StoreError {
        StoreError::Damaged { path: "x".into(), what }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let params = StoreParams {
            rule: Rule::Threshold(0.85),
            shingle_words: NonZeroUsize::new(7).unwrap(),
            dates: Dates::Claimed,
            ..StoreParams::default()
        };
        let values = params.to_values();
        let value = |name: &str| values.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone());
        assert_eq!(StoreParams::from_values(value, damaged).unwrap(), params);

        let other = |name: &'static str| {
            if name == "normal form version" { Some("999".to_owned()) } else { value(name) }
        };
        let error = StoreParams::from_values(other, damaged).unwrap_err();
        assert_eq!(error.to_string(), "the store has normal form version 999, not 1");
    }

    #[test]
    fn a_store_of_an_earlier_program_keeps_its_rule_and_bands() {
        for (rule, features, rows, agreeing, expected) in [
            ("2of6", "6", "14", "2", Rule::Features { needed: 2, floor: 0.0 }),
            ("threshold=0.8", "12", "5", "1", Rule::Threshold(0.8)),
        ] {
            let value = |name: &str| {
                let value = match name {
                    "rule" => rule,
                    "shingle words" => "5",
                    "seed" => "number 0",
                    "features" => features,
                    "min-values in a feature" => rows,
                    "features that must agree" => agreeing,
                    "normal form version" | "shingle hash version" => "1",
                    _ => return None,
                };
                Some(value.to_owned())
            };
            let params = StoreParams::from_values(value, damaged).unwrap();
            assert_eq!(params.rule, expected);
            let (made, index) = params.features();
            assert_eq!(made.groups.to_string(), features);
            assert_eq!(made.group_size.to_string(), rows);
            assert_eq!(index.agreeing.to_string(), agreeing);
        }
    }

    #[test]
    fn every_new_store_has_a_secret_of_its_own() {
        assert_ne!(StoreParams::default().seed, StoreParams::default().seed);
    }
}
