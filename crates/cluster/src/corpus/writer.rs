//! Writing a corpus: rows are appended to its columns, and after each part a note says how far every
//! column is.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use serde_json::Value;
use wonbon_documents::Skipped;

use super::{COLUMNS, Checkpoint, Corpus, MOST_DOCUMENTS, PARTS, feature_name, last_checkpoint};
use crate::columns::{Column, ColumnWriter};
use crate::error::{ClusterError, io};
use crate::run_folder::{begin_or_continue, read_plan};
use crate::sketching::Sketches;

/// Columns that are taken over from the sketches of an earlier run, beside its features.
const IMPORTED: [&str; 6] = ["keys", "bytes", "normal", "set", "shingles", "elements"];

/// What is known of the documents of one piece of the input.
#[derive(Debug, Default)]
pub(crate) struct PieceColumns {
    /// For each row, whether it is a document: 1 or 0.
    pub(crate) rows: Vec<u8>,
    /// The keys of the documents, by which they are put in order.
    pub(crate) keys: Vec<u64>,
    /// The ids of the documents, one after another.
    pub(crate) ids: Vec<u8>,
    /// Where each id ends.
    pub(crate) id_ends: Vec<u64>,
    /// What is no document.
    pub(crate) skipped: Vec<Skipped>,
    /// Bytes read, decompressed.
    pub(crate) input_bytes: u64,
    /// Bytes of core text.
    pub(crate) text_bytes: u64,
    /// The sketches of the documents.
    pub(crate) sketches: Sketches,
}

impl PieceColumns {
    /// Notes one document; its sketch is the caller's.
    pub(crate) fn push(&mut self, id: &str, key: u64, text: &str) {
        self.keys.push(key);
        self.ids.extend_from_slice(id.as_bytes());
        self.id_ends.push(self.ids.len() as u64);
        self.text_bytes += text.len() as u64;
    }
}

/// Writes a corpus.
#[derive(Debug)]
pub(crate) struct CorpusWriter {
    folder: PathBuf,
    /// Every column by its name, as bytes.
    columns: BTreeMap<String, ColumnWriter<u8>>,
    feature_count: usize,
    at: Checkpoint,
    noted_bytes: u64,
    part_bytes: u64,
}

impl CorpusWriter {
    /// Starts a corpus in `folder`, or continues the one of the same plan that is there.
    ///
    /// # Errors
    ///
    /// [`ClusterError::OtherPlan`] if what is there was begun with another plan,
    /// [`ClusterError::Damaged`] if it is not what was written, or if files cannot be written.
    pub(crate) fn open(
        folder: &Path,
        feature_count: usize,
        plan: &Value,
        part_bytes: u64,
    ) -> Result<Self, ClusterError> {
        begin_or_continue(folder, plan)?;
        let at = last_checkpoint(folder)?.unwrap_or_default();
        let names = COLUMNS.into_iter().map(str::to_owned);
        let columns = names
            .chain((0..feature_count).map(feature_name))
            .map(|name| {
                let mark = at.marks.get(&name).copied().unwrap_or_default();
                Ok((name.clone(), ColumnWriter::open(folder.join(name), mark)?))
            })
            .collect::<Result<_, ClusterError>>()?;
        let (folder, noted_bytes) = (folder.to_owned(), at.input_bytes);
        Ok(CorpusWriter { folder, columns, feature_count, at, noted_bytes, part_bytes })
    }

    /// How far it is.
    pub(crate) fn at(&self) -> &Checkpoint {
        &self.at
    }

    fn column(&mut self, name: &str) -> &mut ColumnWriter<u8> {
        self.columns.get_mut(name).expect("every column was opened")
    }

    fn extend<T: Pod>(&mut self, name: &str, values: &[T]) -> Result<(), ClusterError> {
        self.column(name).extend(bytemuck::cast_slice(values))
    }

    /// Appends strings: their bytes to one column, where they end to another.
    fn extend_strings(
        &mut self,
        [bytes, ends]: [&str; 2],
        strings: &[u8],
        string_ends: &[u64],
    ) -> Result<(), ClusterError> {
        let start = self.column(bytes).bytes();
        let shifted: Vec<u64> = string_ends.iter().map(|end| start + end).collect();
        self.extend(bytes, strings)?;
        self.extend(ends, &shifted)
    }

