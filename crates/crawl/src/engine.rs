//! The crawl itself: one thread that decides, others that work for it.
//!
//! ```text
//!  frontier ── may be asked ──▶ fetch (tasks on this thread) ──▶ read (threads)
//!     ▲                                                              │
//!     └── links let in, page done with ◀── this thread ◀─────────────┘
//!                                              │
//!                                              ▼
//!                              archive, texts, sink, log (a thread)
//! ```
//!
//! All decisions fall on this thread, one after the other, and go to the writing thread in that
//! order; so the log tells them as they happened, and reading it back gives the same state.
//!
//! A redirect ends its page; its target is a page of its own, taken at once and put first in the
//! line of its host, since it was this page's turn. It is checked like any other: scope, traps,
//! robots.txt, address. No page is asked for twice, so redirects cannot go in circles; chains over
//! ever new addresses end after a few.
//!
//! A host is resolved before anything waits in its line, and its robots.txt asked for before
//! anything else of its origin. A host that does not answer several pages in a row is not asked
//! again by this process.

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::header::{ETAG, HeaderName, HeaderValue, LAST_MODIFIED};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant as Deadline, sleep_until};
use url::Url;
use wonbon_time::Timestamp;

use crate::before::Before;
use crate::error::CrawlError;
use crate::fetch::{Answer, Ask, Body, FetchError, Fetcher};
use crate::frontier::{Frontier, Job, JobKind};
use crate::keeping::{Keep, Keeper, PageToKeep, Refers};
use crate::politeness::{Manner, Politeness};
use crate::progress::{Control, Ended, Observer, Summary};
use crate::reading::{ReadFailure, ReadPage, ReadingPool, ReadingRules, ToRead};
use crate::records::{Done, Outcome, Record, Verdict};
use crate::robots;
use crate::scope::path_and_query;
use crate::sink::{PageSink, SinkError};
use crate::state::{NotLetIn, PageState, State};

/// Pages that may wait before their hosts, for each request that may be under way.
const LOOK_AHEAD: usize = 16;
/// Pages in a row without an answer after which a host is given up.
const MOST_SILENT: u32 = 8;
/// How long the addresses of a host are used.
const ADDRESSES_LAST: Duration = Duration::from_secs(600);
/// Sitemaps that are read of one origin.
const MOST_SITEMAPS: u32 = 100;
/// How often observers are told.
const TICK: Duration = Duration::from_millis(250);

/// What the other threads and tasks report.
pub(crate) enum Event {
    Resolved {
        host: u32,
        found: Result<Vec<IpAddr>, FetchError>,
    },
    Fetched {
        host: u32,
        address: Option<IpAddr>,
        job: Job,
        got: Result<Box<Answer>, FetchError>,
    },
    Read {
        job: Job,
        page: Result<Box<ReadPage>, SinkError>,
    },
    /// A body left the memory.
    Kept,
    Committed {
        verdicts: Vec<(u32, Verdict)>,
    },
    Failed(CrawlError),
}

/// What is known of a host.
#[derive(Debug, Default)]
struct HostState {
    /// None before it was asked for.
    addresses: Option<Result<Vec<IpAddr>, FetchError>>,
    since: Option<Instant>,
    is_resolving: bool,
    /// Jobs that wait for its addresses.
    waiting: Vec<(Job, bool)>,
    /// Pages in a row without an answer.
    silent: u32,
}

/// Jobs that wait for the robots.txt of their origin.
#[derive(Debug, Default)]
struct OriginState {
    is_asking: bool,
    waiting: Vec<Job>,
    sitemaps: u32,
}

