//! Which way for which size of probe: estimated cost of postings against columns.
//!
//! The estimate counts what the inner loops will do. By columns: slots in the window times
//! words of signature. By postings: lists visited, postings in the window, and records that
//! pass the narrow signature where it is too narrow to say much. The lengths of the lists are
//! counted exactly, one pass over the prefixes; a few probes of each group of sizes are looked
//! at. The prices were measured (see `docs/join.md`); being wrong costs time, never pairs.

use std::ops::Range;

use super::Way;
use super::postings::Counted;
use super::segments::Beginning;
use super::shelf::ShelfBlock;
use super::signature::{MOST_WORDS, words_for};
use super::steps::Steps;
use crate::bounds::{Bounds, Row};
use crate::collection::Side;
use crate::parallel::{on_threads, piece};

/// Nanoseconds to see that a list is empty, and to visit one.
const EMPTY_LIST: f64 = 11.0;
const LIST: f64 = 47.0;
/// Nanoseconds to put a posting into the index.
const BUILT_POSTING: f64 = 28.0;
/// An index of so many postings (16 MB) lies far from the processor: to look at a list or to put a posting
/// in takes so many times as long.
const FAR_FROM: u64 = 1 << 20;
const FAR: f64 = 1.7;
/// Nanoseconds for a posting tested eight at a time.
const POSTING: f64 = 0.65;
/// Nanoseconds for a posting whose record the narrow signature does not rule out.
const PASSED: f64 = 12.0;
/// Nanoseconds for a slot and a word of columns, and for a slot.
const COLUMN_WORD: f64 = 0.05;
const COLUMN_SLOT: f64 = 0.04;
/// Nanoseconds for a token of a record in its wide signature, once as probe and once stored.
const WIDE_TOKEN: f64 = 0.9;
/// By how much columns are dearer where signatures rule nothing out.
const USELESS: f64 = 100.0;
/// Two ways together must cost less than this part of the better one alone.
const MIXED_PAYS: f64 = 0.7;
/// Probes looked at in each group of sizes.
const SAMPLES: u32 = 12;

/// What to build and which way to go for each probe size.
pub(super) struct Plan {
    /// By probe size: whether columns are used.
    by_columns: Vec<bool>,
    /// Words of signature by size, never falling.
    words: Vec<u16>,
    /// Slots that some probe will look at by postings.
    pub posting_slots: Range<u32>,
    /// Slots that some probe will look at by columns.
    pub column_slots: Range<u32>,
    /// How long lists will be, for each thread: over the slots of its segment, or over its
    /// piece of `posting_slots` where probes are interleaved.
    pub counted: Vec<Counted>,
    /// How many postings that is, windows before segments not counted again.
    pub postings_count: u64,
    /// A range of probes for each thread, with an index of its own; none if probes are
    /// interleaved and look at one index.
    pub segments: Option<Vec<Range<u32>>>,
    /// Estimated nanoseconds of the probes.
    pub costs: Steps,
}

/// How much work there is and who can do it.
pub(super) struct Conditions<'a> {
    pub beginning: &'a Beginning<'a>,
    pub threads: usize,
    /// Whether threads may have an index each.
    pub may_segment: bool,
}

/// Words of signature that records of a size should have; none where signatures say nothing.
pub(super) fn signature_words(bounds: &Bounds, side: Side, size: u32) -> Option<usize> {
    let required = bounds.required(side, size, size);
    words_for(size, (2 * size).saturating_sub(2 * required.min(size)))
}

