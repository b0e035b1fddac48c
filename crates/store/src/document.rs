//! Documents as they are given to a store and as they are stored, with their verdicts.

use std::borrow::Cow;

use wonbon_index::Row;
use wonbon_rule::Verdict;
use wonbon_time::Timestamp;

use crate::decisions::Decision;
use crate::error::StoreError;

/// The longest key, in bytes.
pub const MOST_KEY_BYTES: usize = 4096;

/// Whether a key is as long as keys may be.
pub(crate) fn check_key(key: &str) -> Result<(), StoreError> {
    match key.len() {
        // PostgreSQL has no text with it, so no store has.
        1..=MOST_KEY_BYTES if key.contains('\0') => Err(StoreError::NulInKey),
        1..=MOST_KEY_BYTES => Ok(()),
        bytes => Err(StoreError::BadKey { bytes, most: MOST_KEY_BYTES }),
    }
}

/// A field of a document, as every store can keep it: PostgreSQL has no text with NUL.
pub(crate) fn without_nul(text: &str) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{FFFD}"),
        false => text.to_owned(),
    }
}

/// The longest content, in bytes.
pub const MOST_CONTENT_BYTES: usize = 512 << 20;

/// The content of a document as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Plain text: taken as it is.
    Text(&'a str),
    /// A page: its core text is extracted; title and language come from it where the caller has none.
    Html(&'a str),
    /// Bytes of either kind, in any charset.
    Bytes {
        /// The bytes.
        bytes: &'a [u8],
        /// The charset that came with them, such as an HTTP header's.
        declared: Option<&'a str>,
    },
    /// Content whose core text was taken out already.
    Extracted {
        /// The content as it came.
        bytes: &'a [u8],
        /// Its core text.
        text: &'a str,
    },
}

impl Content<'_> {
    /// The bytes by which two contents are identical.
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Content::Text(text) | Content::Html(text) => text.as_bytes(),
            Content::Bytes { bytes, .. } | Content::Extracted { bytes, .. } => bytes,
        }
    }
}

/// A document to be stored or asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDocument<'a> {
    /// What names it for ever: a URL or an id. A known key with other content is a new version.
    pub key: Cow<'a, str>,
    /// When it was created; unknown means now, or for a known key what
    /// was known.
    pub created: Option<Timestamp>,
    /// Whether `created` is only when the document was seen, so that it may be older: what is known to
    /// be created before stays so.
    pub created_at_the_latest: bool,
    /// When it claims to be published: kept and shown, and decides nothing. Of a page that is not
    /// extracted yet, unknown means what the page claims.
    pub published: Option<Timestamp>,
    /// Its address, if that is not the key.
    pub url: Option<Cow<'a, str>>,
    /// Its site.
    pub site: Option<Cow<'a, str>>,
    /// Who wrote it.
    pub author: Option<Cow<'a, str>>,
    /// Its title.
    pub title: Option<Cow<'a, str>>,
    /// Its language.
    pub language: Option<Cow<'a, str>>,
    /// The date of the sweep that saw it, if one did.
    pub sweep: Option<Timestamp>,
    /// Its text.
    pub content: Content<'a>,
}

impl<'a> NewDocument<'a> {
    /// A document that is only a key and a text.
    #[must_use]
    pub fn text(key: &'a str, created: Option<Timestamp>, text: &'a str) -> Self {
        NewDocument {
            key: key.into(),
            created,
            created_at_the_latest: false,
            published: None,
            url: None,
            site: None,
            author: None,
            title: None,
            language: None,
            sweep: None,
            content: Content::Text(text),
        }
    }

    /// The same, seen by the sweep of this date.
    #[must_use]
    pub fn seen(self, sweep: Timestamp) -> Self {
        NewDocument { sweep: Some(sweep), ..self }
    }
}

/// A [`NewDocument`] that owns all its fields, so that it can outlive the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnedDocument {
    /// Everything but the content, which is empty here.
    fields: NewDocument<'static>,
    content: OwnedContent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnedContent {
    Text(String),
    Html(String),
    Bytes { bytes: Vec<u8>, declared: Option<String> },
    Extracted { bytes: Vec<u8>, text: String },
}

impl OwnedDocument {
    pub(crate) fn of(document: &NewDocument<'_>) -> Self {
        let owned =
            |text: &Option<Cow<'_, str>>| text.as_deref().map(|text| text.to_owned().into());
        let content = match document.content {
            Content::Text(text) => OwnedContent::Text(text.to_owned()),
            Content::Html(html) => OwnedContent::Html(html.to_owned()),
            Content::Bytes { bytes, declared } => OwnedContent::Bytes {
                bytes: bytes.to_owned(),
                declared: declared.map(str::to_owned),
            },
            Content::Extracted { bytes, text } => {
                OwnedContent::Extracted { bytes: bytes.to_owned(), text: text.to_owned() }
            }
        };
        let fields = NewDocument {
            key: document.key.clone().into_owned().into(),
            created: document.created,
            created_at_the_latest: document.created_at_the_latest,
            published: document.published,
            url: owned(&document.url),
            site: owned(&document.site),
            author: owned(&document.author),
            title: owned(&document.title),
            language: owned(&document.language),
            sweep: document.sweep,
            content: Content::Text(""),
        };
        OwnedDocument { fields, content }
    }

