//! From a corpus on disk to families: chooses the engine, says why, and runs it.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

use serde_json::{Value, json};
use wonbon_documents::Progress;
use wonbon_rule::{Bands, Rule};
use wonbon_sketch::{FeatureMaker, FeatureParams, Seed};
use wonbon_text::shingles::DEFAULT_SHINGLE_WORDS;

use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::exact::exact_pairs;
use crate::families::{
    Families, FamilyKind, FamilyParams, PairSink, PairWriter, by_walking, from_pairs,
};
use crate::keep::Keep;
use crate::order::Representatives;
use crate::progress::PhaseClock;
use crate::sets::Sets;
use crate::walk::Buckets;

/// How copies are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// By size: the exact join for a small corpus, features and verification for a large one.
    #[default]
    Auto,
    /// The exact join: finds every pair.
    Exact,
    /// Features and verification: misses at most one in a thousand of the pairs at the threshold.
    Features,
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Auto => "auto",
            Engine::Exact => "exact",
            Engine::Features => "features",
        })
    }
}

/// The text names no engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write auto, exact or features")]
pub struct NotAnEngine;

impl FromStr for Engine {
    type Err = NotAnEngine;

    fn from_str(text: &str) -> Result<Self, NotAnEngine> {
        match text {
            "auto" => Ok(Engine::Auto),
            "exact" => Ok(Engine::Exact),
            "features" => Ok(Engine::Features),
            _ => Err(NotAnEngine),
        }
    }
}

/// Up to so many shingles (about 12 MB of text) the exact join is taken by itself: it costs a second
/// and misses nothing. It then takes at most 60 MB, less than the least `--memory` there is, so that the
/// choice of the engine, and with it the result, does not depend on the memory.
pub const EXACT_SHINGLES: u64 = 2_000_000;

/// Bytes of memory for each shingle while the join starts: its number twice, and for a new one its
/// hash and its place in the table.
pub const BYTES_A_SHINGLE: u64 = 30;

/// The part of the memory in which one column is sorted: a quarter, since what is kept of every
/// document and the buckets need room beside it.
const SORTING_SHARE: u64 = 4;

/// How families are found.
#[derive(Clone, Debug)]
pub struct FamilyConfig {
    /// What makes a copy.
    pub rule: Rule,
    /// How copies are put together.
    pub family: FamilyKind,
    /// How copies are looked for.
    pub engine: Engine,
    /// Which document of a family is kept.
    pub keep: Keep,
    /// Words in a shingle.
    pub shingle_words: NonZeroUsize,
    /// What the features depend on.
    pub seed: Seed,
    /// Threads. Never changes the result.
    pub threads: NonZeroUsize,
    /// Bytes of memory to stay within. Never changes the result.
    pub memory: u64,
}

/// As `wonbon dedup` without flags, on one thread, in a gigabyte.
impl Default for FamilyConfig {
    fn default() -> Self {
        FamilyConfig {
            rule: Rule::default(),
            family: FamilyKind::default(),
            engine: Engine::default(),
            keep: Keep::default(),
            shingle_words: DEFAULT_SHINGLE_WORDS,
            seed: Seed::default(),
            threads: NonZeroUsize::MIN,
            memory: 1 << 30,
        }
    }
}

impl FamilyConfig {
    /// What makes the features that the rule needs.
    pub(crate) fn feature_maker(&self) -> Result<FeatureMaker, ClusterError> {
        if !self.rule.is_valid() {
            return Err(ClusterError::BadParameter {
                what: "the rule",
                wanted: "a threshold above 0 and up to 1, or from 1 to 6 features",
                got: self.rule.to_string(),
            });
        }
        let Bands { bands, rows } = self.rule.bands();
        let seed = self.seed.clone();
        Ok(FeatureMaker::new(FeatureParams { groups: bands, group_size: rows, seed })?)
    }

