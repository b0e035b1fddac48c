//! Reads and appends the log of decisions (see [`crate::decisions`]), and compares it with the documents.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hasher;

use rusqlite::{Row as SqlRow, params};
use wonbon_sketch::rabin::{RABIN_64, RabinHasher};

use super::Database;
use crate::decisions::{Decision, DecisionChange, DecisionEntry};
use crate::error::StoreError;
use crate::time_columns::time;

impl DecisionEntry {
    /// Of everything in the entry, in a fixed order.
    fn fingerprint(&self) -> i64 {
        let mut hash = RabinHasher::new(&RABIN_64);
        for text in [Some(&self.who), Some(&self.key), self.reason.as_ref()] {
            hash.write(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            hash.write(text.map_or(&[], |text| text.as_bytes()));
        }
        for number in [
            self.entry as i64,
            self.time.as_microseconds(),
            self.change as i64,
            Decision::number(self.before).unwrap_or(-1),
            Decision::number(self.after).unwrap_or(-1),
            self.undoes.map_or(-1, |entry| entry as i64),
        ] {
            hash.write(&number.to_le_bytes());
        }
        hash.finish() as i64
    }
}

impl Database {
    /// The number of the last entry; 0 if there is none.
    pub(crate) fn last_decision(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(entry), 0) FROM decisions";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row([], |row| row.get::<_, i64>(0))?.unsigned_abs())
    }

    pub(crate) fn log_decision(&self, entry: &DecisionEntry) -> Result<(), StoreError> {
        let sql = "INSERT INTO decisions (entry, time, who, what, key, effect_before, effect_after, \
            undoes, reason, fingerprint) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        self.connection.prepare_cached(sql)?.execute(params![
            entry.entry as i64,
            entry.time.as_microseconds(),
            entry.who,
            entry.change as i64,
            entry.key,
            Decision::number(entry.before),
            Decision::number(entry.after),
            entry.undoes.map(|entry| entry as i64),
            entry.reason,
            entry.fingerprint(),
        ])?;
        Ok(())
    }

    fn read_decision(&self, row: &SqlRow<'_>) -> Result<DecisionEntry, StoreError> {
        let number = row.get::<_, i64>(0)?;
        let damaged =
            || self.damaged(format!("entry {number} of the log of decisions is not as written"));
        let change = usize::try_from(row.get::<_, i64>(3)?).ok();
        let entry = DecisionEntry {
            entry: number.unsigned_abs(),
            time: time(row, 1)?,
            who: row.get(2)?,
            change: change
                .and_then(|at| DecisionChange::ALL.get(at).copied())
                .ok_or_else(damaged)?,
            key: row.get(4)?,
            before: Decision::from_number(row.get(5)?).ok_or_else(damaged)?,
            after: Decision::from_number(row.get(6)?).ok_or_else(damaged)?,
            undoes: row.get::<_, Option<i64>>(7)?.map(i64::unsigned_abs),
            reason: row.get(8)?,
        };
        if entry.fingerprint() != row.get::<_, i64>(9)? {
            return Err(damaged());
        }
        Ok(entry)
    }

    /// Calls `each` with entries, the latest first, as long as it wants more.
    pub(crate) fn for_each_decision(
        &self,
        key: Option<&str>,
        before: Option<u64>,
        most: usize,
        mut each: impl FnMut(DecisionEntry) -> bool,
    ) -> Result<(), StoreError> {
        let which = if key.is_some() { "key = ?3 AND" } else { "?3 IS NULL AND" };
        let sql = format!(
            "SELECT entry, time, who, what, key, effect_before, effect_after, undoes, reason, \
             fingerprint FROM decisions WHERE {which} entry < ?1 ORDER BY entry DESC LIMIT ?2"
        );
        let mut select = self.connection.prepare_cached(&sql)?;
        let before = before.and_then(|before| i64::try_from(before).ok()).unwrap_or(i64::MAX);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut rows = select.query(params![before, most, key])?;
        while let Some(row) = rows.next()? {
            if !each(self.read_decision(row)?) {
                break;
            }
        }
        Ok(())
    }

    /// The last decision about a document that was not taken back.
    pub(crate) fn decision_to_undo(&self, key: &str) -> Result<Option<DecisionEntry>, StoreError> {
        let mut undone = HashSet::new();
        let mut found = None;
        self.for_each_decision(Some(key), None, usize::MAX, |entry| {
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

    /// Calls `each` with key, decision and last entry of every document that the log knows.
    fn for_each_decided(
        &self,
        mut each: impl FnMut(String, Option<Decision>, u64),
    ) -> Result<(), StoreError> {
        let sql = "SELECT row FROM documents WHERE decision_entry IS NOT NULL ORDER BY row";
        let mut select = self.connection.prepare(sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            if let Some(record) = self.record(wonbon_index::Row(row.get(0)?))? {
                each(record.key, record.decision, record.decision_entry);
            }
        }
        Ok(())
    }
}

/// What the log and the documents' rows disagree in.
pub(crate) fn find_disagreements(database: &Database) -> Result<Vec<String>, StoreError> {
    let mut entries = Vec::new();
    database.for_each_decision(None, None, usize::MAX, |entry| {
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
    database.for_each_decided(|key, decision, entry| {
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
