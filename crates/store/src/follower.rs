//! A thread that keeps a derived index up to date with the database.
//!
//! A follower reads the outbox: which documents changed, in order. It applies the changes to its index and
//! commits from time to time, with the number of the last change it has applied. Adds do not wait for it.
//! After a crash it continues from its last commit. An index that is damaged, missing or belongs to another
//! store is built again from all documents.
//!
//! The trait [`Derived`] is what an index implements to be kept up to date; search and the index of
//! shingles implement it.
//!
//! On Linux a follower and the threads it starts (tantivy's) run at nice +10. With one client on two cores
//! that gave a tenth more adds per second and half the 99th percentile; under full load search fell behind
//! by a fifth more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};

use wonbon_index::Row;

use crate::error::StoreError;
use crate::shared_index::SharedIndex;
use crate::tables::Reading;
use crate::writer::Request;

/// Changes read from the outbox at a time. Not more, because the WAL cannot restart while they are read.
const BATCH: usize = 512;

/// Fewer changes than these are few for a commit.
const FEW: u64 = 1000;

/// How long a thread waits for more changes after the first, unless a caller waits for it. A hundred changes at once
/// cost less than a hundred single ones, and adds have the cores in the meantime.
const GATHER: Duration = Duration::from_millis(25);

/// How long there are no changes before the thread tidies up.
const REST_AFTER: Duration = Duration::from_secs(2);

/// How long changes are tried to be read when the database does not answer, before whoever waits is told, and how long
/// a thread waits in between.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The nice level of a follower: on a core that other threads want too it gets a tenth of the time.
#[cfg(target_os = "linux")]
const FOLLOWER_NICE: i32 = 10;

/// Notifies a follower of changes, once until it has woken up.
#[derive(Debug, Clone)]
pub(crate) struct Notifier {
    notified: Arc<AtomicBool>,
    wakes: Sender<Wake>,
}

impl Notifier {
    /// The flag that is set by a notification, for the follower.
    pub(crate) fn notified(&self) -> Arc<AtomicBool> {
        self.notified.clone()
    }

    pub(crate) fn new(wakes: Sender<Wake>) -> Self {
        Notifier { notified: Arc::default(), wakes }
    }

    /// Notifies the follower that there are changes.
    pub(crate) fn notify(&self) {
        if !self.notified.swap(true, Ordering::AcqRel) {
            // Without a follower there is nobody to wake.
            let _ = self.wakes.send(Wake::Changed);
        }
    }

    /// Whether the thread is there; wakes it.
    pub(crate) fn wake(&self, wake: Wake) -> bool {
        self.wakes.send(wake).is_ok()
    }
}

/// What wakes the thread.
pub(crate) enum Wake {
    /// There are changes.
    Changed,
    /// A caller waits until readers see everything stored so far.
    CatchUp(Sender<Result<(), StoreError>>),
    /// A caller waits until everything stored so far is committed too.
    Commit(Sender<Result<(), StoreError>>),
    /// A reader found damage, and waits until the index is rebuilt.
    Anew(Sender<Result<(), StoreError>>),
}

/// An index that is derived from the documents and can be rebuilt from them.
pub(crate) trait Derived {
    /// What it is, in messages.
    const NAME: &'static str;
    /// How long a change waits for a commit when few changes wait, and how long when many do: then more changes share the
    /// cost of a commit.
    const COMMIT_AFTER: [Duration; 2];
    /// Changes after which a commit is made however little time has passed.
    const COMMIT_CHANGES: u64;
    /// Whether readers see only what is committed.
    const SEEN_WHEN_COMMITTED: bool;

    /// Opens the existing index, which is unusable after damage was found in it. Returns the mark of its last commit, 0 if
    /// there is nothing usable.
    fn open(&mut self, after_damage: bool) -> Result<u64, StoreError>;
    /// Takes in all documents.
    fn take_all(&mut self, database: &dyn Reading) -> Result<(), StoreError>;
    /// Takes in documents that changed.
    fn take(&mut self, database: &dyn Reading, rows: &[Row]) -> Result<(), StoreError>;
    /// Everything up to this change was taken in.
    fn has_taken(&self, _seen: u64) {}
    /// Makes what was taken in durable, with the mark.
    fn commit(&mut self, mark: u64) -> Result<(), StoreError>;
    /// Nothing has come for [`REST_AFTER`], and everything up to this change is committed: tidies up,
    /// without keeping the thread. Returns whether to call it again if there are still no changes.
    fn rest(&mut self, _mark: u64) -> Result<bool, StoreError> {
        Ok(false)
    }
    /// Ends it.
    fn close(self);
    /// Whether this error means that the existing index is unusable.
    fn is_damage(error: &StoreError) -> bool;
    /// The request that tells the writer which changes are durable in the index.
    fn seen_request(mark: u64) -> Request;
}

