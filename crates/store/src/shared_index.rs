//! The index of originals that all threads share, and what the writer does to it in a transaction.
//!
//! Why a check beside a commit sees the originals before it or those after it: at every moment the index has all originals
//! of the committed state. A transaction puts new originals in at once, where the database hides them until the commit
//! ([`crate::judge`] asks it about every candidate), and takes old ones out only after the commit ([`TurnIndex`]). So the
//! index may have too much, which does no harm, and never too little.
//!
//! A check asks the index, then reads a state of the database, which may be a later one. If the index did not change in
//! between, the answer holds for that state. If it did, the index is asked again; and if originals were taken out
//! since just before the state was read, another state is read.
//!
//! Where other processes write too, the state may be one whose changes are not in the index yet. They are read with it,
//! from the outbox, and laid over the answer ([`Newer`]).
//!
//! Cost: nothing for a transaction that takes no place from an original; for a check beside a writer a second query of the
//! index, 3 to 6 microseconds, when the first one found candidates.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use wonbon_index::{Closest, CopyIndex, IndexError, Match, MemoryIndex, Row};
use wonbon_rule::Kind;
use wonbon_time::Timestamp;

use crate::error::StoreError;
use crate::tables::{Reading, RowChange};

/// The index of originals that all threads share.
#[derive(Debug)]
pub(crate) struct SharedIndex {
    index: Arc<RwLock<MemoryIndex>>,
    /// How often it changed, and how often originals were taken out after a commit. Written under the lock of the index.
    changes: AtomicU64,
    removals: AtomicU64,
    /// The last change of the database that is in it.
    applied: AtomicU64,
    /// The latest time that was given to anything, in microseconds.
    clock: AtomicI64,
    /// No copy was created later than this. Only a hint: it never falls.
    latest_copy: AtomicI64,
    /// How many turns this process made, and how often it read everything again.
    turns: AtomicU64,
    begun_anew: AtomicU64,
}

/// What the index answered at one moment.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) closest: Closest,
    changes: u64,
    /// The last change that was in the index.
    pub(crate) applied: u64,
}

/// A moment before a state of the database is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeforeReading(u64);

impl SharedIndex {
    pub(crate) fn new(index: MemoryIndex, applied: u64) -> Self {
        SharedIndex {
            index: Arc::new(RwLock::new(index)),
            changes: AtomicU64::new(0),
            removals: AtomicU64::new(0),
            applied: AtomicU64::new(applied),
            clock: AtomicI64::new(i64::MIN),
            latest_copy: AtomicI64::new(i64::MIN),
            turns: AtomicU64::new(0),
            begun_anew: AtomicU64::new(0),
        }
    }

    /// The last change of the database that is in it.
    pub(crate) fn applied(&self) -> u64 {
        self.applied.load(Ordering::Acquire)
    }

    /// How many turns this process made.
    pub(crate) fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// How often this process read everything again: its outbox did not go back far enough, or it was another history.
    pub(crate) fn begun_anew(&self) -> u64 {
        self.begun_anew.load(Ordering::Relaxed)
    }

    /// Learns when a copy was created.
    pub(crate) fn note_latest_copy(&self, created: Option<Timestamp>) {
        if let Some(created) = created {
            self.latest_copy.fetch_max(created.as_microseconds(), Ordering::AcqRel);
        }
    }

    /// Whether a document created then arrives after a copy that was created later.
    pub(crate) fn is_late(&self, created: Timestamp) -> bool {
        created.as_microseconds() < self.latest_copy.load(Ordering::Acquire)
    }

    /// Learns of a time that was given to a document.
    pub(crate) fn note_clock(&self, clock: Timestamp) {
        self.clock.fetch_max(clock.as_microseconds(), Ordering::AcqRel);
    }

    /// A time after all that were given to documents so far.
    pub(crate) fn after_all(&self) -> Timestamp {
        let given = self.clock.load(Ordering::Acquire).saturating_add(1);
        Timestamp::now().max(Timestamp::from_microseconds(given))
    }

