//! Reads and appends the log of decisions (see [`crate::decisions`]).

use rusqlite::{Row as SqlRow, params};

use super::Sqlite;
use super::times::time;
use crate::decisions::{Decision, DecisionChange, DecisionEntry};
use crate::error::StoreError;

impl Sqlite {
    /// The number of the last entry; 0 if there is none.
    pub(super) fn last_decision(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(entry), 0) FROM decisions";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row([], |row| row.get::<_, i64>(0))?.unsigned_abs())
    }

    pub(super) fn log_decision(&self, entry: &DecisionEntry) -> Result<(), StoreError> {
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
    pub(super) fn for_each_decision(
        &self,
        key: Option<&str>,
        before: Option<u64>,
        most: usize,
        each: &mut dyn FnMut(DecisionEntry) -> bool,
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

    /// Calls `each` with key, decision and last entry of every document that the log knows.
    pub(super) fn for_each_decided(
        &self,
        each: &mut dyn FnMut(String, Option<Decision>, u64),
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
