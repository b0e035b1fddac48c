//! APJoin (Park 2012, figure 2): prefixes fitted to each pair of sizes.
//!
//! For a probe of size `x` and a partner of size `y` the overlap needed is known, so both
//! prefixes are too: `x - required + 1` and `y - required + 1` tokens. A posting whose place
//! lies behind the partner's prefix is removed, since probes only grow; a probe token behind
//! the probe's prefix is skipped; everything else makes a candidate, without an upper bound to
//! compute.
//!
//! The score of a candidate is exactly its overlap inside the two fitted prefixes, so
//! verification goes on behind them.
//!
//! Cost: two table look-ups a posting; the fewest comparisons of the five.

use super::inverted::{Paper, Probe, Walk, verify_behind_prefixes};
use crate::algorithm::Match;
use crate::bounds::Row;
use crate::collection::Collection;

/// Prefixes fitted to each pair of sizes.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApJoin;

impl Paper for ApJoin {
    const NAME: &'static str = "apjoin";

    fn visitor(&self, _: &Collection) -> impl FnMut(&mut Walk<'_>, &Probe<'_>, &Row) {
        |walk, probe, row| {
            let Walk { collection, index, scores, counters, matches, .. } = walk;
            let x = probe.tokens;
            let x_size = x.len() as u32;
            for (i, &token) in x[..probe.prefix as usize].iter().enumerate() {
                let list = index.seen_from(probe.side, token);
                list.drop_smaller(collection, row.smallest());
                list.retain(|posting| {
                    let size = collection.size(posting.record);
                    let required = row.required(size);
                    if posting.position + required > size {
                        return false;
                    }
                    if i as u32 + required > x_size {
                        return true;
                    }
                    counters.comparisons += 1;
                    let score = &mut scores.of[posting.record as usize];
                    if *score == 0 {
                        scores.met.push(posting.record);
                    }
                    *score += 1;
                    true
                });
            }
            scores.drain(|indexed, score| {
                counters.candidates += 1;
                let y = collection.record(indexed);
                let (score, y_size) = (score as u32, y.len() as u32);
                let required = row.required(y_size);
                let (x_prefix, y_prefix) = (x_size + 1 - required, y_size + 1 - required);
                let overlap = verify_behind_prefixes(x, y, x_prefix, y_prefix, score, required);
                if let Some(overlap) = overlap {
                    matches.push(Match { probe: probe.record, indexed, overlap });
                }
            });
        }
    }
}
