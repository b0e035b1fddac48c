//! When segments are merged: seldom while documents come, thoroughly when none do.
//!
//! A query asks every segment and pays for each, whatever it holds. Merging them away at once would write
//! every document many times while the machine has other things to do. So while documents come tantivy's
//! levels decide (eight of about one size become one), and when the index is told that nothing comes any
//! more it puts together what is small beside the rest.
//!
//! Cost of a rest: a segment is written again only together with others that hold at least half as much,
//! so a document is written again at most as often as its segment grows by half. Documents that come one by
//! one, with a rest after each, are written again 12 times until there are 20,000, and 15 until 200,000.
//! Segments that would together exceed [`MOST_DOCUMENTS`] are left to the levels, so that no merge keeps
//! the machine, or the end of the program, for long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tantivy::index::SegmentMeta;
use tantivy::merge_policy::{LogMergePolicy, MergeCandidate, MergePolicy};

/// The most documents that are put together when nothing comes.
const MOST_DOCUMENTS: u64 = 1_000_000;

/// Decides which segments are merged; clones know the same of the others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Merging {
    resting: Arc<AtomicBool>,
    levels: LogMergePolicy,
}

impl Merging {
    /// Says whether documents come, or not for the time being.
    pub(crate) fn set_resting(&self, resting: bool) {
        self.resting.store(resting, Ordering::Relaxed);
    }

    /// Whether it was said that none come.
    pub(crate) fn is_resting(&self) -> bool {
        self.resting.load(Ordering::Relaxed)
    }
}

impl MergePolicy for Merging {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let candidates = self.levels.compute_merge_candidates(segments);
        if !candidates.is_empty() || !self.is_resting() {
            return candidates;
        }
        let small = small_beside_the_rest(segments);
        if small.is_empty() { Vec::new() } else { vec![MergeCandidate(small)] }
    }
}

/// The smallest segments, up to the last that holds at most twice what those before it do; none if that
/// is fewer than two.
pub(crate) fn small_beside_the_rest(segments: &[SegmentMeta]) -> Vec<tantivy::index::SegmentId> {
    let mut segments: Vec<&SegmentMeta> = segments.iter().collect();
    segments.sort_by_key(|segment| (segment.num_docs(), segment.id()));
    let sizes = segments.iter().map(|segment| u64::from(segment.num_docs()));
    let count = small_sizes(sizes);
    segments[..count].iter().map(|segment| segment.id()).collect()
}

/// How many of these ascending sizes are put together.
fn small_sizes(sizes: impl Iterator<Item = u64>) -> usize {
    let (mut count, mut before) = (0, 0);
    for (number, size) in sizes.enumerate() {
        if before + size > MOST_DOCUMENTS {
            break;
        }
        if number > 0 && size <= 2 * before {
            count = number + 1;
        }
        before += size;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(sizes: &[u64]) -> usize {
        small_sizes(sizes.iter().copied())
    }

    #[test]
    fn segments_of_one_size_become_one() {
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[500]), 0);
        assert_eq!(count(&[500, 500]), 2);
        assert_eq!(count(&[9_000, 10_000, 13_000, 14_000, 14_000]), 5);
    }

    #[test]
    fn a_large_segment_is_not_written_again_for_a_few_documents() {
        assert_eq!(count(&[1, 100_000]), 0);
        assert_eq!(count(&[1, 1, 100_000]), 2);
        assert_eq!(count(&[20_000, 30_000, 100_000]), 3);
        assert_eq!(count(&[3, 10, 20_000, 30_000, 200_000]), 4);
    }

    #[test]
    fn what_is_large_together_is_left_alone() {
        assert_eq!(count(&[600_000, 600_000]), 0);
        assert_eq!(count(&[1_000, 1_000, 900_000, 900_000]), 2);
    }

    #[test]
    fn documents_that_come_one_by_one_are_written_again_a_few_times_each() {
        let (mut segments, mut written) = (Vec::new(), 0);
        for _ in 0..20_000 {
            segments.push(1_u64);
            segments.sort_unstable();
            let merged = count(&segments);
            if merged > 0 {
                let together: u64 = segments.drain(..merged).sum();
                written += together;
                segments.push(together);
                segments.sort_unstable();
            }
            assert!(segments.len() <= 12, "{segments:?}");
        }
        assert!(written < 20_000 * 25, "{written} documents were written again");
    }
}