/// Everything a crawl needs to run.
pub(crate) struct Engine<'a> {
    pub(crate) state: State,
    frontier: Frontier,
    hosts: Vec<HostState>,
    origins: HashMap<u32, OriginState>,
    /// Pages that were taken and not done with when the crawl was stopped; they come first.
    unfinished: VecDeque<u32>,
    /// Sitemaps that were known and not read when the crawl was stopped.
    unread: Vec<u32>,
    fetcher: Arc<dyn Fetcher>,
    sink: Option<Arc<dyn PageSink>>,
    before: Option<Before>,
    keeper: &'a Keeper,
    pool: ReadingPool<Job>,
    observer: &'a dyn Observer,
    control: &'a Control,
    events: UnboundedReceiver<Event>,
    sender: UnboundedSender<Event>,
    active: usize,
    /// Answers being read or not yet in the archive.
    in_hand: usize,
    /// Jobs that wait for addresses or robots.txt.
    held: usize,
    /// Pages that are as they were and being read, with where their bodies stand.
    unchanged: HashMap<u32, Refers>,
    /// Pages that were asked for and are not done with.
    begun: HashSet<u32>,
    /// The budget is used up: only what was begun is ended.
    is_closing: bool,
    started: Instant,
}

/// What an engine is made of.
pub(crate) struct Parts<'a> {
    pub(crate) state: State,
    pub(crate) order: Box<dyn crate::order::Order>,
    pub(crate) unfinished: VecDeque<u32>,
    pub(crate) unread: Vec<u32>,
    pub(crate) fetcher: Arc<dyn Fetcher>,
    pub(crate) sink: Option<Arc<dyn PageSink>>,
    pub(crate) before: Option<Before>,
    pub(crate) keeper: &'a Keeper,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) control: &'a Control,
    pub(crate) events: UnboundedReceiver<Event>,
    pub(crate) sender: UnboundedSender<Event>,
    /// Whether hosts may have been asked just before this process began.
    pub(crate) resumed: bool,
}

/// The way from the other threads to the engine.
pub(crate) fn event_channel() -> (UnboundedSender<Event>, UnboundedReceiver<Event>) {
    unbounded_channel()
}

impl<'a> Engine<'a> {
    pub(crate) fn new(parts: Parts<'a>) -> Self {
        let Parts { state, order, unfinished, unread, fetcher, sink, before, keeper, .. } = parts;
        let pace = &state.plan.pace;
        let rules = Arc::new(ReadingRules {
            rules: state.rules.clone(),
            scope: state.scope.clone(),
            site: state.plan.params.site,
            product: state.plan.params.product().to_owned(),
            unpacked_bytes: state.plan.params.limits.unpacked_bytes,
            sink: sink.clone(),
        });
        let out = parts.sender.clone();
        let pool = ReadingPool::start(pace.threads, rules, move |job, page| {
            // Without an engine nobody needs it.
            let _ = out.send(Event::Read { job, page: page.map(Box::new) });
        });
        let mut politeness = Politeness::new(pace.manners());
        if parts.resumed && fetcher.is_live() {
            let now = Instant::now();
            (0..state.addresses.hosts().len() as u32)
                .for_each(|host| politeness.was_asked(host, now));
        }
        for (&origin, known) in &state.robots {
            let host = state.addresses.origins()[origin as usize].host;
            politeness.set_crawl_delay(host, known.rules.crawl_delay().unwrap_or_default());
        }
        Engine {
            frontier: Frontier::new(order, politeness),
            state,
            hosts: Vec::new(),
            origins: HashMap::new(),
            unfinished,
            unread,
            fetcher,
            sink,
            before,
            keeper,
            pool,
            observer: parts.observer,
            control: parts.control,
            events: parts.events,
            sender: parts.sender,
            active: 0,
            in_hand: 0,
            held: 0,
            unchanged: HashMap::new(),
            begun: HashSet::new(),
            is_closing: false,
            started: Instant::now(),
        }
    }

