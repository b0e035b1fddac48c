//! Where the pages of a crawl go as they come, and what is said of them there.
//!
//! The crawl does not know the store: whoever starts it hands it a [`PageSink`]. A page is handed
//! over on one of the reading threads; the answer is waited for when its group of pages is about to
//! be written to the log, so the sink may gather pages as it likes, and a page is in the log only
//! when the sink has it for good. After a crash a page may be handed over a second time.

use wonbon_time::Timestamp;

pub use crate::records::Verdict;

/// Why a sink did not take something.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// An answer to be waited for.
pub type Ticket = Box<dyn FnOnce() -> Result<Verdict, SinkError> + Send>;

/// A page that came.
#[derive(Clone, Copy, Debug)]
pub struct SinkPage<'a> {
    /// Its address.
    pub address: &'a str,
    /// When it was asked for.
    pub fetched: Timestamp,
    /// Its bytes, unpacked.
    pub bytes: &'a [u8],
    /// Its core text.
    pub text: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its language.
    pub language: Option<&'a str>,
    /// When it says it was published, as it says it.
    pub published: Option<&'a str>,
}

/// Takes the pages of a crawl.
pub trait PageSink: Send + Sync {
    /// A page came, or is as it was in the sweep before.
    ///
    /// # Errors
    ///
    /// The page cannot be taken; the crawl ends.
    fn page(&self, page: &SinkPage<'_>) -> Result<Ticket, SinkError>;

    /// A page leads to another.
    ///
    /// # Errors
    ///
    /// It cannot be noted; the crawl ends.
    fn redirect(&self, from: &str, to: &str) -> Result<Ticket, SinkError>;

    /// What a page is now, if the sink can tell. A page that was taken later may have become the original
    /// of one that was taken before.
    ///
    /// # Errors
    ///
    /// The sink cannot be read; the crawl ends.
    fn verdict(&self, _address: &str) -> Result<Option<Verdict>, SinkError> {
        Ok(None)
    }
}
