//! Reads and writes rows of the table `documents`.

use std::collections::HashMap;
use std::sync::LazyLock;

use rusqlite::{OptionalExtension, params};
use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::Sqlite;
use super::rows::COLUMNS;
use super::times::{optional_time, time};
use crate::counts::Counts;
use crate::decisions::Decision;
use crate::document::Order;
use crate::error::StoreError;
use crate::prepare::decompress;
use crate::tables::record::{Record, Standing, features_from_bytes};
use crate::tables::{ForEach, Whole};
use wonbon_rule::Kind;

/// The entry of `meta` that keeps the number after one whose document, the last, was deleted. Everything derived that has
/// missed the deletion would take the next document for the deleted one if the number were given again.
const NEXT_ROW: &str = "next row";

impl Sqlite {
    /// The document of this number.
    pub(crate) fn record(&self, row: Row) -> Result<Option<Record>, StoreError> {
        static BY_ROW: LazyLock<String> =
            LazyLock::new(|| format!("SELECT {COLUMNS} FROM documents WHERE row = ?1"));
        self.one_record(&BY_ROW, [row.0])
    }

    /// The document of this key.
    pub(super) fn record_by_key(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.one_record(&format!("SELECT {COLUMNS} FROM documents WHERE key = ?1"), [key])
    }

    /// The document at this address, which is another than its key; of several the latest stored.
    pub(super) fn record_by_address(&self, url: &str) -> Result<Option<Record>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM documents WHERE url = ?1 AND url <> key \
             ORDER BY stored DESC, row DESC LIMIT 1"
        );
        self.one_record(&sql, [url])
    }

    fn one_record(
        &self,
        sql: &str,
        argument: impl rusqlite::Params,
    ) -> Result<Option<Record>, StoreError> {
        let mut select = self.connection.prepare_cached(sql)?;
        let mut rows = select.query(argument)?;
        match rows.next()? {
            Some(row) => self.read_record(row).map(Some),
            None => Ok(None),
        }
    }

    /// Those of these documents that are originals, with all that is shown of them.
    pub(super) fn originals(&self, rows: &[Row]) -> Result<HashMap<Row, Whole>, StoreError> {
        static WHOLE: LazyLock<String> = LazyLock::new(|| {
            // The first of the columns is the row, the only one that both tables have.
            format!(
                "SELECT documents.{COLUMNS}, text, \
                 (SELECT count(*) FROM documents AS copies WHERE copies.original = documents.row) \
                 FROM documents LEFT JOIN texts ON texts.row = documents.row \
                 WHERE documents.row = ?1"
            )
        });
        let mut select = self.connection.prepare_cached(&WHOLE)?;
        let mut originals = HashMap::with_capacity(rows.len());
        for &row in rows {
            let mut found = select.query([row.0])?;
            let Some(found) = found.next()? else { continue };
            let record = self.read_record(found)?;
            if record.standing.kind != Kind::Original {
                continue;
            }
            let text = found.get_ref(23)?.as_blob().ok().and_then(decompress);
            let text = text.ok_or_else(|| self.damaged_row(row))?;
            originals.insert(row, (record, text, found.get::<_, i64>(24)? as u64));
        }
        Ok(originals)
    }

    /// The copies of an original, the earliest first.
    pub(super) fn family(&self, original: Row) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT row FROM documents WHERE original = ?1 ORDER BY created, row";
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map([original.0], |row| row.get(0).map(Row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The places of the copies of an original in the order of judging, without reading their rows whole.
    pub(super) fn family_orders(&self, original: Row) -> Result<Vec<Order>, StoreError> {
        self.orders("SELECT row, created, decision FROM documents WHERE original = ?1", original)
    }

    /// The place of a document in that order.
    pub(super) fn order(&self, row: Row) -> Result<Option<Order>, StoreError> {
        let sql = "SELECT row, created, decision FROM documents WHERE row = ?1";
        Ok(self.orders(sql, row)?.pop())
    }

    fn orders(&self, sql: &str, argument: Row) -> Result<Vec<Order>, StoreError> {
        let mut select = self.connection.prepare_cached(sql)?;
        let mut found = select.query([argument.0])?;
        let mut orders = Vec::new();
        while let Some(found) = found.next()? {
            let row = Row(found.get(0)?);
            let decision = Decision::from_number(found.get(2)?);
            let decision = decision.ok_or_else(|| self.damaged_row(row))?;
            orders.push(Order::new(decision, time(found, 1)?, row));
        }
        Ok(orders)
    }

    /// How many copies an original has.
    pub(super) fn copies(&self, original: Row) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM documents WHERE original = ?1";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row([original.0], |row| row.get::<_, i64>(0))? as u64)
    }

    /// The name of a document's shingle set; none if there is no such document.
    pub(super) fn shingle_set_name(&self, row: Row) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT shingle_set_name FROM documents WHERE row = ?1";
        let mut select = self.connection.prepare_cached(sql)?;
        let name: Option<i64> = select.query_row([row.0], |row| row.get(0)).optional()?;
        Ok(name.map(|name| name as u64))
    }

    /// Up to `most` documents after one, in the order of their numbers.
    pub(crate) fn rows_after(&self, row: Option<Row>, most: usize) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT row FROM documents WHERE row > ?1 ORDER BY row LIMIT ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        let after = row.map_or(-1, |row| i64::from(row.0));
        let rows = select.query_map((after, most as i64), |row| row.get(0).map(Row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The number for the next new document: after all that were ever given.
    pub(super) fn next_row(&self) -> Result<u32, StoreError> {
        let next = self.row_after_last()?;
        let kept = self.meta(NEXT_ROW)?.and_then(|text| text.parse().ok());
        Ok(next.max(kept.unwrap_or(0)))
    }

    fn row_after_last(&self) -> Result<u32, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT coalesce(max(row), 0) + 1 FROM documents")?;
        Ok(select.query_row([], |row| row.get(0))?)
    }

    /// The latest creation of a copy.
    pub(super) fn latest_copy(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT max(created) FROM documents WHERE original IS NOT NULL";
        Ok(self.connection.query_row(sql, [], |row| optional_time(row, 0))?)
    }
}