    /// Crawls until nothing is left, the budget is used up, or somebody stops it.
    pub(crate) async fn run(mut self) -> Result<Summary, CrawlError> {
        let control = self.control.clone();
        let mut tick = tokio::time::interval(TICK);
        for page in std::mem::take(&mut self.unread) {
            self.place(Job::new(JobKind::Sitemap(page)), false);
        }
        let ended = loop {
            let wake = self.dispatch();
            if let Some(ended) = self.ended() {
                break ended;
            }
            let wake = wake.map(Deadline::from_std);
            tokio::select! {
                Some(event) = self.events.recv() => {
                    self.happened(event)?;
                    // What else is there already costs no further look around.
                    while let Ok(event) = self.events.try_recv() {
                        self.happened(event)?;
                    }
                }
                () = sleep_until(wake.unwrap_or_else(Deadline::now)), if wake.is_some() => {}
                () = control.changed() => {}
                _ = tick.tick() => self.tell(),
            }
        };
        let Engine { pool, keeper, .. } = self;
        let read = pool.finish();
        keeper.end()?;
        while let Ok(event) = self.events.try_recv() {
            match event {
                Event::Committed { verdicts } => {
                    verdicts.iter().for_each(|&(page, verdict)| self.state.judged(page, verdict));
                }
                Event::Failed(error) => return Err(error),
                _ => {}
            }
        }
        if !read {
            return Err(CrawlError::Thread { doing: "reads pages" });
        }
        let mut stats = self.state.stats.clone();
        stats.waiting = self.frontier.waiting() as u64;
        stats.hosts = self.state.addresses.hosts().len() as u64;
        stats.seconds = self.started.elapsed().as_secs_f64();
        Ok(Summary { ended, stats })
    }

    fn tell(&mut self) {
        let stats = &mut self.state.stats;
        stats.waiting = (self.frontier.waiting() + self.held + self.unfinished.len()) as u64;
        stats.active = self.active as u64;
        stats.hosts = self.state.addresses.hosts().len() as u64;
        stats.seconds = self.started.elapsed().as_secs_f64();
        self.observer.progress(stats);
    }

    fn is_over_budget(&self) -> bool {
        let (pace, stats) = (&self.state.plan.pace, &self.state.stats);
        pace.pages.is_some_and(|most| stats.asked + self.begun.len() as u64 >= most)
            || pace.bytes.is_some_and(|most| stats.bytes >= most)
    }

    fn ended(&self) -> Option<Ended> {
        if self.in_hand > 0 || (self.active > 0 && !self.control.is_let_go()) {
            return None;
        }
        if self.control.is_stopped() {
            return Some(Ended::Stopped);
        }
        if self.is_closing && self.begun.is_empty() {
            return Some(Ended::Budget);
        }
        if self.control.is_paused() || self.held > 0 || self.frontier.parked() > 0 {
            return None;
        }
        Some(Ended::Exhausted)
    }

    /// Begins all requests that may begin; says when the next host will have rested.
    fn dispatch(&mut self) -> Option<Instant> {
        let concurrency = self.state.plan.pace.concurrency.max(1);
        if self.control.is_stopped() || self.control.is_paused() {
            return None;
        }
        loop {
            let now = Instant::now();
            self.frontier.wake(now);
            if self.active >= concurrency || self.active + self.in_hand >= concurrency * 4 {
                // An event comes before anything else can be done.
                return None;
            }
            self.is_closing = self.is_closing || self.is_over_budget();
            if let Some((host, job)) = self.frontier.begin(now, self.is_closing) {
                self.begin(host, job);
                continue;
            }
            let has_room = self.frontier.parked() + self.held < concurrency * LOOK_AHEAD;
            if has_room && !self.is_closing && self.take_page() {
                continue;
            }
            // Looking for a job may have sent hosts to sleep.
            let wake = self.frontier.wake(now);
            if !self.frontier.has_ready() {
                return wake;
            }
        }
    }

    /// Takes the next page out of the ordering; says whether there was one.
    fn take_page(&mut self) -> bool {
        if let Some(page) = self.unfinished.pop_front() {
            let hops = self.state.hops.get(&page).copied().unwrap_or(0);
            self.place(Job { kind: JobKind::Page(page), hops, tries: 0 }, false);
            return true;
        }
        let Engine { state, frontier, .. } = self;
        let Some(page) = frontier.next_page(|page| state.goes_behind(page)) else { return false };
        self.take(page);
        self.place(Job::new(JobKind::Page(page)), false);
        true
    }

