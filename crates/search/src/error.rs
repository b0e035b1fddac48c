//! Errors, and which of tantivy's mean that the index is damaged.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::reader::DEPTH_MAX;

/// Why search could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The request was wrong: pages end somewhere.
    #[error("results {offset} to {end} lie beyond the first {DEPTH_MAX}; narrow the query instead")]
    TooDeep {
        /// Where the page begins.
        offset: usize,
        /// Where it ends.
        end: usize,
    },
    /// The query asks for too much.
    #[error("the query took longer than {} s; narrow it", most.as_secs_f64())]
    TooSlow {
        /// How long it may take.
        most: Duration,
    },
    /// Somebody else writes to the index.
    #[error("another process or handle is writing to the search index in {path}")]
    Busy {
        /// The directory of the index.
        path: PathBuf,
    },
    /// The index is of something else. A reader changes nothing; the writing side wipes and starts over.
    #[error("the search index in {path} belongs to \"{found}\", not to \"{wanted}\"")]
    OtherIdentity {
        /// The directory of the index.
        path: PathBuf,
        /// What was asked for.
        wanted: String,
        /// What it is an index of.
        found: String,
    },
    /// Files are missing or not as they were written. Opening the writing side wipes and starts over.
    #[error("the search index in {path} is damaged: {what}")]
    Damaged {
        /// The directory of the index.
        path: PathBuf,
        /// What was noticed.
        what: String,
    },
    /// A write failed before; what was put in since the last commit may be lost. Open it again.
    #[error("an earlier write to the search index in {path} failed")]
    Poisoned {
        /// The directory of the index.
        path: PathBuf,
    },
    /// The environment failed.
    #[error("could not {doing} the search index in {path}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The directory of the index.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The engine refused something that it should take; a defect here or there.
    #[error("the search engine could not {doing} the index in {path}")]
    Engine {
        /// What was being done.
        doing: &'static str,
        /// The directory of the index.
        path: PathBuf,
        /// Why.
        source: TantivyError,
    },
}

impl SearchError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> SearchError {
        SearchError::Io { doing, path: path.to_owned(), source }
    }

    /// Sorts an error of the engine: damage, the environment, or a defect.
    pub(crate) fn engine(doing: &'static str, path: &Path, error: TantivyError) -> SearchError {
        let damaged = |what| SearchError::Damaged { path: path.to_owned(), what };
        let by_kind = |source: &Arc<io::Error>| {
            if is_damage(source.kind()) {
                damaged(source.to_string())
            } else {
                // The shared error cannot be moved out; its kind and words are what it is made of.
                SearchError::io(doing, path, io::Error::new(source.kind(), source.to_string()))
            }
        };
        match &error {
            TantivyError::IoError(source)
            | TantivyError::OpenReadError(OpenReadError::IoError { io_error: source, .. })
            | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: source, .. })
            | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError {
                io_error: source,
                ..
            })
            | TantivyError::LockFailure(LockError::IoError(source), _) => by_kind(source),
            TantivyError::LockFailure(LockError::LockBusy, _) => {
                SearchError::Busy { path: path.to_owned() }
            }
            TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => {
                damaged(format!("{} is missing", file.display()))
            }
            TantivyError::DataCorruption(_)
            | TantivyError::IncompatibleIndex(_)
            | TantivyError::OpenReadError(OpenReadError::IncompatibleIndex(_))
            | TantivyError::SchemaError(_)
            | TantivyError::FieldNotFound(_)
            | TantivyError::DeserializeError(_)
            | TantivyError::MissingPlugin(_)
            | TantivyError::InternalError(_) => damaged(error.to_string()),
            _ => SearchError::Engine { doing, path: path.to_owned(), source: error },
        }
    }
}

/// Whether reading gave this because of what the file holds rather than of what the machine does.
fn is_damage(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::InvalidData
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::NotFound
    )
}

/// Runs what reads the index; a panic in there means that the index is not as it was written.
pub(crate) fn guarded<T>(
    doing: &'static str,
    path: &Path,
    read: impl FnOnce() -> Result<T, SearchError>,
) -> Result<T, SearchError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)) {
        Ok(result) => result,
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words =
                words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
            let what = format!("the engine stopped while it tried to {doing} it: {words}");
            Err(SearchError::Damaged { path: path.to_owned(), what })
        }
    }
}
