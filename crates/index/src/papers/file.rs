//! The SQLite file of an index: what it is, the whole features of its originals, its page counts.
//!
//! Tables: `about`, one line that says which index this is, whether it is whole, how many originals
//! it has and what they sum up to; `originals`, the features of each row; and the trees. The file is
//! told from others by SQLite's `application_id` and its version by `user_version`.
//!
//! Changes go through SQLite's rollback journal. Loading many originals goes without: the file says
//! `loading` while that lasts, so that one that was broken off is never taken for an index.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use super::page_counter::take_page_accesses;
use super::trees::{TreeError, Trees};
use super::{FEATURES, Six};
use crate::{IndexError, Match, Row};

/// The letters `wobI`.
const APPLICATION_ID: i32 = 0x776F_6249;
const VERSION: i32 = 1;
/// The papers' block.
const PAGE_BYTES: u64 = 1024;
/// Enough for the inner pages of any tree of a million originals.
const CACHE_BYTES: u64 = 64 << 20;
/// More statements than any index has.
const STATEMENTS: usize = 64;

const WHOLE: i64 = 0;
const LOADING: i64 = 1;
const WRITTEN: i64 = 2;

/// How many originals there are, and a sum over all of them: what `verify` counts again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) originals: u64,
    pub(super) checksum: u64,
}

impl Sum {
    pub(super) fn plus(self, row: Row, features: &Six) -> Self {
        Sum {
            originals: self.originals + 1,
            checksum: self.checksum.wrapping_add(hash(row, features)),
        }
    }

    fn minus(self, row: Row, features: &Six) -> Self {
        Sum {
            originals: self.originals - 1,
            checksum: self.checksum.wrapping_sub(hash(row, features)),
        }
    }
}

fn hash(row: Row, features: &Six) -> u64 {
    features.iter().fold(wonbon_sketch::finalise(u64::from(row.0) + 1), |hash, &feature| {
        wonbon_sketch::finalise(hash.rotate_left(25) ^ feature)
    })
}

/// An open index file.
#[derive(Debug)]
pub(super) struct IndexFile {
    pub(super) connection: Connection,
    path: PathBuf,
    pub(super) sum: Sum,
    /// Set when loading failed: nothing can be said about the trees any more.
    broken: bool,
    /// Pages read in trees and for changes.
    searched: Cell<u64>,
    /// Pages read to compare what the trees found with whole features.
    compared: Cell<u64>,
}

