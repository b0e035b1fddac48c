//! Generic search: a known page chosen at random.
//!
//! The baseline that every other ordering should beat. The choice is seeded: the same seed takes the same
//! pages.
//!
//! Cost: O(1) for a link and a page; 8 bytes a known page.

use super::{Link, Order, reach};
use crate::random::Random;

/// The place of a page that was never put in, and of one that was taken out.
const UNKNOWN: u32 = u32::MAX;
const GONE: u32 = u32::MAX - 1;

/// A frontier without an order.
pub struct Generic {
    random: Random,
    frontier: Vec<u32>,
    /// Where a page is in the frontier.
    places: Vec<u32>,
}

impl Generic {
    /// A search that follows this seed.
    pub fn new(seed: u64) -> Self {
        Generic { random: Random::new(seed, 0), frontier: Vec::new(), places: Vec::new() }
    }

    fn discover(&mut self, page: u32) {
        reach(&mut self.places, page, UNKNOWN);
        let place = &mut self.places[page as usize];
        if *place == UNKNOWN {
            // The frontier has fewer pages than there are numbers.
            *place = self.frontier.len() as u32;
            self.frontier.push(page);
        }
    }
}

impl Order for Generic {
    fn seed(&mut self, page: u32, _site: u32) {
        self.discover(page);
    }

    fn next(&mut self) -> Option<u32> {
        if self.frontier.is_empty() {
            return None;
        }
        let page = self.frontier[self.random.below(self.frontier.len() as u64) as usize];
        self.take(page);
        Some(page)
    }

    fn take(&mut self, page: u32) {
        let Some(place) = self.places.get_mut(page as usize) else {
            return;
        };
        if *place < GONE {
            let place = std::mem::replace(place, GONE);
            self.frontier.swap_remove(place as usize);
            if let Some(&moved) = self.frontier.get(place as usize) {
                self.places[moved as usize] = place;
            }
        }
    }

    fn fetched(&mut self, page: u32, _site: u32, links: &[Link]) {
        self.take(page);
        reach(&mut self.places, page, UNKNOWN);
        self.places[page as usize] = GONE;
        for link in links {
            self.discover(link.page);
        }
    }

    fn waiting(&self) -> usize {
        self.frontier.len()
    }
}
