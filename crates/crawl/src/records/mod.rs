//! The records of a crawl's log: what happened, in order.
//!
//! Addresses get their numbers in the order in which the log names them, so a record names only new
//! addresses and refers to the others by number. `bytes` has the encoding.

mod bytes;

use wonbon_time::Timestamp;

pub(crate) use bytes::{COMMIT, COMMIT_BYTES};

/// What became of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// It came, and its body is in the archive.
    Kept,
    /// It came, and its body is that of a page that came before.
    SameBody,
    /// It is as it was in the sweep before.
    NotModified,
    /// It leads to another page.
    Redirect,
    /// It leads to where this crawl does not go, to nothing, or too far.
    LostRedirect,
    /// It is no text.
    OtherType,
    /// It is larger than the crawl takes, as it came or unpacked.
    TooLarge,
    /// The server answered with an error.
    ServerError,
    /// Nothing that could be read as an answer came.
    NoAnswer,
    /// The host has no address, or none that may be asked.
    NoAddress,
    /// robots.txt forbids it, or could not be had.
    Disallowed,
    /// It is a sitemap: its links were taken, nothing was archived.
    Sitemap,
}

impl Outcome {
    /// All of them, in the order of their numbers in the log.
    pub const ALL: [Outcome; 12] = [
        Outcome::Kept,
        Outcome::SameBody,
        Outcome::NotModified,
        Outcome::Redirect,
        Outcome::LostRedirect,
        Outcome::OtherType,
        Outcome::TooLarge,
        Outcome::ServerError,
        Outcome::NoAnswer,
        Outcome::NoAddress,
        Outcome::Disallowed,
        Outcome::Sitemap,
    ];

    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Kept => "kept",
            Outcome::SameBody => "same-body",
            Outcome::NotModified => "not-modified",
            Outcome::Redirect => "redirect",
            Outcome::LostRedirect => "lost-redirect",
            Outcome::OtherType => "other-type",
            Outcome::TooLarge => "too-large",
            Outcome::ServerError => "server-error",
            Outcome::NoAnswer => "no-answer",
            Outcome::NoAddress => "no-address",
            Outcome::Disallowed => "disallowed",
            Outcome::Sitemap => "sitemap",
        }
    }

    /// Whether the page was there.
    #[must_use]
    pub fn is_page(self) -> bool {
        matches!(self, Outcome::Kept | Outcome::SameBody | Outcome::NotModified)
    }
}

/// Where a record stands in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchivePlace {
    /// The number of the file.
    pub file: u32,
    /// Its first byte there.
    pub offset: u64,
    /// How many bytes it has there.
    pub length: u64,
    /// The number of its name.
    pub id: u128,
}

/// What a sink said of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing stored earlier is like it.
    Original,
    /// A copy of something stored earlier.
    Copy,
    /// Neither: it has no words, or the sink does not judge.
    Neither,
}

/// All that is known of a page that is done with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its number.
    pub page: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// The status of the answer, 0 without one.
    pub status: u16,
    /// When it was asked for.
    pub at: Timestamp,
    /// How long that took, in microseconds.
    pub took: u64,
    /// Bytes of its body as they came.
    pub bytes: u64,
    /// Redirects that led to it.
    pub hops: u8,
    /// The SHA-1 of its body as it came.
    pub digest: Option<[u8; 20]>,
    /// Where its record stands.
    pub place: Option<ArchivePlace>,
    /// What the server calls this version of it.
    pub etag: Option<String>,
    /// When the server says it changed.
    pub last_modified: Option<String>,
    /// What the sink said of it.
    pub verdict: Option<Verdict>,
    /// The page that it leads to, or says it should be known by.
    pub target: Option<u32>,
    /// Addresses that became known by it, in the order of their numbers.
    pub new: Vec<String>,
    /// The pages it links to, in its order, none twice.
    pub links: Vec<u32>,
    /// Pages that are known by links with dropped parameters only, and path and query as they were in
    /// the first of them; an empty text for a page that is linked to plainly after all.
    pub written: Vec<(u32, String)>,
}

impl Done {
    /// A page of which nothing is known but its outcome.
    #[must_use]
    pub fn new(page: u32, outcome: Outcome, at: Timestamp) -> Self {
        Done {
            page,
            outcome,
            status: 0,
            at,
            took: 0,
            bytes: 0,
            hops: 0,
            digest: None,
            place: None,
            etag: None,
            last_modified: None,
            verdict: None,
            target: None,
            new: Vec::new(),
            links: Vec::new(),
            written: Vec::new(),
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// How the crawl is to be done, as JSON; the first record.
    Plan(String),
    /// An address the crawl starts with.
    Seed(String),
    /// A page left the frontier.
    Taken(u32),
    /// A page is done with.
    Done(Box<Done>),
    /// The robots.txt of an origin came, or did not.
    Robots {
        /// The origin, as text.
        origin: String,
        /// When.
        at: Timestamp,
        /// The last status, 0 without an answer.
        status: u16,
        /// What it says, if it came.
        body: Vec<u8>,
    },
    /// An address became known without a link: a sitemap that robots.txt names.
    Known(String),
    /// All before this is durable, and so much of the other files belongs to it.
    Commit(Commit),
}

/// What is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// Where the group of records that this one ends begins in the log.
    pub group: u64,
    /// The file of the archive that was last written to.
    pub file: u32,
    /// Its length.
    pub archive: u64,
    /// The length of the file of texts.
    pub texts: u64,
}
