//! Which runs of `N` words occur again, and where they occurred first.
//!
//! 1. *seeds*: one pass over all words; the seeds of all windows (`scan`) are sorted by hash in given memory.
//! 2. *hot seeds*: those with a hash that several places have, sorted by place.
//! 3. *windows*: in documents with hot seeds, the windows that keep such a seed, sorted by hash and place.
//! 4. *pairs*: each window and the first one of its hash, sorted by place.
//! 5. *runs*: neighbouring pairs at the same distance are one run. Its words are compared with the words of the place where
//!    they occurred first. If they differ, two windows share a hash: the pairs of that hash are made again by comparing
//!    words, and the step is repeated. So a collision costs time and never changes a result.
//!
//! Steps 3 to 5 are done for one part of the hashes of seeds after another if windows would take more than
//! [`window_budget`]. Windows with the same words keep seeds with the same hash, so no part misses what
//! another has.
//!
//! Cost: step 1 reads all words, the others what repeats. On disk, 16 bytes a seed (about a fifth of the text for 50
//! words), and 32 a window of the part that is worked on.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};

use wonbon_documents::Progress;
use wonbon_documents::ordered::for_each_ordered;

use super::scan::{Scan, WindowPlan};
use super::words::{Removed, WordText};
use crate::columns::{Column, ColumnWriter, Mark};
use crate::error::{ClusterError, io};
use crate::sorted_runs::{Equal, SortedRuns};

/// About how many bytes the windows of one part may take: two fifths of the words, so that they and their pairs are less on
/// disk than the words are; a small corpus is not divided for that.
pub(crate) fn window_budget(words: &WordText) -> u64 {
    (words.total_bytes() / 5 * 2).max(16 << 20)
}

/// Bytes of words that a thread takes at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// Finds repeated windows.
pub(crate) struct Finder<'a> {
    pub(crate) words: &'a WordText,
    pub(crate) plan: WindowPlan,
    /// Where sorted runs and columns go.
    pub(crate) folder: &'a Path,
    /// Bytes to sort in.
    pub(crate) memory: u64,
    pub(crate) threads: NonZeroUsize,
    pub(crate) progress: &'a dyn Progress,
    /// About how many bytes the windows of one part may take.
    pub(crate) window_bytes: u64,
    /// Only windows that occur in another corpus count as repeated.
    pub(crate) of_others_only: bool,
}

/// Receives all places of a window that does not follow the same word everywhere, ascending.
pub(crate) type OnClass<'a> = dyn FnMut(&[u64]) -> Result<(), ClusterError> + 'a;

/// A window at one place, and its first place, as one number that is sorted by the first of both.
fn pair(one: u64, other: u64) -> u128 {
    u128::from(one) << 64 | u128::from(other)
}

fn unpair(number: u128) -> (u64, u64) {
    ((number >> 64) as u64, number as u64)
}

