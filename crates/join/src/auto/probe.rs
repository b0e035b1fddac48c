//! One probe after the other: find the slots that may be partners, verify them.

use std::ops::Range;
use std::sync::Mutex;

use super::columns::{Columns, Rows};
use super::plan::Plan;
use super::postings::{Counted, Ends, Postings, for_each_posting, for_each_token, has_postings};
use super::scan::Scan;
use super::shelf::ShelfBlock;
use super::signature::Widths;
use crate::algorithm::{Counters, Match};
use crate::bounds::{Bounds, Row};
use crate::collection::Side;
use crate::parallel::Share;
use crate::vector::{Kernel, PostingQuery, narrow_bit, prefetch};

/// The first tokens of probes are asked for so many probes ahead.
const TOKENS_AHEAD: u32 = 12;
/// The ends of lists are asked for so many probes ahead, and so many tokens of each.
const ENDS_AHEAD: u32 = 4;
const ENDS_FETCHED: usize = 64;
/// The front of lists is asked for so many probes ahead, and so many tokens of each.
const LISTS_AHEAD: u32 = 2;
const LISTS_FETCHED: usize = 12;
/// The ends of so many lists (2 MB) no longer stay near the processor by themselves. Asking for
/// fewer costs more than it saves: 10 to 25 % at high thresholds.
const FETCH_FROM: usize = 1 << 18;

/// What all workers read.
pub(super) struct Shared<'a> {
    pub block: &'a ShelfBlock<'a>,
    pub bounds: &'a Bounds,
    pub plan: &'a Plan,
    /// What was counted for each thread, to be taken by it.
    pub counted: Vec<Mutex<Option<Counted>>>,
    pub postings: &'a Postings,
    pub columns: &'a Columns,
    pub rows: &'a Rows,
    pub kernel: Kernel,
}

/// A token of the probe whose list is not empty.
struct Lookup {
    position: u32,
    list: u32,
}

/// A slot that passed the narrow signature, and where the first shared token stands.
struct Passed {
    slot: u32,
    probe_position: u32,
    position: u32,
}

/// One thread's state.
pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    thread: usize,
    /// Where the segment begins that the lists are for.
    began: Option<u32>,
    counters: Counters,
    row: Row,
    first_of_smallest: u32,
    /// The first record of the probe's size, where two of this size cannot pair.
    first_of_own: Option<u32>,
    size: u32,
    prefix: u32,
    /// What is left of each list of postings.
    ends: Vec<Ends>,
    /// Slots before this are in the lists.
    added: u32,
    /// The postings, where this worker fills them itself.
    own_postings: Option<Vec<u64>>,
    /// The last record whose narrow signature was made, and that.
    total: (u32, u64),
    /// The probe (plus one) that last took up each slot of the block.
    taken_by: Vec<u32>,
    lookups: Vec<Lookup>,
    found: Vec<u32>,
    passed: Vec<Passed>,
    /// The wide signature of the probe.
    wide: Widths,
    scan: Scan,
}

#[inline]
fn slot_of(postings: &[u64], at: u32) -> u32 {
    postings[2 * at as usize + 1] as u32
}

#[inline]
fn position_of(postings: &[u64], at: u32) -> u32 {
    (postings[2 * at as usize + 1] >> 32) as u32
}

impl<'a> Worker<'a> {
    pub(super) fn new(shared: &'a Shared<'a>, thread: usize) -> Self {
        Self {
            shared,
            thread,
            began: None,
            counters: Counters::default(),
            row: Row::default(),
            first_of_smallest: 0,
            first_of_own: None,
            size: 0,
            prefix: 0,
            ends: Vec::new(),
            added: 0,
            own_postings: None,
            total: (u32::MAX, 0),
            taken_by: Vec::new(),
            lookups: Vec::new(),
            found: Vec::new(),
            passed: Vec::new(),
            wide: Widths::default(),
            scan: Scan::default(),
        }
    }

