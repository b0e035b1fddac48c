//! Why an index could not do what was asked.

use std::path::PathBuf;

use crate::IndexParams;
#[cfg(feature = "papers")]
use crate::Row;

/// Why an index could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The request was wrong: a document has another number of features than the index compares.
    #[error("the document has {got} features, the index compares {want}")]
    WrongLength {
        /// How many the index compares.
        want: usize,
        /// How many were given.
        got: usize,
    },
    /// The request was wrong: such an index would be useless or enormous.
    #[error("an index of {params} would need {tables} tables; from 1 to {most} are possible")]
    Params {
        /// What was asked for.
        params: IndexParams,
        /// How many tables it would take.
        tables: usize,
        /// How many are possible.
        most: usize,
    },
    /// No more originals fit.
    #[error("the index is full: it holds {most} originals")]
    Full {
        /// How many fit.
        most: usize,
    },
    /// A snapshot was made for another comparison.
    #[error("the snapshot {path} was made for {got}, the index compares {want}")]
    ParamsMismatch {
        /// The file.
        path: PathBuf,
        /// What the index compares.
        want: IndexParams,
        /// What the snapshot was made for.
        got: IndexParams,
    },
    /// A snapshot is not what was written. The file is left as it is, for inspection.
    #[error("the snapshot {path} is damaged: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A file of the index of shingles is not what was written.
    #[error("the index of shingles is damaged at {path}: {what}")]
    DamagedShingles {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The request was wrong: the papers' indexes compare one way only.
    #[cfg(feature = "papers")]
    #[error("{index} compares 2 of 6 features, not {params}")]
    OnlyTwoOfSix {
        /// The papers' name of the index.
        index: &'static str,
        /// What was asked for.
        params: IndexParams,
    },
    /// The request was wrong: a row is added once.
    #[cfg(feature = "papers")]
    #[error("row {} is in the index already", row.0)]
    RowTaken {
        /// Which one.
        row: Row,
    },
    /// The request was wrong: the file is something else. It is left as it is.
    #[cfg(feature = "papers")]
    #[error("{path} is no {want} index: {what}")]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The papers' name of the index that it should be.
        want: &'static str,
        /// What it is instead.
        what: &'static str,
    },
    /// An index file contradicts itself. It is left as it is, for inspection.
    #[cfg(feature = "papers")]
    #[error("the index file {path} is damaged: {what}")]
    DamagedFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The environment failed, by SQLite's word.
    #[cfg(feature = "papers")]
    #[error("could not {doing} the index file {path}")]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The environment failed.
    #[error("could not {doing} {path}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl From<wonbon_files::FileError> for IndexError {
    fn from(error: wonbon_files::FileError) -> Self {
        let wonbon_files::FileError { doing, path, source } = error;
        IndexError::Io { doing, path, source }
    }
}
