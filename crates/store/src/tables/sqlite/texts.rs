//! Reads and writes the texts of documents and of their earlier versions.

use rusqlite::{OptionalExtension, params};
use wonbon_index::Row;

use super::Sqlite;
use super::times::time;
use crate::error::StoreError;
use crate::prepare::decompress;
use crate::questions::OldVersion;
use crate::tables::Record;

impl Sqlite {
    /// The core text of a document.
    pub(crate) fn text(&self, row: Row) -> Result<String, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT text FROM texts WHERE row = ?1")?;
        let text: Option<Vec<u8>> = select.query_row([row.0], |row| row.get(0)).optional()?;
        text.and_then(|text| decompress(&text)).ok_or_else(|| self.damaged_row(row))
    }

    /// How many texts there are.
    pub(crate) fn count_texts(&self) -> Result<u64, StoreError> {
        self.count("SELECT count(*) FROM texts")
    }

    /// Stores the current text of a document as an old version and replaces it by another text, with the resemblance of
    /// the two.
    pub(crate) fn replace_text(
        &self,
        old: &Record,
        text: &[u8],
        resemblance: f64,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO versions (row, version, created, stored, title, words, resemblance, \
            text) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, text FROM texts WHERE row = ?1";
        self.connection.prepare_cached(sql)?.execute(params![
            old.row.0,
            old.version,
            old.created.as_microseconds(),
            old.stored.as_microseconds(),
            old.title,
            old.words as i64,
            resemblance,
        ])?;
        let sql = "UPDATE texts SET text = ?2 WHERE row = ?1";
        self.connection.prepare_cached(sql)?.execute((old.row.0, text))?;
        Ok(())
    }

    /// Stores a version before the present one.
    pub(super) fn put_version(
        &self,
        row: Row,
        version: &OldVersion,
        text: &[u8],
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO versions (row, version, created, stored, title, words, resemblance, \
            text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.connection.prepare_cached(sql)?.execute(params![
            row.0,
            version.version,
            version.created.as_microseconds(),
            version.stored.as_microseconds(),
            version.title,
            version.words.map(|words| words as i64),
            version.resemblance,
            text,
        ])?;
        Ok(())
    }

    /// The versions of a document before the present one, the first one first.
    pub(crate) fn versions(&self, row: Row) -> Result<Vec<OldVersion>, StoreError> {
        let sql = "SELECT version, created, stored, title, words, resemblance FROM versions \
                   WHERE row = ?1 ORDER BY version";
        let mut select = self.connection.prepare_cached(sql)?;
        let versions = select.query_map([row.0], |row| {
            Ok(OldVersion {
                version: row.get(0)?,
                created: time(row, 1)?,
                stored: time(row, 2)?,
                title: row.get(3)?,
                words: row.get::<_, Option<i64>>(4)?.map(|words| words as u64),
                resemblance: row.get(5)?,
            })
        })?;
        Ok(versions.collect::<Result<_, _>>()?)
    }

    /// How much a version resembles the next, if that was computed when the next was stored.
    pub(crate) fn version_resemblance(
        &self,
        row: Row,
        version: u32,
    ) -> Result<Option<f64>, StoreError> {
        let sql = "SELECT resemblance FROM versions WHERE row = ?1 AND version = ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        Ok(select.query_row((row.0, version), |row| row.get(0)).optional()?.flatten())
    }

    /// The core text of a version before the present one.
    pub(crate) fn version_text(&self, row: Row, version: u32) -> Result<String, StoreError> {
        let sql = "SELECT text FROM versions WHERE row = ?1 AND version = ?2";
        let mut select = self.connection.prepare_cached(sql)?;
        let text: Option<Vec<u8>> =
            select.query_row((row.0, version), |row| row.get(0)).optional()?;
        text.and_then(|text| decompress(&text)).ok_or_else(|| {
            self.damaged(format!("version {version} of document {} is not as written", row.0))
        })
    }

    /// Documents with old versions.
    pub(crate) fn rows_with_versions(&self) -> Result<Vec<Row>, StoreError> {
        let mut select =
            self.connection.prepare("SELECT DISTINCT row FROM versions ORDER BY row")?;
        let rows = select.query_map([], |row| row.get(0).map(Row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Documents with old versions that no sweep saw.
    pub(crate) fn rows_with_versions_and_no_sightings(&self) -> Result<Vec<Row>, StoreError> {
        let sql = "SELECT DISTINCT row FROM versions \
                   WHERE NOT EXISTS (SELECT 1 FROM sightings WHERE sightings.row = versions.row)";
        let mut select = self.connection.prepare(sql)?;
        let rows = select.query_map([], |row| row.get(0).map(Row))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
