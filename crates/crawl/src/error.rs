//! Why a crawl could not be done.

use std::io;
use std::path::{Path, PathBuf};

/// Why a crawl could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// A file could not be read or written.
    #[error("could not {doing} {path}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no address to begin with.
    #[error("there is no page to start with")]
    NoSeeds,
    /// A seed is no address of a page.
    #[error("`{seed}` is no http or https address")]
    BadSeed {
        /// The seed as given.
        seed: String,
    },
    /// A seed is where the crawl does not go.
    #[error("the seed {seed} is outside the scope: {why}")]
    SeedOutOfScope {
        /// The seed.
        seed: String,
        /// What keeps it out.
        why: String,
    },
    /// A seed's host has no address that may be asked.
    #[error("the seed {seed} cannot be reached: {why}")]
    SeedUnreachable {
        /// The seed.
        seed: String,
        /// What is wrong with its host.
        why: String,
    },
    /// A robots.txt could not be fetched.
    #[error("could not fetch {url}")]
    RobotsUnreachable {
        /// The address that was asked last.
        url: Box<url::Url>,
        /// Why there was no answer.
        source: crate::fetch::FetchError,
    },
    /// The directory holds something else.
    #[error("{path} is not empty and holds no crawl")]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds a crawl.
    #[error("{path} holds a crawl already")]
    HoldsCrawl {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds no crawl.
    #[error("{path} holds no crawl")]
    NoCrawl {
        /// The directory.
        path: PathBuf,
    },
    /// The crawl was interrupted before its plan was durable: nothing was fetched yet.
    #[error("the crawl was interrupted before {path} had its plan")]
    NotBegun {
        /// The log.
        path: PathBuf,
    },
    /// The plan in a log is none that this program knows.
    #[error("the plan in {path} cannot be read")]
    UnknownPlan {
        /// The log.
        path: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Another process is at work on this crawl.
    #[error("another process is at work on the crawl in {path}")]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// What decides the result is not what the crawl was begun with.
    #[error("the crawl in {path} was begun with {what} {was}, not {asked}")]
    OtherPlan {
        /// The directory.
        path: PathBuf,
        /// What differs.
        what: String,
        /// Its value in the log.
        was: String,
        /// The value asked for.
        asked: String,
    },
    /// A file is not the log of a crawl.
    #[error("{path} is no log of a crawl")]
    NoLog {
        /// The file.
        path: PathBuf,
    },
    /// A log of another version of the program.
    #[error("{path} is a log of version {got}, this program reads version {want}")]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        got: u32,
        /// The version that can be read.
        want: u32,
    },
    /// A file is not what was written. It is left as it is, for inspection.
    #[error("{path} is damaged at byte {at}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
    },
    /// A file is shorter than the log says. It is left as it is, for inspection.
    #[error("{path} has {length} bytes, but the log says {committed}")]
    Shorter {
        /// The file.
        path: PathBuf,
        /// Its length.
        length: u64,
        /// The length that was durable.
        committed: u64,
    },
    /// An archive could not be read or written.
    #[error("could not {doing} the archive {path}")]
    Archive {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: wonbon_warc::WarcError,
    },
    /// The agent cannot stand in a request.
    #[error("the agent `{agent}` cannot stand in a request")]
    BadAgent {
        /// The agent as given.
        agent: String,
    },
    /// No ordering has this name.
    #[error("there is no ordering `{order}`")]
    UnknownOrder {
        /// The name as given.
        order: String,
    },
    /// A file of trusted certificates is none.
    #[error("{path} holds no certificate in PEM form")]
    BadCertificates {
        /// The file.
        path: PathBuf,
    },
    /// The link graph could not be read.
    #[error("could not read the link graph in {path}")]
    Graph {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: Box<crate::graph::GraphError>,
    },
    /// The sink did not take a page.
    #[error("the page {address} could not be handed on")]
    Sink {
        /// The page.
        address: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A thread of the crawl ended in a panic.
    #[error("the thread that {doing} ended before its time")]
    Thread {
        /// What it did.
        doing: &'static str,
    },
}

impl CrawlError {
    /// What a person can do when a file of a crawl is not what was written: the crawler changes
    /// nothing then.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            CrawlError::Damaged { .. }
            | CrawlError::Shorter { .. }
            | CrawlError::NoLog { .. }
            | CrawlError::UnknownPlan { .. }
            | CrawlError::Archive { source: wonbon_warc::WarcError::Shorter { .. }, .. } => Some(
                "nothing was changed; restore the file from a backup, or start a new crawl \
                 from the pages in the folder `archive` beside it",
            ),
            _ => None,
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path, source: io::Error) -> Self {
        CrawlError::Io { doing, path: path.to_owned(), source }
    }
}

impl From<wonbon_files::FileError> for CrawlError {
    fn from(error: wonbon_files::FileError) -> Self {
        let wonbon_files::FileError { doing, path, source } = error;
        CrawlError::Io { doing, path, source }
    }
}
