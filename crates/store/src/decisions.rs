//! Decisions that people make about documents, and their log.
//!
//! The rule can be wrong about which document was first, or about what is a copy. A person can decide about a document:
//!
//! - *the original*: it comes before all documents without this decision, and every document that the rule accepts becomes
//!   its copy, even one created earlier;
//! - *not a copy*: it is an original at its usual place, and other documents may be its copies.
//!
//! Either way the document is never a copy. If several documents were decided to be the original, they keep their usual
//! order among themselves, and each stays an original.
//!
//! At most one decision about a document is in effect. A new decision replaces it; undoing a decision restores the one it
//! replaced. An edit keeps the decision, which has no effect while the document has no words. Removing the document ends it.
//! The decision in effect is stored in the document's row, so judging needs no extra read, and a reader sees documents and
//! decisions in the same state.
//!
//! The log records every change: who, when, why, and the decision before and after. It is append-only, and the database
//! refuses any other change. Entries are numbered from 1 without gaps, and each carries its fingerprint. The decision in
//! effect follows from the log, and `verify` compares the two.
//!
//! Cost: a decision costs as much judging as an edit; undoing one reads the log entries of the key.

use std::sync::mpsc;

use wonbon_time::Timestamp;

use crate::document::{Expected, without_nul};
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{Reading, Record};
use crate::writer::{Request, Writer};
use crate::writer_queue::writer_ended;
use wonbon_rule::Kind;

/// The longest reason, in characters.
pub const MOST_REASON_CHARACTERS: usize = 1000;

/// The name that is logged when none is given: a user of this machine.
pub const LOCAL: &str = "local";

/// What a person can say of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Decision {
    /// It is the original: it comes before all others of which this was not said.
    Original,
    /// It is an original, at its usual place.
    NotACopy,
}

impl Decision {
    /// Both, in the order of their numbers in the database.
    pub const ALL: [Decision; 2] = [Decision::Original, Decision::NotACopy];

    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Decision::Original => "original",
            Decision::NotACopy => "not-a-copy",
        }
    }

    /// The decision of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Decision::ALL.into_iter().find(|decision| decision.name() == name)
    }

    pub(crate) fn number(decision: Option<Decision>) -> Option<i64> {
        decision.map(|decision| decision as i64)
    }

    /// None if there is no decision of this number.
    pub(crate) fn from_number(number: Option<i64>) -> Option<Option<Decision>> {
        let Some(number) = number else { return Some(None) };
        usize::try_from(number).ok().and_then(|at| Decision::ALL.get(at).copied()).map(Some)
    }
}

/// What an entry of the log records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionChange {
    /// A decision was made.
    Decided,
    /// One was taken back.
    Undone,
    /// The document was removed, and the decision with it.
    Removed,
}

impl DecisionChange {
    /// All, in the order of their numbers in the database.
    pub const ALL: [DecisionChange; 3] =
        [DecisionChange::Decided, DecisionChange::Undone, DecisionChange::Removed];

    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DecisionChange::Decided => "decided",
            DecisionChange::Undone => "undone",
            DecisionChange::Removed => "removed",
        }
    }
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionEntry {
    /// Its number, from 1.
    pub entry: u64,
    /// When.
    pub time: Timestamp,
    /// Who it was.
    pub who: String,
    /// What happened.
    pub change: DecisionChange,
    /// The key of the document.
    pub key: String,
    /// The decision in effect before.
    pub before: Option<Decision>,
    /// The decision in effect since.
    pub after: Option<Decision>,
    /// Which entry was taken back, if one was.
    pub undoes: Option<u64>,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// Who makes or undoes a decision, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct By<'a> {
    /// Who it is.
    pub who: &'a str,
    /// Why, if they say; at most [`MOST_REASON_CHARACTERS`].
    pub reason: Option<&'a str>,
}

impl Default for By<'_> {
    fn default() -> Self {
        By { who: LOCAL, reason: None }
    }
}

/// What is asked of the writer.
#[derive(Debug)]
pub(crate) struct DecisionRequest {
    key: String,
    asked: DecisionAction,
    who: String,
    reason: Option<String>,
    expected: Option<Expected>,
}

impl DecisionRequest {
    /// What the document is called.
    pub(crate) fn key(&self) -> &str {
        &self.key
    }
}

#[derive(Debug, Clone, Copy)]
enum DecisionAction {
    Decide(Decision),
    /// Undo the last decision; if an entry is named, it has to be that one.
    Undo(Option<u64>),
}

impl Store {
    /// Decides about the document of this key or address. Returns the entry of the log, or none if the
    /// same decision was in effect already.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownDocument`]; [`StoreError::NoWords`] if the document has none;
    /// [`StoreError::ReasonTooLong`]; [`StoreError::NotAsExpected`]; or why it was not stored.
    pub fn decide(
        &self,
        key: &str,
        decision: Decision,
        by: &By<'_>,
        expected: Option<Expected>,
    ) -> Result<Option<DecisionEntry>, StoreError> {
        self.change_decision(key, DecisionAction::Decide(decision), by, expected)
    }

