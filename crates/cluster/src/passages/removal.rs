//! Which words are removed so that no run of `N` words is left twice.
//!
//! Documents are taken in keep order. A word is removed if it belongs to a window of `N` words that occurs at an earlier
//! place; words of that earlier occurrence stay, where the two overlap. Then the same is done with the text that is left,
//! until nothing repeats.
//!
//! Why rounds: removing words makes neighbours of words that were apart, and a run that reaches across such a *gap* may
//! occur elsewhere. Why later rounds are cheap: two equal windows of which neither reaches across a gap of the
//! round before were both there in that round, and the later one lost a word then. So one of two equal windows always reaches
//! across a gap in a document that was changed in the round before, and it is enough to make seeds of such windows and to look
//! up who has the same. Every round removes a word, so the rounds end; the last one finds nothing, which is the guarantee.
//!
//! What is removed occurred before, in a run of `N` words. Where repeated runs overlap, an earlier round may have taken words
//! of the occurrence that stays: of a run whose ends repeat something else, up to `N - 1` words at either end.
//!
//! With a [`PassageUnit`] of lines or paragraphs, the whole of every unit that a repeated run touches is removed.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::repeats::Finder;
use super::scan::Scan;
use super::seeds::Seeds;
use super::words::{Removed, WordText};
use crate::columns::{Column, write_column};
use crate::error::ClusterError;
use crate::run_folder::{load_step, save_step};

/// What is removed as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PassageUnit {
    /// Words: exactly what repeats.
    #[default]
    Word,
    /// Lines: every line that a repeated run touches.
    Line,
    /// Paragraphs, which blank lines separate: every one that a repeated run touches.
    Paragraph,
}

impl fmt::Display for PassageUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PassageUnit::Word => "word",
            PassageUnit::Line => "line",
            PassageUnit::Paragraph => "paragraph",
        })
    }
}

/// The text names no unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write word, line or paragraph")]
pub struct NotAUnit;

impl FromStr for PassageUnit {
    type Err = NotAUnit;

    fn from_str(text: &str) -> Result<Self, NotAUnit> {
        match text {
            "word" => Ok(PassageUnit::Word),
            "line" => Ok(PassageUnit::Line),
            "paragraph" => Ok(PassageUnit::Paragraph),
            _ => Err(NotAUnit),
        }
    }
}

/// Where units begin in the words of each document.
#[derive(Debug)]
pub(crate) struct UnitStarts {
    offsets: Column<u32>,
    /// For each document of the corpus, where its offsets end.
    ends: Vec<u64>,
    /// For each document in keep order, its number in the corpus.
    order: Vec<u32>,
    /// Whether the offsets are of words that belong to the unit of the word before, rather than of those that begin one.
    are_inner: bool,
}

impl UnitStarts {
    /// `counts` has for each document of the corpus how many offsets it has.
    pub(crate) fn new(
        offsets: Column<u32>,
        counts: &[u32],
        order: Vec<u32>,
        unit: PassageUnit,
    ) -> Self {
        let ends = counts.iter().scan(0, |end, &count| {
            *end += u64::from(count);
            Some(*end)
        });
        UnitStarts { offsets, ends: ends.collect(), order, are_inner: unit == PassageUnit::Word }
    }

    /// The range, from the start of a word to the end of one, that has the whole of every unit which `range` touches.
    fn widen(
        &self,
        words: &WordText,
        document: usize,
        range: (u64, u64),
        looked_at: &mut LookedAt,
    ) -> Result<(u64, u64), ClusterError> {
        let number = self.order[document] as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        let count = (self.ends[number] - start) as usize;
        if self.are_inner && count == 0 {
            return Ok(range);
        }
        if looked_at.document != Some(document) {
            looked_at.document = None;
            looked_at.offsets.resize(count, 0);
            self.offsets.read_at(start, &mut looked_at.offsets)?;
            words.load(document, &Removed::default(), &mut looked_at.scan)?;
            looked_at.document = Some(document);
        }
        let marks = UnitMarks { offsets: &looked_at.offsets, are_inner: self.are_inner };
        let start = words.places(document).start;
        let (from, to) = marks.widen(&looked_at.scan, (range.0 - start, range.1 - start));
        Ok((start + from, start + to))
    }
}

/// Where units begin in the words of one document, as [`append_words`](super::append_words) notes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitMarks<'a> {
    offsets: &'a [u32],
    are_inner: bool,
}

impl<'a> UnitMarks<'a> {
    pub(crate) fn new(offsets: &'a [u32], unit: PassageUnit) -> Self {
        UnitMarks { offsets, are_inner: unit == PassageUnit::Word }
    }

    /// The range, from the start of a word to the end of one, that has the whole of every unit which `range` touches.
    pub(crate) fn widen(&self, scan: &Scan, range: (u64, u64)) -> (u64, u64) {
        let begins_unit = |word: usize| {
            let offset = scan.starts[word] as u32;
            word == 0 || (self.offsets.binary_search(&offset).is_ok() != self.are_inner)
        };
        let word_at = |place: u64| scan.starts.partition_point(|&other| (other as u64) < place);
        let (mut first, mut end) = (word_at(range.0), word_at(range.1));
        while !begins_unit(first) {
            first -= 1;
        }
        while end < scan.words() && !begins_unit(end) {
            end += 1;
        }
        (scan.starts[first] as u64, scan.ends[end - 1] as u64)
    }
}