    fn take(&mut self, page: u32) {
        self.state.taken(page);
        self.keeper.keep(Keep::Record(Record::Taken(page)));
    }

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

    fn host(&mut self, host: u32) -> &mut HostState {
        let needed = host as usize + 1;
        if self.hosts.len() < needed {
            self.hosts.resize_with(needed, HostState::default);
        }
        &mut self.hosts[host as usize]
    }

    /// Puts a job where it can go on: before its host's addresses, before its robots.txt, or in the
    /// line of its host. What may not be asked for is done with.
    fn place(&mut self, job: Job, first: bool) {
        let host = self.host_of(&job);
        let fetcher = self.fetcher.clone();
        let name = self.state.addresses.hosts()[host as usize].clone();
        let sender = self.sender.clone();
        let known = self.host(host);
        let is_old = known.since.is_none_or(|since| since.elapsed() > ADDRESSES_LAST);
        if known.addresses.is_none() || (is_old && fetcher.is_live()) {
            known.waiting.push((job, first));
            if !known.is_resolving {
                known.is_resolving = true;
                tokio::spawn(async move {
                    let found = fetcher.resolve(&name).await;
                    let _ = sender.send(Event::Resolved { host, found });
                });
            }
            self.held += 1;
            return;
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
            if !known.rules.allows(path_and_query(&url)) {
                return self.finish(Done::new(page, Outcome::Disallowed, Timestamp::now()), None);
            }
        }
        self.frontier.park(host, job, first, Instant::now());
    }

    fn url_of(&self, page: u32) -> Url {
        Url::parse(&self.state.addresses.address(page)).expect("what was let in was an address")
    }

    fn await_robots(&mut self, origin: u32, job: Job) {
        self.held += 1;
        let known = self.origins.entry(origin).or_default();
        known.waiting.push(job);
        if known.is_asking {
            return;
        }
        known.is_asking = true;
        let text = &self.state.addresses.origins()[origin as usize].text;
        let url = Url::parse(&format!("{text}/robots.txt")).expect("an origin is an address");
        self.place(Job::new(JobKind::Robots { origin, url }), true);
    }

    /// A job that cannot be done.
    fn give_up(&mut self, job: Job, outcome: Outcome, why: &FetchError) {
        match job.kind {
            JobKind::Page(page) | JobKind::Sitemap(page) => {
                let mut done = Done::new(page, outcome, Timestamp::now());
                done.hops = job.hops;
                if self.state.pages[page as usize].depth == 0 {
                    let address = self.state.addresses.address(page);
                    self.observer.say(&format!("{address}: {why}"));
                }
                self.finish(done, None);
            }
            JobKind::Robots { origin, .. } => self.robots_came(origin, 0, Vec::new()),
        }
    }

    /// A page is done with; `kept` is what goes into the archive.
    fn finish(&mut self, done: Done, kept: Option<Box<PageToKeep>>) {
        self.begun.remove(&done.page);
        self.state.done(&done, self.frontier.order());
        match kept {
            Some(kept) => self.keeper.keep(Keep::Page(Box::new(done), kept)),
            None => self.keeper.keep(Keep::Record(Record::Done(Box::new(done)))),
        }
    }

