//! The crawl loop: one thread that decides, and other threads that work for it.
//!
//! ```text
//!  frontier ── host is ready ──▶ fetch (tasks on this thread) ──▶ read (threads)
//!     ▲                                                               │
//!     └── links admitted, page finished ◀── this thread ◀─────────────┘
//!                                              │
//!                                              ▼
//!                              archive, texts, sink, log (one writer thread)
//! ```
//!
//! All decisions are made on this thread, one after the other, and are sent to the writer thread in
//! that order. The log therefore records them as they happened, and replaying the log gives the same
//! state.
//!
//! | module | contains |
//! |---|---|
//! | this one | the event loop, budgets, taking pages from the ordering |
//! | `schedule` | from a job to a request: addresses of hosts, robots.txt, the queue of each host |
//! | `answers` | what an answer means: retry, redirect, error, unchanged, or a page to read |
//! | `pages` | what was read: links, identical bodies, sitemaps |
//!
//! A redirect finishes its page. The target is a page of its own: it is taken from the ordering at
//! once and goes to the front of its host's queue. It is checked like any other page: scope, traps,
//! robots.txt, address. No page is requested twice, so redirects cannot loop; chains over ever new
//! addresses end after a few hops.

mod answers;
mod pages;
mod schedule;

use std::collections::{HashMap, HashSet, VecDeque};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant as Deadline, sleep_until};
use url::Url;

use crate::error::CrawlError;
use crate::fetch::{Answer, FetchError, Fetcher};
use crate::frontier::{Frontier, Job, JobKind};
use crate::page_reader::{ReadPage, ReaderPool, ReadingRules};
use crate::politeness::Politeness;
use crate::previous_sweep::PreviousSweep;
use crate::progress::{Control, Ended, Observer, Summary};
use crate::records::{Done, Record, Verdict};
use crate::sink::{PageSink, SinkError};
use crate::state::State;
use crate::writer::{EarlierBody, Exchange, ToWrite, WriterThread};
use schedule::{HostState, OriginState};

/// Jobs that may wait for their hosts, for each request that may run at the same time.
const LOOK_AHEAD: usize = 16;
/// How often observers get the statistics.
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
    /// A body is in the archive and no longer in memory.
    Archived,
    Committed {
        verdicts: Vec<(u32, Verdict)>,
    },
    Failed(CrawlError),
}

/// Everything a crawl needs to run.
pub(crate) struct Engine<'a> {
    state: State,
    frontier: Frontier,
    hosts: Vec<HostState>,
    origins: HashMap<u32, OriginState>,
    /// Pages that were taken but not finished when the crawl was stopped; they come first.
    unfinished: VecDeque<u32>,
    /// Sitemaps that were known but not read when the crawl was stopped.
    unread_sitemaps: Vec<u32>,
    fetcher: Arc<dyn Fetcher>,
    sink: Option<Arc<dyn PageSink>>,
    previous: Option<PreviousSweep>,
    writer: &'a WriterThread,
    readers: ReaderPool<Job>,
    observer: &'a dyn Observer,
    control: &'a Control,
    events: UnboundedReceiver<Event>,
    sender: UnboundedSender<Event>,
    /// Requests under way.
    active: usize,
    /// Answers in memory: being read, or not yet in the archive.
    in_memory: usize,
    /// Jobs that wait for addresses or for robots.txt.
    blocked: usize,
    /// Unchanged pages that are being read, with the record that holds their bodies.
    unchanged: HashMap<u32, EarlierBody>,
    /// Pages that were requested and are not finished.
    requested: HashSet<u32>,
    /// The budget is used up: only requested pages are finished.
    is_closing: bool,
    started: Instant,
}

/// What an engine is made of.
pub(crate) struct Parts<'a> {
    pub(crate) state: State,
    pub(crate) order: Box<dyn crate::order::Order>,
    pub(crate) unfinished: VecDeque<u32>,
    pub(crate) unread_sitemaps: Vec<u32>,
    pub(crate) fetcher: Arc<dyn Fetcher>,
    pub(crate) sink: Option<Arc<dyn PageSink>>,
    pub(crate) previous: Option<PreviousSweep>,
    pub(crate) writer: &'a WriterThread,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) control: &'a Control,
    pub(crate) events: UnboundedReceiver<Event>,
    pub(crate) sender: UnboundedSender<Event>,
    /// Whether hosts may have been asked just before this process began.
    pub(crate) resumed: bool,
}

