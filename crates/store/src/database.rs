//! The tables: everything that lasts.
//!
//! | table | holds |
//! |---|---|
//! | `meta` | what changes results, and the store's identity |
//! | `documents` | a row for each document: key, times, names of its content, features, verdict |
//! | `texts` | its core text, compressed |
//! | `versions` | what earlier versions of a document were |
//! | `changes` | the outbox: which documents changed, in order, for whatever is derived from them |
//! | `sweeps`, `site_sweeps` | the dated passes, and which sites each saw |
//! | `sightings` | when a document was seen, as runs of sweeps |
//! | `redirects` | which addresses a sweep saw lead elsewhere |
//! | `watched` | the documents whose copies are watched |
//! | `decisions` | what people decided, and took back: only ever added to |
//!
//! Texts stand apart so that reading all features touches only what is needed. Every row of
//! `documents` carries a fingerprint of itself, the features a second one of their own, and a text its
//! compressor's checksum: a value that is not what was written is refused, never answered from.
//!
//! Write-ahead log, `synchronous = FULL`: a commit is one fsync, readers never wait.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{CachedStatement, Connection, OpenFlags, OptionalExtension, Row as SqlRow, params};
use wonbon_index::Row;
use wonbon_sketch::rabin::{RABIN_64, RabinHasher};

use crate::counts::Counts;
use crate::decisions::Decision;
use crate::document::{Kind, Order};
use crate::error::StoreError;
use crate::params::StoreParams;
use crate::prepare::{Names, decompressed};
use crate::questions::OldVersion;

/// Says to any SQLite tool whose file this is: the letters `wonb`.
const APPLICATION_ID: i32 = 0x776F_6E62;
/// The version of the tables.
const SCHEMA_VERSION: i32 = 1 + MIGRATIONS.len() as i32;

/// The tables of version 1.
const SCHEMA: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
    row INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    stored INTEGER NOT NULL,
    version INTEGER NOT NULL,
    url TEXT, site TEXT, author TEXT, title TEXT, language TEXT,
    words INTEGER NOT NULL,
    content_name BLOB NOT NULL, text_name INTEGER NOT NULL, shingle_set_name INTEGER NOT NULL,
    features BLOB NOT NULL,
    kind INTEGER NOT NULL, original INTEGER, features_equal INTEGER, resemblance REAL,
    fingerprint INTEGER NOT NULL
) STRICT;
CREATE INDEX families ON documents (original, created) WHERE original IS NOT NULL;
CREATE TABLE texts (row INTEGER PRIMARY KEY, text BLOB NOT NULL) STRICT;
CREATE TABLE versions (
    row INTEGER NOT NULL, version INTEGER NOT NULL,
    created INTEGER NOT NULL, stored INTEGER NOT NULL, title TEXT, text BLOB NOT NULL,
    PRIMARY KEY (row, version)
) STRICT;
CREATE TABLE changes (change INTEGER PRIMARY KEY, row INTEGER NOT NULL) STRICT;
";

/// What makes the tables of a version those of the next; a new store goes through all of it. What was
/// released is never edited.
const MIGRATIONS: [&str; 2] = [
    "
CREATE TABLE sweeps (sweep INTEGER PRIMARY KEY) STRICT;
CREATE TABLE site_sweeps (
    site TEXT NOT NULL, sweep INTEGER NOT NULL, PRIMARY KEY (site, sweep)
) STRICT, WITHOUT ROWID;
CREATE TABLE sightings (
    row INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
    version INTEGER NOT NULL, fingerprint INTEGER NOT NULL,
    PRIMARY KEY (row, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE redirects (
    key TEXT NOT NULL, sweep INTEGER NOT NULL, target TEXT NOT NULL, fingerprint INTEGER NOT NULL,
    PRIMARY KEY (key, sweep)
) STRICT, WITHOUT ROWID;
CREATE INDEX redirects_to ON redirects (target);
CREATE TABLE watched (row INTEGER PRIMARY KEY, since INTEGER NOT NULL) STRICT;
CREATE INDEX addresses ON documents (url) WHERE url <> key;
ALTER TABLE versions ADD COLUMN words INTEGER;
ALTER TABLE versions ADD COLUMN resemblance REAL;
",
    crate::decisions::TABLES,
];

/// Pages of the database kept in memory by a connection, in KiB. Few: when a page of the index of keys
/// was split, SQLite looks at every page it keeps at the end of the transaction (until the database has
/// a gigabyte), which with 128 MB took a fifth of the writer's time. The system keeps the rest.
const WRITER_CACHE_KIB: i32 = 16 << 10;
/// Less: there are as many readers as questions at once, and what they need again and again, the inner
/// pages of the trees, is some hundred pages.
const READER_CACHE_KIB: i32 = 4 << 10;
/// What of the database's file a reader looks at in the system's memory instead of copying pages out of it: a
/// tenth of a query's time. Address space only; SQLite maps no more than this.
const READER_MAPPED_BYTES: i64 = 0x7FFF_0000;
const CHECKPOINTER_CACHE_KIB: i32 = 64;
/// How long a connection waits for another that holds what it needs.
pub(crate) const BUSY_PATIENCE: Duration = Duration::from_secs(30);

/// Brings tables of an earlier version to this one, in one transaction.
fn migrate(path: &Path, flags: OpenFlags) -> Result<(), StoreError> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_PATIENCE)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    for migration in MIGRATIONS.iter().skip(version.unsigned_abs().saturating_sub(1) as usize) {
        connection.execute_batch(migration)?;
    }
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    connection.execute_batch("COMMIT")?;
    Ok(())
}

