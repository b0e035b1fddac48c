//! The records that probes of one kind look at: all of them in a self join, those of the other
//! file otherwise. Each has a *slot* on the shelf, by ascending size.
//!
//! A shelf is cut into blocks of slots when an index over all of it would not fit in memory.

use std::ops::Range;

use super::{plan, signature};
use crate::bounds::Bounds;
use crate::collection::{Collection, Side};

/// Bytes of index a posting takes.
pub(super) const POSTING_BYTES: u64 = 16;

/// The records of one side.
pub(super) struct Shelf<'a> {
    pub collection: &'a Collection,
    pub side: Side,
    /// Records by slot; none in a self join, where the slot is the record.
    records: Option<Vec<u32>>,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(collection: &'a Collection, side: Side) -> Self {
        let records = collection.has_two_sides().then(|| {
            (0..collection.len() as u32).filter(|&record| collection.side(record) == side).collect()
        });
        Self { collection, side, records }
    }

    pub(super) fn len(&self) -> u32 {
        self.records.as_ref().map_or(self.collection.len(), Vec::len) as u32
    }

    /// Whether every record has a slot, with its own number: a self join.
    pub(super) fn is_whole(&self) -> bool {
        self.records.is_none()
    }

    #[inline]
    pub(super) fn record(&self, slot: u32) -> u32 {
        self.records.as_ref().map_or(slot, |records| records[slot as usize])
    }

    /// How many slots hold a record before this one.
    #[inline]
    pub(super) fn slots_before(&self, record: u32) -> u32 {
        match &self.records {
            None => record,
            Some(records) => records.partition_point(|&other| other < record) as u32,
        }
    }

    #[inline]
    pub(super) fn tokens(&self, slot: u32) -> &'a [u32] {
        self.collection.record(self.record(slot))
    }

    /// Asks the processor for the first tokens of a slot, if there is such a slot.
    #[inline]
    pub(super) fn fetch(&self, slot: u32) {
        match &self.records {
            None => self.collection.fetch(slot),
            Some(records) => {
                if let Some(&record) = records.get(slot as usize) {
                    self.collection.fetch(record);
                }
            }
        }
    }

    #[inline]
    pub(super) fn size(&self, slot: u32) -> u32 {
        self.collection.size(self.record(slot))
    }

    /// Which side's records look at this shelf.
    pub(super) fn probing_side(&self) -> Side {
        if self.records.is_some() { self.side.other() } else { self.side }
    }

    /// Cuts the slots so that the index over each block takes about so many bytes at most, its
    /// tables of lists included, and never has more postings than 32 bits count.
    pub(super) fn blocks(
        &self,
        bounds: &Bounds,
        index_bytes: u64,
        threads: usize,
    ) -> Vec<Range<u32>> {
        let most_bytes = index_bytes
            .saturating_sub(self.collection.list_table_bytes(threads))
            .max(index_bytes / 16)
            .min(u64::from(u32::MAX - 1) * POSTING_BYTES);
        let (mut blocks, mut start, mut bytes) = (Vec::new(), 0, 0);
        self.for_each_size(&(0..self.len()), |size, slots| {
            let prefix = u64::from(bounds.index_prefix(self.side, size));
            let words = plan::signature_words(bounds, self.side, size)
                .map_or(0, |words| words.min(signature::MOST_WORDS));
            let needs = prefix * POSTING_BYTES + words as u64 * 16 + 4;
            let mut at = slots.start;
            while u64::from(slots.end - at) * needs > most_bytes.saturating_sub(bytes) {
                // At least one slot to a block, or no block would ever do.
                let fit = most_bytes.saturating_sub(bytes) / needs;
                let fit = if at == start { fit.max(1) } else { fit };
                at += u32::try_from(fit).expect("fewer than the slots of this size");
                blocks.push(start..at);
                (start, bytes) = (at, 0);
            }
            bytes += u64::from(slots.end - at) * needs;
        });
        if start < self.len() {
            blocks.push(start..self.len());
        }
        blocks
    }

    /// Calls `each` with each size among these slots and the slots that have it.
    pub(super) fn for_each_size(&self, slots: &Range<u32>, mut each: impl FnMut(u32, Range<u32>)) {
        let mut at = slots.start;
        while at < slots.end {
            let size = self.size(at);
            let end = self.slots_before(self.collection.first_of_size(size + 1)).min(slots.end);
            each(size, at..end);
            at = end;
        }
    }
}

/// Some slots of a shelf and the records that may have partners among them.
pub(super) struct ShelfBlock<'a> {
    pub shelf: &'a Shelf<'a>,
    pub slots: Range<u32>,
    probes: Range<u32>,
}

impl<'a> ShelfBlock<'a> {
    pub(super) fn new(shelf: &'a Shelf<'a>, bounds: &Bounds, slots: Range<u32>) -> Self {
        let collection = shelf.collection;
        let side = shelf.probing_side();
        // Probes come after the first slot, and are at most so large that the last slot is
        // still large enough for them.
        let first = shelf.record(slots.start) + 1;
        let largest = shelf.size(slots.end - 1);
        let end = collection
            .sizes()
            .partition_point(|&size| bounds.smallest_partner(side, size) <= largest);
        Self { shelf, slots, probes: first..(end as u32).max(first) }
    }

    /// The records that look at this block (in a join of two files: those on the probing side).
    pub(super) fn probes(&self) -> Range<u32> {
        self.probes.clone()
    }

    pub(super) fn probe_count(&self) -> u32 {
        self.probes.end - self.probes.start
    }

    /// How many probes a thread takes at a time.
    pub(super) fn chunk(&self) -> u32 {
        (self.probe_count() / 512).clamp(16, 4096)
    }

    /// The slots of this block that probes of a range look at.
    pub(super) fn slots_of(&self, bounds: &Bounds, probes: &Range<u32>) -> Range<u32> {
        if probes.is_empty() {
            return self.slots.start..self.slots.start;
        }
        let collection = self.shelf.collection;
        let size = collection.size(probes.start);
        let smallest = bounds.smallest_partner(self.shelf.probing_side(), size);
        self.window(probes.end - 1, collection.first_of_size(smallest))
    }

    /// The slots of this block before `record` with a size of at least `smallest`.
    #[inline]
    pub(super) fn window(&self, record: u32, first_of_smallest: u32) -> Range<u32> {
        let end = self.shelf.slots_before(record).min(self.slots.end);
        let start = self.shelf.slots_before(first_of_smallest).max(self.slots.start);
        start..end.max(start)
    }
}
