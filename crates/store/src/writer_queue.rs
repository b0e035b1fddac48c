//! The queue of requests to the writer, and which thread serves it.
//!
//! One thread at a time is the active writer: the one that holds the lock on [`ActiveWriter`]. The store's
//! own thread serves the queue, and so does a client that waits for its answer anyway and finds the lock
//! free. So a single client decides and commits in its own thread, without waking another thread for each
//! document. With several clients the lock is usually taken; requests gather in the meantime, and the
//! thread commits them in groups.
//!
//! Guarantee: a queued request is served. A client that queues a request either becomes the active writer
//! or wakes the thread, which reads the queue after it was woken. If the active writer panics, nothing is
//! written any more and every waiting client gets an error.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, TryLockError};

use crate::error::StoreError;
use crate::writer::{Request, Writer};

/// How many requests may wait for the writer before clients do.
const QUEUE: usize = 4096;

/// The most requests that share a commit.
const MOST_GROUP: usize = 1024;

/// Where requests to the writer go.
#[derive(Clone)]
pub(crate) struct WriterQueue {
    requests: SyncSender<Request>,
    /// How many were queued and not taken yet.
    waiting: Arc<AtomicU64>,
    /// None once the writer has ended.
    active: Arc<Mutex<Option<ActiveWriter>>>,
    wake_sender: SyncSender<()>,
}

/// The thread that holds its lock is the writer.
struct ActiveWriter {
    writer: Writer,
    queue: Receiver<Request>,
    waiting: Arc<AtomicU64>,
    ended: bool,
}

/// The thread that serves requests that no client serves.
pub(crate) struct WriterThread {
    active: Arc<Mutex<Option<ActiveWriter>>>,
    woken: Receiver<()>,
}

/// Who serves.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Client,
    Thread,
}

impl WriterQueue {
    /// A queue for this writer, and what its thread is to run.
    pub(crate) fn new(writer: Writer) -> (Self, WriterThread) {
        let (requests, queue) = sync_channel(QUEUE);
        let (wake_sender, woken) = sync_channel(1);
        let waiting = Arc::new(AtomicU64::new(0));
        let active = ActiveWriter { writer, queue, waiting: waiting.clone(), ended: false };
        let active = Arc::new(Mutex::new(Some(active)));
        let thread = WriterThread { active: active.clone(), woken };
        (WriterQueue { requests, waiting, active, wake_sender }, thread)
    }

    /// The sender of the queue, for requests that need no answer and can wait until the next write.
    pub(crate) fn requests(&self) -> SyncSender<Request> {
        self.requests.clone()
    }

    /// How many requests of clients wait to be taken.
    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Queues a request for the thread.
    pub(crate) fn enqueue(&self, request: Request) -> Result<(), StoreError> {
        self.push(request)?;
        self.wake_thread();
        Ok(())
    }

    /// Queues a request whose answer this thread waits for. If no other thread is the active writer, it serves the queue.
    pub(crate) fn enqueue_and_serve(&self, request: Request) -> Result<(), StoreError> {
        self.push(request)?;
        match self.active.try_lock() {
            Ok(mut active) => {
                let served = active.as_mut().is_some_and(|active| active.serve(Who::Client));
                drop(active);
                if !served {
                    self.wake_thread();
                }
            }
            Err(TryLockError::WouldBlock) => self.wake_thread(),
            Err(TryLockError::Poisoned(_)) => {
                self.wake_thread();
                return Err(writer_ended());
            }
        }
        Ok(())
    }

    /// Does something with the writer, as the only one.
    #[cfg(test)]
    pub(crate) fn with_writer<T>(&self, work: impl FnOnce(&mut Writer) -> T) -> T {
        let mut active = self.active.lock().expect("no one panics with it");
        work(&mut active.as_mut().expect("it has not ended").writer)
    }