    /// The index itself.
    pub(crate) fn memory(&self) -> &Arc<RwLock<MemoryIndex>> {
        &self.index
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, MemoryIndex> {
        self.index.read().expect("no one panics with it")
    }

    fn write(&self) -> RwLockWriteGuard<'_, MemoryIndex> {
        let index = self.index.write().expect("no one panics with it");
        self.changes.fetch_add(1, Ordering::AcqRel);
        index
    }

    /// The originals that agree most with these features, `most` at the most.
    pub(crate) fn closest(&self, features: &[u64], most: usize) -> Result<Answer, IndexError> {
        let index = self.read();
        let changes = self.changes.load(Ordering::Acquire);
        let applied = self.applied();
        Ok(Answer { closest: index.closest(features, most)?, changes, applied })
    }

    /// To be taken before a state of the database is read for [`SharedIndex::closest_in`].
    pub(crate) fn before_reading(&self) -> BeforeReading {
        BeforeReading(self.removals.load(Ordering::Acquire))
    }

    /// The originals that agree most, among them all that agree in the state of the database that was read after `before`;
    /// none if that state is too old. `answer` is what the index said before, if it was asked.
    pub(crate) fn closest_in(
        &self,
        before: BeforeReading,
        answer: Option<Answer>,
        features: &[u64],
        most: usize,
    ) -> Result<Option<Closest>, IndexError> {
        if let Some(answer) = answer
            && answer.changes == self.changes.load(Ordering::Acquire)
        {
            return Ok(Some(answer.closest));
        }
        let index = self.read();
        match self.removals.load(Ordering::Acquire) == before.0 {
            true => index.closest(features, most).map(Some),
            false => Ok(None),
        }
    }

    /// The same where other processes write too; it reads the changes that are not in the index from this state.
    pub(crate) fn closest_in_shared(
        &self,
        database: &dyn Reading,
        features: &[u64],
        most: usize,
    ) -> Result<Option<Closest>, StoreError> {
        let before = self.applied();
        let mut changes = database.row_changes_after(before)?;
        let state = changes.last().map_or(before, |change| change.change);
        let index = self.read();
        let applied = self.applied();
        if state < applied {
            return Ok(None);
        }
        changes.retain(|change| change.change > applied);
        Ok(Some(Newer::new(&changes).closest(&index, features, most)?))
    }

    /// Puts in what other processes did, up to a change.
    pub(crate) fn follow(
        &self,
        changes: &[RowChange],
        last: u64,
        clock: Timestamp,
    ) -> Result<(), IndexError> {
        let newer = Newer::new(changes);
        let mut index = self.write();
        self.removals.fetch_add(1, Ordering::AcqRel);
        for (row, features) in &newer.before {
            if let Some(features) = features {
                index.remove(*row, features)?;
            }
        }
        for (row, features) in &newer.originals {
            index.insert(*row, features)?;
        }
        self.applied.store(last, Ordering::Release);
        self.note_clock(clock);
        Ok(())
    }

    /// Puts another index in its place.
    pub(crate) fn replace(&self, index: MemoryIndex, applied: u64) {
        let mut place = self.write();
        self.removals.fetch_add(1, Ordering::AcqRel);
        *place = index;
        self.begun_anew.fetch_add(1, Ordering::Relaxed);
        self.applied.store(applied, Ordering::Release);
    }
}

/// Changes that are not in the index.
#[derive(Debug)]
struct Newer<'a> {
    /// The documents that changed, with their features if they were originals before the first change.
    before: HashMap<Row, Option<&'a [u64]>>,
    /// Those that are originals now.
    originals: HashMap<Row, &'a [u64]>,
}

impl<'a> Newer<'a> {
    fn new(changes: &'a [RowChange]) -> Self {
        let mut newer = Newer { before: HashMap::new(), originals: HashMap::new() };
        for RowChange { row, before, present, .. } in changes {
            newer.before.entry(*row).or_insert(before.as_deref());
            if let Some(present) = present.as_ref().filter(|now| now.kind == Kind::Original) {
                newer.originals.insert(*row, &present.features);
            }
        }
        newer
    }

