//! The tables of a store in SQLite, in a file of their own, for one process that writes and any number that read.
//!
//! | table | holds | module |
//! |---|---|---|
//! | `meta` | the parameters of the store and its identity | here |
//! | `documents` | one row per document: key, times, fingerprints of its content, features, verdict | [`rows`], [`documents`] |
//! | `texts` | the core text of each document, compressed | [`texts`] |
//! | `versions` | earlier versions of documents | [`texts`] |
//! | `changes` | the outbox: which documents changed, in order, for everything derived from them | [`outbox`] |
//! | `sweeps`, `site_sweeps` | the dated passes of crawls, and the sites each pass saw | [`sweeps`] |
//! | `sightings` | when a document was seen, as runs of sweeps | [`sweeps`] |
//! | `redirects` | addresses that redirected elsewhere, by sweep | [`sweeps`] |
//! | `watched` | the documents whose copies are watched | [`sweeps`] |
//! | `decisions` | the append-only log of decisions made by people | [`decisions`] |
//!
//! The tables and their migrations are in [`schema`].
//!
//! Texts have their own table so that a scan of all features reads only features. Each row of
//! `documents` carries a fingerprint of the whole row, the features carry a second one, and a text has
//! the checksum of its compressor: a value that was altered is refused and never used in an answer.
//!
//! The database runs in WAL mode with `synchronous = FULL`: a commit costs one fsync, and readers never
//! wait for the writer.

mod backend;
mod decisions;
mod documents;
#[cfg(test)]
mod earlier_versions;
#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod interrupted_migrations;
mod listing;
mod outbox;
mod reading;
mod rows;
mod schema;
mod sweeps;
mod texts;
mod times;
mod writing;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use wonbon_index::Row;
use wonbon_progress::Cancellation;

use super::Reading;
use crate::error::StoreError;
use crate::params::StoreParams;
pub(crate) use backend::SqliteBackend;
use schema::{APPLICATION_ID, MIGRATIONS, SCHEMA, SCHEMA_VERSION, migrate};
use writing::WriterState;

/// The page cache of a connection, in KiB. It is small because SQLite, when a page of the index of keys was split,
/// looks at every cached page at the end of the transaction (until the database has a gigabyte); with 128 MB this took
/// a fifth of the writer's time. The operating system caches the other pages.
const WRITER_CACHE_KIB: i32 = 16 << 10;

/// Less: each concurrent question has a reader, and the pages that readers need again and again, the inner
/// pages of the trees, are some hundred.
const READER_CACHE_KIB: i32 = 4 << 10;

/// How much of the database's file a reader maps into memory. Mapping instead of copying pages saves a tenth of a
/// query's time. It takes address space only; SQLite maps no more than this.
const READER_MAPPED_BYTES: i64 = 0x7FFF_0000;

/// SQLite's instructions between two looks at whether a question was cancelled: some 10 microseconds.
const INSTRUCTIONS: i32 = 1000;

const CHECKPOINTER_CACHE_KIB: i32 = 64;

/// How long a connection waits for another that holds what it needs.
pub(crate) const BUSY_PATIENCE: Duration = Duration::from_secs(30);

