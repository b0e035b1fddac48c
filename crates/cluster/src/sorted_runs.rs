//! External merge sort of numbers that do not fit in memory ("divide, compute, merge").
//!
//! Numbers are collected until the given memory is full, sorted, and written as a *run*; at the end all runs are merged.
//! Broder et al. 1997 use this approach for every step of theirs: no random access to the disk, every pass linear.
//!
//! A number has 128 bits: a key of 96 bits and a value of 32. If the values are counts, those with the same key are added up
//! as soon as they meet: in memory, in a run, in the merge.
//!
//! Cost: 16 bytes a number in memory and on disk; one pass of writing and one of reading. With a thousand runs the merge
//! still reads pieces of memory / 1000.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};

use crate::columns::{Column, ColumnWriter, Mark};
use crate::error::{ClusterError, io};

/// What happens to numbers with one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equal {
    /// All of them stay.
    Stay,
    /// Their low 32 bits are counts, which are added up.
    AddUp,
}

/// Collects numbers and gives them back in order.
#[derive(Debug)]
pub(crate) struct SortedRuns {
    folder: PathBuf,
    name: String,
    equal: Equal,
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
        SortedRuns { folder, name, equal, buffer: Vec::new(), most, runs: Vec::new(), pushed: 0 }
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
        if self.equal == Equal::AddUp {
            self.buffer.dedup_by(|next, kept| add_up(kept, *next));
        }
    }

    fn spill(&mut self) -> Result<(), ClusterError> {
        let path = self.folder.join(format!("{}-run-{}", self.name, self.runs.len()));
        let mut run = ColumnWriter::open(path.clone(), Mark::default())?;
        run.extend(&self.buffer)?;
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
        let mut numbers = RunMerge::open(&self.runs, self.piece())?;
        let mut pending: Option<u128> = None;
        while let Some((number, _)) = numbers.next()? {
            match &mut pending {
                Some(kept) => {
                    if self.equal == Equal::Stay || !add_up(kept, number) {
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
        Ok(KeptRuns { piece: self.piece(), runs: self.runs, count: self.pushed })
    }
}

/// Sorted runs on disk, which take half of what they and their merged numbers would take.
#[derive(Debug)]
pub(crate) struct KeptRuns {
    runs: Vec<PathBuf>,
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

/// Calls `each` with all numbers of several lists in order, and whether each is of the last list.
///
/// # Errors
///
/// If a run cannot be read, or the first error of `each`.
pub(crate) fn merge_kept(
    lists: &[KeptRuns],
    mut each: impl FnMut(u128, bool) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let runs: Vec<PathBuf> = lists.iter().flat_map(|list| list.runs.iter().cloned()).collect();
    let before_last = runs.len() - lists.last().map_or(0, |list| list.runs.len());
    let piece = lists.iter().map(|list| list.piece).min().unwrap_or(0);
    let mut numbers = RunMerge::open(&runs, piece)?;
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
    fn open(runs: &[PathBuf], piece: usize) -> Result<Self, ClusterError> {
        let (mut readers, mut heads) = (Vec::new(), BinaryHeap::new());
        for (number, path) in runs.iter().enumerate() {
            let mut reader = RunReader::open(path.clone(), piece)?;
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

struct RunReader {
    column: Column<u128>,
    piece: Vec<u128>,
    at: usize,
    read: u64,
}

impl RunReader {
    fn open(path: PathBuf, piece: usize) -> Result<Self, ClusterError> {
        Ok(RunReader {
            column: Column::open(path)?,
            piece: Vec::with_capacity(piece),
            at: 0,
            read: 0,
        })
    }

    fn next(&mut self) -> Result<Option<u128>, ClusterError> {
        if self.at == self.piece.len() {
            let left = usize::try_from(self.column.len() - self.read).unwrap_or(usize::MAX);
            let length = self.piece.capacity().min(left);
            self.piece.resize(length, 0);
            self.column.read_at(self.read, &mut self.piece)?;
            self.read += length as u64;
            self.at = 0;
        }
        let number = self.piece.get(self.at).copied();
        self.at += 1;
        Ok(number)
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
            count in any::<bool>(),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let equal = if count { Equal::AddUp } else { Equal::Stay };
            let mut runs = SortedRuns::new(folder.path(), "test", equal, memory);
            for &key in &keys {
                runs.push(u128::from(key) << 32 | 1).unwrap();
            }
            let mut kept = SortedRuns::new(folder.path(), "kept", Equal::Stay, memory);
            keys.iter().try_for_each(|&key| kept.push(u128::from(key))).unwrap();
            let kept = [kept.keep().unwrap()];
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            for _ in 0..2 {
                let mut again = Vec::new();
                merge_kept(&kept, |number, last| { again.push((number as u32, last)); Ok(()) }).unwrap();
                prop_assert!(again.iter().copied().eq(sorted.iter().map(|&key| (key, true))));
            }
            prop_assert_eq!(kept[0].len(), keys.len() as u64);
            kept.into_iter().for_each(|list| list.remove().unwrap());
            let mut found = Vec::new();
            runs.merge(|number| { found.push(((number >> 32) as u32, number as u32)); Ok(()) }).unwrap();
            let expected: Vec<(u32, u32)> = if count {
                let mut counts = BTreeMap::new();
                keys.iter().for_each(|key| *counts.entry(*key).or_insert(0) += 1);
                counts.into_iter().collect()
            } else {
                let mut keys = keys.clone();
                keys.sort_unstable();
                keys.into_iter().map(|key| (key, 1)).collect()
            };
            prop_assert_eq!(found, expected);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
