//! Pages by a key that rises, the greatest first.
//!
//! A heap of four children a node, with the place of every page: a key is raised where it lies
//! instead of being pushed again, so that the heap is as long as the frontier and not as the list of
//! links. Four children halve the depth of a heap of two, and lie in one cache line.
//!
//! Ties: the lower number first, which is the page that became known first.
//!
//! Cost: taking a page is O(log waiting); raising one is O(log waiting) at most and a step or two as
//! a rule, since a page that was just raised is below most that are greater. A known page takes four
//! bytes and a waiting one the size of an entry: 12 bytes with a key of 4.

use super::frontier::Pages;
use super::reach;

/// The place of a page that was never put in.
const UNKNOWN: u32 = u32::MAX;
/// The place of a page that was taken out.
const GONE: u32 = u32::MAX - 1;
/// Children of a node.
const CHILDREN: usize = 4;

/// A heap of pages by key.
pub struct PageHeap<K> {
    entries: Vec<(K, u32)>,
    places: Vec<u32>,
}

impl<K> Default for PageHeap<K> {
    fn default() -> Self {
        PageHeap { entries: Vec::new(), places: Vec::new() }
    }
}

impl<K: PartialOrd + Copy + Send> Pages for PageHeap<K> {
    type Rank = K;

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn is_known(&self, page: u32) -> bool {
        self.places.get(page as usize).is_some_and(|&place| place != UNKNOWN)
    }

    fn insert(&mut self, page: u32, key: K) {
        reach(&mut self.places, page, UNKNOWN);
        self.entries.push((key, page));
        self.rise(self.entries.len() - 1);
    }

    /// The page with the greatest key.
    fn pop(&mut self) -> Option<u32> {
        let (_, page) = *self.entries.first()?;
        self.remove(page);
        Some(page)
    }

    fn remove(&mut self, page: u32) {
        reach(&mut self.places, page, UNKNOWN);
        let place = self.place(page);
        self.places[page as usize] = GONE;
        let Some(place) = place else {
            return;
        };
        self.entries.swap_remove(place);
        if place < self.entries.len() {
            let place = self.rise(place);
            self.sink(place);
        }
    }
}

impl<K: PartialOrd + Copy> PageHeap<K> {
    /// Raises the key of a page that is in; tells whether it is.
    pub(super) fn raise(&mut self, page: u32, raised: impl FnOnce(K) -> K) -> bool {
        let Some(place) = self.place(page) else {
            return false;
        };
        let entry = &mut self.entries[place];
        entry.0 = raised(entry.0);
        self.rise(place);
        true
    }

    /// Gives every page that is in another key.
    pub(super) fn rekey(&mut self, key: impl Fn(u32, K) -> K) {
        for (old, page) in &mut self.entries {
            *old = key(*page, *old);
        }
        for place in (0..self.entries.len()).rev() {
            self.sink(place);
        }
    }

    fn place(&self, page: u32) -> Option<usize> {
        match self.places.get(page as usize) {
            Some(&place) if place < GONE => Some(place as usize),
            _ => None,
        }
    }

    /// Whether the first comes out before the second.
    fn before(first: (K, u32), second: (K, u32)) -> bool {
        first.0 > second.0 || (first.0 == second.0 && first.1 < second.1)
    }

    fn rise(&mut self, mut place: usize) -> usize {
        let entry = self.entries[place];
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if !Self::before(entry, self.entries[parent]) {
                break;
            }
            self.settle(place, self.entries[parent]);
            place = parent;
        }
        self.settle(place, entry);
        place
    }

    fn sink(&mut self, mut place: usize) {
        let entry = self.entries[place];
        loop {
            let children = place * CHILDREN + 1;
            let end = (children + CHILDREN).min(self.entries.len());
            let mut best = None;
            for child in children..end {
                if best.is_none_or(|best| Self::before(self.entries[child], self.entries[best])) {
                    best = Some(child);
                }
            }
            match best {
                Some(child) if Self::before(self.entries[child], entry) => {
                    self.settle(place, self.entries[child]);
                    place = child;
                }
                _ => break,
            }
        }
        self.settle(place, entry);
    }

    fn settle(&mut self, place: usize, entry: (K, u32)) {
        self.entries[place] = entry;
        // The frontier has fewer pages than there are numbers.
        self.places[entry.1 as usize] = place as u32;
    }
}