/// A file may come from anybody: functions in its schema are not called, its tables cannot be rewritten
/// behind SQLite's back, and cells are checked when a page is read.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// A connection to a database's file alone, without its WAL: for files to which nobody writes.
/// SQLite neither locks it nor writes anything beside it.
pub(crate) fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let unreadable = || rusqlite::Error::InvalidPath(path.to_owned());
    let absolute = std::path::absolute(path).map_err(|_| unreadable())?;
    let mut address = url::Url::from_file_path(absolute).map_err(|()| unreadable())?;
    address.set_query(Some("immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(address.as_str(), flags)?;
    distrust(&connection)?;
    Ok(connection)
}

/// Writes the current state of a database to an empty file.
pub(crate) fn vacuum_into(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    connection.execute("VACUUM INTO ?1", [path.to_string_lossy().as_ref()]).map(drop)
}

/// Whether a database was made by a store, of any version.
pub(crate) fn is_of_store(connection: &Connection) -> rusqlite::Result<bool> {
    let mark: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok(mark == APPLICATION_ID)
}

/// A connection to the database of a store.
#[derive(Debug)]
pub(crate) struct Sqlite {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// What stops the question that is being answered, if anything does.
    cancellation: Arc<Mutex<Option<Cancellation>>>,
    /// Of the connection of the one writer.
    writer: Option<WriterState>,
}

impl Sqlite {
    /// Makes the tables of a new store.
    pub(crate) fn create(
        path: &Path,
        params: &StoreParams,
        identity: &str,
    ) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        connection.execute_batch(SCHEMA)?;
        for migration in MIGRATIONS {
            connection.execute_batch(migration)?;
        }
        {
            let mut insert =
                connection.prepare("INSERT INTO meta (name, value) VALUES (?1, ?2)")?;
            for (name, value) in params.to_values() {
                insert.execute((name, value))?;
            }
            insert.execute(("identity", identity))?;
            insert.execute(("changes forgotten", "0"))?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        connection.execute_batch("COMMIT")?;
        drop(connection);
        Self::open_writer(path)
    }

    /// The one connection that writes. Tables of an earlier version are brought to this one.
    pub(crate) fn open_writer(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = match Self::open(path, flags, WRITER_CACHE_KIB) {
            Err(StoreError::OlderTables { .. }) => {
                migrate(path, flags)?;
                Self::open(path, flags, WRITER_CACHE_KIB)?
            }
            opened => opened?,
        };
        database.connection.pragma_update(None, "synchronous", "FULL")?;
        // A rebuild that was killed while it published leaves a database without a WAL.
        database.connection.pragma_update(None, "journal_mode", "WAL")?;
        Ok(database)
    }

    /// The one that copies the log into the database's file.
    pub(crate) fn open_checkpointer(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Self::open(path, flags, CHECKPOINTER_CACHE_KIB)?;
        database.connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(database)
    }

    /// One of any number that read.
    pub(crate) fn open_reader(path: &Path) -> Result<Self, StoreError> {
        // Not SQLite's read-only mode: a reader may have to bring the log's index up after a crash.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut database = match Self::open(path, flags, READER_CACHE_KIB) {
            Err(StoreError::WriteFailed { .. }) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Self::open(path, flags, READER_CACHE_KIB)?
            }
            opened => opened?,
        };
        database.connection.pragma_update(None, "query_only", true)?;
        database.connection.pragma_update(None, "mmap_size", READER_MAPPED_BYTES)?;
        database.watch_cancellation()?;
        Ok(database)
    }

    fn open(path: &Path, flags: OpenFlags, cache_kib: i32) -> Result<Self, StoreError> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_PATIENCE)?;
        // Otherwise SQLite plans a statement again for every value that is bound to it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        distrust(&connection)?;
        let cancellation = Arc::default();
        let database = Sqlite { connection, path: path.to_owned(), cancellation, writer: None };
        let wrong = |what: String| database.damaged(what);
        let number = |name: &str| -> Result<i32, StoreError> {
            database
                .connection
                .pragma_query_value(None, name, |row| row.get(0))
                .map_err(|error| database.refuse(error))
        };
        let application = number("application_id")?;
        if application != APPLICATION_ID {
            return Err(wrong(format!("it is no store (its mark is {application:#x})")));
        }
        let (stored, known) = (number("user_version")?, SCHEMA_VERSION);
        match stored {
            ..=0 => return Err(wrong(format!("its tables are of version {stored}"))),
            1..SCHEMA_VERSION => {
                return Err(StoreError::OlderTables { path: path.to_owned(), stored, known });
            }
            SCHEMA_VERSION => {}
            _ => return Err(StoreError::NewerTables { path: path.to_owned(), stored, known }),
        }
        // A file cut short is noticed before anything is answered from it.
        let (pages, page_bytes) = (number("page_count")?, number("page_size")?);
        let expected = u64::from(pages.unsigned_abs()) * u64::from(page_bytes.unsigned_abs());
        let log = path.with_extension("sqlite-wal");
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        if bytes < expected && std::fs::metadata(&log).map_or(0, |log| log.len()) == 0 {
            return Err(wrong(format!("it should have {expected} bytes and has {bytes}")));
        }
        database.connection.pragma_update(None, "cache_size", -cache_kib)?;
        database.connection.set_prepared_statement_cache_capacity(64);
        Ok(database)
    }

    /// Interrupts the statements of this reader once `cancellation` says so.
    pub(crate) fn cancel_when(&self, cancellation: Option<Cancellation>) {
        *self.cancellation.lock().expect("no one panics with it") = cancellation;
    }

    /// Lets SQLite ask every [`INSTRUCTIONS`] instructions, counted over all uses of a statement, whether
    /// the question was cancelled.
    fn watch_cancellation(&mut self) -> Result<(), StoreError> {
        let cancellation = self.cancellation.clone();
        let is_cancelled = move || {
            let cancellation = cancellation.lock().expect("no one panics with it");
            cancellation.as_ref().is_some_and(Cancellation::is_cancelled)
        };
        Ok(self.connection.progress_handler(INSTRUCTIONS, Some(is_cancelled))?)
    }

    pub(crate) fn damaged(&self, what: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what }
    }

    /// Why the first of what is read cannot be used: the file is damaged or somebody else's, unless the
    /// system did not let us read, which says nothing about the file.
    fn refuse(&self, error: rusqlite::Error) -> StoreError {
        match StoreError::from(error) {
            StoreError::Database(error) => self.damaged(error.to_string()),
            StoreError::Damaged { what, .. } => self.damaged(what),
            of_the_system => of_the_system,
        }
    }

    fn damaged_row(&self, row: Row) -> StoreError {
        self.damaged(format!("document {} is not as it was written", row.0))
    }

    /// The parameters the store was made with.
    pub(crate) fn params(&self) -> Result<StoreParams, StoreError> {
        let read = || -> rusqlite::Result<HashMap<String, String>> {
            let mut select = self.connection.prepare("SELECT name, value FROM meta")?;
            select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let values = read().map_err(|error| self.refuse(error))?;
        StoreParams::from_values(|name| values.get(name).cloned(), |what| self.damaged(what))
    }

    pub(crate) fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        let mut select =
            self.connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
        Ok(select.query_row([name], |row| row.get(0)).optional()?)
    }

    pub(crate) fn set_meta(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) \
                   ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.connection.prepare_cached(sql)?.execute((name, value))?;
        Ok(())
    }

    pub(crate) fn remove_meta(&self, name: &str) -> Result<(), StoreError> {
        self.connection.prepare_cached("DELETE FROM meta WHERE name = ?1")?.execute([name])?;
        Ok(())
    }

    /// The identity of this store.
    pub(crate) fn identity(&self) -> Result<String, StoreError> {
        (self as &dyn Reading).identity()
    }

    /// Runs a statement that is run again and again and answers nothing.
    pub(crate) fn run(&self, statement: &str) -> Result<(), StoreError> {
        self.connection.prepare_cached(statement)?.execute([])?;
        Ok(())
    }

    /// What SQLite finds wrong with its file; nothing if all is well.
    pub(crate) fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let mut check = self.connection.prepare("PRAGMA integrity_check(20)")?;
        let sentences = check.query_map([], |row| row.get::<_, String>(0))?;
        let sentences: Vec<String> = sentences.collect::<Result<_, _>>()?;
        Ok(sentences.into_iter().filter(|sentence| sentence != "ok").collect())
    }

    /// Writes the current state of the database to another file, which must not exist, readable only by its owner.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        wonbon_files::create_private_file(path)?;
        Ok(vacuum_into(&self.connection, path)?)
    }

    fn count(&self, sql: &str) -> Result<u64, StoreError> {
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_connection_trusts_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("documents.sqlite");
        drop(Sqlite::create(&path, &StoreParams::default(), "it").unwrap());
        let opened = [
            Sqlite::open_writer(&path).unwrap().connection,
            Sqlite::open_reader(&path).unwrap().connection,
            Sqlite::open_checkpointer(&path).unwrap().connection,
            open_immutable(&path).unwrap(),
        ];
        for connection in opened {
            let pragma = |name: &str| -> bool {
                connection.pragma_query_value(None, name, |row| row.get(0)).unwrap()
            };
            assert!(!pragma("trusted_schema") && pragma("cell_size_check"));
            assert!(connection.db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE).unwrap());
        }
    }
}
