//! External merge sort of numbers that do not fit in memory ("divide, compute, merge").
//!
//! Numbers are collected until the given memory is full, sorted, and written as a *run*; at the end all runs are merged.
//! Broder et al. 1997 use this approach for every step of theirs: no random access to the disk, every pass linear.
//!
//! A number has 128 bits: a key of 96 bits and a value of 32. If the values are counts, those with the same key are added up
//! as soon as they meet: in memory, in a run, in the merge.
//!
//! Cost: 16 bytes a number in memory; on disk 16, or as many as its numbers are said to have. One pass of writing and one of
//! reading, none of either if all numbers fit in the memory. With a thousand runs the merge still reads pieces of
//! memory / 1000.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::columns::{Column, ColumnWriter, Mark};
use crate::error::{ClusterError, io};

/// What happens to numbers with one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equal {
    /// All of them stay.
    Stay,
    /// One of them stays.
    Once,
    /// Their low 32 bits are counts, which are added up.
    AddUp,
}

impl Equal {
    /// Puts a number into an equal one before it; returns whether they are equal.
    fn join(self, kept: &mut u128, next: u128) -> bool {
        match self {
            Equal::Stay => false,
            Equal::Once => *kept == next,
            Equal::AddUp => add_up(kept, next),
        }
    }
}

/// Bytes of a number on disk, unless said otherwise.
const NUMBER_BYTES: usize = 16;

/// Collects numbers and gives them back in order.
#[derive(Debug)]
pub(crate) struct SortedRuns {
    folder: PathBuf,
    name: String,
    equal: Equal,
    /// Bytes of a number on disk; its others are zero.
    bytes: usize,
    buffer: Vec<u128>,
    most: usize,
    runs: Vec<PathBuf>,
    pushed: u64,
}

impl SortedRuns {
    /// Runs go to files in `folder` whose names begin with `name`.
    #[must_use]
    pub(crate) fn new(folder: &Path, name: &str, equal: Equal, memory: u64) -> Self {
        let most = usize::try_from(memory / 16).unwrap_or(usize::MAX).max(1024);
        let (folder, name) = (folder.to_owned(), name.to_owned());
        let (buffer, runs) = (Vec::new(), Vec::new());
        SortedRuns { folder, name, equal, bytes: NUMBER_BYTES, buffer, most, runs, pushed: 0 }
    }

    /// Numbers have so many bytes, and take no more on disk.
    #[must_use]
    pub(crate) fn of_bytes(self, bytes: usize) -> Self {
        assert!((1..=NUMBER_BYTES).contains(&bytes), "a number of {bytes} bytes");
        SortedRuns { bytes, ..self }
    }

    /// Takes a number.
    ///
    /// # Errors
    ///
    /// If a run cannot be written.
    pub(crate) fn push(&mut self, number: u128) -> Result<(), ClusterError> {
        if self.buffer.len() == self.most {
            self.tidy();
            // Adding up may have made room; if it made little, a run is written.
            if self.buffer.len() > self.most / 2 {
                self.spill()?;
            }
        }
        if self.buffer.len() == self.buffer.capacity() && 2 * self.buffer.len() > self.most {
            self.buffer.reserve_exact(self.most - self.buffer.len());
        }
        self.buffer.push(number);
        self.pushed += 1;
        Ok(())
    }

    /// How many numbers were taken.
    #[must_use]
    pub(crate) fn pushed(&self) -> u64 {
        self.pushed
    }

    /// How many runs went to the disk.
    #[must_use]
    pub(crate) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Puts what is still in memory in order, so that the merge can begin at once.
    pub(crate) fn settle(&mut self) {
        self.tidy();
    }

    fn tidy(&mut self) {
        self.buffer.sort_unstable();
        let equal = self.equal;
        if equal != Equal::Stay {
            self.buffer.dedup_by(|next, kept| equal.join(kept, *next));
        }
    }

