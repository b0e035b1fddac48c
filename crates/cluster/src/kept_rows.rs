//! The second walk over the inputs: rows are written ([`RowWriter`]), and the texts of some documents
//! are collected for the report.
//!
//! The walk takes the same pieces in the same order as the first one, which noted for each row whether
//! it is a document. So the n-th such row is the n-th document, and rows are found by counting.
//!
//! Rows are counted as they are written, and compared with the number that the verdicts ask for:
//! nothing is published if they differ.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::path::Path;

use wonbon_documents::{
    InputFile, Inputs, Piece, Pieces, Progress, RowOutcome, RowParser, Rows, read_file,
};

use crate::columns::Column;
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::passages::{Cut, PassageUnit, cut};
use crate::row_writers::{RowPassages, RowWriter, Selection, writer_for};

/// What is written, and from where.
#[derive(Clone, Copy)]
pub(crate) struct KeptRows<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) corpus: &'a Corpus,
    pub(crate) selection: Selection<'a>,
    /// The first so many files belong to other corpora and are not written.
    pub(crate) other_files: usize,
    /// What is removed as a whole with a passage.
    pub(crate) unit: PassageUnit,
    pub(crate) progress: &'a dyn Progress,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowsWritten {
    /// How many rows.
    rows: u64,
    /// How many documents are in files whose format has no place for a verdict.
    not_annotatable: u64,
    /// Whether one of the inputs is a table.
    pub(crate) any_table: bool,
}

impl KeptRows<'_> {
    /// Writes the rows of every input below `folder`. `see` is called with the text of every document
    /// in `shown`, which is ascending.
    pub(crate) fn write(
        self,
        folder: &Path,
        shown: &[u32],
        mut see: impl FnMut(u32, String),
    ) -> Result<RowsWritten, ClusterError> {
        let mut pieces = Pieces::new(self.inputs);
        let mut piece = Piece::default();
        let mut rows = RowNumbers::new(self.corpus)?;
        let mut documents = Vec::new();
        let mut shown = ShownTexts::new(self.inputs, shown);
        let mut output = OpenOutput::default();
        let mut written = RowsWritten::default();
        let mut bytes = 0;
        let mut cutter =
            Cutter { parser: RowParser::new(self.inputs.fields.clone()), config: self };
        while pieces.next_into(&mut piece)? {
            let input = &self.inputs.files[piece.file];
            let changed = || ClusterError::InputChanged { file: input.path.display().to_string() };
            rows.number(piece.rows.count(), &mut documents).map_err(|_| changed())?;
            if piece.file >= self.other_files && has_rows(&piece) {
                written.any_table |= matches!(piece.rows, Rows::Table(_));
                let path = folder.join(&input.name);
                let cuts = cutter.cuts(&piece, input, &documents)?;
                let passages = self.selection.passages.map(|passages| RowPassages {
                    cuts: &cuts,
                    input: &input.path,
                    ..passages
                });
                let selection = Selection { passages, ..self.selection };
                match output.for_piece(&piece, &path, selection)? {
                    Some(writer) => {
                        written.rows += writer.write(&piece.rows, &documents, selection)?;
                    }
                    None => written.not_annotatable += documents.iter().flatten().count() as u64,
                }
            }
            bytes += piece.rows.bytes();
            shown.collect(&mut piece.rows, input, &documents, &mut see);
            self.progress.advance(bytes);
            if self.progress.stop_asked() {
                return Err(ClusterError::Stopped);
            }
        }
        output.finish()?;
        if rows.next_document != self.corpus.len() {
            let last = self.inputs.files.last();
            let file = last.map_or_else(String::new, |file| file.path.display().to_string());
            return Err(ClusterError::InputChanged { file });
        }
        self.check(written)?;
        Ok(written)
    }

    /// Compares the rows that were written with those that should have been.
    fn check(&self, written: RowsWritten) -> Result<(), ClusterError> {
        let own = self.corpus.read().others as u32..self.corpus.len();
        let wanted = own.filter(|&document| self.selection.takes(document)).count() as u64;
        let wanted = wanted - written.not_annotatable;
        if written.rows == wanted {
            return Ok(());
        }
        Err(ClusterError::RowsLost { wanted, written: written.rows })
    }
}

/// Reads the inputs again and calls `see` with the texts of some documents, which are ascending.
pub(crate) fn read_texts(
    inputs: &Inputs,
    corpus: &Corpus,
    documents: &[u32],
    progress: &dyn Progress,
    mut see: impl FnMut(u32, String),
) -> Result<(), ClusterError> {
    let mut pieces = Pieces::new(inputs);
    let mut piece = Piece::default();
    let mut rows = RowNumbers::new(corpus)?;
    let mut numbers = Vec::new();
    let mut shown = ShownTexts::new(inputs, documents);
    let mut bytes = 0;
    while shown.shown.peek().is_some() && pieces.next_into(&mut piece)? {
        let input = &inputs.files[piece.file];
        rows.number(piece.rows.count(), &mut numbers)
            .map_err(|_| ClusterError::InputChanged { file: input.path.display().to_string() })?;
        bytes += piece.rows.bytes();
        shown.collect(&mut piece.rows, input, &numbers, &mut see);
        progress.advance(bytes);
        if progress.stop_asked() {
            return Err(ClusterError::Stopped);
        }
    }
    Ok(())
}

/// Cuts passages out of the texts of documents.
struct Cutter<'a> {
    parser: RowParser,
    config: KeptRows<'a>,
}

