//! Errors of requests: one type, whether a request came as flags, as JSON or as a form.
//!
//! The service turns each variant into a stable code and an HTTP status, the program into a sentence and an
//! exit code. Advice on what to do about an error is theirs.

use std::path::PathBuf;

use wonbon_crawl::CrawlError;
use wonbon_crawl::fetch::FetchError;
use wonbon_sketch::SketchError;
use wonbon_store::{QueryError, StoreError};

use crate::jobs::JobState;

/// Why a request cannot be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The request is wrong.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// There is no such document.
    #[error("there is no document `{key}`")]
    UnknownDocument {
        /// Its key or address.
        key: String,
    },
    /// The document is not watched.
    #[error("`{key}` is not watched")]
    NotWatched {
        /// Its key or address.
        key: String,
    },
    /// There is no such job.
    #[error("there is no job {number}")]
    UnknownJob {
        /// Its number.
        number: u32,
    },
    /// A job that has ended cannot be paused, one that runs not be resumed.
    #[error("job {number} is {}", state.name())]
    WrongState {
        /// Its number.
        number: u32,
        /// How it is.
        state: JobState,
    },
    /// A job's input is none of the files it may read.
    #[error("`{input}` {why}")]
    BadInput {
        /// As it was named.
        input: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A job over files names none.
    #[error("say which files: `inputs` is empty")]
    NoInputs,
    /// A crawl may ask public addresses only, and those named at start.
    #[error("the seed {seed} must not be asked: {why}")]
    ForbiddenSeed {
        /// The seed.
        seed: String,
        /// Which rule forbids it.
        why: String,
    },
    /// A seed's host cannot be found or must not be asked.
    #[error("the seed {seed}: {source}")]
    Seed {
        /// The seed.
        seed: String,
        /// Why not.
        source: FetchError,
    },
    /// Too many jobs have not ended.
    #[error("{most} jobs have not ended yet")]
    TooManyJobs {
        /// How many there may be.
        most: usize,
    },
    /// No more jobs are started because the process is ending.
    #[error("no more jobs are started")]
    Ending,
    /// A job's record could not be written: nothing was changed.
    #[error("the job's record could not be written")]
    Record {
        /// Why not.
        source: std::io::Error,
    },
    /// The store did not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The words to search for cannot be read.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Two sketches cannot be compared.
    #[error(transparent)]
    Sketch(#[from] SketchError),
    /// A file could not be read or written.
    #[error("could not {doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Why not.
        source: std::io::Error,
    },
}

/// What is wrong with a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A parameter has a value that it cannot have.
    #[error("`{name}` is {wanted}, not {given}")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// What it may be.
        wanted: String,
        /// What was given.
        given: String,
    },
    /// A parameter is missing.
    #[error("`{name}` says {purpose}")]
    Missing {
        /// Its name.
        name: &'static str,
        /// What it is for.
        purpose: &'static str,
    },
    /// A question about a text says not, or says twice, about which.
    #[error("one of `key`, `text` and `html` says what is asked about")]
    NoText,
    /// One of two documents is not non_empty, or said twice.
    #[error("`{side}` has one of `key`, `text` and `html`")]
    Side {
        /// `a` or `b`.
        side: &'static str,
    },
    /// A cursor that was never given out.
    #[error("hand back `next` of an earlier answer as it is")]
    Cursor,
    /// Two parameters exclude each other.
    #[error("say a `{one}` or a `{other}`, not both")]
    Both {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A crawl begins with too many pages.
    #[error("at most {most} seeds are taken")]
    TooManySeeds {
        /// How many are taken.
        most: usize,
    },
    /// A crawl cannot be done as asked.
    #[error(transparent)]
    Crawl(#[from] CrawlError),
    /// An earlier crawl was named, and the job is none.
    #[error("job {number} is no crawl")]
    NotACrawl {
        /// Its number.
        number: u32,
    },
}

impl RequestError {
    /// A parameter has a value that it cannot have.
    pub(crate) fn parameter(
        name: &'static str,
        wanted: impl Into<String>,
        given: impl ToString,
    ) -> Self {
        RequestError::Parameter { name, wanted: wanted.into(), given: given.to_string() }
    }
}

/// Why the directory of jobs cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobsError {
    /// Another process works in it.
    #[error("another process works on the jobs in {}", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// It cannot be made, read or locked.
    #[error("could not {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The store that shows jobs to other instances does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A store's error in a sentence that names neither paths nor what the database says: for those who
/// asked from elsewhere. None if there is no such sentence; then the log says more.
#[must_use]
pub fn public_sentence(error: &StoreError) -> Option<String> {
    match error {
        StoreError::BadKey { .. }
        | StoreError::NulInKey
        | StoreError::TooLong { .. }
        | StoreError::NoWords
        | StoreError::UnknownDocument { .. }
        | StoreError::NothingToUndo { .. }
        | StoreError::ReasonTooLong { .. }
        | StoreError::NotAsExpected { .. }
        | StoreError::Cancelled
        | StoreError::DiskFull
        | StoreError::NotFollowed { .. }
        | StoreError::Search(wonbon_store::SearchError::TooDeep { .. }) => Some(error.to_string()),
        StoreError::SweepTooEarly { sweep, latest } => {
            Some(format!("the sweep of {sweep} is earlier than the latest, of {latest}"))
        }
        StoreError::AlreadyThere { .. } => Some("there is a store of this name already".to_owned()),
        StoreError::Busy { .. } | StoreError::Unreachable { .. } => {
            Some("the database does not answer at the moment".to_owned())
        }
        StoreError::InDoubt { .. } => {
            Some("the database was lost, and it is not known whether this was stored".to_owned())
        }
        StoreError::ReadOnly { .. } => Some("nothing more is stored".to_owned()),
        _ => None,
    }
}
