//! The sets of shingles of all representatives: of a corpus on disk, or of documents that came one by one.
//!
//! Why two places: a run over files has all sets in one column already. A step over a stream gets a few
//! texts at a time; most of its groups are small, and a file for each would cost more than the work. So its
//! sets are kept in memory up to a limit and written to a file without a name beyond that.
//!
//! Cost: 9 bytes a representative; 8 bytes a shingle, in memory or on disk.

use crate::columns::{Column, ColumnWriter, Mark};
use crate::corpus::Corpus;
use crate::error::{ClusterError, io};
use crate::order::Representatives;

/// The sets of shingles of all representatives.
#[derive(Debug)]
pub struct Sets {
    elements: Elements,
    starts: Starts,
    sizes: Vec<u32>,
}

/// Where sets start: five bytes a number.
#[derive(Debug, Default)]
struct Starts {
    low: Vec<u32>,
    high: Vec<u8>,
}

/// The most shingles of one run, eight terabytes of them.
const MOST_SHINGLES: u64 = 1 << 40;

impl Starts {
    fn new(count: usize) -> Self {
        Starts { low: vec![0; count], high: vec![0; count] }
    }

    fn set(&mut self, at: usize, start: u64) {
        (self.low[at], self.high[at]) = (start as u32, (start >> 32) as u8);
    }

    fn push(&mut self, start: u64) {
        self.low.push(start as u32);
        self.high.push((start >> 32) as u8);
    }

    fn get(&self, at: usize) -> u64 {
        u64::from(self.high[at]) << 32 | u64::from(self.low[at])
    }
}

#[derive(Debug)]
enum Elements {
    File(Column<u64>),
    Memory(Vec<u64>),
}

impl Sets {
    /// The sets of a corpus.
    ///
    /// # Errors
    ///
    /// If the corpus cannot be read.
    pub fn open(corpus: &Corpus, representatives: &Representatives) -> Result<Self, ClusterError> {
        let count = representatives.documents.len();
        let (mut starts, mut sizes) = (Starts::new(count), vec![0; count]);
        let mut start = 0;
        corpus.shingles()?.for_each(|document, size| {
            let document = document as u32;
            if representatives.is_one(document) {
                let number = representatives.of[document as usize] as usize;
                starts.set(number, start);
                sizes[number] = size;
            }
            start += u64::from(size);
            Ok(())
        })?;
        if start > MOST_SHINGLES {
            return Err(ClusterError::TooManyShingles { most: MOST_SHINGLES });
        }
        Ok(Sets { elements: Elements::File(corpus.elements()?), starts, sizes })
    }

    /// How many representatives there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.sizes.len() as u32
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// How many shingles a representative has.
    #[must_use]
    pub fn size(&self, representative: u32) -> u32 {
        self.sizes[representative as usize]
    }

    /// How many shingles all representatives have together.
    #[must_use]
    pub fn shingles(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    /// The shingles of a representative, in order of appearance.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn read(&self, representative: u32, set: &mut Vec<u64>) -> Result<(), ClusterError> {
        let (start, size) = (self.starts.get(representative as usize), self.size(representative));
        match &self.elements {
            Elements::File(column) => {
                set.resize(size as usize, 0);
                column.read_at(start, set)
            }
            Elements::Memory(elements) => {
                set.clear();
                set.extend_from_slice(&elements[start as usize..][..size as usize]);
                Ok(())
            }
        }
    }
}

/// Collects sets one after another.
#[derive(Debug)]
pub(crate) struct SetsBuilder {
    /// What is not in the file.
    elements: Vec<u64>,
    /// Where sets go once there are more elements than this.
    most_in_memory: usize,
    file: Option<(tempfile::TempDir, ColumnWriter<u64>)>,
    starts: Starts,
    sizes: Vec<u32>,
    total: u64,
}

impl SetsBuilder {
    /// Nothing yet; `memory` is how many bytes of sets are kept in memory.
    pub(crate) fn new(memory: u64) -> Self {
        SetsBuilder {
            elements: Vec::new(),
            most_in_memory: usize::try_from(memory / 8).unwrap_or(usize::MAX),
            file: None,
            starts: Starts::default(),
            sizes: Vec::new(),
            total: 0,
        }
    }

    /// Adds the set of the next representative.
    pub(crate) fn push(&mut self, set: &[u64]) -> Result<(), ClusterError> {
        self.starts.push(self.total);
        self.sizes.push(set.len() as u32);
        self.total += set.len() as u64;
        self.elements.extend_from_slice(set);
        if self.elements.len() <= self.most_in_memory && self.file.is_none() {
            return Ok(());
        }
        if self.file.is_none() {
            let folder = std::env::temp_dir();
            let folder = tempfile::tempdir_in(&folder).map_err(io("make a folder in", &folder))?;
            let column = ColumnWriter::open(folder.path().join("elements"), Mark::default())?;
            self.file = Some((folder, column));
        }
        if let Some((_, column)) = &mut self.file {
            column.extend(&self.elements)?;
            self.elements.clear();
        }
        Ok(())
    }

    /// All sets; the builder starts anew.
    pub(crate) fn finish(&mut self) -> Result<Sets, ClusterError> {
        self.total = 0;
        let (starts, sizes) = (std::mem::take(&mut self.starts), std::mem::take(&mut self.sizes));
        let elements = match self.file.take() {
            None => Elements::Memory(std::mem::take(&mut self.elements)),
            Some((folder, mut column)) => {
                column.flush()?;
                // The file stays readable through the open column when its folder is removed.
                Elements::File(Column::open(folder.path().join("elements"))?)
            }
        };
        Ok(Sets { elements, starts, sizes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_the_same_in_memory_and_on_disk() {
        let sets: Vec<Vec<u64>> =
            (0_u64..50).map(|n| (0..n * 7 % 31).map(|e| n << 32 | e).collect()).collect();
        for memory in [0, 800, 1 << 20] {
            let mut builder = SetsBuilder::new(memory);
            for round in 0..2 {
                for set in &sets {
                    builder.push(set).unwrap();
                }
                let found = builder.finish().unwrap();
                assert_eq!(found.len(), 50, "round {round}");
                let mut read = Vec::new();
                for (number, set) in (0..).zip(&sets) {
                    found.read(number, &mut read).unwrap();
                    assert_eq!(&read, set, "{memory}");
                }
            }
        }
    }
}