impl Finder<'_> {
    fn sorter(&self, name: &'static str) -> SortedRuns {
        SortedRuns::new(self.folder, name, Equal::Stay, self.memory)
    }

    fn check_stop(&self) -> Result<(), ClusterError> {
        if self.progress.stop_asked() { Err(ClusterError::Stopped) } else { Ok(()) }
    }

    fn seeds_path(&self, round: usize) -> PathBuf {
        self.folder.join(format!("seeds-{round}"))
    }

    /// Writes the seeds of a round, sorted: of all windows in the first; later, of those across gaps in `changed`
    /// documents. Returns how many there are.
    pub(crate) fn write_seeds(
        &self,
        round: usize,
        removed: &Removed,
        changed: Option<&[usize]>,
    ) -> Result<u64, ClusterError> {
        let (words, plan) = (self.words, self.plan);
        let count = changed.map_or(words.len(), <[usize]>::len);
        let document = |at: usize| changed.map_or(at, |changed| changed[at]);
        let mut next = 0;
        let mut done = 0;
        let mut seeds = self.sorter("seeds");
        for_each_ordered(
            self.threads,
            |chunk: &mut Range<usize>| {
                self.check_stop()?;
                let start = next;
                let mut bytes = 0;
                while next < count && bytes < CHUNK_BYTES {
                    let places = words.places(document(next));
                    bytes += places.end - places.start;
                    next += 1;
                }
                *chunk = start..next;
                Ok::<bool, ClusterError>(start < next)
            },
            Scan::default,
            |scan, chunk| {
                let mut found = Vec::new();
                let mut bytes = 0;
                for document in chunk.clone().map(document) {
                    words.load(document, removed, scan)?;
                    let start = words.places(document).start;
                    scan.for_each_seed(plan, changed.is_some(), |seed, hash| {
                        found.push(pair(hash, start + seed as u64));
                    });
                    bytes += scan.text.len() as u64;
                }
                Ok((found, bytes))
            },
            |found: Result<(Vec<u128>, u64), ClusterError>| {
                let (found, bytes) = found?;
                done += bytes;
                self.progress.advance(done);
                found.into_iter().try_for_each(|seed| seeds.push(seed))
            },
        )?;
        let count = seeds.pushed();
        let mut column = ColumnWriter::open(self.seeds_path(round), Mark::default())?;
        seeds.merge(|seed| column.extend(&[seed]))?;
        column.flush()?;
        Ok(count)
    }

    /// Removes the seeds of rounds before `rounds`.
    pub(crate) fn remove_seeds(&self, rounds: usize) -> Result<(), ClusterError> {
        (1..=rounds)
            .map(|round| self.seeds_path(round))
            .filter(|path| path.exists())
            .try_for_each(|path| std::fs::remove_file(&path).map_err(io("remove", &path)))
    }

    /// Steps 2 to 5: the places of words that occurred before, in windows, without the words of the first occurrence
    /// where the two overlap. Only windows whose seed has a hash that occurs in the seeds of this round are looked at;
    /// every repeated window must have one.
    pub(crate) fn find(
        &self,
        round: usize,
        removed: &Removed,
        mut on_class: Option<&mut OnClass<'_>>,
    ) -> Result<Removed, ClusterError> {
        let mut again = Removed::default();
        let mut parts = 1;
        let mut part = 0;
        while part < parts {
            self.check_stop()?;
            let (hot, found) = self.hot_seeds(round, part, parts)?;
            if part == 0 && parts == 1 {
                // A seed is kept by about half of the windows that it stands in.
                let span = (self.plan.words - self.plan.seed_words + 2) as u64 / 2;
                let bytes = (found * span.max(1)).saturating_mul(16);
                parts = bytes.div_ceil(self.window_bytes.max(1)).max(1);
                if parts > 1 {
                    std::fs::remove_file(&hot).map_err(io("remove", &hot))?;
                    continue;
                }
            }
            again.add(self.find_in_part(&hot, removed, on_class.as_deref_mut())?);
            std::fs::remove_file(&hot).map_err(io("remove", &hot))?;
            part += 1;
        }
        Ok(again)
    }

    /// Step 2: the places of seeds whose hash occurs at several places, in order. Of several rounds, those with a
    /// seed of the last.
    fn hot_seeds(
        &self,
        round: usize,
        part: u64,
        parts: u64,
    ) -> Result<(PathBuf, u64), ClusterError> {
        let mut hot = self.sorter("hot");
        let mut group = Group::default();
        let in_part = |hash: u64| (u128::from(hash) * u128::from(parts)) >> 64 == u128::from(part);
        let mut each = |seed: u128, fresh: bool| -> Result<(), ClusterError> {
            let (hash, place) = unpair(seed);
            if !in_part(hash) {
                return Ok(());
            }
            group.push(hash, place, fresh, |place| hot.push(u128::from(place)))
        };
        let mut sources = (1..=round)
            .map(|round| Sorted::open(self.seeds_path(round)))
            .collect::<Result<Vec<_>, _>>()?;
        if let [only] = &mut sources[..] {
            while let Some(seed) = only.next()? {
                each(seed, true)?;
            }
        } else {
            merge_sorted(&mut sources, |seed, source| each(seed, source + 1 == round))?;
        }
        group.flush(|place| hot.push(u128::from(place)))?;
        let count = hot.pushed();
        let path = self.folder.join("hot");
        let mut column = ColumnWriter::open(path.clone(), Mark::default())?;
        let mut last = None;
        hot.merge(|place| {
            if last.replace(place) == Some(place) {
                return Ok(());
            }
            column.extend(&[place as u64])
        })?;
        column.flush()?;
        Ok((path, count))
    }

    fn find_in_part(
        &self,
        hot: &Path,
        removed: &Removed,
        on_class: Option<&mut OnClass<'_>>,
    ) -> Result<Vec<(u64, u64)>, ClusterError> {
        let windows = self.windows(hot, removed)?;
        let path = self.folder.join("pairs");
        self.write_pairs(windows, &path)?;
        let runs = loop {
            let mut runs = Runs::new(self, removed, on_class.is_some());
            Column::open(path.clone())?.for_each(|at, number| {
                if at.is_multiple_of(1 << 16) {
                    self.check_stop()?;
                }
                let (place, first) = unpair(number);
                runs.push(place, first)
            })?;
            runs.flush()?;
            if runs.collisions.is_empty() {
                break runs;
            }
            self.repair(&path, &runs.collisions, removed)?;
        };
        let (again, mut starts) = (runs.again, runs.starts);
        if let Some(on_class) = on_class {
            starts.sort_unstable();
            starts.dedup();
            self.for_each_class(&path, &starts, on_class)?;
        }
        std::fs::remove_file(&path).map_err(io("remove", &path))?;
        Ok(again)
    }

    /// Step 3: the windows that keep a hot seed, with their hashes.
    fn windows(&self, hot: &Path, removed: &Removed) -> Result<SortedRuns, ClusterError> {
        let mut windows = self.sorter("windows");
        let mut scan = Scan::default();
        let mut here: Vec<u64> = Vec::new();
        let mut document = None;
        let mut work = |document: usize, here: &[u64]| -> Result<(), ClusterError> {
            self.check_stop()?;
            self.words.load(document, removed, &mut scan)?;
            let start = self.words.places(document).start;
            let mut kept: Vec<(usize, u64)> = Vec::new();
            let mut seeds = here.iter().peekable();
            scan.for_each_window(self.plan, |starts, window, seed, _| {
                let place = start + starts[seed] as u64;
                while seeds.next_if(|&&hot| hot < place).is_some() {}
                if seeds.peek() == Some(&&place) {
                    kept.push((window, start + starts[window] as u64));
                }
            });
            let hashes = scan.window_hashes(self.plan);
            kept.into_iter()
                .try_for_each(|(window, place)| windows.push(pair(hashes[window], place)))
        };
        Column::<u64>::open(hot.to_owned())?.for_each(|_, place| {
            let number = match document {
                Some(number) if place < self.words.places(number).end => number,
                _ => self.words.document_at(place),
            };
            if document.is_some_and(|last| last != number) {
                work(document.unwrap_or(number), &here)?;
                here.clear();
            }
            document = Some(number);
            here.push(place);
            Ok(())
        })?;
        if let Some(document) = document {
            work(document, &here)?;
        }
        Ok(windows)
    }

    /// Step 4.
    fn write_pairs(&self, windows: SortedRuns, path: &Path) -> Result<(), ClusterError> {
        let mut pairs = self.sorter("pairs");
        let mut first = None;
        windows.merge(|window| {
            let (hash, place) = unpair(window);
            match first {
                Some((other, first)) if other == hash => {
                    if self.counts(first) {
                        pairs.push(pair(place, first))
                    } else {
                        Ok(())
                    }
                }
                _ => {
                    first = Some((hash, place));
                    Ok(())
                }
            }
        })?;
        write_merged(pairs, path)
    }

    /// Whether what occurs again after this place is a repetition.
    fn counts(&self, first: u64) -> bool {
        !self.of_others_only || self.words.is_other(self.words.document_at(first))
    }

    /// Makes the pairs of some first places again by comparing words: their windows share hashes with others.
    fn repair(
        &self,
        path: &Path,
        collisions: &BTreeSet<u64>,
        removed: &Removed,
    ) -> Result<(), ClusterError> {
        let mut pairs = self.sorter("repaired");
        let mut classes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        Column::open(path.to_owned())?.for_each(|_, number| {
            let (place, first) = unpair(number);
            if collisions.contains(&first) {
                classes.entry(first).or_insert_with(|| vec![first]).push(place);
                return Ok(());
            }
            pairs.push(number)
        })?;
        let mut text = WindowText::new(self, removed);
        for places in classes.into_values() {
            let mut by_words: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
            for place in places {
                match by_words.entry(text.window(place)?) {
                    std::collections::btree_map::Entry::Occupied(first) => {
                        if self.counts(*first.get()) {
                            pairs.push(pair(place, *first.get()))?;
                        }
                    }
                    std::collections::btree_map::Entry::Vacant(entry) => {
                        entry.insert(place);
                    }
                }
            }
        }
        write_merged(pairs, path)
    }

    /// Calls `on_class` with all places of the windows whose first places are `starts`.
    fn for_each_class(
        &self,
        path: &Path,
        starts: &[u64],
        on_class: &mut OnClass<'_>,
    ) -> Result<(), ClusterError> {
        let mut members = self.sorter("members");
        Column::open(path.to_owned())?.for_each(|_, number| {
            let (place, first) = unpair(number);
            if starts.binary_search(&first).is_ok() {
                members.push(pair(first, place))?;
            }
            Ok(())
        })?;
        let mut class: Vec<u64> = Vec::new();
        members.merge(|number| {
            let (first, place) = unpair(number);
            if class.first() != Some(&first) {
                if !class.is_empty() {
                    self.check_stop()?;
                    on_class(&class)?;
                }
                class.clear();
                class.push(first);
            }
            class.push(place);
            Ok(())
        })?;
        if class.is_empty() { Ok(()) } else { on_class(&class) }
    }
}

