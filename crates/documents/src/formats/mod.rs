//! The formats of inputs, each behind the same two traits: a [`FormatReader`] cuts a file into pieces,
//! and the [`FormatRows`] of a piece become documents.
//!
//! | format | reader | rows |
//! |---|---|---|
//! | JSON lines | [`lines`] | [`json`] |
//! | CSV, TSV | [`lines`] | [`csv`] |
//! | Parquet | [`parquet`] | [`parquet`] |
//! | WARC | [`warc`] | [`warc`] |
//! | one document | [`whole`] | [`whole`] |
//!
//! A format knows how its bytes are laid out and nothing else: what a row means is decided by
//! [`resolve`](crate::resolve).

pub(crate) mod csv;
pub(crate) mod json;
pub(crate) mod lines;
pub(crate) mod parquet;
pub(crate) mod warc;
pub(crate) mod whole;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use self::json::RowParser;
use self::lines::{LineReader, Lines};
use self::parquet::{TableReader, TableRows};
use self::warc::{ArchiveReader, ArchiveRows, KnownRecords};
use self::whole::{WholeFile, WholeFileReader};
use crate::document::Document;
use crate::error::InputError;
use crate::inputs::{InputFile, Inputs};
use crate::limits::Limits;
use crate::open::{Source, SourceKind, open_within};

/// What a row turned out to be.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly every row is a document; a box would allocate for each"
)]
pub enum RowOutcome<'a> {
    /// A document, or an address that leads elsewhere.
    Document(Document<'a>),
    /// Neither, and not expected to be one: a request in a web archive.
    PassedOver,
    /// No document, for this reason.
    Refused(String),
}

/// Hears what the rows of a piece are: the number of each, counted from one (none for a file that is
/// one document), and what it turned out to be.
pub(crate) type Visitor<'v> = dyn FnMut(Option<u64>, RowOutcome<'_>) + 'v;

/// Reads one file of one format.
pub(crate) trait FormatReader: Send {
    /// Reads the next rows; `false` at the end. What cannot be read is told in the piece, and reading
    /// continues after it where the format allows.
    fn next_into(&mut self, piece: &mut Piece) -> bool;

    /// The names of the fields of the first row; none if there is no row or rows have no fields.
    fn field_names(&mut self) -> Option<Vec<String>>;
}

/// The rows of a piece in one format.
pub(crate) trait FormatRows {
    /// How many rows there are.
    fn count(&self) -> usize;

    /// How many bytes they take, decompressed.
    fn bytes(&self) -> u64;

    /// Tells what each row is. The rows may be unusable afterwards.
    fn for_each_document(
        &mut self,
        file: &InputFile,
        parser: &mut RowParser,
        each: &mut Visitor<'_>,
    );
}

/// The rows of a piece, as the bytes they are.
#[derive(Debug, Default)]
pub enum Rows {
    /// No rows: the file cannot be read.
    #[default]
    Nothing,
    /// JSON lines or CSV records.
    Lines(Lines),
    /// Rows of a Parquet file.
    Table(TableRows),
    /// Records of a web archive.
    Archive(ArchiveRows),
    /// One document.
    File(WholeFile),
}

impl Rows {
    fn format(&self) -> Option<&dyn FormatRows> {
        match self {
            Rows::Nothing => None,
            Rows::Lines(rows) => Some(rows),
            Rows::Table(rows) => Some(rows),
            Rows::Archive(rows) => Some(rows),
            Rows::File(rows) => Some(rows),
        }
    }

    /// The same rows, so that they can be looked at and written. None for records of an archive, which are not copied.
    #[must_use]
    pub fn copy(&self) -> Option<Rows> {
        Some(match self {
            Rows::Nothing => Rows::Nothing,
            Rows::Lines(rows) => Rows::Lines(rows.clone()),
            Rows::Table(rows) => Rows::Table(rows.clone()),
            Rows::Archive(_) => return None,
            Rows::File(rows) => Rows::File(rows.again()),
        })
    }

    /// How many rows there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.format().map_or(0, FormatRows::count)
    }

    /// How many bytes they take, decompressed; of a file that is one document, once it was read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.format().map_or(0, FormatRows::bytes)
    }

    /// Tells what each row is: its number, counted from one (none for a file that is one document),
    /// and what it turned out to be. The rows may be unusable afterwards.
    pub fn for_each_document(
        &mut self,
        file: &InputFile,
        parser: &mut RowParser,
        each: &mut dyn FnMut(Option<u64>, RowOutcome<'_>),
    ) {
        match self {
            Rows::Nothing => {}
            Rows::Lines(rows) => rows.for_each_document(file, parser, each),
            Rows::Table(rows) => rows.for_each_document(file, parser, each),
            Rows::Archive(rows) => rows.for_each_document(file, parser, each),
            Rows::File(rows) => rows.for_each_document(file, parser, each),
        }
    }
}

