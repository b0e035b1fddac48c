//! A file that is one document: a piece with one row.
//!
//! The file is opened by the thread that cuts the input, to tell its format, and read by the one that
//! works on it.

use std::path::{Path, PathBuf};

use super::json::RowParser;
use super::{FormatReader, FormatRows, Piece, RowOutcome, Rows, Visitor};
use crate::document::{Content, Document};
use crate::error::InputError;
use crate::inputs::InputFile;
use crate::limits::Limits;
use crate::name_text::name_text;
use crate::one_file::read_text_bytes;
use crate::open::{Source, open_within};

/// A file that is one document.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    /// The opened file, until it was read.
    source: Option<Source>,
    limits: Limits,
    bytes: u64,
}

impl WholeFile {
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same file, to be read once more.
    pub(crate) fn again(&self) -> Self {
        WholeFile { path: self.path.clone(), source: None, limits: self.limits, bytes: self.bytes }
    }

    fn read(&mut self) -> Result<Vec<u8>, InputError> {
        let source = match self.source.take() {
            Some(source) => source,
            None => open_within(&self.path, self.limits)?,
        };
        read_text_bytes(source)
    }
}

/// Hands out a file as the one row it is.
pub(crate) struct WholeFileReader(Option<WholeFile>);

impl WholeFileReader {
    pub(crate) fn new(source: Source, path: PathBuf) -> Self {
        let limits = source.limits;
        WholeFileReader(Some(WholeFile { path, source: Some(source), limits, bytes: 0 }))
    }
}

impl FormatReader for WholeFileReader {
    fn next_into(&mut self, piece: &mut Piece) -> bool {
        let Some(file) = self.0.take() else { return false };
        piece.rows = Rows::File(file);
        true
    }

    fn field_names(&mut self) -> Option<Vec<String>> {
        None
    }
}

impl FormatRows for WholeFile {
    fn count(&self) -> usize {
        1
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn for_each_document(
        &mut self,
        file: &InputFile,
        _parser: &mut RowParser,
        each: &mut Visitor<'_>,
    ) {
        let bytes = match self.read() {
            Ok(bytes) => bytes,
            Err(error) => return each(None, RowOutcome::Refused(error.without_name())),
        };
        self.bytes = bytes.len() as u64;
        let content = Content::Bytes { bytes: bytes.into(), charset: None };
        let id = name_text(&file.name);
        each(None, RowOutcome::Document(Document::new(id, content)));
    }
}
