//! Shares out the probes of a block among threads.
//!
//! Two ways. *Interleaved*: threads take the next few probes in turn, and look at an index that
//! they filled together before. Each then passes over all records to keep its ends of lists. In
//! *segments*: each thread has a range of probes for itself and an index of its own, which it
//! fills as it goes, just as a single thread does. Nothing is shared, nothing is read twice but
//! the size window before a segment. An idle thread steals from the tail of the longest remaining
//! segment, so a wrong estimate costs little.
//!
//! Segments do the least work where windows are small; the windows of all segments but the
//! first are indexed twice, so for low thresholds or many threads the probes are interleaved.
//! They are interleaved under a memory limit too: the matches of later segments wait for those
//! of earlier ones.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use super::shelf::ShelfBlock;
use super::steps::Steps;
use crate::bounds::Bounds;
use crate::parallel::{Share, Shares};

/// Nanoseconds to count, lay out and fill in a posting of the window before a segment.
const WINDOW_POSTING: f64 = 20.0;
/// Nanoseconds for a list in the tables of a segment.
const LIST: f64 = 1.0;
/// Nanoseconds that are not worth another segment.
const NOT_WORTH: f64 = 100_000.0;
/// What is taken over must cost at least this part of what beginning does.
const WORTH_BEGINNING: f64 = 0.5;
/// Windows may have at most this part of the postings again.
const MOST_AGAIN: f64 = 0.5;

/// Probes in turn, for everybody who asks.
pub(super) struct Interleaved {
    probes: Range<u32>,
    chunk: u32,
    taken: AtomicU32,
}

impl Interleaved {
    pub(super) fn new(block: &ShelfBlock<'_>) -> Self {
        Self { probes: block.probes(), chunk: block.chunk(), taken: AtomicU32::new(0) }
    }
}

impl Shares for Interleaved {
    fn next(&self, _thread: usize) -> Option<Share> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let start = u64::from(self.probes.start) + u64::from(number) * u64::from(self.chunk);
        let start = u32::try_from(start).ok().filter(|&start| start < self.probes.end)?;
        let end = start.saturating_add(self.chunk).min(self.probes.end);
        Some(Share { records: start..end, segment: self.probes.clone() })
    }
}

/// What it costs to begin a segment anywhere.
pub(super) struct Beginning<'a> {
    block: &'a ShelfBlock<'a>,
    bounds: &'a Bounds,
    /// Postings by slot.
    postings: Steps,
}

impl<'a> Beginning<'a> {
    pub(super) fn new(block: &'a ShelfBlock<'a>, bounds: &'a Bounds) -> Self {
        let mut postings = Steps::from(block.slots.start);
        block.shelf.for_each_size(&block.slots, |size, slots| {
            postings.extend(slots.end, f64::from(bounds.index_prefix(block.shelf.side, size)));
        });
        Self { block, bounds, postings }
    }

    /// Postings in the window before a record.
    fn window_postings(&self, record: u32) -> f64 {
        let slots = self.block.slots_of(self.bounds, &(record..record + 1));
        self.postings.before(slots.end) - self.postings.before(slots.start)
    }

    /// Nanoseconds before the first probe of a segment from `record` on.
    fn cost(&self, record: u32) -> f64 {
        let collection = self.block.shelf.collection;
        let lists = collection.vocabulary() - collection.first_shared();
        WINDOW_POSTING * self.window_postings(record) + LIST * f64::from(lists)
    }

    /// Cuts the probes into a segment for each thread that all take equally long.
    pub(super) fn cut(&self, costs: &Steps, threads: usize) -> Vec<Range<u32>> {
        let Range { start, end } = self.block.probes();
        let mut segments = Vec::with_capacity(threads);
        let mut at = start;
        for left in (1..=threads).rev() {
            if left == 1 || at == end {
                segments.push(at..end);
                at = end;
                continue;
            }
            // What is left, and what beginning costs the others, in equal parts.
            let done = costs.before(at);
            let rest = costs.total() - done;
            let begun = if at == start { 0.0 } else { self.cost(at) };
            let next = costs.find(done + rest / left as f64).min(end - 1);
            let target = (rest + begun + (left - 1) as f64 * self.cost(next)) / left as f64;
            let next = costs.find(done + target - begun).clamp(at, end);
            segments.push(at..next);
            at = next;
        }
        segments
    }

