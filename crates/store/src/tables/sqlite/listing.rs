//! Reads lists for browsing (see [`crate::listing`]).

use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::Sqlite;
use super::times::time;
use crate::error::StoreError;

impl Sqlite {
    /// Up to `most` documents before one, the latest first.
    pub(super) fn rows_before(
        &self,
        row: Option<Row>,
        most: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT row FROM documents WHERE row < ?1 ORDER BY row DESC LIMIT ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        let before = row.map_or(i64::MAX, |row| i64::from(row.0));
        let rows = select.query_map((before, most as i64), |row| row.get(0).map(Row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Every original that has copies, and how many.
    pub(super) fn family_sizes(&self) -> Result<Vec<(Row, u64)>, StoreError> {
        let sql = "SELECT original, count(*) FROM documents WHERE original IS NOT NULL \
                   GROUP BY original";
        let mut select = self.connection.prepare_cached(sql)?;
        let sizes = select
            .query_map([], |row| Ok((Row(row.get(0)?), row.get::<_, i64>(1)?.unsigned_abs())))?;
        Ok(sizes.collect::<Result<_, _>>()?)
    }

    /// On how many sites a family stands, and when its last copy was created.
    pub(super) fn family_spread(&self, original: Row) -> Result<(u64, Timestamp), StoreError> {
        let sql = "SELECT count(DISTINCT coalesce(site, '')), max(created) FROM documents \
                   WHERE original = ?1 OR row = ?1";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row([original.0], |row| {
            Ok((row.get::<_, i64>(0)?.unsigned_abs(), time(row, 1)?))
        })?)
    }
}