impl IndexFile {
    /// Opens the index in this file, or makes one if there is none.
    pub(super) fn open<T: Trees>(path: &Path, trees: &T) -> Result<Self, IndexError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let failed = |error| failure(path, "open", error);
        // SQLite would take any file shorter than a page for an empty one, and write over it.
        if (1..PAGE_BYTES).contains(&std::fs::metadata(path).map_or(0, |about| about.len())) {
            let what = "it is too short";
            return Err(IndexError::Foreign { path: path.to_owned(), want: T::NAME, what });
        }
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| failed(error.into()))?;
        let sum = identified(&connection, path, trees)?;
        Self::opened(connection, path.to_owned(), sum).map_err(|error| failed(error.into()))
    }

    /// An index that is gone when it is dropped.
    pub(super) fn temporary<T: Trees>(trees: &T) -> Result<Self, IndexError> {
        let path = PathBuf::from("(temporary)");
        // The empty name is SQLite's for a file of its own, kept in memory while it is small.
        let made = Connection::open("").and_then(|connection| {
            prepare(&connection)?;
            connection.query_row("PRAGMA journal_mode = MEMORY", [], |_| Ok(()))?;
            create(&connection, trees)?;
            connection.execute_batch("COMMIT")?;
            Self::opened(connection, path.clone(), Sum::default())
        });
        made.map_err(|error| failure(&path, "create", error.into()))
    }

    fn opened(connection: Connection, path: PathBuf, sum: Sum) -> rusqlite::Result<Self> {
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // The bundled SQLite is built with STAT4, and would plan a statement anew for every value
        // that is bound to it: two thirds of the time of a search in small trees.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        let (searched, compared) = (Cell::new(0), Cell::new(0));
        let file = IndexFile { connection, path, sum, broken: false, searched, compared };
        file.set_cache_bytes(CACHE_BYTES)?;
        take_page_accesses(&file.connection);
        Ok(file)
    }

    pub(super) fn set_cache_bytes(&self, bytes: u64) -> rusqlite::Result<()> {
        // A negative number is a number of kibibytes.
        let kibibytes = i64::try_from(bytes.div_ceil(1024)).unwrap_or(i64::MAX);
        self.connection.pragma_update(None, "cache_size", -kibibytes)
    }

    pub(super) fn failure(&self, doing: &'static str, error: TreeError) -> IndexError {
        failure(&self.path, doing, error)
    }

    pub(super) fn check_usable(&self) -> Result<(), IndexError> {
        if self.broken { Err(damaged(&self.path, BROKEN_OFF)) } else { Ok(()) }
    }

    /// Runs questions inside one transaction, so that SQLite looks at the file's header once.
    pub(super) fn reading<R>(
        &self,
        ask: impl FnOnce(&Connection) -> Result<R, TreeError>,
    ) -> Result<R, TreeError> {
        self.connection.prepare_cached("BEGIN")?.execute([])?;
        let answer = ask(&self.connection);
        let ended = self.connection.prepare_cached("COMMIT").and_then(|mut end| end.execute([]));
        let answer = answer?;
        ended?;
        Ok(answer)
    }

    /// In how many places a row that a tree found agrees with whole features.
    pub(super) fn compare(&self, row: Row, features: &Six) -> Result<Match, TreeError> {
        count_into(&self.searched, &self.connection);
        let stored = self
            .stored(row)?
            .ok_or(TreeError::Damaged("a tree has a row that the table of originals has not"))?;
        count_into(&self.compared, &self.connection);
        let agreeing = features.iter().zip(&stored).filter(|(one, other)| one == other).count();
        Ok(Match { row, agreeing })
    }

    /// The features of a row, if it is there.
    pub(super) fn stored(&self, row: Row) -> Result<Option<Six>, TreeError> {
        let mut select =
            self.connection.prepare_cached("SELECT features FROM originals WHERE row = ?1")?;
        let bytes: Option<[u8; 8 * FEATURES]> =
            select.query_row([row.0], |found| found.get(0)).optional()?;
        Ok(bytes.map(|bytes| from_bytes(&bytes)))
    }

    /// Adds an original: the table and, by `trees`, the trees, all or nothing.
    pub(super) fn insert<T: Trees>(
        &mut self,
        trees: &T,
        row: Row,
        features: &Six,
    ) -> Result<(), TreeError> {
        let sum = self.sum.plus(row, features);
        let change = self.connection.transaction()?;
        insert_original(&change, row, features)?;
        trees.insert(&change, row, features)?;
        write_about(&change, WHOLE, sum)?;
        change.commit()?;
        self.sum = sum;
        Ok(())
    }

    /// Removes an original that is there.
    pub(super) fn remove<T: Trees>(
        &mut self,
        trees: &T,
        row: Row,
        features: &Six,
    ) -> Result<(), TreeError> {
        let sum = self.sum.minus(row, features);
        let change = self.connection.transaction()?;
        change.prepare_cached("DELETE FROM originals WHERE row = ?1")?.execute([row.0])?;
        if !trees.remove(&change, row, features)? {
            return Err(TreeError::Damaged("an original is not in all trees"));
        }
        write_about(&change, WHOLE, sum)?;
        change.commit()?;
        self.sum = sum;
        Ok(())
    }

    /// Adds originals whose rows are new and different from each other, as fast as SQLite can.
    ///
    /// When this fails the file is lost.
    pub(super) fn load<T: Trees>(
        &mut self,
        trees: &T,
        originals: &mut [(Row, Six)],
    ) -> Result<(), TreeError> {
        let sum = originals.iter().fold(self.sum, |sum, (row, features)| sum.plus(*row, features));
        write_about(&self.connection, LOADING, self.sum)?;
        self.broken = true;
        let journal: String =
            self.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        set_safety(&self.connection, "OFF", "OFF")?;
        let change = self.connection.transaction()?;
        for (row, features) in &*originals {
            insert_original(&change, *row, features)?;
        }
        trees.load(&change, originals)?;
        change.commit()?;
        set_safety(&self.connection, &journal, "NORMAL")?;
        // The end of the first change makes durable all that was written before it; only then may
        // the file say that it is whole.
        write_about(&self.connection, WRITTEN, sum)?;
        write_about(&self.connection, WHOLE, sum)?;
        self.sum = sum;
        self.broken = false;
        Ok(())
    }

    /// Hands over all originals, by row.
    pub(super) fn for_each_original(
        &self,
        mut each: impl FnMut(Row, Six),
    ) -> Result<(), TreeError> {
        let mut select =
            self.connection.prepare("SELECT row, features FROM originals ORDER BY row")?;
        let mut originals = select.query([])?;
        while let Some(original) = originals.next()? {
            let bytes: [u8; 8 * FEATURES] = original.get(1)?;
            each(super::trees::row_from_sql(original.get(0)?)?, from_bytes(&bytes));
        }
        Ok(())
    }

    pub(super) fn page_accesses(&self) -> u64 {
        count_into(&self.searched, &self.connection);
        self.searched.get() + self.compared.get()
    }

    pub(super) fn comparison_page_accesses(&self) -> u64 {
        self.compared.get()
    }
}

