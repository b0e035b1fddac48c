//! Keeps families correct: which documents must be judged again when one is added, edited or deleted.
//!
//! The promise: families depend only on the stored documents, not on the order in which they arrived or on what was deleted
//! since. They are the result of taking the documents from the earliest created to the latest and deciding for each whether
//! it copies an original before it. (Documents with the same creation time are taken in the order in which they were
//! stored.)
//!
//! How: whether a document is a copy depends only on the originals before it that the rule accepts. So when an original is
//! new, later originals and copies that the rule accepts are judged again; when an original is gone, its copies are judged
//! again. Each of them may become an original or cease to be one, which affects others. They are taken from the earliest
//! on, so this terminates. A document that arrives in the order of creation affects no other document.
//!
//! Decisions by people (see `decisions`) change the order and make some documents originals in any case; everything else
//! stays the same. So families depend on the documents and on the decisions in effect.
//!
//! Everything happens inside a turn of the writer. The index in memory follows it by [`TurnIndex`], so that checks see
//! the originals before the turn or those after it, and nothing is left of one that fails.

use std::collections::BTreeSet;
use std::sync::Arc;

use wonbon_index::{CopyIndex, IndexParams, Row};
use wonbon_sketch::ElementSet;
use wonbon_time::Timestamp;

use crate::copy_features::CopyFeatures;
use crate::document::Order;
use crate::error::StoreError;
use crate::index_loading::build_index;
use crate::judge::{Asked, Judge, Judgement, KnownResemblances, MOST_CANDIDATES, ShingleCache};
use crate::prepare::Preparer;
use crate::questions::resemblance_of_versions;
use crate::shared_index::{SharedIndex, TurnIndex};
use crate::tables::{Counters, News, Reading, Record, RowChange, Standing, Turn, Writing};
use wonbon_rule::{Kind, Rule, Verdict};

/// The writer's view of all families.
pub(crate) struct Families {
    pub(crate) database: Box<dyn Writing>,
    pub(crate) index: TurnIndex,
    rule: Rule,
    params: IndexParams,
    pub(crate) preparer: Preparer,
    shingles: ShingleCache,
    /// Built when first needed.
    copy_features: Option<CopyFeatures>,
    /// No copy was created later than this.
    latest_copy: Option<Timestamp>,
    /// As the last turn left them, and as the present one has them.
    settled: Counters,
    counters: Counters,
    /// The present, as the turn was told.
    now: Timestamp,
    /// Documents to judge again, the earliest first.
    again: BTreeSet<Order>,
    /// Whether candidates of the last arriving document were left unverified.
    pub(crate) stopped_early: bool,
}

impl Families {
    pub(crate) fn new(
        database: Box<dyn Writing>,
        index: Arc<SharedIndex>,
        counters: Counters,
        rule: Rule,
        preparer: Preparer,
    ) -> Result<Self, StoreError> {
        let params = index.read().params();
        let latest_copy = database.latest_copy()?;
        index.note_latest_copy(latest_copy);
        Ok(Families {
            index: TurnIndex::new(index),
            rule,
            params,
            preparer,
            shingles: ShingleCache::default(),
            copy_features: None,
            latest_copy,
            settled: counters,
            counters,
            now: counters.clock,
            again: BTreeSet::new(),
            stopped_early: false,
            database,
        })
    }

    /// The number of the last change that is durable.
    pub(crate) fn last_change(&self) -> u64 {
        self.settled.last_change
    }

    /// The number of the last change in the present turn.
    pub(crate) fn latest_change(&self) -> u64 {
        self.counters.last_change
    }

    /// The latest time that was given to anything durable.
    pub(crate) fn clock(&self) -> Timestamp {
        self.settled.clock
    }

