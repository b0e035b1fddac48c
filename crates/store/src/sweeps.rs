//! Sweeps: which dated pass of a crawl saw which document, and where it saw redirects.
//!
//! A sweep covers the sites it saw, each by at least one document or redirect. A document of a covered site that the sweep
//! did not see did not exist then; about sites that the sweep did not see it says nothing. So a crawl may visit some sites
//! more often than others, and a pass that was cut short does not mark the pages of unvisited sites as gone.
//!
//! Sightings are stored as runs: a document was seen in every sweep of its site from the first to the last of a run, as one
//! version. A page that does not change for a hundred sweeps is one row of about 30 bytes; seeing it once more moves the end
//! of the run. A run ends when the page changes, is missed once, or moves to another site.
//!
//! An unchanged document is recognised by the fingerprint of its bytes before anything is computed from it: no core text,
//! words, features or compression. So beyond reading its input, a sweep costs the adding of its new and changed documents,
//! and one look-up and one small update for each of the others.
//!
//! Guarantee: sweeps are added in the order of their dates. The latest may be continued, and doing so twice changes nothing.
//! A sighting is stored in the same transaction as its document.
//!
//! Not here: the questions that are answered from sightings (`questions`).

use std::sync::mpsc::{self, Receiver};

use wonbon_time::Timestamp;

use crate::document::{NewDocument, OwnedDocument, check_key};
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::Record;
use crate::writer::Request;
use wonbon_rule::fingerprint_content;

/// A run of sweeps of its site in which a document was seen as one version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sighting {
    /// The date of the first of them.
    pub first: Timestamp,
    /// The date of the last.
    pub last: Timestamp,
    /// Which version of the document they saw.
    pub version: u32,
}

/// A redirect that a sweep saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The address.
    pub key: String,
    /// Where it leads.
    pub target: String,
    /// The date of the sweep.
    pub sweep: Timestamp,
    /// Its site; unknown means that of the address.
    pub site: Option<String>,
}

impl Redirect {
    /// Whether its two addresses are as long as keys may be.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadKey`].
    pub fn check(&self) -> Result<(), StoreError> {
        check_key(&self.key).and_then(|()| check_key(&self.target))
    }
}

/// A document that is stored with the same content already. It carries its content, because the
/// stored document may change before the writer notes the sighting; then the writer adds it in full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    pub(crate) document: OwnedDocument,
    pub(crate) content: [u8; 16],
}

impl Recognised {
    /// A document that [`Store::recognise`] knew: looked up no second time, since the writer compares
    /// its bytes anyway.
    #[must_use]
    pub fn of(document: &NewDocument<'_>) -> Self {
        Recognised {
            document: OwnedDocument::of(document),
            content: fingerprint_content(document.content.bytes()),
        }
    }

    /// The document's key.
    #[must_use]
    pub fn key(&self) -> &str {
        self.document.key()
    }
}

/// A redirect that is queued.
#[derive(Debug)]
#[must_use = "the redirect is acknowledged only when this says so"]
pub struct PendingRedirect {
    answer: Receiver<Result<bool, StoreError>>,
}

impl PendingRedirect {
    /// Waits until the redirect is durable, and returns whether it was new.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn wait(self) -> Result<bool, StoreError> {
        let gone = || StoreError::Stopped { what: "the writer has ended".to_owned() };
        self.answer.recv().map_err(|_| gone())?
    }
}

/// When and where a document was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The document's key.
    pub key: String,
    /// Its site.
    pub site: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// When it was first seen: by a sweep, or created where none saw it.
    pub first: Timestamp,
    /// When it was last seen: by a sweep, or stored where none saw it.
    pub last: Timestamp,
    /// The first sweep of its site that missed it, if it is gone.
    pub gone: Option<Timestamp>,
    /// Whether a sweep ever saw it.
    pub swept: bool,
    /// How many versions it has.
    pub versions: u32,
}

impl Store {
    /// Recognises a document that is stored with these very bytes, and of which nothing else is said
    /// than what is known.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn recognise(&self, document: &NewDocument<'_>) -> Result<Option<Recognised>, StoreError> {
        self.reading(|database| {
            let Some(record) = database.record_by_key(&document.key)? else { return Ok(None) };
            let address = match (document.url.as_deref(), record.url.as_deref()) {
                (None, _) => true,
                // A key that is said to be the address as well says nothing new.
                (Some(said), None) => said == document.key,
                (Some(said), Some(known)) => said == known,
            };
            let nothing_new = [
                (&document.site, &record.site),
                (&document.author, &record.author),
                (&document.title, &record.title),
                (&document.language, &record.language),
            ]
            .iter()
            .all(|(said, known)| said.is_none() || said.as_deref() == known.as_deref());
            let created = match document.created {
                None => true,
                Some(created) if document.created_at_the_latest => created >= record.created,
                Some(created) => created == record.created,
            };
            let same = record.fingerprints.content == fingerprint_content(document.content.bytes())
                && nothing_new
                && address
                && created
                && (document.published.is_none() || document.published == record.published);
            Ok(same.then(|| Recognised::of(document)))
        })
    }

    /// Stores a redirect that a sweep saw; returns whether it was new, once it is
    /// durable.
    ///
    /// # Errors
    ///
    /// [`StoreError::SweepTooEarly`], [`StoreError::BadKey`], or why it was not stored.
    pub fn add_redirect(&self, redirect: &Redirect) -> Result<bool, StoreError> {
        self.submit_redirect(redirect)?.wait()
    }

    /// Queues a redirect: as [`Store::add_redirect`], without waiting.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadKey`], [`StoreError::ReadOnly`], [`StoreError::Stopped`].
    pub fn submit_redirect(&self, redirect: &Redirect) -> Result<PendingRedirect, StoreError> {
        redirect.check()?;
        let (reply, answer) = mpsc::channel();
        self.writer_queue()?.enqueue(Request::Redirect(Box::new(redirect.clone()), reply))?;
        Ok(PendingRedirect { answer })
    }

    /// The dates of all sweeps, the earliest first.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn sweeps(&self) -> Result<Vec<Timestamp>, StoreError> {
        self.reading(|database| database.sweeps())
    }

    /// When a document was seen, the earliest run first; none if no sweep saw it.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn sightings(&self, key: &str) -> Result<Vec<Sighting>, StoreError> {
        self.reading(|database| match database.record_by_key(key)? {
            Some(record) => database.sightings(record.row),
            None => Ok(Vec::new()),
        })
    }

    /// The document a person means: by its key, or else by its address.
    pub(crate) fn named(&self, name: &str) -> Result<Option<Record>, StoreError> {
        self.reading(|database| database.named(name))
    }
}

/// The site under which sweeps know a document: one for all that have none.
pub(crate) fn swept_site(site: Option<&str>) -> &str {
    site.unwrap_or_default()
}