    /// Whether the windows before these segments are small enough.
    pub(super) fn pays(&self, segments: &[Range<u32>]) -> bool {
        let again: f64 = segments
            .iter()
            .skip(1)
            .filter(|segment| !segment.is_empty())
            .map(|segment| self.window_postings(segment.start))
            .sum();
        again <= MOST_AGAIN * self.postings.total()
    }
}

/// A range of probes for each thread.
pub(super) struct Segments<'a> {
    beginning: &'a Beginning<'a>,
    costs: Steps,
    chunk: u32,
    /// What each thread has: where its segment began and what is left of it.
    open: Mutex<Vec<Open>>,
}

struct Open {
    began: u32,
    left: Range<u32>,
}

impl<'a> Segments<'a> {
    pub(super) fn new(beginning: &'a Beginning<'a>, costs: Steps, segments: &[Range<u32>]) -> Self {
        let open = segments
            .iter()
            .map(|segment| Open { began: segment.start, left: segment.clone() })
            .collect();
        Self { beginning, costs, chunk: beginning.block.chunk(), open: Mutex::new(open) }
    }

    /// A part from the end of the segment that has most left, if that pays.
    fn take_over(&self, open: &mut [Open]) -> Option<Range<u32>> {
        let cost = |records: &Range<u32>| {
            self.costs.before(records.end) - self.costs.before(records.start)
        };
        let from = open.iter_mut().max_by(|one, two| {
            cost(&one.left).partial_cmp(&cost(&two.left)).expect("costs are finite")
        })?;
        let (done, left) = (self.costs.before(from.left.start), cost(&from.left));
        let middle = self.costs.find(done + left / 2.0);
        if !from.left.contains(&middle) {
            return None;
        }
        // Both end at the same time if the other keeps half and half of what beginning costs.
        let beginning = self.beginning.cost(middle);
        let cut = self.costs.find(done + f64::midpoint(left, beginning));
        let taken = cut..from.left.end;
        if cut <= from.left.start || cost(&taken) < NOT_WORTH.max(WORTH_BEGINNING * beginning) {
            return None;
        }
        from.left.end = cut;
        Some(taken)
    }
}

impl Shares for Segments<'_> {
    fn next(&self, thread: usize) -> Option<Share> {
        let mut open = self.open.lock().expect("no thread panics while sharing out");
        if open[thread].left.is_empty() {
            let taken = self.take_over(&mut open)?;
            open[thread] = Open { began: taken.start, left: taken };
        }
        let Open { began, left } = &mut open[thread];
        let start = left.start;
        left.start = start.saturating_add(self.chunk).min(left.end);
        Some(Share { records: start..left.start, segment: *began..left.end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::shelf::Shelf;
    use crate::collection::{CollectionBuilder, Side};
    use crate::measure::Measure;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_probe_is_given_out_once_whoever_asks(
            sizes in prop::collection::vec(1_u32..40, 2..400),
            threads in 1_usize..5,
            each in prop::collection::vec(0.0_f64..30_000.0, 40),
            askers in prop::collection::vec(0_usize..5, 1..300),
        ) {
            let mut builder = CollectionBuilder::for_self_join();
            for (at, &size) in sizes.iter().enumerate() {
                // The own token keeps records apart.
                let tokens: Vec<u32> = (0..size).chain([100 + at as u32]).collect();
                builder.push(Side::Left, &tokens).unwrap();
            }
            let collection = builder.finish();
            let bounds = Bounds::new(&collection, Measure::Jaccard, "0.8".parse().unwrap());
            let shelf = Shelf::new(&collection, Side::Left);
            let block = ShelfBlock::new(&shelf, &bounds, 0..shelf.len());
            let beginning = Beginning::new(&block, &bounds);
            let mut costs = Steps::from(block.probes().start);
            for record in block.probes() {
                costs.extend(record + 1, each[record as usize % each.len()]);
            }
            let segments = beginning.cut(&costs, threads);
            prop_assert_eq!(segments.len(), threads);
            let mut shares = Segments::new(&beginning, costs, &segments);
            shares.chunk = 3;
            let mut given: Vec<u32> = Vec::new();
            let mut ask = |thread: usize| match shares.next(thread) {
                None => false,
                Some(share) => {
                    assert!(share.segment.start <= share.records.start);
                    assert!(share.records.end <= share.segment.end);
                    given.extend(share.records);
                    true
                }
            };
            for asker in askers {
                ask(asker % threads);
            }
            for thread in 0..threads {
                while ask(thread) {}
            }
            given.sort_unstable();
            prop_assert!(given.into_iter().eq(block.probes()));
        }
    }
}
