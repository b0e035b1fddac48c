//! From a job to a request: addresses of the host, robots.txt of the origin, the queue of the host.
//!
//! A host is resolved before anything enters its queue, and robots.txt is requested before anything
//! else of its origin. A host that does not answer several pages in a row is not asked again by this
//! process.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use url::Url;
use wonbon_time::Timestamp;

use crate::fetch::{Ask, FetchError};
use crate::frontier::{Job, JobKind};
use crate::records::{Done, Outcome, Record};
use crate::scope::path_and_query;
use crate::writer::ToWrite;

use super::{Engine, Event};

/// Pages in a row without an answer after which a host is given up.
pub(super) const MOST_SILENT: u32 = 8;
/// How long the addresses of a host are used.
const ADDRESSES_LAST: Duration = Duration::from_secs(600);

/// What is known of a host.
#[derive(Debug, Default)]
pub(super) struct HostState {
    /// `None` before the host is resolved.
    addresses: Option<Result<Vec<IpAddr>, FetchError>>,
    resolved_at: Option<Instant>,
    is_resolving: bool,
    /// Jobs that wait for its addresses, and whether each goes to the front of the queue.
    waiting: Vec<(Job, bool)>,
    /// Pages in a row without an answer.
    pub(super) silent: u32,
}

/// What is known of an origin.
#[derive(Debug, Default)]
pub(super) struct OriginState {
    is_asking: bool,
    /// Jobs that wait for its robots.txt.
    waiting: Vec<Job>,
    /// Sitemaps that it named so far.
    pub(super) sitemaps: u32,
}