    pub(crate) fn key(&self) -> &str {
        &self.fields.key
    }

    pub(crate) fn sweep(&self) -> Option<Timestamp> {
        self.fields.sweep
    }

    /// The document, as the store takes it.
    pub(crate) fn as_new(&self) -> NewDocument<'_> {
        let content = match &self.content {
            OwnedContent::Text(text) => Content::Text(text),
            OwnedContent::Html(html) => Content::Html(html),
            OwnedContent::Bytes { bytes, declared } => {
                Content::Bytes { bytes, declared: declared.as_deref() }
            }
            OwnedContent::Extracted { bytes, text } => Content::Extracted { bytes, text },
        };
        NewDocument { content, ..self.fields.clone() }
    }
}

/// What storing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stored {
    /// The key was not known.
    New,
    /// The key was known: this is its new version.
    Updated,
    /// The key was known with this very content and creation time: nothing changed.
    Unchanged,
}

/// What became of a document that was added.
#[derive(Debug, Clone, PartialEq)]
pub struct Added {
    /// Its number in the store.
    pub row: Row,
    /// Whether it was known.
    pub stored: Stored,
    /// What it is.
    pub verdict: Verdict,
    /// The number of the last change that this follows from; a check can ask for it ([`Freshness::AtLeast`]).
    pub change: u64,
}

/// What a check of a store that several processes write to has to know. A store in a directory always knows everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Freshness {
    /// All that was acknowledged anywhere before it began.
    #[default]
    Now,
    /// All up to this change.
    AtLeast(u64),
    /// What this process happens to know: a fraction of a second old while the database answers.
    Any,
}

/// A document as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    /// Its number in the store.
    pub row: Row,
    /// Its key.
    pub key: String,
    /// When it was created.
    pub created: Timestamp,
    /// When it claims to be published, if it does.
    pub published: Option<Timestamp>,
    /// When this version was stored.
    pub stored: Timestamp,
    /// How many versions there were, this one included.
    pub version: u32,
    /// Its address.
    pub url: Option<String>,
    /// Its site.
    pub site: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its language.
    pub language: Option<String>,
    /// Its core text.
    pub text: String,
    /// Its words.
    pub words: u64,
    /// What it is. The resemblance is exact.
    pub verdict: Verdict,
    /// How many copies it has, if it is an original.
    pub copies: u64,
    /// What was decided of it, if that is in effect.
    pub decision: Option<Decision>,
    /// The last entry of the log of decisions that changed that; 0 if none did.
    pub decision_entry: u64,
}

impl StoredDocument {
    /// The edit that made it what it is.
    #[must_use]
    pub fn edit(&self) -> Edit {
        Edit { version: self.version, stored: self.stored, decision_entry: self.decision_entry }
    }
}

/// One edit of a document, or one decision about it: a later one has another version, another time or
/// another entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The version it made.
    pub version: u32,
    /// When it was stored.
    pub stored: Timestamp,
    /// The last entry of the log of decisions about it; 0 if there is none.
    pub decision_entry: u64,
}

/// The precondition of a write. The writer checks it, so no other write can come between the check and the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Expected {
    /// Its key is not known.
    Absent,
    /// Its key is known.
    Present,
    /// This edit is the latest.
    Edit(Edit),
}

impl Expected {
    /// Why the precondition fails, if it does.
    pub(crate) fn unlike(self, there: Option<Edit>) -> Option<&'static str> {
        match (self, there) {
            (Expected::Absent, Some(_)) => Some("there is one of this key"),
            (Expected::Present | Expected::Edit(_), None) => Some("there is none of this key"),
            (Expected::Edit(expected), Some(there)) if expected != there => {
                Some("it was edited or decided about since")
            }
            _ => None,
        }
    }
}

/// The order of documents: those decided to be originals first, then by creation time, then by arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Order {
    /// False if it was decided to be the original; such documents sort first.
    pub(crate) usual: bool,
    pub(crate) created: Timestamp,
    pub(crate) row: Row,
}

impl Order {
    pub(crate) fn new(decision: Option<Decision>, created: Timestamp, row: Row) -> Self {
        Order { usual: decision != Some(Decision::Original), created, row }
    }
}
