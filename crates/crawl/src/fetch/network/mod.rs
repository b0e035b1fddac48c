//! Pages from the network: HTTP/1.1, and HTTP/2 where TLS offers it.
//!
//! Connections are made and kept here and not by an HTTP client, because a crawl must know which
//! address it talks to. A name is resolved once, its addresses are checked, and the connection goes
//! to the very address that was checked: a name cannot mean one address when it is checked and
//! another when it is connected to. Redirects are answers like others.
//!
//! Memory: bodies beyond 256 KiB take permits of a pool that all bodies share, so that a thousand
//! large bodies at once wait for each other instead of filling the memory.

mod connections;
mod messages;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Response, Version};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant as Deadline, timeout_at};
use wonbon_time::Timestamp;

use super::{Answer, Answering, Ask, Body, FetchError, FetchLimits, Fetcher, is_text_type};
use crate::error::CrawlError;
use crate::guard::{Forbidden, Guard};
use connections::{Connection, Connections, Endpoint};
use messages::{build_request, write_head, write_request};

/// Bodies up to this take no permits.
const SMALL_BODY_BYTES: usize = 256 << 10;
/// The largest size of all larger bodies together.
const ROOM_BYTES: usize = 128 << 20;
/// The bytes of one permit.
const ROOM_UNIT_BYTES: usize = 4 << 10;
/// An unwanted body up to this length is read to its end, to keep the connection.
const DRAINED_BYTES: u64 = 16 << 10;

/// How the network is asked.
#[derive(Debug, Default)]
pub struct NetworkConfig {
    /// The whole `User-Agent`.
    pub agent: String,
    /// What bounds a fetch.
    pub limits: FetchLimits,
    /// Which addresses may be asked.
    pub guard: Guard,
    /// Names whose addresses are given and not looked up.
    pub names: HashMap<String, Vec<IpAddr>>,
    /// Certificates that are trusted in addition to the usual ones, as PEM.
    pub certificates: Option<std::path::PathBuf>,
}

/// The network.
pub struct Network {
    config: NetworkConfig,
    agent: HeaderValue,
    connections: Connections,
    room: Arc<Semaphore>,
}

impl Network {
    /// Asks the network by these rules.
    ///
    /// # Errors
    ///
    /// The agent is no header value, or the certificates cannot be read.
    pub fn new(config: NetworkConfig) -> Result<Self, CrawlError> {
        let agent = HeaderValue::from_str(&config.agent)
            .map_err(|_| CrawlError::BadAgent { agent: config.agent.clone() })?;
        let limit = config.limits.connect;
        let connections = Connections::new(config.certificates.as_deref(), limit)?;
        let room = Arc::new(Semaphore::new(ROOM_BYTES / ROOM_UNIT_BYTES));
        Ok(Network { config, agent, connections, room })
    }

    /// The addresses of a host that may be asked.
    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, FetchError> {
        let no_address = || FetchError::NoAddress { host: host.to_owned() };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let found: Vec<IpAddr> = if let Ok(address) = bare.parse() {
            vec![address]
        } else if let Some(addresses) = self.config.names.get(host) {
            addresses.clone()
        } else {
            let limit = self.config.limits.connect;
            let asked = tokio::time::timeout(limit, tokio::net::lookup_host((host, 0))).await;
            let asked = asked.map_err(|_| no_address())?.map_err(|_| no_address())?;
            asked.map(|address| address.ip()).collect()
        };
        let mut allowed = Vec::new();
        let mut refusal = None;
        for address in found {
            match self.config.guard.permits(address) {
                Ok(()) if !allowed.contains(&address) => allowed.push(address),
                Ok(()) => {}
                Err(why) => refusal = refusal.or(Some(why)),
            }
        }
        match refusal {
            Some(why) if allowed.is_empty() => Err(forbidden(host, &why)),
            None if allowed.is_empty() => Err(no_address()),
            _ => Ok(allowed),
        }
    }

    /// Where a request goes; checked again, whoever gave the address.
    async fn endpoint(&self, ask: &Ask) -> Result<Endpoint, FetchError> {
        let host = ask.url.host_str().unwrap_or_default().to_owned();
        let address = match ask.address {
            Some(address) => address,
            None => {
                let found = self.look_up(&host).await?.first().copied();
                found.ok_or_else(|| FetchError::NoAddress { host: host.clone() })?
            }
        };
        self.config.guard.permits_url(&ask.url).map_err(|why| forbidden(&host, &why))?;
        self.config.guard.permits(address).map_err(|why| forbidden(&host, &why))?;
        let address = SocketAddr::new(address, ask.url.port_or_known_default().unwrap_or(80));
        Ok(Endpoint { tls: ask.url.scheme() == "https", host, address })
    }

