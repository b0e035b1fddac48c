//! The handle of a store, [`Store`], and the state behind it that all clones share.
//!
//! [`opening`] creates and opens stores and starts their threads, [`adding`] holds the writes and checks,
//! [`getting`] reads documents, [`maintenance`] flushes, counts and removes derived files, [`restoring`]
//! makes backups and stores of them, [`sharing`] opens stores in PostgreSQL, [`copying`]
//! copies from one place to another.

mod adding;
mod copying;
mod getting;
mod late;
mod maintenance;
mod opening;
mod restoring;
mod sharing;

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use wonbon_progress::Cancellation;

pub use adding::Pending;
pub use maintenance::DiskBytes;
pub use restoring::OldStore;
pub use sharing::{Follow, SharedState};

use crate::counts::Counted;
use crate::error::StoreError;
use crate::follower::{Notifier, Wake};
use crate::params::StoreParams;
use crate::prepare::Preparer;
use crate::search::SearchState;
use crate::shared_index::SharedIndex;
use crate::shingle_index::{ShingleFollowing, ShingleState};
use crate::store_files::{StoreFiles, WriteLock};
use crate::tables::{Backend, Reading};
use crate::writer::Request;
use crate::writer_queue::WriterQueue;

/// The most idle reading connections that are kept.
const MOST_IDLE_READERS: usize = 16;

/// Documents, the decision whether they copy an earlier one, and search, as one durable thing.
///
/// Clones are the same store; it may be used from many threads. Dropping the last one ends it
/// cleanly; [`Store::close`] does so too and says if something went wrong.
///
/// ```
/// use wonbon_store::{Kind, NewDocument, Store, StoreParams};
/// use wonbon_time::Timestamp;
/// let directory = std::env::temp_dir().join(format!("wonbon-doc-{}", std::process::id()));
/// let store = Store::create(&directory, &StoreParams::default())?;
/// let text = "the ferry did not come that morning and the whole village stood waiting on the quay";
/// let (first, second) = (Timestamp::from_seconds(1), Timestamp::from_seconds(2));
/// store.add(&NewDocument::text("a", Some(first), text))?;
/// let scrap = store.add(&NewDocument::text("b", Some(second), text))?;
/// assert_eq!(scrap.verdict.kind, Kind::Identical);
/// assert_eq!(scrap.verdict.original.as_deref(), Some("a"));
/// store.close()?;
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), wonbon_store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
    /// What stops the questions that are asked through this handle.
    cancellation: Option<Cancellation>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("directory", &self.inner.files.directory)
            .finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    pub(crate) files: StoreFiles,
    pub(crate) params: StoreParams,
    pub(crate) identity: String,
    pub(crate) preparer: Preparer,
    /// Where the tables are.
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) index: Arc<SharedIndex>,
    /// Whether the index follows what is written, or stays as it was at the opening.
    pub(crate) follows_changes: bool,
    /// Why the index was not read from its snapshot, if one was there.
    pub(crate) rebuilt: Option<String>,
    pub(crate) search: Arc<SearchState>,
    pub(crate) shingles: Arc<ShingleState>,
    /// In a store that only reads: the index of shingles and the last change it has seen.
    pub(crate) reading_shingles: Mutex<Option<(ShingleFollowing, u64)>>,
    readers: Mutex<Vec<Box<dyn Reading>>>,
    counted: Mutex<Counted>,
    turn_rate: Mutex<sharing::TurnRate>,
    /// Whether it keeps search and the index of shingles.
    pub(crate) follows: Follow,
    /// What was derived when it was opened is of the store's history up to this change.
    trusted: u64,
    writing: Mutex<Option<Writing>>,
}

/// What only the writing process has.
struct Writing {
    queue: WriterQueue,
    writer: JoinHandle<()>,
    /// Checkpoints, where there is a log; or what waits for changes of other processes.
    helper: JoinHandle<()>,
    /// Ends the helper, where dropping the writer does not.
    stop_helper: Option<Box<dyn FnOnce() + Send>>,
    /// None where nothing is followed.
    search: Option<Following>,
    shingles: Option<Following>,
    _lock: WriteLock,
}

/// A thread that keeps something derived up.
struct Following {
    notifier: Notifier,
    thread: JoinHandle<()>,
}

impl Store {
    /// Where it is, as it may be shown: a directory, or the address of a PostgreSQL without its password.
    #[must_use]
    pub fn place(&self) -> String {
        self.inner.backend.place()
    }

