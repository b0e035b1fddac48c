//! The words of a corpus on disk, one document after another, and the order in which documents count.
//!
//! Every word in normal form is followed by a space, the last of a document by a line break; neither occurs inside a word.
//! So equal runs of words are equal bytes, the place of a word is the place of its first byte, and comparing is comparing
//! memory. The file takes about as much as the text.
//!
//! A *place* is counted in keep order: the documents that count, other corpora first, are thought of as standing one behind
//! another, so that "earlier" is "smaller". Documents that do not count (copies that are not kept) have no places.
//!
//! Cost: 16 bytes of memory a document.

use std::ops::Range;

use super::scan::Scan;
use crate::columns::Column;
use crate::error::ClusterError;

/// The documents of a corpus that count, with their words.
#[derive(Debug)]
pub(crate) struct WordText {
    bytes: Column<u8>,
    /// For each document in keep order, where its words stand in the file.
    files: Vec<u64>,
    /// For each document in keep order, its first place; then the end of all.
    starts: Vec<u64>,
    /// The first so many documents belong to other corpora.
    others: usize,
}

/// Parts of documents that count no longer: from the start of a word to the end of one, ascending and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    ranges: Vec<(u64, u64)>,
}

impl Removed {
    /// Adds ranges in any order.
    pub(crate) fn add(&mut self, mut ranges: Vec<(u64, u64)>) {
        ranges.append(&mut self.ranges);
        ranges.sort_unstable();
        for (start, end) in ranges {
            match self.ranges.last_mut() {
                // One byte separates neighbouring words.
                Some(last) if start <= last.1 + 1 => last.1 = last.1.max(end),
                _ => self.ranges.push((start, end)),
            }
        }
    }

    /// Those within these places.
    pub(crate) fn within(&self, places: Range<u64>) -> &[(u64, u64)] {
        let first = self.ranges.partition_point(|range| range.1 <= places.start);
        let count = self.ranges[first..].partition_point(|range| range.0 < places.end);
        &self.ranges[first..first + count]
    }

    /// All of them.
    pub(crate) fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }
}

impl WordText {
    /// The documents of `order` in this order; `ends` says where the words of every document end. The first `others`
    /// of the order belong to other corpora.
    pub(crate) fn new(
        bytes: Column<u8>,
        ends: &[u64],
        order: impl Iterator<Item = u32>,
        others: usize,
    ) -> Self {
        let (mut files, mut starts, mut at) = (Vec::new(), Vec::new(), 0);
        for document in order.map(|document| document as usize) {
            let start = if document == 0 { 0 } else { ends[document - 1] };
            files.push(start);
            starts.push(at);
            at += ends[document] - start;
        }
        starts.push(at);
        WordText { bytes, files, starts, others }
    }

    /// How many documents count.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// The bytes of all words that count.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.starts[self.files.len()]
    }

    /// The number, in keep order, of the document with this place.
    pub(crate) fn document_at(&self, place: u64) -> usize {
        self.starts.partition_point(|&start| start <= place) - 1
    }

    /// Whether a document belongs to another corpus.
    pub(crate) fn is_other(&self, document: usize) -> bool {
        document < self.others
    }

    /// The places of a document.
    pub(crate) fn places(&self, document: usize) -> Range<u64> {
        self.starts[document]..self.starts[document + 1]
    }

    /// Where a place of a document stands in the file.
    pub(crate) fn in_file(&self, document: usize, place: u64) -> u64 {
        self.files[document] + (place - self.starts[document])
    }

    /// Reads up to `length` bytes from a place on, to the end of its document at most.
    pub(crate) fn read(
        &self,
        document: usize,
        place: u64,
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), ClusterError> {
        let left = self.starts[document + 1] - place;
        out.resize(length.min(usize::try_from(left).unwrap_or(usize::MAX)), 0);
        self.bytes.read_at(self.in_file(document, place), out)
    }

    /// Reads a document and finds its words without those that were removed.
    pub(crate) fn load(
        &self,
        document: usize,
        removed: &Removed,
        scan: &mut Scan,
    ) -> Result<(), ClusterError> {
        let places = self.places(document);
        self.read(document, places.start, usize::MAX, &mut scan.text)?;
        scan.split(removed.within(places.clone()), places.start);
        Ok(())
    }

    /// The word before a place, or none at the start of the document. What was removed is not regarded.
    pub(crate) fn word_before(
        &self,
        document: usize,
        place: u64,
        out: &mut Vec<u8>,
    ) -> Result<bool, ClusterError> {
        let start = self.starts[document];
        if place == start {
            return Ok(false);
        }
        let mut length = 32;
        loop {
            let from = (place - 1).saturating_sub(length).max(start);
            self.read(document, from, (place - 1 - from) as usize, out)?;
            match memchr::memrchr(b' ', out) {
                Some(at) => {
                    out.drain(..=at);
                    return Ok(true);
                }
                None if from == start => return Ok(true),
                None => length *= 8,
            }
        }
    }
}
