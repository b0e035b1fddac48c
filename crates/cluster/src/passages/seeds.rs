//! The seeds of all rounds, sorted by hash: written once, and asked which of them occur at several places.
//!
//! The sorted runs are not merged into one file, which would take their room twice for a while, but merged again whenever
//! they are asked.
//!
//! Of a hash 40 bits are kept: equal ones of different seeds cost a comparison later and no more.
//!
//! Cost: one pass over the words that seeds are made of; 11 bytes a seed on disk.

use std::ops::Range;

use wonbon_documents::ordered::for_each_ordered;

use super::repeats::Finder;
use super::scan::Scan;
use super::words::Removed;
use crate::error::ClusterError;
use crate::sorted_runs::{Equal, KeptRuns, SortedList, merge_kept};

/// Bytes of words that a thread takes at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// Bits of the hash of a seed, and of its place: 256 TB of words.
const HASH_BITS: u32 = 40;
const PLACE_BITS: u32 = 48;

/// Bytes of a seed on disk.
pub(super) const SEED_BYTES: usize = (HASH_BITS + PLACE_BITS) as usize / 8;

/// A seed as a number that is sorted by its hash, then by its place.
fn seed_number(hash: u64, place: u64) -> u128 {
    debug_assert!(place >> PLACE_BITS == 0, "place {place}");
    u128::from(hash & ((1 << HASH_BITS) - 1)) << PLACE_BITS | u128::from(place)
}

/// The seeds of every round so far.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    rounds: Vec<KeptRuns>,
}

impl Seeds {
    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.rounds.iter().map(KeptRuns::len).sum()
    }

    /// Removes the files.
    pub(crate) fn remove(self) -> Result<(), ClusterError> {
        self.rounds.into_iter().try_for_each(KeptRuns::remove)
    }
}

impl Finder<'_> {
    /// Adds the seeds of a round: of all windows in the first; later, of those across gaps in `changed` documents. Returns
    /// how many they are.
    pub(crate) fn write_seeds(
        &self,
        all: &mut Seeds,
        removed: &Removed,
        changed: Option<&[usize]>,
    ) -> Result<u64, ClusterError> {
        let (words, plan) = (self.words, self.plan);
        let count = changed.map_or(words.len(), <[usize]>::len);
        let document = |at: usize| changed.map_or(at, |changed| changed[at]);
        let mut next = 0;
        let mut done = 0;
        let mut seeds =
            self.sorter(&format!("seeds-{}", all.rounds.len()), Equal::Stay).of_bytes(SEED_BYTES);
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
                        found.push(seed_number(hash, start + seed as u64));
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
        let kept = seeds.keep()?;
        let count = kept.len();
        all.rounds.push(kept);
        Ok(count)
    }

    /// Step 2: the places of seeds whose hash occurs at several places, in order, and how many there are. Of several
    /// rounds, those with a seed of the last.
    pub(super) fn hot_seeds(
        &self,
        seeds: &Seeds,
        part: u64,
        parts: u64,
    ) -> Result<(SortedList, u64), ClusterError> {
        let mut hot = self.sorter("hot", Equal::Once);
        let mut group = Group::default();
        let start_of = |part: u64| {
            let hash = (u128::from(part) << HASH_BITS).div_ceil(u128::from(parts));
            hash << PLACE_BITS
        };
        let range = start_of(part)..=start_of(part + 1) - 1;
        merge_kept(&seeds.rounds, range, |seed, fresh| {
            let (hash, place) = (seed >> PLACE_BITS, seed as u64 & ((1 << PLACE_BITS) - 1));
            group.push(hash as u64, place, fresh, |place| hot.push(u128::from(place)))
        })?;
        group.flush(|place| hot.push(u128::from(place)))?;
        let count = hot.pushed();
        Ok((hot.into_list(self.folder.join("hot"))?, count))
    }
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
