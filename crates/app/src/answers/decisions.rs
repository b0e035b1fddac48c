//! What people decided of documents, and the log of it.

use serde::Serialize;
use wonbon_store::Decision;

/// An entry of the log of decisions.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DecisionEntry<'a> {
    /// Its number, from 1.
    pub entry: u64,
    /// When it was.
    pub time: String,
    /// Who it was: the name of a token, or `local`.
    pub who: &'a str,
    /// decided, undone, or removed when the document was.
    pub change: &'static str,
    /// The key of the document.
    pub id: &'a str,
    /// What was in effect before: original, not-a-copy or nothing.
    pub before: Option<&'static str>,
    /// What is in effect since.
    pub after: Option<&'static str>,
    /// Which entry was taken back, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<u64>,
    /// Why, if they said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

impl<'a> DecisionEntry<'a> {
    /// Of an entry of the store's log.
    #[must_use]
    pub fn of(entry: &'a wonbon_store::DecisionEntry) -> Self {
        DecisionEntry {
            entry: entry.entry,
            time: entry.time.to_string(),
            who: &entry.who,
            change: entry.change.name(),
            id: &entry.key,
            before: entry.before.map(Decision::name),
            after: entry.after.map(Decision::name),
            undoes: entry.undoes,
            reason: entry.reason.as_deref(),
        }
    }
}
