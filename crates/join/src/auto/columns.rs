//! Wide signatures of many records: as columns for scanning, as rows for looking one up.
//!
//! Records of one width form a segment; widths grow with size, so there are few segments. In
//! *columns*, eight records stand side by side, word by word, so that one vector holds the
//! same word of eight records. In *rows*, the words of a record follow each other.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::atomic_view;
use super::plan::Plan;
use super::shelf::ShelfBlock;
use crate::parallel::{on_threads, piece};
use crate::vector::{Kernel, LANES};

/// Slots whose signatures have the same width.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub slots: Range<u32>,
    pub words: usize,
    /// Where its words begin.
    base: usize,
}

fn segments(block: &ShelfBlock<'_>, plan: &Plan, slots: &Range<u32>) -> (Vec<Segment>, usize) {
    let mut segments: Vec<Segment> = Vec::new();
    let mut base = 0;
    let mut at = slots.start;
    while at < slots.end {
        let words = plan.words(block.shelf.size(at));
        // The first slot with wider signatures, by bisection: sizes ascend.
        let (mut low, mut high) = (at + 1, slots.end);
        while low < high {
            let middle = low.midpoint(high);
            if plan.words(block.shelf.size(middle)) > words {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        segments.push(Segment { slots: at..low, words, base });
        base += (low - at).next_multiple_of(LANES as u32) as usize * words;
        at = low;
    }
    (segments, base)
}

/// Signatures for scanning.
#[derive(Default)]
pub(super) struct Columns {
    pub segments: Vec<Segment>,
    words: Vec<u64>,
    /// Where they begin: at a line of the cache, so that no vector lies in two.
    start: usize,
}

/// Words in a line of the cache, which is what a vector of eight takes.
const LINE: usize = 64 / size_of::<u64>();

impl Columns {
    pub(super) fn build(
        block: &ShelfBlock<'_>,
        plan: &Plan,
        threads: usize,
        kernel: Kernel,
    ) -> Self {
        let (segments, count) = segments(block, plan, &plan.column_slots);
        let mut words: Vec<u64> = vec![0; count + LINE];
        let start = words.as_ptr().align_offset(64).min(LINE);
        let cells = &atomic_view::of_u64(&mut words)[start..];
        on_threads(if count == 0 { 1 } else { threads }, |number| {
            let mut row = Vec::new();
            for segment in &segments {
                row.resize(segment.words, 0);
                for slot in piece(&segment.slots, number, threads) {
                    kernel.wide_signature(&mut row, block.shelf.tokens(slot));
                    let place = (slot - segment.slots.start) as usize;
                    let at = segment.base + place / LANES * LANES * segment.words + place % LANES;
                    for (word, &value) in row.iter().enumerate() {
                        cells[at + word * LANES].store(value, Ordering::Relaxed);
                    }
                }
            }
        });
        Self { segments, words, start }
    }

    /// Copies the signature of a slot, if it is here as wide as asked for.
    pub(super) fn copy_signature(&self, slot: u32, signature: &mut [u64]) -> bool {
        let Some(segment) = self.segments.iter().find(|segment| segment.slots.contains(&slot))
        else {
            return false;
        };
        if segment.words != signature.len() {
            return false;
        }
        let place = (slot - segment.slots.start) as usize;
        let at = segment.base + place / LANES * LANES * segment.words + place % LANES;
        let words = &self.words[self.start + at..];
        for (word, &value) in signature.iter_mut().zip(words.iter().step_by(LANES)) {
            *word = value;
        }
        true
    }

    /// The blocks of a segment from the one with `slots.start` to the one with the last slot,
    /// and the slot their first lane holds.
    #[inline]
    pub(super) fn blocks(&self, segment: &Segment, slots: &Range<u32>) -> (u32, &[u64]) {
        let first = (slots.start - segment.slots.start) as usize / LANES;
        let end = ((slots.end - segment.slots.start) as usize).div_ceil(LANES);
        let block_words = LANES * segment.words;
        let base = self.start + segment.base;
        let words = &self.words[base + first * block_words..base + end * block_words];
        (segment.slots.start + (first * LANES) as u32, words)
    }
}

/// Rows narrower than this say little that the narrow signature did not.
const LEAST_ROW: usize = 8;

/// Signatures for looking one up, for slots that need wide ones.
#[derive(Default)]
pub(super) struct Rows {
    segments: Vec<Segment>,
    words: Vec<u64>,
}

impl Rows {
    /// Builds rows for the slots that are found by postings, if their signatures are wide.
    pub(super) fn build(
        block: &ShelfBlock<'_>,
        plan: &Plan,
        threads: usize,
        kernel: Kernel,
    ) -> Self {
        let (mut segments, count) = segments(block, plan, &plan.posting_slots);
        if segments.iter().all(|segment| segment.words < LEAST_ROW) {
            segments.clear();
            return Self::default();
        }
        let mut words = vec![0; count];
        let cells = atomic_view::of_u64(&mut words);
        on_threads(threads, |number| {
            let mut row = Vec::new();
            for segment in segments.iter().filter(|segment| segment.words >= LEAST_ROW) {
                row.resize(segment.words, 0);
                for slot in piece(&segment.slots, number, threads) {
                    kernel.wide_signature(&mut row, block.shelf.tokens(slot));
                    let at = segment.base + (slot - segment.slots.start) as usize * segment.words;
                    for (word, &value) in row.iter().enumerate() {
                        cells[at + word].store(value, Ordering::Relaxed);
                    }
                }
            }
        });
        Self { segments, words }
    }

    /// The wide signature of a slot, if it has one.
    #[inline]
    pub(super) fn row(&self, slot: u32) -> Option<&[u64]> {
        let segment = self.segments.iter().find(|segment| segment.slots.contains(&slot))?;
        if segment.words < LEAST_ROW {
            return None;
        }
        let at = segment.base + (slot - segment.slots.start) as usize * segment.words;
        Some(&self.words[at..at + segment.words])
    }
}
