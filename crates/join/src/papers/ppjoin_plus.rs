//! PPJoin+ (Xiao, Wang, Lin, Yu, Wang 2011): PPJoin with the suffix filter.
//!
//! At the first shared token of a pair, [`super::suffix::least_difference`] bounds from below
//! how much the two rests differ, without merging them. A pair whose rests must differ too
//! much never becomes a candidate.
//!
//! Cost: far fewer candidates than PPJoin; up to `2^DEPTH` bisections for each pair met.

use super::inverted::{Paper, Probe, Walk};
use super::ppjoin::visitor_asking;
use super::suffix::least_difference;
use crate::bounds::Row;
use crate::collection::Collection;

/// How often the suffix filter splits: 2 in the original authors' experiments.
const DEPTH: u32 = 2;

/// Prefix, positional and suffix filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct PpJoinPlus;

impl Paper for PpJoinPlus {
    const NAME: &'static str = "ppjoin+";

    fn visitor(&self, _: &Collection) -> impl FnMut(&mut Walk<'_>, &Probe<'_>, &Row) {
        visitor_asking(|x, y, i, j, required| {
            // Tokens before the first shared one are all different.
            let allowed = (x.len() + y.len()) as i64 - 2 * i64::from(required) - (i + j) as i64;
            least_difference(&x[i + 1..], &y[j + 1..], allowed, DEPTH) <= allowed
        })
    }
}
