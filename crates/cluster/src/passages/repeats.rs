//! Which runs of `N` words occur again, and where they occurred first.
//!
//! 1. *seeds* (`seeds`): one pass over all words; the seeds of all windows (`scan`) are sorted by hash in given memory.
//! 2. *hot seeds*: those with a hash that several places have, sorted by place.
//! 3. *windows*: in documents with hot seeds, the windows that keep such a seed, sorted by hash and place.
//! 4. *pairs*: each window and the first one of its hash, sorted by place.
//! 5. *runs* (`runs`): neighbouring pairs at the same distance are one run. Its words are compared with the words of the place where
//!    they occurred first. If they differ, two windows share a hash: the pairs of that hash are made again by comparing
//!    words, and the step is repeated. So a collision costs time and never changes a result.
//!
//! Steps 3 to 5 are done for one part of the hashes of seeds after another if windows would take more than there is
//! room for. Windows with the same words keep seeds with the same hash, so no part misses what
//! another has.
//!
//! Cost: step 1 reads all words, the others what repeats. On disk, 11 bytes a seed (about an eighth of the text for 50
//! words, half of it for 13), and 32 a window of the part that is worked on, unless its windows fit in the memory. Parts are
//! so small that all of it, with the words, stays below twice the text.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;

use wonbon_documents::Progress;

use super::runs::{Runs, WindowText};
use super::scan::{Scan, WindowPlan};
use super::seeds::{SEED_BYTES, Seeds};
use super::words::{Removed, WordText};
use crate::error::ClusterError;
use crate::sorted_runs::{Equal, SortedList, SortedRuns};

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
    /// About how many bytes the windows of one part may take; tests say it.
    pub(crate) window_bytes: Option<u64>,
    /// Only windows that occur in another corpus count as repeated.
    pub(crate) of_others_only: bool,
}

/// Receives all places of a window that does not follow the same word everywhere, ascending.
pub(crate) type OnClass<'a> = dyn FnMut(&[u64]) -> Result<(), ClusterError> + 'a;

/// A window at one place, and its first place, as one number that is sorted by the first of both.
pub(super) fn pair(one: u64, other: u64) -> u128 {
    u128::from(one) << 64 | u128::from(other)
}

pub(super) fn unpair(number: u128) -> (u64, u64) {
    ((number >> 64) as u64, number as u64)
}

impl Finder<'_> {
    pub(super) fn sorter(&self, name: &str, equal: Equal) -> SortedRuns {
        SortedRuns::new(self.folder, name, equal, self.memory)
    }

    /// About how many bytes the windows of one part may take: what is sorted in memory, or else two fifths of what twice the
    /// words leave beside the words and their seeds, because the windows become pairs, which take as much again.
    fn window_budget(&self, seeds: u64) -> u64 {
        let words = self.words.total_bytes();
        let left = words.saturating_sub(SEED_BYTES as u64 * seeds);
        (left / 5 * 2).max(words / 8).max(self.memory)
    }

    pub(super) fn check_stop(&self) -> Result<(), ClusterError> {
        if self.progress.stop_asked() { Err(ClusterError::Stopped) } else { Ok(()) }
    }

    /// Steps 2 to 5: the places of words that occurred before, in windows, without the words of the first occurrence
    /// where the two overlap. Only windows whose seed has a hash that occurs in the seeds of this round are looked at;
    /// every repeated window must have one.
    pub(crate) fn find(
        &self,
        seeds: &Seeds,
        removed: &Removed,
        mut on_class: Option<&mut OnClass<'_>>,
    ) -> Result<Removed, ClusterError> {
        let mut again = Removed::default();
        let window_bytes = self.window_bytes.unwrap_or_else(|| self.window_budget(seeds.len()));
        let mut parts = 1;
        let mut part = 0;
        while part < parts {
            self.check_stop()?;
            let (hot, found) = self.hot_seeds(seeds, part, parts)?;
            if part == 0 && parts == 1 {
                // A seed is kept by about half of the windows that it stands in.
                let span = (self.plan.words - self.plan.seed_words + 2) as u64 / 2;
                let bytes = (found * span.max(1)).saturating_mul(16);
                parts = bytes.div_ceil(window_bytes.max(1)).max(1);
                if parts > 1 {
                    hot.remove()?;
                    continue;
                }
            }
            again.add(self.find_in_part(&hot, removed, on_class.as_deref_mut())?);
            hot.remove()?;
            part += 1;
        }
        Ok(again)
    }

    fn find_in_part(
        &self,
        hot: &SortedList,
        removed: &Removed,
        on_class: Option<&mut OnClass<'_>>,
    ) -> Result<Vec<(u64, u64)>, ClusterError> {
        let windows = self.windows(hot, removed)?;
        let mut pairs = self.pairs(windows)?;
        let runs = loop {
            let mut runs = Runs::new(self, removed, on_class.is_some());
            pairs.for_each(|at, number| {
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
            pairs = self.repair(pairs, &runs.collisions, removed)?;
        };
        let (again, mut starts) = (runs.again, runs.starts);
        if let Some(on_class) = on_class {
            starts.sort_unstable();
            starts.dedup();
            self.for_each_class(&pairs, &starts, on_class)?;
        }
        pairs.remove()?;
        Ok(again)
    }

    /// Step 3: the windows that keep a hot seed, with their hashes.
    fn windows(&self, hot: &SortedList, removed: &Removed) -> Result<SortedRuns, ClusterError> {
        let mut windows = self.sorter("windows", Equal::Stay);
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
        hot.for_each(|_, place| {
            let place = place as u64;
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
    fn pairs(&self, windows: SortedRuns) -> Result<SortedList, ClusterError> {
        let mut pairs = self.sorter("pairs", Equal::Stay);
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
        pairs.into_list(self.folder.join("pairs"))
    }

    /// Whether what occurs again after this place is a repetition.
    fn counts(&self, first: u64) -> bool {
        !self.of_others_only || self.words.is_other(self.words.document_at(first))
    }

    /// Makes the pairs of some first places again by comparing words: their windows share hashes with others.
    fn repair(
        &self,
        found: SortedList,
        collisions: &BTreeSet<u64>,
        removed: &Removed,
    ) -> Result<SortedList, ClusterError> {
        let mut pairs = self.sorter("repaired", Equal::Stay);
        let mut classes: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        found.for_each(|_, number| {
            let (place, first) = unpair(number);
            if collisions.contains(&first) {
                classes.entry(first).or_insert_with(|| vec![first]).push(place);
                return Ok(());
            }
            pairs.push(number)
        })?;
        found.remove()?;
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
        pairs.into_list(self.folder.join("pairs"))
    }

    /// Calls `on_class` with all places of the windows whose first places are `starts`.
    fn for_each_class(
        &self,
        pairs: &SortedList,
        starts: &[u64],
        on_class: &mut OnClass<'_>,
    ) -> Result<(), ClusterError> {
        let mut members = self.sorter("members", Equal::Stay);
        pairs.for_each(|_, number| {
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