    /// Appends the columns of one piece.
    pub(crate) fn append(&mut self, rows: &PieceColumns, other: bool) -> Result<(), ClusterError> {
        let sketches = &rows.sketches;
        self.at.items += 1;
        self.at.rows += rows.rows.len() as u64;
        self.count_documents(rows.keys.len() as u64, other)?;
        self.at.skipped += rows.skipped.len() as u64;
        self.at.input_bytes += rows.input_bytes;
        self.at.text_bytes += rows.text_bytes;
        self.extend("keys", &rows.keys)?;
        self.extend("rows", &rows.rows)?;
        self.extend("bytes", &sketches.bytes)?;
        self.extend("normal", &sketches.normal)?;
        self.extend("set", &sketches.set)?;
        self.extend("shingles", &sketches.shingles)?;
        self.extend("elements", &sketches.elements)?;
        let groups = self.feature_count;
        for number in 0..groups {
            let values = sketches.features.iter().skip(number).step_by(groups);
            let values: Vec<u64> = values.copied().collect();
            self.extend(&feature_name(number), &values)?;
        }
        self.extend_strings(["ids", "id-ends"], &rows.ids, &rows.id_ends)?;
        self.extend("super-counts", &sketches.super_counts)?;
        self.extend("supers", &sketches.supers)?;
        self.extend_strings(["urls", "url-ends"], &sketches.urls, &sketches.url_ends)?;
        self.extend_strings(["words", "word-ends"], &sketches.words, &sketches.word_ends)?;
        self.extend("unit-starts", &sketches.unit_starts)?;
        self.extend("unit-counts", &sketches.unit_counts)?;
        for skipped in &rows.skipped {
            let mut line = serde_json::to_vec(skipped).expect("two strings and a number are JSON");
            line.push(b'\n');
            self.extend("skipped", &line)?;
        }
        if self.at.input_bytes - self.noted_bytes >= self.part_bytes {
            self.note()?;
        }
        Ok(())
    }

    fn count_documents(&mut self, count: u64, other: bool) -> Result<(), ClusterError> {
        self.at.documents += count;
        self.at.others += if other { count } else { 0 };
        if self.at.documents > MOST_DOCUMENTS {
            return Err(ClusterError::TooMany { most: MOST_DOCUMENTS });
        }
        Ok(())
    }

    /// Takes over the sketches of an earlier run, before anything else.
    ///
    /// # Errors
    ///
    /// [`ClusterError::OtherSketches`] if they were made with other parameters, or if they cannot be
    /// read.
    pub(crate) fn import(&mut self, folder: &Path, plan: &Value) -> Result<(), ClusterError> {
        let there = read_plan(folder)?;
        for what in ["bands", "seed", "shingle words", "normal form", "shingle hash"] {
            if there.get(what) != plan.get(what) {
                return Err(ClusterError::OtherSketches { path: folder.to_owned(), what });
            }
        }
        let earlier = Corpus::open(folder)?;
        let names = IMPORTED.into_iter().map(str::to_owned);
        for name in names.chain((0..self.feature_count).map(feature_name)) {
            let to = self.column(&name);
            Column::<u8>::open(folder.join(&name))?.for_each_piece(|_, piece| to.extend(piece))?;
        }
        let start = self.column("ids").bytes();
        let ids = Column::<u8>::open(folder.join("ids"))?;
        ids.for_each_piece(|_, piece| self.extend("ids", piece))?;
        Column::<u64>::open(folder.join("id-ends"))?.for_each_piece(|_, piece| {
            let shifted: Vec<u64> = piece.iter().map(|end| start + end).collect();
            self.extend("id-ends", &shifted)
        })?;
        self.at.imported += u64::from(earlier.len());
        self.count_documents(u64::from(earlier.len()), true)
    }

    /// Notes how far every column is.
    fn note(&mut self) -> Result<(), ClusterError> {
        self.at.marks = self
            .columns
            .iter_mut()
            .map(|(name, column)| Ok((name.clone(), column.flush()?)))
            .collect::<Result<_, ClusterError>>()?;
        self.noted_bytes = self.at.input_bytes;
        let mut line = serde_json::to_vec(&self.at).expect("numbers and strings are JSON");
        line.push(b'\n');
        let path = self.folder.join(PARTS);
        let mut file =
            OpenOptions::new().create(true).append(true).open(&path).map_err(io("open", &path))?;
        file.write_all(&line).map_err(io("write", &path))
    }

    /// Notes that the input was read to its end.
    ///
    /// # Errors
    ///
    /// If the files cannot be written.
    pub(crate) fn finish(mut self) -> Result<Corpus, ClusterError> {
        self.at.complete = true;
        self.note()?;
        Corpus::open(&self.folder)
    }
}
