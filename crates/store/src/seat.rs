//! The writer's seat: one writes at a time, and whoever sits here is the writer.
//!
//! Requests queue up. The store's own thread serves them, and so does a client that waits for its
//! answer anyway and finds the seat free. So a single client decides and commits in its own thread, and
//! no two threads have to wake each other for every document. With more
//! clients than one the seat is mostly taken, requests gather meanwhile, and the thread commits them in
//! groups.
//!
//! Guarantee: a queued request is served. Whoever queues one either takes the seat or rings for the
//! thread, which looks into the queue after it was rung for. Should somebody panic in the seat, nobody
//! writes any more and everyone who waits is told so.

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
pub(crate) struct Seat {
    requests: SyncSender<Request>,
    /// None once the writer has ended.
    sitting: Arc<Mutex<Option<Sitting>>>,
    bell: SyncSender<()>,
}

/// Whoever holds it is the writer.
struct Sitting {
    writer: Writer,
    queue: Receiver<Request>,
    ended: bool,
}

/// The thread that serves what no client does.
pub(crate) struct SeatThread {
    sitting: Arc<Mutex<Option<Sitting>>>,
    rung: Receiver<()>,
}

/// Who serves.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Client,
    Thread,
}

impl Seat {
    /// A seat for this writer, and what its thread is to run.
    pub(crate) fn new(writer: Writer) -> (Self, SeatThread) {
        let (requests, queue) = sync_channel(QUEUE);
        let (bell, rung) = sync_channel(1);
        let sitting = Sitting { writer, queue, ended: false };
        let sitting = Arc::new(Mutex::new(Some(sitting)));
        let thread = SeatThread { sitting: sitting.clone(), rung };
        (Seat { requests, sitting, bell }, thread)
    }

    /// The entrance of the queue, for what needs no answer and can wait until somebody writes.
    pub(crate) fn requests(&self) -> SyncSender<Request> {
        self.requests.clone()
    }

    /// Queues a request for the thread.
    pub(crate) fn leave(&self, request: Request) -> Result<(), StoreError> {
        self.queue(request)?;
        self.ring();
        Ok(())
    }

    /// Queues a request whose answer is waited for here; serves it, and whatever else is queued, if
    /// nobody is at it.
    pub(crate) fn serve(&self, request: Request) -> Result<(), StoreError> {
        self.queue(request)?;
        match self.sitting.try_lock() {
            Ok(mut sitting) => {
                let served = sitting.as_mut().is_some_and(|sitting| sitting.serve(Who::Client));
                drop(sitting);
                if !served {
                    self.ring();
                }
            }
            Err(TryLockError::WouldBlock) => self.ring(),
            Err(TryLockError::Poisoned(_)) => {
                self.ring();
                return Err(ended());
            }
        }
        Ok(())
    }

    fn queue(&self, request: Request) -> Result<(), StoreError> {
        match self.requests.try_send(request) {
            Err(TrySendError::Full(request)) => {
                self.ring();
                self.requests.send(request).map_err(|_| ended())
            }
            Err(TrySendError::Disconnected(_)) => Err(ended()),
            Ok(()) => Ok(()),
        }
    }

    fn ring(&self) {
        // A full bell rings already; without a thread there is nobody left to hear it.
        let _ = self.bell.try_send(());
    }
}

/// What a request is told that comes too late.
pub(crate) fn ended() -> StoreError {
    StoreError::Stopped { what: "the writer has ended".to_owned() }
}

impl SeatThread {
    /// Serves requests until the last one.
    pub(crate) fn run(self) {
        while self.rung.recv().is_ok() {
            let mut seat = match self.sitting.lock() {
                Ok(seat) => seat,
                Err(poisoned) => {
                    // A client panicked in the seat: whoever waits in the queue is told by its end.
                    *poisoned.into_inner() = None;
                    break;
                }
            };
            let Some(sitting) = seat.as_mut() else { break };
            while !sitting.serve(Who::Thread) {}
            if sitting.ended {
                sitting.writer.end();
                *seat = None;
                break;
            }
        }
    }
}

impl Sitting {
    /// Serves what is queued; tells whether nothing is left for the thread to do.
    fn serve(&mut self, who: Who) -> bool {
        let mut group = Vec::new();
        let mut flushes = Vec::new();
        for request in self.queue.try_iter().take(MOST_GROUP) {
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
            let kept = self.writer.keep_house(flush);
            for reply in flushes {
                // Nobody waits any more: nothing to tell.
                let _ = reply.send(kept.as_ref().copied().map_err(StoreError::again));
            }
            return !full;
        }
        !full && !self.ended && !self.writer.house_is_due()
    }
}
