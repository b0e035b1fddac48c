//! Pages from the network: HTTP/1.1, and HTTP/2 where TLS offers it.
//!
//! Connections are made and kept by hand. A crawl must know which address it talks to: a name is
//! resolved once, its addresses are checked, and the connection goes to the very address that was
//! checked, so that a name cannot mean one address when it is checked and another when it is asked.
//! One connection serves one request at a time; idle ones are kept, the least used closed first.
//!
//! Sent are the agent, what is understood, and the known version of a page. No cookies, no
//! credentials, no referrer. Redirects are answers like others.
//!
//! Bodies beyond 256 KiB take room that all bodies share before they are read further, so that a
//! thousand large ones at once wait for each other instead of filling the memory.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant as Deadline, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};
use wonbon_time::Timestamp;

use super::tape::{Tape, Taped};
use super::{Answer, Answering, Ask, Body, FetchError, FetchLimits, Fetcher, is_text_type};
use crate::error::CrawlError;
use crate::guard::{Forbidden, Guard};

/// Bodies up to this take no room.
const SMALL_BODY_BYTES: usize = 256 << 10;
/// What larger bodies may take together.
const ROOM_BYTES: usize = 128 << 20;
/// Permits are counted in this.
const ROOM_UNIT_BYTES: usize = 4 << 10;
/// Connections that are kept when nobody uses them, and for how long.
const MOST_IDLE: usize = 256;
const IDLE: Duration = Duration::from_secs(15);
/// A body that nobody wants is read to its end, to keep the connection, if it is no longer.
const DRAINED_BYTES: u64 = 16 << 10;
/// The longest head of an answer.
const MOST_HEAD_BYTES: usize = 64 << 10;

const ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,text/*;q=0.8,*/*;q=0.1";
const CODINGS: &str = "gzip, deflate, br, zstd";

/// How the network is asked.
#[derive(Debug, Default)]
pub struct NetworkConfig {
    /// The whole `User-Agent`.
    pub agent: String,
    /// What bounds a fetch.
    pub limits: FetchLimits,
    /// Which addresses may be asked.
    pub guard: Guard,
    /// Names whose addresses are given and not asked for.
    pub names: HashMap<String, Vec<IpAddr>>,
    /// Certificates that are trusted beside the usual ones, as PEM.
    pub certificates: Option<std::path::PathBuf>,
}

/// The network.
pub struct Network {
    config: NetworkConfig,
    agent: HeaderValue,
    tls: TlsConnector,
    idle: Mutex<Vec<Idle>>,
    room: Arc<Semaphore>,
}

struct Idle {
    key: Key,
    since: Instant,
    connection: Connection,
}

#[derive(Clone, PartialEq, Eq)]
struct Key {
    tls: bool,
    host: String,
    address: SocketAddr,
}

enum Connection {
    One { sender: http1::SendRequest<Empty<Bytes>>, tape: Arc<Mutex<Tape>> },
    Two { sender: http2::SendRequest<Empty<Bytes>> },
}

impl Connection {
    fn is_open(&self) -> bool {
        match self {
            Connection::One { sender, .. } => !sender.is_closed(),
            Connection::Two { sender } => !sender.is_closed(),
        }
    }

    fn version(&self) -> Version {
        match self {
            Connection::One { .. } => Version::HTTP_11,
            Connection::Two { .. } => Version::HTTP_2,
        }
    }

    async fn send(&mut self, request: Request<Empty<Bytes>>) -> hyper::Result<Response<Incoming>> {
        match self {
            Connection::One { sender, tape } => {
                sender.ready().await?;
                tape.lock().expect("nobody panics while noting").rewind();
                sender.send_request(request).await
            }
            Connection::Two { sender } => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }
}

impl Network {
    /// Asks the network by these rules.
    ///
    /// # Errors
    ///
    /// The agent cannot stand in a field, or the certificates cannot be read.
    pub fn new(config: NetworkConfig) -> Result<Self, CrawlError> {
        let agent = HeaderValue::from_str(&config.agent)
            .map_err(|_| CrawlError::BadAgent { agent: config.agent.clone() })?;
        let tls = TlsConnector::from(Arc::new(tls_config(config.certificates.as_deref())?));
        let room = Arc::new(Semaphore::new(ROOM_BYTES / ROOM_UNIT_BYTES));
        Ok(Network { config, agent, tls, idle: Mutex::new(Vec::new()), room })
    }

