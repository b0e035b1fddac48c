//! MPJoin (Ribeiro, Härder 2011): PPJoin that shrinks the index as it goes.
//!
//! Each indexed record remembers its prefix size for the largest probe that met it. Since later
//! probes are larger, the prefix only shrinks, and a posting behind it can never make a
//! candidate again: it is removed.
//!
//! Deviation from the original, after Park 2012: there the score of a record is set to minus
//! infinity before its posting is removed, which loses results. Here the posting is removed
//! first and the score then set to zero. A score is then no longer the overlap inside the
//! prefixes, so candidates are merged from their first tokens.
//!
//! Cost: fewer comparisons than PPJoin, a word more a record, removals inside lists.

use super::inverted::{Paper, Probe, Walk};
use crate::algorithm::Match;
use crate::bounds::Row;
use crate::collection::Collection;
use crate::verify::overlap_at_least;

/// Positional filter with a shrinking index.
#[derive(Debug, Clone, Copy, Default)]
pub struct MpJoin;

impl Paper for MpJoin {
    const NAME: &'static str = "mpjoin";

    fn visitor(&self, collection: &Collection) -> impl FnMut(&mut Walk<'_>, &Probe<'_>, &Row) {
        let mut prefix_size = vec![u32::MAX; collection.len()];
        move |walk, probe, row| {
            let Walk { collection, index, scores, counters, matches, .. } = walk;
            let x = probe.tokens;
            for (i, &token) in x[..probe.prefix as usize].iter().enumerate() {
                let list = index.seen_from(probe.side, token);
                list.drop_smaller(collection, row.smallest());
                list.retain(|posting| {
                    let (indexed, j) = (posting.record, posting.position);
                    if j >= prefix_size[indexed as usize] {
                        return false;
                    }
                    counters.comparisons += 1;
                    let size = collection.size(indexed);
                    let required = row.required(size);
                    let score = &mut scores.of[indexed as usize];
                    let left = (x.len() - i).min((size - j) as usize) as i32;
                    if *score + left >= required as i32 {
                        if *score == 0 {
                            scores.met.push(indexed);
                        }
                        *score += 1;
                        true
                    } else {
                        prefix_size[indexed as usize] = (size + 1).saturating_sub(required);
                        *score = 0;
                        j < prefix_size[indexed as usize]
                    }
                });
            }
            // A record reset to zero and met again stands in the list twice.
            scores.drain(|indexed, score| {
                if score == 0 {
                    return;
                }
                counters.candidates += 1;
                let y = collection.record(indexed);
                if let Some(overlap) = overlap_at_least(x, y, row.required(y.len() as u32)) {
                    matches.push(Match { probe: probe.record, indexed, overlap });
                }
            });
        }
    }
}