/// The thread that follows.
pub(crate) struct Follower<D> {
    pub(crate) derived: D,
    pub(crate) database: Box<dyn Reading>,
    pub(crate) requests: SyncSender<Request>,
    /// Set when the thread was notified of changes.
    pub(crate) notified: Arc<AtomicBool>,
    /// The index in memory, and how often it had been read anew when this thread last began anew: what other processes did
    /// cannot be followed then, or the history is another one.
    pub(crate) index: Arc<SharedIndex>,
    pub(crate) begun_anew: u64,
    /// What was derived before is used up to this change.
    pub(crate) trusted: u64,
}

/// How far it is.
struct Progress {
    /// The last change that was taken in, and the last that was committed.
    seen: u64,
    committed: u64,
    /// When the first change since the last commit was taken in.
    since: Option<Instant>,
}

impl Progress {
    /// How long the next commit can wait, if there is something to commit.
    fn commit_in<D: Derived>(&self) -> Option<Duration> {
        let pending = self.seen - self.committed;
        let [few, many] = D::COMMIT_AFTER;
        let patience = match pending {
            0..FEW => few,
            _ if pending < D::COMMIT_CHANGES => many,
            _ => Duration::ZERO,
        };
        self.since.map(|since| patience.saturating_sub(since.elapsed()))
    }
}

