//! What can go wrong with a store.

use std::path::PathBuf;

use wonbon_index::IndexError;
use wonbon_sketch::SketchError;
use wonbon_time::Timestamp;

/// Why a store cannot do what was asked. Nothing that was acknowledged is ever lost by an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no store in this directory.
    #[error("there is no store at {}", path.display())]
    NoStore {
        /// The directory.
        path: PathBuf,
    },
    /// A store is made once.
    #[error("there is a store at {} already", path.display())]
    AlreadyThere {
        /// The directory.
        path: PathBuf,
    },
    /// One process writes at a time.
    #[error("another process is writing to the store at {}", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// This handle only reads.
    #[error("the store at {} was opened for reading only", path.display())]
    ReadOnly {
        /// The directory.
        path: PathBuf,
    },
    /// The store was made with other parameters than were asked for.
    #[error("the store has {what} {stored}, not {asked}")]
    ParamsMismatch {
        /// Which one.
        what: &'static str,
        /// What the store was made with.
        stored: String,
        /// What was asked for.
        asked: String,
    },
    /// The tables are of an earlier version, and this handle may not bring them to the present one.
    #[error(
        "the store at {} has tables of version {stored}; opening it for writing once makes them \
         version {known}",
        path.display()
    )]
    OlderTables {
        /// The database.
        path: PathBuf,
        /// The version it has.
        stored: i32,
        /// The version this program knows.
        known: i32,
    },
    /// The tables were made by a later program.
    #[error(
        "the store at {} has tables of version {stored}; this program knows them up to version {known}",
        path.display()
    )]
    NewerTables {
        /// The database.
        path: PathBuf,
        /// The version it has.
        stored: i32,
        /// The version this program knows.
        known: i32,
    },
    /// Sweeps are added in the order of their dates.
    #[error("the sweep of {sweep} is earlier than the store's latest, {latest}")]
    SweepTooEarly {
        /// The sweep.
        sweep: Timestamp,
        /// The store's latest.
        latest: Timestamp,
    },
    /// Precondition failed: the document changed since it was read.
    #[error("`{key}` is not as expected: {found}")]
    NotAsExpected {
        /// The document.
        key: String,
        /// What there is instead.
        found: &'static str,
    },
    /// The database is not as it was written; nothing is answered from it.
    #[error("the database of the store at {} is damaged: {what}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What gave it away.
        what: String,
    },
    /// SQLite would apply this log to a database that it does not belong to.
    #[error("{} was left over by another database", path.display())]
    ForeignLog {
        /// The log. It is left as it is: it may hold documents that are nowhere else.
        path: PathBuf,
    },
    /// The database is not the one that the other files were derived from.
    #[error(
        "the database {} was replaced; opening it for writing once builds its indexes anew",
        path.display()
    )]
    Replaced {
        /// The database.
        path: PathBuf,
    },
    /// The directory to which a store shall be restored is not empty.
    #[error("{} is not empty; nothing is overwritten", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The deadline of a question has passed, or nobody waits for its answer any more.
    #[error("the question was given up: its time is over, or nobody waits for the answer")]
    Cancelled,
    /// The disk is full; what was acknowledged is safe, and reading continues.
    #[error("the disk is full: nothing of this was stored")]
    DiskFull,
    /// A write failed; what was acknowledged is safe, and reading continues.
    #[error("writing failed, nothing of this was stored: {what}")]
    WriteFailed {
        /// In the database's words.
        what: String,
    },
    /// Rolling back a failed write failed too: reading continues, writing needs the store to be opened
    /// again.
    #[error("the store stopped writing after an error and must be opened again: {what}")]
    Stopped {
        /// The first error.
        what: String,
    },
    /// Long work was asked to stop; what is done so far is kept.
    #[error("stopped before it was complete; the same command continues")]
    Interrupted,
    /// A key that cannot be one.
    #[error("a key has 1 to {most} bytes, this one has {bytes}")]
    BadKey {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// A text that is too long.
    #[error("a text has up to {most} bytes, this one has {bytes}")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// A file beside the database cannot be read or written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// What should name a PostgreSQL does not.
    #[error("this is no address of a PostgreSQL: {what}")]
    BadAddress {
        /// What is wrong, without the password.
        what: String,
    },
    /// The PostgreSQL does not answer. What was acknowledged is safe.
    #[error("{place} cannot be reached: {what}")]
    Unreachable {
        /// Its address, without the password.
        place: String,
        /// In the driver's or the server's words.
        what: String,
    },
    /// Others write, and the turn of this process did not come, or was cut off. Nothing of this was stored.
    #[error("the store is busy, nothing of this was stored: {what}")]
    Busy {
        /// In the server's words.
        what: String,
    },
    /// The connection was lost while the answer to a commit was waited for, and no other could be made.
    #[error("it is not known whether this was stored: {what}")]
    InDoubt {
        /// Why.
        what: String,
    },
    /// The PostgreSQL refused.
    #[error("{place} refused: {what}")]
    Refused {
        /// Its address, without the password.
        place: String,
        /// In the server's words.
        what: String,
    },
    /// This is done with a directory only.
    #[error("{what} is for a store in a directory; this one is in PostgreSQL")]
    NotADirectory {
        /// What was asked for.
        what: &'static str,
    },
    /// Search or questions were asked of a process that leaves them to others.
    #[error("this process does not keep {which}: it follows nothing, and leaves that to others")]
    NotFollowed {
        /// Search, or the index of shingles.
        which: &'static str,
    },
    /// A store in a directory has nobody else to leave search and questions to.
    #[error(
        "a store in a directory has one process, which has to follow it; only in PostgreSQL may one follow nothing"
    )]
    MustFollow,
    /// A key that cannot be one.
    #[error("a key has no NUL character, this one has")]
    NulInKey,
    /// The database refused.
    #[error("the database failed: {0}")]
    Database(rusqlite::Error),
    /// The index refused.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The search index refused.
    #[error(transparent)]
    Search(#[from] wonbon_search::SearchError),
    /// A derived index cannot catch up with the database; everything else continues.
    #[error("{which} is behind and cannot catch up: {what}")]
    Behind {
        /// Search, or the index of shingles.
        which: &'static str,
        /// Why.
        what: String,
    },
    /// The request was wrong: there is no document of this key or address.
    #[error("there is no document `{key}`")]
    UnknownDocument {
        /// What was asked for.
        key: String,
    },
    /// The request was wrong: no decision about the document can be undone, or another than the
    /// one named is the last.
    #[error("{}", nothing_to_undo(key, *entry, *last))]
    NothingToUndo {
        /// The document.
        key: String,
        /// The entry that was to be undone, if one was named.
        entry: Option<u64>,
        /// The entry that can be.
        last: Option<u64>,
    },
    /// The request was wrong: a reason is a sentence or two.
    #[error("a reason has up to {most} characters, this one has {characters}")]
    ReasonTooLong {
        /// How long it is.
        characters: usize,
        /// How long it may be.
        most: usize,
    },
    /// The question was wrong: there is nothing to compare.
    #[error("the text has no words")]
    NoWords,
    /// Features cannot be made so.
    #[error(transparent)]
    Sketch(#[from] SketchError),
}

fn nothing_to_undo(key: &str, entry: Option<u64>, last: Option<u64>) -> String {
    match (entry, last) {
        (Some(entry), Some(last)) => {
            format!("the last decision about `{key}` is entry {last}, not {entry}")
        }
        _ => format!("no decision about `{key}` is in effect"),
    }
}

impl From<wonbon_files::FileError> for StoreError {
    fn from(error: wonbon_files::FileError) -> Self {
        let wonbon_files::FileError { doing, path, source } = error;
        match source.kind() {
            std::io::ErrorKind::StorageFull => StoreError::DiskFull,
            _ => StoreError::Io { doing, path, source },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => StoreError::Cancelled,
            Some(ErrorCode::DiskFull) => StoreError::DiskFull,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Damaged {
                path: PathBuf::from("documents.sqlite"),
                what: error.to_string(),
            },
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::OutOfMemory,
            ) => StoreError::WriteFailed { what: error.to_string() },
            _ => StoreError::Database(error),
        }
    }
}