/// A piece of the input: what one thread works on at a time.
#[derive(Debug, Default)]
pub struct Piece {
    /// Which file it is of.
    pub file: usize,
    /// Its rows.
    pub rows: Rows,
    /// Records that were skipped while it was cut.
    pub passed_over: u64,
    /// Why the file, or this part of it, cannot be read on behind the rows.
    pub broken: Option<String>,
}

/// Walks over the pieces of the inputs: the same pieces however often.
pub struct Pieces<'a> {
    files: std::slice::Iter<'a, InputFile>,
    /// Files opened so far.
    opened: usize,
    reader: Option<Box<dyn FormatReader>>,
    /// Records of archives whose body a later one may repeat.
    known: Arc<Mutex<KnownRecords>>,
    /// The columns of tables to read; all of them if none are named.
    columns: Option<Vec<&'a str>>,
    unpack: &'a Path,
    limits: Limits,
}

impl std::fmt::Debug for Pieces<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pieces").field("opened", &self.opened).finish_non_exhaustive()
    }
}

impl<'a> Pieces<'a> {
    /// Pieces with everything in them.
    #[must_use]
    pub fn new(inputs: &'a Inputs) -> Self {
        Pieces {
            files: inputs.files.iter(),
            opened: 0,
            reader: None,
            known: Arc::default(),
            columns: None,
            unpack: &inputs.unpack,
            limits: inputs.limits,
        }
    }

    /// Pieces with only these columns of tables.
    pub(crate) fn of_columns(inputs: &'a Inputs, columns: Vec<&'a str>) -> Self {
        Pieces { columns: Some(columns), ..Pieces::new(inputs) }
    }

    /// Reads the next piece; `false` at the end. What cannot be read is told in the piece.
    ///
    /// # Errors
    ///
    /// Only if there is no room to unpack a compressed Parquet file.
    pub fn next_into(&mut self, piece: &mut Piece) -> Result<bool, InputError> {
        piece.broken = None;
        piece.passed_over = 0;
        loop {
            piece.file = self.opened.saturating_sub(1);
            if let Some(reader) = &mut self.reader {
                if reader.next_into(piece) {
                    return Ok(true);
                }
                self.reader = None;
            }
            let Some(file) = self.files.next() else { return Ok(false) };
            self.opened += 1;
            let (columns, known) = (self.columns.as_deref(), &self.known);
            let opened = match open_within(&file.path, self.limits) {
                Ok(source) => open_format(source, &file.path, self.unpack, columns, known)?,
                Err(error) => Err(error.without_name()),
            };
            match opened {
                Ok(reader) => self.reader = Some(reader),
                Err(broken) => {
                    piece.file = self.opened - 1;
                    piece.rows = Rows::Nothing;
                    piece.broken = Some(broken);
                    return Ok(true);
                }
            }
        }
    }
}

/// The reader of a file by its format. The inner error is the input's.
fn open_format(
    source: Source,
    path: &Path,
    unpack: &Path,
    columns: Option<&[&str]>,
    known: &Arc<Mutex<KnownRecords>>,
) -> Result<Result<Box<dyn FormatReader>, String>, InputError> {
    fn boxed(reader: impl FormatReader + 'static) -> Box<dyn FormatReader> {
        Box::new(reader)
    }
    Ok(match source.kind {
        SourceKind::JsonLines | SourceKind::Csv => Ok(boxed(LineReader::new(source))),
        SourceKind::Parquet => TableReader::open(source, path, unpack, columns)?.map(boxed),
        SourceKind::Warc => ArchiveReader::open(source, path, Arc::clone(known))
            .map(boxed)
            .map_err(|error| format!("could not be opened: {error}")),
        SourceKind::Document => Ok(boxed(WholeFileReader::new(source, PathBuf::from(path)))),
    })
}

/// The names of the fields of a file; none if it holds no rows or cannot be read.
pub(crate) fn read_field_names(path: &Path, unpack: &Path, limits: Limits) -> Option<Vec<String>> {
    let source = open_within(path, limits).ok()?;
    open_format(source, path, unpack, None, &Arc::default()).ok()?.ok()?.field_names()
}