impl Plan {
    pub(super) fn new(
        block: &ShelfBlock<'_>,
        bounds: &Bounds,
        way: Way,
        conditions: &Conditions<'_>,
    ) -> Self {
        let shelf = block.shelf;
        let collection = shelf.collection;
        let side = shelf.probing_side();
        let largest = collection.largest_size() as usize;
        let (words, useful) = widths(block, bounds);
        let probes = block.probes();
        let rough = rough_costs(block, bounds);
        let segments = Some(conditions.beginning.cut(&rough, conditions.threads))
            .filter(|segments| conditions.may_segment && conditions.beginning.pays(segments));
        let mut plan = Self {
            by_columns: vec![way == Way::Columns; largest + 1],
            words,
            posting_slots: block.slots.start..block.slots.start,
            column_slots: block.slots.start..block.slots.start,
            counted: Vec::new(),
            postings_count: 0,
            segments,
            costs: Steps::from(probes.start),
        };
        let all_slots = block.slots_of(bounds, &probes);
        if way != Way::Columns {
            plan.count(block, bounds, &all_slots, conditions.threads);
        }
        // Windows before segments are counted twice, which the estimate should not see.
        let twice: u32 = plan.counted.iter().map(|part| part.slots.end - part.slots.start).sum();
        let once = f64::from(all_slots.end - all_slots.start) / f64::from(twice.max(1));
        let mut groups = Vec::new();
        let mut row = Row::default();
        let mut at = probes.start;
        while at < probes.end {
            // A group: sizes within a tenth of each other.
            let size = collection.size(at);
            let end = collection.first_of_size(size + size / 10 + 1).min(probes.end);
            let records = at..end;
            at = end;
            let mut costs = Costs::default();
            if way == Way::Fastest {
                let step = ((end - records.start) / SAMPLES).max(1);
                for record in records.clone().step_by(step as usize) {
                    costs.add(plan.costs_of(block, bounds, &mut row, record, once));
                }
                costs.by_columns *= f64::from(step);
                costs.by_postings *= f64::from(step);
                let middle = collection.size(records.start.midpoint(end - 1));
                if !useful[middle as usize] {
                    costs.by_columns *= USELESS;
                }
            }
            groups.push((records, costs));
        }
        let choice = choose(way, groups.iter().map(|(_, costs)| costs));
        let mut postings = ranges_empty();
        let mut columns = ranges_empty();
        for (records, costs) in groups {
            let by_columns = match choice {
                Way::Columns => true,
                Way::Postings => false,
                Way::Fastest => costs.by_columns < costs.by_postings,
            };
            let cost = if by_columns { costs.by_columns } else { costs.by_postings };
            plan.costs.extend(records.end, cost / f64::from(records.end - records.start));
            let (smallest, largest) =
                (collection.size(records.start), collection.size(records.end - 1));
            for size in smallest..=largest {
                plan.by_columns[size as usize] = by_columns;
            }
            let partner = bounds.smallest_partner(side, smallest);
            let slots = block.window(records.end - 1, collection.first_of_size(partner));
            let range = if by_columns { &mut columns } else { &mut postings };
            range.start = range.start.min(slots.start);
            range.end = range.end.max(slots.end);
        }
        if way != Way::Fastest {
            plan.costs = rough;
        }
        if postings.is_empty() {
            plan.counted.clear();
            plan.postings_count = 0;
            plan.segments = None;
        } else {
            if postings != all_slots {
                plan.counted.clear();
                plan.count(block, bounds, &postings, conditions.threads);
            }
            if let Some(segments) = &mut plan.segments {
                *segments = conditions.beginning.cut(&plan.costs, conditions.threads);
            }
            plan.posting_slots = postings;
        }
        if !columns.is_empty() {
            plan.column_slots = columns;
        }
        plan
    }

    /// Whether probes of this size go by columns.
    #[inline]
    pub(super) fn by_columns(&self, size: u32) -> bool {
        self.by_columns[size as usize]
    }

    /// Words of signature of records of this size.
    #[inline]
    pub(super) fn words(&self, size: u32) -> usize {
        usize::from(self.words[size as usize]).min(MOST_WORDS)
    }

    /// Counts the postings of these slots, each thread's part.
    fn count(
        &mut self,
        block: &ShelfBlock<'_>,
        bounds: &Bounds,
        slots: &Range<u32>,
        threads: usize,
    ) {
        let parts: Vec<Range<u32>> = match &self.segments {
            None => {
                let parts = threads.clamp(1, 8);
                (0..parts).map(|number| piece(slots, number, parts)).collect()
            }
            Some(segments) => segments
                .iter()
                .map(|segment| {
                    if segment.is_empty() {
                        return Range { start: slots.end, end: slots.start };
                    }
                    let part = block.slots_of(bounds, segment);
                    part.start.max(slots.start)..part.end.min(slots.end)
                })
                .collect(),
        };
        // Without the windows, the parts follow each other.
        let mut cuts = vec![slots.start];
        for part in &parts {
            cuts.push(part.end.max(cuts[cuts.len() - 1]));
        }
        cuts[parts.len()] = slots.end;
        let (counted, postings): (_, Vec<u64>) = on_threads(parts.len(), |number| {
            let mut counted = Counted::nothing(block);
            let alone = cuts[number]..cuts[number + 1];
            counted.move_to(block, bounds, alone.clone());
            let postings: u64 = counted.lengths.iter().map(|&length| u64::from(length)).sum();
            counted.move_to(block, bounds, parts[number].start.min(alone.start)..alone.end);
            (counted, postings)
        })
        .into_iter()
        .unzip();
        self.counted = counted;
        self.postings_count = postings.iter().sum();
    }