impl Cutter<'_> {
    /// What is cut out of the documents of a piece, and what is left of them.
    fn cuts(
        &mut self,
        piece: &Piece,
        input: &InputFile,
        documents: &[Option<u32>],
    ) -> Result<BTreeMap<u32, Cut>, ClusterError> {
        let mut cuts = BTreeMap::new();
        let Some(passages) = self.config.selection.passages else { return Ok(cuts) };
        let has_no_place = matches!(piece.rows, Rows::File(_) | Rows::Archive(_));
        if self.config.selection.annotate && has_no_place {
            return Ok(cuts);
        }
        let is_cut = |document: &u32| passages.removal.of(*document).is_some();
        if !documents.iter().flatten().any(is_cut) {
            return Ok(cuts);
        }
        let cannot = |what| ClusterError::CannotCut { path: input.path.clone(), what };
        let Some(mut rows) = piece.rows.copy() else { return Err(cannot("a web archive")) };
        if matches!(rows, Rows::File(_)) && read_file(&input.path)?.core.is_html {
            return Err(cannot("a page"));
        }
        let (mut numbers, mut changed) = (documents.iter(), false);
        rows.for_each_document(input, &mut self.parser, &mut |_, outcome| {
            let Some(Some(number)) = numbers.next() else { return };
            if let Some((ranges, _)) = passages.removal.of(*number)
                && let RowOutcome::Document(mut document) = outcome
            {
                document.extract();
                match cut(document.text(), ranges, self.config.unit) {
                    Some(cut) => drop(cuts.insert(*number, cut)),
                    None => changed = true,
                }
            }
        });
        if changed {
            return Err(ClusterError::InputChanged { file: input.path.display().to_string() });
        }
        Ok(cuts)
    }
}

/// The file that is being written.
#[derive(Default)]
struct OpenOutput {
    file: Option<usize>,
    writer: Option<Box<dyn RowWriter>>,
}

impl OpenOutput {
    /// The writer for the file of a piece; a new one is created for the first piece of a file.
    fn for_piece(
        &mut self,
        piece: &Piece,
        path: &Path,
        selection: Selection<'_>,
    ) -> Result<Option<&mut Box<dyn RowWriter>>, ClusterError> {
        if self.file != Some(piece.file) {
            self.finish()?;
            let created = writer_for(&piece.rows, path.to_owned(), selection);
            self.writer = created.map_err(|error| match error {
                ClusterError::Io { source, .. }
                    if source.kind() == std::io::ErrorKind::AlreadyExists =>
                {
                    ClusterError::SameName { path: path.to_owned() }
                }
                error => error,
            })?;
            self.file = Some(piece.file);
        }
        Ok(self.writer.as_mut())
    }

    fn finish(&mut self) -> Result<(), ClusterError> {
        self.writer.take().map_or(Ok(()), RowWriter::finish)
    }
}

/// Numbers the documents among the rows.
struct RowNumbers {
    is_document: Column<u8>,
    next_row: u64,
    next_document: u32,
    piece: Vec<u8>,
}

impl RowNumbers {
    fn new(corpus: &Corpus) -> Result<Self, ClusterError> {
        let next_document = corpus.read().imported as u32;
        Ok(RowNumbers {
            is_document: corpus.rows()?,
            next_row: 0,
            next_document,
            piece: Vec::new(),
        })
    }

    /// Puts into `documents`, for each of the next `count` rows, the number of its document.
    fn number(
        &mut self,
        count: usize,
        documents: &mut Vec<Option<u32>>,
    ) -> Result<(), ClusterError> {
        self.piece.resize(count, 0);
        self.is_document.read_at(self.next_row, &mut self.piece)?;
        self.next_row += count as u64;
        documents.clear();
        documents.extend(self.piece.iter().map(|&status| {
            let document = (status == 1).then_some(self.next_document);
            self.next_document += u32::from(status == 1);
            document
        }));
        Ok(())
    }
}

/// Whether a piece is more than the news that a file cannot be read.
fn has_rows(piece: &Piece) -> bool {
    match &piece.rows {
        Rows::Nothing => false,
        Rows::Lines(lines) => piece.broken.is_none() || lines.input_bytes() > 0,
        Rows::Table(_) | Rows::Archive(_) | Rows::File(_) => true,
    }
}

/// Collects the texts of the documents that the report shows.
struct ShownTexts<'a> {
    parser: RowParser,
    shown: Peekable<std::iter::Copied<std::slice::Iter<'a, u32>>>,
}

impl<'a> ShownTexts<'a> {
    fn new(inputs: &Inputs, shown: &'a [u32]) -> Self {
        let parser = RowParser::new(inputs.fields.clone());
        ShownTexts { parser, shown: shown.iter().copied().peekable() }
    }

    /// Calls `see` with the texts of a piece that are shown. Its rows may be unusable afterwards.
    fn collect(
        &mut self,
        rows: &mut Rows,
        file: &InputFile,
        documents: &[Option<u32>],
        see: &mut impl FnMut(u32, String),
    ) {
        let mut wanted = vec![None; documents.len()];
        for (wanted, document) in wanted.iter_mut().zip(documents) {
            *wanted = document.filter(|document| self.shown.next_if_eq(document).is_some());
        }
        if wanted.iter().all(Option::is_none) {
            return;
        }
        let mut wanted = wanted.into_iter();
        rows.for_each_document(file, &mut self.parser, &mut |_, outcome| {
            if let (Some(Some(number)), RowOutcome::Document(mut document)) =
                (wanted.next(), outcome)
            {
                document.extract();
                see(number, document.text().to_owned());
            }
        });
    }
}
