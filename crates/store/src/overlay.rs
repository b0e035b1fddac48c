//! The index of originals as it is in a turn or in a check: the shared index and what is not in it yet.
//!
//! Why: others ask the shared index while a turn decides. It changes at one moment, after the commit, so a check sees the
//! originals before the turn or those after it, and never some that were taken out in between. Until then the changes
//! are here. A check uses the same overlay for changes that are committed and not in the shared index yet.
//!
//! Cost: an insert is a look-up for each feature; a query of an empty overlay is one of the shared index.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use wonbon_index::{Closest, CopyIndex, IndexError, IndexParams, Match, MemoryIndex, Row};
use wonbon_rule::Kind;
use wonbon_time::Timestamp;

use crate::copy_features::CopyFeatures;
use crate::tables::RowChange;

/// The index of originals that all threads share, how far it is, and the latest time that was given to anything.
#[derive(Debug)]
pub(crate) struct SharedIndex {
    pub(crate) index: Arc<RwLock<MemoryIndex>>,
    /// Changed and read only under the lock of the index, except by who only wants to know about how far it is.
    applied: AtomicU64,
    clock: AtomicI64,
}

impl SharedIndex {
    pub(crate) fn new(index: MemoryIndex, applied: u64) -> Self {
        SharedIndex {
            index: Arc::new(RwLock::new(index)),
            applied: AtomicU64::new(applied),
            clock: AtomicI64::new(i64::MIN),
        }
    }

    /// Learns of a time that was given to a document.
    pub(crate) fn note_clock(&self, clock: Timestamp) {
        self.clock.fetch_max(clock.as_microseconds(), Ordering::AcqRel);
    }

    /// The last change that is in it.
    pub(crate) fn applied(&self) -> u64 {
        self.applied.load(Ordering::Acquire)
    }

    /// A time after all that were given to documents so far.
    pub(crate) fn after_all(&self) -> Timestamp {
        let given = self.clock.load(Ordering::Acquire).saturating_add(1);
        Timestamp::now().max(Timestamp::from_microseconds(given))
    }

    /// The originals that agree most, and the change up to which that is true.
    pub(crate) fn closest(
        &self,
        features: &[u64],
        most: usize,
    ) -> Result<(Closest, u64), IndexError> {
        let index = self.index.read().expect("no one panics with it");
        Ok((index.closest(features, most)?, self.applied()))
    }

    /// Puts in what a turn, or others, did up to a change.
    pub(crate) fn apply(
        &self,
        overlay: &mut Overlay,
        change: u64,
        clock: Timestamp,
    ) -> Result<(), IndexError> {
        let mut index = self.index.write().expect("no one panics with it");
        for (row, features) in overlay.removed.drain() {
            index.remove(row, &features)?;
        }
        overlay.inserted.drain(|row, features| index.insert(row, features))?;
        self.applied.store(change, Ordering::Release);
        self.note_clock(clock);
        Ok(())
    }

    /// Puts another index in its place.
    pub(crate) fn replace(&self, index: MemoryIndex, change: u64) {
        let mut place = self.index.write().expect("no one panics with it");
        *place = index;
        self.applied.store(change, Ordering::Release);
    }
}

/// What is not in the shared index yet.
#[derive(Debug)]
pub(crate) struct Overlay {
    params: IndexParams,
    inserted: CopyFeatures,
    /// Originals of the shared index that are none any more.
    removed: HashMap<Row, Vec<u64>>,
}

impl Overlay {
    pub(crate) fn new(params: IndexParams) -> Self {
        let inserted = CopyFeatures::new(params.features);
        Overlay { params, inserted, removed: HashMap::new() }
    }

    /// The overlay of these changes over an index of the state before them.
    pub(crate) fn of_changes(params: IndexParams, changes: &[RowChange]) -> Self {
        let mut overlay = Overlay::new(params);
        for RowChange { row, before, present, .. } in changes {
            // The first change of a document says what it was; all say what it is now.
            let before = before.as_deref().unwrap_or_default();
            overlay.removed.entry(*row).or_insert_with(|| before.to_vec());
            if let Some(present) = present.as_ref().filter(|now| now.kind == Kind::Original) {
                overlay.inserted.insert(*row, &present.features);
            }
        }
        overlay
    }

