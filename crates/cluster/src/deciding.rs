//! From a corpus on disk to families: which engine, and why.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use wonbon_sketch::FeatureParams;

use crate::bands::Bands;
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::exact::exact_pairs;
use crate::families::{
    CopyRule, Families, FamilyKind, FamilyParams, PairWriter, by_walking, from_pairs,
};
use crate::order::Representatives;
use crate::progress::{PhaseClock, Progress};
use crate::walk::{Buckets, Sets};

/// How copies are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// By size: the exact join for a small corpus, features and verification for a large one.
    #[default]
    Auto,
    /// The exact join: finds every pair.
    Exact,
    /// Features and verification: finds at least 99 % of the pairs at every resemblance.
    Features,
}

/// Up to so many shingles (about 25 MB of text) the exact join is taken by itself: it costs a second
/// or two and misses nothing.
pub const EXACT_SHINGLES: u64 = 4_000_000;

/// Bytes of memory for each shingle while the join starts: its number twice, and for a new one its
/// hash and its place in the table.
pub const BYTES_A_SHINGLE: u64 = 30;

/// The part of the memory in which one column is sorted: a quarter, since what is kept of every
/// document and the buckets need room beside it.
pub(crate) const SORTING_SHARE: u64 = 4;

/// The features that a rule needs.
///
/// # Errors
///
/// [`ClusterError::BadParameter`] if the threshold is not above 0 and up to 1.
pub fn bands_for(rule: CopyRule) -> Result<Bands, ClusterError> {
    match rule {
        CopyRule::Threshold(threshold) if threshold > 0.0 && threshold <= 1.0 => {
            Ok(Bands::for_threshold(threshold))
        }
        CopyRule::Threshold(threshold) => Err(ClusterError::BadParameter {
            what: "the threshold",
            wanted: "above 0 and up to 1",
            got: threshold.to_string(),
        }),
        CopyRule::Agreeing(_) => {
            let FeatureParams { groups, group_size, .. } = FeatureParams::default();
            Ok(Bands { bands: groups, rows: group_size })
        }
    }
}

/// How families are decided.
#[derive(Clone, Debug)]
pub(crate) struct Deciding {
    pub(crate) rule: CopyRule,
    pub(crate) family: FamilyKind,
    pub(crate) engine: Engine,
    pub(crate) bands: Bands,
    pub(crate) threads: NonZeroUsize,
    pub(crate) memory: u64,
    /// The file in which verified pairs are noted, if they are.
    pub(crate) pairs: Option<PathBuf>,
}

impl Deciding {
    /// Finds the families; tells how and why so.
    pub(crate) fn run(
        &self,
        corpus: &Corpus,
        representatives: &Representatives,
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
        let pairs = match &self.pairs {
            Some(path) => Some(PairWriter::create(path)?),
            None => None,
        };
        let small =
            sets.shingles() <= EXACT_SHINGLES && sets.shingles() * BYTES_A_SHINGLE <= self.memory;
        let exact = match self.engine {
            Engine::Exact => true,
            Engine::Auto => small,
            Engine::Features => false,
        };
        if let (CopyRule::Threshold(threshold), true) = (self.rule, exact) {
            let found = clock.time("join", 0, progress, || {
                exact_pairs(&sets, count, threshold, self.threads, self.memory, progress)
            })?;
            let why = match self.engine {
                Engine::Exact => "asked for".to_owned(),
                _ => format!("the corpus is small, {} different shingles in all", sets.shingles()),
            };
            let families = from_pairs(&sets, count, &found, params, pairs)?;
            return Ok((families, format!("the exact join, which finds every pair ({why})")));
        }
        let buckets = clock.time("bands", corpus.feature_count() as u64, progress, || {
            Buckets::find(corpus, representatives, self.memory / SORTING_SHARE, progress)
        })?;
        let families = clock.time("compare", u64::from(count), progress, || {
            by_walking(&sets, &buckets, count, params, pairs)
        })?;
        let Bands { bands, rows } = self.bands;
        let engine = match self.rule {
            CopyRule::Threshold(threshold) => format!(
                "features and verification: {bands} bands of {rows} min-values find {:.2} % of \
                 the pairs at {threshold} and more above; every pair is verified exactly ({})",
                100.0 * self.bands.probability(threshold),
                match self.engine {
                    Engine::Features => "asked for".to_owned(),
                    _ => format!("the corpus is large, {} shingles in all", sets.shingles()),
                }
            ),
            CopyRule::Agreeing(least) => {
                format!("features: copies agree in at least {least} of {bands}")
            }
        };
        Ok((families, engine))
    }
}
