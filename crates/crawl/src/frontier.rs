//! The frontier: which page is requested next, and from which host.
//!
//! An ordering says which page is worth most; politeness says which host may be asked. The frontier
//! takes pages from the ordering only when a host would otherwise be idle, and parks pages whose host
//! must rest in the queue of that host. The number of parked pages is bounded: at the bound the
//! frontier waits for a host instead of looking deeper into the ordering, so a crawl follows its
//! ordering as closely as the delays allow. To the ordering a parked page has been taken.
//!
//! Pages of sites that give nothing but copies go behind all others: they are taken when the
//! ordering has nothing else.
//!
//! Everything that asks a host goes through its line: pages, robots.txt, sitemaps, the targets of
//! redirects. So no two requests to a host can be closer than its delay.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::net::IpAddr;
use std::time::Instant;

use url::Url;

use crate::order::Order;
use crate::politeness::{Manner, Politeness, Readiness};

/// One request that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// What it is for.
    pub(crate) kind: JobKind,
    /// Redirects that led here.
    pub(crate) hops: u8,
    /// How often it was tried.
    pub(crate) tries: u8,
}

/// What a request is for.
#[derive(Clone, Debug)]
pub(crate) enum JobKind {
    /// A page.
    Page(u32),
    /// A sitemap, which has a number like a page.
    Sitemap(u32),
    /// The robots.txt of an origin, which may stand elsewhere.
    Robots {
        /// The origin it speaks for.
        origin: u32,
        /// Where it is to be asked for.
        url: Url,
    },
}

impl Job {
    /// A job that nothing led to yet.
    #[must_use]
    pub(crate) fn new(kind: JobKind) -> Self {
        Job { kind, hops: 0, tries: 0 }
    }
}

/// Where a host stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Listed {
    #[default]
    No,
    /// Among the ready, the sleeping, or those that wait for an address.
    Yes,
}

#[derive(Debug, Default)]
struct Line {
    jobs: VecDeque<Job>,
    listed: Listed,
}

/// Lines of jobs before hosts, and the ordering they are filled from.
pub(crate) struct Frontier {
    order: Box<dyn Order>,
    /// Pages that the ordering gave and that are behind all others.
    behind: VecDeque<u32>,
    lines: Vec<Line>,
    parked: usize,
    ready: VecDeque<u32>,
    sleeping: BinaryHeap<Reverse<(Instant, u32)>>,
    /// Whose turn it is.
    pub(crate) politeness: Politeness,
}

impl std::fmt::Debug for Frontier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frontier")
            .field("waiting", &self.order.waiting())
            .field("parked", &self.parked)
            .finish_non_exhaustive()
    }
}

impl Frontier {
    /// An empty frontier.
    #[must_use]
    pub(crate) fn new(order: Box<dyn Order>, politeness: Politeness) -> Self {
        Frontier {
            order,
            behind: VecDeque::new(),
            lines: Vec::new(),
            parked: 0,
            ready: VecDeque::new(),
            sleeping: BinaryHeap::new(),
            politeness,
        }
    }

    /// The ordering.
    pub(crate) fn order(&mut self) -> &mut dyn Order {
        &mut *self.order
    }

    /// Pages that wait: in the ordering, behind it, and before their hosts.
    #[must_use]
    pub(crate) fn waiting(&self) -> usize {
        self.order.waiting() + self.behind.len() + self.parked
    }

    /// Jobs that wait before their hosts.
    #[must_use]
    pub(crate) fn parked(&self) -> usize {
        self.parked
    }

    /// The next page of the ordering for which `goes_behind` does not hold, or of those behind.
    pub(crate) fn next_page(&mut self, mut goes_behind: impl FnMut(u32) -> bool) -> Option<u32> {
        while let Some(page) = self.order.next() {
            if goes_behind(page) {
                self.behind.push_back(page);
            } else {
                return Some(page);
            }
        }
        self.behind.pop_front()
    }

    /// Whether a host could be asked now.
    #[must_use]
    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Puts a job into the line of a host, as the last or as the first.
    pub(crate) fn park(&mut self, host: u32, job: Job, first: bool, now: Instant) {
        let needed = host as usize + 1;
        if self.lines.len() < needed {
            self.lines.resize_with(needed, Line::default);
        }
        let line = &mut self.lines[host as usize];
        if first {
            line.jobs.push_front(job);
        } else {
            line.jobs.push_back(job);
        }
        self.parked += 1;
        self.list(host, now);
    }

    /// A host whose state changed: it is put where it belongs if it has jobs.
    pub(crate) fn list(&mut self, host: u32, now: Instant) {
        let Some(line) = self.lines.get_mut(host as usize) else { return };
        if line.jobs.is_empty() || line.listed == Listed::Yes {
            return;
        }
        match self.politeness.readiness(host, now) {
            Readiness::Now => self.ready.push_back(host),
            Readiness::At(at) => self.sleeping.push(Reverse((at, host))),
            Readiness::AddressBusy => {}
            // The end of what is under way lists it again.
            Readiness::HostBusy => return,
        }
        line.listed = Listed::Yes;
    }

    fn unlist(&mut self, host: u32) {
        self.lines[host as usize].listed = Listed::No;
    }