    /// Who stands for whom, in keep order; the first `others` documents come before all.
    pub(crate) fn representatives(
        &self,
        corpus: &Corpus,
        others: u32,
    ) -> Result<Representatives, ClusterError> {
        Representatives::find(corpus, &self.keep, others, self.memory / SORTING_SHARE)
    }

    /// Finds the families; tells how and why so. Verified pairs are noted in a file if one is given.
    pub(crate) fn decide(
        &self,
        corpus: &Corpus,
        representatives: &Representatives,
        pairs: Option<&Path>,
        clock: &PhaseClock,
        progress: &dyn Progress,
    ) -> Result<(Families, String), ClusterError> {
        let sets = Sets::open(corpus, representatives)?;
        let count = representatives.len();
        let others = representatives
            .documents
            .iter()
            .take_while(|&&document| u64::from(document) < corpus.read().others)
            .count() as u32;
        let params = FamilyParams {
            rule: self.rule,
            kind: self.family,
            others,
            threads: self.threads,
            progress,
        };
        let mut writer = pairs.map(PairWriter::create).transpose()?;
        let pairs = writer.as_mut().map(|writer| writer as &mut dyn PairSink);
        let exact = self.exact_threshold(sets.shingles());
        let families = if let Some(threshold) = exact {
            let found = clock.time("join", 0, progress, || {
                exact_pairs(&sets, count, threshold, self.threads, self.memory, progress)
            })?;
            from_pairs(&sets, count, &found, params, pairs)?
        } else {
            let buckets = clock.time("bands", corpus.feature_count() as u64, progress, || {
                Buckets::find(corpus, representatives, self.memory / SORTING_SHARE, progress)
            })?;
            clock.time("compare", u64::from(count), progress, || {
                by_walking(&sets, &buckets, count, params, pairs)
            })?
        };
        if let Some(writer) = writer {
            writer.finish()?;
        }
        Ok((families, self.describe_engine(sets.shingles())))
    }

    /// The threshold of the exact join, if that is how the families of representatives with so many
    /// shingles in all are found.
    #[must_use]
    pub fn exact_threshold(&self, shingles: u64) -> Option<f64> {
        let exact = match self.engine {
            Engine::Exact => true,
            Engine::Auto => shingles <= EXACT_SHINGLES,
            Engine::Features => false,
        };
        match self.rule {
            Rule::Threshold(threshold) if exact => Some(threshold),
            _ => None,
        }
    }

    /// Everything here that decides the result, by the names that plans of runs have.
    pub(crate) fn plan(&self) -> Value {
        let Bands { bands, rows } = self.rule.bands();
        json!({
            "rule": self.rule.to_string(),
            "family": self.family.to_string(),
            "keep": self.keep.to_string(),
            "shingle words": self.shingle_words,
            "bands": [bands, rows],
            "seed": self.seed.fingerprint().to_string(),
            "engine": self.engine.to_string(),
        })
    }

    /// How families are found, and why so.
    #[must_use]
    pub fn describe_engine(&self, shingles: u64) -> String {
        if self.exact_threshold(shingles).is_some() {
            let why = match self.engine {
                Engine::Exact => "asked for".to_owned(),
                _ => format!("the corpus is small, {shingles} different shingles in all"),
            };
            return format!("the exact join, which finds every pair ({why})");
        }
        let found = self.rule.bands();
        let Bands { bands, rows } = found;
        match self.rule {
            Rule::Threshold(threshold) => format!(
                "features and verification: {bands} bands of {rows} min-values find {:.2} % of \
                 the pairs at {threshold} and more above; every pair is verified exactly ({})",
                100.0 * found.probability(threshold),
                match self.engine {
                    Engine::Features => "asked for".to_owned(),
                    _ => format!("the corpus is large, {shingles} shingles in all"),
                }
            ),
            Rule::Features { needed, floor } => format!(
                "features: copies agree in at least {needed} of {bands} and resemble their original by \
                 at least {floor}"
            ),
        }
    }
}