impl<D: Derived> Follower<D> {
    /// Runs until every sender of wake-ups is dropped.
    pub(crate) fn run(mut self, wakes: &Receiver<Wake>) {
        // Only Linux applies this to one thread. Where it is refused, the thread keeps its nice level.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(FOLLOWER_NICE);
        let mut progress = self.open(false);
        let (mut rested, mut again) = (false, progress.as_ref().is_err_and(StoreError::is_passing));
        loop {
            let wait = match &progress {
                _ if again => Some(AGAIN_AFTER),
                Ok(progress) => progress.commit_in::<D>().or((!rested).then_some(REST_AFTER)),
                Err(_) => None,
            };
            let wake = match wait {
                None => wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => wakes.recv_timeout(wait),
            };
            if let (
                false,
                Err(RecvTimeoutError::Timeout),
                Ok(Progress { since: None, committed, .. }),
            ) = (again, &wake, &progress)
            {
                match self.derived.rest(*committed) {
                    Ok(again) => rested = !again,
                    Err(error) => progress = self.after(error),
                }
                continue;
            }
            rested = false;
            let (mut waiting, mut commit_now, mut damaged) = (Vec::new(), false, false);
            let mut handle = |wake| match wake {
                Wake::Changed => {}
                Wake::CatchUp(reply) => {
                    commit_now |= D::SEEN_WHEN_COMMITTED;
                    waiting.push(reply);
                }
                Wake::Commit(reply) => {
                    commit_now = true;
                    waiting.push(reply);
                }
                Wake::Anew(reply) => {
                    damaged = true;
                    waiting.push(reply);
                }
            };
            match wake {
                Ok(Wake::Changed) => {
                    if let Ok(asked) = wakes.recv_timeout(GATHER) {
                        handle(asked);
                    }
                }
                Ok(wake) => handle(wake),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(more) = wakes.try_recv() {
                handle(more);
            }
            self.notified.store(false, Ordering::Release);
            let passing = progress.as_ref().is_err_and(StoreError::is_passing);
            if damaged || passing || (progress.is_err() && !waiting.is_empty()) {
                progress = self.open(damaged);
            }
            let caught_up = match &mut progress {
                Ok(progress) => self.follow_patiently(progress, commit_now),
                Err(error) => Err(repeat_error::<D>(error)),
            };
            // What passes by itself is tried again, also if nobody asks. What was taken in stays.
            again = match &progress {
                Ok(_) => caught_up.as_ref().is_err_and(StoreError::is_passing),
                Err(error) => error.is_passing(),
            };
            for reply in waiting {
                // Nobody waits any more: nothing to tell.
                let _ = reply.send(caught_up.as_ref().copied().map_err(repeat_error::<D>));
            }
            if let (Err(error), Ok(_), false) = (caught_up, &progress, again) {
                progress = self.after(error);
            }
        }
        if let Ok(mut progress) = progress {
            // What is not committed now is taken in again at the next opening.
            let _ = self.follow(&mut progress, true);
            self.derived.close();
        }
    }

    fn open(&mut self, after_damage: bool) -> Result<Progress, StoreError> {
        let mark = self.derived.open(after_damage)?;
        let mut progress = Progress { seen: mark, committed: mark, since: None };
        let (last, forgotten) = self.database.last_change()?;
        // A mark behind the last change is of a history that was lost.
        if mark < forgotten || mark == 0 || mark > last.min(self.trusted) {
            self.begin_anew(&mut progress)?;
        }
        // What this thread makes from now on is of the history that it reads.
        self.trusted = u64::MAX;
        self.follow(&mut progress, false)?;
        self.report_to_writer(progress.committed);
        Ok(progress)
    }

    /// Rebuilds a damaged index. After any other failure the index is opened again at the next request.
    fn after(&mut self, error: StoreError) -> Result<Progress, StoreError> {
        if D::is_damage(&error) { self.open(true) } else { Err(error) }
    }

    fn report_to_writer(&self, mark: u64) {
        // A full queue means that more is coming; the writer hears of a later mark.
        let _ = self.requests.try_send(D::seen_request(mark));
    }

    /// Takes in every document, from one state of the database.
    fn begin_anew(&mut self, progress: &mut Progress) -> Result<(), StoreError> {
        self.database.begin()?;
        let last = self.database.last_change();
        let taken = self.derived.take_all(&*self.database);
        self.database.end()?;
        taken?;
        progress.seen = last?.0;
        self.derived.commit(progress.seen)?;
        progress.committed = progress.seen;
        Ok(())
    }

    /// As [`Self::follow`]; a connection that was cut is opened again for a while.
    fn follow_patiently(
        &mut self,
        progress: &mut Progress,
        commit_now: bool,
    ) -> Result<(), StoreError> {
        let begun = Instant::now();
        loop {
            match self.follow(progress, commit_now) {
                Err(error) if error.is_passing() && begun.elapsed() < PATIENCE => {
                    std::thread::sleep(AGAIN_AFTER);
                }
                followed => return followed,
            }
        }
    }

    /// Takes in what changed; commits when it is time, or now.
    fn follow(&mut self, progress: &mut Progress, commit_now: bool) -> Result<(), StoreError> {
        let begun_anew = self.index.begun_anew();
        if begun_anew != self.begun_anew {
            self.begin_anew(progress)?;
            self.begun_anew = begun_anew;
        }
        loop {
            self.database.begin()?;
            let taken = self.take_changes(progress);
            self.database.end()?;
            let more = taken?;
            self.derived.has_taken(progress.seen);
            // While documents keep coming there is always more.
            let due = progress.commit_in::<D>().is_some_and(|wait| wait.is_zero());
            if due || (commit_now && !more && progress.seen > progress.committed) {
                self.derived.commit(progress.seen)?;
                progress.committed = progress.seen;
                progress.since = None;
                self.report_to_writer(progress.committed);
            }
            if !more {
                return Ok(());
            }
        }
    }

    /// Takes in one batch of changes; returns whether there were any.
    fn take_changes(&mut self, progress: &mut Progress) -> Result<bool, StoreError> {
        let (last, rows) = self.database.changes_after(progress.seen, BATCH)?;
        if rows.is_empty() {
            return Ok(false);
        }
        self.derived.take(&*self.database, &rows)?;
        progress.seen = last;
        progress.since.get_or_insert_with(Instant::now);
        Ok(true)
    }
}

/// A copy of the failure, for every caller that waits.
fn repeat_error<D: Derived>(error: &StoreError) -> StoreError {
    StoreError::Behind { which: D::NAME, what: error.to_string() }
}
