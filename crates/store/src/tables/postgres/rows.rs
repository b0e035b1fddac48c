//! Rows of answers as what they stand for.

use tokio_postgres::Row as SqlRow;
use wonbon_index::Row;
use wonbon_rule::Kind;

use super::reading::PAGE;
use super::session::Postgres;
use crate::decisions::{Decision, DecisionChange, DecisionEntry};
use crate::error::StoreError;
use crate::prepare::decompress;
use crate::sweeps::Sighting;
use crate::tables::fingerprints::sighting_fingerprint;
use crate::tables::record::features_from_bytes;
use crate::tables::{ForEach, Present, Record, RowChange};

/// The changes after one with what the documents are now; also what a turn begins with.
pub(super) const ROW_CHANGES: &str = "SELECT c.change, c.\"row\", c.before, d.kind, d.created, d.features \
    FROM changes c LEFT JOIN documents d ON d.\"row\" = c.\"row\" WHERE c.change > $1 \
    ORDER BY c.change";

impl Postgres {
    pub(super) fn read_change(&self, found: &SqlRow) -> Result<RowChange, StoreError> {
        let change = self.get::<i64>(found, 0)? as u64;
        let row = self.row_number(found, 1)?;
        let damaged = || self.damaged_row(row);
        let features = |column| -> Result<Option<Vec<u64>>, StoreError> {
            let bytes: Option<&[u8]> = self.get(found, column)?;
            bytes.map(|bytes| features_from_bytes(row, bytes).ok_or_else(damaged)).transpose()
        };
        let kind: Option<i64> = self.get(found, 3)?;
        let present = match (kind, features(5)?) {
            (Some(kind), Some(features)) => Some(Present {
                kind: Kind::from_number(kind).ok_or_else(damaged)?,
                created: self.time(found, 4)?,
                features,
            }),
            _ => None,
        };
        Ok(RowChange { change, row, before: features(2)?, present })
    }

    pub(super) fn one_record(&self, rows: &[SqlRow]) -> Result<Option<Record>, StoreError> {
        rows.first().map(|row| self.read_record(row)).transpose()
    }

    pub(super) fn read_rows(&self, rows: &[SqlRow]) -> Result<Vec<Row>, StoreError> {
        rows.iter().map(|row| self.row_number(row, 0)).collect()
    }

    pub(super) fn count(&self, sql: &str) -> Result<u64, StoreError> {
        Ok(self.number(sql, &[])?.unwrap_or_default() as u64)
    }

    pub(super) fn for_each_features(
        &self,
        which: &str,
        each: ForEach<'_, (Row, Vec<u64>)>,
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT \"row\", features FROM documents WHERE \"row\" > $1 AND {which} \
             ORDER BY \"row\" LIMIT {}",
            10 * PAGE
        );
        let mut after = -1_i64;
        loop {
            let rows = self.query(&sql, &[&after])?;
            for found in &rows {
                let row = self.row_number(found, 0)?;
                after = i64::from(row.0);
                let features = features_from_bytes(row, self.get(found, 1)?);
                each((row, features.ok_or_else(|| self.damaged_row(row))?))?;
            }
            if rows.is_empty() {
                return Ok(());
            }
        }
    }

    pub(super) fn read_sighting(
        &self,
        row: Row,
        found: &SqlRow,
        column: usize,
    ) -> Result<Sighting, StoreError> {
        let what =
            || self.damage(format!("the sightings of document {} are not as written", row.0));
        let version = u32::try_from(self.get::<i64>(found, column + 2)?).map_err(|_| what())?;
        let (first, last) = (self.time(found, column)?, self.time(found, column + 1)?);
        let sighting = Sighting { first, last, version };
        match sighting_fingerprint(row, &sighting) == self.get::<i64>(found, column + 3)? {
            true => Ok(sighting),
            false => Err(what()),
        }
    }

    pub(super) fn read_decision(&self, row: &SqlRow) -> Result<DecisionEntry, StoreError> {
        let number: i64 = self.get(row, 0)?;
        let damaged =
            || self.damage(format!("entry {number} of the log of decisions is not as written"));
        let change = usize::try_from(self.get::<i64>(row, 3)?).ok();
        let entry = DecisionEntry {
            entry: number.unsigned_abs(),
            time: self.time(row, 1)?,
            who: self.get(row, 2)?,
            change: change
                .and_then(|at| DecisionChange::ALL.get(at).copied())
                .ok_or_else(damaged)?,
            key: self.get(row, 4)?,
            before: Decision::from_number(self.get(row, 5)?).ok_or_else(damaged)?,
            after: Decision::from_number(self.get(row, 6)?).ok_or_else(damaged)?,
            undoes: self.get::<Option<i64>>(row, 7)?.map(i64::unsigned_abs),
            reason: self.get(row, 8)?,
        };
        match entry.fingerprint() == self.get::<i64>(row, 9)? {
            true => Ok(entry),
            false => Err(damaged()),
        }
    }

    /// The text in a column.
    pub(super) fn read_text(
        &self,
        bytes: Option<&[u8]>,
        what: impl FnOnce() -> StoreError,
    ) -> Result<String, StoreError> {
        bytes.and_then(decompress).ok_or_else(what)
    }
}
