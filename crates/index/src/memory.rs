//! The index that Wonbon uses: in memory, exact, a few microseconds a check.
//!
//! The features of all originals are in one flat array. For each way to choose z of the k places, a hash table says which
//! originals may have the same features there. Why not one table for each feature: all pages made from one template often
//! share exactly one feature, and every check would walk its list; a pair of features is shared only by documents that
//! are copies of each other.
//!
//! Thousands of pages made from one template can still agree in the same places. If there are
//! [`CROWD`](crate::key_table::CROWD) or more, their slots are kept in a separate list, so that they do not slow down
//! other look-ups, and [`MemoryIndex::closest`] visits a bounded number of them.
//!
//! Cost: 8k + 4 bytes for the features and the row, and about 4.9 for each table: 125 for 2 of 6, 237 for
//! the 18 bands of a threshold of 0.8. A check reads one cache line in each table and the features of the
//! few slots that may fit. Checks take `&self`: any number at a time.
//!
//! Guarantee: `matches` is exact, whatever was added and removed before; so is `closest` where it says
//! that it is complete.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::key_table::{CROWD, KeyTable, MOST_SLOTS};
use crate::subsets::{Subsets, agree, key};
use crate::{CopyIndex, IndexError, IndexParams, Match, Row};

/// Tables that are looked into together: all bands of a threshold of 0.8, and all pairs of 2 of 6.
const TABLES_AT_ONCE: usize = 18;

/// How many places in lists [`MemoryIndex::closest`] looks at: two milliseconds.
const MOST_HITS: usize = 1 << 16;

