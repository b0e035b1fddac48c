//! Why a job over a whole corpus failed.

use std::path::{Path, PathBuf};

use wonbon_documents::{InputError, RowError};
use wonbon_files::{FileError, PartialFolderError};

/// Why this crate could not do what was asked.
///
/// `BadParameter`, `BadDocument`, `CannotCut`, `OutputExists`, `NotOurs`, `NotEmpty`, `OtherPlan`, `InputChanged`, `NoColumn`,
/// `DocumentChanged`, `DocumentsLost` and `NotARun` mean that the request was wrong; `Io` and `Input` that the
/// environment failed; `Damaged` that files of an earlier run are not what was written; `Stopped` that somebody asked
/// for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// A file of ours could not be read or written.
    #[error("could not {doing} {path}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An input could not be read.
    #[error(transparent)]
    Input(InputError),
    /// A number outside its limits.
    #[error("{what} must be {wanted}, not {got}")]
    BadParameter {
        /// The parameter.
        what: &'static str,
        /// What it may be.
        wanted: &'static str,
        /// What was given.
        got: String,
    },
    /// Sketch parameters out of range.
    #[error(transparent)]
    Sketch(#[from] wonbon_sketch::SketchError),
    /// The output is there already.
    #[error("{path} exists already; it is not overwritten")]
    OutputExists {
        /// The output.
        path: PathBuf,
    },
    /// What has the name of the folder for unfinished results belongs to somebody else.
    #[error("{path} is not an unfinished result of wonbon; it is left alone")]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// A folder for work holds something already.
    #[error("{path} is not empty")]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// An unfinished run with other parameters stands where this one would go on.
    #[error(
        "{path} holds an unfinished run with another {what}; run that command again, or remove it"
    )]
    OtherPlan {
        /// The folder of the unfinished run.
        path: PathBuf,
        /// What differs first.
        what: String,
    },
    /// Sketches of an earlier run cannot be compared with new ones.
    #[error("the sketches in {path} were made with other {what} than this run uses")]
    OtherSketches {
        /// The folder of the sketches.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
    /// The exact join could not do it.
    #[error(transparent)]
    Join(wonbon_join::JoinError),
    /// An input is not what it was when it was read first.
    #[error("{file} changed while it was being read: it has other rows than before")]
    InputChanged {
        /// The input.
        file: String,
    },
    /// Passages cannot be cut out of what an input is made of.
    #[error(
        "passages cannot be removed from {path}, which is {what}: only rows with a text and files of plain text can be cut; \
         `wonbon passages` lists what repeats"
    )]
    CannotCut {
        /// The input.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Two inputs would be written to one place.
    #[error("two inputs would both be written to {path}")]
    SameName {
        /// The place.
        path: PathBuf,
    },
    /// Fewer or more rows were written than are kept.
    #[error("{written} rows were written where {wanted} are kept; nothing is published")]
    RowsLost {
        /// How many are kept.
        wanted: u64,
        /// How many were written.
        written: u64,
    },
    /// A folder that should hold the results of a run does not.
    #[error("{path} does not hold {what}")]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
    },
    /// A file of an earlier run is not what was written.
    #[error("{path} is damaged: it is not what an earlier run wrote")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// More documents than 32-bit numbers can name.
    #[error("more than {most} documents do not fit in one run")]
    TooMany {
        /// How many fit.
        most: u64,
    },
    /// More shingles than 40-bit numbers can name.
    #[error("more than {most} shingles do not fit in one run")]
    TooManyShingles {
        /// How many fit.
        most: u64,
    },
    /// The work needs more memory than it was given.
    #[error("{what} needs about {needed} MB of memory, {given} MB were given")]
    TooLittleMemory {
        /// The step.
        what: &'static str,
        /// Megabytes needed.
        needed: u64,
        /// Megabytes given.
        given: u64,
    },
    /// A stream of record batches lacks a column, or it has another type.
    #[error("the stream has no column `{column}` of {wanted}")]
    NoColumn {
        /// The column.
        column: String,
        /// What it should hold.
        wanted: &'static str,
    },
    /// A row of a stream is no document.
    #[error("document {name} {why}")]
    BadDocument {
        /// Its id, or its number.
        name: String,
        /// What is wrong with it.
        why: RowError,
    },
    /// A document of a stream is not the one that was sketched.
    #[error(
        "document {document} has another text than when it was sketched: the input changed, or two \
         documents have one id"
    )]
    DocumentChanged {
        /// Its name in this run.
        document: i64,
    },
    /// Documents of a group did not come, or came twice.
    #[error(
        "group {group} came with {found} documents instead of {wanted}: the input changed since it was \
         sketched, or two documents have one id"
    )]
    DocumentsLost {
        /// The name of the group.
        group: i64,
        /// How many it has.
        wanted: i64,
        /// How many came.
        found: usize,
    },
    /// Record batches could not be made or read.
    #[error(transparent)]
    Arrow(#[from] arrow_schema::ArrowError),
    /// The watcher asked to stop.
    #[error("stopped before the end; the same command again goes on from here")]
    Stopped,
}

impl From<InputError> for ClusterError {
    fn from(error: InputError) -> Self {
        match error {
            InputError::Stopped => ClusterError::Stopped,
            error => ClusterError::Input(error),
        }
    }
}

/// Names the file in an error of the system.
pub(crate) fn io(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> ClusterError + use<> {
    let path = path.to_owned();
    move |source| ClusterError::Io { doing, path, source }
}

impl From<PartialFolderError> for ClusterError {
    fn from(error: PartialFolderError) -> Self {
        match error {
            PartialFolderError::OutputExists { path } => ClusterError::OutputExists { path },
            PartialFolderError::NotOurs { path } => ClusterError::NotOurs { path },
            PartialFolderError::File(error) => error.into(),
        }
    }
}

impl From<FileError> for ClusterError {
    fn from(error: FileError) -> Self {
        let FileError { doing, path, source } = error;
        ClusterError::Io { doing, path, source }
    }
}
