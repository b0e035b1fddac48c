//! AllPairs (Bayardo, Ma, Srikant 2007), for sets and any measure: prefix filter and size
//! window, nothing else.
//!
//! Two records that reach the threshold share a token inside their prefixes, so every record
//! met while looking up the probe's prefix is a candidate and no other record can be one. The
//! index holds the short prefix of the paper's equation 6, as for all five.
//!
//! Cost: a comparison for every posting in the window; each candidate is merged.

use super::inverted::{Paper, Probe, Walk, verify_behind_prefixes};
use crate::algorithm::Match;
use crate::bounds::Row;
use crate::collection::Collection;

/// Prefix filter alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllPairs;

impl Paper for AllPairs {
    const NAME: &'static str = "allpairs";

    fn visitor(&self, _: &Collection) -> impl FnMut(&mut Walk<'_>, &Probe<'_>, &Row) {
        |walk, probe, row| {
            let Walk { collection, bounds, index, scores, counters, matches } = walk;
            for &token in &probe.tokens[..probe.prefix as usize] {
                let list = index.seen_from(probe.side, token);
                list.drop_smaller(collection, row.smallest());
                for posting in &list.postings[list.head..] {
                    counters.comparisons += 1;
                    let score = &mut scores.of[posting.record as usize];
                    if *score == 0 {
                        scores.met.push(posting.record);
                    }
                    *score += 1;
                }
            }
            scores.drain(|indexed, score| {
                counters.candidates += 1;
                let y = collection.record(indexed);
                let y_prefix = bounds.index_prefix(collection.side(indexed), y.len() as u32);
                let overlap = verify_behind_prefixes(
                    probe.tokens,
                    y,
                    probe.prefix,
                    y_prefix,
                    score as u32,
                    row.required(y.len() as u32),
                );
                if let Some(overlap) = overlap {
                    matches.push(Match { probe: probe.record, indexed, overlap });
                }
            });
        }
    }
}
