//! Rows of the table `documents`: from SQLite's columns to values and back.

use rusqlite::{Row as SqlRow, params};
use wonbon_index::Row;
use wonbon_rule::{Fingerprints, Kind};
use wonbon_time::Timestamp;

use super::Sqlite;
use super::times::{optional_time, time};
use crate::decisions::Decision;
use crate::error::StoreError;
use crate::tables::record::{Record, Standing, features_from_bytes, features_to_bytes};

/// The columns of `documents`, in the order in which `read_record` reads and `write_record` writes them.
pub(super) const COLUMNS: &str = "row, key, created, stored, version, url, site, author, title, language, \
    words, content_name, text_name, shingle_set_name, features, kind, original, features_equal, \
    resemblance, fingerprint, decision, decision_entry, published";

impl Sqlite {
    pub(super) fn read_record(&self, row: &SqlRow<'_>) -> Result<Record, StoreError> {
        let number = u32::try_from(row.get::<_, i64>(0)?)
            .map_err(|_| self.damaged("a document has no proper number".to_owned()))?;
        let row_number = Row(number);
        let damaged = || self.damaged_row(row_number);
        let blob = |column: usize| row.get_ref(column)?.as_blob().map_err(|_| damaged());
        let original: Option<i64> = row.get(16)?;
        let features_equal: Option<i64> = row.get(17)?;
        let record = Record {
            row: row_number,
            key: row.get(1)?,
            created: time(row, 2)?,
            stored: time(row, 3)?,
            version: row.get(4)?,
            url: row.get(5)?,
            site: row.get(6)?,
            author: row.get(7)?,
            title: row.get(8)?,
            language: row.get(9)?,
            words: row.get::<_, i64>(10)? as u64,
            fingerprints: Fingerprints {
                content: blob(11)?.try_into().map_err(|_| damaged())?,
                text: row.get::<_, i64>(12)? as u64,
                shingle_set: row.get::<_, i64>(13)? as u64,
            },
            features: features_from_bytes(row_number, blob(14)?).ok_or_else(damaged)?,
            standing: Standing {
                kind: Kind::from_number(row.get(15)?).ok_or_else(damaged)?,
                original: original
                    .map(|original| u32::try_from(original).map(Row).map_err(|_| damaged()))
                    .transpose()?,
                features_equal: features_equal.map(|count| count as usize),
                resemblance: row.get(18)?,
            },
            decision: Decision::from_number(row.get(20)?).ok_or_else(damaged)?,
            decision_entry: row.get::<_, Option<i64>>(21)?.map_or(0, i64::unsigned_abs),
            published: optional_time(row, 22)?,
        };
        if record.fingerprint() != row.get::<_, i64>(19)? {
            return Err(damaged());
        }
        Ok(record)
    }

    pub(super) fn write_record(&self, sql: &str, record: &Record) -> Result<(), StoreError> {
        let Standing { kind, original, features_equal, resemblance } = record.standing;
        self.connection.prepare_cached(sql)?.execute(params![
            record.row.0,
            record.key,
            record.created.as_microseconds(),
            record.stored.as_microseconds(),
            record.version,
            record.url,
            record.site,
            record.author,
            record.title,
            record.language,
            record.words as i64,
            record.fingerprints.content,
            record.fingerprints.text as i64,
            record.fingerprints.shingle_set as i64,
            features_to_bytes(record.row, &record.features),
            kind.number(),
            original.map(|original| original.0),
            features_equal.map(|count| count as i64),
            resemblance,
            record.fingerprint(),
            Decision::number(record.decision),
            (record.decision_entry > 0).then_some(record.decision_entry as i64),
            record.published.map(Timestamp::as_microseconds),
        ])?;
        Ok(())
    }
}
