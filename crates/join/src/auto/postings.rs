//! The immutable inverted index: for each shared token, the slots that have it in their prefix.
//!
//! Three arrays side by side instead of records of 16 bytes, so that eight signatures are one
//! load: the signature of the record's tokens *behind* the posting, the position (at most 255;
//! smaller than the truth is safe) and the slot. Lists are by ascending slot, so by size.
//!
//! Threads fill it together: each has a piece of the slots, and where its postings go in each
//! list follows from the lengths counted before.

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::atomic_view;
use super::plan::Plan;
use super::shelf::ShelfBlock;

use crate::bounds::Bounds;
use crate::parallel::{on_threads, piece};
use crate::vector::{narrow_bit, prefetch};

/// The index over one block.
#[derive(Default)]
pub(super) struct Postings {
    first_shared: u32,
    starts: Vec<u32>,
    pub signatures: Vec<u64>,
    pub slots: Vec<u32>,
    pub positions: Vec<u8>,
}

impl Postings {
    /// Builds the index that the plan asks for; uses up the plan's counts.
    pub fn build(block: &ShelfBlock<'_>, bounds: &Bounds, plan: &Plan, totals: &[u64]) -> Self {
        if plan.posting_slots.is_empty() {
            return Self::default();
        }
        let shelf = block.shelf;
        let first_shared = shelf.collection.first_shared();
        let mut cursors = plan.list_lengths.clone();
        let lists = cursors[0].len();
        let mut starts = Vec::with_capacity(lists + 1);
        let mut next = 0_u32;
        for list in 0..lists {
            starts.push(next);
            for part in &mut cursors {
                let length = part[list];
                part[list] = next;
                next += length;
            }
        }
        starts.push(next);
        let count = next as usize;
        let mut signatures = vec![0; count];
        let mut slots = vec![0; count];
        let mut positions = vec![0; count];
        let parts = cursors.len();
        {
            let signatures = atomic_view::of_u64(&mut signatures);
            let slots = atomic_view::of_u32(&mut slots);
            let positions = atomic_view::of_u8(&mut positions);
            let cursors: Vec<_> = cursors.into_iter().map(std::sync::Mutex::new).collect();
            let fill = |number: usize| {
                let mut cursors = cursors[number].lock().expect("each thread has its own");
                for slot in piece(&plan.posting_slots, number, parts) {
                    let record = shelf.record(slot);
                    let tokens = shelf.collection.record(record);
                    let prefix = bounds.index_prefix(shelf.side, tokens.len() as u32);
                    let mut signature = totals[record as usize];
                    for (position, &token) in tokens[..prefix as usize].iter().enumerate() {
                        signature ^= narrow_bit(token);
                        if token < first_shared {
                            continue;
                        }
                        let cursor = &mut cursors[(token - first_shared) as usize];
                        let at = *cursor as usize;
                        *cursor += 1;
                        signatures[at].store(signature, Ordering::Relaxed);
                        slots[at].store(slot, Ordering::Relaxed);
                        positions[at].store(position.min(255) as u8, Ordering::Relaxed);
                    }
                }
            };
            on_threads(parts, fill);
        }
        Self { first_shared, starts, signatures, slots, positions }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The places of a shared token's postings.
    #[inline]
    pub fn list(&self, token: u32) -> Range<usize> {
        let at = (token - self.first_shared) as usize;
        self.starts[at] as usize..self.starts[at + 1] as usize
    }
    /// Asks the processor for the ends of a shared token's list.
    #[inline]
    pub fn fetch_ends(&self, token: u32) {
        prefetch(&self.starts, (token - self.first_shared) as usize);
    }
}