/// A document's row in the tables, without its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) row: Row,
    pub(crate) key: String,
    pub(crate) created: i64,
    pub(crate) stored: i64,
    pub(crate) version: u32,
    pub(crate) url: Option<String>,
    pub(crate) site: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) words: u64,
    pub(crate) names: Names,
    pub(crate) features: Vec<u64>,
    pub(crate) standing: Standing,
    /// What was decided of it, if that is in effect.
    pub(crate) decision: Option<Decision>,
    /// The last entry of the log of decisions that changed that; 0 if none did.
    pub(crate) decision_entry: u64,
}

/// Where a document stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub(crate) kind: Kind,
    /// Its original, if it is a copy.
    pub(crate) original: Option<Row>,
    /// How many features agree with the original's.
    pub(crate) features_equal: Option<usize>,
    /// Its resemblance to the original, where the decision needed it.
    pub(crate) resemblance: Option<f64>,
}

impl Standing {
    pub(crate) const fn alone(kind: Kind) -> Self {
        Standing { kind, original: None, features_equal: None, resemblance: None }
    }
}

impl Record {
    pub(crate) fn order(&self) -> Order {
        Order::new(self.decision, self.created, self.row)
    }

    /// Of everything in the row, in a fixed order.
    fn fingerprint(&self) -> i64 {
        // In one piece, because short pieces take several times as long.
        let mut bytes = Vec::with_capacity(512);
        let mut text = |text: Option<&str>| {
            bytes.extend_from_slice(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        };
        text(Some(&self.key));
        for field in [&self.url, &self.site, &self.author, &self.title, &self.language] {
            text(field.as_deref());
        }
        let Standing { kind, original, features_equal, resemblance } = self.standing;
        for number in [
            i64::from(self.row.0),
            self.created,
            self.stored,
            i64::from(self.version),
            self.words as i64,
            self.names.text as i64,
            self.names.shingle_set as i64,
            kind.number(),
            original.map_or(-1, |original| i64::from(original.0)),
            features_equal.map_or(-1, |count| count as i64),
            resemblance.map_or(-1, |resemblance| resemblance.to_bits() as i64),
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.names.content);
        for feature in &self.features {
            bytes.extend_from_slice(&feature.to_le_bytes());
        }
        // Rows from before there were decisions have none.
        if self.decision_entry > 0 {
            bytes.extend_from_slice(&self.decision_entry.to_le_bytes());
            let decision = Decision::number(self.decision).unwrap_or(-1);
            bytes.extend_from_slice(&decision.to_le_bytes());
        }
        RABIN_64.fingerprint(&bytes) as i64
    }
}

/// Features as bytes: each in eight, then a fingerprint of them and of the row they belong to.
fn features_to_bytes(row: Row, features: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = features.iter().flat_map(|feature| feature.to_le_bytes()).collect();
    let fingerprint = features_fingerprint(row, &bytes);
    bytes.extend_from_slice(&fingerprint.to_le_bytes());
    bytes
}

/// What [`features_to_bytes`] wrote; `None` if it is not exactly that.
fn features_from_bytes(row: Row, bytes: &[u8]) -> Option<Vec<u64>> {
    let (features, fingerprint) = bytes.split_last_chunk()?;
    let (whole, []) = features.as_chunks() else { return None };
    let as_written = u64::from_le_bytes(*fingerprint) == features_fingerprint(row, features);
    as_written.then(|| whole.iter().map(|feature| u64::from_le_bytes(*feature)).collect())
}

fn features_fingerprint(row: Row, features: &[u8]) -> u64 {
    let mut hash = RabinHasher::new(&RABIN_64);
    hash.write(features);
    hash.write(&row.0.to_le_bytes());
    hash.finish()
}

/// A connection to the database of a store.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    path: PathBuf,
}

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
        let text = found.get_ref(22)?.as_blob().ok().and_then(decompressed);
        let text = text.ok_or_else(|| self.database.damaged_row(row))?;
        Ok(Some((record, text, found.get::<_, i64>(23)? as u64)))
    }
}