/// Scans.
impl Sqlite {
    /// Calls `each` with number and features of every original, in the order of their numbers.
    pub(super) fn for_each_original(
        &self,
        each: ForEach<'_, (Row, Vec<u64>)>,
    ) -> Result<(), StoreError> {
        let kind = Kind::Original.number();
        self.for_each_features(&format!("kind = {kind}"), each)
    }

    /// Calls `each` with number and features of every copy whose shingles are not its original's.
    pub(super) fn for_each_differing_copy(
        &self,
        each: ForEach<'_, (Row, Vec<u64>)>,
    ) -> Result<(), StoreError> {
        let kind = Kind::Copy.number();
        self.for_each_features(&format!("original IS NOT NULL AND kind = {kind}"), each)
    }

    fn for_each_features(
        &self,
        which: &str,
        each: ForEach<'_, (Row, Vec<u64>)>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT row, features FROM documents WHERE {which} ORDER BY row");
        let mut select = self.connection.prepare(&sql)?;
        let mut rows = select.query([])?;
        while let Some(found) = rows.next()? {
            let row = Row(found.get(0)?);
            let bytes = found.get_ref(1)?.as_blob().map_err(|_| self.damaged_row(row))?;
            let features = features_from_bytes(row, bytes).ok_or_else(|| self.damaged_row(row))?;
            each((row, features))?;
        }
        Ok(())
    }

    /// Calls `each` with every document, in the order of their numbers.
    pub(crate) fn for_each_record(&self, each: ForEach<'_, Record>) -> Result<(), StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM documents ORDER BY row");
        let mut select = self.connection.prepare(&sql)?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            each(self.read_record(row)?)?;
        }
        Ok(())
    }

    /// How many documents of which kind there are, and how many old versions. Looks at every row.
    pub(crate) fn count_documents(&self) -> Result<Counts, StoreError> {
        let mut counts = Counts::default();
        let mut select =
            self.connection.prepare_cached("SELECT kind, count(*) FROM documents GROUP BY kind")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let number = row.get::<_, i64>(1)? as u64;
            counts.documents += number;
            match Kind::from_number(row.get(0)?) {
                Some(Kind::Original) => counts.originals += number,
                Some(Kind::Empty) => counts.empty += number,
                _ => counts.copies += number,
            }
        }
        counts.old_versions = self.count("SELECT count(*) FROM versions")?;
        Ok(counts)
    }

    /// How many sweeps there are, and how many documents are watched.
    pub(super) fn count_others(&self, counts: &mut Counts) -> Result<(), StoreError> {
        counts.sweeps = self.count("SELECT count(*) FROM sweeps")?;
        counts.watched = self.count("SELECT count(*) FROM watched")?;
        counts.latest_sweep = self.latest_sweep()?;
        Ok(())
    }
}

/// Writes.
impl Sqlite {
    pub(super) fn insert(&self, record: &Record, text: &[u8]) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO documents ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
             ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)"
        );
        self.write_record(&sql, record)?;
        let sql = "INSERT INTO texts (row, text) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute((record.row.0, text))?;
        Ok(())
    }

    /// Writes a known document's row again.
    pub(crate) fn update(&self, record: &Record) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET key = ?2, created = ?3, stored = ?4, version = ?5, \
            url = ?6, site = ?7, author = ?8, title = ?9, language = ?10, words = ?11, \
            content_name = ?12, text_name = ?13, shingle_set_name = ?14, features = ?15, \
            kind = ?16, original = ?17, features_equal = ?18, resemblance = ?19, fingerprint = ?20, \
            decision = ?21, decision_entry = ?22, published = ?23 WHERE row = ?1";
        self.write_record(sql, record)
    }

    /// Writes the standing of a known document. Only the index of families has columns of it, so only that one is written
    /// beside the row.
    pub(super) fn update_standing(&self, record: &Record) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET kind = ?2, original = ?3, features_equal = ?4, \
            resemblance = ?5, fingerprint = ?6 WHERE row = ?1";
        let Standing { kind, original, features_equal, resemblance } = record.standing;
        self.connection.prepare_cached(sql)?.execute(params![
            record.row.0,
            kind.number(),
            original.map(|original| original.0),
            features_equal.map(|count| count as i64),
            resemblance,
            record.fingerprint(),
        ])?;
        Ok(())
    }

    /// Removes a document, its versions, and what sweeps know of it.
    pub(super) fn delete(&self, record: &Record) -> Result<(), StoreError> {
        if self.row_after_last()? == record.row.0 + 1 {
            self.set_meta(NEXT_ROW, &(record.row.0 + 1).to_string())?;
        }
        for sql in [
            "DELETE FROM documents WHERE row = ?1",
            "DELETE FROM texts WHERE row = ?1",
            "DELETE FROM versions WHERE row = ?1",
            "DELETE FROM sightings WHERE row = ?1",
            "DELETE FROM watched WHERE row = ?1",
        ] {
            self.connection.prepare_cached(sql)?.execute([record.row.0])?;
        }
        for sql in
            ["DELETE FROM redirects WHERE key = ?1", "DELETE FROM redirects WHERE target = ?1"]
        {
            for address in [Some(&record.key), record.url.as_ref()].into_iter().flatten() {
                self.connection.prepare_cached(sql)?.execute([address])?;
            }
        }
        Ok(())
    }
}
