//! What people decide of documents, and the log of it.
//!
//! The rule can be wrong about who was first, or about what is a copy. So a person may say of a document
//! that it is *the original*: it then comes before all documents of which nobody said so, and whatever
//! the rule accepts becomes its copy, earlier created or not. Or that it is *not a copy*: it is an original
//! at its usual place, and others may be its copies. Either way it is nobody's copy. Where several were
//! decided to be the original, the usual order decides who of them comes first, and each stays one.
//!
//! At most one decision about a document is in effect. A new one replaces it; taking one back restores
//! what it replaced. An edit keeps it, though it says nothing while the document has no words; removing
//! the document ends it. What is in effect stands in the document's row, so judging asks nothing more
//! than it did, and a reader sees documents and decisions of the same moment.
//!
//! The log holds every change: who, when, why, what was in effect before and after. It is only ever added
//! to, and the database refuses to do anything else with it. Entries are numbered from 1 without gaps and
//! each carries its fingerprint. What is in effect follows from the log, and `verify` compares the two.
//!
//! Cost: a decision is judged as an edit is; taking one back reads what the log has of the key.

use std::sync::mpsc;

use wonbon_time::Timestamp;

use crate::database::Record;
use crate::document::Expected;
use crate::error::StoreError;
use crate::store::Store;
use crate::writer::{Request, Writer};
use crate::writer_queue::writer_ended;
use wonbon_rule::Kind;

/// The longest reason, in characters.
pub const MOST_REASON_CHARACTERS: usize = 1000;

/// Who it was when nobody says: somebody on this machine.
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

/// What an entry of the log tells.
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
    /// What was in effect before.
    pub before: Option<Decision>,
    /// What is in effect since.
    pub after: Option<Decision>,
    /// Which entry was taken back, if one was.
    pub undoes: Option<u64>,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// Who changes what is decided, and why.
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

#[derive(Debug, Clone, Copy)]
enum DecisionAction {
    Decide(Decision),
    /// Take back the last one; this entry, if one is named.
    Undo(Option<u64>),
}

impl Store {
    /// Decides about the document of this key or address. Tells the entry of the log, or none if the
    /// same was in effect already.
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

    /// Takes the last decision about a document back, so that what was in effect before it is again.
    /// If an entry is named, it has to be that decision's.
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
            who: by.who.to_owned(),
            reason: reason.map(str::to_owned),
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
            database.for_each_decision(key, before, most, |entry| {
                entries.push(entry);
                true
            })?;
            Ok(entries)
        })
    }
}

impl Writer {
    /// Makes or takes back a decision. The inner error says why nothing was done.
    pub(crate) fn change_decision(
        &mut self,
        request: &DecisionRequest,
        now: Timestamp,
    ) -> Result<Result<Option<DecisionEntry>, StoreError>, StoreError> {
        let database = &self.families.database;
        let Some(old) = database.named(&request.key)? else {
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
            DecisionAction::Undo(entry) => match database.decision_to_undo(&old.key)? {
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
        let database = &self.families.database;
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
