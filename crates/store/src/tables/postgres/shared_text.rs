//! A text beside the documents of a store in PostgreSQL, for what instances of a service share: their tokens.
//!
//! It is an entry of `meta`. Whoever changes it holds the head, as a turn does, so that of two changes at once none is lost.

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