    fn begin(&mut self, host: u32, job: Job) {
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
            self.begun.insert(page);
            if let Some(before) = &self.before {
                (ask.etag, ask.last_modified) = before.validators(ask.url.as_str());
            }
        }
        self.active += 1;
        let (fetcher, sender) = (self.fetcher.clone(), self.sender.clone());
        tokio::spawn(async move {
            let got = fetcher.fetch(ask).await.map(Box::new);
            let _ = sender.send(Event::Fetched { host, address, job, got });
        });
    }

    fn happened(&mut self, event: Event) -> Result<(), CrawlError> {
        match event {
            Event::Resolved { host, found } => self.resolved(host, found),
            Event::Fetched { host, address, job, got } => {
                self.active -= 1;
                self.fetched(host, address, job, got)?;
            }
            Event::Read { job, page } => match page {
                Ok(page) => self.read(job, *page)?,
                Err(source) => return Err(self.sink_failed(&job, source)),
            },
            Event::Kept => self.in_hand -= 1,
            Event::Committed { verdicts } => {
                verdicts.iter().for_each(|&(page, verdict)| self.state.judged(page, verdict));
            }
            Event::Failed(error) => return Err(error),
        }
        Ok(())
    }

    fn sink_failed(&self, job: &Job, source: SinkError) -> CrawlError {
        let address = match &job.kind {
            JobKind::Page(page) | JobKind::Sitemap(page) => self.state.addresses.address(*page),
            JobKind::Robots { url, .. } => url.to_string(),
        };
        CrawlError::Sink { address, source }
    }

    fn resolved(&mut self, host: u32, found: Result<Vec<IpAddr>, FetchError>) {
        let first = found.as_ref().ok().and_then(|found| found.first().copied());
        self.frontier.politeness.set_address(host, first);
        let known = self.host(host);
        known.addresses = Some(found);
        known.since = Some(Instant::now());
        known.is_resolving = false;
        let waiting = std::mem::take(&mut known.waiting);
        self.held -= waiting.len();
        for (job, first) in waiting {
            self.place(job, first);
        }
    }

    /// An answer came, or did not.
    fn fetched(
        &mut self,
        host: u32,
        address: Option<IpAddr>,
        mut job: Job,
        got: Result<Box<Answer>, FetchError>,
    ) -> Result<(), CrawlError> {
        let now = Instant::now();
        let manner = match &got {
            Ok(answer) if matches!(answer.status, 429 | 503) => {
                Manner::WantsRest(retry_after(answer))
            }
            Ok(_) => Manner::Answered,
            Err(FetchError::NotArchived | FetchError::Forbidden { .. } | FetchError::Unaskable) => {
                Manner::Answered
            }
            Err(_) => Manner::Silent,
        };
        let is_again = manner != Manner::Answered;
        self.frontier.end(host, address, now, manner);
        if is_again && job.tries + 1 < self.state.plan.pace.tries {
            job.tries += 1;
            if got.is_err() {
                self.next_address(host);
            }
            self.place(job, true);
            return Ok(());
        }
        let is_page = matches!(job.kind, JobKind::Page(_));
        match got {
            Err(why) => {
                if is_page && is_again {
                    self.host(host).silent += 1;
                    if self.host(host).silent >= MOST_SILENT {
                        // Placed again, they are given up.
                        let waiting = self.frontier.drain(host);
                        waiting.into_iter().for_each(|job| self.place(job, false));
                    }
                }
                let outcome = match why {
                    FetchError::Forbidden { .. } | FetchError::NoAddress { .. } => {
                        Outcome::NoAddress
                    }
                    _ => Outcome::NoAnswer,
                };
                self.give_up(job, outcome, &why);
                Ok(())
            }
            Ok(answer) => {
                self.host(host).silent = 0;
                self.answered(job, answer)
            }
        }
    }

    /// The address that was asked did not answer: the next one is asked from now on.
    fn next_address(&mut self, host: u32) {
        if let Some(Ok(addresses)) = &mut self.host(host).addresses {
            if addresses.len() > 1 {
                addresses.rotate_left(1);
            }
            let first = addresses.first().copied();
            self.frontier.politeness.set_address(host, first);
        }
    }

    fn answered(&mut self, job: Job, answer: Box<Answer>) -> Result<(), CrawlError> {
        let location = matches!(answer.status, 301 | 302 | 303 | 307 | 308)
            .then(|| answer.field("location").map(str::to_owned))
            .flatten();
        match job.kind {
            JobKind::Robots { origin, url } => {
                let target =
                    location.and_then(|to| self.state.rules.canonical(Some(&url), &to).ok());
                // A body too large is read up to its limit, which is nothing here.
                let status = if answer.whole == Body::Whole { answer.status } else { 0 };
                let body = unpacked_robots(&answer);
                self.archive(url.into(), answer);
                match target.filter(|_| usize::from(job.hops) < robots::MAX_REDIRECTS) {
                    Some(url) => {
                        let kind = JobKind::Robots { origin, url };
                        self.place(Job { kind, hops: job.hops + 1, tries: 0 }, true);
                    }
                    None => self.robots_came(origin, status, body),
                }
                Ok(())
            }
            JobKind::Page(page) => {
                if let Some(location) = location {
                    self.redirected(page, &job, answer, &location)
                } else if answer.whole == Body::Whole && is_success(answer.status) {
                    self.hand_to_readers(Job { kind: JobKind::Page(page), ..job }, page, answer);
                    Ok(())
                } else {
                    self.without_content(page, &job, answer)
                }
            }
            JobKind::Sitemap(page) => {
                if answer.whole == Body::Whole && is_success(answer.status) {
                    self.hand_to_readers(Job { kind: JobKind::Sitemap(page), ..job }, page, answer);
                } else {
                    let mut done = Done::new(page, Outcome::Sitemap, answer.at);
                    done.status = answer.status;
                    self.finish(done, None);
                }
                Ok(())
            }
        }
    }

    fn hand_to_readers(&mut self, job: Job, page: u32, answer: Box<Answer>) {
        self.in_hand += 1;
        let is_sitemap = matches!(job.kind, JobKind::Sitemap(_));
        let depth = self.state.pages[page as usize].depth;
        self.pool.read(ToRead { job, url: self.url_of(page), depth, is_sitemap, answer });
    }

    /// What does not become a page of the crawl goes into the archive all the same.
    fn archive(&mut self, address: String, answer: Box<Answer>) {
        self.keeper.keep(Keep::Exchange(Box::new(PageToKeep::of(address, answer))));
        self.in_hand += 1;
    }

    /// An answer that is a redirect.
    fn redirected(
        &mut self,
        page: u32,
        job: &Job,
        answer: Box<Answer>,
        location: &str,
    ) -> Result<(), CrawlError> {
        let mut done = done_of(page, Outcome::LostRedirect, job, &answer);
        let depth = self.state.pages[page as usize].depth;
        let target = self.state.rules.canonical(Some(&self.url_of(page)), location).ok();
        let target = target.filter(|_| job.hops < self.state.plan.pace.redirects);
        let target =
            target.and_then(|target| self.state.let_in(target.as_str(), depth, &mut done.new).ok());
        let target = target.filter(|&target| target != page);
        let mut kept = PageToKeep::of(self.state.addresses.address(page), answer);
        let Some(target) = target else {
            self.in_hand += 1;
            self.finish(done, Some(Box::new(kept)));
            return Ok(());
        };
        done.outcome = Outcome::Redirect;
        done.target = Some(target);
        done.links = vec![target];
        if let Some(sink) = &self.sink {
            let to = self.state.addresses.address(target);
            let ticket = sink.redirect(&kept.address, &to);
            kept.ticket = Some(ticket.map_err(|source| self.sink_failed(job, source))?);
        }
        self.in_hand += 1;
        self.finish(done, Some(Box::new(kept)));
        if self.state.pages[target as usize].state == PageState::Waiting {
            self.take(target);
            self.frontier.order().take(target);
            let kind = JobKind::Page(target);
            self.place(Job { kind, hops: job.hops + 1, tries: 0 }, true);
        }
        Ok(())
    }

    /// An answer without a page in it: an error, another type, too large, or as it was before.
    fn without_content(
        &mut self,
        page: u32,
        job: &Job,
        answer: Box<Answer>,
    ) -> Result<(), CrawlError> {
        let outcome = match (answer.status, answer.whole) {
            (304, _) if self.before.is_some() => {
                self.not_modified(page, job, answer);
                return Ok(());
            }
            (200..=299, Body::OtherType) => Outcome::OtherType,
            (200..=299, Body::TooLarge) => Outcome::TooLarge,
            (300..=399, _) => Outcome::LostRedirect,
            _ => Outcome::ServerError,
        };
        let done = done_of(page, outcome, job, &answer);
        let kept = PageToKeep::of(self.state.addresses.address(page), answer);
        self.in_hand += 1;
        self.finish(done, Some(Box::new(kept)));
        Ok(())
    }

    /// A page is as it was in the sweep before: it is read from that one's archive.
    fn not_modified(&mut self, page: u32, job: &Job, mut answer: Box<Answer>) {
        let address = self.state.addresses.address(page);
        let old = self.before.as_ref().and_then(|before| before.page(&address));
        let Some(old) = old else {
            self.observer.say(&format!("{address} is unchanged, but its archive is gone"));
            let done = done_of(page, Outcome::NotModified, job, &answer);
            return self.finish(done, None);
        };
        for (name, value) in &old.fields {
            let name = HeaderName::from_bytes(name.as_bytes());
            let value = HeaderValue::from_str(value);
            // What names a version is the page's own, not that of the record with its body.
            if let (Ok(name), Ok(value)) = (name, value)
                && name != ETAG
                && name != LAST_MODIFIED
                && !answer.fields.contains_key(&name)
            {
                answer.fields.append(name, value);
            }
        }
        for (name, value) in [("etag", &old.etag), ("last-modified", &old.last_modified)] {
            let value = value.as_deref().and_then(|text| HeaderValue::from_str(text).ok());
            if let (Some(value), false) = (value, answer.fields.contains_key(name)) {
                answer.fields.insert(name, value);
            }
        }
        answer.body = old.body;
        answer.whole = Body::Whole;
        let (at, digest, id) = (old.at, Some(old.digest), Some(old.id));
        self.unchanged.insert(page, Refers { address, at, digest, id });
        self.hand_to_readers(job.clone(), page, answer);
    }

    fn let_link_in(&mut self, address: &str, depth: u16, done: &mut Done) {
        match self.state.let_in(address, depth, &mut done.new) {
            // Who reads pages leaves no link twice.
            Ok(target) if target == done.page => {}
            Ok(target) => done.links.push(target),
            Err(NotLetIn::OutOfScope) => self.state.stats.out_of_scope += 1,
            Err(NotLetIn::Trap) => self.state.stats.traps += 1,
        }
    }

    /// A page was read.
    fn read(&mut self, job: Job, page: ReadPage) -> Result<(), CrawlError> {
        match job.kind {
            JobKind::Page(number) => self.read_page(number, &job, page),
            JobKind::Sitemap(number) => {
                self.in_hand -= 1;
                self.read_sitemap(number, page);
            }
            JobKind::Robots { .. } => {}
        }
        Ok(())
    }

    fn read_page(&mut self, number: u32, job: &Job, page: ReadPage) {
        let ReadPage { answer, digest, failed, links, canonical, row, ticket, charset, .. } = page;
        let outcome = match failed {
            None => Outcome::Kept,
            Some(ReadFailure::TooLarge) => Outcome::TooLarge,
            Some(ReadFailure::Broken) => Outcome::NoAnswer,
            Some(ReadFailure::NoText) => Outcome::OtherType,
        };
        let mut done = done_of(number, outcome, job, &answer);
        let mut kept = PageToKeep::of(self.state.addresses.address(number), answer);
        kept.charset = charset;
        if outcome == Outcome::Kept {
            done.digest = Some(digest);
            self.state.stats.out_of_scope += page.out_of_scope;
            let depth = self.state.pages[number as usize].depth.saturating_add(1);
            for link in &links {
                self.let_link_in(link, depth, &mut done);
            }
            if let Some(canonical) = canonical
                && let Ok(target) = self.state.let_in(&canonical, depth, &mut done.new)
            {
                done.target = Some(target);
                if target != number && !done.links.contains(&target) {
                    done.links.push(target);
                }
            }
            let same = self.state.same_body(&digest).filter(|_| done.bytes > 0);
            if let Some(refers) = self.unchanged.remove(&number) {
                done.outcome = Outcome::NotModified;
                done.bytes = 0;
                kept.refers = Some(refers);
            } else if let Some((first, at)) = same {
                done.outcome = Outcome::SameBody;
                let address = self.state.addresses.address(first);
                kept.refers = Some(Refers { address, at, digest: Some(digest), id: None });
            }
            kept.row = row;
            kept.ticket = ticket;
        }
        self.finish(done, Some(Box::new(kept)));
    }

    fn read_sitemap(&mut self, number: u32, page: ReadPage) {
        let mut done = Done::new(number, Outcome::Sitemap, page.answer.at);
        done.status = page.answer.status;
        let own = self.state.addresses.origin(number);
        self.archive(self.state.addresses.address(number), page.answer);
        self.state.stats.out_of_scope += page.out_of_scope;
        for link in &page.links {
            self.let_link_in(link, 1, &mut done);
        }
        self.finish(done, None);
        self.add_sitemaps(own, &page.sitemaps);
    }

    /// Sitemaps that an origin names, here or in another sitemap.
    fn add_sitemaps(&mut self, origin: u32, addresses: &[String]) {
        for address in addresses {
            let known = self.origins.entry(origin).or_default();
            if known.sitemaps >= MOST_SITEMAPS {
                return;
            }
            known.sitemaps += 1;
            let Ok(url) = self.state.rules.canonical(None, address) else { continue };
            if self.state.scope.check(&url, 0).is_err() {
                continue;
            }
            if let Some(page) = self.state.aside(url.as_str()) {
                self.keeper.keep(Keep::Record(Record::Known(url.into())));
                self.place(Job::new(JobKind::Sitemap(page)), false);
            }
        }
    }

    fn robots_came(&mut self, origin: u32, status: u16, body: Vec<u8>) {
        let at = Timestamp::now();
        self.state.robots_came(origin, at, status, &body);
        let text = self.state.addresses.origins()[origin as usize].text.to_string();
        self.keeper.keep(Keep::Record(Record::Robots { origin: text, at, status, body }));
        let rules = &self.state.robots[&origin].rules;
        let sitemaps = rules.sitemaps().to_vec();
        let host = self.state.addresses.origins()[origin as usize].host;
        if let Some(delay) = rules.crawl_delay() {
            // It counts from this very answer on.
            self.frontier.politeness.set_crawl_delay(host, delay);
            self.frontier.politeness.was_asked(host, Instant::now());
        }
        let known = self.origins.entry(origin).or_default();
        known.is_asking = false;
        let waiting = std::mem::take(&mut known.waiting);
        self.held -= waiting.len();
        for job in waiting {
            self.place(job, false);
        }
        if self.state.plan.params.sitemaps {
            self.add_sitemaps(origin, &sitemaps);
        }
    }
}

fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn done_of(page: u32, outcome: Outcome, job: &Job, answer: &Answer) -> Done {
    Done {
        status: answer.status,
        took: answer.took,
        bytes: answer.body.len() as u64,
        hops: job.hops,
        etag: answer.field("etag").map(str::to_owned),
        last_modified: answer.field("last-modified").map(str::to_owned),
        ..Done::new(page, outcome, answer.at)
    }
}

/// How long the server wants to be left alone, as seconds or as a date.
fn retry_after(answer: &Answer) -> Option<Duration> {
    let value = answer.field("retry-after")?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = Timestamp::from(httpdate::parse_http_date(value).ok()?);
    Some(until.since(Timestamp::now())).filter(|wait| !wait.is_zero())
}

fn unpacked_robots(answer: &Answer) -> Vec<u8> {
    let most = answer.body.len().max(robots::MAX_BYTES * 4);
    let unpacked = crate::fetch::unpack::unpack(&answer.body, &answer.content_coding(), most).ok();
    let mut body = unpacked.map(std::borrow::Cow::into_owned).unwrap_or_default();
    body.truncate(robots::MAX_BYTES);
    body
}
