//! Requests as they are sent, and heads as they are archived.
//!
//! A request carries the agent, the types and codings that are understood, and the known version of
//! the page. It carries no cookies, no credentials and no referrer.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, Request, Response, Version};
use url::Url;

use crate::fetch::{Ask, FetchError};

const ACCEPT: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,text/*;q=0.8,*/*;q=0.1";
const CODINGS: &str = "gzip, deflate, br, zstd";

/// The request for a page.
pub(super) fn build_request(
    agent: &HeaderValue,
    ask: &Ask,
    version: Version,
) -> Result<Request<Empty<Bytes>>, FetchError> {
    let is_http2 = version == Version::HTTP_2;
    let url = &ask.url;
    let uri = if is_http2 { without_fragment(url) } else { path_of(url) };
    let mut request = Request::new(Empty::new());
    *request.version_mut() = version;
    *request.uri_mut() = uri.parse().map_err(|_| FetchError::Unaskable)?;
    let fields = request.headers_mut();
    if let (false, Ok(host)) = (is_http2, HeaderValue::from_str(&authority_of(url))) {
        fields.insert(header::HOST, host);
    }
    fields.insert(header::USER_AGENT, agent.clone());
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

/// A request as the archive keeps it.
pub(super) fn write_request(request: &Request<Empty<Bytes>>) -> Vec<u8> {
    let mut out = format!("GET {} HTTP/1.1\r\n", request.uri()).into_bytes();
    write_fields(&mut out, request.headers());
    out
}

/// The head of a response, written as HTTP/1.1.
pub(super) fn write_head(response: &Response<Incoming>) -> Vec<u8> {
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let mut out = format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).into_bytes();
    write_fields(&mut out, response.headers());
    out
}

fn write_fields(out: &mut Vec<u8>, fields: &HeaderMap) {
    for (name, value) in fields {
        out.extend_from_slice(name.as_str().as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
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