fn count_into(counter: &Cell<u64>, connection: &Connection) {
    counter.set(counter.get() + take_page_accesses(connection));
}

/// What must be said before anything is read or written; leaves a transaction open.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    // The lock stays until the file is closed: nobody changes it between two questions, and none of
    // them has to ask the system.
    connection.execute_batch(&format!(
        "PRAGMA page_size = {PAGE_BYTES};
         PRAGMA locking_mode = EXCLUSIVE;
         PRAGMA synchronous = NORMAL;
         BEGIN EXCLUSIVE;"
    ))
}

fn create<T: Trees>(connection: &Connection, trees: &T) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {VERSION};
         CREATE TABLE about(one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL,
           state INTEGER NOT NULL, originals INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
         CREATE TABLE originals(row INTEGER PRIMARY KEY, features BLOB NOT NULL) STRICT;"
    ))?;
    trees.create(connection)?;
    connection.execute("INSERT INTO about VALUES (1, ?1, ?2, 0, 0)", (T::NAME, WHOLE))?;
    Ok(())
}

/// Looks at what the file is, and makes an index of it if it is nothing yet.
fn identified<T: Trees>(
    connection: &Connection,
    path: &Path,
    trees: &T,
) -> Result<Sum, IndexError> {
    let failed = |error: rusqlite::Error| failure(path, "open", error.into());
    let foreign = |what| IndexError::Foreign { path: path.to_owned(), want: T::NAME, what };
    let number = |pragma: &str| connection.query_row(pragma, [], |row| row.get::<_, i64>(0));
    prepare(connection).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => foreign("it is no SQLite database"),
        _ => failed(error),
    })?;
    let application = number("PRAGMA application_id").map_err(failed)?;
    let tables = number("SELECT count(*) FROM sqlite_schema").map_err(failed)?;
    let page_bytes = number("PRAGMA page_size").map_err(failed)?;
    let sum = if application == 0 && tables == 0 && page_bytes == PAGE_BYTES as i64 {
        create(connection, trees).map_err(failed)?;
        Sum::default()
    } else {
        if application != i64::from(APPLICATION_ID) || page_bytes != PAGE_BYTES as i64 {
            return Err(foreign("it is a database of something else"));
        }
        if number("PRAGMA user_version").map_err(failed)? != i64::from(VERSION) {
            return Err(foreign("it has a version that this program does not know"));
        }
        let (name, state, sum) = connection
            .query_row("SELECT name, state, originals, checksum FROM about", [], |row| {
                let sum = Sum {
                    originals: row.get::<_, i64>(2)? as u64,
                    checksum: row.get::<_, i64>(3)? as u64,
                };
                Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, sum))
            })
            .map_err(failed)?;
        match name.as_str() {
            name if name == T::NAME => {}
            "B6D1" => return Err(foreign("it is a B6D1 index")),
            "R15D2" => return Err(foreign("it is an R15D2 index")),
            "R1D3" => return Err(foreign("it is an R1D3 index")),
            _ => return Err(damaged(path, "it has the name of no index")),
        }
        if state != WHOLE {
            return Err(damaged(path, BROKEN_OFF));
        }
        let pages = number("PRAGMA page_count").map_err(failed)?;
        let length = std::fs::metadata(path)
            .map_err(|source| IndexError::Io { doing: "open", path: path.to_owned(), source })?
            .len();
        if length != pages as u64 * PAGE_BYTES {
            return Err(damaged(path, "its length is not what its header says"));
        }
        sum
    };
    connection.execute_batch("COMMIT").map_err(failed)?;
    Ok(sum)
}

