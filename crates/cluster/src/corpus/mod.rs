//! A corpus on disk: what is known of every document, in columns, part after part.
//!
//! A run that reads a large input notes after each part ([`PART_BYTES`]) how far every column is
//! (`parts`, one JSON line each). A killed run continues after its last note; what was written after
//! it is cut off.
//!
//! | file | values |
//! |---|---|
//! | `keys` | 64 bits a document: its place in keep order |
//! | `bytes`, `normal`, `set` | 64 bits a document: fingerprints of the bytes, the normal form, the set of shingles |
//! | `shingles` | 32 bits a document: how many different shingles it has |
//! | `elements` | 64 bits a shingle, one document after another |
//! | `feature-NN` | 64 bits a document |
//! | `super-counts`, `supers` | super-shingles (clustering only) |
//! | `ids` and `id-ends`, `urls` and `url-ends` | strings (URLs for clustering only) |
//! | `words` and `word-ends`, `unit-starts` and `unit-counts` | words in normal form, where units begin (passages only) |
//! | `rows` | a byte a row: 1 is a document |
//! | `skipped` | JSON lines: rows and files that are no documents |
//! | `parts`, `plan.json` | the notes and the plan |

mod from_inputs;
mod writer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use wonbon_documents::Skipped;

use crate::columns::{Column, Mark};
use crate::error::{ClusterError, io};
use crate::strings::StringColumn;

pub(crate) use from_inputs::{CorpusSource, note_document};
pub(crate) use writer::{CorpusWriter, PieceColumns};

/// How much input is read between two notes, unless said otherwise.
pub const PART_BYTES: u64 = 64 << 20;

/// The most documents of one run: places are 32-bit numbers, and one is set aside.
const MOST_DOCUMENTS: u64 = u32::MAX as u64 - 1;

/// The columns of every corpus, beside its features.
const COLUMNS: [&str; 18] = [
    "keys",
    "bytes",
    "normal",
    "set",
    "shingles",
    "elements",
    "ids",
    "id-ends",
    "urls",
    "url-ends",
    "super-counts",
    "supers",
    "words",
    "word-ends",
    "unit-starts",
    "unit-counts",
    "rows",
    "skipped",
];

const PARTS: &str = "parts";

fn feature_name(number: usize) -> String {
    format!("feature-{number:02}")
}

/// How far the reading of a corpus is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Items read.
    pub(crate) items: u64,
    /// Rows read.
    pub(crate) rows: u64,
    /// Documents among them.
    pub(crate) documents: u64,
    /// Documents of other corpora, which come first.
    pub(crate) others: u64,
    /// Documents among those whose sketches came from an earlier run: they have no rows.
    pub(crate) imported: u64,
    /// Rows and files that are no documents.
    pub(crate) skipped: u64,
    /// Bytes read, decompressed.
    pub(crate) input_bytes: u64,
    /// Bytes of core text.
    pub(crate) text_bytes: u64,
    /// Whether the input was read to its end.
    pub(crate) complete: bool,
    marks: BTreeMap<String, Mark>,
}

/// The last whole line of the notes: a killed process may leave half of one.
fn last_checkpoint(folder: &Path) -> Result<Option<Checkpoint>, ClusterError> {
    let path = folder.join(PARTS);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read(&path).map_err(io("read", &path))?;
    let whole: Vec<&[u8]> =
        text.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")).collect();
    let last = whole.iter().rev().find_map(|line| serde_json::from_slice(line).ok());
    // What follows the last note is rewritten, so that notes stay whole lines.
    wonbon_files::replace(&path, &whole.concat())?;
    Ok(last)
}

/// A corpus that was read to its end.
#[derive(Debug)]
pub struct Corpus {
    folder: PathBuf,
    at: Checkpoint,
    feature_count: usize,
}

