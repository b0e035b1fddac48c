//! PPJoin+ (Xiao, Wang, Lin, Yu, Wang 2011): PPJoin with the suffix filter.
//!
//! At the first shared token of a pair, [`super::suffix::least_difference`] bounds from below
//! how much the two rests differ, without merging them. A pair whose rests must differ too
//! much never becomes a candidate.
//!
//! Cost: far fewer candidates than PPJoin; up to `2^DEPTH` bisections for each pair met.

use super::ppjoin::join_with;
use super::suffix::least_difference;
use crate::algorithm::{Algorithm, Counters, JoinParams, MatchSink};
use crate::collection::Collection;
use crate::error::JoinError;

/// How often the suffix filter splits: 2 in the original authors' experiments.
const DEPTH: u32 = 2;

/// Prefix, positional and suffix filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct PpJoinPlus;

impl Algorithm for PpJoinPlus {
    fn name(&self) -> &'static str {
        "ppjoin+"
    }

    fn join(
        &self,
        collection: &Collection,
        params: &JoinParams<'_>,
        sink: &mut dyn MatchSink,
        counters: &mut Counters,
    ) -> Result<(), JoinError> {
        join_with(collection, params, sink, counters, |x, y, i, j, required| {
            // Tokens before the first shared one are all different.
            let allowed = (x.len() + y.len()) as i64 - 2 * i64::from(required) - (i + j) as i64;
            least_difference(&x[i + 1..], &y[j + 1..], allowed, DEPTH) <= allowed
        })
    }
}
