//! Writes rows of the inputs to the output: the kept rows, or all rows with their verdicts.
//!
//! Every format has a writer ([`RowWriter`]): JSON lines, CSV, Parquet, WARC, and files that are one document each. A kept
//! row is written byte for byte as it was read (a Parquet row: the same values in the same columns). An annotated row has
//! four more fields ([`VERDICT_FIELDS`]). WARC records and whole files have no place for these fields and are not annotated.
//!
//! Cost: rows are found by counting; only Parquet is decoded a second time.

mod csv;
mod files;
mod json_lines;
mod lines;
mod parquet;
mod warc;

use std::path::PathBuf;

use wonbon_documents::Rows;
use wonbon_rule::Kind;

use crate::error::ClusterError;
use crate::strings::StringColumn;
use crate::verdicts::{FamilyRow, Verdicts};

pub(crate) use parquet::FamilyTable;

/// The fields that are added to an annotated row.
const VERDICT_FIELDS: [&str; 4] =
    ["wonbon_family", "wonbon_original", "wonbon_resemblance", "wonbon_kind"];

/// Writes the rows of one input file, in the format of that file.
pub(crate) trait RowWriter {
    /// Writes those rows of a piece that `selection` takes. `documents` has for each row of the piece
    /// the number of its document, or none if the row is no document. Returns how many were written.
    fn write(
        &mut self,
        rows: &Rows,
        documents: &[Option<u32>],
        selection: Selection<'_>,
    ) -> Result<u64, ClusterError>;

    /// Ends the file and syncs it to the disk.
    fn finish(self: Box<Self>) -> Result<(), ClusterError>;
}

/// Which rows are written, and with what.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) verdicts: &'a Verdicts,
    pub(crate) ids: &'a StringColumn,
    /// All documents with their verdicts, rather than the kept ones as they are.
    pub(crate) annotate: bool,
}

impl Selection<'_> {
    /// Whether the row of a document is written.
    pub(crate) fn takes(&self, document: u32) -> bool {
        self.annotate || self.verdicts.is_kept(document)
    }

    /// The verdict of a document with the id of its original.
    pub(crate) fn verdict(&self, document: u32) -> Result<RowVerdict, ClusterError> {
        let FamilyRow { kind, family, original, resemblance } = self.verdicts.row(document);
        Ok(RowVerdict { family, original: self.ids.get(original)?, resemblance, kind })
    }
}

/// What is said of a document in the outputs.
#[derive(Clone, Debug)]
pub(crate) struct RowVerdict {
    /// None for a document without words.
    pub(crate) family: Option<u32>,
    pub(crate) original: String,
    pub(crate) resemblance: f64,
    pub(crate) kind: Kind,
}

/// A writer to the new file `path` for the file that `rows` are the first of; none if rows of its
/// format cannot be annotated and shall be.
pub(crate) fn writer_for(
    rows: &Rows,
    path: PathBuf,
    annotate: bool,
) -> Result<Option<Box<dyn RowWriter>>, ClusterError> {
    Ok(Some(match rows {
        Rows::Nothing => return Ok(None),
        Rows::File(_) | Rows::Archive(_) if annotate => return Ok(None),
        Rows::File(_) => Box::new(files::FileCopier::new(path)),
        Rows::Archive(_) => Box::new(warc::WarcWriter::create(path)?),
        Rows::Table(table) => {
            Box::new(parquet::ParquetWriter::create(path, &table.layout, annotate)?)
        }
        Rows::Lines(lines) => match lines.header() {
            Some(header) => Box::new(csv::create(path, header.clone(), annotate)?),
            None => Box::new(json_lines::create(path)?),
        },
    }))
}
