//! The index: its segments, when they are merged and written, and its readers.
//!
//! One owner adds documents; any number of readers hold the segments of a snapshot. Batches become segments in memory, which
//! are merged with others of similar size; [`ShingleIndex::write`] writes them as one file.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use super::candidates::{Candidate, Found, candidates};
use super::files::Files;
use super::merge::merge;
use super::sampler::ShingleSketch;
use super::segment::{MOST_DOCUMENTS, MOST_POSTINGS, Segment};
use crate::{IndexError, Row};

/// A segment is merged with all newer ones when it is not this many times as large as they are.
const TIMES_LARGER: u64 = 2;

/// The index of <shingle, document>.
#[derive(Debug)]
pub struct ShingleIndex {
    files: Files,
    /// The oldest first.
    written: Vec<Arc<Segment>>,
    in_memory: Vec<Arc<Segment>>,
    mark: u64,
}

/// An index that was opened.
#[derive(Debug)]
pub struct OpenedShingles {
    /// The index.
    pub index: ShingleIndex,
    /// Why what was there is of no use, if so: the index is empty then.
    pub rebuilt: Option<IndexError>,
}

impl ShingleIndex {
    /// Opens the index in a directory, which need not exist. What belongs to another `identity`, was
    /// made with another seed or is damaged is of no use: the index begins empty, with mark 0.
    ///
    /// # Errors
    ///
    /// [`IndexError::Io`].
    pub fn open(
        directory: &Path,
        identity: &str,
        seed_fingerprint: u64,
    ) -> Result<OpenedShingles, IndexError> {
        let files = Files {
            directory: directory.to_owned(),
            identity: identity.to_owned(),
            seed: seed_fingerprint,
        };
        let (listed, rebuilt) = match files.open() {
            Ok(listed) => (listed.unwrap_or_default(), None),
            Err(error @ IndexError::DamagedShingles { .. }) => (Default::default(), Some(error)),
            Err(IndexError::Io { source, path, .. })
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                let what = "the list names it and it is not there";
                (Default::default(), Some(IndexError::DamagedShingles { path, what }))
            }
            Err(error) => return Err(error),
        };
        let index = ShingleIndex {
            files,
            written: listed.segments,
            in_memory: Vec::new(),
            mark: listed.mark,
        };
        Ok(OpenedShingles { index, rebuilt })
    }

    /// The mark of the last [`ShingleIndex::write`].
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.mark
    }

    /// How many pairs are in memory only.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.in_memory.iter().map(|segment| segment.postings()).sum()
    }

    /// Puts documents in, each row once; what was known of them before is hidden. One that is gone has
    /// a sketch without shingles.
    ///
    /// # Errors
    ///
    /// [`IndexError::DamagedShingles`].
    pub fn put(&mut self, documents: Vec<(Row, ShingleSketch)>) -> Result<(), IndexError> {
        if documents.is_empty() {
            return Ok(());
        }
        let seed = self.files.seed;
        self.in_memory.push(Arc::new(Segment::in_memory(documents, seed)));
        let from = merge_from(&self.in_memory);
        if self.in_memory.len() - from > 1 {
            let out = Cursor::new(Vec::new());
            let merged = merge(&self.in_memory[from..], false, seed, out, Path::new(""))?;
            self.in_memory.truncate(from);
            self.in_memory.push(Arc::new(Segment::of_memory(merged.into_inner(), seed)));
        }
        Ok(())
    }

    /// Makes everything durable. `mark` is the caller's number of the last change in the index.
    ///
    /// # Errors
    ///
    /// [`IndexError::Io`]: then the files are as they were; [`IndexError::DamagedShingles`].
    pub fn write(&mut self, mark: u64) -> Result<(), IndexError> {
        let mut all = self.written.clone();
        all.extend(self.in_memory.iter().cloned());
        // What is in memory is merged at least with itself.
        let from = merge_from(&all).min(self.written.len());
        if !self.in_memory.is_empty() {
            let merged = self.files.write(&all[from..], from == 0)?;
            all.truncate(from);
            all.push(merged);
        }
        self.files.write_list(&all, mark)?;
        self.written = all;
        self.in_memory.clear();
        self.mark = mark;
        Ok(())
    }

    /// Forgets everything; the files go with the next [`ShingleIndex::write`].
    pub fn forget(&mut self) {
        self.written.clear();
        self.in_memory.clear();
        self.mark = 0;
    }

    /// What it holds at this moment.
    #[must_use]
    pub fn reader(&self) -> ShingleReader {
        let segments = self.written.iter().chain(&self.in_memory).cloned().collect();
        ShingleReader { segments }
    }
}

/// The first segment that has to be merged with all that are newer, so that every one is larger than
/// the newer ones together and there are few.
fn merge_from(segments: &[Arc<Segment>]) -> usize {
    let mut from = segments.len();
    let (mut postings, mut documents) = (0, 0);
    for (at, segment) in segments.iter().enumerate().rev() {
        let fits = postings + segment.postings() <= MOST_POSTINGS
            && documents + segment.documents() <= MOST_DOCUMENTS;
        if !fits {
            break;
        }
        if segment.postings() <= TIMES_LARGER * postings || documents >= segment.documents() {
            from = at;
        }
        postings += segment.postings();
        documents += segment.documents();
    }
    from.min(segments.len().saturating_sub(1))
}

/// An immutable snapshot of the index.
#[derive(Debug, Clone, Default)]
pub struct ShingleReader {
    segments: Vec<Arc<Segment>>,
}

impl ShingleReader {
    /// The documents that share some of these values and pass `keep`. Values are in increasing order;
    /// documents with fewer than `least_shingles` are left out.
    ///
    /// # Errors
    ///
    /// [`IndexError::DamagedShingles`].
    pub fn candidates(
        &self,
        values: &[u64],
        least_shingles: usize,
        keep: impl Fn(&Found, &Candidate) -> bool,
    ) -> Result<Found, IndexError> {
        candidates(&self.segments, values, least_shingles, keep)
    }

    /// What is indexed of a row: how many shingles it has and how many values are kept.
    #[must_use]
    pub fn document(&self, row: Row) -> Option<(u32, u32)> {
        let newest = self.segments.iter().rev().find_map(|segment| segment.find(row));
        newest.map(|(_, document)| (document.shingles, document.values))
    }

    /// Whether this value is known of this row.
    ///
    /// # Errors
    ///
    /// [`IndexError::DamagedShingles`].
    pub fn has(&self, row: Row, value: u64) -> Result<bool, IndexError> {
        for segment in self.segments.iter().rev() {
            if let Some((wanted, _)) = segment.find(row) {
                let mut found = false;
                segment.for_each_document_with(value, |number| found |= number == wanted)?;
                return Ok(found);
            }
        }
        Ok(false)
    }

    /// Checks all bytes of all segments.
    ///
    /// # Errors
    ///
    /// [`IndexError::DamagedShingles`].
    pub fn check(&self) -> Result<(), IndexError> {
        self.segments.iter().try_for_each(|segment| segment.check())
    }

    /// Its segments, the oldest first.
    #[must_use]
    pub fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }
}
