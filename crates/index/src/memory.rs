//! The index that Wonbon uses: in memory, exact, a few microseconds a check.
//!
//! The features of all originals stand in one flat list; beside it one table for each way to choose
//! z of the k places says which originals may have the same features there. Why not one table for
//! each feature: pages made from one template often share exactly one feature, all of them, and its
//! list would be walked by every check; a pair of features is shared only by documents that are
//! copies of each other.
//!
//! Cost: 8k + 4 bytes for the features and the row, and about 4.9 for each table: 125 for 2 of 6. A
//! check reads one cache line in each table and the features of the few slots that may fit.
//! Checks take `&self`: any number at a time.
//!
//! Guarantee: answers are exact, whatever was added and removed before.

use std::collections::HashSet;

use crate::key_table::{KeyTable, MOST_SLOTS};
use crate::subsets::{Subsets, agree, key};
use crate::{CopyIndex, IndexError, IndexParams, Match, Row};

/// Tables that are looked into together: all of 2 of 6.
const TABLES_AT_ONCE: usize = 15;

/// Originals by their features, in memory.
///
/// ```
/// use wonbon_index::{CopyIndex, IndexParams, MemoryIndex, Row};
/// let mut index = MemoryIndex::new(IndexParams::default())?;
/// index.insert(Row(7), &[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(index.matches(&[9, 2, 9, 9, 5, 9])?[0].row, Row(7));
/// assert!(index.matches(&[2, 9, 9, 9, 5, 9])?.is_empty());
/// # Ok::<(), wonbon_index::IndexError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryIndex {
    params: IndexParams,
    subsets: Subsets,
    /// The features of slot after slot.
    features: Vec<u64>,
    /// The row of each slot.
    rows: Vec<Row>,
    /// Slots whose original was removed: in no table, to be used again.
    removed: Vec<u32>,
    tables: Vec<KeyTable>,
}

impl MemoryIndex {
    /// An index without originals.
    ///
    /// # Errors
    ///
    /// [`IndexError::Params`] when there are no or too many ways to choose z of k.
    pub fn new(params: IndexParams) -> Result<Self, IndexError> {
        let subsets = Subsets::new(params)?;
        let tables = vec![KeyTable::new(); subsets.len()];
        Ok(MemoryIndex {
            params,
            subsets,
            features: Vec::new(),
            rows: Vec::new(),
            removed: Vec::new(),
            tables,
        })
    }

    /// An index of all these originals, built at once: several times faster than one by one.
    /// `features` are those of row after row.
    ///
    /// # Errors
    ///
    /// As [`MemoryIndex::new`] and [`CopyIndex::insert`].
    pub fn build(
        params: IndexParams,
        rows: Vec<Row>,
        features: Vec<u64>,
    ) -> Result<Self, IndexError> {
        let subsets = Subsets::new(params)?;
        if features.len() != rows.len() * params.features {
            return Err(IndexError::WrongLength {
                want: rows.len() * params.features,
                got: features.len(),
            });
        }
        if rows.len() > MOST_SLOTS {
            return Err(IndexError::Full { most: MOST_SLOTS });
        }
        let tables = (0..subsets.len())
            .map(|number| {
                let subset = subsets.get(number);
                let hashes: Vec<u64> =
                    features.chunks_exact(params.features).map(|one| key(one, subset)).collect();
                KeyTable::build(&hashes)
            })
            .collect();
        Ok(MemoryIndex { params, subsets, features, rows, removed: Vec::new(), tables })
    }

    /// The originals it holds, with their features, in no particular order.
    pub fn originals(&self) -> impl Iterator<Item = (Row, &[u64])> {
        let removed: HashSet<u32> = self.removed.iter().copied().collect();
        let features = self.features.chunks_exact(self.params.features);
        (0..)
            .zip(self.rows.iter().copied().zip(features))
            .filter(move |(slot, _)| !removed.contains(slot))
            .map(|(_, original)| original)
    }

