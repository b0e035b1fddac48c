//! Why an input could not be read.

/// Why an input could not be read.
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
    /// A line is longer than any document may be.
    #[error("{name}:{line} is longer than {limit} bytes")]
    LineTooLong {
        /// The file, or `standard input`.
        name: String,
        /// The line, counted from one.
        line: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A whole file is longer than any document may be.
    #[error("{name} is longer than {limit} bytes")]
    FileTooLong {
        /// The file, or `standard input`.
        name: String,
        /// The limit, in bytes.
        limit: usize,
    },
}