    /// Hosts whose time has come become ready; says when the next one will.
    pub(crate) fn wake(&mut self, now: Instant) -> Option<Instant> {
        while let Some(&Reverse((at, host))) = self.sleeping.peek() {
            if at > now {
                return Some(at);
            }
            self.sleeping.pop();
            self.unlist(host);
            self.list(host, now);
        }
        None
    }

    /// The next job whose host may be asked now, and that host. The request has begun. If only tried
    /// jobs are wanted, hosts that have none before them are passed over for good.
    pub(crate) fn begin(&mut self, now: Instant, only_tried: bool) -> Option<(u32, Job)> {
        while let Some(host) = self.ready.pop_front() {
            self.unlist(host);
            if only_tried && self.lines[host as usize].jobs.front().is_none_or(|job| job.tries == 0)
            {
                continue;
            }
            match self.politeness.readiness(host, now) {
                Readiness::Now => {
                    let Some(job) = self.lines[host as usize].jobs.pop_front() else { continue };
                    self.parked -= 1;
                    self.politeness.begin(host, now);
                    self.list(host, now);
                    return Some((host, job));
                }
                Readiness::At(at) => {
                    self.sleeping.push(Reverse((at, host)));
                    self.lines[host as usize].listed = Listed::Yes;
                }
                Readiness::AddressBusy => self.lines[host as usize].listed = Listed::Yes,
                Readiness::HostBusy => {}
            }
        }
        None
    }

    /// A request that began has ended; see [`Politeness::end`].
    pub(crate) fn end(&mut self, host: u32, address: Option<IpAddr>, now: Instant, manner: Manner) {
        let mut next = self.politeness.end(host, address, now, manner);
        while let Some(waited) = next {
            self.unlist(waited);
            if !self.lines[waited as usize].jobs.is_empty() {
                self.list(waited, now);
                break;
            }
            // Its jobs were taken away: the turn is somebody else's.
            next = self.politeness.next_in_line(address);
        }
        self.list(host, now);
    }

    /// Takes all jobs of a host out of its line.
    pub(crate) fn drain(&mut self, host: u32) -> Vec<Job> {
        let Some(line) = self.lines.get_mut(host as usize) else { return Vec::new() };
        self.parked -= line.jobs.len();
        line.jobs.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::order::Bfs;
    use crate::politeness::Manners;

    fn frontier(delay: Duration) -> Frontier {
        let manners = Manners { delay, ..Manners::default() };
        Frontier::new(Box::new(Bfs::default()), Politeness::new(manners))
    }

    fn page(number: u32) -> Job {
        Job::new(JobKind::Page(number))
    }

    #[test]
    fn hosts_of_one_address_are_never_asked_within_its_delay() {
        let delay = Duration::from_secs(2);
        let mut frontier = frontier(delay);
        let address: IpAddr = [192, 0, 2, 9].into();
        let mut now = Instant::now();
        for host in 0..20 {
            frontier.politeness.set_address(host, Some(address));
            (0..3).for_each(|number| frontier.park(host, page(number), false, now));
        }
        let mut last: Option<Instant> = None;
        let mut asked = vec![0; 20];
        while frontier.parked() > 0 {
            frontier.wake(now);
            match frontier.begin(now, false) {
                Some((host, _)) => {
                    assert!(last.is_none_or(|last| now >= last + delay));
                    asked[host as usize] += 1;
                    now += Duration::from_millis(300);
                    last = Some(now);
                    frontier.end(host, Some(address), now, Manner::Answered);
                }
                None => now = frontier.wake(now).expect("somebody's time comes"),
            }
        }
        assert_eq!(asked, vec![3; 20]);
    }

    #[test]
    fn a_host_that_waits_for_an_address_without_jobs_leaves_its_turn_to_the_next() {
        let mut frontier = frontier(Duration::ZERO);
        let address: IpAddr = [192, 0, 2, 9].into();
        let now = Instant::now();
        for host in 0..3 {
            frontier.politeness.set_address(host, Some(address));
            frontier.park(host, page(host), false, now);
        }
        assert_eq!(frontier.begin(now, false).unwrap().0, 0);
        assert!(frontier.begin(now, false).is_none());
        assert_eq!(frontier.drain(1).len(), 1);
        frontier.end(0, Some(address), now, Manner::Answered);
        assert_eq!(frontier.begin(now, false).unwrap().0, 2);
    }

    #[test]
    fn a_line_is_worked_off_from_its_front() {
        let mut frontier = frontier(Duration::ZERO);
        let now = Instant::now();
        frontier.park(0, page(1), false, now);
        frontier.park(0, page(2), false, now);
        frontier.park(0, page(0), true, now);
        for expected in 0..3 {
            let (host, job) = frontier.begin(now, false).unwrap();
            assert!(matches!(job.kind, JobKind::Page(page) if page == expected));
            assert!(frontier.begin(now, false).is_none());
            frontier.end(host, None, now, Manner::Answered);
        }
        assert_eq!(frontier.parked(), 0);
    }

    #[test]
    fn pages_of_copying_sites_come_last() {
        let mut frontier = frontier(Duration::ZERO);
        (0..6).for_each(|page| frontier.order().seed(page, 0));
        let mut got = Vec::new();
        while let Some(page) = frontier.next_page(|page| page % 2 == 0) {
            got.push(page);
        }
        assert_eq!(got, [1, 3, 5, 0, 2, 4]);
    }
}