/// Opening a column fails if its file cannot be opened.
impl Corpus {
    /// Opens a corpus that was read to its end.
    ///
    /// # Errors
    ///
    /// [`ClusterError::NotARun`] if there is none.
    pub(crate) fn open(folder: &Path) -> Result<Self, ClusterError> {
        let not = || ClusterError::NotARun {
            path: folder.to_owned(),
            what: "the sketches of a finished run",
        };
        if !folder.join(PARTS).exists() {
            return Err(not());
        }
        let at = last_checkpoint(folder)?.filter(|at| at.complete).ok_or_else(not)?;
        let feature_count = at.marks.keys().filter(|name| name.starts_with("feature-")).count();
        Ok(Corpus { folder: folder.to_owned(), at, feature_count })
    }

    /// What was read.
    pub(crate) fn read(&self) -> &Checkpoint {
        &self.at
    }

    /// How many documents there are.
    pub(crate) fn len(&self) -> u32 {
        self.at.documents as u32
    }

    /// How many features every document has.
    pub(crate) fn feature_count(&self) -> usize {
        self.feature_count
    }

    /// The file of a column.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn column<T: bytemuck::Pod>(&self, name: &str) -> Result<Column<T>, ClusterError> {
        Column::open(self.path(name))
    }

    /// The keys by which documents are put in order.
    pub(crate) fn keys(&self) -> Result<Column<u64>, ClusterError> {
        self.column("keys")
    }

    /// The fingerprints of the documents' bytes.
    pub(crate) fn bytes(&self) -> Result<Column<u64>, ClusterError> {
        self.column("bytes")
    }

    /// The fingerprints of the normal forms.
    pub(crate) fn normal(&self) -> Result<Column<u64>, ClusterError> {
        self.column("normal")
    }

    /// The fingerprints of the sets of shingles.
    pub(crate) fn set(&self) -> Result<Column<u128>, ClusterError> {
        self.column("set")
    }

    /// The numbers of different shingles.
    pub(crate) fn shingles(&self) -> Result<Column<u32>, ClusterError> {
        self.column("shingles")
    }

    /// The shingles of all documents, one document after another.
    pub(crate) fn elements(&self) -> Result<Column<u64>, ClusterError> {
        self.column("elements")
    }

    /// One feature of every document.
    pub(crate) fn feature(&self, number: usize) -> Result<Column<u64>, ClusterError> {
        self.column(&feature_name(number))
    }

    /// The super-shingles of all documents: how many each has, and all of them.
    pub(crate) fn supers(&self) -> Result<(Column<u32>, Column<u64>), ClusterError> {
        Ok((self.column("super-counts")?, self.column("supers")?))
    }

    /// The words of all documents, and where those of each end.
    pub(crate) fn words(&self) -> Result<(Column<u8>, Vec<u64>), ClusterError> {
        Ok((self.column("words")?, self.column("word-ends")?.read_all()?))
    }

    /// Where units begin in the words of all documents, and how many each document has.
    pub(crate) fn unit_starts(&self) -> Result<(Column<u32>, Vec<u32>), ClusterError> {
        Ok((self.column("unit-starts")?, self.column("unit-counts")?.read_all()?))
    }

    /// For each row of the input, whether it is a document.
    pub(crate) fn rows(&self) -> Result<Column<u8>, ClusterError> {
        self.column("rows")
    }

    /// The ids of the documents.
    pub(crate) fn ids(&self) -> Result<StringColumn, ClusterError> {
        StringColumn::open(&self.folder, "ids", "id-ends")
    }

    /// The first `most` rows and files that are no documents.
    pub(crate) fn skipped(&self, most: usize) -> Result<Vec<Skipped>, ClusterError> {
        let path = self.path("skipped");
        let text = std::fs::read_to_string(&path).map_err(io("read", &path))?;
        text.lines()
            .take(most)
            .map(|line| {
                serde_json::from_str(line).map_err(|_| ClusterError::Damaged { path: path.clone() })
            })
            .collect()
    }
}