fn insert_original(connection: &Connection, row: Row, features: &Six) -> rusqlite::Result<()> {
    let mut bytes = [0; 8 * FEATURES];
    for (place, feature) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(features) {
        *place = feature.to_le_bytes();
    }
    connection.prepare_cached("INSERT INTO originals VALUES (?1, ?2)")?.execute((row.0, bytes))?;
    Ok(())
}

fn from_bytes(bytes: &[u8; 8 * FEATURES]) -> Six {
    std::array::from_fn(|place| u64::from_le_bytes(bytes.as_chunks::<8>().0[place]))
}

fn write_about(connection: &Connection, state: i64, sum: Sum) -> rusqlite::Result<()> {
    let mut update =
        connection.prepare_cached("UPDATE about SET state = ?1, originals = ?2, checksum = ?3")?;
    update.execute((state, sum.originals as i64, sum.checksum as i64))?;
    Ok(())
}

fn set_safety(connection: &Connection, journal: &str, synchronous: &str) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.query_row(&format!("PRAGMA journal_mode = {journal}"), [], |_| Ok(()))
}

const BROKEN_OFF: &str = "loading it was broken off; build it again";

fn damaged(path: &Path, what: &'static str) -> IndexError {
    IndexError::DamagedFile { path: path.to_owned(), what }
}

/// Tells damage from a failing environment. All statements are ours and fit our tables: one that
/// SQLite does not understand, or a value of another type, means that the tables are not ours.
fn failure(path: &Path, doing: &'static str, error: TreeError) -> IndexError {
    let source = match error {
        TreeError::Damaged(what) => return damaged(path, what),
        TreeError::Sqlite(source) => source,
    };
    match (&source, source.sqlite_error_code()) {
        (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) => {
            damaged(path, "SQLite cannot make sense of its pages")
        }
        (rusqlite::Error::QueryReturnedNoRows, _)
        | (_, Some(ErrorCode::Unknown | ErrorCode::ConstraintViolation))
        | (rusqlite::Error::FromSqlConversionFailure(..), _)
        | (rusqlite::Error::IntegralValueOutOfRange(..), _)
        | (rusqlite::Error::InvalidColumnType(..), _) => {
            damaged(path, "its tables are not those of this index")
        }
        _ => IndexError::Sqlite { doing, path: path.to_owned(), source },
    }
}