const COLUMNS: &str = "row, key, created, stored, version, url, site, author, title, language, \
    words, content_name, text_name, shingle_set_name, features, kind, original, features_equal, \
    resemblance, fingerprint, decision, decision_entry";

impl Database {
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
        let database = match Self::open(path, flags, READER_CACHE_KIB) {
            Err(StoreError::WriteFailed { .. }) => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                Self::open(path, flags, READER_CACHE_KIB)?
            }
            opened => opened?,
        };
        database.connection.pragma_update(None, "query_only", true)?;
        database.connection.pragma_update(None, "mmap_size", READER_MAPPED_BYTES)?;
        Ok(database)
    }

    fn open(path: &Path, flags: OpenFlags, cache_kib: i32) -> Result<Self, StoreError> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(BUSY_PATIENCE)?;
        // Otherwise SQLite plans a statement again for every value that is bound to it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        let database = Database { connection, path: path.to_owned() };
        let wrong = |what: String| database.damaged(what);
        let number = |name: &str| -> Result<i32, StoreError> {
            database
                .connection
                .pragma_query_value(None, name, |row| row.get(0))
                .map_err(|error| wrong(error.to_string()))
        };
        let application = number("application_id")?;
        if application != APPLICATION_ID {
            return Err(wrong(format!("it is no store (its mark is {application:#x})")));
        }
        let version = number("user_version")?;
        if (1..SCHEMA_VERSION).contains(&version) {
            return Err(StoreError::OlderTables {
                path: path.to_owned(),
                stored: version,
                known: SCHEMA_VERSION,
            });
        }
        if version != SCHEMA_VERSION {
            return Err(StoreError::ParamsMismatch {
                what: "tables of version",
                stored: version.to_string(),
                asked: SCHEMA_VERSION.to_string(),
            });
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

    pub(crate) fn damaged(&self, what: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what }
    }

    fn damaged_row(&self, row: Row) -> StoreError {
        self.damaged(format!("document {} is not as it was written", row.0))
    }

    /// The parameters the store was made with.
    pub(crate) fn params(&self) -> Result<StoreParams, StoreError> {
        StoreParams::from_values(|name| self.meta(name).ok().flatten(), |what| self.damaged(what))
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

    /// What tells this store from every other.
    pub(crate) fn identity(&self) -> Result<String, StoreError> {
        self.meta("identity")?
            .ok_or_else(|| self.damaged("it does not say what its identity is".to_owned()))
    }

    fn read_record(&self, row: &SqlRow<'_>) -> Result<Record, StoreError> {
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
            created: row.get(2)?,
            stored: row.get(3)?,
            version: row.get(4)?,
            url: row.get(5)?,
            site: row.get(6)?,
            author: row.get(7)?,
            title: row.get(8)?,
            language: row.get(9)?,
            words: row.get::<_, i64>(10)? as u64,
            names: Names {
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
        };
        if record.fingerprint() != row.get::<_, i64>(19)? {
            return Err(damaged());
        }
        Ok(record)
    }

    /// Runs a statement that is run again and again and answers nothing.
    pub(crate) fn run(&self, statement: &str) -> Result<(), StoreError> {
        self.connection.prepare_cached(statement)?.execute([])?;
        Ok(())
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

    /// The document of this number.
    pub(crate) fn record(&self, row: Row) -> Result<Option<Record>, StoreError> {
        static BY_ROW: LazyLock<String> =
            LazyLock::new(|| format!("SELECT {COLUMNS} FROM documents WHERE row = ?1"));
        self.one_record(&BY_ROW, [row.0])
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

    /// The core text of a document.
    pub(crate) fn text(&self, row: Row) -> Result<String, StoreError> {
        let mut select = self.connection.prepare_cached("SELECT text FROM texts WHERE row = ?1")?;
        let text: Option<Vec<u8>> = select.query_row([row.0], |row| row.get(0)).optional()?;
        text.and_then(|text| decompressed(&text)).ok_or_else(|| self.damaged_row(row))
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

    pub(crate) fn insert(&self, record: &Record, text: &[u8]) -> Result<(), StoreError> {
        let sql = format!(
            "INSERT INTO documents ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
             ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)"
        );
        self.write_record(&sql, record)?;
        let sql = "INSERT INTO texts (row, text) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute((record.row.0, text))?;
        Ok(())
    }

    fn write_record(&self, sql: &str, record: &Record) -> Result<(), StoreError> {
        let Standing { kind, original, features_equal, resemblance } = record.standing;
        self.connection.prepare_cached(sql)?.execute(params![
            record.row.0,
            record.key,
            record.created,
            record.stored,
            record.version,
            record.url,
            record.site,
            record.author,
            record.title,
            record.language,
            record.words as i64,
            record.names.content,
            record.names.text as i64,
            record.names.shingle_set as i64,
            features_to_bytes(record.row, &record.features),
            kind.number(),
            original.map(|original| original.0),
            features_equal.map(|count| count as i64),
            resemblance,
            record.fingerprint(),
            Decision::number(record.decision),
            (record.decision_entry > 0).then_some(record.decision_entry as i64),
        ])?;
        Ok(())
    }

    /// Writes a known document's row again.
    pub(crate) fn update(&self, record: &Record) -> Result<(), StoreError> {
        let sql = "UPDATE documents SET key = ?2, created = ?3, stored = ?4, version = ?5, \
            url = ?6, site = ?7, author = ?8, title = ?9, language = ?10, words = ?11, \
            content_name = ?12, text_name = ?13, shingle_set_name = ?14, features = ?15, \
            kind = ?16, original = ?17, features_equal = ?18, resemblance = ?19, fingerprint = ?20, \
            decision = ?21, decision_entry = ?22 WHERE row = ?1";
        self.write_record(sql, record)
    }

    /// Keeps what a document is now as an old version, and gives it another text, which resembles it
    /// so much.
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
            old.created,
            old.stored,
            old.title,
            old.words as i64,
            resemblance,
        ])?;
        let sql = "UPDATE texts SET text = ?2 WHERE row = ?1";
        self.connection.prepare_cached(sql)?.execute((old.row.0, text))?;
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
                created: row.get(1)?,
                stored: row.get(2)?,
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
        text.and_then(|text| decompressed(&text)).ok_or_else(|| {
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

    /// What SQLite finds wrong with its file; nothing if all is well.
    pub(crate) fn integrity(&self) -> Result<Vec<String>, StoreError> {
        let mut check = self.connection.prepare("PRAGMA integrity_check(20)")?;
        let sentences = check.query_map([], |row| row.get::<_, String>(0))?;
        let sentences: Vec<String> = sentences.collect::<Result<_, _>>()?;
        Ok(sentences.into_iter().filter(|sentence| sentence != "ok").collect())
    }

    /// How many texts there are.
    pub(crate) fn count_texts(&self) -> Result<u64, StoreError> {
        self.count("SELECT count(*) FROM texts")
    }

    /// Writes the database as of this moment to another file, which must not exist.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        let path = path.to_string_lossy();
        self.connection.execute("VACUUM INTO ?1", [path.as_ref()])?;
        Ok(())
    }

    /// The latest creation of a copy.
    pub(crate) fn latest_copy(&self) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT max(created) FROM documents WHERE original IS NOT NULL";
        Ok(self.connection.query_row(sql, [], |row| row.get(0))?)
    }
}

impl Database {
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

    fn count(&self, sql: &str) -> Result<u64, StoreError> {
        Ok(self.connection.query_row(sql, [], |row| row.get::<_, i64>(0))? as u64)
    }
}
