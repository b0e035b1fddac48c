//! The exact engine: all pairs at or above the threshold, by the set-similarity join.
//!
//! Why not always: a join of whole documents reads every shingle of every document into memory as a
//! numbered token, about 30 bytes each while it starts, and is slower than finding candidates by
//! bands as soon as the corpus is large. For a small corpus it costs nothing and misses nothing.
//!
//! Guarantee: every pair, exactly once, with its exact resemblance. Not here: the join itself
//! (`wonbon-join`).

use std::num::NonZeroUsize;

use wonbon_join::auto::AUTO;
use wonbon_join::interner::HashNumbers;
use wonbon_join::{
    Algorithm, CollectionBuilder, Counters, JoinError, JoinParams, Match, Measure, Side, Threshold,
};
use wonbon_progress::{Progress, StopOnly};

use crate::deciding::BYTES_A_SHINGLE;
use crate::error::ClusterError;
use crate::sets::Sets;
use crate::walk::Met;

/// All pairs of representatives at or above the threshold: the later one with the earlier one it
/// meets.
///
/// # Errors
///
/// If sets cannot be read or do not fit in memory, or if the watcher asked to stop.
pub(crate) fn exact_pairs(
    sets: &Sets,
    count: u32,
    threshold: f64,
    threads: NonZeroUsize,
    memory: u64,
    progress: &dyn Progress,
) -> Result<Vec<(u32, Met)>, ClusterError> {
    let needed = sets.shingles() * BYTES_A_SHINGLE;
    if needed > memory {
        return Err(ClusterError::TooLittleMemory {
            what: "the exact join",
            needed: needed >> 20,
            given: memory >> 20,
        });
    }
    let stopped = |error: JoinError| match error {
        JoinError::Stopped => ClusterError::Stopped,
        error => ClusterError::Join(error),
    };
    let mut numbers = HashNumbers::new();
    let mut builder = CollectionBuilder::for_self_join();
    let (mut set, mut tokens) = (Vec::new(), Vec::new());
    for representative in 0..count {
        sets.read(representative, &mut set)?;
        tokens.clear();
        for &shingle in &set {
            tokens.push(numbers.number(shingle).map_err(stopped)?);
        }
        builder.push(Side::Left, &tokens).map_err(stopped)?;
    }
    drop(numbers);
    let collection = builder.finish();
    // The shortest decimal that gives this number is the text it was read from.
    let threshold: Threshold = threshold.to_string().parse().map_err(stopped)?;
    let watch = StopOnly(progress);
    let params = JoinParams {
        progress: &watch,
        ..JoinParams::new(Measure::Jaccard, threshold).map_err(stopped)?.with_threads(threads.get())
    };
    let mut matches: Vec<Match> = Vec::new();
    AUTO.join(&collection, &params, &mut matches, &mut Counters::default()).map_err(stopped)?;
    let met = matches.into_iter().map(|found| {
        let (one, other) = (collection.line(found.probe), collection.line(found.indexed));
        let union = collection.size(found.probe) + collection.size(found.indexed) - found.overlap;
        let met = Met { other: one.min(other), agreeing: 0, shared: found.overlap, union };
        (one.max(other), met)
    });
    Ok(met.collect())
}
