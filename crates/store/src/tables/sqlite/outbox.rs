//! The outbox: a numbered log of which documents changed.
//!
//! A transaction that changes a document notes the change here. Everything derived from the database (the
//! snapshot of the index, search, the index of shingles) keeps the number of the last change it has seen
//! and reads the changes after it. Changes that all of them have seen are removed.
//!
//! The clock continues from one process to the next: `meta` has the time of the last clean-up of the outbox, and what was
//! stored since is named by the outbox.

use rusqlite::OptionalExtension;
use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::Sqlite;
use super::times::optional_time;
use crate::error::StoreError;
use crate::tables::{Present, RowChange};

/// The entry of `meta` that keeps the clock.
const CLOCK: &str = "clock";

impl Sqlite {
    /// Notes that a document changed.
    pub(super) fn note_change(&self, change: u64, row: Row) -> Result<(), StoreError> {
        let sql = "INSERT INTO changes (change, row) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute((change as i64, row.0))?;
        Ok(())
    }

    /// The number of the last change, and of the last that was forgotten.
    pub(crate) fn last_change(&self) -> Result<(u64, u64), StoreError> {
        let last: Option<i64> =
            self.connection.query_row("SELECT max(change) FROM changes", [], |row| row.get(0))?;
        let forgotten: u64 =
            self.meta("changes forgotten")?.and_then(|text| text.parse().ok()).ok_or_else(
                || self.damaged("it does not say which changes it has forgotten".to_owned()),
            )?;
        Ok((last.map_or(forgotten, |last| (last as u64).max(forgotten)), forgotten))
    }

    /// Up to `most` changes after one: the number of the last of them, and which documents.
    pub(super) fn changes_after(
        &self,
        change: u64,
        most: usize,
    ) -> Result<(u64, Vec<Row>), StoreError> {
        let sql = "SELECT change, row FROM changes WHERE change > ?1 ORDER BY change LIMIT ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        let mut found = select.query((change as i64, most as i64))?;
        let (mut last, mut rows) = (change, Vec::new());
        while let Some(row) = found.next()? {
            last = row.get::<_, i64>(0)? as u64;
            rows.push(Row(row.get(1)?));
        }
        rows.sort_unstable();
        rows.dedup();
        Ok((last, rows))
    }

    /// All changes after one, with what the documents are now. What they were before is asked for only where several
    /// processes write.
    pub(super) fn row_changes_after(&self, change: u64) -> Result<Vec<RowChange>, StoreError> {
        let sql = "SELECT change, row FROM changes WHERE change > ?1 ORDER BY change";
        let mut select = self.connection.prepare_cached(sql)?;
        let changes = select.query_map([change as i64], |row| {
            Ok((row.get::<_, i64>(0)? as u64, Row(row.get(1)?)))
        })?;
        let mut found = Vec::new();
        for change in changes {
            let (change, row) = change?;
            let present = self.record(row)?.map(|record| Present {
                kind: record.standing.kind,
                created: record.created,
                features: record.features,
            });
            found.push(RowChange { change, row, before: None, present });
        }
        Ok(found)
    }

    /// The latest time that was given to anything.
    pub(super) fn clock(&self) -> Result<Timestamp, StoreError> {
        let kept = self.meta(CLOCK)?.and_then(|text| text.parse().ok());
        let sql = "SELECT max(stored) FROM documents WHERE row IN (SELECT row FROM changes)";
        let stored = self.connection.query_row(sql, [], |row| optional_time(row, 0))?;
        let sql = "SELECT time FROM decisions ORDER BY entry DESC LIMIT 1";
        let decided = self.connection.query_row(sql, [], |row| optional_time(row, 0)).optional()?;
        let known = [kept.map(Timestamp::from_microseconds), stored, decided.flatten()];
        let latest = known.into_iter().flatten().max();
        Ok(latest.unwrap_or(Timestamp::from_microseconds(0)))
    }

    /// Forgets the changes up to one: everything derived has seen them.
    pub(super) fn forget_changes(&self, up_to: u64, clock: Timestamp) -> Result<(), StoreError> {
        self.set_meta(CLOCK, &clock.as_microseconds().to_string())?;
        let sql = "DELETE FROM changes WHERE change <= ?1";
        self.connection.prepare_cached(sql)?.execute([up_to as i64])?;
        self.set_meta("changes forgotten", &up_to.to_string())
    }
}
