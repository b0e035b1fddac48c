//! Records as they are handed to the writer.

use std::fmt;
use std::net::IpAddr;

use wonbon_time::Timestamp;

use crate::digest::Digest;
use crate::identifier::RecordId;

/// The profile of a revisit record whose payload is the same as that of an earlier record.
pub const REVISIT_PROFILE: &str =
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// What a record is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordKind {
    /// About the file.
    Warcinfo,
    /// What a server answered, as it came.
    Response,
    /// A thing without its protocol.
    Resource,
    /// What was asked.
    Request,
    /// About another record.
    Metadata,
    /// An answer whose body is that of an earlier record.
    Revisit,
    /// Another form of an earlier record.
    Conversion,
    /// The next part of an earlier record.
    Continuation,
    /// A kind this crate does not know.
    Other(String),
}

impl RecordKind {
    /// As `WARC-Type` writes it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            RecordKind::Warcinfo => "warcinfo",
            RecordKind::Response => "response",
            RecordKind::Resource => "resource",
            RecordKind::Request => "request",
            RecordKind::Metadata => "metadata",
            RecordKind::Revisit => "revisit",
            RecordKind::Conversion => "conversion",
            RecordKind::Continuation => "continuation",
            RecordKind::Other(name) => name,
        }
    }

    pub(crate) fn of_name(name: &str) -> Self {
        match name {
            "warcinfo" => RecordKind::Warcinfo,
            "response" => RecordKind::Response,
            "resource" => RecordKind::Resource,
            "request" => RecordKind::Request,
            "metadata" => RecordKind::Metadata,
            "revisit" => RecordKind::Revisit,
            "conversion" => RecordKind::Conversion,
            "continuation" => RecordKind::Continuation,
            other => RecordKind::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A record to be written. Its block is `head` and `payload`, one after the other: the head of an
/// HTTP message with its empty line, and its body. Neither is copied before it is compressed.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    pub(crate) kind: RecordKind,
    pub(crate) date: Timestamp,
    pub(crate) target: Option<&'a str>,
    pub(crate) content_type: &'a str,
    pub(crate) head: &'a [u8],
    pub(crate) payload: &'a [u8],
    /// The digest of the payload if it is known; that of a response is computed otherwise.
    pub(crate) payload_digest: Option<Digest>,
    pub(crate) address: Option<IpAddr>,
    pub(crate) concurrent_to: Option<RecordId>,
    pub(crate) refers_to: Option<RefersTo<'a>>,
    pub(crate) truncated: Option<&'a str>,
    pub(crate) protocol: Option<&'a str>,
    pub(crate) fields: Vec<(&'a str, &'a str)>,
}

/// The record that holds the payload of a revisit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefersTo<'a> {
    /// Its name.
    pub id: RecordId,
    /// Its address.
    pub target: &'a str,
    /// Its date.
    pub date: Timestamp,
}

impl<'a> Record<'a> {
    fn new(
        kind: RecordKind,
        date: Timestamp,
        content_type: &'a str,
        head: &'a [u8],
        payload: &'a [u8],
    ) -> Self {
        Record {
            kind,
            date,
            target: None,
            content_type,
            head,
            payload,
            payload_digest: None,
            address: None,
            concurrent_to: None,
            refers_to: None,
            truncated: None,
            protocol: None,
            fields: Vec::new(),
        }
    }

    /// About the file, in `name: value` lines; made by [`lines`].
    #[must_use]
    pub fn warcinfo(file_name: &'a str, date: Timestamp, lines: &'a [u8]) -> Self {
        Record::new(RecordKind::Warcinfo, date, "application/warc-fields", b"", lines)
            .field("WARC-Filename", file_name)
    }

    /// What a server answered: the head as it came, with its empty line, and the body as it came,
    /// with its content coding and without its transfer coding.
    #[must_use]
    pub fn response(target: &'a str, date: Timestamp, head: &'a [u8], body: &'a [u8]) -> Self {
        let kind = "application/http;msgtype=response";
        let mut record = Record::new(RecordKind::Response, date, kind, head, body);
        record.target = Some(target);
        record
    }

    /// What was asked.
    #[must_use]
    pub fn request(target: &'a str, date: Timestamp, head: &'a [u8], body: &'a [u8]) -> Self {
        let kind = "application/http;msgtype=request";
        let mut record = Record::new(RecordKind::Request, date, kind, head, body);
        record.target = Some(target);
        record
    }

    /// About a page, in `name: value` lines; made by [`lines`].
    #[must_use]
    pub fn metadata(target: &'a str, date: Timestamp, lines: &'a [u8]) -> Self {
        let mut record =
            Record::new(RecordKind::Metadata, date, "application/warc-fields", b"", lines);
        record.target = Some(target);
        record
    }

    /// An answer whose body, with this digest, stands in an earlier record: only the head is
    /// written.
    #[must_use]
    pub fn revisit(
        target: &'a str,
        date: Timestamp,
        head: &'a [u8],
        digest: Digest,
        earlier: RefersTo<'a>,
    ) -> Self {
        let kind = "application/http;msgtype=response";
        let mut record = Record::new(RecordKind::Revisit, date, kind, head, b"");
        record.target = Some(target);
        record.payload_digest = Some(digest);
        record.refers_to = Some(earlier);
        record
    }

    /// The digest of the payload, if it is known already: it is not computed again.
    #[must_use]
    pub fn payload_digest(mut self, digest: Digest) -> Self {
        self.payload_digest = Some(digest);
        self
    }

    /// The address that was asked.
    #[must_use]
    pub fn address(mut self, address: IpAddr) -> Self {
        self.address = Some(address);
        self
    }

    /// The record that came about by the same exchange.
    #[must_use]
    pub fn concurrent_to(mut self, id: RecordId) -> Self {
        self.concurrent_to = Some(id);
        self
    }

    /// The body is not whole, because of `length`, `time`, `disconnect` or something `unspecified`.
    #[must_use]
    pub fn truncated(mut self, why: &'a str) -> Self {
        self.truncated = Some(why);
        self
    }

    /// The protocol it came by, say `h2`, when that is not what the head says.
    #[must_use]
    pub fn protocol(mut self, protocol: &'a str) -> Self {
        self.protocol = Some(protocol);
        self
    }

    /// Any other field of the header.
    #[must_use]
    pub fn field(mut self, name: &'a str, value: &'a str) -> Self {
        self.fields.push((name, value));
        self
    }
}

/// `name: value` lines, as warcinfo and metadata records have them. Line breaks in values become
/// spaces.
#[must_use]
pub fn lines<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u8> {
    let mut lines = String::new();
    for (name, value) in fields {
        lines.push_str(name);
        lines.push_str(": ");
        lines.extend(value.chars().map(|c| if matches!(c, '\r' | '\n') { ' ' } else { c }));
        lines.push_str("\r\n");
    }
    lines.into_bytes()
}
