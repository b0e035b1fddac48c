//! The log of decisions: who decided what about which document.

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
    pub key: &'a str,
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
    /// The JSON form of an entry of the log.
    #[must_use]
    pub fn of(entry: &'a wonbon_store::DecisionEntry) -> Self {
        DecisionEntry {
            entry: entry.entry,
            time: entry.time.to_string(),
            who: &entry.who,
            change: entry.change.name(),
            key: &entry.key,
            before: entry.before.map(Decision::name),
            after: entry.after.map(Decision::name),
            undoes: entry.undoes,
            reason: entry.reason.as_deref(),
        }
    }
}