    /// Bytes of memory, with what was reserved.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.features.capacity() * size_of::<u64>()
            + self.rows.capacity() * size_of::<Row>()
            + self.removed.capacity() * size_of::<u32>()
            + self.tables.iter().map(KeyTable::memory_bytes).sum::<usize>()
    }

    fn check_length(&self, features: &[u64]) -> Result<(), IndexError> {
        let (want, got) = (self.params.features, features.len());
        if want == got { Ok(()) } else { Err(IndexError::WrongLength { want, got }) }
    }

    fn slot_features(&self, slot: u32) -> &[u64] {
        slot_features(&self.features, self.params.features, slot)
    }

    /// Calls `each` with the slots that agree in all places of a subset, for one subset after
    /// another; stops when it returns `true`. A slot may come more than once.
    #[inline]
    fn for_each_agreeing(&self, features: &[u64], mut each: impl FnMut(u32) -> bool) {
        // Some tables at a time: what is not in the cache is fetched for all of them together.
        for (first, tables) in (0..).step_by(TABLES_AT_ONCE).zip(self.tables.chunks(TABLES_AT_ONCE))
        {
            let place = |at: usize| {
                let table = tables.get(at)?;
                Some(table.place(key(features, self.subsets.get(first + at))))
            };
            let places: [_; TABLES_AT_ONCE] = std::array::from_fn(place);
            for (number, place) in (first..).zip(places.into_iter().flatten()) {
                let subset = self.subsets.get(number);
                let mut stop = false;
                place.find(|slot| {
                    stop = agree(features, self.slot_features(slot), subset) && each(slot);
                    stop
                });
                if stop {
                    return;
                }
            }
        }
    }

    fn matched(&self, features: &[u64], slot: u32) -> Match {
        let stored = self.slot_features(slot);
        let agreeing = features.iter().zip(stored).filter(|(one, other)| one == other).count();
        Match { row: self.rows[slot as usize], agreeing }
    }
}

fn slot_features(features: &[u64], count: usize, slot: u32) -> &[u64] {
    &features[slot as usize * count..][..count]
}

impl CopyIndex for MemoryIndex {
    fn params(&self) -> IndexParams {
        self.params
    }

    fn matches(&self, features: &[u64]) -> Result<Vec<Match>, IndexError> {
        if features.is_empty() {
            return Ok(Vec::new());
        }
        self.check_length(features)?;
        let mut slots = Vec::new();
        self.for_each_agreeing(features, |slot| {
            slots.push(slot);
            false
        });
        slots.sort_unstable();
        slots.dedup();
        let mut matches: Vec<Match> =
            slots.into_iter().map(|slot| self.matched(features, slot)).collect();
        matches.sort_unstable();
        Ok(matches)
    }

    fn first_match(&self, features: &[u64]) -> Result<Option<Match>, IndexError> {
        if features.is_empty() {
            return Ok(None);
        }
        self.check_length(features)?;
        let mut first = None;
        self.for_each_agreeing(features, |slot| {
            first = Some(self.matched(features, slot));
            true
        });
        Ok(first)
    }

    fn insert(&mut self, row: Row, features: &[u64]) -> Result<(), IndexError> {
        self.check_length(features)?;
        let slot = match self.removed.pop() {
            Some(slot) => {
                let start = slot as usize * features.len();
                self.features[start..start + features.len()].copy_from_slice(features);
                self.rows[slot as usize] = row;
                slot
            }
            None if self.rows.len() == MOST_SLOTS => {
                return Err(IndexError::Full { most: MOST_SLOTS });
            }
            None => {
                grow_by_an_eighth(&mut self.features, features.len());
                grow_by_an_eighth(&mut self.rows, 1);
                self.features.extend_from_slice(features);
                self.rows.push(row);
                (self.rows.len() - 1) as u32
            }
        };
        let (all, count) = (&self.features, features.len());
        for (number, table) in self.tables.iter_mut().enumerate() {
            let subset = self.subsets.get(number);
            table.insert(key(features, subset), slot, |slot| {
                key(slot_features(all, count, slot), subset)
            });
        }
        Ok(())
    }

    fn remove(&mut self, row: Row, features: &[u64]) -> Result<bool, IndexError> {
        self.check_length(features)?;
        let mut found = None;
        self.tables[0].find(key(features, self.subsets.get(0)), |slot| {
            let there = self.rows[slot as usize] == row && self.slot_features(slot) == features;
            if there {
                found = Some(slot);
            }
            there
        });
        let Some(slot) = found else { return Ok(false) };
        for (number, table) in self.tables.iter_mut().enumerate() {
            let there = table.remove(key(features, self.subsets.get(number)), slot);
            debug_assert!(there, "a slot is in every table or in none");
        }
        self.removed.push(slot);
        Ok(true)
    }

    fn len(&self) -> usize {
        self.rows.len() - self.removed.len()
    }

    fn page_accesses(&self) -> u64 {
        0
    }
}

/// Makes room for `more` elements, growing by an eighth: doubling would leave half of the memory
/// unused.
fn grow_by_an_eighth<T>(list: &mut Vec<T>, more: usize) {
    if list.len() + more > list.capacity() {
        list.reserve_exact((list.len() / 8).max(64 * more));
    }
}
