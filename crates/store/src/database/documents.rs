//! Reads and writes rows of the table `documents`.

use std::sync::LazyLock;

use rusqlite::{CachedStatement, OptionalExtension};
use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::record::{COLUMNS, features_from_bytes};
use super::{Database, Record};
use crate::counts::Counts;
use crate::error::StoreError;
use crate::prepare::decompress;
use crate::time_columns::optional_time;
use wonbon_rule::Kind;

/// Reads originals, with one statement for all.
pub(crate) struct Originals<'d> {
    database: &'d Database,
    select: CachedStatement<'d>,
}

impl Originals<'_> {
    /// The document of this number if it is an original, with its text and how many copies it has.
    pub(crate) fn get(&mut self, row: Row) -> Result<Option<(Record, String, u64)>, StoreError> {
        let mut rows = self.select.query([row.0])?;
        let Some(found) = rows.next()? else { return Ok(None) };
        let record = self.database.read_record(found)?;
        if record.standing.kind != Kind::Original {
            return Ok(None);
        }
        let text = found.get_ref(23)?.as_blob().ok().and_then(decompress);
        let text = text.ok_or_else(|| self.database.damaged_row(row))?;
        Ok(Some((record, text, found.get::<_, i64>(24)? as u64)))
    }
}

impl Database {
    /// The document of this number.
    pub(crate) fn record(&self, row: Row) -> Result<Option<Record>, StoreError> {
        static BY_ROW: LazyLock<String> =
            LazyLock::new(|| format!("SELECT {COLUMNS} FROM documents WHERE row = ?1"));
        self.one_record(&BY_ROW, [row.0])
    }

    /// The document of this key.
    pub(crate) fn record_by_key(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.one_record(&format!("SELECT {COLUMNS} FROM documents WHERE key = ?1"), [key])
    }

    /// The document at this address, which is another than its key; of several the latest stored.
    pub(crate) fn record_by_address(&self, url: &str) -> Result<Option<Record>, StoreError> {
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

    /// The way to many originals with all that is shown of them.
    pub(crate) fn originals(&self) -> Result<Originals<'_>, StoreError> {
        static WHOLE: LazyLock<String> = LazyLock::new(|| {
            // The first of the columns is the row, the only one that both tables have.
            format!(
                "SELECT documents.{COLUMNS}, text, \
                 (SELECT count(*) FROM documents AS copies WHERE copies.original = documents.row) \
                 FROM documents LEFT JOIN texts ON texts.row = documents.row \
                 WHERE documents.row = ?1"
            )
        });
        Ok(Originals { database: self, select: self.connection.prepare_cached(&WHOLE)? })
    }

    /// The copies of an original, the earliest first.
    pub(crate) fn family(&self, original: Row) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT row FROM documents WHERE original = ?1 ORDER BY created, row";
        let mut select = self.connection.prepare_cached(sql)?;
        let rows = select.query_map([original.0], |row| row.get(0).map(Row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// How many copies an original has.
    pub(crate) fn copies(&self, original: Row) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM documents WHERE original = ?1";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row([original.0], |row| row.get::<_, i64>(0))? as u64)
    }

    /// The key of a document.
    pub(crate) fn key(&self, row: Row) -> Result<String, StoreError> {
        self.record(row)?
            .map(|record| record.key)
            .ok_or_else(|| self.damaged(format!("the original {} is missing", row.0)))
    }

    /// The name of a document's shingle set; none if there is no such document.
    pub(crate) fn shingle_set_name(&self, row: Row) -> Result<Option<u64>, StoreError> {
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

    /// The number for the next new document.
    pub(crate) fn next_row(&self) -> Result<u32, StoreError> {
        let sql = "SELECT coalesce(max(row), 0) + 1 FROM documents";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }

    /// The latest creation of a copy.
    pub(crate) fn latest_copy(&self) -> Result<Option<Timestamp>, StoreError> {
        let sql = "SELECT max(created) FROM documents WHERE original IS NOT NULL";
        Ok(self.connection.query_row(sql, [], |row| optional_time(row, 0))?)
    }

    /// The document a person means: by its key, or else by its address.
    pub(crate) fn named(&self, name: &str) -> Result<Option<Record>, StoreError> {
        match self.record_by_key(name)? {
            Some(record) => Ok(Some(record)),
            None => self.record_by_address(name),
        }
    }
}

/// Scans.
impl Database {
    /// Calls `each` with number and features of every original, in the order of their numbers.
    pub(crate) fn for_each_original(
        &self,
        each: impl FnMut(Row, Vec<u64>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let kind = Kind::Original.number();
        self.for_each_features(&format!("kind = {kind}"), each)
    }

    /// Calls `each` with number and features of every copy whose shingles are not its original's.
    pub(crate) fn for_each_differing_copy(
        &self,
        each: impl FnMut(Row, Vec<u64>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let kind = Kind::Copy.number();
        self.for_each_features(&format!("original IS NOT NULL AND kind = {kind}"), each)
    }

    fn for_each_features(
        &self,
        which: &str,
        mut each: impl FnMut(Row, Vec<u64>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT row, features FROM documents WHERE {which} ORDER BY row");
        let mut select = self.connection.prepare(&sql)?;
        let mut rows = select.query([])?;
        while let Some(found) = rows.next()? {
            let row = Row(found.get(0)?);
            let bytes = found.get_ref(1)?.as_blob().map_err(|_| self.damaged_row(row))?;
            let features = features_from_bytes(row, bytes).ok_or_else(|| self.damaged_row(row))?;
            each(row, features)?;
        }
        Ok(())
    }

    /// Calls `each` with every document, in the order of their numbers.
    pub(crate) fn for_each_record(
        &self,
        mut each: impl FnMut(Record) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
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
    pub(crate) fn count_others(&self, counts: &mut Counts) -> Result<(), StoreError> {
        counts.sweeps = self.count("SELECT count(*) FROM sweeps")?;
        counts.watched = self.count("SELECT count(*) FROM watched")?;
        counts.latest_sweep = self.latest_sweep()?;
        Ok(())
    }
}

/// Writes.
impl Database {
    pub(crate) fn insert(&self, record: &Record, text: &[u8]) -> Result<(), StoreError> {
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

    /// Removes a document, its versions, and what sweeps know of it.
    pub(crate) fn delete(&self, record: &Record) -> Result<(), StoreError> {
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