    /// Estimated nanoseconds by columns and by postings for one probe; so much of what was
    /// counted is there once.
    fn costs_of(
        &self,
        block: &ShelfBlock<'_>,
        bounds: &Bounds,
        row: &mut Row,
        record: u32,
        once: f64,
    ) -> Costs {
        let collection = block.shelf.collection;
        let first_shared = collection.first_shared();
        let side = block.shelf.probing_side();
        let size = collection.size(record);
        let prefix = bounds.probe_prefix(side, size);
        if prefix == 0 {
            return Costs::default();
        }
        row.prepare(bounds, side, size);
        let window = block.window(record, collection.first_of_size(row.smallest()));
        let slots = f64::from(window.end - window.start);
        let middle = row.smallest().midpoint(size);
        let by_columns = slots * (COLUMN_SLOT + COLUMN_WORD * self.words(middle) as f64)
            + WIDE_TOKEN * f64::from(size);

        let in_window = slots / f64::from((block.slots.end - block.slots.start).max(1));
        let allowed = f64::from(row.most_different(size));
        let indexed = bounds.index_prefix(block.shelf.side, size);
        let far = if self.postings_count > FAR_FROM { FAR } else { 1.0 };
        let mut by_postings = far * BUILT_POSTING * f64::from(indexed);
        for (i, &token) in collection.record(record)[..prefix as usize].iter().enumerate() {
            if token < first_shared {
                continue;
            }
            let at = (token - first_shared) as usize;
            let length: u32 = self.counted.iter().map(|part| part.lengths[at]).sum();
            let length = f64::from(length) * once;
            // Differing bits of one word when the rests share little.
            let rest = 1.75 * f64::from(size - i as u32) * 0.9;
            let odd = 0.5 * (1.0 - (-2.0 * rest / 64.0).exp());
            let expected = 64.0 * odd - 1.3 * (64.0 * odd * (1.0 - odd)).sqrt();
            let passes = expected + 1.3 * i as f64 <= allowed;
            let price = if passes { PASSED } else { POSTING };
            let visit = if length > 1.0 { LIST } else { EMPTY_LIST };
            by_postings += far * visit + length * in_window * price;
        }
        Costs { by_columns, by_postings }
    }
}

/// Estimated nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Costs {
    by_columns: f64,
    by_postings: f64,
}

impl Costs {
    fn add(&mut self, other: Costs) {
        self.by_columns += other.by_columns;
        self.by_postings += other.by_postings;
    }
}

/// One way for all sizes, unless going each group's faster way saves enough to build both.
fn choose<'a>(way: Way, groups: impl Iterator<Item = &'a Costs>) -> Way {
    if way != Way::Fastest {
        return way;
    }
    let (mut all, mut mixed) = (Costs::default(), 0.0);
    for costs in groups {
        all.add(*costs);
        mixed += costs.by_columns.min(costs.by_postings);
    }
    if mixed < MIXED_PAYS * all.by_columns.min(all.by_postings) {
        Way::Fastest
    } else if all.by_columns < all.by_postings {
        Way::Columns
    } else {
        Way::Postings
    }
}

/// What any range extends.
fn ranges_empty() -> Range<u32> {
    Range { start: u32::MAX, end: 0 }
}

/// Words of signature by size, and whether signatures are any use. Only sizes that occur are
/// looked at; those between them get what the next larger one has.
fn widths(block: &ShelfBlock<'_>, bounds: &Bounds) -> (Vec<u16>, Vec<bool>) {
    let collection = block.shelf.collection;
    let side = block.shelf.probing_side();
    let mut sizes = Vec::new();
    let mut at = 0;
    while (at as usize) < collection.len() {
        sizes.push(collection.size(at));
        at = collection.first_of_size(collection.size(at) + 1);
    }
    let largest = collection.largest_size() as usize;
    let mut words = vec![1_u16; largest + 1];
    let mut useful = vec![false; largest + 1];
    // The lower envelope from the largest size down: rounding makes single sizes stand out.
    let mut envelope = MOST_WORDS;
    for (at, &size) in sizes.iter().enumerate().rev() {
        let needed = signature_words(bounds, side, size);
        envelope = envelope.min(needed.unwrap_or(MOST_WORDS));
        let after = at.checked_sub(1).map_or(0, |before| sizes[before]) as usize + 1;
        useful[after..=size as usize].fill(needed.is_some());
        words[after..=size as usize].fill(envelope as u16);
    }
    (words, useful)
}

/// What the probes will cost by postings, guessed from their sizes alone.
fn rough_costs(block: &ShelfBlock<'_>, bounds: &Bounds) -> Steps {
    let collection = block.shelf.collection;
    let (side, indexed_side) = (block.shelf.probing_side(), block.shelf.side);
    let probes = block.probes();
    let mut costs = Steps::from(probes.start);
    let mut at = probes.start;
    while at < probes.end {
        let size = collection.size(at);
        at = collection.first_of_size(size + 1).min(probes.end);
        let indexed = BUILT_POSTING * f64::from(bounds.index_prefix(indexed_side, size));
        let looked_up = LIST * f64::from(bounds.probe_prefix(side, size));
        costs.extend(at, indexed + looked_up);
    }
    costs
}
