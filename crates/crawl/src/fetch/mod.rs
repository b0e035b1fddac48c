//! Where pages come from: the network, or an archive that stands for it.
//!
//! A fetcher answers one request. It knows nothing of robots.txt, delays or redirects, which are the
//! engine's. Both kinds give the same [`Answer`]: head and body as they were sent (the body still
//! compressed), within the limits.

pub mod archive;
mod head_recorder;
pub mod network;
pub(crate) mod unpack;

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE};
use tokio::sync::OwnedSemaphorePermit;
use url::Url;
use wonbon_time::Timestamp;

/// A future of a trait's method.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What bounds a fetch.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FetchLimits {
    /// The largest body as it comes. 8 MiB: pages of text are a hundredth of that, and what is
    /// larger is mostly no page. More costs memory for each connection.
    pub body_bytes: usize,
    /// The largest body when unpacked. 16 MiB: twice what may come unpacked; a bomb ends there.
    pub unpacked_bytes: usize,
    /// How long a connection may take to be made, TLS included.
    pub connect: Duration,
    /// How long the first byte of an answer may take from the request on.
    pub first_byte: Duration,
    /// How long a whole answer may take from the request on.
    pub whole: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        FetchLimits {
            body_bytes: 8 << 20,
            unpacked_bytes: 16 << 20,
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(20),
            whole: Duration::from_secs(60),
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The address, `http` or `https`.
    pub url: Url,
    /// The address of the host, as [`Fetcher::resolve`] gave it.
    pub address: Option<IpAddr>,
    /// The version that is known, by the name the server gave it.
    pub etag: Option<String>,
    /// The version that is known, by its date.
    pub last_modified: Option<String>,
    /// Whether bodies of any type are wanted: robots.txt and sitemaps are often sent as something
    /// else than they are.
    pub any_type: bool,
}

impl Ask {
    /// A plain request for a page.
    #[must_use]
    pub fn page(url: Url, address: Option<IpAddr>) -> Self {
        Ask { url, address, etag: None, last_modified: None, any_type: false }
    }
}

/// Whether the body is there, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// All of it.
    Whole,
    /// It was not read: the crawl does not keep its type.
    OtherType,
    /// It was read up to the limit at most, and dropped.
    TooLarge,
}

/// What came.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The request as it was sent, up to its empty line; HTTP/2 is written as HTTP/1.1.
    pub request: Vec<u8>,
    /// Status line and fields as they came, with the empty line; HTTP/2 is written as HTTP/1.1.
    pub head: Vec<u8>,
    /// The fields.
    pub fields: HeaderMap,
    /// The body without transfer coding, with its content coding.
    pub body: Vec<u8>,
    /// Whether that is all of it.
    pub whole: Body,
    /// When it was asked for.
    pub at: Timestamp,
    /// How long it took, in microseconds.
    pub took: u64,
    /// Who answered.
    pub address: Option<IpAddr>,
    /// Whether it came by HTTP/2.
    pub is_two: bool,
    /// The room its body takes of what all bodies may; given back when it is dropped.
    pub room: Option<OwnedSemaphorePermit>,
}

impl Answer {
    /// A field as text.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.to_str().ok()
    }

    /// The value of `Content-Type`.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.field(CONTENT_TYPE.as_str())
    }

    /// The values of `Content-Encoding`, in one.
    #[must_use]
    pub fn content_coding(&self) -> String {
        let values = self.fields.get_all(CONTENT_ENCODING);
        let values: Vec<&str> = values.iter().filter_map(|value| value.to_str().ok()).collect();
        values.join(",")
    }
}

/// Why nothing came.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The name has no address.
    #[error("`{host}` has no address")]
    NoAddress {
        /// The host.
        host: String,
    },
    /// The host, its port or all its addresses are such as must not be asked.
    #[error("`{host}` must not be asked: {why}")]
    Forbidden {
        /// The host.
        host: String,
        /// What is wrong with it.
        why: String,
    },
    /// No connection.
    #[error("no connection to {address}: {why}")]
    Connect {
        /// To where.
        address: IpAddr,
        /// What the system said.
        why: String,
    },
    /// It took too long.
    #[error("{what} took longer than {most:?}")]
    Timeout {
        /// What did.
        what: &'static str,
        /// How long it might have taken.
        most: Duration,
    },
    /// The answer is no HTTP, or was cut.
    #[error("the answer is broken: {why}")]
    Broken {
        /// What is wrong with it.
        why: String,
    },
    /// The address has characters that cannot stand in a request.
    #[error("the address cannot stand in a request")]
    Unaskable,
    /// The host did not answer so often that it is not asked any more.
    #[error("its host does not answer")]
    GivenUp,
    /// The archive has no record of it.
    #[error("the archive does not have it")]
    NotArchived,
}

/// A place where pages come from.
pub trait Fetcher: Send + Sync {
    /// The addresses of a host that may be asked, none if the host needs none.
    fn resolve<'a>(&'a self, host: &'a str) -> Answering<'a, Result<Vec<IpAddr>, FetchError>>;

    /// Asks once.
    fn fetch(&self, ask: Ask) -> Answering<'_, Result<Answer, FetchError>>;

    /// Whether somebody is at the other end to whom a crawl must be polite.
    fn is_live(&self) -> bool;
}

/// Whether the crawl keeps bodies of this type: texts that people read. `text/*` except style
/// sheets, scripts, tables and calendars; XHTML and other XML except drawings. What has no type is
/// looked at when it is there.
#[must_use]
pub fn is_text_type(content_type: Option<&str>) -> bool {
    let Some(content_type) = content_type else { return true };
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.split_once('/') {
        Some(("text", kind)) => !matches!(
            kind,
            "css"
                | "javascript"
                | "ecmascript"
                | "csv"
                | "tab-separated-values"
                | "calendar"
                | "vcard"
        ),
        Some(("application", kind)) => kind == "xml" || kind.ends_with("+xml"),
        Some(_) => false,
        None => essence.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_from_other_types() {
        for kept in [
            None,
            Some(""),
            Some("text/html; charset=euc-kr"),
            Some("TEXT/Plain"),
            Some("application/xhtml+xml"),
            Some("application/rss+xml"),
        ] {
            assert!(is_text_type(kept), "{kept:?}");
        }
        for other in
            ["image/svg+xml", "application/pdf", "text/css", "application/json", "video/mp4", "x"]
        {
            assert!(!is_text_type(Some(other)), "{other}");
        }
    }
}
