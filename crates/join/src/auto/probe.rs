//! One probe after the other: find the slots that may be partners, verify them.

use std::ops::Range;

use super::columns::{Columns, Rows};
use super::plan::Plan;
use super::postings::Postings;
use super::shelf::ShelfBlock;
use super::signature;
use crate::algorithm::{Counters, Match};
use crate::bounds::{Bounds, Row};
use crate::vector::{Kernel, LANES, PostingQuery, narrow_bit, prefetch};

/// Lists longer than this are cut to the window by bisection before they are tested.
pub(super) const LONG_LIST: usize = 64;
/// Of so many tokens of each probe to come the lists are asked for ahead of time.
const FETCHED_TOKENS: usize = 12;
/// So many postings no longer stay near the processor by themselves.
const FETCH_FROM: usize = 1 << 20;
/// How many blocks of columns share one limit.
const BLOCKS_AT_ONCE: u32 = 16;

/// What all workers read.
pub(super) struct Shared<'a> {
    pub block: &'a ShelfBlock<'a>,
    pub bounds: &'a Bounds,
    pub plan: &'a Plan,
    pub postings: &'a Postings,
    pub columns: &'a Columns,
    pub rows: &'a Rows,
    /// Narrow signatures of all records.
    pub totals: &'a [u64],
    pub kernel: Kernel,
}

/// A token of the probe to look up.
struct Lookup {
    position: u32,
    signature: u64,
    list: Range<usize>,
}

/// A slot that passed the narrow signature, and where the first shared token stands.
struct Passed {
    slot: u32,
    probe_position: u32,
    position: u8,
}

/// One thread's state.
pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    counters: Counters,
    row: Row,
    first_of_smallest: u32,
    size: u32,
    prefix: u32,
    /// The probe (plus one) that last took up each slot of the block.
    taken_by: Vec<u32>,
    lookups: Vec<Lookup>,
    found: Vec<u32>,
    passed: Vec<Passed>,
    /// The probe's wide signature at each width, widest first.
    wide: Vec<Vec<u64>>,
}