    /// The directory of its files; of a store in PostgreSQL, of what this process derives.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.inner.files.directory
    }

    /// How it decides.
    #[must_use]
    pub fn params(&self) -> &StoreParams {
        &self.inner.params
    }

    /// Why the index had to be rebuilt when the store was opened, although there was a snapshot.
    #[must_use]
    pub fn index_rebuilt(&self) -> Option<&str> {
        self.inner.rebuilt.as_deref()
    }

    /// The same store; questions asked through this handle end with [`StoreError::Cancelled`] once
    /// `cancellation` says so. Writes are never given up half-way and do not ask it.
    #[must_use]
    pub fn with_cancellation(&self, cancellation: Cancellation) -> Store {
        Store { inner: self.inner.clone(), cancellation: Some(cancellation) }
    }

    /// The same store without a cancellation: what was stored is acknowledged in any case.
    pub(crate) fn uncancelled(&self) -> Store {
        Store { inner: self.inner.clone(), cancellation: None }
    }

    /// Ends a question that was cancelled.
    pub(crate) fn check_cancelled(&self) -> Result<(), StoreError> {
        match self.cancellation.as_ref().is_some_and(Cancellation::is_cancelled) {
            true => Err(StoreError::Cancelled),
            false => Ok(()),
        }
    }

    /// Where requests to the writer go.
    pub(crate) fn writer_queue(&self) -> Result<WriterQueue, StoreError> {
        match &*self.inner.writing.lock().expect("no one panics with it") {
            Some(writing) => Ok(writing.queue.clone()),
            None => Err(StoreError::ReadOnly { path: self.inner.files.directory.clone() }),
        }
    }

    /// Refuses what needs an index that this process does not keep.
    pub(crate) fn check_followed(&self, which: &'static str) -> Result<(), StoreError> {
        self.inner.check_followed(which)
    }

    /// Runs a question on one state of the database.
    pub(crate) fn reading<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&dyn Reading) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(cancellation) = &self.cancellation else { return self.inner.reading(question) };
        self.check_cancelled()?;
        let cancellation = cancellation.clone();
        self.inner.reading(|database| {
            database.cancel_when(Some(cancellation));
            let answer = question(database);
            database.cancel_when(None);
            answer
        })
    }
}

impl Inner {
    pub(crate) fn reading<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&dyn Reading) -> Result<T, E>,
    ) -> Result<T, E> {
        let database = self.begun_reader()?;
        let answer = question(&*database);
        // A connection that fails now has answered all the same; another takes its place.
        if database.end().is_ok() {
            self.return_reader(database);
        }
        answer
    }

    pub(crate) fn check_followed(&self, which: &'static str) -> Result<(), StoreError> {
        match self.follows {
            Follow::All => Ok(()),
            Follow::Nothing => Err(StoreError::NotFollowed { which }),
        }
    }

    /// A connection that reads one state.
    fn begun_reader(&self) -> Result<Box<dyn Reading>, StoreError> {
        loop {
            let idle = self.readers.lock().expect("no one panics with it").pop();
            let Some(database) = idle else { break };
            // An idle connection may have been cut: the next is tried.
            if database.begin().is_ok() {
                return Ok(database);
            }
        }
        let database = self.backend.reader()?;
        database.begin()?;
        Ok(database)
    }

    fn return_reader(&self, database: Box<dyn Reading>) {
        let mut readers = self.readers.lock().expect("no one panics with it");
        if readers.len() < MOST_IDLE_READERS {
            readers.push(database);
        }
    }

    /// Wakes the search thread; returns whether there is one.
    pub(crate) fn wake_search(&self, wake: Wake) -> bool {
        match &*self.writing.lock().expect("no one panics with it") {
            Some(Writing { search: Some(search), .. }) => search.notifier.wake(wake),
            _ => false,
        }
    }

    /// Wakes the thread of the index of shingles; returns whether there is one.
    pub(crate) fn wake_shingles(&self, wake: Wake) -> bool {
        match &*self.writing.lock().expect("no one panics with it") {
            Some(Writing { shingles: Some(shingles), .. }) => shingles.notifier.wake(wake),
            _ => false,
        }
    }

    /// Ends the writer and waits for it.
    fn end(&self) {
        let writing = self.writing.lock().expect("no one panics with it").take();
        if let Some(Writing { queue, writer, helper, stop_helper, search, shingles, _lock }) =
            writing
        {
            // The writer wakes the followers, and they tell the writer how far they are: all end when
            // the store lets go of them. A thread that panicked has told its clients.
            for following in [&search, &shingles].into_iter().flatten() {
                let (reply, committed) = mpsc::channel();
                if following.notifier.wake(Wake::Commit(reply)) {
                    let _ = committed.recv();
                }
            }
            if let Some(stop) = stop_helper {
                stop();
            }
            let _ = queue.enqueue(Request::End);
            let _ = writer.join();
            drop(queue);
            let _ = helper.join();
            for Following { notifier, thread } in [search, shingles].into_iter().flatten() {
                drop(notifier);
                let _ = thread.join();
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
    }
}