    fn spill(&mut self) -> Result<(), ClusterError> {
        let path = self.folder.join(format!("{}-run-{}", self.name, self.runs.len()));
        let mut run = ColumnWriter::<u8>::open(path.clone(), Mark::default())?;
        let mut piece = Vec::new();
        for numbers in self.buffer.chunks(4096) {
            piece.clear();
            for number in numbers {
                piece.extend_from_slice(&number.to_le_bytes()[..self.bytes]);
            }
            run.extend(&piece)?;
        }
        run.flush()?;
        self.runs.push(path);
        self.buffer.clear();
        Ok(())
    }

    /// Calls `each` with all numbers in order; the files of the runs are gone afterwards.
    ///
    /// # Errors
    ///
    /// If runs cannot be written or read, or the first error of `each`.
    pub(crate) fn merge(
        mut self,
        mut each: impl FnMut(u128) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        self.tidy();
        if self.runs.is_empty() {
            return self.buffer.into_iter().try_for_each(each);
        }
        self.spill()?;
        drop(std::mem::take(&mut self.buffer));
        let mut numbers = RunMerge::open(&self.runs, self.bytes, self.piece(), 0..=u128::MAX)?;
        let mut pending: Option<u128> = None;
        while let Some((number, _)) = numbers.next()? {
            match &mut pending {
                Some(kept) => {
                    if !self.equal.join(kept, number) {
                        each(std::mem::replace(kept, number))?;
                    }
                }
                None => pending = Some(number),
            }
        }
        if let Some(last) = pending {
            each(last)?;
        }
        remove_runs(&self.runs)
    }

    /// All numbers in order: in memory if they fit there, otherwise in a file at `path`.
    ///
    /// # Errors
    ///
    /// If files cannot be written or read.
    pub(crate) fn into_list(mut self, path: PathBuf) -> Result<SortedList, ClusterError> {
        if self.runs.is_empty() {
            self.tidy();
            return Ok(SortedList::Memory(self.buffer));
        }
        let mut column = ColumnWriter::open(path.clone(), Mark::default())?;
        self.merge(|number| column.extend(&[number]))?;
        column.flush()?;
        Ok(SortedList::File(Column::open(path.clone())?, path))
    }

    /// Numbers that are read of a run at a time.
    fn piece(&self) -> usize {
        (self.most / self.runs.len().max(1)).clamp(256, 1 << 16)
    }

    /// Writes what is still in memory, and leaves the runs to be merged any number of times.
    ///
    /// # Errors
    ///
    /// If a run cannot be written.
    pub(crate) fn keep(mut self) -> Result<KeptRuns, ClusterError> {
        self.tidy();
        if !self.buffer.is_empty() {
            self.spill()?;
        }
        Ok(KeptRuns { piece: self.piece(), bytes: self.bytes, runs: self.runs, count: self.pushed })
    }
}

/// Numbers in order.
#[derive(Debug)]
pub(crate) enum SortedList {
    Memory(Vec<u128>),
    File(Column<u128>, PathBuf),
}

impl SortedList {
    /// Calls `each` with every number and its place, in order.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or the first error of `each`.
    pub(crate) fn for_each(
        &self,
        mut each: impl FnMut(u64, u128) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        match self {
            SortedList::Memory(numbers) => {
                (0..).zip(numbers).try_for_each(|(at, &number)| each(at, number))
            }
            SortedList::File(column, _) => column.for_each(each),
        }
    }

    /// Removes the file, if there is one.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub(crate) fn remove(self) -> Result<(), ClusterError> {
        match self {
            SortedList::Memory(_) => Ok(()),
            SortedList::File(_, path) => remove_runs(&[path]),
        }
    }
}

/// Sorted runs on disk, which take half of what they and their merged numbers would take.
#[derive(Debug)]
pub(crate) struct KeptRuns {
    runs: Vec<PathBuf>,
    bytes: usize,
    piece: usize,
    count: u64,
}

