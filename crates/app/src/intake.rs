//! The way of a document into a store, the only one: recognise, prepare, submit, wait.
//!
//! `wonbon add`, import jobs, `POST /v1/documents`, streams of lines and crawls all hand a [`Document`] to
//! an [`Intake`]. So the same document is stored with the same fields, and decided by the same date,
//! whichever way it came; a check answers what an add would.
//!
//! [`Intake::prepare`] does everything that depends on no other document, on the caller's thread. A
//! document of a sweep that is stored as it came is recognised by the fingerprint of its bytes and is not
//! prepared. [`ReadyDocument::submit`] queues the document for the store's one writer, and
//! [`SubmittedDocument::wait`] answers once it is durable. A recognised document that changed in
//! between is added in full by the writer, in the order of the queue, so nobody has to try again.
//!
//! Cost: about 40 microseconds to prepare a text of 2 kB; core text adds a millisecond for a page.
//!
//! Not here: reading files ([`import`](crate::import)), bounds on what is under way.

use std::borrow::Cow;

use wonbon_documents::{Content as DocumentContent, Dates, Document};
use wonbon_store::{
    Added, Content, Expected, Freshness, NewDocument, Pending, PendingRedirect, Prepared,
    Recognised, Redirect, Store, StoreError, Stored, Verdict,
};
use wonbon_time::Timestamp;

/// Takes documents into a store, or says what they would be.
#[derive(Clone, Copy, Debug)]
pub struct Intake<'s> {
    store: &'s Store,
    sweep: Option<Timestamp>,
    dates: Dates,
    expected: Option<Expected>,
}

/// Why a document was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntakeError {
    /// The request was wrong: the document has no name, and came from where nothing gives it one.
    #[error("a document without a name is not stored: it needs an id or an address")]
    NoName,
    /// The request was wrong: an address that leads elsewhere is known of a sweep or not at all.
    #[error("`{key}` only leads to {target}: redirects are noted with a sweep")]
    RedirectWithoutSweep {
        /// The address.
        key: String,
        /// Where it leads.
        target: String,
    },
    /// The request was wrong: an address that leads elsewhere has no content.
    #[error("`{key}` only leads to {target}: there is nothing to check")]
    RedirectToCheck {
        /// The address.
        key: String,
        /// Where it leads.
        target: String,
    },
    /// The store does not take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'s> Intake<'s> {
    /// Into a store, by the dates that decide there.
    #[must_use]
    pub fn new(store: &'s Store) -> Self {
        Intake { store, sweep: None, dates: store.params().dates, expected: None }
    }

    /// The same, of documents that the sweep of a date saw.
    #[must_use]
    pub fn with_sweep(self, sweep: Option<Timestamp>) -> Self {
        Intake { sweep, ..self }
    }

    /// The same, by other dates than the store's if some are given.
    #[must_use]
    pub fn with_dates(self, dates: Option<Dates>) -> Self {
        Intake { dates: dates.unwrap_or(self.dates), ..self }
    }

    /// The same, storing only what meets the precondition when it is its turn; otherwise
    /// [`StoreError::NotAsExpected`].
    #[must_use]
    pub fn with_expected(self, expected: Option<Expected>) -> Self {
        Intake { expected, ..self }
    }

    /// Prepares a document for the writer.
    ///
    /// # Errors
    ///
    /// [`IntakeError`]: it has no name, is a redirect outside a sweep, or its key or content is too long.
    pub fn prepare(&self, document: &mut Document<'_>) -> Result<ReadyDocument, IntakeError> {
        if document.id.is_empty() {
            return Err(IntakeError::NoName);
        }
        if let Some(target) = document.redirect() {
            // What leads elsewhere is the address, whatever else the document is called.
            let (key, target) = (document.address().to_owned(), target.to_owned());
            let Some(sweep) = self.sweep else {
                if document.archived {
                    return Ok(ReadyDocument(Ready::PassedOver));
                }
                return Err(IntakeError::RedirectWithoutSweep { key, target });
            };
            let site = document.site.as_deref().map(str::to_owned);
            let redirect = Redirect { key, target, sweep, site };
            redirect.check()?;
            return Ok(ReadyDocument(Ready::Redirect(redirect)));
        }
        if self.dates == Dates::Claimed {
            // The date that decides is in the page.
            document.extract();
        }
        if self.sweep.is_some() && self.expected.is_none() {
            // The page is not extracted; the store does that if the document changes before it is
            // seen. Whatever keeps a document from being recognised shows when it is stored.
            if let Ok(Some(recognised)) = self.store.recognise(&self.new_document(document)) {
                return Ok(ReadyDocument(Ready::Recognised(Box::new(recognised))));
            }
        }
        document.extract();
        let prepared = self.store.prepare(&self.new_document(document))?;
        Ok(ReadyDocument(Ready::Document(Box::new(match self.expected {
            Some(expected) => prepared.only_if(expected),
            None => prepared,
        }))))
    }

    /// What would be said of a document if it were added; nothing is stored.
    ///
    /// # Errors
    ///
    /// As [`Intake::prepare`], or the database's.
    pub fn check(&self, document: &mut Document<'_>) -> Result<Verdict, IntakeError> {
        self.check_as_of(document, Freshness::Now).map(|(verdict, _)| verdict)
    }

    /// The same, for those who need not know the latest; and the last change that the verdict knows of.
    ///
    /// # Errors
    ///
    /// As [`Intake::check`].
    pub fn check_as_of(
        &self,
        document: &mut Document<'_>,
        freshness: Freshness,
    ) -> Result<(Verdict, u64), IntakeError> {
        if let Some(target) = document.redirect() {
            let (key, target) = (document.address().to_owned(), target.to_owned());
            return Err(IntakeError::RedirectToCheck { key, target });
        }
        document.extract();
        Ok(self.store.check_as_of(&self.new_document(document), freshness)?)
    }

    /// A document as the store takes it.
    fn new_document<'a>(&self, document: &'a Document<'_>) -> NewDocument<'a> {
        fn borrowed<'a>(value: &'a Option<Cow<'_, str>>) -> Option<Cow<'a, str>> {
            value.as_deref().map(Cow::Borrowed)
        }
        NewDocument {
            key: Cow::Borrowed(&document.id),
            created: document.deciding_date(self.dates),
            created_at_the_latest: document.archived,
            published: document.published,
            url: borrowed(&document.url),
            site: borrowed(&document.site),
            author: borrowed(&document.author),
            title: borrowed(&document.title),
            language: borrowed(&document.language),
            sweep: self.sweep,
            content: match &document.content {
                DocumentContent::Page(html) => Content::Html(html),
                DocumentContent::Bytes { bytes, charset } => {
                    Content::Bytes { bytes, declared: charset.as_deref() }
                }
                DocumentContent::Text(_)
                | DocumentContent::Extracted { .. }
                | DocumentContent::Redirect(_) => {
                    Content::Extracted { bytes: document.bytes(), text: document.text() }
                }
            },
        }
    }
}

