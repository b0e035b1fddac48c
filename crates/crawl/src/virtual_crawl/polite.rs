//! Which page can be fetched now if a site may be asked only so often.

use std::collections::VecDeque;

use super::Crawled;
use crate::graph::Graph;

/// Which page can be fetched in this turn.
pub(super) struct Polite<'a> {
    graph: &'a Graph,
    gap: u64,
    /// The turn of the last fetch.
    pub(super) clock: u64,
    /// By site: the first turn in which it may be asked, and its parked pages.
    ready: Vec<u64>,
    parked: Vec<VecDeque<u32>>,
    /// Sites that were asked, in the order in which they become ready.
    resting: VecDeque<u32>,
    parked_now: u64,
}

impl<'a> Polite<'a> {
    pub(super) fn new(graph: &'a Graph, gap: u32) -> Self {
        let sites = if gap > 1 { graph.sites() as usize } else { 0 };
        Polite {
            graph,
            gap: u64::from(gap),
            clock: 0,
            ready: vec![0; sites],
            parked: vec![VecDeque::new(); sites],
            resting: VecDeque::new(),
            parked_now: 0,
        }
    }

    /// The next page to fetch, the clock set to its turn.
    pub(super) fn next(
        &mut self,
        crawled: &mut Crawled,
        mut next: impl FnMut() -> Option<u32>,
    ) -> Option<u32> {
        self.clock += 1;
        if self.gap <= 1 {
            return next();
        }
        loop {
            while let Some(&site) = self.resting.front()
                && self.ready[site as usize] <= self.clock
            {
                self.resting.pop_front();
                if let Some(page) = self.parked[site as usize].pop_front() {
                    self.parked_now -= 1;
                    return Some(self.ask(page));
                }
            }
            while let Some(page) = next() {
                let site = self.graph.site(page) as usize;
                if self.ready[site] <= self.clock {
                    return Some(self.ask(page));
                }
                self.parked[site].push_back(page);
                self.parked_now += 1;
                crawled.parked += 1;
            }
            if self.parked_now == 0 {
                return None;
            }
            // Nothing can be fetched before the first of the resting sites is ready.
            let site = *self.resting.front().expect("a site with parked pages rests");
            crawled.idle += self.ready[site as usize] - self.clock;
            self.clock = self.ready[site as usize];
        }
    }

    fn ask(&mut self, page: u32) -> u32 {
        let site = self.graph.site(page);
        self.ready[site as usize] = self.clock + self.gap;
        self.resting.push_back(site);
        page
    }
}
