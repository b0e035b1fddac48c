//! The outbox: a numbered log of which documents changed.
//!
//! A transaction that changes a document notes the change here. Everything derived from the database (the
//! snapshot of the index, search, the index of shingles) keeps the number of the last change it has seen
//! and reads the changes after it. Changes that all of them have seen are removed.

use wonbon_index::Row;

use super::Database;
use crate::error::StoreError;

impl Database {
    /// Notes that a document changed.
    pub(crate) fn note_change(&self, change: u64, row: Row) -> Result<(), StoreError> {
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
    pub(crate) fn changes_after(
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

    /// Forgets the changes up to one: everything derived has seen them.
    pub(crate) fn forget_changes(&self, up_to: u64) -> Result<(), StoreError> {
        let sql = "DELETE FROM changes WHERE change <= ?1";
        self.connection.prepare_cached(sql)?.execute([up_to as i64])?;
        self.set_meta("changes forgotten", &up_to.to_string())
    }
}
