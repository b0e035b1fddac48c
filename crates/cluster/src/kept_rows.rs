//! The second walk over the inputs: rows are written ([`RowWriter`]), and the texts of some documents
//! are collected for the report.
//!
//! The walk takes the same items in the same order as the first one, which noted for each row whether
//! it is a document. So the n-th such row is the n-th document, and rows are found by counting.
//!
//! Rows are counted as they are written, and compared with the number that the verdicts ask for:
//! nothing is published if they differ.

use std::iter::Peekable;
use std::path::Path;

use wonbon_input::rows::{Content, RowParser};
use wonbon_text::extract::extract;

use crate::columns::Column;
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::progress::Progress;
use crate::reading::{Inputs, Item, Items, read_document};
use crate::row_writers::{RowWriter, Selection, writer_for};
use crate::tables::{Cell, cell};

/// What is written, and from where.
#[derive(Clone, Copy)]
pub(crate) struct KeptRows<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) corpus: &'a Corpus,
    pub(crate) selection: Selection<'a>,
    /// The first so many files belong to other corpora and are not written.
    pub(crate) other_files: usize,
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
        let mut items = Items::new(self.inputs);
        let mut item = Item::default();
        let mut rows = RowNumbers::new(self.corpus)?;
        let mut documents = Vec::new();
        let mut shown = ShownTexts::new(self.inputs, shown);
        let mut output = OpenOutput::default();
        let mut written = RowsWritten::default();
        let mut bytes = 0;
        while items.next_into(&mut item)? {
            let input = &self.inputs.files[item.file];
            let changed = || ClusterError::InputChanged { file: input.path.display().to_string() };
            rows.number(row_count(&item), &mut documents).map_err(|_| changed())?;
            if item.file >= self.other_files && has_rows(&item) {
                written.any_table |= item.table.is_some();
                let path = folder.join(&input.name);
                match output.for_item(&items, &item, &path, self.selection.annotate)? {
                    Some(writer) => {
                        written.rows += writer.write(&item, &documents, self.selection)?;
                    }
                    None => written.not_annotatable += documents.iter().flatten().count() as u64,
                }
            }
            shown.collect(&mut item, &documents, &mut see);
            bytes += item_bytes(&item);
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

/// The file that is being written.
#[derive(Default)]
struct OpenOutput {
    file: Option<usize>,
    writer: Option<Box<dyn RowWriter>>,
}

impl OpenOutput {
    /// The writer for the file of an item; a new one is created for the first item of a file.
    fn for_item(
        &mut self,
        items: &Items<'_>,
        item: &Item,
        path: &Path,
        annotate: bool,
    ) -> Result<Option<&mut Box<dyn RowWriter>>, ClusterError> {
        if self.file != Some(item.file) {
            self.finish()?;
            let created = writer_for(items, item, path.to_owned(), annotate);
            self.writer = created.map_err(|error| match error {
                ClusterError::Io { source, .. }
                    if source.kind() == std::io::ErrorKind::AlreadyExists =>
                {
                    ClusterError::SameName { path: path.to_owned() }
                }
                error => error,
            })?;
            self.file = Some(item.file);
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

/// How many rows an item has.
fn row_count(item: &Item) -> usize {
    let (tables, archives) = (item.table.as_ref(), item.archive.as_ref());
    let mut count = usize::from(item.document.is_some());
    count += tables.map_or(0, |(_, rows)| rows.num_rows());
    count += archives.map_or(0, |batch| batch.records.len());
    item.lines.for_each_line(|_, line| {
        count += usize::from(!line.iter().all(u8::is_ascii_whitespace));
    });
    count
}

/// Whether an item is more than the news that a file cannot be read.
fn has_rows(item: &Item) -> bool {
    let in_memory = item.document.is_some() || item.table.is_some() || item.archive.is_some();
    in_memory || item.broken.is_none() || item.lines.input_bytes() > 0
}

fn item_bytes(item: &Item) -> u64 {
    let tables = item.table.as_ref().map_or(0, |(_, rows)| rows.get_array_memory_size());
    let archives = item.archive.as_ref().map_or(0, |batch| batch.bytes);
    archives + (tables + item.lines.input_bytes()) as u64
}

/// Collects the texts of the documents that the report shows.
struct ShownTexts<'a> {
    inputs: &'a Inputs,
    parser: RowParser,
    shown: Peekable<std::iter::Copied<std::slice::Iter<'a, u32>>>,
}

impl<'a> ShownTexts<'a> {
    fn new(inputs: &'a Inputs, shown: &'a [u32]) -> Self {
        let parser = RowParser::new(inputs.fields.clone());
        ShownTexts { inputs, parser, shown: shown.iter().copied().peekable() }
    }

    /// Calls `see` with the texts of an item that are shown. Its lines are unusable afterwards.
    fn collect(
        &mut self,
        item: &mut Item,
        documents: &[Option<u32>],
        see: &mut impl FnMut(u32, String),
    ) {
        let mut wanted = Vec::new();
        for (row, document) in documents.iter().enumerate() {
            if let Some(document) = document
                && self.shown.next_if_eq(document).is_some()
            {
                wanted.push((row, *document));
            }
        }
        if wanted.is_empty() {
            return;
        }
        if let Some(path) = &item.document {
            if let Ok((_, core)) = read_document(path) {
                see(wanted[0].1, core.page.text);
            }
        } else if let Some((_, rows)) = &item.table {
            for (row, document) in wanted {
                let text = |name: &str| match rows.column_by_name(name).map(|all| cell(all, row)) {
                    Some(Cell::Text(text)) => Some(text.into_owned()),
                    _ => None,
                };
                let page = || Some(extract(&text(&self.inputs.fields.html)?, None).text);
                see(document, text(&self.inputs.fields.text).or_else(page).unwrap_or_default());
            }
        } else if let Some(batch) = &item.archive {
            for (row, document) in wanted {
                if let Some(text) = batch.records[row].core_text() {
                    see(document, text);
                }
            }
        } else {
            self.collect_lines(item, &wanted, see);
        }
    }

    fn collect_lines(
        &mut self,
        item: &mut Item,
        wanted: &[(usize, u32)],
        see: &mut impl FnMut(u32, String),
    ) {
        let mut wanted = wanted.iter().copied().peekable();
        let mut at = 0;
        self.parser.for_each_row(&mut item.lines, |_, row| {
            at += 1;
            let Some((_, document)) = wanted.next_if(|&(wanted, _)| wanted + 1 == at) else {
                return;
            };
            if let Ok(row) = row {
                see(
                    document,
                    match row.content {
                        Content::Text(text) | Content::Redirect(text) => text.to_owned(),
                        Content::Html(html) => extract(html, row.url).text,
                    },
                );
            }
        });
    }
}
