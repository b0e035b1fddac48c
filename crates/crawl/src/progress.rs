//! How a crawl is going, and how to stop it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;
use tokio::sync::Notify;

use crate::records::{Done, Outcome, Verdict};

/// Counts of a crawl, over all times it was gone on with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Addresses that are known.
    pub known: u64,
    /// Pages that are done with, of any outcome.
    pub done: u64,
    /// Pages that were asked for.
    pub asked: u64,
    /// Pages that came: kept, identical to another, or as they were.
    pub pages: u64,
    /// Bytes of bodies as they came.
    pub bytes: u64,
    /// Pages by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Pages the sink called originals.
    pub originals: u64,
    /// Pages the sink called copies.
    pub copies: u64,
    /// Links that were found, those to the same page counted once.
    pub links: u64,
    /// The part of them that leads to pages that came: while a crawl runs, the nearest there is to
    /// the part of the PageRank of the known web that it holds.
    pub link_share: f64,
    /// Links that lead out of the scope.
    pub out_of_scope: u64,
    /// Links that look like traps.
    pub traps: u64,
    /// Pages that wait.
    pub waiting: u64,
    /// Requests that are under way.
    pub active: u64,
    /// Hosts that are known.
    pub hosts: u64,
    /// Sites of which a page came.
    pub sites: u64,
    /// Seconds this process has crawled.
    pub seconds: f64,
}

impl Stats {
    pub(crate) fn count(&mut self, done: &Done) {
        self.done += 1;
        self.bytes += done.bytes;
        self.links += done.links.len() as u64;
        self.pages += u64::from(done.outcome.is_page());
        self.asked += u64::from(is_asked(done.outcome));
        *self.outcomes.entry(done.outcome.name()).or_default() += 1;
    }

    pub(crate) fn count_verdict(&mut self, verdict: Verdict) {
        self.originals += u64::from(verdict == Verdict::Original);
        self.copies += u64::from(verdict == Verdict::Copy);
    }

    /// Pages that failed: errors of servers and connections.
    #[must_use]
    pub fn errors(&self) -> u64 {
        [Outcome::ServerError, Outcome::NoAnswer, Outcome::NoAddress]
            .iter()
            .map(|outcome| self.outcomes.get(outcome.name()).copied().unwrap_or(0))
            .sum()
    }
}

/// Whether a page with this outcome counts as asked for.
pub(crate) fn is_asked(outcome: Outcome) -> bool {
    !matches!(outcome, Outcome::Disallowed | Outcome::NoAddress | Outcome::Sitemap)
}

/// Why a crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Nothing is left to ask for.
    Exhausted,
    /// The budget of pages or bytes is used up.
    Budget,
    /// Somebody stopped it.
    Stopped,
}

/// What a crawl came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Why it ended.
    pub ended: Ended,
    /// The counts.
    #[serde(flatten)]
    pub stats: Stats,
}

/// Watches a crawl.
pub trait Observer: Send + Sync {
    /// How it goes; called a few times a second.
    fn progress(&self, stats: &Stats);

    /// Something a person should know.
    fn say(&self, sentence: &str);
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Observer for Unwatched {
    fn progress(&self, _: &Stats) {}

    fn say(&self, _: &str) {}
}

/// Stops or pauses a crawl from outside. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Control {
    state: Arc<ControlState>,
}

#[derive(Debug, Default)]
struct ControlState {
    stopped: AtomicBool,
    abandon_requests: AtomicBool,
    paused: AtomicBool,
    changed: Notify,
}

impl Control {
    /// No further page is asked for; what is under way is finished and written.
    pub fn stop(&self) {
        self.state.stopped.store(true, Ordering::Release);
        self.state.changed.notify_one();
    }

    /// As [`stop`](Control::stop), but requests under way are abandoned: their pages are requested again
    /// when the crawl is resumed, as after a crash. Answers that arrived are written.
    pub fn abandon_requests(&self) {
        self.state.abandon_requests.store(true, Ordering::Release);
        self.stop();
    }

    /// No further page is asked for until this is taken back.
    pub fn pause(&self, paused: bool) {
        self.state.paused.store(paused, Ordering::Release);
        self.state.changed.notify_one();
    }

    /// Stops it at the first Ctrl-C, and ends the process at the second. For programs that do
    /// nothing else.
    pub fn stop_on_interrupt(&self) {
        let control = self.clone();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                if tokio::signal::ctrl_c().await.is_ok() {
                    control.stop();
                }
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::exit(130);
                }
            });
        });
    }

    /// Whether it is to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state.stopped.load(Ordering::Acquire)
    }

    /// Whether requests under way are abandoned.
    #[must_use]
    pub fn abandons_requests(&self) -> bool {
        self.state.abandon_requests.load(Ordering::Acquire)
    }

    /// Whether it is to pause.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.state.paused.load(Ordering::Acquire)
    }

    pub(crate) async fn changed(&self) {
        self.state.changed.notified().await;
    }
}