    /// Forgets that there is anything to take out of the shared index which never was in it.
    pub(crate) fn keep_known(&mut self) {
        self.removed.retain(|_, features| !features.is_empty());
    }

    pub(crate) fn insert(&mut self, row: Row, features: &[u64]) {
        self.inserted.insert(row, features);
    }

    /// Takes out an original of the overlay or of the shared index.
    pub(crate) fn remove(&mut self, row: Row, features: &[u64]) {
        if !self.inserted.remove(row) {
            self.removed.insert(row, features.to_vec());
        }
    }

    pub(crate) fn clear(&mut self) {
        self.inserted = CopyFeatures::new(self.params.features);
        self.removed.clear();
    }

    /// The originals that agree most, over a shared index.
    pub(crate) fn closest(
        &self,
        index: &MemoryIndex,
        features: &[u64],
        most: usize,
    ) -> Result<Closest, IndexError> {
        if features.is_empty() || (self.inserted.is_empty() && self.removed.is_empty()) {
            return index.closest(features, most);
        }
        let mut closest = index.closest(features, most.saturating_add(self.removed.len()))?;
        closest.matches.retain(|found| !self.removed.contains_key(&found.row));
        let inserted = self.inserted.matches_counted(features, self.params.agreeing);
        closest.matches.extend(inserted.map(|(row, agreeing)| Match { row, agreeing }));
        closest.matches.sort_unstable_by_key(|found| (Reverse(found.agreeing), found.row));
        if closest.matches.len() > most {
            closest.matches.truncate(most);
            closest.complete = false;
        }
        Ok(closest)
    }
}

/// The index that a decision asks.
#[derive(Clone, Copy)]
pub(crate) struct IndexView<'a> {
    pub(crate) index: &'a RwLock<MemoryIndex>,
    pub(crate) overlay: Option<&'a Overlay>,
}

impl IndexView<'_> {
    /// The originals that agree most.
    pub(crate) fn closest(&self, features: &[u64], most: usize) -> Result<Closest, IndexError> {
        let index = self.index.read().expect("no one panics with it");
        match self.overlay {
            Some(overlay) => overlay.closest(&index, features, most),
            None => index.closest(features, most),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PARAMS: IndexParams = IndexParams { features: 3, agreeing: 1 };

    proptest! {
        /// An index with an overlay answers as the index does once the overlay was put in.
        #[test]
        fn an_overlay_is_seen_as_if_it_was_in_the_index(
            before in prop::collection::btree_map(0_u32..20, prop::collection::vec(0_u64..5, 3), 0..20),
            after in prop::collection::btree_map(0_u32..20, prop::collection::vec(0_u64..5, 3), 0..20),
            asked in prop::collection::vec(0_u64..5, 3),
        ) {
            let mut base = MemoryIndex::new(PARAMS).unwrap();
            for (row, features) in &before {
                base.insert(Row(*row), features).unwrap();
            }
            let shared = SharedIndex::new(base, 7);
            let mut overlay = Overlay::new(PARAMS);
            for (row, features) in &before {
                if after.get(row) != Some(features) {
                    overlay.remove(Row(*row), features);
                }
            }
            for (row, features) in &after {
                if before.get(row) != Some(features) {
                    overlay.insert(Row(*row), features);
                }
            }
            let view = IndexView { index: &shared.index, overlay: Some(&overlay) };
            let seen = view.closest(&asked, 100).unwrap();
            shared.apply(&mut overlay, 8, Timestamp::from_microseconds(0)).unwrap();
            let (put_in, applied) = shared.closest(&asked, 100).unwrap();
            prop_assert_eq!(seen.matches, put_in.matches);
            prop_assert_eq!(applied, 8);
            let rows: Vec<u32> = after
                .iter()
                .filter(|(_, has)| has.iter().zip(&asked).any(|(one, other)| one == other))
                .map(|(row, _)| *row)
                .collect();
            let (mut found, _) = shared.closest(&asked, 100).unwrap();
            found.matches.sort_unstable_by_key(|found| found.row);
            prop_assert_eq!(found.matches.iter().map(|found| found.row.0).collect::<Vec<_>>(), rows);
        }
    }
}