    /// Makes the lists for a segment of probes.
    fn begin(&mut self, segment: &Range<u32>) {
        let Shared { block, bounds, plan, postings, .. } = self.shared;
        self.began = Some(segment.start);
        let all = &plan.posting_slots;
        self.taken_by.resize((all.end - all.start) as usize, 0);
        if plan.segments.is_none() {
            self.ends = postings.ends();
            self.added = all.start;
            return;
        }
        self.ends = Vec::new();
        let slots = block.slots_of(bounds, segment);
        let start = slots.start.clamp(all.start, all.end);
        let slots = start..slots.end.clamp(start, all.end);
        let counted = self.shared.counted[self.thread].lock().expect("taking cannot panic").take();
        let mut counted = counted.unwrap_or_else(|| Counted::nothing(block));
        counted.move_to(block, bounds, slots);
        self.added = counted.slots.start;
        let (ends, count) = counted.lay_out();
        self.ends = ends;
        drop(counted);
        if self.own_postings.as_ref().is_none_or(|room| room.len() < 2 * count) {
            self.own_postings = None;
            self.own_postings = Some(vec![0; 2 * count]);
        }
    }

    pub(super) fn into_counters(self) -> Counters {
        self.counters
    }

    /// Finds the partners of each record of a share.
    pub(super) fn probe_all(&mut self, share: Share, matches: &mut Vec<Match>) {
        if self.began != Some(share.segment.start) {
            self.begin(&share.segment);
        }
        let shelf = self.shared.block.shelf;
        let collection = shelf.collection;
        let side = shelf.probing_side();
        let before = matches.len();
        for record in share.records {
            if collection.side(record) != side {
                continue;
            }
            let size = collection.size(record);
            if size != self.size {
                self.begin_size(side, size);
            }
            let window = self.window(record);
            if window.is_empty() || self.prefix == 0 {
                continue;
            }
            if self.shared.plan.by_columns(size) {
                self.scan.add(self.shared, record, window);
                if self.scan.is_full() {
                    self.scan.finish(self.shared, &mut self.counters, matches);
                }
            } else {
                if !self.scan.is_empty() {
                    self.scan.finish(self.shared, &mut self.counters, matches);
                }
                if self.ends.len() > FETCH_FROM {
                    self.fetch_ahead(record);
                }
                self.by_postings(record, window, matches);
            }
        }
        if !self.scan.is_empty() {
            self.scan.finish(self.shared, &mut self.counters, matches);
        }
        self.counters.results += (matches.len() - before) as u64;
    }

    /// Looks up what is the same for all probes of a size.
    fn begin_size(&mut self, side: Side, size: u32) {
        let bounds = self.shared.bounds;
        let collection = self.shared.block.shelf.collection;
        self.size = size;
        self.prefix = bounds.probe_prefix(side, size);
        if self.prefix == 0 {
            return;
        }
        self.row.prepare(bounds, side, size);
        self.first_of_smallest = collection.first_of_size(self.row.smallest());
        let own_size = self.row.required(size) <= size;
        self.first_of_own = if own_size { None } else { Some(collection.first_of_size(size)) };
    }

    /// The slots that may be partners of a record.
    #[inline]
    fn window(&self, record: u32) -> Range<u32> {
        let end = self.first_of_own.unwrap_or(record);
        self.shared.block.window(end, self.first_of_smallest)
    }

    /// Asks for what later probes will read: the ends of their lists, then the lists.
    #[inline]
    fn fetch_ahead(&self, record: u32) {
        let collection = self.shared.block.shelf.collection;
        let first_shared = collection.first_shared();
        let prefix = |record: u32, most: usize| {
            let tokens = collection.record(record);
            let most = most.min(self.prefix as usize).min(tokens.len());
            tokens[..most].iter().filter(move |&&token| token >= first_shared)
        };
        collection.fetch(record + TOKENS_AHEAD);
        if ((record + ENDS_AHEAD) as usize) < collection.len() {
            for &token in prefix(record + ENDS_AHEAD, ENDS_FETCHED) {
                prefetch(&self.ends, (token - first_shared) as usize);
            }
            let postings = self.postings();
            for &token in prefix(record + LISTS_AHEAD, LISTS_FETCHED) {
                let ends = self.ends[(token - first_shared) as usize];
                if ends.head < ends.tail {
                    prefetch(postings, 2 * ends.head as usize);
                }
            }
        }
    }

    #[inline]
    fn postings(&self) -> &[u64] {
        self.own_postings.as_deref().unwrap_or(self.shared.postings.words())
    }

    /// The narrow signature of a record.
    #[inline]
    fn total(&mut self, record: u32) -> u64 {
        if self.total.0 != record {
            let tokens = self.shared.block.shelf.collection.record(record);
            self.total = (record, self.shared.kernel.narrow_signature(tokens));
        }
        self.total.1
    }

