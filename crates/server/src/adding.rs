//! Adds on their way: handed to the store's one writer, waited for by one thread.
//!
//! The writer commits what has queued up in one go and acknowledges in the order of the queue, so one
//! thread that waits for the acknowledgements in that order tells everyone as soon as it could be told.
//! A hundred clients that add at the same time share an fsync and cost no thread each.
//!
//! What is on its way is bounded by its bytes ([`PERMITS`]): a client that adds one document when there
//! is no room is told to come again, a stream is read no further until there is.
//!
//! Guarantee: whatever was handed over is acknowledged to whoever waits, also while the service ends.

use std::sync::{Arc, mpsc};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use wonbon_store::{
    Added, Expected, Pending, PendingRedirect, Prepared, Recognised, Redirect, Store, StoreError,
};
use wonbon_time::Timestamp;

use crate::given::Given;
use crate::metrics::Metrics;
use crate::problem::{Code, Problem};

/// With what jobs hand over meanwhile, fewer than the store's own queue holds, so that handing over never
/// waits.
const PERMITS: u32 = 3500;

/// Each permit stands for so many bytes of a document.
const BYTES_PER_PERMIT: usize = 64 << 10;

/// What became of something that was handed over.
#[derive(Debug)]
pub(crate) enum Done {
    /// A document is durable.
    Added(Added),
    /// A redirect is.
    Redirected,
}

/// Something made ready to be handed over.
pub(crate) enum Ready {
    Document(Box<Prepared>),
    Seen(Box<Recognised>),
    Redirect(Redirect),
}

impl Ready {
    /// Makes something ready: everything that does not depend on other documents. Takes about 40
    /// microseconds for a text of 2 kB.
    pub(crate) fn of(
        store: &Store,
        given: &Given<'_>,
        sweep: Option<Timestamp>,
        expected: Option<Expected>,
    ) -> Result<Self, Problem> {
        match given {
            Given::Document(document) => {
                if sweep.is_some()
                    && expected.is_none()
                    && let Some(recognised) = store.recognise(document)?
                {
                    return Ok(Ready::Seen(Box::new(recognised)));
                }
                let prepared = store.prepare(document)?;
                Ok(Ready::Document(Box::new(match expected {
                    Some(expected) => prepared.only_if(expected),
                    None => prepared,
                })))
            }
            Given::Redirect { key, target, site } => {
                let Some(sweep) = sweep else {
                    let detail =
                        format!("`{key}` only leads to {target}: redirects are noted with `sweep`");
                    return Err(Problem::new(Code::BadJson, detail));
                };
                Ok(Ready::Redirect(Redirect {
                    key: (*key).to_owned(),
                    target: (*target).to_owned(),
                    sweep,
                    site: site.map(str::to_owned),
                }))
            }
        }
    }
}

/// What the store was given.
enum Handed {
    Document(Pending),
    Redirect(PendingRedirect),
}

/// Something on its way.
struct Waiting {
    handed: Handed,
    since: Instant,
    tell: oneshot::Sender<Result<Done, StoreError>>,
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
            for Waiting { handed, since, tell, _room } in waiting {
                let done = match handed {
                    Handed::Document(pending) => pending.wait().map(Done::Added),
                    Handed::Redirect(pending) => pending.wait().map(|_| Done::Redirected),
                };
                counted.waiting.dec();
                match &done {
                    Ok(Done::Added(added)) => counted.added(added, since.elapsed()),
                    Ok(Done::Redirected) => counted.redirected(),
                    Err(_) => counted.refused(),
                }
                // Whoever went away does not hear what is true all the same.
                let _ = tell.send(done);
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

    /// Hands something over; the receiver is told when it is durable.
    pub(crate) fn submit(
        &self,
        ready: Ready,
        since: Instant,
        Room(room): Room,
    ) -> Result<oneshot::Receiver<Result<Done, StoreError>>, Problem> {
        let handed = match ready {
            Ready::Document(prepared) => Handed::Document(self.store.submit(*prepared)?),
            Ready::Seen(recognised) => Handed::Document(self.store.submit_recognised(*recognised)?),
            Ready::Redirect(redirect) => Handed::Redirect(self.store.submit_redirect(&redirect)?),
        };
        let (tell, told) = oneshot::channel();
        self.metrics.waiting.inc();
        self.queue
            .send(Waiting { handed, since, tell, _room: room })
            .map_err(|_| Problem::new(Code::ShuttingDown, "nothing more is stored"))?;
        Ok(told)
    }
}

/// What was told of something that was handed over.
pub(crate) fn told(
    told: Result<Result<Done, StoreError>, oneshot::error::RecvError>,
) -> Result<Done, Problem> {
    match told {
        Ok(done) => Ok(done?),
        Err(_) => Err(Problem::new(Code::ShuttingDown, "nobody can say whether it was stored")),
    }
}