fn write_merged(numbers: SortedRuns, path: &Path) -> Result<(), ClusterError> {
    let mut column = ColumnWriter::open(path.to_owned(), Mark::default())?;
    numbers.merge(|number| column.extend(&[number]))?;
    column.flush().map(|_| ())
}

/// Places of one hash, handed out as soon as there are two different ones and one of them is fresh.
#[derive(Default)]
struct Group {
    hash: u64,
    /// Places that are held back until it is known whether they count.
    held: Vec<u64>,
    last: Option<u64>,
    different: usize,
    fresh: bool,
}

impl Group {
    fn push(
        &mut self,
        hash: u64,
        place: u64,
        fresh: bool,
        mut out: impl FnMut(u64) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        if self.last.is_none() || self.hash != hash {
            self.flush(&mut out)?;
            *self = Group { hash, held: std::mem::take(&mut self.held), ..Group::default() };
        }
        self.fresh |= fresh;
        if self.last.replace(place) != Some(place) {
            self.different += 1;
            self.held.push(place);
        }
        // A long list is handed out in pieces once it counts.
        if self.held.len() > 1 && self.different > 1 && self.fresh {
            self.flush(out)
        } else {
            Ok(())
        }
    }

    fn flush(
        &mut self,
        mut out: impl FnMut(u64) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        if self.different > 1 && self.fresh {
            self.held.iter().try_for_each(|&place| out(place))?;
        }
        self.held.clear();
        Ok(())
    }
}