    /// Says why nothing is written any more, if so. It does not wait: a thread that writes is no reason.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self.active.try_lock() {
            Ok(active) => match &*active {
                Some(active) => active.writer.check(),
                None => Err(writer_ended()),
            },
            Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Poisoned(_)) => Err(writer_ended()),
        }
    }

    fn push(&self, request: Request) -> Result<(), StoreError> {
        if request.is_of_client() {
            self.waiting.fetch_add(1, Ordering::Relaxed);
        }
        match self.requests.try_send(request) {
            Err(TrySendError::Full(request)) => {
                self.wake_thread();
                self.requests.send(request).map_err(|_| writer_ended())
            }
            Err(TrySendError::Disconnected(_)) => Err(writer_ended()),
            Ok(()) => Ok(()),
        }
    }

    fn wake_thread(&self) {
        // A full channel has a wake-up pending; without a thread there is nobody to wake.
        let _ = self.wake_sender.try_send(());
    }
}

/// The error of a request that comes after the writer has ended.
pub(crate) fn writer_ended() -> StoreError {
    StoreError::Stopped { what: "the writer has ended".to_owned() }
}

impl WriterThread {
    /// Serves requests until the last one.
    pub(crate) fn run(self) {
        while self.woken.recv().is_ok() {
            let mut slot = match self.active.lock() {
                Ok(slot) => slot,
                Err(poisoned) => {
                    // A client panicked while it was the writer: dropping the queue answers all who wait.
                    *poisoned.into_inner() = None;
                    break;
                }
            };
            let Some(active) = slot.as_mut() else { break };
            while !active.serve(Who::Thread) {}
            if active.ended {
                active.writer.end();
                *slot = None;
                break;
            }
        }
    }
}

impl ActiveWriter {
    /// Serves the queued requests; returns whether nothing is left for the thread to do.
    fn serve(&mut self, who: Who) -> bool {
        let mut group = Vec::new();
        let mut flushes = Vec::new();
        for request in self.queue.try_iter().take(MOST_GROUP) {
            if request.is_of_client() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
            }
            match request {
                Request::End => self.ended = true,
                Request::Flush(reply) => flushes.push(reply),
                request => group.push(request),
            }
        }
        let full = group.len() + flushes.len() >= MOST_GROUP;
        self.writer.serve_all(group);
        let flush = !flushes.is_empty();
        if who == Who::Thread || flush {
            let kept = self.writer.maintain(flush);
            for reply in flushes {
                // Nobody waits any more: nothing to tell.
                let _ = reply.send(kept.as_ref().copied().map_err(StoreError::again));
            }
            return !full;
        }
        !full && !self.ended && !self.writer.is_snapshot_due()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use wonbon_time::Timestamp;

    use super::*;
    use crate::document::Expected;
    use crate::{NewDocument, Store, StoreParams};

    #[test]
    fn a_refused_request_fails_alone_and_the_others_share_a_commit() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path(), &StoreParams::default()).unwrap();
        let day = |day: i64| Timestamp::from_seconds(day * 86_400);
        store.add(&NewDocument::text("swept", None, "one two three").seen(day(5))).unwrap();
        let add = |document: &NewDocument<'_>| {
            let (reply, answer) = channel();
            (Request::Add(Box::new(store.prepare(document).unwrap()), reply), answer)
        };
        let (first, first_answer) = add(&NewDocument::text("first", None, "four five six"));
        let early = NewDocument::text("early", None, "seven eight nine").seen(day(4));
        let (early, early_answer) = add(&early);
        let (reply, kept_answer) = channel();
        let (key, who) = ("swept".to_owned(), "somebody".to_owned());
        let kept = Request::Delete { key, expected: Some(Expected::Absent), who, reply };
        let (last, last_answer) = add(&NewDocument::text("last", None, "ten eleven twelve"));

        let turns = store.inner.index.turns();
        let queue = store.writer_queue().unwrap();
        queue.with_writer(|writer| writer.serve_all(vec![first, early, kept, last]));
        assert_eq!(store.inner.index.turns(), turns + 1);
        assert!(first_answer.recv().unwrap().is_ok() && last_answer.recv().unwrap().is_ok());
        let early = early_answer.recv().unwrap();
        assert!(matches!(early, Err(StoreError::SweepTooEarly { .. })), "{early:?}");
        let kept = kept_answer.recv().unwrap();
        assert!(matches!(kept, Err(StoreError::NotAsExpected { .. })), "{kept:?}");
        for (key, there) in [("first", true), ("early", false), ("swept", true), ("last", true)] {
            assert_eq!(store.get(key).unwrap().is_some(), there, "{key}");
        }
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    }
}