    async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, FetchError> {
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

    async fn ask(&self, ask: Ask) -> Result<Answer, FetchError> {
        let host = ask.url.host_str().unwrap_or_default().to_owned();
        let no_address = || FetchError::NoAddress { host: host.clone() };
        let address = match ask.address {
            Some(address) => address,
            None => *self.addresses(&host).await?.first().ok_or_else(no_address)?,
        };
        // Whoever gave the address: nothing is asked that was not checked.
        self.config.guard.permits_url(&ask.url).map_err(|why| forbidden(&host, &why))?;
        self.config.guard.permits(address).map_err(|why| forbidden(&host, &why))?;
        let port = ask.url.port_or_known_default().unwrap_or(80);
        let key =
            Key { tls: ask.url.scheme() == "https", host, address: SocketAddr::new(address, port) };
        let mut connection = match self.take_idle(&key) {
            Some(connection) => connection,
            None => self.connect(&key, &ask.url).await?,
        };
        let at = Timestamp::now();
        let begun = Instant::now();
        let limits = &self.config.limits;
        let first_byte = Deadline::now() + limits.first_byte;
        let whole = Deadline::now() + limits.whole;
        let late = |_| FetchError::Timeout { what: "the first byte", most: limits.first_byte };
        let request = self.request(&ask, connection.version())?;
        let mut sent = timeout_at(first_byte, connection.send(request)).await.map_err(late)?;
        if sent.as_ref().is_err_and(hyper::Error::is_canceled) {
            // The server closed an idle connection before it saw the request.
            connection = self.connect(&key, &ask.url).await?;
            let request = self.request(&ask, connection.version())?;
            sent = timeout_at(first_byte, connection.send(request)).await.map_err(late)?;
        }
        let response = sent.map_err(broken)?;
        let head = match &connection {
            Connection::One { tape, .. } => {
                let taped = tape.lock().expect("nobody panics while noting").take();
                taped.unwrap_or_else(|| written_head(&response))
            }
            Connection::Two { .. } => written_head(&response),
        };
        let request = written_request(&self.request(&ask, Version::HTTP_11)?);
        let (parts, incoming) = response.into_parts();
        let wants = ask.any_type
            || is_text_type(parts.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()));
        let (whole, body, room) = self.body(&parts.headers, incoming, wants, whole).await?;
        let is_two = connection.version() == Version::HTTP_2;
        if whole == Body::Whole || is_two {
            self.keep_idle(key, connection);
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

    async fn body(
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

    fn request(&self, ask: &Ask, version: Version) -> Result<Request<Empty<Bytes>>, FetchError> {
        let two = version == Version::HTTP_2;
        let url = &ask.url;
        let uri = if two { without_fragment(url) } else { path_of(url) };
        let mut request = Request::new(Empty::new());
        *request.version_mut() = version;
        *request.uri_mut() = uri.parse().map_err(|_| FetchError::Unaskable)?;
        let fields = request.headers_mut();
        let host = authority_of(url);
        if let (false, Ok(host)) = (two, HeaderValue::from_str(&host)) {
            fields.insert(header::HOST, host);
        }
        fields.insert(header::USER_AGENT, self.agent.clone());
        fields.insert(header::ACCEPT, HeaderValue::from_static(ACCEPT));
        fields.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(CODINGS));
        for (name, value) in
            [(header::IF_NONE_MATCH, &ask.etag), (header::IF_MODIFIED_SINCE, &ask.last_modified)]
        {
            if let Some(Ok(value)) = value.as_deref().map(HeaderValue::from_str) {
                fields.insert(name, value);
            }
        }
        Ok(request)
    }

    async fn connect(&self, key: &Key, url: &Url) -> Result<Connection, FetchError> {
        let most = self.config.limits.connect;
        let late = |_| FetchError::Timeout { what: "the connection", most };
        tokio::time::timeout(most, self.connect_now(key, url)).await.map_err(late)?
    }

    async fn connect_now(&self, key: &Key, url: &Url) -> Result<Connection, FetchError> {
        let address = key.address.ip();
        let failed = |why: io::Error| FetchError::Connect { address, why: why.to_string() };
        let stream = TcpStream::connect(key.address).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        if !key.tls {
            return handshake_one(stream).await;
        }
        let name = match url.host() {
            Some(Host::Domain(name)) => ServerName::try_from(name.to_owned()).ok(),
            Some(Host::Ipv4(address)) => Some(ServerName::from(IpAddr::from(address))),
            Some(Host::Ipv6(address)) => Some(ServerName::from(IpAddr::from(address))),
            None => None,
        };
        let name = name.ok_or_else(|| FetchError::NoAddress { host: key.host.clone() })?;
        let stream = self.tls.connect(name, stream).await.map_err(failed)?;
        let has_two = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        if !has_two {
            return handshake_one(stream).await;
        }
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_header_list_size(MOST_HEAD_BYTES as u32)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        // It ends with an error when the server does; the sender knows.
        tokio::spawn(connection);
        Ok(Connection::Two { sender })
    }

    fn take_idle(&self, key: &Key) -> Option<Connection> {
        let mut idle = self.idle.lock().expect("nobody panics while looking");
        idle.retain(|idle| idle.since.elapsed() < IDLE && idle.connection.is_open());
        let at = idle.iter().position(|idle| idle.key == *key)?;
        Some(idle.remove(at).connection)
    }

    fn keep_idle(&self, key: Key, connection: Connection) {
        let mut idle = self.idle.lock().expect("nobody panics while looking");
        if idle.len() >= MOST_IDLE {
            idle.remove(0);
        }
        idle.push(Idle { key, since: Instant::now(), connection });
    }
}

impl std::fmt::Debug for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Network").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Fetcher for Network {
    fn resolve<'a>(&'a self, host: &'a str) -> Answering<'a, Result<Vec<IpAddr>, FetchError>> {
        Box::pin(self.addresses(host))
    }

    fn fetch(&self, ask: Ask) -> Answering<'_, Result<Answer, FetchError>> {
        Box::pin(self.ask(ask))
    }

