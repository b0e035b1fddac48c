//! Breadth-first search: pages come in the order in which they were discovered.
//!
//! The ordering that the others are measured against. Kinds of links play no part: only the link
//! that makes a page known counts. Ties: the links of a page in the order of the page.
//!
//! Cost: O(1) for a link and a page; 5 bytes a known page. A page that was taken out of turn stays in
//! the queue until its turn and is passed over then.

use std::collections::VecDeque;

use super::{Link, Order, reach};

/// The frontier of a breadth-first search.
#[derive(Default)]
pub struct Bfs {
    queue: VecDeque<u32>,
    states: Vec<State>,
    waiting: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Waiting,
    Taken,
}

impl Bfs {
    fn discover(&mut self, page: u32) {
        reach(&mut self.states, page, State::Unknown);
        let state = &mut self.states[page as usize];
        if *state == State::Unknown {
            *state = State::Waiting;
            self.queue.push_back(page);
            self.waiting += 1;
        }
    }
}

impl Order for Bfs {
    fn seed(&mut self, page: u32, _site: u32) {
        self.discover(page);
    }

    fn next(&mut self) -> Option<u32> {
        loop {
            let page = self.queue.pop_front()?;
            let state = &mut self.states[page as usize];
            if *state == State::Waiting {
                *state = State::Taken;
                self.waiting -= 1;
                return Some(page);
            }
        }
    }

    fn take(&mut self, page: u32) {
        if let Some(state) = self.states.get_mut(page as usize)
            && *state == State::Waiting
        {
            *state = State::Taken;
            self.waiting -= 1;
        }
    }

    fn fetched(&mut self, page: u32, _site: u32, links: &[Link]) {
        self.take(page);
        reach(&mut self.states, page, State::Unknown);
        self.states[page as usize] = State::Taken;
        for link in links {
            self.discover(link.page);
        }
    }

    fn waiting(&self) -> usize {
        self.waiting
    }
}