    /// The originals that agree most, over an index of the state before.
    fn closest(
        &self,
        index: &MemoryIndex,
        features: &[u64],
        most: usize,
    ) -> Result<Closest, IndexError> {
        let mut closest = index.closest(features, most.saturating_add(self.before.len()))?;
        if self.before.is_empty() {
            return Ok(closest);
        }
        closest.matches.retain(|found| !self.before.contains_key(&found.row));
        let least = index.params().agreeing;
        for (&row, has) in &self.originals {
            let agreeing = has.iter().zip(features).filter(|(one, two)| one == two).count();
            if agreeing >= least {
                closest.matches.push(Match { row, agreeing });
            }
        }
        closest.matches.sort_unstable_by_key(|found| (Reverse(found.agreeing), found.row));
        if closest.matches.len() > most {
            closest.matches.truncate(most);
            closest.complete = false;
        }
        Ok(closest)
    }
}

/// The index as it is in the writer's transaction, its turn.
#[derive(Debug)]
pub(crate) struct TurnIndex {
    shared: Arc<SharedIndex>,
    /// Originals that the transaction put into the shared index.
    inserted: HashMap<Row, Vec<u64>>,
    /// Originals of the shared index that are none in the transaction.
    removed: HashMap<Row, Vec<u64>>,
}

impl TurnIndex {
    pub(crate) fn new(shared: Arc<SharedIndex>) -> Self {
        TurnIndex { shared, inserted: HashMap::new(), removed: HashMap::new() }
    }

    pub(crate) fn shared(&self) -> &SharedIndex {
        &self.shared
    }

    /// Puts in an original.
    pub(crate) fn insert(&mut self, row: Row, features: &[u64]) -> Result<(), IndexError> {
        // Taken out before and the same again: it is still there.
        if self.removed.get(&row).is_some_and(|known| known == features) {
            self.removed.remove(&row);
            return Ok(());
        }
        self.shared.write().insert(row, features)?;
        self.inserted.insert(row, features.to_vec());
        Ok(())
    }

    /// Takes out an original: at once when nobody else knows it, otherwise after the commit.
    pub(crate) fn remove(&mut self, row: Row, features: &[u64]) -> Result<(), IndexError> {
        if self.inserted.remove(&row).is_some() {
            self.shared.write().remove(row, features)?;
        } else {
            self.removed.insert(row, features.to_vec());
        }
        Ok(())
    }

    /// The originals that agree most. A document that has other features now may be there twice; that with the number of
    /// agreeing features it really has is the one that counts.
    pub(crate) fn closest(&self, features: &[u64], most: usize) -> Result<Closest, IndexError> {
        let index = self.shared.read();
        let mut closest = index.closest(features, most + self.removed.len())?;
        drop(index);
        if !self.removed.is_empty() {
            let gone =
                |row: &Row| self.removed.contains_key(row) && !self.inserted.contains_key(row);
            closest.matches.retain(|found| !gone(&found.row));
            if closest.matches.len() > most {
                closest.matches.truncate(most);
                closest.complete = false;
            }
        }
        Ok(closest)
    }

    /// The transaction was committed, up to this change.
    pub(crate) fn committed(&mut self, last: u64, clock: Timestamp) -> Result<(), IndexError> {
        self.inserted.clear();
        self.shared.note_clock(clock);
        self.shared.turns.fetch_add(1, Ordering::Relaxed);
        if self.removed.is_empty() {
            // What the transaction put in was there before.
            self.shared.applied.store(last, Ordering::Release);
            return Ok(());
        }
        let mut index = self.shared.write();
        self.shared.removals.fetch_add(1, Ordering::AcqRel);
        for (row, features) in self.removed.drain() {
            index.remove(row, &features)?;
        }
        self.shared.applied.store(last, Ordering::Release);
        Ok(())
    }

