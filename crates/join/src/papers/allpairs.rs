//! AllPairs (Bayardo, Ma, Srikant 2007), for sets and any measure: prefix filter and size
//! window, nothing else.
//!
//! Two records that reach the threshold share a token inside their prefixes, so every record
//! met while looking up the probe's prefix is a candidate and no other record can be one. The
//! index holds the short prefix of the paper's equation 6, as for all five.
//!
//! Cost: a comparison for every posting in the window; each candidate is merged.

use super::inverted::{Inverted, Scores, verify_behind_prefixes, walk};
use crate::algorithm::{Algorithm, Counters, JoinParams, Match, MatchSink};
use crate::collection::Collection;
use crate::error::JoinError;

/// Prefix filter alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllPairs;

impl Algorithm for AllPairs {
    fn name(&self) -> &'static str {
        "allpairs"
    }

    fn join(
        &self,
        collection: &Collection,
        params: &JoinParams<'_>,
        sink: &mut dyn MatchSink,
        counters: &mut Counters,
    ) -> Result<(), JoinError> {
        let mut index = Inverted::new(collection);
        let mut scores = Scores::new(collection);
        walk(collection, params, sink, counters, |probe, bounds, row, counters, matches| {
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
            let prefix = bounds.index_prefix(probe.side, probe.tokens.len() as u32);
            index.add(collection, probe.record, prefix);
            counters.postings += u64::from(prefix);
        })
    }
}