/// The channel from the other threads to the engine.
pub(crate) fn event_channel() -> (UnboundedSender<Event>, UnboundedReceiver<Event>) {
    unbounded_channel()
}

impl<'a> Engine<'a> {
    pub(crate) fn new(parts: Parts<'a>) -> Self {
        let Parts { state, order, fetcher, sink, .. } = parts;
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
        let readers = ReaderPool::start(pace.threads, rules, move |job, page| {
            // If the engine is gone, nobody needs the page.
            let _ = out.send(Event::Read { job, page: page.map(Box::new) });
        });
        let mut politeness = Politeness::new(pace.manners());
        if parts.resumed && fetcher.is_live() {
            let now = Instant::now();
            (0..state.addresses.hosts().len() as u32)
                .for_each(|host| politeness.rest_after_unknown_request(host, now));
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
            unfinished: parts.unfinished,
            unread_sitemaps: parts.unread_sitemaps,
            fetcher,
            sink,
            previous: parts.previous,
            writer: parts.writer,
            readers,
            observer: parts.observer,
            control: parts.control,
            events: parts.events,
            sender: parts.sender,
            active: 0,
            in_memory: 0,
            blocked: 0,
            unchanged: HashMap::new(),
            requested: HashSet::new(),
            is_closing: false,
            started: Instant::now(),
        }
    }

    /// Crawls until nothing is left, the budget is used up, or somebody stops it.
    pub(crate) async fn run(mut self) -> Result<Summary, CrawlError> {
        let control = self.control.clone();
        let mut tick = tokio::time::interval(TICK);
        for page in std::mem::take(&mut self.unread_sitemaps) {
            self.schedule(Job::new(JobKind::Sitemap(page)), false);
        }
        let ended = loop {
            let wake = self.dispatch();
            if let Some(ended) = self.end_reason() {
                break ended;
            }
            let wake = wake.map(Deadline::from_std);
            tokio::select! {
                Some(event) = self.events.recv() => {
                    self.handle_event(event)?;
                    // Events that are already queued are handled before the next dispatch.
                    while let Ok(event) = self.events.try_recv() {
                        self.handle_event(event)?;
                    }
                }
                () = sleep_until(wake.unwrap_or_else(Deadline::now)), if wake.is_some() => {}
                () = control.changed() => {}
                _ = tick.tick() => self.report_progress(),
            }
        };
        self.shut_down(ended)
    }

    /// Waits for the reading and writing threads, and sums up.
    fn shut_down(self, ended: Ended) -> Result<Summary, CrawlError> {
        let Engine { readers, writer, mut events, mut state, frontier, started, sink, .. } = self;
        let have_read = readers.finish();
        writer.finish()?;
        while let Ok(event) = events.try_recv() {
            match event {
                Event::Committed { verdicts } => {
                    verdicts.iter().for_each(|&(page, verdict)| state.note_verdict(page, verdict));
                }
                Event::Failed(error) => return Err(error),
                _ => {}
            }
        }
        if !have_read {
            return Err(CrawlError::Thread { doing: "reads pages" });
        }
        if let Some(sink) = &sink {
            state.recount_verdicts(&**sink)?;
        }
        let mut stats = state.stats;
        stats.waiting = frontier.waiting() as u64;
        stats.hosts = state.addresses.hosts().len() as u64;
        stats.seconds = started.elapsed().as_secs_f64();
        Ok(Summary { ended, stats })
    }

    fn report_progress(&mut self) {
        let stats = &mut self.state.stats;
        stats.waiting = (self.frontier.waiting() + self.blocked + self.unfinished.len()) as u64;
        stats.active = self.active as u64;
        stats.hosts = self.state.addresses.hosts().len() as u64;
        stats.seconds = self.started.elapsed().as_secs_f64();
        self.observer.progress(stats);
    }

    fn is_over_budget(&self) -> bool {
        let (pace, stats) = (&self.state.plan.pace, &self.state.stats);
        pace.pages.is_some_and(|most| stats.asked + self.requested.len() as u64 >= most)
            || pace.bytes.is_some_and(|most| stats.bytes >= most)
    }

