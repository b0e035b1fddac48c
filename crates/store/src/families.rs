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
//! Everything happens inside the writer's transaction. The index in memory follows it by [`TurnIndex`], so that checks see
//! the originals before the transaction or those after it, and nothing is left of one that fails.

use std::collections::BTreeSet;
use std::sync::Arc;

use wonbon_index::{CopyIndex, IndexParams, Row};
use wonbon_sketch::ElementSet;
use wonbon_time::Timestamp;

use crate::copy_features::CopyFeatures;
use crate::database::{Database, Record, Standing};
use crate::document::Order;
use crate::error::StoreError;
use crate::judge::{Asked, Judge, Judgement, MOST_CANDIDATES, ShingleCache};
use crate::prepare::Preparer;
use crate::questions::resemblance_of_versions;
use crate::shared_index::{SharedIndex, TurnIndex};
use wonbon_rule::{Kind, Rule, Verdict};

/// The writer's view of all families.
pub(crate) struct Families {
    pub(crate) database: Database,
    pub(crate) index: TurnIndex,
    rule: Rule,
    params: IndexParams,
    pub(crate) preparer: Preparer,
    shingles: ShingleCache,
    /// Built when first needed.
    copy_features: Option<CopyFeatures>,
    /// No copy was created later than this.
    latest_copy: Option<Timestamp>,
    /// The number of the last change.
    pub(crate) last_change: u64,
    next_row: u32,
    /// Documents to judge again, the earliest first.
    again: BTreeSet<Order>,
    /// Whether candidates of the last arriving document were left unverified.
    pub(crate) stopped_early: bool,
}

impl Families {
    pub(crate) fn new(
        database: Database,
        index: Arc<SharedIndex>,
        rule: Rule,
        preparer: Preparer,
    ) -> Result<Self, StoreError> {
        let params = index.read().params();
        let mut families = Families {
            index: TurnIndex::new(index),
            rule,
            params,
            preparer,
            shingles: ShingleCache::default(),
            copy_features: None,
            latest_copy: database.latest_copy()?,
            last_change: 0,
            next_row: 0,
            again: BTreeSet::new(),
            stopped_early: false,
            database,
        };
        families.read_counters()?;
        Ok(families)
    }

    fn read_counters(&mut self) -> Result<(), StoreError> {
        self.last_change = self.database.last_change()?.0;
        self.next_row = self.database.next_row()?;
        Ok(())
    }

    /// The row of the next new document.
    pub(crate) fn new_row(&mut self) -> Row {
        let row = Row(self.next_row);
        self.next_row += 1;
        row
    }

    /// Stores a new document and decides what it is. Its standing is filled in.
    pub(crate) fn add(
        &mut self,
        record: &mut Record,
        shingles: Arc<ElementSet>,
        text: &[u8],
    ) -> Result<(), StoreError> {
        let judgement = self.judge_arriving(record, Some(shingles))?;
        self.database.insert(record, text)?;
        self.note_change(record.row)?;
        self.take_place(record, judgement)?;
        self.judge_again(record)
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
        self.note_change(record.row)?;
        self.take_place(record, judgement)?;
        self.judge_again(record)
    }

    /// Gives a known document the place that what was decided of it asks for.
    pub(crate) fn decide(&mut self, old: &Record, record: &mut Record) -> Result<(), StoreError> {
        self.leave_place(old)?;
        let judgement = self.judge_arriving(record, None)?;
        self.database.update(record)?;
        self.note_change(record.row)?;
        self.take_place(record, judgement)?;
        self.judge_again(record)
    }

    /// Removes a document; its copies, if it has any, are judged again.
    pub(crate) fn delete(&mut self, record: &Record) -> Result<(), StoreError> {
        self.leave_place(record)?;
        self.shingles.remove(record.row);
        self.database.delete(record)?;
        self.note_change(record.row)?;
        self.judge_pending()
    }

    fn note_change(&mut self, row: Row) -> Result<(), StoreError> {
        self.last_change += 1;
        self.database.note_change(self.last_change, row)
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
        let judge = Judge { database: &self.database, rule: self.rule, preparer: &self.preparer };
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
            self.database.for_each_differing_copy(|row, features| {
                copies.insert(row, &features);
                Ok(())
            })?;
            self.copy_features = Some(copies);
        }
        let copies = self.copy_features.as_ref().expect("it was just built");
        for row in copies.matches(&record.features, self.params.agreeing) {
            if let Some(copy) = self.database.record(row)?
                && copy.order() > record.order()
            {
                self.again.insert(copy.order());
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
        for row in self.database.family(original)? {
            if let Some(copy) = self.database.record(row)?
                && after.is_none_or(|after| copy.order() > after)
            {
                self.again.insert(copy.order());
            }
        }
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
            record.standing = judgement.standing;
            self.database.update(&record)?;
            self.note_change(record.row)?;
            self.take_place(&record, judgement)?;
        }
        Ok(())
    }

    /// The transaction was committed.
    pub(crate) fn committed(&mut self) -> Result<(), StoreError> {
        Ok(self.index.committed()?)
    }

    /// Undoes in memory the changes of a transaction that was rolled back.
    pub(crate) fn undo(&mut self) -> Result<(), StoreError> {
        self.index.take_back()?;
        self.again.clear();
        self.copy_features = None;
        self.shingles.clear();
        self.latest_copy = self.database.latest_copy()?;
        self.read_counters()
    }
}

/// The verdict of a standing, as users see it; the resemblance only where the decision needed it.
pub(crate) fn verdict(database: &Database, standing: &Standing) -> Result<Verdict, StoreError> {
    Ok(Verdict {
        kind: standing.kind,
        original: standing.original.map(|original| database.key(original)).transpose()?,
        resemblance: standing.resemblance,
        features_equal: standing.features_equal,
        stopped_early: false,
    })
}
