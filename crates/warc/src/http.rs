//! HTTP messages inside records: heads, chunks, content codings.
//!
//! What a server sent is kept as it came, so whoever reads an archive has to do what a browser does.
//! Archives are old and servers careless: a head is read as far as it can be, lines may end in a bare
//! line feed, and a body that says it is chunked and is not is taken as it is.
//!
//! Cost: linear; the decoded body is bounded by the limit that the caller gives, whatever a few
//! bytes would unpack to.
//! Not here: character sets, what a type means.

use std::borrow::Cow;
use std::io::Read;

/// The head of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The status, 100 to 999.
    pub status: u16,
    /// Names as they came and values, in order. Bytes that are not ASCII are read as Latin-1.
    pub headers: Vec<(String, String)>,
    /// Where the body begins.
    pub body_at: usize,
}

/// Why bytes are no answer, or a body cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// There is no line like `HTTP/1.1 200 OK` at the beginning.
    #[error("it does not begin with a status line of HTTP")]
    NoStatusLine,
    /// A content coding that is not gzip, deflate, br, zstd or identity.
    #[error("the content coding {coding} is not known")]
    UnknownCoding {
        /// The coding.
        coding: String,
    },
}

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is whole.
    Whole,
    /// The limit was reached: there is more.
    Limit,
    /// The coded data breaks off or is damaged: this is what came before.
    Damaged,
}

/// A body with its codings undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'b> {
    /// What a browser would show.
    pub bytes: Cow<'b, [u8]>,
    /// Whether that is all of it.
    pub end: End,
}

impl Head {
    /// Reads the head at the beginning of a response record's block.
    ///
    /// # Errors
    ///
    /// When there is no status line.
    pub fn parse(block: &[u8]) -> Result<Self, HttpError> {
        let mut lines = Lines { block, at: 0 };
        let status = lines.next().and_then(status_of).ok_or(HttpError::NoStatusLine)?;
        let mut headers: Vec<(String, String)> = Vec::new();
        for line in &mut lines {
            if line.is_empty() {
                break;
            }
            let line = latin1(line);
            if line.starts_with([' ', '\t']) {
                if let Some((_, value)) = headers.last_mut() {
                    value.push(' ');
                    value.push_str(line.trim());
                }
            } else if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
        }
        Ok(Head { status, headers, body_at: lines.at })
    }

    /// The first header with this name, whatever its case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All headers with this name.
    pub fn all<'h, 'n>(&'h self, name: &'n str) -> impl Iterator<Item = &'h str> + use<'h, 'n> {
        let named =
            self.headers.iter().filter(move |(header, _)| header.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// The body in the block this head was read from: chunks put together, content codings undone,
    /// at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// When a content coding is not known.
    pub fn body<'b>(&self, block: &'b [u8], limit: usize) -> Result<Body<'b>, HttpError> {
        let raw = block.get(self.body_at..).unwrap_or_default();
        let is_chunked = self.all("transfer-encoding").any(|value| {
            value.split(',').any(|coding| coding.trim().eq_ignore_ascii_case("chunked"))
        });
        let joined = if is_chunked { join_chunks(raw) } else { None };
        let mut body = match joined {
            Some((bytes, end)) => Body { bytes: Cow::Owned(bytes), end },
            None => Body { bytes: Cow::Borrowed(raw), end: End::Whole },
        };
        let codings: Vec<&str> = self
            .all("content-encoding")
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|coding| !coding.is_empty())
            .collect();
        for coding in codings.iter().rev() {
            let decoded = decode(coding, &body.bytes, limit)?;
            let end = if decoded.end == End::Whole { body.end } else { decoded.end };
            body = match decoded.bytes {
                // Identity: what was there stays.
                Cow::Borrowed(_) => Body { end, ..body },
                Cow::Owned(bytes) => Body { bytes: Cow::Owned(bytes), end },
            };
        }
        if body.bytes.len() > limit {
            body.end = End::Limit;
            match &mut body.bytes {
                Cow::Borrowed(bytes) => *bytes = &bytes[..limit],
                Cow::Owned(bytes) => bytes.truncate(limit),
            }
        }
        Ok(body)
    }
}