/// The originals that agree most with some features.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closest {
    /// They, those that agree in most places first, then in the order of their rows.
    pub matches: Vec<Match>,
    /// Whether these are all that agree in enough places.
    pub complete: bool,
}

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
    /// For each table, the slots of keys that have a crowd: in no table.
    crowds: Vec<HashMap<u64, Vec<u32>>>,
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
        let crowds = vec![HashMap::new(); subsets.len()];
        Ok(MemoryIndex {
            params,
            subsets,
            features: Vec::new(),
            rows: Vec::new(),
            removed: Vec::new(),
            tables,
            crowds,
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
        let mut crowds = vec![HashMap::new(); subsets.len()];
        let tables = crowds
            .iter_mut()
            .enumerate()
            .map(|(number, crowds)| {
                let subset = subsets.get(number);
                let hashes: Vec<u64> =
                    features.chunks_exact(params.features).map(|one| key(one, subset)).collect();
                KeyTable::build(&hashes, |key, slots| {
                    crowds.insert(key, slots.to_vec());
                })
            })
            .collect();
        Ok(MemoryIndex { params, subsets, features, rows, removed: Vec::new(), tables, crowds })
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
            + self.crowds.iter().flat_map(HashMap::values).map(Vec::capacity).sum::<usize>()
                * size_of::<u32>()
    }

    /// The originals that agree most with these features, `most` at the most. Looks at a bounded number of
    /// originals, those in the places that the fewest have in common first: what many have in common says
    /// little.
    ///
    /// # Errors
    ///
    /// [`IndexError::WrongLength`].
    pub fn closest(&self, features: &[u64], most: usize) -> Result<Closest, IndexError> {
        if features.is_empty() {
            return Ok(Closest { matches: Vec::new(), complete: true });
        }
        self.check_length(features)?;
        let mut slots = Vec::new();
        self.for_each_in_tables(features, |slot| {
            slots.push(slot);
            false
        });
        let mut crowds: Vec<&[u32]> = self.crowds_of(features).collect();
        crowds.sort_by_key(|crowd| crowd.len());
        let mut complete = true;
        for crowd in crowds {
            if slots.len() + crowd.len() > MOST_HITS {
                complete = false;
                break;
            }
            slots.extend_from_slice(crowd);
        }
        slots.sort_unstable();
        if slots.len() > most {
            // A slot stands there once for every subset in which it agrees: the more, the closer.
            let mut counted: Vec<(Reverse<usize>, u32)> = slots
                .chunk_by(|one, other| one == other)
                .map(|same| (Reverse(same.len()), same[0]))
                .collect();
            if counted.len() > most {
                complete = false;
                counted.select_nth_unstable(most);
                counted.truncate(most);
            }
            slots = counted.into_iter().map(|(_, slot)| slot).collect();
        } else {
            slots.dedup();
        }
        let mut matches: Vec<Match> =
            slots.into_iter().map(|slot| self.matched(features, slot)).collect();
        matches.sort_unstable_by_key(|found| (Reverse(found.agreeing), found.row));
        Ok(Closest { matches, complete })
    }

    /// The crowds that have the keys of these features.
    fn crowds_of(&self, features: &[u64]) -> impl Iterator<Item = &[u32]> {
        self.crowds.iter().enumerate().filter(|(_, crowds)| !crowds.is_empty()).filter_map(
            |(number, crowds)| {
                crowds.get(&key(features, self.subsets.get(number))).map(Vec::as_slice)
            },
        )
    }

    /// Takes the slots of a key out of their table if they are a crowd.
    fn separate_crowd(&mut self, number: usize, hash: u64) {
        let (subset, table) = (self.subsets.get(number), &mut self.tables[number]);
        let mut slots = Vec::new();
        table.find(hash, |slot| {
            let features = slot_features(&self.features, self.params.features, slot);
            if key(features, subset) == hash {
                slots.push(slot);
            }
            false
        });
        if slots.len() < CROWD {
            return;
        }
        for &slot in &slots {
            table.remove(hash, slot);
        }
        self.crowds[number].insert(hash, slots);
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
    fn for_each_agreeing(&self, features: &[u64], mut each: impl FnMut(u32) -> bool) {
        let mut stop = false;
        self.for_each_in_tables(features, |slot| {
            stop = each(slot);
            stop
        });
        if !stop {
            let _ = self.crowds_of(features).flatten().any(|&slot| each(slot));
        }
    }

    /// The same for the slots that stand in tables.
    #[inline]
    fn for_each_in_tables(&self, features: &[u64], mut each: impl FnMut(u32) -> bool) {
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
        for number in 0..self.tables.len() {
            let subset = self.subsets.get(number);
            let hash = key(features, subset);
            if let Some(crowd) = self.crowds[number].get_mut(&hash) {
                crowd.push(slot);
                continue;
            }
            let (all, count) = (&self.features, features.len());
            let hash_of = |slot: u32| key(slot_features(all, count, slot), subset);
            if self.tables[number].insert(hash, slot, hash_of) {
                self.separate_crowd(number, hash);
            }
        }
        Ok(())
    }

    fn remove(&mut self, row: Row, features: &[u64]) -> Result<bool, IndexError> {
        self.check_length(features)?;
        let is_it =
            |slot: u32| self.rows[slot as usize] == row && self.slot_features(slot) == features;
        let first = key(features, self.subsets.get(0));
        let mut found = None;
        match self.crowds[0].get(&first) {
            Some(crowd) => found = crowd.iter().copied().find(|&slot| is_it(slot)),
            None => self.tables[0].find(first, |slot| {
                found = found.or(is_it(slot).then_some(slot));
                found.is_some()
            }),
        }
        let Some(slot) = found else { return Ok(false) };
        for number in 0..self.tables.len() {
            let hash = key(features, self.subsets.get(number));
            let there = match self.crowds[number].get_mut(&hash) {
                Some(crowd) => {
                    let at = crowd.iter().position(|&other| other == slot);
                    at.map(|at| crowd.swap_remove(at)).is_some()
                }
                None => self.tables[number].remove(hash, slot),
            };
            debug_assert!(there, "a slot has a place for every subset or for none");
            if self.crowds[number].get(&hash).is_some_and(Vec::is_empty) {
                self.crowds[number].remove(&hash);
            }
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