    /// Sends a request until the head of its answer is here, on an idle connection if there is one.
    async fn send(
        &self,
        ask: &Ask,
        endpoint: &Endpoint,
        connection: &mut Connection,
        deadline: Deadline,
    ) -> Result<Response<Incoming>, FetchError> {
        let most = self.config.limits.first_byte;
        let late = |_| FetchError::Timeout { what: "the first byte", most };
        let request = build_request(&self.agent, ask, connection.version())?;
        let mut sent = timeout_at(deadline, connection.send(request)).await.map_err(late)?;
        if sent.as_ref().is_err_and(hyper::Error::is_canceled) {
            // The server closed an idle connection before it saw the request.
            *connection = self.connections.open(endpoint, &ask.url).await?;
            let request = build_request(&self.agent, ask, connection.version())?;
            sent = timeout_at(deadline, connection.send(request)).await.map_err(late)?;
        }
        sent.map_err(broken)
    }

    async fn ask(&self, ask: Ask) -> Result<Answer, FetchError> {
        let endpoint = self.endpoint(&ask).await?;
        let address = endpoint.address.ip();
        let mut connection = match self.connections.take_idle(&endpoint) {
            Some(connection) => connection,
            None => self.connections.open(&endpoint, &ask.url).await?,
        };
        // What the archive can say, so that its reader gives the page the same date.
        let at = Timestamp::now().floor_to_millisecond();
        let begun = Instant::now();
        let limits = &self.config.limits;
        let first_byte = Deadline::now() + limits.first_byte;
        let deadline = Deadline::now() + limits.whole;
        let response = self.send(&ask, &endpoint, &mut connection, first_byte).await?;
        let head = connection.recorded_head().unwrap_or_else(|| write_head(&response));
        let request = write_request(&build_request(&self.agent, &ask, Version::HTTP_11)?);
        let (parts, incoming) = response.into_parts();
        let wants = ask.any_type
            || is_text_type(parts.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()));
        let (whole, body, room) = self.read_body(&parts.headers, incoming, wants, deadline).await?;
        let is_two = connection.version() == Version::HTTP_2;
        if whole == Body::Whole || is_two {
            self.connections.keep_idle(endpoint, connection);
        }
        Ok(Answer {
            status: parts.status.as_u16(),
            request,
            head,
            fields: parts.headers,
            body,
            whole,
            at,
            took: begun.elapsed().as_micros() as u64,
            address: Some(address),
            is_two,
            room,
        })
    }

    async fn read_body(
        &self,
        fields: &HeaderMap,
        mut incoming: Incoming,
        wants: bool,
        deadline: Deadline,
    ) -> Result<(Body, Vec<u8>, Option<OwnedSemaphorePermit>), FetchError> {
        let limits = &self.config.limits;
        let late = |_| FetchError::Timeout { what: "the answer", most: limits.whole };
        let declared: Option<u64> =
            fields.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.trim().parse().ok());
        let most = limits.body_bytes;
        if !wants {
            if declared.is_some_and(|length| length <= DRAINED_BYTES) {
                while let Some(frame) =
                    timeout_at(deadline, incoming.frame()).await.map_err(late)?
                {
                    frame.map_err(broken)?;
                }
            }
            return Ok((Body::OtherType, Vec::new(), None));
        }
        if declared.is_some_and(|length| length > most as u64) {
            return Ok((Body::TooLarge, Vec::new(), None));
        }
        let mut body =
            Vec::with_capacity(declared.unwrap_or(0).min(SMALL_BODY_BYTES as u64) as usize);
        let mut room = None;
        while let Some(frame) = timeout_at(deadline, incoming.frame()).await.map_err(late)? {
            let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
            if body.len() + data.len() > most {
                return Ok((Body::TooLarge, Vec::new(), None));
            }
            if room.is_none() && body.len() + data.len() > SMALL_BODY_BYTES {
                let wanted = declared.map_or(most, |length| length as usize);
                let units = wanted.min(ROOM_BYTES).div_ceil(ROOM_UNIT_BYTES) as u32;
                let taken = self.room.clone().acquire_many_owned(units);
                let taken = timeout_at(deadline, taken).await.map_err(late)?;
                room = Some(taken.expect("the semaphore is never closed"));
            }
            body.extend_from_slice(&data);
        }
        body.shrink_to_fit();
        if let Some(taken) = &mut room {
            let used = body.len().div_ceil(ROOM_UNIT_BYTES);
            drop(taken.split(taken.num_permits().saturating_sub(used)));
        }
        Ok((Body::Whole, body, room))
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Fetcher for Network {
    fn resolve<'a>(&'a self, host: &'a str) -> Answering<'a, Result<Vec<IpAddr>, FetchError>> {
        Box::pin(self.look_up(host))
    }

    fn fetch(&self, ask: Ask) -> Answering<'_, Result<Answer, FetchError>> {
        Box::pin(self.ask(ask))
    }

    fn is_live(&self) -> bool {
        true
    }
}

fn forbidden(host: &str, why: &Forbidden) -> FetchError {
    FetchError::Forbidden { host: host.to_owned(), why: why.to_string() }
}

/// An error of the HTTP library with all its causes.
fn broken(error: hyper::Error) -> FetchError {
    let mut why = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        why.push_str(&format!(": {error}"));
        cause = error.source();
    }
    FetchError::Broken { why }
}
