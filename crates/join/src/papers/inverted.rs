//! What the paper's five algorithms share: a growing inverted index, overlap scores and the
//! walk over records.
//!
//! All five walk the records by ascending size, look up each record's prefix in the index, and
//! then add the record itself. They differ in what they do with a posting, which is what each
//! of their files shows.

use crate::algorithm::{Algorithm, Counters, JoinParams, Match, MatchSink};
use crate::bounds::{Bounds, Row};
use crate::collection::{Collection, Side};
use crate::error::JoinError;

/// A token of an indexed record: which record, at which place (from 0) in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub record: u32,
    pub position: u32,
}

/// The postings of one token, by ascending record and so by ascending size.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    /// Postings before this are of records too small for any probe to come.
    pub head: usize,
    pub postings: Vec<Posting>,
}

impl List {
    /// Steps over the records smaller than `smallest`, for good.
    pub(super) fn drop_smaller(&mut self, collection: &Collection, smallest: u32) {
        while self
            .postings
            .get(self.head)
            .is_some_and(|posting| collection.size(posting.record) < smallest)
        {
            self.head += 1;
        }
    }

    /// Shows the postings from the head on in order and removes those that `keep` refuses, for good.
    #[inline]
    pub(super) fn retain(&mut self, mut keep: impl FnMut(Posting) -> bool) {
        let mut kept = self.head;
        for at in self.head..self.postings.len() {
            let posting = self.postings[at];
            if keep(posting) {
                self.postings[kept] = posting;
                kept += 1;
            }
        }
        self.postings.truncate(kept);
    }
}

/// One list for each token, for each side.
pub(crate) struct Inverted {
    lists: [Vec<List>; 2],
    two_sides: bool,
}

impl Inverted {
    pub(super) fn new(collection: &Collection) -> Self {
        let side = || vec![List::default(); collection.vocabulary() as usize];
        let two_sides = collection.has_two_sides();
        Self { lists: [side(), if two_sides { side() } else { Vec::new() }], two_sides }
    }

    /// The postings that a probe of this side looks at.
    pub(super) fn seen_from(&mut self, side: Side, token: u32) -> &mut List {
        let side = if self.two_sides { side.other() } else { side };
        &mut self.lists[side as usize][token as usize]
    }

    /// Adds the first `prefix` tokens of a record.
    pub(super) fn add(&mut self, collection: &Collection, record: u32, prefix: u32) {
        let side = collection.side(record) as usize;
        for (position, &token) in collection.record(record)[..prefix as usize].iter().enumerate() {
            let posting = Posting { record, position: position as u32 };
            self.lists[side][token as usize].postings.push(posting);
        }
    }
}

/// Overlaps counted so far for the records a probe has met.
pub(crate) struct Scores {
    pub of: Vec<i32>,
    pub met: Vec<u32>,
}

/// Score of a pair that was excluded.
pub(crate) const EXCLUDED: i32 = i32::MIN;

impl Scores {
    pub(super) fn new(collection: &Collection) -> Self {
        Self { of: vec![0; collection.len()], met: Vec::new() }
    }

    /// Hands over the records met with their scores and forgets them.
    pub(super) fn drain(&mut self, mut each: impl FnMut(u32, i32)) {
        for &record in &self.met {
            let score = std::mem::take(&mut self.of[record as usize]);
            each(record, score);
        }
        self.met.clear();
    }
}

/// One probe on its way through an algorithm.
pub(crate) struct Probe<'a> {
    pub record: u32,
    pub side: Side,
    pub tokens: &'a [u32],
    pub prefix: u32,
}

/// What an algorithm has at hand when a probe comes.
pub(crate) struct Walk<'a> {
    pub collection: &'a Collection,
    pub bounds: &'a Bounds,
    pub index: &'a mut Inverted,
    pub scores: &'a mut Scores,
    pub counters: &'a mut Counters,
    pub matches: &'a mut Vec<Match>,
}

/// An algorithm that meets the records in order, each with what was indexed before it.
pub(crate) trait Paper: Sync {
    /// The name used in flags and tables.
    const NAME: &'static str;

    /// What is done with each probe and its row of bounds: its matches are pushed. The probe is
    /// indexed afterwards.
    fn visitor(&self, collection: &Collection) -> impl FnMut(&mut Walk<'_>, &Probe<'_>, &Row);
}

impl<P: Paper> Algorithm for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn join(
        &self,
        collection: &Collection,
        params: &JoinParams<'_>,
        sink: &mut dyn MatchSink,
        counters: &mut Counters,
    ) -> Result<(), JoinError> {
        let mut visit = self.visitor(collection);
        let mut index = Inverted::new(collection);
        let mut scores = Scores::new(collection);
        let bounds = Bounds::new(collection, params.measure, params.threshold);
        let mut rows = [Row::default(), Row::default()];
        let mut matches = Vec::new();
        let total = collection.len() as u64;
        params.progress.begin("join", total);
        for record in 0..collection.len() as u32 {
            if record % 256 == 0 {
                params.progress.advance(u64::from(record));
                if params.progress.stop_asked() {
                    return Err(JoinError::Stopped);
                }
            }
            let (side, tokens) = (collection.side(record), collection.record(record));
            let size = tokens.len() as u32;
            let row = &mut rows[side as usize];
            row.prepare(&bounds, side, size);
            let prefix = bounds.probe_prefix(side, size);
            let probe = Probe { record, side, tokens, prefix };
            let mut walk = Walk {
                collection,
                bounds: &bounds,
                index: &mut index,
                scores: &mut scores,
                counters: &mut *counters,
                matches: &mut matches,
            };
            visit(&mut walk, &probe, row);
            let indexed = bounds.index_prefix(side, size);
            index.add(collection, record, indexed);
            counters.postings += u64::from(indexed);
            if !matches.is_empty() {
                counters.results += matches.len() as u64;
                let flow = sink.accept(&matches);
                matches.clear();
                if flow.is_break() {
                    return Err(JoinError::Stopped);
                }
            }
        }
        params.progress.advance(total);
        Ok(())
    }
}

/// Finishes a candidate whose overlap inside the two prefixes is known: the prefix that ends
/// with the smaller token is exhausted, so only tokens behind it can still be shared, with
/// those of the other record that were not counted (PPJoin, section on verification).
pub(crate) fn verify_behind_prefixes(
    x: &[u32],
    y: &[u32],
    x_prefix: u32,
    y_prefix: u32,
    counted: u32,
    required: u32,
) -> Option<u32> {
    let (x_prefix, y_prefix) = (x_prefix as usize, y_prefix as usize);
    let (x_rest, y_rest) = if x[x_prefix - 1] < y[y_prefix - 1] {
        (&x[x_prefix..], &y[counted as usize..])
    } else {
        (&x[counted as usize..], &y[y_prefix..])
    };
    crate::verify::overlap_from(counted, x_rest, y_rest, required)
}