/// The document whose units were looked at last, with its words and where its units begin.
#[derive(Default)]
struct LookedAt {
    document: Option<usize>,
    scan: Scan,
    offsets: Vec<u32>,
}

/// Finds what is removed; returns it with the number of rounds.
pub(crate) fn find_removed(
    finder: &Finder<'_>,
    units: &UnitStarts,
) -> Result<(Removed, usize), ClusterError> {
    let mut removed = Removed::default();
    let mut changed: Option<Vec<usize>> = None;
    let mut looked_at = LookedAt::default();
    let (mut round, mut seeds) = (1, Seeds::default());
    loop {
        if finder.write_seeds(&mut seeds, &removed, changed.as_deref())? == 0 {
            break;
        }
        let again = finder.find(&seeds, &removed, None)?;
        let mut documents = Vec::new();
        let mut ranges = Vec::new();
        for (document, range) in by_document(finder.words, &again) {
            documents.push(document);
            ranges.push(units.widen(finder.words, document, range, &mut looked_at)?);
        }
        if ranges.is_empty() {
            break;
        }
        removed.add(ranges);
        documents.dedup();
        changed = Some(documents);
        round += 1;
    }
    seeds.remove()?;
    Ok((removed, round))
}

/// The documents of ranges with the ranges, which may reach from one document into the next.
fn by_document<'a>(
    words: &'a WordText,
    removed: &'a Removed,
) -> impl Iterator<Item = (usize, (u64, u64))> + 'a {
    removed.ranges().iter().flat_map(move |&(start, end)| {
        let last = words.document_at(end - 1);
        (words.document_at(start)..=last).filter_map(move |document| {
            let places = words.places(document);
            // The last byte of a document is its line break.
            let range = (start.max(places.start), end.min(places.end - 1));
            (range.0 < range.1).then_some((document, range))
        })
    })
}

/// What is removed from the documents of a corpus.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Removal {
    /// The documents from which something is removed, ascending.
    documents: Vec<u32>,
    /// Where the ranges of each of them end.
    ends: Vec<u64>,
    /// The ranges, counted from the start of the words of their document.
    ranges: Vec<[u64; 2]>,
    /// How many words are left of each.
    left: Vec<u32>,
    /// How many words are removed altogether.
    pub(crate) removed_words: u64,
    /// How often the text was looked through.
    pub(crate) rounds: u64,
}

const NOTE: &str = "removed.json";
const DOCUMENTS: &str = "removed-documents";
const ENDS: &str = "removed-ends";
const RANGES: &str = "removed-ranges";
const LEFT: &str = "removed-left";

impl Removal {
    /// `order` has for each document in keep order its number in the corpus.
    pub(crate) fn new(
        words: &WordText,
        order: &[u32],
        removed: &Removed,
        rounds: usize,
    ) -> Result<Self, ClusterError> {
        let mut all: Vec<(u32, usize, (u64, u64))> = by_document(words, removed)
            .map(|(document, range)| (order[document], document, range))
            .collect();
        all.sort_unstable();
        let mut removal = Removal { rounds: rounds as u64, ..Removal::default() };
        let mut scan = Scan::default();
        for same in all.chunk_by(|one, other| one.0 == other.0) {
            let (number, document, _) = same[0];
            let start = words.places(document).start;
            removal
                .ranges
                .extend(same.iter().map(|(.., range)| [range.0 - start, range.1 - start]));
            removal.documents.push(number);
            removal.ends.push(removal.ranges.len() as u64);
            words.load(document, &Removed::default(), &mut scan)?;
            let all_words = scan.words();
            words.load(document, removed, &mut scan)?;
            removal.left.push(scan.words() as u32);
            removal.removed_words += (all_words - scan.words()) as u64;
        }
        Ok(removal)
    }

    /// Notes what is removed in `work`.
    pub(crate) fn save(&self, work: &Path) -> Result<(), ClusterError> {
        let columns = vec![
            (DOCUMENTS.to_owned(), write_column(&work.join(DOCUMENTS), &self.documents)?),
            (ENDS.to_owned(), write_column(&work.join(ENDS), &self.ends)?),
            (RANGES.to_owned(), write_column(&work.join(RANGES), &self.ranges)?),
            (LEFT.to_owned(), write_column(&work.join(LEFT), &self.left)?),
        ];
        save_step(&work.join(NOTE), columns, (self.removed_words, self.rounds))
    }

    /// What an earlier run noted, if it came so far.
    pub(crate) fn load(work: &Path) -> Result<Option<Self>, ClusterError> {
        let Some((removed_words, rounds)) = load_step(&work.join(NOTE), work)? else {
            return Ok(None);
        };
        Ok(Some(Removal {
            documents: Column::open(work.join(DOCUMENTS))?.read_all()?,
            ends: Column::open(work.join(ENDS))?.read_all()?,
            ranges: Column::open(work.join(RANGES))?.read_all()?,
            left: Column::open(work.join(LEFT))?.read_all()?,
            removed_words,
            rounds,
        }))
    }

    /// The ranges of a document, counted from the start of its words, and how many words are left of it.
    pub(crate) fn of(&self, document: u32) -> Option<(&[[u64; 2]], u32)> {
        let at = self.documents.binary_search(&document).ok()?;
        let start = if at == 0 { 0 } else { self.ends[at - 1] } as usize;
        Some((&self.ranges[start..self.ends[at] as usize], self.left[at]))
    }

    /// The documents from which something is removed, ascending.
    pub(crate) fn documents(&self) -> &[u32] {
        &self.documents
    }
}