    /// The transaction was taken back.
    pub(crate) fn take_back(&mut self) -> Result<(), IndexError> {
        self.removed.clear();
        if self.inserted.is_empty() {
            return Ok(());
        }
        let mut index = self.shared.write();
        for (row, features) in self.inserted.drain() {
            index.remove(row, &features)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use wonbon_index::IndexParams;

    use super::*;

    const PARAMS: IndexParams = IndexParams { features: 3, agreeing: 1 };

    fn agreeing(one: &[u64], other: &[u64]) -> usize {
        one.iter().zip(other).filter(|(one, other)| one == other).count()
    }

    /// Rows that agree, after what the database says of them.
    fn found(closest: Closest, state: &BTreeMap<u32, Vec<u64>>, asked: &[u64]) -> Vec<u32> {
        let true_ones = closest.matches.into_iter().filter(|found| {
            state.get(&found.row.0).is_some_and(|has| agreeing(has, asked) == found.agreeing)
        });
        let mut rows: Vec<u32> = true_ones.map(|found| found.row.0).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    fn expected(state: &BTreeMap<u32, Vec<u64>>, asked: &[u64]) -> Vec<u32> {
        let agree = state.iter().filter(|(_, has)| agreeing(has, asked) > 0);
        agree.map(|(row, _)| *row).collect()
    }

    proptest! {
        /// The writer sees the state of its transaction, others that before it until it ends.
        #[test]
        fn all_originals_of_a_state_are_found_in_it(
            steps in prop::collection::vec(
                (0_u32..6, prop::option::of(prop::collection::vec(0_u64..3, 3)), 0_u8..8), 1..60),
            asked in prop::collection::vec(0_u64..3, 3),
        ) {
            let shared = Arc::new(SharedIndex::new(MemoryIndex::new(PARAMS).unwrap(), 0));
            let mut turn = TurnIndex::new(shared.clone());
            let mut committed: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
            let mut state = committed.clone();
            for (row, features, end) in steps {
                if let Some(old) = state.remove(&row) {
                    turn.remove(Row(row), &old).unwrap();
                }
                if let Some(features) = features {
                    turn.insert(Row(row), &features).unwrap();
                    state.insert(row, features);
                }
                match end {
                    0 => {
                        turn.take_back().unwrap();
                        state = committed.clone();
                    }
                    1 | 2 => {
                        // Between the commit and what follows it, the index has both states.
                        let both = shared.closest(&asked, 100).unwrap().closest;
                        prop_assert_eq!(found(both, &state, &asked), expected(&state, &asked));
                        turn.committed(1, Timestamp::from_microseconds(0)).unwrap();
                        committed = state.clone();
                    }
                    _ => {}
                }
                let mine = turn.closest(&asked, 100).unwrap();
                prop_assert_eq!(found(mine, &state, &asked), expected(&state, &asked));
                let theirs = shared.closest(&asked, 100).unwrap().closest;
                prop_assert_eq!(found(theirs, &committed, &asked), expected(&committed, &asked));
                if end < 3 {
                    prop_assert_eq!(shared.read().len(), committed.len());
                }
            }
        }
    }

    #[test]
    fn a_state_from_before_a_removal_is_too_old() {
        let shared = Arc::new(SharedIndex::new(MemoryIndex::new(PARAMS).unwrap(), 0));
        let mut turn = TurnIndex::new(shared.clone());
        turn.insert(Row(1), &[1, 2, 3]).unwrap();
        turn.committed(1, Timestamp::from_microseconds(0)).unwrap();
        let answer = || shared.closest(&[1, 2, 3], 10).unwrap();
        let ask = |before, answer| shared.closest_in(before, answer, &[1, 2, 3], 10).unwrap();
        let (before, early) = (shared.before_reading(), answer());
        turn.insert(Row(2), &[1, 2, 3]).unwrap();
        assert_eq!(ask(before, Some(early)).unwrap().matches.len(), 2, "it is asked again");
        turn.remove(Row(1), &[1, 2, 3]).unwrap();
        assert_eq!(ask(before, None).unwrap().matches.len(), 2, "until the commit");
        let early = answer();
        turn.committed(1, Timestamp::from_microseconds(0)).unwrap();
        assert!(ask(before, Some(early)).is_none());
        assert_eq!(ask(shared.before_reading(), Some(answer())).unwrap().matches.len(), 1);
    }
}
