//! Step 5 of the search: pairs of windows and their first places, in order of place, become runs, whose words are compared.

use std::collections::BTreeSet;

use super::repeats::Finder;
use super::scan::Scan;
use super::words::Removed;
use crate::error::ClusterError;

/// Reads windows at any place of the text that is left.
pub(super) struct WindowText<'a> {
    finder: &'a Finder<'a>,
    removed: &'a Removed,
    loaded: Option<usize>,
    scan: Scan,
    bytes: Vec<u8>,
}

impl<'a> WindowText<'a> {
    pub(super) fn new(finder: &'a Finder<'a>, removed: &'a Removed) -> Self {
        WindowText { finder, removed, loaded: None, scan: Scan::default(), bytes: Vec::new() }
    }

    fn load(&mut self, document: usize) -> Result<(), ClusterError> {
        if self.loaded != Some(document) {
            self.loaded = None;
            self.finder.words.load(document, self.removed, &mut self.scan)?;
            self.loaded = Some(document);
        }
        Ok(())
    }

    fn word_at(&self, document: usize, place: u64) -> usize {
        let offset = (place - self.finder.words.places(document).start) as usize;
        self.scan.starts.partition_point(|&start| start < offset)
    }

    pub(super) fn window(&mut self, place: u64) -> Result<Vec<u8>, ClusterError> {
        let document = self.finder.words.document_at(place);
        self.load(document)?;
        let word = self.word_at(document, place);
        self.scan.join(word..word + self.finder.plan.words, &mut self.bytes);
        Ok(self.bytes.clone())
    }

    /// Whether the text that is left has these words at a place.
    fn has_words(
        &mut self,
        document: usize,
        place: u64,
        expected: &[u8],
        count: usize,
    ) -> Result<bool, ClusterError> {
        let words = self.finder.words;
        if self.removed.within(words.places(document)).is_empty() {
            words.read(document, place, expected.len() + 1, &mut self.bytes)?;
            let ends = self.bytes.last().is_some_and(|&last| last == b' ' || last == b'\n');
            return Ok(ends && self.bytes[..self.bytes.len() - 1] == *expected);
        }
        self.load(document)?;
        let word = self.word_at(document, place);
        if word + count > self.scan.words() {
            return Ok(false);
        }
        self.scan.join(word..word + count, &mut self.bytes);
        Ok(self.bytes == expected)
    }
}

/// Step 5: pairs in order of place become runs.
pub(super) struct Runs<'a> {
    finder: &'a Finder<'a>,
    removed: &'a Removed,
    classes: bool,
    document: Option<usize>,
    scan: Scan,
    other: WindowText<'a>,
    cursor: usize,
    run: Option<Run>,
    expected: Vec<u8>,
    left: Vec<u8>,
    /// Words that occurred before.
    pub(super) again: Vec<(u64, u64)>,
    /// First places of windows that do not follow the same word everywhere.
    pub(super) starts: Vec<u64>,
    /// First places of windows whose hash other windows have.
    pub(super) collisions: BTreeSet<u64>,
}

/// Windows from word `from` to word `last` of the document; the first of them occurred first at `first`.
struct Run {
    from: usize,
    last: usize,
    first: u64,
}

impl<'a> Runs<'a> {
    pub(super) fn new(finder: &'a Finder<'a>, removed: &'a Removed, classes: bool) -> Self {
        Runs {
            finder,
            removed,
            classes,
            document: None,
            scan: Scan::default(),
            other: WindowText::new(finder, removed),
            cursor: 0,
            run: None,
            expected: Vec::new(),
            left: Vec::new(),
            again: Vec::new(),
            starts: Vec::new(),
            collisions: BTreeSet::new(),
        }
    }

    pub(super) fn push(&mut self, place: u64, first: u64) -> Result<(), ClusterError> {
        let words = self.finder.words;
        let document = match self.document {
            Some(document) if place < words.places(document).end => document,
            _ => {
                self.flush()?;
                let document = words.document_at(place);
                words.load(document, self.removed, &mut self.scan)?;
                (self.document, self.cursor) = (Some(document), 0);
                document
            }
        };
        let offset = (place - words.places(document).start) as usize;
        while self.scan.starts[self.cursor] < offset {
            self.cursor += 1;
        }
        let word = self.cursor;
        if let Some(run) = &mut self.run
            && word == run.last + 1
            && first >= run.first
            && first - run.first == (offset - self.scan.starts[run.from]) as u64
        {
            run.last = word;
            return Ok(());
        }
        self.flush()?;
        self.run = Some(Run { from: word, last: word, first });
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), ClusterError> {
        let (Some(run), Some(document)) = (self.run.take(), self.document) else { return Ok(()) };
        let words = self.finder.words;
        let length = self.finder.plan.words;
        let end = run.last + length;
        self.scan.join(run.from..end, &mut self.expected);
        let origin = words.document_at(run.first);
        if !self.other.has_words(origin, run.first, &self.expected, end - run.from)? {
            let from = self.scan.starts[run.from];
            self.collisions.extend(
                self.scan.starts[run.from..=run.last]
                    .iter()
                    .map(|start| run.first + (start - from) as u64),
            );
            return Ok(());
        }
        let start = words.places(document).start;
        if self.classes && self.follows_another_word(run.from, origin, run.first)? {
            self.starts.push(run.first);
        }
        let mut from = run.from;
        if origin == document {
            // The words of the first occurrence stay, where the two overlap.
            let offset = (run.first - start) as usize;
            let first = self.scan.starts.partition_point(|&other| other < offset);
            from = from.max(first + length);
        }
        if !words.is_other(document) {
            let range = (self.scan.starts[from], self.scan.ends[end - 1]);
            self.again.push((start + range.0 as u64, start + range.1 as u64));
        }
        Ok(())
    }

    /// Whether the words before the two places differ; the start of a document differs from everything.
    fn follows_another_word(
        &mut self,
        word: usize,
        origin: usize,
        first: u64,
    ) -> Result<bool, ClusterError> {
        if word == 0 {
            return Ok(true);
        }
        if !self.finder.words.word_before(origin, first, &mut self.left)? {
            return Ok(true);
        }
        let before = &self.scan.text[self.scan.starts[word - 1]..self.scan.ends[word - 1]];
        Ok(before != self.left)
    }
}
