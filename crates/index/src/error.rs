//! Why an index could not do what was asked.

use std::path::PathBuf;

use crate::IndexParams;

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