/// A document or a redirect that only the writer has to see yet.
#[derive(Debug)]
pub struct ReadyDocument(Ready);

#[derive(Debug)]
enum Ready {
    Document(Box<Prepared>),
    Recognised(Box<Recognised>),
    Redirect(Redirect),
    PassedOver,
}

impl ReadyDocument {
    /// Queues it for the writer. Documents are decided in the order in which they are queued.
    ///
    /// # Errors
    ///
    /// [`StoreError::ReadOnly`], [`StoreError::Stopped`].
    pub fn submit(self, store: &Store) -> Result<SubmittedDocument, StoreError> {
        let (name, handed) = match self.0 {
            Ready::Document(prepared) => {
                let name = IntakeName { key: prepared.key().to_owned(), redirect: None };
                (name, Handed::Document(store.submit(*prepared)?))
            }
            Ready::Recognised(recognised) => {
                let name = IntakeName { key: recognised.key().to_owned(), redirect: None };
                (name, Handed::Recognised(store.submit_recognised(*recognised)?))
            }
            Ready::Redirect(redirect) => {
                let pending = store.submit_redirect(&redirect)?;
                let Redirect { key, target, .. } = redirect;
                (IntakeName { key, redirect: Some(target) }, Handed::Redirect(pending))
            }
            Ready::PassedOver => (IntakeName::default(), Handed::PassedOver),
        };
        Ok(SubmittedDocument { name, handed })
    }
}

/// What a document is called in the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IntakeName {
    /// Its key.
    pub key: String,
    /// Where it leads, if it is a redirect.
    pub redirect: Option<String>,
}

/// A document that is queued.
#[derive(Debug)]
#[must_use = "the document is acknowledged only when this says so"]
pub struct SubmittedDocument {
    name: IntakeName,
    handed: Handed,
}

#[derive(Debug)]
enum Handed {
    Document(Pending),
    Recognised(Pending),
    Redirect(PendingRedirect),
    PassedOver,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is stored.
    Added {
        /// How, and what it is.
        added: Added,
        /// Whether it was recognised by its bytes and nothing else was made of it.
        recognised: bool,
    },
    /// It leads elsewhere, and that is noted.
    Redirected,
    /// A redirect of a web archive outside a sweep: nobody wants to know.
    PassedOver,
}

impl SubmittedDocument {
    /// What it is called in the answer.
    #[must_use]
    pub fn name(&self) -> &IntakeName {
        &self.name
    }

    /// Waits until it is durable, and tells what became of it.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn wait(self) -> Result<Outcome, StoreError> {
        Ok(match self.handed {
            Handed::Document(pending) => {
                Outcome::Added { added: pending.wait()?, recognised: false }
            }
            Handed::Recognised(pending) => {
                let added = pending.wait()?;
                let recognised = added.stored == Stored::Unchanged;
                Outcome::Added { added, recognised }
            }
            Handed::Redirect(pending) => {
                pending.wait()?;
                Outcome::Redirected
            }
            Handed::PassedOver => Outcome::PassedOver,
        })
    }
}
