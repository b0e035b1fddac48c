//! Documents out of files: JSON lines and CSV, plain and compressed.
//!
//! Every command and every batch job reads the same kinds of input, so they are read in one place:
//! [`open`] undoes gzip and zstd whatever the file is called, [`batches::Batches`] cuts a stream
//! into batches of whole rows that threads can share out, and [`rows::RowParser`] reads one row into
//! the fields of a document without copying its text.
//!
//! Why its own crate: the libraries below work on bytes and sets and stay free of files and formats;
//! the program, the batch jobs and the Python package all need the same answer to "what is in this
//! file?".
//!
//! Not here: character sets and HTML (`wonbon-text`), the rows of Parquet files (`wonbon-cluster`).

pub mod batches;
pub mod csv;
mod error;
mod open;
pub mod ordered;
pub mod rows;

pub use error::InputError;
pub use open::{Source, SourceKind, check, open, read_whole};
