//! Why a WARC could not be read or written.

use std::path::PathBuf;

/// Why a WARC could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WarcError {
    /// The environment failed: a missing file, a full disk.
    #[error("could not {doing} the WARC")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The environment failed, on a file with a name.
    #[error("could not {doing} {path}")]
    File {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is shorter than the place where writing should go on.
    #[error("{path} has {length} bytes, less than the {at} that were written before")]
    Shorter {
        /// The file.
        path: PathBuf,
        /// How long it is.
        length: u64,
        /// Where writing should go on.
        at: u64,
    },
    /// A record that cannot be written: a line break in a field, a field that is missing.
    #[error("a record cannot have {value:?} as its {field}")]
    BadField {
        /// The field.
        field: String,
        /// The value.
        value: String,
    },
    /// The file ends inside a record.
    #[error("the record at byte {offset} is torn: the file ends inside it")]
    Torn {
        /// Where the record begins.
        offset: u64,
    },
    /// A record is not what it should be; reading may go on behind it.
    #[error("the record at byte {offset} is damaged: {damage}")]
    Damaged {
        /// Where the record begins.
        offset: u64,
        /// What is wrong with it.
        damage: Damage,
    },
    /// A record's block is longer than the reader wants to hold.
    #[error("the block of the record at byte {offset} has {length} bytes, more than {limit}")]
    TooLong {
        /// Where the record begins.
        offset: u64,
        /// The length it states.
        length: u64,
        /// The limit.
        limit: u64,
    },
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// It does not begin with `WARC/1.0` or `WARC/1.1`.
    #[error("it does not begin with WARC/1.0 or WARC/1.1")]
    NotARecord,
    /// A line of the header has no colon, or is not text.
    #[error("line {line} of its header is no field")]
    BadLine {
        /// The line, counted from the version as line 1.
        line: usize,
    },
    /// The header is longer than the limit.
    #[error("its header is longer than {limit} bytes")]
    LongHeader {
        /// The limit.
        limit: usize,
    },
    /// A mandatory field is missing or cannot be read.
    #[error("its {field} is missing or unreadable")]
    Field {
        /// The field.
        field: &'static str,
    },
    /// The block is not followed by two empty lines.
    #[error("its block does not end where its Content-Length says")]
    BadEnd,
    /// The decompressor stopped.
    #[error("its gzip data is damaged")]
    Gzip,
    /// The block does not have the digest that the header states.
    #[error("its block does not match its digest")]
    Digest,
}
