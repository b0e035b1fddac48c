//! Connections: accepted, served, and closed when the service ends.
//!
//! HTTP/1.1 without encryption: something in front does TLS where it is needed. A connection costs a
//! few kilobytes while it is idle; one that does not send the head of a request in time, or does not read its
//! answer ([`crate::Limits::write_time`]), is closed. An address has a limited number of connections. When
//! the service ends no new connection is taken, idle ones are closed, requests on their way are answered
//! for up to [`crate::Limits::grace`], jobs stop where they can be resumed, and then the store is closed with
//! everything that was acknowledged.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::Service as _;
use wonbon_store::Store;

use crate::connection::TimedWrites;
use crate::open_files::connections_possible;
use crate::routes::{router, table};
use crate::service::{Config, ServerError, Service};

/// How long to wait when the system has no room for another connection.
const NO_ROOM: Duration = Duration::from_millis(50);

/// Bytes that a connection buffers in each direction.
const BUFFER_BYTES: usize = 64 << 10;

/// How many connections each address has.
struct ByAddress {
    most: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection of an address, until it is dropped.
struct PlaceOfAddress {
    of: Arc<ByAddress>,
    address: IpAddr,
}

impl ByAddress {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(ByAddress { most, open: Mutex::new(HashMap::new()) })
    }

    /// A place for one more, if the address may have it.
    fn take(self: &Arc<Self>, address: IpAddr) -> Option<PlaceOfAddress> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.get(&address).copied().unwrap_or(0);
        (count < self.most).then(|| {
            open.insert(address, count + 1);
            PlaceOfAddress { of: self.clone(), address }
        })
    }
}

impl Drop for PlaceOfAddress {
    fn drop(&mut self) {
        let mut open = self.of.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.address);
            }
        }
    }
}

/// A service that listens and does not serve yet.
pub struct Server {
    listener: TcpListener,
    service: Arc<Service>,
    end: watch::Sender<bool>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("config", &self.service.config).finish_non_exhaustive()
    }
}

impl Server {
    /// Listens, for a store that took so long to open.
    ///
    /// # Errors
    ///
    /// [`ServerError::TokensNeeded`], [`ServerError::Tokens`], [`ServerError::Io`].
    pub async fn bind(
        store: Store,
        open_seconds: f64,
        config: Config,
    ) -> Result<Self, ServerError> {
        let (end, ending) = watch::channel(false);
        let listen = config.listen;
        let service = Service::new(store, open_seconds, config, &table(), ending)?;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|source| ServerError::Io { doing: format!("listen on {listen}"), source })?;
        Ok(Server { listener, service: Arc::new(service), end })
    }

    /// Where it listens.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `ended`, then ends as the module says.
    ///
    /// # Errors
    ///
    /// [`ServerError::Store`] if the store could not end cleanly; nothing acknowledged is lost by it.
    pub async fn run(self, ended: impl Future<Output = ()>) -> Result<(), ServerError> {
        let Server { listener, service, end } = self;
        let limits = service.config.limits;
        let connections = connections_possible(limits.connections);
        let room = Arc::new(Semaphore::new(connections));
        let by_address = ByAddress::new(limits.connections_per_address);
        let router = router(service.clone());
        let mut ended = std::pin::pin!(ended);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut ended => break,
            };
            let (stream, address) = match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(NO_ROOM).await;
                    continue;
                }
            };
            let Ok(permit) = room.clone().try_acquire_owned() else {
                tracing::warn!(connections, "no room for another connection");
                drop(stream);
                continue;
            };
            let Some(place) = by_address.take(address.ip()) else {
                let connections = limits.connections_per_address;
                tracing::warn!(connections, client = %address.ip(), "too many connections of a client");
                drop(stream);
                continue;
            };
            let (router, served) = (router.clone(), service.clone());
            tokio::spawn(async move {
                served.metrics.connections.inc();
                serve(stream, address, router, &served).await;
                served.metrics.connections.dec();
                drop((permit, place));
            });
        }
        drop(listener);
        tracing::info!("ending: requests on their way are answered");
        // Nobody listens any more if nobody is connected.
        let _ = end.send(true);
        let jobs = service.jobs().ok().cloned();
        let jobs_end = tokio::task::spawn_blocking(move || {
            if let Some(jobs) = jobs {
                jobs.end(limits.grace);
            }
        });
        let all = u32::try_from(connections).unwrap_or(u32::MAX);
        if tokio::time::timeout(limits.grace, room.acquire_many(all)).await.is_err() {
            tracing::warn!("some requests were not answered in time and are cut off");
        }
        // Jobs take their time beside the requests, not after them.
        if jobs_end.await.is_err() {
            tracing::warn!("the jobs could not be ended");
        }
        let store = service.store.clone();
        let closed = tokio::task::spawn_blocking(move || store.close()).await;
        match closed {
            Ok(closed) => Ok(closed?),
            Err(source) => Err(ServerError::Io {
                doing: "end the store".to_owned(),
                source: std::io::Error::other(source),
            }),
        }
    }
}

async fn serve(stream: TcpStream, address: SocketAddr, router: Router, service: &Service) {
    // Answers are small: they should not wait for more.
    let _ = stream.set_nodelay(true);
    let limits = &service.config.limits;
    let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let mut router = router.clone();
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(ConnectInfo(address));
        async move { router.call(request).await }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_header_size(limits.head_bytes)
        // Of what comes, and of what goes out: the budget of bodies does not count these.
        .max_buf_size(limits.head_bytes.max(BUFFER_BYTES))
        .serve_connection(TokioIo::new(TimedWrites::new(stream, limits.write_time)), answer);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = service.ended() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, %address, "a connection ended early");
    }
}