impl KeptRuns {
    /// How many numbers there are.
    #[must_use]
    pub(crate) fn len(&self) -> u64 {
        self.count
    }

    /// Removes the files.
    ///
    /// # Errors
    ///
    /// If they cannot be removed.
    pub(crate) fn remove(self) -> Result<(), ClusterError> {
        remove_runs(&self.runs)
    }
}

/// Calls `each` with the numbers of several lists that are in a range, in order, and whether each is of the last list. The
/// lists have numbers of the same bytes.
///
/// # Errors
///
/// If a run cannot be read, or the first error of `each`.
pub(crate) fn merge_kept(
    lists: &[KeptRuns],
    range: RangeInclusive<u128>,
    mut each: impl FnMut(u128, bool) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let Some(last) = lists.last() else { return Ok(()) };
    let runs: Vec<PathBuf> = lists.iter().flat_map(|list| list.runs.iter().cloned()).collect();
    let before_last = runs.len() - last.runs.len();
    let piece = lists.iter().map(|list| list.piece).min().unwrap_or(0);
    let mut numbers = RunMerge::open(&runs, last.bytes, piece, range)?;
    while let Some((number, run)) = numbers.next()? {
        each(number, run >= before_last)?;
    }
    Ok(())
}

fn remove_runs(runs: &[PathBuf]) -> Result<(), ClusterError> {
    runs.iter().try_for_each(|path| std::fs::remove_file(path).map_err(io("remove", path)))
}

/// The numbers of several runs in order.
struct RunMerge {
    readers: Vec<RunReader>,
    /// The next number of each run, and which run it is.
    heads: BinaryHeap<Reverse<(u128, usize)>>,
}

impl RunMerge {
    fn open(
        runs: &[PathBuf],
        bytes: usize,
        piece: usize,
        range: RangeInclusive<u128>,
    ) -> Result<Self, ClusterError> {
        let (mut readers, mut heads) = (Vec::new(), BinaryHeap::new());
        for (number, path) in runs.iter().enumerate() {
            let mut reader = RunReader::open(path.clone(), bytes, piece, &range)?;
            if let Some(first) = reader.next()? {
                heads.push(Reverse((first, number)));
            }
            readers.push(reader);
        }
        Ok(RunMerge { readers, heads })
    }

    /// The next number, and the run that it is of.
    fn next(&mut self) -> Result<Option<(u128, usize)>, ClusterError> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((number, run)) = *head;
        match self.readers[run].next()? {
            Some(next) => *head = Reverse((next, run)),
            None => {
                PeekMut::pop(head);
            }
        }
        Ok(Some((number, run)))
    }
}

/// Adds a number to another of the same key; returns whether it is of the same key.
fn add_up(kept: &mut u128, next: u128) -> bool {
    let same = *kept >> 32 == next >> 32;
    if same {
        let sum = (*kept as u32).saturating_add(next as u32);
        *kept = (*kept >> 32 << 32) | u128::from(sum);
    }
    same
}

/// Reads the numbers of a run that are in a range.
struct RunReader {
    column: Column<u8>,
    /// Bytes of a number.
    bytes: usize,
    /// Some numbers, and as many bytes behind them that one can be loaded in one piece.
    piece: Vec<u8>,
    /// Where the next number starts in the piece, and where the last one ends.
    at: usize,
    end: usize,
    /// Bytes of a full piece.
    most: usize,
    /// The next byte to read, and where the last number of the range ends.
    next: u64,
    last: u64,
}

impl RunReader {
    fn open(
        path: PathBuf,
        bytes: usize,
        piece: usize,
        range: &RangeInclusive<u128>,
    ) -> Result<Self, ClusterError> {
        let column = Column::open(path)?;
        let count = column.len() / bytes as u64;
        let mut reader = RunReader {
            column,
            bytes,
            piece: vec![0; piece * bytes + NUMBER_BYTES],
            at: 0,
            end: 0,
            most: piece * bytes,
            next: 0,
            last: count * bytes as u64,
        };
        if *range.end() < u128::MAX {
            reader.last = reader.first_place(count, |number| number > *range.end())?;
        }
        if *range.start() > 0 {
            reader.next = reader.first_place(count, |number| number >= *range.start())?;
        }
        Ok(reader)
    }