/// A sorted column, read from its start.
struct Sorted {
    column: Column<u128>,
    piece: Vec<u128>,
    at: usize,
    read: u64,
}

impl Sorted {
    fn open(path: PathBuf) -> Result<Self, ClusterError> {
        Ok(Sorted { column: Column::open(path)?, piece: Vec::new(), at: 0, read: 0 })
    }

    fn next(&mut self) -> Result<Option<u128>, ClusterError> {
        if self.at == self.piece.len() {
            let left = usize::try_from(self.column.len() - self.read).unwrap_or(usize::MAX);
            self.piece.resize(left.min(1 << 14), 0);
            self.column.read_at(self.read, &mut self.piece)?;
            self.read += self.piece.len() as u64;
            self.at = 0;
        }
        let number = self.piece.get(self.at).copied();
        self.at += 1;
        Ok(number)
    }
}

/// Calls `each` with all numbers of sorted columns in order, and the column each comes from.
fn merge_sorted(
    sources: &mut [Sorted],
    mut each: impl FnMut(u128, usize) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let mut heads = Vec::new();
    for source in sources.iter_mut() {
        heads.push(source.next()?);
    }
    loop {
        let least = heads.iter().enumerate().filter_map(|(at, head)| head.map(|head| (head, at)));
        let Some((number, at)) = least.min() else { return Ok(()) };
        each(number, at)?;
        heads[at] = sources[at].next()?;
    }
}

/// Reads windows at any place of the text that is left.
struct WindowText<'a> {
    finder: &'a Finder<'a>,
    removed: &'a Removed,
    loaded: Option<usize>,
    scan: Scan,
    bytes: Vec<u8>,
}

impl<'a> WindowText<'a> {
    fn new(finder: &'a Finder<'a>, removed: &'a Removed) -> Self {
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

    fn window(&mut self, place: u64) -> Result<Vec<u8>, ClusterError> {
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
struct Runs<'a> {
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
    again: Vec<(u64, u64)>,
    starts: Vec<u64>,
    collisions: BTreeSet<u64>,
}

/// Windows from word `from` to word `last` of the document; the first of them occurred first at `first`.
struct Run {
    from: usize,
    last: usize,
    first: u64,
}

impl<'a> Runs<'a> {
    fn new(finder: &'a Finder<'a>, removed: &'a Removed, classes: bool) -> Self {
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

    fn push(&mut self, place: u64, first: u64) -> Result<(), ClusterError> {
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

    fn flush(&mut self) -> Result<(), ClusterError> {
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
