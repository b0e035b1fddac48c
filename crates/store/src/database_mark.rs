//! The mark of a database: which write-ahead log (WAL) and which derived files belong to it.
//!
//! SQLite applies a WAL to any database that has the matching file name: the salts in the WAL's header are not in the
//! database. So a backup that is copied over a killed store is mixed with the WAL of that store ("disk image is malformed",
//! or worse, documents that look right), and a store that is created beside a left-over WAL revives the documents of
//! another. Derived files have the same problem: their change numbers look right once the older database has counted as far
//! as the newer one had.
//!
//! The database therefore carries a random mark, in `meta`, and the file `mark` beside it lists the marks of the database to
//! which all other files in the directory belong. Every process that writes draws a new mark before its first commit, so an
//! earlier copy of the same database has another mark; a backup has none. When a store is opened, the mark in the database's
//! file, read without the WAL, must be in the list:
//!
//! | | WAL is empty | WAL has commits |
//! |---|---|---|
//! | mark in the list, or no list (a store of an earlier release) | opened | opened, the WAL is applied |
//! | another mark | the derived files are removed and rebuilt | refused: [`StoreError::ForeignLog`] |
//!
//! The store's own WAL is never refused. The list holds the old and the new mark until the new one is in the database's
//! file. A mark that cannot be read (a checkpoint was interrupted in the middle of the page) counts as ours: SQLite repairs
//! that page from the WAL.
//!
//! The times of the files could be compared instead, but copying a file, restoring it from an archive and clocks that are
//! set back all break that.
//!
//! Cost: about seven syncs in the first commit of a process, nothing afterwards.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};

use crate::checkpoints::checkpoint_waiting;
use crate::error::StoreError;
use crate::params::random_identity;
use crate::store_files::StoreFiles;
use crate::tables::{Sqlite, open_immutable};

/// The name of the mark in `meta`.
const MARK: &str = "mark";

/// The entry in the list for a database that has no mark yet.
const NO_MARK: &str = "none";

/// A log of this size or less has no commits.
const LOG_HEADER_BYTES: u64 = 32;

/// Whether what is derived from the database beside it was derived from this one. Refuses a log of
/// another database.
pub(crate) fn check_companions(files: &StoreFiles) -> Result<bool, StoreError> {
    // The process that writes may be changing its mark: a reader looks again for a moment.
    wonbon_files::lock::patiently(
        || check_once(files),
        |error| matches!(error, StoreError::ForeignLog { .. }),
    )
}

fn check_once(files: &StoreFiles) -> Result<bool, StoreError> {
    let database = files.database();
    // A database in WAL mode has no rollback journal; SQLite would apply one all the same.
    if length(&files.journal()) > 0 && is_in_wal_mode(&database) {
        return Err(StoreError::ForeignLog { path: files.journal() });
    }
    let Some(list) = read_list(files)? else { return Ok(true) };
    let belongs = match mark_without_log(&database) {
        Ok(mark) => list.contains(&mark),
        Err(_) => true,
    };
    match belongs {
        false if length(&files.log()) > LOG_HEADER_BYTES => {
            Err(StoreError::ForeignLog { path: files.log() })
        }
        belongs => Ok(belongs),
    }
}

/// Refuses logs where there is no database.
pub(crate) fn refuse_left_over_logs(files: &StoreFiles) -> Result<(), StoreError> {
    match [files.log(), files.journal()].into_iter().find(|path| length(path) > 0) {
        Some(path) => Err(StoreError::ForeignLog { path }),
        None => Ok(()),
    }
}

/// The length of a file; 0 if there is none.
pub(crate) fn length(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// Whether the header of a database asks for a write-ahead log.
fn is_in_wal_mode(database: &Path) -> bool {
    use std::io::Read as _;
    let mut header = [0; 20];
    let read = std::fs::File::open(database).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18..20] == [2, 2]
}

/// The marks in the list; none if there is no list.
fn read_list(files: &StoreFiles) -> Result<Option<Vec<String>>, StoreError> {
    let path = files.mark();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.lines().map(str::to_owned).collect())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(StoreError::Io { doing: "read", path, source }),
    }
}

/// The mark in the database's file, read without the WAL.
fn mark_without_log(database: &Path) -> rusqlite::Result<String> {
    let connection = open_immutable(database)?;
    let mark = connection
        .query_row("SELECT value FROM meta WHERE name = ?1", [MARK], |row| row.get(0))
        .optional()?;
    Ok(mark.unwrap_or_else(|| NO_MARK.to_owned()))
}

/// Makes a copy of a database one of its own: with another identity, so that it never takes what is
/// derived from the original for its own, and without a mark.
pub(crate) fn separate(copy: &Connection) -> rusqlite::Result<()> {
    copy.execute("UPDATE meta SET value = ?1 WHERE name = 'identity'", [random_identity()])?;
    copy.execute("DELETE FROM meta WHERE name = ?1", [MARK])?;
    Ok(())
}

/// Draws a new mark, once for each process that writes.
#[derive(Debug)]
pub(crate) struct DatabaseMark {
    files: StoreFiles,
    is_renewed: bool,
}

impl DatabaseMark {
    pub(crate) fn new(files: StoreFiles) -> Self {
        DatabaseMark { files, is_renewed: false }
    }

    /// To be called before the first commit; later calls do nothing.
    pub(crate) fn renew(&mut self, database: &Sqlite) -> Result<(), StoreError> {
        if self.is_renewed {
            return Ok(());
        }
        let new = random_identity();
        let known = database.meta(MARK)?.unwrap_or_else(|| NO_MARK.to_owned());
        // What is in the list stays: the database's file may lag behind what its log says.
        let mut list = read_list(&self.files)?.unwrap_or_default();
        list.extend([known, new.clone()]);
        self.write(&list)?;
        database.set_meta(MARK, &new)?;
        // Somebody who reads for long may keep the mark from the file; then the list stays long.
        if matches!(checkpoint_waiting(&database.connection), Ok(0)) {
            self.write(&[new])?;
        }
        self.is_renewed = true;
        Ok(())
    }

    fn write(&self, list: &[String]) -> Result<(), StoreError> {
        let text: String = list.iter().flat_map(|mark| [mark.as_str(), "\n"]).collect();
        Ok(wonbon_files::replace(&self.files.mark(), text.as_bytes())?)
    }
}
