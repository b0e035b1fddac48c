//! What the log of decisions says (see [`crate::decisions`]), and whether the documents agree with it.

use std::collections::{BTreeMap, HashSet};

use super::Reading;
use crate::decisions::{Decision, DecisionChange, DecisionEntry};
use crate::error::StoreError;

impl dyn Reading + '_ {
    /// The last decision about a document that was not taken back.
    pub(crate) fn decision_to_undo(&self, key: &str) -> Result<Option<DecisionEntry>, StoreError> {
        let mut undone = HashSet::new();
        let mut found = None;
        self.for_each_decision(Some(key), None, usize::MAX, &mut |entry| {
            match entry.change {
                // What was decided of an earlier document of this key.
                DecisionChange::Removed => return false,
                DecisionChange::Undone => {
                    undone.extend(entry.undoes);
                    return true;
                }
                DecisionChange::Decided if undone.contains(&entry.entry) => return true,
                DecisionChange::Decided => {}
            }
            found = Some(entry);
            false
        })?;
        Ok(found)
    }
}

/// What the log and the documents' rows disagree in.
pub(crate) fn find_disagreements(database: &dyn Reading) -> Result<Vec<String>, StoreError> {
    let mut entries = Vec::new();
    database.for_each_decision(None, None, usize::MAX, &mut |entry| {
        entries.push(entry);
        true
    })?;
    let mut wrong = Vec::new();
    // For every key, what was decided and not taken back, the last one last, and the last entry.
    let mut in_effect: BTreeMap<String, (Vec<(u64, Decision)>, u64)> = BTreeMap::new();
    for (at, entry) in entries.into_iter().rev().enumerate() {
        let number = entry.entry;
        if number != at as u64 + 1 {
            wrong.push(format!("entry {number} of the log of decisions follows entry {at}"));
            break;
        }
        let (decided, last) = in_effect.entry(entry.key).or_default();
        *last = number;
        let before = decided.last().map(|(_, decision)| *decision);
        let undone = match (entry.change, entry.after) {
            (DecisionChange::Decided, Some(decision)) => {
                decided.push((number, decision));
                None
            }
            (DecisionChange::Undone, _) => decided.pop().map(|(undone, _)| undone),
            (DecisionChange::Decided, None) | (DecisionChange::Removed, _) => {
                decided.clear();
                // A document of this key that comes later has no decision yet.
                *last = 0;
                None
            }
        };
        let after = decided.last().map(|(_, decision)| *decision);
        let told = (entry.before, entry.after, entry.undoes);
        if (before, after, undone) != told || before == after {
            wrong
                .push(format!("entry {number} of the log of decisions does not follow the others"));
        }
    }
    database.for_each_decided(&mut |key, decision, entry| {
        let (decided, last) = in_effect.remove(&key).unwrap_or_default();
        if (decided.last().map(|(_, decision)| *decision), last) != (decision, entry) {
            wrong.push(format!("`{key}` has another decision than the log"));
        }
    })?;
    for (key, (decided, _)) in in_effect {
        if !decided.is_empty() {
            wrong.push(format!("`{key}` lacks the decision that the log has"));
        }
    }
    Ok(wrong)
}