    /// The row of the next new document.
    pub(crate) fn new_row(&mut self) -> Result<Row, StoreError> {
        let row = Row(self.counters.next_row);
        // The highest number is nobody's: checks use it for a document that is not stored.
        self.counters.next_row = row.0.checked_add(1).ok_or_else(|| StoreError::WriteFailed {
            what: "all numbers of documents are taken".to_owned(),
        })?;
        Ok(row)
    }

    /// A time for something that happens now: later than every time before.
    pub(crate) fn tick(&mut self) -> Timestamp {
        self.counters.tick(self.now)
    }

    /// Begins a turn that will ask for these keys: learns what others did.
    pub(crate) fn begin_turn(&mut self, keys: &[&str]) -> Result<(), StoreError> {
        let turn = self.database.begin_turn(self.settled.last_change, keys)?;
        self.now = turn.now;
        self.take_news(turn)?;
        self.counters = self.settled;
        Ok(())
    }

    /// Takes in what others did, between two turns.
    pub(crate) fn look(&mut self) -> Result<(), StoreError> {
        let seen = self.settled.last_change;
        match self.database.look(seen)? {
            None => Ok(()),
            Some(turn) if matches!(turn.news, News::Changes(_)) => self.take_news(turn),
            // Everything is read again, and nobody may write meanwhile.
            Some(_) => {
                let taken = self.begin_turn(&[]);
                self.take_back()?;
                taken
            }
        }
    }

    fn take_news(&mut self, turn: Turn) -> Result<(), StoreError> {
        // Read again after a failure, the clock of the tables may be behind.
        let clock = turn.counters.clock.max(self.settled.clock);
        let counters = Counters { clock, ..turn.counters };
        match turn.news {
            News::Changes(changes) => self.follow(&changes, counters),
            News::Unknown => self.load_anew(counters),
        }
    }

    /// Makes a turn durable; then everybody sees its originals.
    pub(crate) fn end_turn(&mut self) -> Result<(), StoreError> {
        self.database.end_turn(self.counters)?;
        self.settled = self.counters;
        let Counters { last_change, clock, .. } = self.settled;
        Ok(self.index.committed(last_change, clock)?)
    }

    /// Forgets what a turn did that failed.
    pub(crate) fn take_back(&mut self) -> Result<(), StoreError> {
        self.index.take_back()?;
        self.again.clear();
        self.copy_features = None;
        self.shingles.clear();
        self.counters = self.settled;
        self.database.take_back()
    }

    /// Takes in what others did, up to the change of these counters.
    pub(crate) fn follow(
        &mut self,
        changes: &[RowChange],
        counters: Counters,
    ) -> Result<(), StoreError> {
        for RowChange { row, present, .. } in changes {
            self.shingles.remove(*row);
            let copy = present.as_ref().filter(|now| Kind::is_copy(now.kind));
            self.latest_copy = self.latest_copy.max(copy.map(|copy| copy.created));
            if let Some(copies) = &mut self.copy_features {
                copies.remove(*row);
                if let Some(copy) = copy.filter(|copy| copy.kind == Kind::Copy) {
                    copies.insert(*row, &copy.features);
                }
            }
        }
        if self.settled.last_change != counters.last_change {
            self.index.shared().follow(changes, counters.last_change, counters.clock)?;
        }
        self.settled = counters;
        Ok(())
    }

    /// Reads everything in memory again.
    fn load_anew(&mut self, counters: Counters) -> Result<(), StoreError> {
        let index = build_index(&*self.database, self.params)?;
        self.index.shared().replace(index, counters.last_change);
        self.copy_features = None;
        self.shingles.clear();
        self.latest_copy = self.database.latest_copy()?;
        self.settled = counters;
        self.database.has_begun_anew();
        Ok(())
    }

