//! Keep order, and the representatives of documents with the same shingles.
//!
//! Comparing sets cannot distinguish documents with the same set of shingles, so the first of them in keep order represents
//! them all. (The 1997 paper removes identical, lexically equivalent and shingle-equivalent documents first and puts them
//! back afterwards; the same set of shingles covers all three.) Representatives are numbered in keep order: of two, the one
//! with the smaller number is kept.
//!
//! Cost: 12 bytes a document while it runs, 8 afterwards; sorting takes as many passes over the column as the memory limit
//! requires.

use bytemuck::Pod;

use crate::columns::Column;
use crate::corpus::Corpus;
use crate::error::ClusterError;
use crate::keep::Keep;

/// A document without words is represented by nobody.
pub(crate) const NOBODY: u32 = u32::MAX;

/// All documents in keep order. The first `others` come before all others and in the order they were read.
pub(crate) fn keep_order(
    corpus: &Corpus,
    keep: &Keep,
    others: u32,
) -> Result<Vec<u32>, ClusterError> {
    let mut order: Vec<u32> = (0..corpus.len()).collect();
    let own = &mut order[others as usize..];
    if *keep == Keep::Last {
        own.reverse();
    } else {
        let keys = corpus.keys()?.read_all()?;
        own.sort_by_key(|&document| keys[document as usize]);
    }
    Ok(order)
}

/// The representative of each document.
#[derive(Debug)]
pub struct Representatives {
    /// The document of each representative, in keep order.
    pub documents: Vec<u32>,
    /// The number of each document's representative, or [`NOBODY`].
    pub of: Vec<u32>,
}

impl Representatives {
    /// Finds the representatives of a corpus. The first `others` documents come before all others
    /// and in the order they were read, whatever their keys.
    ///
    /// # Errors
    ///
    /// If the corpus cannot be read.
    pub fn find(
        corpus: &Corpus,
        keep: &Keep,
        others: u32,
        memory: u64,
    ) -> Result<Self, ClusterError> {
        let order = keep_order(corpus, keep, others)?;
        let mut rank = vec![0_u32; order.len()];
        for (at, &document) in order.iter().enumerate() {
            rank[document as usize] = at as u32;
        }

        // For each rank, the rank of the representative.
        let mut first: Vec<u32> = (0..corpus.len()).collect();
        let mut has_words = vec![false; order.len()];
        corpus.set()?.for_each(|document, set| {
            has_words[document as usize] = set != 0;
            Ok(())
        })?;
        let not_empty =
            |document: u64| has_words[document as usize].then(|| rank[document as usize]);
        for_each_group(&corpus.set()?, not_empty, memory, |group| {
            for &member in &group[1..] {
                first[member as usize] = group[0];
            }
            Ok(())
        })?;
        let mut documents = Vec::new();
        for (at, &document) in order.iter().enumerate() {
            if !has_words[document as usize] {
                first[at] = NOBODY;
            } else if first[at] == at as u32 {
                first[at] = documents.len() as u32;
                documents.push(document);
            } else {
                // The representative comes earlier: its place holds its number already.
                first[at] = first[first[at] as usize];
            }
        }
        drop(order);
        let mut of = rank;
        for number in &mut of {
            *number = first[*number as usize];
        }
        Ok(Representatives { documents, of })
    }

    /// Every document with words represents itself.
    pub(crate) fn all(corpus: &Corpus, keep: &Keep, others: u32) -> Result<Self, ClusterError> {
        let mut of = vec![NOBODY; corpus.len() as usize];
        let mut has_words = vec![false; of.len()];
        corpus.set()?.for_each(|document, set| {
            has_words[document as usize] = set != 0;
            Ok(())
        })?;
        let mut documents = keep_order(corpus, keep, others)?;
        documents.retain(|&document| has_words[document as usize]);
        (0..).zip(&documents).for_each(|(number, &document)| of[document as usize] = number);
        Ok(Representatives { documents, of })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.documents.len() as u32
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Whether this document represents itself.
    #[must_use]
    pub fn is_one(&self, document: u32) -> bool {
        let number = self.of[document as usize];
        number != NOBODY && self.documents[number as usize] == document
    }

    /// The documents of each representative, itself first, then in the order they were read.
    #[must_use]
    pub fn members(&self) -> Members {
        let mut starts = vec![0_u32; self.documents.len() + 1];
        for &number in self.of.iter().filter(|&&number| number != NOBODY) {
            starts[number as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut documents =
            vec![0; *starts.last().expect("one more than representatives") as usize];
        let mut next = starts.clone();
        for (&document, next) in self.documents.iter().zip(&mut next) {
            documents[*next as usize] = document;
            *next += 1;
        }
        for (document, &number) in (0..).zip(&self.of) {
            if number != NOBODY && self.documents[number as usize] != document {
                documents[next[number as usize] as usize] = document;
                next[number as usize] += 1;
            }
        }
        Members { starts, documents }
    }
}

/// The documents of each representative.
#[derive(Debug)]
pub struct Members {
    starts: Vec<u32>,
    documents: Vec<u32>,
}

impl Members {
    /// The documents that this representative stands for, itself first.
    #[must_use]
    pub fn of(&self, representative: u32) -> &[u32] {
        let at = representative as usize;
        &self.documents[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// What can be grouped: values as good as random.
pub(crate) trait Value: Pod + Ord {
    /// 64 of its bits.
    fn high_bits(self) -> u64;

    /// Sorts values with their numbers.
    fn sort(entries: &mut [(Self, u32)]) {
        entries.sort_unstable();
    }
}

impl Value for u64 {
    fn high_bits(self) -> u64 {
        self
    }

    /// By one number each, which is compared without a branch.
    fn sort(entries: &mut [(u64, u32)]) {
        entries
            .sort_unstable_by_key(|&(value, number)| u128::from(value) << 32 | u128::from(number));
    }
}

impl Value for u128 {
    fn high_bits(self) -> u64 {
        (self >> 64) as u64
    }
}

/// Calls `each` with the numbers of all places that have the same value, ascending, for every value
/// that at least two have. Places without a number are left out.
///
/// Values are taken in ranges, each small enough to be sorted in the memory given: a range is one
/// pass over the column.
pub(crate) fn for_each_group<T: Value>(
    column: &Column<T>,
    number_of: impl Fn(u64) -> Option<u32>,
    memory: u64,
    mut each: impl FnMut(&[u32]) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let entry = size_of::<(T, u32)>() as u64;
    // Values are as good as random, so that ranges are of almost equal size.
    let passes = (column.len() * entry).div_ceil(memory.max(1 << 20)).max(1);
    let mut entries: Vec<(T, u32)> = Vec::with_capacity((column.len() / passes) as usize);
    let mut group = Vec::new();
    for pass in 0..passes {
        entries.clear();
        column.for_each(|place, value| {
            if (u128::from(value.high_bits()) * u128::from(passes)) >> 64 == u128::from(pass)
                && let Some(number) = number_of(place)
            {
                entries.push((value, number));
            }
            Ok(())
        })?;
        T::sort(&mut entries);
        for equal in entries.chunk_by(|one, other| one.0 == other.0) {
            if equal.len() > 1 {
                group.clear();
                group.extend(equal.iter().map(|&(_, number)| number));
                each(&group)?;
            }
        }
    }
    Ok(())
}
