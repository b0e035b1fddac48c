//! Writes rows of the inputs to the output: the kept rows, or all rows with their verdicts.
//!
//! Every format has a writer ([`RowWriter`]): JSON lines, CSV, Parquet, WARC, and files that are one document each. A kept
//! row is written byte for byte as it was read (a Parquet row: the same values in the same columns), unless passages are
//! removed from it: then its text is what is left. An annotated row has
//! four more fields ([`VERDICT_FIELDS`]), and a fifth ([`REMOVED_FIELD`]) where passages are looked for. WARC records and whole files have no place for these fields and are not annotated.
//!
//! Cost: rows are found by counting; only Parquet is decoded a second time.

mod csv;
mod files;
mod json_lines;
mod lines;
mod parquet;
mod warc;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use wonbon_documents::Rows;
use wonbon_rule::Kind;

use crate::error::ClusterError;
use crate::passages::{Cut, Removal};
use crate::strings::StringColumn;
use crate::verdicts::{FamilyRow, Verdicts};

pub(crate) use parquet::FamilyTable;
pub(crate) use parquet::TableFile;

/// The fields that are added to an annotated row.
const VERDICT_FIELDS: [&str; 4] =
    ["wonbon_family", "wonbon_original", "wonbon_resemblance", "wonbon_kind"];

/// The field with the bytes of the text that passages take.
const REMOVED_FIELD: &str = "wonbon_removed";

/// The number of the document of each row of a piece; none for a row that is no document.
pub(crate) type RowNumbers = [Option<u32>];

/// How many rows were written.
type Written = Result<u64, ClusterError>;

/// Writes the rows of one input file, in the format of that file.
pub(crate) trait RowWriter {
    /// Writes those rows of a piece that `selection` takes.
    fn write(&mut self, rows: &Rows, documents: &RowNumbers, selection: Selection<'_>) -> Written;

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
    /// Which passages are removed, if they were looked for.
    pub(crate) passages: Option<RowPassages<'a>>,
}

/// What is removed from the rows that are written.
#[derive(Clone, Copy)]
pub(crate) struct RowPassages<'a> {
    pub(crate) removal: &'a Removal,
    /// A document with fewer words left is dropped.
    pub(crate) min_left: u32,
    /// The field that gets what is left of a text.
    pub(crate) text_field: &'a str,
    /// The file that the rows come from.
    pub(crate) input: &'a Path,
    /// The texts of these rows that are cut.
    pub(crate) cuts: &'a BTreeMap<u32, Cut>,
}

impl RowPassages<'_> {
    /// Whether too little is left of a document.
    pub(crate) fn drops(&self, document: u32) -> bool {
        self.removal.of(document).is_some_and(|(_, left)| left < self.min_left)
    }

    fn cannot_cut(&self, what: &'static str) -> ClusterError {
        ClusterError::CannotCut { path: self.input.to_owned(), what }
    }
}

impl Selection<'_> {
    /// Whether the row of a document is written.
    pub(crate) fn takes(&self, document: u32) -> bool {
        let is_dropped = || self.passages.is_some_and(|passages| passages.drops(document));
        self.annotate || (self.verdicts.is_kept(document) && !is_dropped())
    }

    /// What is cut out of the text of a document that is not annotated.
    fn cut(&self, document: u32) -> Option<(RowPassages<'_>, &Cut)> {
        let passages = self.passages.filter(|_| !self.annotate)?;
        passages.cuts.get(&document).map(|cut| (passages, cut))
    }

    /// The verdict of a document with the id of its original.
    pub(crate) fn verdict(&self, document: u32) -> Result<RowVerdict, ClusterError> {
        let FamilyRow { kind, family, original, resemblance } = self.verdicts.row(document);
        let removed = self.passages.map(|passages| {
            let cut = passages.cuts.get(&document);
            let ranges = cut.map_or(&[][..], |cut| &cut.removed);
            let ranges: Vec<[usize; 2]> =
                ranges.iter().map(|range| [range.start, range.end]).collect();
            serde_json::to_string(&ranges).expect("numbers are JSON")
        });
        Ok(RowVerdict { family, original: self.ids.get(original)?, resemblance, kind, removed })
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
    /// The bytes that passages take, as JSON, if they were looked for.
    pub(crate) removed: Option<String>,
}

/// The names of the fields that rows get.
struct AddedFields(Vec<&'static str>);

impl AddedFields {
    fn of(selection: Selection<'_>) -> Self {
        let mut names = Vec::new();
        if selection.annotate {
            names.extend(VERDICT_FIELDS);
            names.extend(selection.passages.map(|_| REMOVED_FIELD));
        }
        AddedFields(names)
    }
}

/// A writer to the new file `path` for the file that `rows` are the first of; none if rows of its
/// format cannot be annotated and shall be.
pub(crate) fn writer_for(
    rows: &Rows,
    path: PathBuf,
    selection: Selection<'_>,
) -> Result<Option<Box<dyn RowWriter>>, ClusterError> {
    let fields = AddedFields::of(selection);
    Ok(Some(match rows {
        Rows::Nothing => return Ok(None),
        Rows::File(_) | Rows::Archive(_) if selection.annotate => return Ok(None),
        Rows::File(_) => Box::new(files::FileCopier::new(path)),
        Rows::Archive(_) => Box::new(warc::WarcWriter::create(path)?),
        Rows::Table(table) => {
            Box::new(parquet::ParquetWriter::create(path, &table.layout, &fields)?)
        }
        Rows::Lines(lines) => match lines.header() {
            Some(header) => Box::new(csv::create(path, header.clone(), &fields)?),
            None => Box::new(json_lines::create(path)?),
        },
    }))
}