/// The first place of an ascending list whose slot is at least `slot`. Lists are samples of all
/// slots, so the place is close to where proportion says; from there the step doubles.
#[inline]
fn first_at_least(list: &[u32], slot: u32, all: &Range<u32>) -> usize {
    let share = u64::from(slot.saturating_sub(all.start)) * list.len() as u64;
    let guess = (share / u64::from((all.end - all.start).max(1))).min(list.len() as u64 - 1);
    let guess = guess as usize;
    let (mut low, mut high) = (guess, guess);
    let mut step = 8;
    if list[guess] < slot {
        while high < list.len() && list[high] < slot {
            low = high;
            high += step;
            step *= 2;
        }
        high = high.min(list.len());
    } else {
        while low > 0 && list[low] >= slot {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
    }
    low + list[low..high].partition_point(|&other| other < slot)
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared<'a>) -> Self {
        let slots = &shared.plan.posting_slots;
        Self {
            shared,
            counters: Counters::default(),
            row: Row::default(),
            first_of_smallest: 0,
            size: 0,
            prefix: 0,
            taken_by: vec![0; (slots.end - slots.start) as usize],
            lookups: Vec::new(),
            found: Vec::new(),
            passed: Vec::new(),
            wide: Vec::new(),
        }
    }

    pub fn into_counters(self) -> Counters {
        self.counters
    }

    /// Finds the partners of each record of a range.
    pub fn probe_all(&mut self, records: Range<u32>, matches: &mut Vec<Match>) {
        let shelf = self.shared.block.shelf;
        let collection = shelf.collection;
        let side = shelf.probing_side();
        for record in records {
            if collection.side(record) != side {
                continue;
            }
            let size = collection.size(record);
            if size != self.size {
                self.size = size;
                self.row.prepare(self.shared.bounds, side, size);
                self.prefix = self.shared.bounds.probe_prefix(side, size);
                self.first_of_smallest = collection.first_of_size(self.row.smallest());
            }
            let window = self.shared.block.window(record, self.first_of_smallest);
            if window.is_empty() || self.prefix == 0 {
                continue;
            }
            let before = matches.len();
            if self.shared.plan.by_columns(size) {
                self.by_columns(record, window, matches);
            } else {
                if self.shared.postings.len() > FETCH_FROM {
                    self.fetch_ahead(record);
                }
                self.by_postings(record, window, matches);
            }
            self.counters.results += (matches.len() - before) as u64;
        }
    }

    /// Asks for what later probes will read: the ends of their lists, then the lists.
    #[inline]
    fn fetch_ahead(&self, record: u32) {
        let collection = self.shared.block.shelf.collection;
        let postings = self.shared.postings;
        let first_shared = collection.first_shared();
        let most = FETCHED_TOKENS.min(self.prefix as usize);
        let prefix = |record: u32| {
            let tokens = collection.record(record);
            tokens[..most.min(tokens.len())].iter().filter(move |&&token| token >= first_shared)
        };
        if ((record + 6) as usize) < collection.len() {
            prefix(record + 6).for_each(|&token| postings.fetch_ends(token));
            prefix(record + 3).for_each(|&token| {
                let list = postings.list(token);
                prefetch(&postings.slots, list.start);
                prefetch(&postings.signatures, list.start);
            });
        }
    }

    fn by_columns(&mut self, record: u32, window: Range<u32>, matches: &mut Vec<Match>) {
        let Shared { block, columns, kernel, .. } = *self.shared;
        let shelf = block.shelf;
        let tokens = shelf.collection.record(record);
        self.counters.comparisons += u64::from(window.end - window.start);
        self.make_wide(tokens);
        for segment in &columns.segments {
            let slots = segment.slots.start.max(window.start)..segment.slots.end.min(window.end);
            if slots.is_empty() {
                continue;
            }
            let probe = self
                .wide
                .iter()
                .find(|signature| signature.len() <= segment.words)
                .expect("a probe has every width down to one word");
            let step = BLOCKS_AT_ONCE * LANES as u32;
            let mut at = slots.start;
            while at < slots.end {
                let aligned = at - (at - segment.slots.start) % LANES as u32;
                let end = (aligned + step).min(slots.end);
                let limit = self.row.most_different(shelf.size(end - 1));
                let (first, words) = columns.blocks(segment, &(at..end));
                self.found.clear();
                kernel.scan_columns(probe, words, limit, &mut self.found);
                for &place in &self.found {
                    let slot = first + place;
                    if !(at..end).contains(&slot) {
                        continue;
                    }
                    self.counters.candidates += 1;
                    let indexed = shelf.record(slot);
                    let partner = shelf.collection.record(indexed);
                    let required = self.row.required(partner.len() as u32);
                    if let Some(overlap) = kernel.overlap_at_least(tokens, partner, required) {
                        matches.push(Match { probe: record, indexed, overlap });
                    }
                }
                at = end;
            }
        }
    }

    fn by_postings(&mut self, record: u32, window: Range<u32>, matches: &mut Vec<Match>) {
        let Shared { block, postings, rows, totals, kernel, plan, .. } = *self.shared;
        let shelf = block.shelf;
        let collection = shelf.collection;
        let tokens = collection.record(record);
        let size = tokens.len() as u32;
        let most_different = self.row.most_different(size);

        self.lookups.clear();
        let first_shared = collection.first_shared();
        let far = postings.len() > FETCH_FROM;
        for (position, &token) in tokens[..self.prefix as usize].iter().enumerate() {
            if token >= first_shared {
                let list = postings.list(token);
                if far {
                    prefetch(&postings.slots, list.start);
                    prefetch(&postings.slots, list.end.wrapping_sub(1));
                    prefetch(&postings.signatures, list.start);
                }
                self.lookups.push(Lookup { position: position as u32, signature: 0, list });
            }
        }
        self.lookups.retain_mut(|lookup| {
            let slots = &postings.slots[lookup.list.clone()];
            match (slots.first(), slots.last()) {
                (Some(&first), Some(&last)) if first < window.end && last >= window.start => {}
                _ => return false,
            }
            if slots.len() > LONG_LIST {
                let start = first_at_least(slots, window.start, &plan.posting_slots);
                let end = first_at_least(slots, window.end, &plan.posting_slots);
                lookup.list = lookup.list.start + start..lookup.list.start + end;
            }
            !lookup.list.is_empty()
        });
        let mut signature = totals[record as usize];
        let mut from = 0;
        for lookup in &mut self.lookups {
            let end = lookup.position as usize + 1;
            let next = &tokens[from..end];
            signature = next.iter().fold(signature, |bits, &token| bits ^ narrow_bit(token));
            lookup.signature = signature;
            from = end;
        }
        // Rarest first, which is also first in the record.
        self.passed.clear();
        for lookup in &self.lookups {
            let Some(limit) = most_different.checked_sub(lookup.position) else { break };
            let list = lookup.list.clone();
            self.counters.comparisons += list.len() as u64;
            let query = PostingQuery { signature: lookup.signature, limit };
            self.found.clear();
            kernel.filter_postings(
                query,
                &postings.signatures[list.clone()],
                &postings.positions[list.clone()],
                &mut self.found,
            );
            for &place in &self.found {
                let at = list.start + place as usize;
                let slot = postings.slots[at];
                if !window.contains(&slot) {
                    continue;
                }
                let taken = &mut self.taken_by[(slot - plan.posting_slots.start) as usize];
                if *taken != record + 1 {
                    *taken = record + 1;
                    self.passed.push(Passed {
                        slot,
                        probe_position: lookup.position,
                        position: postings.positions[at],
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
            if probe_position + required > size || u32::from(position) + required > partner_size {
                continue;
            }
            if let Some(row) = rows.row(slot) {
                if !wide_made {
                    self.make_wide(tokens);
                    wide_made = true;
                }
                let probe = self
                    .wide
                    .iter()
                    .find(|signature| signature.len() <= row.len())
                    .expect("a probe has every width down to one word");
                if kernel.difference(probe, row) + 2 * required > size + partner_size {
                    continue;
                }
            }
            self.counters.candidates += 1;
            let partner = collection.record(indexed);
            let found = if position < 255 {
                // Nothing before the first shared token is shared.
                let (x, y) = (probe_position as usize, usize::from(position));
                kernel.overlap_at_least(&tokens[x..], &partner[y..], required)
            } else {
                kernel.overlap_at_least(tokens, partner, required)
            };
            if let Some(overlap) = found {
                matches.push(Match { probe: record, indexed, overlap });
            }
        }
    }

    fn make_wide(&mut self, tokens: &[u32]) {
        let widest = self.shared.plan.words(tokens.len() as u32);
        let mut words = widest;
        let mut at = 0;
        while words > 0 {
            if self.wide.len() == at {
                self.wide.push(Vec::new());
            }
            if at == 0 {
                self.wide[0].resize(words, 0);
                signature::make(&mut self.wide[0], tokens);
            } else {
                let (before, after) = self.wide.split_at_mut(at);
                after[0].clone_from(&before[at - 1]);
                signature::fold(&mut after[0], words);
            }
            words /= 2;
            at += 1;
        }
        self.wide.truncate(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn proportional_search_agrees_with_bisection(
            list in proptest::collection::btree_set(10_u32..400, 1..90),
            slot in 0_u32..450,
        ) {
            let list = Vec::from_iter(list);
            let expected = list.partition_point(|&other| other < slot);
            prop_assert_eq!(first_at_least(&list, slot, &(10..400)), expected);
        }
    }
}
