//! Texts beside the documents of a store in PostgreSQL, for what instances of a service share: their tokens, and the records
//! of jobs.
//!
//! They are entries of `meta`. Whoever changes a [`SharedText`] holds the head, as a turn does, so that of two changes at once
//! none is lost. [`SharedRecords`] are written by one process and read by all.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use super::address::Address;
use super::{Postgres, PostgresBackend};
use crate::error::StoreError;
use crate::tables::Reading as _;

/// A named text in a store in PostgreSQL.
pub struct SharedText {
    backend: Arc<PostgresBackend>,
    name: String,
    session: Mutex<Postgres>,
}

impl std::fmt::Debug for SharedText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedText").field("name", &self.name).finish_non_exhaustive()
    }
}

impl SharedText {
    /// The text of this name in the store at an address.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::NewerTables`], or the database's.
    pub fn open(place: &Path, name: &str) -> Result<Self, StoreError> {
        let backend = PostgresBackend::open(Address::parse(&place.to_string_lossy())?)?;
        match backend.tables()? {
            Some(tables) => backend.check_tables(tables)?,
            None => {
                return Err(StoreError::NoStore { path: backend.address.to_string().into() });
            }
        }
        let session = Mutex::new(backend.session()?);
        Ok(SharedText { backend, name: name.to_owned(), session })
    }

    fn session(&self) -> MutexGuard<'_, Postgres> {
        self.session.lock().expect("no one panics with it")
    }

    /// The text; empty if none was written.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn read(&self) -> Result<String, StoreError> {
        Ok(self.session().meta(&self.name)?.unwrap_or_default())
    }

    /// Writes what `change` makes of the text, if it makes anything.
    ///
    /// # Errors
    ///
    /// The database's, or what `change` says.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&str) -> std::io::Result<(T, Option<String>)>,
    ) -> Result<T, StoreError> {
        let session = self.session();
        // Opened anew if it was cut.
        session.meta(&self.name)?;
        let connection = session.connection();
        let failed = |error: tokio_postgres::Error| session.failed(&error);
        let changed = || {
            connection.run("BEGIN").map_err(failed)?;
            let lock = "SELECT 1 FROM head WHERE one = 1 FOR UPDATE";
            connection.query(lock, &[]).map_err(failed)?;
            let before = session.meta(&self.name)?.unwrap_or_default();
            let (answer, after) = change(&before).map_err(|source| StoreError::Io {
                doing: "change",
                path: self.backend.address.to_string().into(),
                source,
            })?;
            if let Some(after) = after {
                let sql = "INSERT INTO meta (name, value) VALUES ($1, $2) \
                           ON CONFLICT (name) DO UPDATE SET value = excluded.value";
                connection.query(sql, &[&self.name, &after]).map_err(failed)?;
            }
            connection.run("COMMIT").map_err(failed)?;
            Ok(answer)
        };
        let changed = changed();
        if changed.is_err() {
            // What was begun is taken back; the error of that is the one that counts.
            let _ = connection.run("ROLLBACK");
        }
        changed
    }
}

/// Texts in a store in PostgreSQL whose names begin alike.
pub struct SharedRecords {
    prefix: String,
    session: Mutex<Postgres>,
}

impl std::fmt::Debug for SharedRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedRecords").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

impl SharedRecords {
    pub(super) fn new(backend: &Arc<PostgresBackend>, prefix: &str) -> Result<Self, StoreError> {
        let session = Mutex::new(backend.session()?);
        Ok(SharedRecords { prefix: format!("{prefix}/"), session })
    }

    fn session(&self) -> MutexGuard<'_, Postgres> {
        self.session.lock().expect("no one panics with it")
    }

    /// Writes the text of a number in place of one that is there.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn put(&self, number: u32, text: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO meta (name, value) VALUES ($1, $2) \
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.session().query(sql, &[&self.name(number), &text]).map(drop)
    }

    /// The text of a number.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn get(&self, number: u32) -> Result<Option<String>, StoreError> {
        self.session().meta(&self.name(number))
    }

    /// Up to `most` texts of numbers below one, the highest number first.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn latest(&self, below: Option<u32>, most: usize) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT value FROM meta WHERE name >= $1 AND name < $2 \
                   ORDER BY name DESC LIMIT $3";
        // No number has this name, and it comes after all that have.
        let end = below.map_or_else(|| format!("{}:", self.prefix), |below| self.name(below));
        let session = self.session();
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = session.query(sql, &[&self.prefix, &end, &most])?;
        rows.iter().map(|row| session.get(row, 0)).collect()
    }

    /// In the order of the numbers.
    fn name(&self, number: u32) -> String {
        format!("{}{number:010}", self.prefix)
    }
}