    /// Where the first number stands of which `is` is true; it is of all behind it.
    fn first_place(&mut self, count: u64, is: impl Fn(u128) -> bool) -> Result<u64, ClusterError> {
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            self.column.read_at(middle * self.bytes as u64, &mut self.piece[..self.bytes])?;
            if is(self.number(0)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low * self.bytes as u64)
    }

    fn number(&self, at: usize) -> u128 {
        let loaded = self.piece[at..].first_chunk().expect("there are bytes behind each number");
        u128::from_le_bytes(*loaded) & (u128::MAX >> (8 * (NUMBER_BYTES - self.bytes)))
    }

    fn next(&mut self) -> Result<Option<u128>, ClusterError> {
        if self.at == self.end {
            let left = usize::try_from(self.last.saturating_sub(self.next)).unwrap_or(usize::MAX);
            self.end = self.most.min(left);
            self.column.read_at(self.next, &mut self.piece[..self.end])?;
            self.next += self.end as u64;
            self.at = 0;
            if self.end == 0 {
                return Ok(None);
            }
        }
        let number = self.number(self.at);
        self.at += self.bytes;
        Ok(Some(number))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn numbers_come_back_in_order_whatever_the_memory(
            keys in prop::collection::vec(0_u32..3000, 0..6000),
            memory in prop::sample::select(vec![0_u64, 32 << 10, 1 << 20]),
            equal in prop::sample::select(vec![Equal::Stay, Equal::Once, Equal::AddUp]),
            as_list in any::<bool>(),
            bytes in 8_usize..=16,
            range in prop::option::of((0_u32..3000, 0_u32..3000)),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut runs = SortedRuns::new(folder.path(), "test", equal, memory);
            for &key in &keys {
                runs.push(u128::from(key) << 32 | 1).unwrap();
            }
            let mut kept =
                SortedRuns::new(folder.path(), "kept", Equal::Stay, memory).of_bytes(bytes);
            keys.iter().try_for_each(|&key| kept.push(u128::from(key))).unwrap();
            let kept = [kept.keep().unwrap()];
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            for _ in 0..2 {
                let mut again = Vec::new();
                let (from, to) = range.unwrap_or((0, 3000));
                let some = if range.is_some() { from.into()..=to.into() } else { 0..=u128::MAX };
                merge_kept(&kept, some, |number, last| { again.push((number as u32, last)); Ok(()) })
                    .unwrap();
                let expected = sorted.iter().filter(|&&key| (from..=to).contains(&key));
                prop_assert!(again.iter().copied().eq(expected.map(|&key| (key, true))));
            }
            prop_assert_eq!(kept[0].len(), keys.len() as u64);
            kept.into_iter().for_each(|list| list.remove().unwrap());
            let mut expected: Vec<(u32, u32)> = sorted.iter().map(|&key| (key, 1)).collect();
            match equal {
                Equal::Stay => {}
                Equal::Once => expected.dedup(),
                Equal::AddUp => {
                    let mut counts = BTreeMap::new();
                    keys.iter().for_each(|key| *counts.entry(*key).or_insert(0) += 1);
                    expected = counts.into_iter().collect();
                }
            }
            let mut found = Vec::new();
            let mut note = |number: u128| found.push(((number >> 32) as u32, number as u32));
            if as_list {
                let list = runs.into_list(folder.path().join("list")).unwrap();
                list.for_each(|_, number| { note(number); Ok(()) }).unwrap();
                list.remove().unwrap();
            } else {
                runs.merge(|number| { note(number); Ok(()) }).unwrap();
            }
            prop_assert_eq!(found, expected);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