    /// Reads ahead what the decision about these features will ask for.
    pub(crate) fn fetch_candidates<'f>(
        &self,
        features: impl Iterator<Item = &'f [u64]>,
    ) -> Result<(), StoreError> {
        if !self.database.fetches_ahead() {
            return Ok(());
        }
        let mut rows = BTreeSet::new();
        for features in features {
            let closest = self.index.closest(features, MOST_CANDIDATES)?;
            rows.extend(closest.matches.into_iter().map(|found| found.row));
        }
        let rows: Vec<Row> = rows.into_iter().collect();
        match rows.is_empty() {
            true => Ok(()),
            false => self.database.fetch(&rows, self.rule.least_resemblance() > 0.0),
        }
    }

    /// Stores a new document and decides what it is. Its standing is filled in. `known` is what its client compared it with.
    pub(crate) fn add(
        &mut self,
        record: &mut Record,
        shingles: Arc<ElementSet>,
        text: &[u8],
        known: Option<Arc<KnownResemblances>>,
    ) -> Result<(), StoreError> {
        self.shingles.know(known.map(|known| (record.row, known)));
        let judgement = self.judge_arriving(record, Some(shingles))?;
        self.database.insert(record, text)?;
        self.counters.last_change += 1;
        self.database.note_change(self.counters.last_change, record.row, None)?;
        self.take_place(record, judgement)?;
        self.judge_again(record)?;
        self.shingles.know(None);
        Ok(())
    }

    /// Makes a known document another and decides again what it is; `text` is its new one, if it has
    /// one.
    pub(crate) fn edit(
        &mut self,
        old: &Record,
        record: &mut Record,
        shingles: Arc<ElementSet>,
        text: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        self.leave_place(old)?;
        self.shingles.remove(old.row);
        if let Some(text) = text {
            let (before, ..) = self.preparer.shingles(&self.database.text(old.row)?);
            let resemblance = resemblance_of_versions(&before, &shingles);
            self.database.replace_text(old, text, resemblance)?;
        }
        let judgement = self.judge_arriving(record, Some(shingles))?;
        self.database.update(record)?;
        self.note_change(old)?;
        self.take_place(record, judgement)?;
        self.judge_again(record)
    }

    /// Gives a known document the place that what was decided of it asks for.
    pub(crate) fn decide(&mut self, old: &Record, record: &mut Record) -> Result<(), StoreError> {
        self.leave_place(old)?;
        let judgement = self.judge_arriving(record, None)?;
        self.database.update(record)?;
        self.note_change(old)?;
        self.take_place(record, judgement)?;
        self.judge_again(record)
    }

    /// Removes a document; its copies, if it has any, are judged again.
    pub(crate) fn delete(&mut self, record: &Record) -> Result<(), StoreError> {
        self.leave_place(record)?;
        self.shingles.remove(record.row);
        self.database.delete(record)?;
        self.note_change(record)?;
        self.judge_pending()
    }

    /// Notes that a document changed which was this before.
    fn note_change(&mut self, before: &Record) -> Result<(), StoreError> {
        self.counters.last_change += 1;
        let original = before.standing.kind == Kind::Original;
        let features = original.then_some(before.features.as_slice());
        self.database.note_change(self.counters.last_change, before.row, features)
    }

    fn judge_arriving(
        &mut self,
        record: &mut Record,
        shingles: Option<Arc<ElementSet>>,
    ) -> Result<Judgement, StoreError> {
        let asked = Asked { shingles: shingles.as_ref(), ..Asked::stored(record) };
        let judgement = self.judge(&asked)?;
        if let (true, Some(shingles)) = (self.rule.least_resemblance() > 0.0, shingles) {
            self.shingles.put(record.row, shingles);
        }
        record.standing = judgement.standing;
        self.stopped_early = judgement.stopped_early;
        Ok(judgement)
    }

    fn judge(&mut self, asked: &Asked<'_>) -> Result<Judgement, StoreError> {
        let candidates = self.index.closest(asked.features, MOST_CANDIDATES)?;
        let judge = Judge { database: &*self.database, rule: self.rule, preparer: &self.preparer };
        judge.judge(candidates, asked, &mut self.shingles)
    }

    /// Applies a document's new standing to the indexes and queues the documents that have to be judged again.
    fn take_place(&mut self, record: &Record, judgement: Judgement) -> Result<(), StoreError> {
        match record.standing.kind {
            Kind::Original => {
                self.index.insert(record.row, &record.features)?;
                self.again.extend(judgement.later);
                for rival in judgement.rivals {
                    self.judge_family_again(rival, Some(record.order()))?;
                }
                self.copies_it_may_suit(record)
            }
            Kind::Empty => Ok(()),
            kind => {
                self.latest_copy = self.latest_copy.max(Some(record.created));
                self.index.shared().note_latest_copy(self.latest_copy);
                // A copy with its original's shingles is judged as its original is.
                if let (Kind::Copy, Some(copies)) = (kind, &mut self.copy_features) {
                    copies.insert(record.row, &record.features);
                }
                Ok(())
            }
        }
    }

    /// Copies created after a new original that the rule accepts may have been given to another.
    fn copies_it_may_suit(&mut self, record: &Record) -> Result<(), StoreError> {
        // No copy was decided to come first.
        let usual = record.order().usual;
        if self.latest_copy.is_none_or(|latest| usual && latest < record.created) {
            return Ok(());
        }
        if self.copy_features.is_none() {
            let mut copies = CopyFeatures::new(self.params.features);
            self.database.for_each_differing_copy(&mut |(row, features)| {
                copies.insert(row, &features);
                Ok(())
            })?;
            self.copy_features = Some(copies);
        }
        let copies = self.copy_features.as_ref().expect("it was just built");
        for row in copies.matches(&record.features, self.params.agreeing) {
            if let Some(copy) = self.database.order(row)?
                && copy > record.order()
            {
                self.again.insert(copy);
            }
        }
        Ok(())
    }

    /// What it means for others that a document is no longer what it was.
    fn leave_place(&mut self, record: &Record) -> Result<(), StoreError> {
        match record.standing.kind {
            Kind::Original => {
                self.index.remove(record.row, &record.features)?;
                self.judge_family_again(record.row, None)?;
            }
            Kind::Empty => {}
            _ => {
                if let Some(copies) = &mut self.copy_features {
                    copies.remove(record.row);
                }
            }
        }
        Ok(())
    }

    /// Queues the copies of an original to be judged again; only those after `after`, if given.
    fn judge_family_again(
        &mut self,
        original: Row,
        after: Option<Order>,
    ) -> Result<(), StoreError> {
        let copies = self.database.family_orders(original)?.into_iter();
        self.again.extend(copies.filter(|copy| after.is_none_or(|after| *copy > after)));
        Ok(())
    }

    /// Judges all queued documents again; then returns the standing of `record`.
    fn judge_again(&mut self, record: &mut Record) -> Result<(), StoreError> {
        if self.again.is_empty() {
            return Ok(());
        }
        self.judge_pending()?;
        let settled = self.database.record(record.row)?;
        record.standing = settled.map_or(record.standing, |settled| settled.standing);
        Ok(())
    }

    fn judge_pending(&mut self) -> Result<(), StoreError> {
        while let Some(order) = self.again.pop_first() {
            let Some(mut record) = self.database.record(order.row)? else { continue };
            let judgement = self.judge(&Asked::stored(&record))?;
            if judgement.standing == record.standing {
                continue;
            }
            self.leave_place(&record)?;
            let before = record.clone();
            record.standing = judgement.standing;
            self.database.update_standing(&record)?;
            self.note_change(&before)?;
            self.take_place(&record, judgement)?;
        }
        Ok(())
    }
}

