//! From the shingles of a text to the documents that share some.
//!
//! The values of a text are looked up from the rarest to the commonest until [`POSTING_BUDGET`] bytes
//! of postings were read beyond what rare values cost; how many bytes a look-up takes is known before it
//! is made. What is left out are shingles that a large part of all documents has: they say little, and
//! would cost the most.

use std::sync::Arc;

use super::sampler::{MOST_LEVEL, level_of, value_level};
use super::segment::Segment;
use crate::{IndexError, Row};

/// The most bytes of postings that one answer reads for values that are not rare.
pub const POSTING_BUDGET: usize = 1 << 20;

/// A document that shares shingles with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// Which one.
    pub row: Row,
    /// Its different shingles.
    pub shingles: u32,
    /// Its values that are kept.
    pub values: u32,
    /// Those of its values that the text has, as far as they were looked up.
    pub shared: u32,
}

/// What was found for a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Every document that shares a value that was looked up, each once.
    pub candidates: Vec<Candidate>,
    /// How many of the text's values each level keeps.
    pub asked: [u32; MOST_LEVEL as usize + 1],
    /// How many of them were left out as too common.
    pub ignored: [u32; MOST_LEVEL as usize + 1],
}

impl Found {
    /// How many of the text's values were looked up that a candidate's level keeps.
    #[must_use]
    pub fn looked_up(&self, candidate: &Candidate) -> u32 {
        let level = level_of(candidate.shingles as usize) as usize;
        self.asked[level] - self.ignored[level]
    }
}

/// The documents that share some of these values and pass `keep`, which sees each with what was found
/// so far. Values are in increasing order; documents with fewer than `least_shingles` do not matter.
pub(super) fn candidates(
    segments: &[Arc<Segment>],
    values: &[u64],
    least_shingles: usize,
    keep: impl Fn(&Found, &Candidate) -> bool,
) -> Result<Found, IndexError> {
    let least_level = level_of(least_shingles);
    let mut found = Found::default();
    let mut wanted: Vec<u64> = Vec::with_capacity(values.len());
    for &value in values {
        let level = value_level(value);
        for asked in &mut found.asked[..=level as usize] {
            *asked += 1;
        }
        if level >= least_level {
            wanted.push(value);
        }
    }
    leave_out_common(segments, &mut wanted, &mut found);

    let mut touched = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        // Zeroed memory that is not touched costs nothing.
        let mut shared = vec![0u32; segment.documents()];
        touched.clear();
        for &value in &wanted {
            segment.for_each_document_with(value, |number| {
                let count = &mut shared[number as usize];
                if *count == 0 {
                    touched.push(number);
                }
                *count += 1;
            })?;
        }
        for &number in &touched {
            let document = segment.document(number);
            let candidate = Candidate {
                row: document.row,
                shingles: document.shingles,
                values: document.values,
                shared: shared[number as usize],
            };
            let hidden =
                || segments[at + 1..].iter().any(|newer| newer.find(document.row).is_some());
            if document.shingles as usize >= least_shingles && keep(&found, &candidate) && !hidden()
            {
                found.candidates.push(candidate);
            }
        }
    }
    Ok(found)
}

/// Leaves out the commonest values until the rest fits into the budget.
fn leave_out_common(segments: &[Arc<Segment>], wanted: &mut Vec<u64>, found: &mut Found) {
    let cost = |value: u64| segments.iter().map(|segment| segment.cost(value)).sum::<usize>();
    let mut priced: Vec<(usize, u64)> = wanted.iter().map(|&value| (cost(value), value)).collect();
    if priced.iter().map(|(cost, _)| cost).sum::<usize>() <= POSTING_BUDGET {
        return;
    }
    priced.sort_unstable();
    let mut read = 0;
    let fits = priced
        .iter()
        .take_while(|(cost, _)| {
            read += cost;
            read <= POSTING_BUDGET
        })
        .count();
    for (_, value) in priced.drain(fits..) {
        for ignored in &mut found.ignored[..=value_level(value) as usize] {
            *ignored += 1;
        }
    }
    wanted.clear();
    wanted.extend(priced.into_iter().map(|(_, value)| value));
    wanted.sort_unstable();
}