    /// Why the crawl is over, if it is.
    fn end_reason(&self) -> Option<Ended> {
        if self.in_memory > 0 || (self.active > 0 && !self.control.abandons_requests()) {
            return None;
        }
        if self.control.is_stopped() {
            return Some(Ended::Stopped);
        }
        if self.is_closing && self.requested.is_empty() {
            return Some(Ended::Budget);
        }
        if self.control.is_paused() || self.blocked > 0 || self.frontier.parked() > 0 {
            return None;
        }
        Some(Ended::Exhausted)
    }

    /// Starts every request that may start now; returns when the next host becomes ready.
    fn dispatch(&mut self) -> Option<Instant> {
        let concurrency = self.state.plan.pace.concurrency.max(1);
        if self.control.is_stopped() || self.control.is_paused() {
            return None;
        }
        loop {
            let now = Instant::now();
            self.frontier.wake(now);
            if self.active >= concurrency || self.active + self.in_memory >= concurrency * 4 {
                // Nothing can start before the next event.
                return None;
            }
            self.is_closing = self.is_closing || self.is_over_budget();
            if let Some((host, job)) = self.frontier.begin(now, self.is_closing) {
                self.start_request(host, job);
                continue;
            }
            let has_room = self.frontier.parked() + self.blocked < concurrency * LOOK_AHEAD;
            if has_room && !self.is_closing && self.take_next_page() {
                continue;
            }
            // Looking for a job may have put hosts to sleep.
            let wake = self.frontier.wake(now);
            if !self.frontier.has_ready() {
                return wake;
            }
        }
    }

    /// Takes the next page from the ordering and schedules it; no if there is none.
    fn take_next_page(&mut self) -> bool {
        if let Some(page) = self.unfinished.pop_front() {
            let hops = self.state.hops.get(&page).copied().unwrap_or(0);
            self.schedule(Job { kind: JobKind::Page(page), hops, tries: 0 }, false);
            return true;
        }
        let Engine { state, frontier, .. } = self;
        let Some(page) = frontier.next_page(|page| state.is_deferred(page)) else { return false };
        self.mark_taken(page);
        self.schedule(Job::new(JobKind::Page(page)), false);
        true
    }

    fn mark_taken(&mut self, page: u32) {
        self.state.mark_taken(page);
        self.writer.send(ToWrite::Record(Record::Taken(page)));
    }

    fn url_of(&self, page: u32) -> Url {
        Url::parse(&self.state.addresses.address(page)).expect("admitted addresses are URLs")
    }

    fn handle_event(&mut self, event: Event) -> Result<(), CrawlError> {
        match event {
            Event::Resolved { host, found } => self.handle_resolved(host, found),
            Event::Fetched { host, address, job, got } => {
                self.active -= 1;
                self.handle_fetched(host, address, job, got)?;
            }
            Event::Read { job, page } => match page {
                Ok(page) => self.handle_read(&job, *page),
                Err(source) => return Err(self.sink_error(&job, source)),
            },
            Event::Archived => self.in_memory -= 1,
            Event::Committed { verdicts } => {
                verdicts.iter().for_each(|&(page, verdict)| self.state.note_verdict(page, verdict));
            }
            Event::Failed(error) => return Err(error),
        }
        Ok(())
    }

    fn sink_error(&self, job: &Job, source: SinkError) -> CrawlError {
        let address = match &job.kind {
            JobKind::Page(page) | JobKind::Sitemap(page) => self.state.addresses.address(*page),
            JobKind::Robots { url, .. } => url.to_string(),
        };
        CrawlError::Sink { address, source }
    }

    /// Finishes a page that leaves nothing for the archive.
    fn finish(&mut self, done: Done) {
        self.note_done(&done);
        self.writer.send(ToWrite::Record(Record::Done(Box::new(done))));
    }

    /// Finishes a page whose exchange goes into the archive.
    fn finish_archived(&mut self, done: Done, exchange: Exchange) {
        self.note_done(&done);
        self.writer.send(ToWrite::Page(Box::new(done), Box::new(exchange)));
    }

    fn note_done(&mut self, done: &Done) {
        self.requested.remove(&done.page);
        self.state.done(done, self.frontier.order());
    }
}
