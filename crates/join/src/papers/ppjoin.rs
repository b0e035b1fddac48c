//! PPJoin (Xiao, Wang, Lin, Yu 2008): AllPairs with the positional filter.
//!
//! When token number `i` of the probe meets token number `j` of an indexed record, at most
//! `1 + min(tokens after i, tokens after j)` can be shared on top of what was counted before.
//! If that cannot reach the required overlap, the pair is excluded for good.
//!
//! Cost: as AllPairs, plus one bound a posting; candidates are fewer.

use super::inverted::{EXCLUDED, Paper, Probe, Walk, verify_behind_prefixes};
use crate::algorithm::Match;
use crate::bounds::Row;
use crate::collection::Collection;

/// Prefix and positional filter.
#[derive(Debug, Clone, Copy, Default)]
pub struct PpJoin;

impl Paper for PpJoin {
    const NAME: &'static str = "ppjoin";

    fn visitor(&self, _: &Collection) -> impl FnMut(&mut Walk<'_>, &Probe<'_>, &Row) {
        visitor_asking(|_, _, _, _, _| true)
    }
}

/// PPJoin, asking `worth_it(x, y, i, j, required)` once for each pair at its first shared token.
pub(super) fn visitor_asking(
    mut worth_it: impl FnMut(&[u32], &[u32], usize, usize, u32) -> bool,
) -> impl FnMut(&mut Walk<'_>, &Probe<'_>, &Row) {
    move |walk, probe, row| {
        let Walk { collection, bounds, index, scores, counters, matches } = walk;
        let x = probe.tokens;
        for (i, &token) in x[..probe.prefix as usize].iter().enumerate() {
            let list = index.seen_from(probe.side, token);
            list.drop_smaller(collection, row.smallest());
            for posting in &list.postings[list.head..] {
                counters.comparisons += 1;
                let (indexed, j) = (posting.record, posting.position as usize);
                let score = &mut scores.of[indexed as usize];
                if *score == EXCLUDED {
                    continue;
                }
                let size = collection.size(indexed);
                let required = row.required(size);
                let left = (x.len() - i).min(size as usize - j) as i32;
                if *score == 0 {
                    scores.met.push(indexed);
                    if left < required as i32
                        || !worth_it(x, collection.record(indexed), i, j, required)
                    {
                        *score = EXCLUDED;
                        continue;
                    }
                }
                *score = if *score + left >= required as i32 { *score + 1 } else { EXCLUDED };
            }
        }
        scores.drain(|indexed, score| {
            if score == EXCLUDED {
                return;
            }
            counters.candidates += 1;
            let y = collection.record(indexed);
            let y_prefix = bounds.index_prefix(collection.side(indexed), y.len() as u32);
            let required = row.required(y.len() as u32);
            let overlap =
                verify_behind_prefixes(x, y, probe.prefix, y_prefix, score as u32, required);
            if let Some(overlap) = overlap {
                matches.push(Match { probe: probe.record, indexed, overlap });
            }
        });
    }
}
