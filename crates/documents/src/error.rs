//! Why an input could not be read.

use std::path::Path;

/// Why an input could not be read.
///
/// `Io` means that the environment failed; `Stopped` that somebody asked for it; the others that the
/// input is not what was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The environment failed: a missing file, a directory, a permission, a broken disk.
    #[error("could not {doing} {name}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file, or `standard input`.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The compressed data ends early or does not match its checksum.
    #[error("{name} is not whole: its {format} data is damaged or cut off")]
    Damaged {
        /// The file, or `standard input`.
        name: String,
        /// gzip or zstd.
        format: &'static str,
        /// What the decompressor said.
        source: std::io::Error,
    },
    /// An archive where one document is wanted.
    #[error("{name} is a web archive: it holds many documents where one is wanted")]
    Archive {
        /// The file, or `standard input`.
        name: String,
    },
    /// A program, a picture or something else without words.
    #[error("{name} is a binary file; a text is wanted")]
    Binary {
        /// The file, or `standard input`.
        name: String,
    },
    /// The header of a CSV file is longer than any row may be.
    #[error("{name}:{line} is longer than {limit} bytes")]
    LineTooLong {
        /// The file, or `standard input`.
        name: String,
        /// The line, counted from one.
        line: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The compressed data needs more memory to be unpacked than it may have.
    #[error("{name} needs a zstd window of more than {limit} bytes to be unpacked")]
    WindowTooLarge {
        /// The file, or `standard input`.
        name: String,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A whole file is longer than any document may be.
    #[error("{name} is longer than {limit} bytes")]
    FileTooLong {
        /// The file, or `standard input`.
        name: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A row is no document, and the caller wants none skipped.
    #[error("{file}:{row} {why}")]
    BadRow {
        /// The input.
        file: String,
        /// The row, counted from one.
        row: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The watcher asked to stop.
    #[error("stopped before the end of the input")]
    Stopped,
}

impl InputError {
    /// What is wrong with its causes, to stand behind the name of the input.
    pub(crate) fn without_name(&self) -> String {
        match self {
            InputError::Io { source, .. } => format!("could not be read: {source}"),
            InputError::Damaged { format, source, .. } => {
                format!("is not whole: its {format} data is damaged or cut off: {source}")
            }
            InputError::Archive { .. } => "is a web archive".to_owned(),
            InputError::Binary { .. } => "is a binary file; a text is wanted".to_owned(),
            InputError::LineTooLong { line, limit, .. } => {
                format!("has a line {line} of more than {limit} bytes")
            }
            InputError::WindowTooLarge { limit, .. } => {
                format!("needs a zstd window of more than {limit} bytes to be unpacked")
            }
            InputError::FileTooLong { limit, .. } => format!("is longer than {limit} bytes"),
            InputError::BadRow { .. } | InputError::Stopped => self.to_string(),
        }
    }
}

/// Names the file in an error of the system.
pub(crate) fn io(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> InputError + use<> {
    let name = path.display().to_string();
    move |source| InputError::Io { doing, name, source }
}