/// The head of an answer as a record keeps it, from what an HTTP library gives: the status line, the
/// headers, the empty line. `Transfer-Encoding` is left out, since libraries put chunks together, and
/// so are line breaks.
#[must_use]
pub fn response_head<'a>(
    status: u16,
    reason: &str,
    headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {reason}").into_bytes();
    head.retain(|byte| !matches!(byte, b'\r' | b'\n'));
    head.extend_from_slice(b"\r\n");
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("transfer-encoding") {
            continue;
        }
        head.extend_from_slice(name.as_bytes());
        head.extend_from_slice(b": ");
        head.extend(value.iter().filter(|byte| !matches!(byte, b'\r' | b'\n')));
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// Undoes one content coding; an identity borrows.
///
/// # Errors
///
/// When the coding is not known.
pub fn decode<'b>(coding: &str, bytes: &'b [u8], limit: usize) -> Result<Body<'b>, HttpError> {
    let (bytes, end) = match coding.trim().to_ascii_lowercase().as_str() {
        "identity" | "" => return Ok(Body { bytes: Cow::Borrowed(bytes), end: End::Whole }),
        "gzip" | "x-gzip" => bounded(flate2::bufread::MultiGzDecoder::new(bytes), limit),
        // RFC 9110 means zlib; some servers send the bare stream.
        "deflate" => match bounded(flate2::bufread::ZlibDecoder::new(bytes), limit) {
            (empty, End::Damaged) if empty.is_empty() => {
                bounded(flate2::bufread::DeflateDecoder::new(bytes), limit)
            }
            decoded => decoded,
        },
        "br" => bounded(brotli_decompressor::Decompressor::new(bytes, 1 << 14), limit),
        "zstd" => match zstd::stream::read::Decoder::with_buffer(bytes) {
            Ok(mut decoder) => {
                // RFC 8878 asks for windows up to 8 MiB; more is refused.
                match decoder.window_log_max(23) {
                    Ok(()) => bounded(decoder, limit),
                    Err(_) => (Vec::new(), End::Damaged),
                }
            }
            Err(_) => (Vec::new(), End::Damaged),
        },
        coding => return Err(HttpError::UnknownCoding { coding: coding.to_owned() }),
    };
    Ok(Body { bytes: Cow::Owned(bytes), end })
}

/// Reads at most so many bytes.
fn bounded(mut decoder: impl Read, limit: usize) -> (Vec<u8>, End) {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        match decoder.read(&mut chunk) {
            Ok(0) => return (bytes, End::Whole),
            Ok(read) => {
                let left = limit - bytes.len();
                bytes.extend_from_slice(&chunk[..read.min(left)]);
                if read > left {
                    return (bytes, End::Limit);
                }
            }
            Err(_) => return (bytes, End::Damaged),
        }
    }
}

/// Puts chunks together; none if these are no chunks at all.
fn join_chunks(raw: &[u8]) -> Option<(Vec<u8>, End)> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut lines = Lines { block: raw, at: 0 };
    loop {
        let Some(line) = lines.next() else { return Some((bytes, End::Damaged)) };
        let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        let length = std::str::from_utf8(digits)
            .ok()
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let Some(length) = length else {
            return if bytes.is_empty() { None } else { Some((bytes, End::Damaged)) };
        };
        if length == 0 {
            return Some((bytes, End::Whole));
        }
        let rest = &raw[lines.at..];
        if rest.len() < length {
            bytes.extend_from_slice(rest);
            return Some((bytes, End::Damaged));
        }
        bytes.extend_from_slice(&rest[..length]);
        lines.at += length;
        // The line break behind a chunk.
        if lines.next().is_some_and(|line| !line.is_empty()) {
            return Some((bytes, End::Damaged));
        }
    }
}

/// Lines that end in CRLF or LF; the last one may have no end.
struct Lines<'b> {
    block: &'b [u8],
    at: usize,
}

impl<'b> Iterator for Lines<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        let rest = self.block.get(self.at..).filter(|rest| !rest.is_empty())?;
        let (line, length) = match rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&rest[..end], end + 1),
            None => (rest, rest.len()),
        };
        self.at += length;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

fn status_of(line: &[u8]) -> Option<u16> {
    let line = latin1(line);
    let mut words = line.split_ascii_whitespace();
    let version = words.next()?;
    if !version.get(..5)?.eq_ignore_ascii_case("HTTP/") {
        return None;
    }
    let status = words.next()?;
    status.parse().ok().filter(|status| (100..1000).contains(status))
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
