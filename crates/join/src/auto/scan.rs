//! Partners by columns: some probes at a time, one tile of signatures after the other.
//!
//! The signatures in a window do not fit into the cache nearest to the processor, and reading
//! them from further away takes longer than comparing them. Consecutive probes look at nearly
//! the same window. So they wait until there are [`MOST_WAITING`] of them; then all of them look
//! at a tile before anybody looks at the next. Slots that pass are kept for each probe and
//! verified when all tiles are done, probe by probe, so that matches come in the order of probes.
//!
//! Cost: the wide signatures of the waiting probes and the slots that pass.

use std::ops::Range;

use super::probe::Shared;
use super::signature::Widths;
use crate::algorithm::{Counters, Match};
use crate::bounds::Row;
use crate::vector::LANES;

/// So many probes share a tile.
const MOST_WAITING: usize = 32;
/// Bytes of a tile: half of the nearest cache.
const TILE_BYTES: usize = 16 << 10;
/// At most so many slots are a tile: they share the limit of the largest.
const MOST_SLOTS: usize = 1024;
/// The first tokens of records to verify are asked for so many records ahead.
const RECORDS_AHEAD: usize = 4;

/// A probe that waits for its window to be looked at.
#[derive(Default)]
struct Probe {
    record: u32,
    window: Range<u32>,
    /// Which of the rows is for its size.
    row: usize,
    wide: Widths,
    /// Slots that passed, ascending.
    passed: Vec<u32>,
}

/// Probes waiting for each other.
#[derive(Default)]
pub(super) struct Scan {
    /// The first `waiting` are in use, the others keep their memory.
    probes: Vec<Probe>,
    waiting: usize,
    /// Likewise, one for each size among the probes.
    rows: Vec<Row>,
    sizes: usize,
    found: Vec<u32>,
}

impl Scan {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.waiting == MOST_WAITING
    }

    /// Adds a probe; probes come by ascending record.
    pub(super) fn add(&mut self, shared: &Shared<'_>, record: u32, window: Range<u32>) {
        let shelf = shared.block.shelf;
        let tokens = shelf.collection.record(record);
        let size = tokens.len() as u32;
        let same =
            self.waiting > 0 && shelf.collection.size(self.probes[self.waiting - 1].record) == size;
        if !same {
            if self.rows.len() == self.sizes {
                self.rows.push(Row::default());
            }
            self.rows[self.sizes].prepare(shared.bounds, shelf.probing_side(), size);
            self.sizes += 1;
        }
        if self.probes.len() == self.waiting {
            self.probes.push(Probe::default());
        }
        let probe = &mut self.probes[self.waiting];
        self.waiting += 1;
        probe.record = record;
        probe.window = window;
        probe.row = self.sizes - 1;
        probe.passed.clear();
        probe.wide.make(shared.plan.words(size), |signature| {
            // In a self join it mostly stands in the columns already.
            let own_slot = if shelf.is_whole() { Some(record) } else { None };
            if !own_slot.is_some_and(|slot| shared.columns.copy_signature(slot, signature)) {
                shared.kernel.wide_signature(signature, tokens);
            }
        });
    }

    /// Finds the partners of all waiting probes.
    pub(super) fn finish(
        &mut self,
        shared: &Shared<'_>,
        counters: &mut Counters,
        matches: &mut Vec<Match>,
    ) {
        let Shared { block, columns, kernel, .. } = *shared;
        let shelf = block.shelf;
        let (probes, rows) = (&mut self.probes[..self.waiting], &self.rows);
        let start = probes.iter().map(|probe| probe.window.start).min().unwrap_or(0);
        let end = probes.iter().map(|probe| probe.window.end).max().unwrap_or(0);
        for segment in &columns.segments {
            let slots = segment.slots.start.max(start)..segment.slots.end.min(end);
            let tile = (TILE_BYTES / 8 / segment.words).clamp(LANES, MOST_SLOTS) as u32;
            let mut at = slots.start;
            while at < slots.end {
                // Tiles begin at the same slots for whoever looks, so what passes is the same.
                let next = (at + tile - (at - segment.slots.start) % tile).min(segment.slots.end);
                for probe in &mut *probes {
                    let looked_at = at.max(probe.window.start)..next.min(probe.window.end);
                    if looked_at.is_empty() {
                        continue;
                    }
                    let wide = probe.wide.at_most(segment.words);
                    let limit = rows[probe.row].most_different(shelf.size(looked_at.end - 1));
                    let (first, words) = columns.blocks(segment, &looked_at);
                    self.found.clear();
                    kernel.scan_columns(wide, words, limit, &mut self.found);
                    let found = self.found.iter().map(|&place| first + place);
                    probe.passed.extend(found.filter(|slot| looked_at.contains(slot)));
                }
                at = next;
            }
        }
        for probe in &mut *probes {
            let tokens = shelf.collection.record(probe.record);
            counters.comparisons += u64::from(probe.window.end - probe.window.start);
            counters.candidates += probe.passed.len() as u64;
            for (at, &slot) in probe.passed.iter().enumerate() {
                if let Some(&later) = probe.passed.get(at + RECORDS_AHEAD) {
                    shelf.fetch(later);
                }
                let indexed = shelf.record(slot);
                let partner = shelf.collection.record(indexed);
                let required = rows[probe.row].required(partner.len() as u32);
                if let Some(overlap) = kernel.overlap_at_least(tokens, partner, required) {
                    matches.push(Match { probe: probe.record, indexed, overlap });
                }
            }
        }
        self.waiting = 0;
        self.sizes = 0;
    }
}