/// The verdict of a standing, as users see it; the resemblance only where the decision needed it.
pub(crate) fn verdict(database: &dyn Reading, standing: &Standing) -> Result<Verdict, StoreError> {
    Ok(Verdict {
        kind: standing.kind,
        original: standing.original.map(|original| database.key(original)).transpose()?,
        resemblance: standing.resemblance,
        features_equal: standing.features_equal,
        stopped_early: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewDocument, Store, StoreParams};

    const TEXT: &str =
        "the ferry did not come that morning and the village stood waiting on the quay";

    /// A check never sees originals that are taken out and not put in yet: it answers as before the turn until the
    /// commit, and as after it from then on, also in the moment in which the shared index is not changed yet.
    #[test]
    fn a_check_beside_a_turn_sees_the_state_before_or_after_it() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
        let at = |second| Some(Timestamp::from_seconds(second));
        for (key, created) in [("second", 2), ("third", 3)] {
            store.add(&NewDocument::text(key, at(created), TEXT)).unwrap();
        }
        let original = || {
            let verdict = store.check(&NewDocument::text("asked", at(9), TEXT)).unwrap();
            verdict.original
        };
        assert_eq!(original().as_deref(), Some("second"));
        let prepared = store.prepare(&NewDocument::text("first", at(1), TEXT)).unwrap();
        store.writer_queue().unwrap().with_writer(|writer| {
            let families = &mut writer.families;
            families.begin_turn(&["first"]).unwrap();
            let row = families.new_row().unwrap();
            let second = families.database.record_by_key("second").unwrap().unwrap();
            let mut record =
                Record { row, key: "first".to_owned(), created: at(1).unwrap(), ..second };
            let shingles = Arc::new(prepared.shingles.clone());
            families.add(&mut record, shingles, &prepared.text, None).unwrap();
            assert_eq!(record.standing.kind, Kind::Original);
            assert_eq!(original().as_deref(), Some("second"), "in the turn");
            families.database.end_turn(families.counters).unwrap();
            assert_eq!(original().as_deref(), Some("first"), "after the commit");
            families.settled = families.counters;
            let Counters { last_change, clock, .. } = families.settled;
            families.index.committed(last_change, clock).unwrap();
            assert_eq!(original().as_deref(), Some("first"), "in the index");
        });
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    }

    #[test]
    fn a_turn_that_is_taken_back_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
        store.add(&NewDocument::text("a", None, TEXT)).unwrap();
        store.writer_queue().unwrap().with_writer(|writer| {
            let families = &mut writer.families;
            families.begin_turn(&["a"]).unwrap();
            let record = families.database.record_by_key("a").unwrap().unwrap();
            families.delete(&record).unwrap();
            families.take_back().unwrap();
        });
        let verdict = store.check(&NewDocument::text("b", None, TEXT)).unwrap();
        assert_eq!(verdict.original.as_deref(), Some("a"));
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    }

    /// Also not when the last document was deleted and the store opened again.
    #[test]
    fn numbers_are_given_once_and_times_never_step_back() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
        store.add(&NewDocument::text("a", None, TEXT)).unwrap();
        let last = store.add(&NewDocument::text("b", None, "another text")).unwrap().row;
        store.delete("b").unwrap();
        let next = store.add(&NewDocument::text("c", None, "a third text")).unwrap().row;
        assert!(next > last);
        store.delete("c").unwrap();
        store.close().unwrap();
        let store = Store::open(directory.path()).unwrap();
        let after = store.add(&NewDocument::text("d", None, "a fourth text")).unwrap().row;
        assert!(after > next);
        let stored = |key: &str| store.get(key).unwrap().unwrap().stored;
        assert!(stored("a") < stored("d"));

        let mut counters =
            Counters { last_change: 0, next_row: 1, clock: Timestamp::from_seconds(100) };
        let ticks: Vec<Timestamp> =
            [90, 90, 200].map(|now| counters.tick(Timestamp::from_seconds(now))).to_vec();
        assert!(
            ticks.is_sorted() && ticks[0] > Timestamp::from_seconds(100) && ticks[0] < ticks[1]
        );
    }
}
