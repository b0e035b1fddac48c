//! The tables in PostgreSQL.
//!
//! They are those of SQLite with three differences. `head` is one row: the lock of a turn, its counters and its clock.
//! `turns` names the last turns by a number that nobody else has, so that a commit in doubt can be looked up. Keys, addresses and
//! sites are looked up by a digest of 16 bytes, because an entry of an index has at most 2,704 bytes and a key up to 4,096; the
//! whole is compared too.
//!
//! Only what other databases with PostgreSQL's protocol have as well: no sequences, triggers, functions or advisory locks.

use sha2::{Digest as _, Sha256};

/// The version of these tables.
pub(super) const TABLES_VERSION: i64 = 1;

/// The earliest server whose SQL is enough, as `server_version_num` has it.
pub(super) const EARLIEST_SERVER: i64 = 120_000;

/// What makes the tables; each may be repeated.
pub(super) const SCHEMA: [&str; 16] = [
    "CREATE TABLE IF NOT EXISTS head (one BIGINT PRIMARY KEY, tables BIGINT NOT NULL, \
     change BIGINT NOT NULL, forgotten BIGINT NOT NULL, next_row BIGINT NOT NULL, \
     clock BIGINT NOT NULL, nonce BYTEA NOT NULL) WITH (fillfactor = 10)",
    "CREATE TABLE IF NOT EXISTS turns (nonce BYTEA PRIMARY KEY, change BIGINT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS turns_by_change ON turns (change)",
    "CREATE TABLE IF NOT EXISTS meta (name TEXT COLLATE \"C\" PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS documents (\"row\" BIGINT PRIMARY KEY, key_name BYTEA NOT NULL, \
     url_name BYTEA, key TEXT COLLATE \"C\" NOT NULL, created BIGINT NOT NULL, \
     stored BIGINT NOT NULL, version BIGINT NOT NULL, url TEXT, site TEXT, author TEXT, title TEXT, \
     language TEXT, words BIGINT NOT NULL, content_name BYTEA NOT NULL, text_name BIGINT NOT NULL, \
     shingle_set_name BIGINT NOT NULL, features BYTEA NOT NULL, kind BIGINT NOT NULL, \
     original BIGINT, features_equal BIGINT, resemblance DOUBLE PRECISION, \
     fingerprint BIGINT NOT NULL, decision BIGINT, decision_entry BIGINT, published BIGINT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS documents_by_key ON documents (key_name)",
    "CREATE INDEX IF NOT EXISTS addresses ON documents (url_name) WHERE url_name IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS families ON documents (original, created) \
     WHERE original IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS texts (\"row\" BIGINT PRIMARY KEY, text BYTEA NOT NULL)",
    "CREATE TABLE IF NOT EXISTS versions (\"row\" BIGINT NOT NULL, version BIGINT NOT NULL, \
     created BIGINT NOT NULL, stored BIGINT NOT NULL, title TEXT, text BYTEA NOT NULL, \
     words BIGINT, resemblance DOUBLE PRECISION, PRIMARY KEY (\"row\", version))",
    "CREATE TABLE IF NOT EXISTS changes (change BIGINT PRIMARY KEY, \"row\" BIGINT NOT NULL, \
     before BYTEA)",
    "CREATE TABLE IF NOT EXISTS sweeps (sweep BIGINT PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS site_sweeps (site_name BYTEA NOT NULL, sweep BIGINT NOT NULL, \
     site TEXT COLLATE \"C\" NOT NULL, PRIMARY KEY (site_name, sweep))",
    "CREATE TABLE IF NOT EXISTS sightings (\"row\" BIGINT NOT NULL, first BIGINT NOT NULL, \
     last BIGINT NOT NULL, version BIGINT NOT NULL, fingerprint BIGINT NOT NULL, \
     PRIMARY KEY (\"row\", first))",
    "CREATE TABLE IF NOT EXISTS redirects (key_name BYTEA NOT NULL, sweep BIGINT NOT NULL, \
     target_name BYTEA NOT NULL, key TEXT COLLATE \"C\" NOT NULL, target TEXT NOT NULL, \
     fingerprint BIGINT NOT NULL, PRIMARY KEY (key_name, sweep))",
    "CREATE INDEX IF NOT EXISTS redirects_to ON redirects (target_name)",
];

/// The rest of the tables.
pub(super) const MORE_SCHEMA: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS watched (\"row\" BIGINT PRIMARY KEY, since BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS decisions (entry BIGINT PRIMARY KEY, time BIGINT NOT NULL, \
     who TEXT NOT NULL, what BIGINT NOT NULL, key_name BYTEA NOT NULL, key TEXT NOT NULL, \
     effect_before BIGINT, effect_after BIGINT, undoes BIGINT, reason TEXT, \
     fingerprint BIGINT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS decisions_of ON decisions (key_name, entry)",
    "ALTER TABLE texts ALTER COLUMN text SET STORAGE EXTERNAL",
];

/// The digest under which a key, an address or a site is looked up.
pub(super) fn digest(text: &str) -> Vec<u8> {
    Sha256::digest(text.as_bytes())[..16].to_vec()
}
