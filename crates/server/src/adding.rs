//! Adds on their way: handed to the store's one writer by [`wonbon_app::intake`], waited for by one thread.
//!
//! The writer commits everything in its queue at once and acknowledges in the order of the queue. So one thread
//! can wait for all acknowledgements in that order and answer every client without delay: a hundred clients
//! that add at the same time share one fsync and need no thread each.
//!
//! Documents under way are bounded by their bytes ([`PERMITS`]): a request beyond that is refused with
//! `Retry-After`, and a stream is not read any further until there is room.
//!
//! Guarantee: every document that was submitted is acknowledged to its client, also while the service shuts down.

use std::sync::{Arc, mpsc};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use wonbon_app::intake::{IntakeName, Outcome, ReadyDocument, SubmittedDocument};
use wonbon_store::{Store, StoreError};

use crate::metrics::Metrics;
use crate::problem::{Code, Problem};

/// With what jobs hand over meanwhile, fewer than the store's own queue holds, so that handing over never
/// waits.
const PERMITS: u32 = 3500;

/// Each permit stands for so many bytes of a document.
const BYTES_PER_PERMIT: usize = 64 << 10;

/// Something on its way.
struct Waiting {
    submitted: SubmittedDocument,
    since: Instant,
    tell: oneshot::Sender<Result<Outcome, StoreError>>,
    _room: OwnedSemaphorePermit,
}

/// Room for a document of some size.
pub(crate) struct Room(OwnedSemaphorePermit);

/// Hands adds to the store and tells what became of them.
pub(crate) struct Adding {
    store: Store,
    metrics: Arc<Metrics>,
    room: Arc<Semaphore>,
    queue: mpsc::Sender<Waiting>,
}

impl Adding {
    /// Starts the thread that waits.
    pub(crate) fn start(store: Store, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let (queue, waiting) = mpsc::channel::<Waiting>();
        let counted = metrics.clone();
        std::thread::Builder::new().name("wonbon-acknowledge".to_owned()).spawn(move || {
            for Waiting { submitted, since, tell, _room } in waiting {
                let outcome = submitted.wait();
                counted.waiting.dec();
                match &outcome {
                    Ok(Outcome::Added { added, .. }) => counted.added(added, since.elapsed()),
                    Ok(Outcome::Redirected) => counted.redirected(),
                    Ok(Outcome::PassedOver) => {}
                    Err(_) => counted.refused(),
                }
                // Whoever went away does not hear what is true all the same.
                let _ = tell.send(outcome);
            }
        })?;
        let room = Arc::new(Semaphore::new(PERMITS as usize));
        Ok(Adding { store, metrics, room, queue })
    }

    fn permits(bytes: usize) -> u32 {
        u32::try_from(1 + bytes / BYTES_PER_PERMIT).unwrap_or(PERMITS).min(PERMITS)
    }

    /// Room for so many bytes, if there is any now.
    pub(crate) fn room(&self, bytes: usize) -> Result<Room, Problem> {
        let permit = self.room.clone().try_acquire_many_owned(Self::permits(bytes));
        permit.map(Room).map_err(|_| {
            Problem::new(Code::Busy, "as many documents as there is room for are being stored")
        })
    }

    /// Room for so many bytes, as soon as there is.
    pub(crate) async fn wait_for_room(&self, bytes: usize) -> Room {
        let permit = self.room.clone().acquire_many_owned(Self::permits(bytes)).await;
        Room(permit.expect("nobody closes it"))
    }

    /// Hands a document over; what it is called, and the receiver that is told when it is durable.
    pub(crate) fn submit(
        &self,
        ready: ReadyDocument,
        since: Instant,
        Room(room): Room,
    ) -> Result<(IntakeName, OutcomeReceiver), Problem> {
        let submitted = ready.submit(&self.store)?;
        let name = submitted.name().clone();
        let (tell, told) = oneshot::channel();
        self.metrics.waiting.inc();
        self.queue
            .send(Waiting { submitted, since, tell, _room: room })
            .map_err(|_| Problem::new(Code::ShuttingDown, "nothing more is stored"))?;
        Ok((name, OutcomeReceiver(told)))
    }
}

/// Receives what became of a document, once that is durable.
pub(crate) struct OutcomeReceiver(oneshot::Receiver<Result<Outcome, StoreError>>);

impl OutcomeReceiver {
    /// Waits for it.
    pub(crate) async fn wait(self) -> Result<Outcome, Problem> {
        match self.0.await {
            Ok(outcome) => Ok(outcome?),
            Err(_) => Err(Problem::new(Code::ShuttingDown, "nobody can say whether it was stored")),
        }
    }
}