    /// Brings the lists to where all slots before `end` are in them.
    fn add_until(&mut self, end: u32) {
        let Shared { block, bounds, plan, .. } = *self.shared;
        let end = end.min(plan.posting_slots.end);
        if self.added >= end {
            return;
        }
        if self.own_postings.is_none() {
            let ends = &mut self.ends;
            for_each_token(block, bounds, self.added..end, |list| ends[list].tail += 1);
            self.added = end;
        }
        while self.added < end {
            if !has_postings(block, bounds, self.added) {
                self.added += 1;
                continue;
            }
            let total = self.total(block.shelf.record(self.added));
            let (ends, postings) = (&mut self.ends, &mut self.own_postings);
            let postings = postings.as_mut().expect("just seen to be there");
            for_each_posting(block, bounds, self.added, total, |list, posting| {
                let at = 2 * ends[list].tail as usize;
                ends[list].tail += 1;
                postings[at..at + 2].copy_from_slice(&posting);
            });
            self.added += 1;
        }
    }

    fn by_postings(&mut self, record: u32, window: Range<u32>, matches: &mut Vec<Match>) {
        let Shared { block, rows, kernel, plan, .. } = *self.shared;
        let shelf = block.shelf;
        let collection = shelf.collection;
        let tokens = collection.record(record);
        let size = tokens.len() as u32;
        let most_different = self.row.most_different(size);

        self.add_until(window.end);
        self.lookups.clear();
        let first_shared = collection.first_shared();
        let last = self.prefix.min(most_different + 1);
        for (position, &token) in tokens[..last as usize].iter().enumerate() {
            if token >= first_shared {
                let list = token - first_shared;
                let ends = self.ends[list as usize];
                if ends.head < ends.tail {
                    prefetch(self.postings(), 2 * ends.head as usize);
                    self.lookups.push(Lookup { position: position as u32, list });
                }
            }
        }
        if self.lookups.is_empty() {
            return;
        }
        let mut signature = self.total(record);
        let postings = self.own_postings.as_deref().unwrap_or(self.shared.postings.words());
        let mut from = 0;
        // Rarest first, which is also first in the record.
        self.passed.clear();
        for lookup in &self.lookups {
            let ends = &mut self.ends[lookup.list as usize];
            while ends.head < ends.tail && slot_of(postings, ends.head) < window.start {
                ends.head += 1;
            }
            if ends.head == ends.tail {
                continue;
            }
            let end = lookup.position as usize + 1;
            let next = &tokens[from..end];
            signature = next.iter().fold(signature, |bits, &token| bits ^ narrow_bit(token));
            from = end;
            self.counters.comparisons += u64::from(ends.tail - ends.head);
            let query = PostingQuery { signature, limit: most_different - lookup.position };
            self.found.clear();
            let list = &postings[2 * ends.head as usize..2 * ends.tail as usize];
            kernel.filter_postings(query, list, &mut self.found);
            for &place in &self.found {
                let at = ends.head + place;
                let slot = slot_of(postings, at);
                let taken = &mut self.taken_by[(slot - plan.posting_slots.start) as usize];
                if *taken != record + 1 {
                    *taken = record + 1;
                    self.passed.push(Passed {
                        slot,
                        probe_position: lookup.position,
                        position: position_of(postings, at),
                    });
                }
            }
        }
        if self.passed.is_empty() {
            return;
        }
        let mut wide_made = false;
        for at in 0..self.passed.len() {
            let Passed { slot, probe_position, position } = self.passed[at];
            let indexed = shelf.record(slot);
            let partner_size = collection.size(indexed);
            let required = self.row.required(partner_size);
            // The first shared token must leave enough tokens on both sides.
            if probe_position + required > size || position + required > partner_size {
                continue;
            }
            if let Some(row) = rows.row(slot) {
                if !wide_made {
                    let fill = |wide: &mut [u64]| kernel.wide_signature(wide, tokens);
                    self.wide.make(plan.words(size), fill);
                    wide_made = true;
                }
                if kernel.difference(self.wide.at_most(row.len()), row) + 2 * required
                    > size + partner_size
                {
                    continue;
                }
            }
            self.counters.candidates += 1;
            let partner = collection.record(indexed);
            // Nothing before the first shared token is shared.
            let (x, y) = (probe_position as usize, position as usize);
            let found = kernel.overlap_at_least(&tokens[x..], &partner[y..], required);
            if let Some(overlap) = found {
                matches.push(Match { probe: record, indexed, overlap });
            }
        }
    }
}