impl StoreError {
    /// Whether the same may work when it is tried again soon, and nothing was stored.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, StoreError::Busy { .. } | StoreError::Unreachable { .. })
    }

    /// A copy of the error, for every client whose write was part of the group that failed.
    pub(crate) fn again(&self) -> StoreError {
        match self {
            StoreError::DiskFull => StoreError::DiskFull,
            StoreError::Damaged { path, what } => {
                StoreError::Damaged { path: path.clone(), what: what.clone() }
            }
            StoreError::Stopped { what } => StoreError::Stopped { what: what.clone() },
            StoreError::WriteFailed { what } => StoreError::WriteFailed { what: what.clone() },
            StoreError::SweepTooEarly { sweep, latest } => {
                StoreError::SweepTooEarly { sweep: *sweep, latest: *latest }
            }
            StoreError::NotAsExpected { key, found } => {
                StoreError::NotAsExpected { key: key.clone(), found }
            }
            StoreError::Unreachable { place, what } => {
                StoreError::Unreachable { place: place.clone(), what: what.clone() }
            }
            StoreError::Busy { what } => StoreError::Busy { what: what.clone() },
            StoreError::InDoubt { what } => StoreError::InDoubt { what: what.clone() },
            StoreError::Refused { place, what } => {
                StoreError::Refused { place: place.clone(), what: what.clone() }
            }
            other => StoreError::WriteFailed { what: other.to_string() },
        }
    }
}
