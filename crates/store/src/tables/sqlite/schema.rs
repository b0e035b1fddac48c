//! The SQL of the tables, and the migrations from each released version to the next.
//!
//! A new store runs through the same steps as an old one that is migrated, so both end with the same
//! tables. Released SQL is never edited: a change of the tables is a new migration.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::BUSY_PATIENCE;
use crate::error::StoreError;

/// Says to any SQLite tool whose file this is: the letters `wonb`.
pub(super) const APPLICATION_ID: i32 = 0x776F_6E62;

/// The version of the tables.
pub(super) const SCHEMA_VERSION: i32 = 1 + MIGRATIONS.len() as i32;

/// The tables of version 1.
pub(super) const SCHEMA: &str = "
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
pub(super) const MIGRATIONS: [&str; 3] = [
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
    DECISIONS,
    PUBLISHED,
];

/// The migration to version 3: decisions, and their log, which triggers keep append-only.
const DECISIONS: &str = "
ALTER TABLE documents ADD COLUMN decision INTEGER;
ALTER TABLE documents ADD COLUMN decision_entry INTEGER;
CREATE TABLE decisions (
    entry INTEGER PRIMARY KEY, time INTEGER NOT NULL, who TEXT NOT NULL, what INTEGER NOT NULL,
    key TEXT NOT NULL, effect_before INTEGER, effect_after INTEGER, undoes INTEGER, reason TEXT,
    fingerprint INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_of ON decisions (key, entry);
CREATE TRIGGER decisions_stay AFTER UPDATE ON decisions
    BEGIN SELECT RAISE(ABORT, 'the log of decisions is only added to'); END;
CREATE TRIGGER decisions_last BEFORE DELETE ON decisions
    BEGIN SELECT RAISE(ABORT, 'the log of decisions is only added to'); END;
";

/// The migration to version 4: when a document claims to be published.
const PUBLISHED: &str = "
ALTER TABLE documents ADD COLUMN published INTEGER;
";

/// Brings tables of an earlier version to this one, in one transaction.
pub(super) fn migrate(path: &Path, flags: OpenFlags) -> Result<(), StoreError> {
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