impl Engine<'_> {
    fn host_of(&mut self, job: &Job) -> u32 {
        match &job.kind {
            JobKind::Page(page) | JobKind::Sitemap(page) => self.state.addresses.host(*page),
            JobKind::Robots { url, .. } => {
                let origin = url.origin().ascii_serialization();
                let origin = self.state.addresses.origin_number(&origin);
                self.state.addresses.origins()[origin as usize].host
            }
        }
    }

    pub(super) fn host(&mut self, host: u32) -> &mut HostState {
        let needed = host as usize + 1;
        if self.hosts.len() < needed {
            self.hosts.resize_with(needed, HostState::default);
        }
        &mut self.hosts[host as usize]
    }

    /// Puts a job where it can continue: it waits for the addresses of its host, for robots.txt, or
    /// in the queue of its host. A job that must not be requested is finished.
    pub(super) fn schedule(&mut self, job: Job, first: bool) {
        let host = self.host_of(&job);
        let is_live = self.fetcher.is_live();
        let known = self.host(host);
        let is_old = known.resolved_at.is_none_or(|since| since.elapsed() > ADDRESSES_LAST);
        if known.addresses.is_none() || (is_old && is_live) {
            known.waiting.push((job, first));
            self.blocked += 1;
            return self.resolve(host);
        }
        if let Some(Err(why)) = &known.addresses {
            let why = why.clone();
            return self.give_up(job, Outcome::NoAddress, &why);
        }
        if known.silent >= MOST_SILENT && job.tries == 0 {
            return self.give_up(job, Outcome::NoAnswer, &FetchError::GivenUp);
        }
        if let JobKind::Page(page) | JobKind::Sitemap(page) = job.kind {
            let origin = self.state.addresses.origin(page);
            let fresh = self.state.robots.get(&origin);
            let Some(known) = fresh.filter(|known| known.is_fresh(Timestamp::now())) else {
                return self.await_robots(origin, job);
            };
            let url = self.url_of(page);
            if !self.state.is_allowed(page, path_and_query(&url), &known.rules) {
                return self.finish(Done::new(page, Outcome::Disallowed, Timestamp::now()));
            }
        }
        self.frontier.park(host, job, first, Instant::now());
    }

    /// Looks up the addresses of a host, unless that is under way.
    fn resolve(&mut self, host: u32) {
        let known = self.host(host);
        if std::mem::replace(&mut known.is_resolving, true) {
            return;
        }
        let name = self.state.addresses.hosts()[host as usize].clone();
        let (fetcher, sender) = (self.fetcher.clone(), self.sender.clone());
        tokio::spawn(async move {
            let found = fetcher.resolve(&name).await;
            let _ = sender.send(Event::Resolved { host, found });
        });
    }

    pub(super) fn handle_resolved(&mut self, host: u32, found: Result<Vec<IpAddr>, FetchError>) {
        let first = found.as_ref().ok().and_then(|found| found.first().copied());
        self.frontier.politeness.set_address(host, first);
        let known = self.host(host);
        known.addresses = Some(found);
        known.resolved_at = Some(Instant::now());
        known.is_resolving = false;
        let waiting = std::mem::take(&mut known.waiting);
        self.blocked -= waiting.len();
        for (job, first) in waiting {
            self.schedule(job, first);
        }
    }

    /// The address that was asked did not answer: the next one is asked from now on.
    pub(super) fn use_next_address(&mut self, host: u32) {
        if let Some(Ok(addresses)) = &mut self.host(host).addresses {
            if addresses.len() > 1 {
                addresses.rotate_left(1);
            }
            let first = addresses.first().copied();
            self.frontier.politeness.set_address(host, first);
        }
    }

    fn await_robots(&mut self, origin: u32, job: Job) {
        self.blocked += 1;
        let known = self.origins.entry(origin).or_default();
        known.waiting.push(job);
        if std::mem::replace(&mut known.is_asking, true) {
            return;
        }
        let text = &self.state.addresses.origins()[origin as usize].text;
        let url = Url::parse(&format!("{text}/robots.txt")).expect("an origin is an address");
        self.schedule(Job::new(JobKind::Robots { origin, url }), true);
    }

    /// The robots.txt of an origin arrived (status 0: it did not); its jobs continue.
    pub(super) fn handle_robots(&mut self, origin: u32, status: u16, body: Vec<u8>) {
        let at = Timestamp::now();
        self.state.set_robots(origin, at, status, &body);
        let text = self.state.addresses.origins()[origin as usize].text.to_string();
        self.writer.send(ToWrite::Record(Record::Robots { origin: text, at, status, body }));
        let rules = &self.state.robots[&origin].rules;
        let sitemaps = rules.sitemaps().to_vec();
        let host = self.state.addresses.origins()[origin as usize].host;
        if let Some(delay) = rules.crawl_delay() {
            // The delay counts from this answer on.
            self.frontier.politeness.set_crawl_delay(host, delay);
            self.frontier.politeness.rest_after_unknown_request(host, Instant::now());
        }
        let known = self.origins.entry(origin).or_default();
        known.is_asking = false;
        let waiting = std::mem::take(&mut known.waiting);
        self.blocked -= waiting.len();
        for job in waiting {
            self.schedule(job, false);
        }
        if self.state.plan.params.sitemaps {
            self.add_sitemaps(origin, &sitemaps);
        }
    }

    /// Finishes a job that cannot be done.
    pub(super) fn give_up(&mut self, job: Job, outcome: Outcome, why: &FetchError) {
        match job.kind {
            JobKind::Page(page) | JobKind::Sitemap(page) => {
                let mut done = Done::new(page, outcome, Timestamp::now());
                done.hops = job.hops;
                if self.state.pages[page as usize].depth == 0 {
                    let address = self.state.addresses.address(page);
                    self.observer.say(&format!("{address}: {why}"));
                }
                self.finish(done);
            }
            JobKind::Robots { origin, .. } => self.handle_robots(origin, 0, Vec::new()),
        }
    }

    /// Starts the request of a job whose host is ready.
    pub(super) fn start_request(&mut self, host: u32, job: Job) {
        let address = match self.hosts.get(host as usize).and_then(|host| host.addresses.as_ref()) {
            Some(Ok(addresses)) => addresses.first().copied(),
            _ => None,
        };
        let mut ask = match &job.kind {
            JobKind::Page(page) | JobKind::Sitemap(page) => Ask::page(self.url_of(*page), address),
            JobKind::Robots { url, .. } => Ask::page(url.clone(), address),
        };
        ask.any_type = !matches!(job.kind, JobKind::Page(_));
        if let JobKind::Page(page) = job.kind {
            self.requested.insert(page);
            if let Some(previous) = &self.previous {
                (ask.etag, ask.last_modified) = previous.validators(ask.url.as_str());
            }
        }
        self.active += 1;
        let (fetcher, sender) = (self.fetcher.clone(), self.sender.clone());
        tokio::spawn(async move {
            let got = fetcher.fetch(ask).await.map(Box::new);
            let _ = sender.send(Event::Fetched { host, address, job, got });
        });
    }
}