    fn is_live(&self) -> bool {
        true
    }
}

async fn handshake_one<S>(stream: S) -> Result<Connection, FetchError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let tape = Arc::new(Mutex::new(Tape::default()));
    let taped = Taped { stream, tape: tape.clone() };
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(MOST_HEAD_BYTES)
        .handshake(TokioIo::new(taped))
        .await
        .map_err(broken)?;
    // It ends with an error when the server does; the sender knows.
    tokio::spawn(connection);
    Ok(Connection::One { sender, tape })
}

fn forbidden(host: &str, why: &Forbidden) -> FetchError {
    FetchError::Forbidden { host: host.to_owned(), why: why.to_string() }
}

fn broken(error: hyper::Error) -> FetchError {
    let mut why = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        why.push_str(&format!(": {error}"));
        cause = error.source();
    }
    FetchError::Broken { why }
}

fn tls_config(certificates: Option<&Path>) -> Result<ClientConfig, CrawlError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = certificates {
        let bytes = std::fs::read(path).map_err(|source| CrawlError::io("read", path, source))?;
        let bad = || CrawlError::BadCertificates { path: path.to_owned() };
        let mut count = 0;
        for certificate in CertificateDer::pem_slice_iter(&bytes) {
            roots.add(certificate.map_err(|_| bad())?).map_err(|_| bad())?;
            count += 1;
        }
        if count == 0 {
            return Err(bad());
        }
    }
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn path_of(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

fn without_fragment(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), authority_of(url), path_of(url))
}

fn authority_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn written_request(request: &Request<Empty<Bytes>>) -> Vec<u8> {
    let mut out = format!("GET {} HTTP/1.1\r\n", request.uri()).into_bytes();
    written_fields(&mut out, request.headers());
    out
}

fn written_head(response: &Response<Incoming>) -> Vec<u8> {
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let mut out = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
    written_fields(&mut out, response.headers());
    out
}

fn written_fields(out: &mut Vec<u8>, fields: &HeaderMap) {
    for (name, value) in fields {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}
