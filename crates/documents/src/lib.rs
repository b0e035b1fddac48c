//! The single ingest path: files, folders, rows, archives and requests in, [`Document`] out.
//!
//! Every command, job and route gets its documents here, so the same document has the same content,
//! times and description however it enters:
//!
//! - a row of JSON lines, CSV or Parquet and the body of a request become named [`Values`], and
//!   [`resolve`] turns these into a [`Document`] or a [`RowError`] that names the field;
//! - a record of a web archive and a file that is one document become the same [`Document`];
//! - [`Inputs::find`] finds files, [`open`] tells their format and undoes compression,
//!   [`for_each_document`] reads them with several threads, in order;
//! - [`for_each_table_document`] does the same with tables that are in memory.
//!
//! docs/formats.md has the rules as a table, which a test writes.
//!
//! Cost: a JSON line or a CSV record is parsed in place and handed out borrowed; nothing is allocated
//! for a row that has an id and plain text. Parquet copies what its columns hold as other types.
//!
//! Not here: what a word or a core text is (`wonbon-text`), what an archive's bytes mean
//! (`wonbon-warc`), which documents are copies.

mod binary;
mod document;
mod error;
mod fields;
mod formats;
mod inputs;
mod limits;
mod name_text;
mod one_file;
mod open;
pub mod ordered;
mod read_ahead;
mod reading;
mod resolve;
mod tables;

pub use binary::{is_binary, is_document_type};
pub use document::{Content, Document};
pub use error::InputError;
pub use fields::{ChosenFields, FieldNames};
pub use formats::csv::Header;
pub use formats::json::{RowParser, with_json_field};
pub use formats::lines::{LineReader, Lines};
pub use formats::parquet::{TableLayout, TableRows, column_value};
pub use formats::warc::{ArchiveRecord, ArchiveRows};
pub use formats::{Piece, Pieces, RowOutcome, Rows};
pub use inputs::{InputFile, Inputs, Skipped};
pub use limits::Limits;
pub use one_file::{FileDocument, read_file, read_formatted_file, read_source};
pub use open::{Source, SourceKind, open, open_within, read_whole};
pub use reading::{PieceOutput, Reading, for_each_document};
pub use resolve::{RowError, Value, Values, resolve};
pub use tables::{TableReading, for_each_table_document};
pub use wonbon_progress::{Progress, Unwatched};
pub use wonbon_time::{Dates, NotDates};

/// The most bytes that the content of one document may have, in every format, whatever [`Limits`] say.
pub const MAX_DOCUMENT_BYTES: usize = 512 << 20;
