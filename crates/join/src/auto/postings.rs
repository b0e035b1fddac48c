//! The inverted index: for each shared token, the slots that have it in their prefix.
//!
//! A posting is two words: the signature of the record's tokens *behind* the posting, and slot
//! and position. So a short list is one line of the processor's cache, and eight postings are
//! two loads. Lists are by ascending slot, so by size.
//!
//! All lists live in one array; how long each becomes is counted before ([`Counted`]). A worker
//! with a segment of probes for itself adds each record after it has probed, as the paper's
//! algorithms do, so that a probe sees only what came before it. Where probes are interleaved
//! ([`super::segments`]), threads first fill the array together: each has a piece of the slots,
//! and where its postings go in each list follows from the counts. Either way a worker keeps for
//! each list the part its probes still look at ([`Ends`]): the front falls behind as windows
//! move on, the back grows as records are passed. A list without earlier records, the most
//! common kind, is then told by the ends alone.
//!
//! Cost: 16 bytes a posting, 4 bytes a shared token, and 8 more for each thread; 4 bytes a shared
//! token and thread while counting.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::atomic_view;
use super::plan::Plan;
use super::shelf::ShelfBlock;

use crate::bounds::Bounds;
use crate::parallel::{on_threads, piece};
use crate::vector::{Kernel, narrow_bit, posting};

/// The first tokens of slots are asked for so many slots ahead.
const SLOTS_AHEAD: u32 = 12;

/// How many postings each shared token has in the prefixes of some slots.
pub(super) struct Counted {
    pub slots: Range<u32>,
    pub lengths: Vec<u32>,
}

impl Counted {
    /// No slots.
    pub(super) fn nothing(block: &ShelfBlock<'_>) -> Self {
        let collection = block.shelf.collection;
        let lists = collection.vocabulary() - collection.first_shared();
        Self { slots: 0..0, lengths: vec![0; lists as usize] }
    }

    /// Counts over other slots: what they have in common with the old ones is not read again.
    pub(super) fn move_to(&mut self, block: &ShelfBlock<'_>, bounds: &Bounds, slots: Range<u32>) {
        let lengths = &mut self.lengths;
        let kept = slots.start.max(self.slots.start)..slots.end.min(self.slots.end);
        let length = |slots: &Range<u32>| slots.end.saturating_sub(slots.start);
        if 2 * length(&kept) < length(&self.slots) || kept.is_empty() {
            if !self.slots.is_empty() {
                lengths.fill(0);
            }
            for_each_token(block, bounds, slots.clone(), |list| lengths[list] += 1);
        } else {
            for left in [self.slots.start..kept.start, kept.end..self.slots.end] {
                for_each_token(block, bounds, left, |list| lengths[list] -= 1);
            }
            for new in [slots.start..kept.start, kept.end..slots.end] {
                for_each_token(block, bounds, new, |list| lengths[list] += 1);
            }
        }
        self.slots = slots;
    }

    /// Where each list begins when one follows the other, and how many postings there are.
    pub(super) fn lay_out(&self) -> (Vec<Ends>, usize) {
        let mut next = 0;
        let begin = |&length: &u32| {
            let ends = Ends { head: next, tail: next };
            next += length;
            ends
        };
        let ends = self.lengths.iter().map(begin).collect();
        (ends, next as usize)
    }
}

/// One array for all threads, and where its lists begin.
#[derive(Default)]
pub(super) struct Postings {
    starts: Vec<u32>,
    /// Two words a posting.
    words: Vec<u64>,
}

/// The part of a list that probes still look at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    pub head: u32,
    pub tail: u32,
}

impl Postings {
    /// Fills the one index that the plan asks for, if it does.
    pub(super) fn build(
        block: &ShelfBlock<'_>,
        bounds: &Bounds,
        plan: &mut Plan,
        kernel: Kernel,
    ) -> Self {
        if plan.posting_slots.is_empty() || plan.segments.is_some() {
            return Self::default();
        }
        let mut cursors: Vec<_> =
            std::mem::take(&mut plan.counted).into_iter().map(|part| part.lengths).collect();
        let lists = cursors[0].len();
        let mut next = 0_u32;
        let mut starts = Vec::with_capacity(lists);
        for list in 0..lists {
            starts.push(next);
            for part in &mut cursors {
                (part[list], next) = (next, next + part[list]);
            }
        }
        let mut words = vec![0; 2 * next as usize];
        let cells = atomic_view::of_u64(&mut words);
        let parts = cursors.len();
        let cursors: Vec<_> = cursors.into_iter().map(std::sync::Mutex::new).collect();
        on_threads(parts, |number| {
            let mut cursors = cursors[number].lock().expect("each thread has its own");
            for slot in piece(&plan.posting_slots, number, parts) {
                block.shelf.fetch(slot + SLOTS_AHEAD);
                if !has_postings(block, bounds, slot) {
                    continue;
                }
                let total = kernel.narrow_signature(block.shelf.tokens(slot));
                for_each_posting(block, bounds, slot, total, |list, [first, second]| {
                    let at = 2 * cursors[list] as usize;
                    cursors[list] += 1;
                    cells[at].store(first, Ordering::Relaxed);
                    cells[at + 1].store(second, Ordering::Relaxed);
                });
            }
        });
        Self { starts, words }
    }

    /// All lists before the first probe: nothing to look at yet.
    pub(super) fn ends(&self) -> Vec<Ends> {
        self.starts.iter().map(|&start| Ends { head: start, tail: start }).collect()
    }

    /// The postings.
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Whether a slot has a posting at all: its prefix ends with its most frequent token.
#[inline]
pub(super) fn has_postings(block: &ShelfBlock<'_>, bounds: &Bounds, slot: u32) -> bool {
    let shelf = block.shelf;
    let tokens = shelf.tokens(slot);
    let prefix = bounds.index_prefix(shelf.side, tokens.len() as u32) as usize;
    prefix > 0 && tokens[prefix - 1] >= shelf.collection.first_shared()
}

/// Calls `each` with list and posting for each shared token in the prefix of a slot, whose
/// tokens have the signature `total`.
#[inline]
pub(super) fn for_each_posting(
    block: &ShelfBlock<'_>,
    bounds: &Bounds,
    slot: u32,
    total: u64,
    mut each: impl FnMut(usize, [u64; 2]),
) {
    let shelf = block.shelf;
    let first_shared = shelf.collection.first_shared();
    let tokens = shelf.tokens(slot);
    let prefix = bounds.index_prefix(shelf.side, tokens.len() as u32);
    let mut signature = total;
    for (position, &token) in tokens[..prefix as usize].iter().enumerate() {
        signature ^= narrow_bit(token);
        if token >= first_shared {
            let posting = posting(signature, slot, position as u32);
            each((token - first_shared) as usize, posting);
        }
    }
}

/// Calls `each` with the list of each shared token in the prefixes of some slots.
#[inline]
pub(super) fn for_each_token(
    block: &ShelfBlock<'_>,
    bounds: &Bounds,
    slots: Range<u32>,
    mut each: impl FnMut(usize),
) {
    let shelf = block.shelf;
    let first_shared = shelf.collection.first_shared();
    for slot in slots {
        shelf.fetch(slot + SLOTS_AHEAD);
        let tokens = shelf.tokens(slot);
        let prefix = bounds.index_prefix(shelf.side, tokens.len() as u32);
        for &token in &tokens[..prefix as usize] {
            if token >= first_shared {
                each((token - first_shared) as usize);
            }
        }
    }
}