    /// Undoes the last decision about a document: the decision that it replaced is in effect again.
    /// If an entry is named, it has to be the entry of the last decision.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownDocument`]; [`StoreError::NothingToUndo`] if nothing is in effect, or the
    /// entry named is not the last; [`StoreError::ReasonTooLong`]; [`StoreError::NotAsExpected`]; or
    /// why it was not stored.
    pub fn undo_decision(
        &self,
        key: &str,
        entry: Option<u64>,
        by: &By<'_>,
        expected: Option<Expected>,
    ) -> Result<DecisionEntry, StoreError> {
        let done = self.change_decision(key, DecisionAction::Undo(entry), by, expected)?;
        Ok(done.expect("taking back is an entry or an error"))
    }

    fn change_decision(
        &self,
        key: &str,
        asked: DecisionAction,
        by: &By<'_>,
        expected: Option<Expected>,
    ) -> Result<Option<DecisionEntry>, StoreError> {
        let reason = by.reason.map(str::trim).filter(|reason| !reason.is_empty());
        let characters = reason.map_or(0, |reason| reason.chars().count());
        if characters > MOST_REASON_CHARACTERS {
            return Err(StoreError::ReasonTooLong { characters, most: MOST_REASON_CHARACTERS });
        }
        let request = DecisionRequest {
            key: key.to_owned(),
            asked,
            who: without_nul(by.who),
            reason: reason.map(without_nul),
            expected,
        };
        let (reply, answer) = mpsc::channel();
        self.writer_queue()?.enqueue_and_serve(Request::Decide(Box::new(request), reply))?;
        answer.recv().map_err(|_| writer_ended())?
    }

    /// The decision about the document of this key that is in effect: what [`Store::undo_decision`] takes
    /// back.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn decision_in_effect(&self, key: &str) -> Result<Option<DecisionEntry>, StoreError> {
        self.reading(|database| database.decision_to_undo(key))
    }

    /// Up to `most` entries of the log, the latest first: of one key if one is given, behind the entry
    /// `before` if one is given.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn decisions(
        &self,
        key: Option<&str>,
        before: Option<u64>,
        most: usize,
    ) -> Result<Vec<DecisionEntry>, StoreError> {
        self.reading(|database| {
            let mut entries = Vec::new();
            database.for_each_decision(key, before, most, &mut |entry| {
                entries.push(entry);
                true
            })?;
            Ok(entries)
        })
    }
}

impl Writer {
    /// Makes or undoes a decision. The inner error says why nothing was done.
    pub(crate) fn change_decision(
        &mut self,
        request: &DecisionRequest,
        now: Timestamp,
    ) -> Result<Result<Option<DecisionEntry>, StoreError>, StoreError> {
        let database = &*self.families.database;
        let reading: &dyn Reading = database;
        let Some(old) = reading.named(&request.key)? else {
            return Ok(Err(StoreError::UnknownDocument { key: request.key.clone() }));
        };
        if let Some(error) = self.unlike(&old.key, request.expected)? {
            return Ok(Err(error));
        }
        let (change, after, undoes) = match request.asked {
            DecisionAction::Decide(_) if old.standing.kind == Kind::Empty => {
                return Ok(Err(StoreError::NoWords));
            }
            DecisionAction::Decide(decision) if old.decision == Some(decision) => {
                return Ok(Ok(None));
            }
            DecisionAction::Decide(decision) => (DecisionChange::Decided, Some(decision), None),
            DecisionAction::Undo(entry) => match reading.decision_to_undo(&old.key)? {
                Some(last) if entry.is_none_or(|entry| entry == last.entry) => {
                    (DecisionChange::Undone, last.before, Some(last.entry))
                }
                last => {
                    let last = last.map(|last| last.entry);
                    return Ok(Err(StoreError::NothingToUndo { key: old.key, entry, last }));
                }
            },
        };
        let entry = DecisionEntry {
            entry: database.last_decision()? + 1,
            time: now,
            who: request.who.clone(),
            change,
            key: old.key.clone(),
            before: old.decision,
            after,
            undoes,
            reason: request.reason.clone(),
        };
        database.log_decision(&entry)?;
        let mut record = Record { decision: after, decision_entry: entry.entry, ..old.clone() };
        self.families.decide(&old, &mut record)?;
        Ok(Ok(Some(entry)))
    }

    /// Notes that a decision ends because its document is removed, if one is in effect.
    pub(crate) fn end_decision(
        &mut self,
        record: &Record,
        who: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if record.decision.is_none() {
            return Ok(());
        }
        let database = &*self.families.database;
        database.log_decision(&DecisionEntry {
            entry: database.last_decision()? + 1,
            time: now,
            who: who.to_owned(),
            change: DecisionChange::Removed,
            key: record.key.clone(),
            before: record.decision,
            after: None,
            undoes: None,
            reason: None,
        })
    }
}
