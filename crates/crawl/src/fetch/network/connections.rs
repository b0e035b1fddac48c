//! Connections: opened to an address that was checked, kept while idle, reused for the same host.
//!
//! One connection serves one request at a time. The pool keeps at most 256 idle connections for 15
//! seconds; the longest idle one is closed first.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use super::broken;
use crate::error::CrawlError;
use crate::fetch::FetchError;
use crate::fetch::head_recorder::{HeadRecorder, RecordedStream};

/// Idle connections that are kept, and for how long.
const MOST_IDLE: usize = 256;
const IDLE: Duration = Duration::from_secs(15);
/// The longest head of an answer.
const MOST_HEAD_BYTES: usize = 64 << 10;

/// What a connection is for.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) tls: bool,
    pub(super) host: String,
    pub(super) address: SocketAddr,
}

/// An open connection.
pub(super) enum Connection {
    Http1 { sender: http1::SendRequest<Empty<Bytes>>, head: Arc<Mutex<HeadRecorder>> },
    Http2 { sender: http2::SendRequest<Empty<Bytes>> },
}

impl Connection {
    fn is_open(&self) -> bool {
        match self {
            Connection::Http1 { sender, .. } => !sender.is_closed(),
            Connection::Http2 { sender } => !sender.is_closed(),
        }
    }

    pub(super) fn version(&self) -> Version {
        match self {
            Connection::Http1 { .. } => Version::HTTP_11,
            Connection::Http2 { .. } => Version::HTTP_2,
        }
    }

    pub(super) async fn send(
        &mut self,
        request: Request<Empty<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        match self {
            Connection::Http1 { sender, head } => {
                sender.ready().await?;
                head.lock().expect("nobody panics while recording").restart();
                sender.send_request(request).await
            }
            Connection::Http2 { sender } => {
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    /// The head of the answer as the server sent it, if HTTP/1.1 carried it.
    pub(super) fn recorded_head(&self) -> Option<Vec<u8>> {
        match self {
            Connection::Http1 { head, .. } => {
                head.lock().expect("nobody panics while recording").take()
            }
            Connection::Http2 { .. } => None,
        }
    }
}

struct Idle {
    endpoint: Endpoint,
    since: Instant,
    connection: Connection,
}

/// Opens connections and keeps idle ones.
pub(super) struct Connections {
    tls: TlsConnector,
    limit: Duration,
    idle: Mutex<Vec<Idle>>,
}

impl Connections {
    /// Connections that trust the usual certificates and those in a PEM file, and are open within
    /// `limit`.
    pub(super) fn new(certificates: Option<&Path>, limit: Duration) -> Result<Self, CrawlError> {
        let tls = TlsConnector::from(Arc::new(tls_config(certificates)?));
        Ok(Connections { tls, limit, idle: Mutex::new(Vec::new()) })
    }

    /// Takes an idle connection to this endpoint.
    pub(super) fn take_idle(&self, endpoint: &Endpoint) -> Option<Connection> {
        let mut idle = self.idle.lock().expect("nobody panics while looking");
        idle.retain(|idle| idle.since.elapsed() < IDLE && idle.connection.is_open());
        let at = idle.iter().position(|idle| idle.endpoint == *endpoint)?;
        Some(idle.remove(at).connection)
    }

    /// Keeps a connection for later requests.
    pub(super) fn keep_idle(&self, endpoint: Endpoint, connection: Connection) {
        let mut idle = self.idle.lock().expect("nobody panics while looking");
        if idle.len() >= MOST_IDLE {
            idle.remove(0);
        }
        idle.push(Idle { endpoint, since: Instant::now(), connection });
    }

    /// Opens a connection.
    pub(super) async fn open(
        &self,
        endpoint: &Endpoint,
        url: &Url,
    ) -> Result<Connection, FetchError> {
        let late = |_| FetchError::Timeout { what: "the connection", most: self.limit };
        tokio::time::timeout(self.limit, self.open_now(endpoint, url)).await.map_err(late)?
    }

    async fn open_now(&self, endpoint: &Endpoint, url: &Url) -> Result<Connection, FetchError> {
        let address = endpoint.address.ip();
        let failed = |why: io::Error| FetchError::Connect { address, why: why.to_string() };
        let stream = TcpStream::connect(endpoint.address).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        if !endpoint.tls {
            return http1_handshake(stream).await;
        }
        let name = match url.host() {
            Some(Host::Domain(name)) => ServerName::try_from(name.to_owned()).ok(),
            Some(Host::Ipv4(address)) => Some(ServerName::from(IpAddr::from(address))),
            Some(Host::Ipv6(address)) => Some(ServerName::from(IpAddr::from(address))),
            None => None,
        };
        let name = name.ok_or_else(|| FetchError::NoAddress { host: endpoint.host.clone() })?;
        let stream = self.tls.connect(name, stream).await.map_err(failed)?;
        if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
            return http1_handshake(stream).await;
        }
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .max_header_list_size(MOST_HEAD_BYTES as u32)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        // The task ends with an error when the server closes; the sender reports it.
        tokio::spawn(connection);
        Ok(Connection::Http2 { sender })
    }
}

async fn http1_handshake<S>(stream: S) -> Result<Connection, FetchError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let head = Arc::new(Mutex::new(HeadRecorder::default()));
    let stream = RecordedStream { stream, head: head.clone() };
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(MOST_HEAD_BYTES)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    // The task ends with an error when the server closes; the sender reports it.
    tokio::spawn(connection);
    Ok(Connection::Http1 { sender, head })
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
