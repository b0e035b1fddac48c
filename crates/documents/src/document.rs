//! A document: everything that one can carry, whatever it came from.

use std::borrow::Cow;

use wonbon_text::extract::{core_text, extract};
use wonbon_time::{Dates, Timestamp};

use crate::resolve::Value;

/// A document as it was read. Its core text is taken out by [`extract`](Document::extract), so that
/// whoever recognises it by its bytes does not pay for that.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// What names it: its own id, or its URL, or its file and row. Empty if there is none of these: such a
    /// document can be checked and not stored.
    pub id: Cow<'a, str>,
    /// Its address, if it has one.
    pub url: Option<Cow<'a, str>>,
    /// When it was created, as whoever gives the document says. For a record of a web archive or a
    /// page of a crawl: when it was fetched.
    pub created: Option<Timestamp>,
    /// When it was published, as its author claims: in a field of the row, or in the page itself once
    /// it was extracted.
    pub published: Option<Timestamp>,
    /// Its title.
    pub title: Option<Cow<'a, str>>,
    /// Its site.
    pub site: Option<Cow<'a, str>>,
    /// Who wrote it.
    pub author: Option<Cow<'a, str>>,
    /// Its language.
    pub language: Option<Cow<'a, str>>,
    /// What it says.
    pub content: Content<'a>,
    /// The value of the field by which the reader was asked to rank ([`Reading::ranking`]).
    ///
    /// [`Reading::ranking`]: crate::Reading::ranking
    pub ranking: Value<'a>,
    /// Whether it comes from a web archive or a crawl: then `created` is when it was fetched, and it
    /// may be older.
    pub archived: bool,
}

/// What a document says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content<'a> {
    /// Plain text: taken as it is.
    Text(Cow<'a, str>),
    /// A page, decoded: its core text has to be extracted.
    Page(Cow<'a, str>),
    /// Bytes of either kind, in any charset.
    Bytes {
        /// The bytes as they came.
        bytes: Cow<'a, [u8]>,
        /// The charset that came with them: its name, or a whole `Content-Type`.
        charset: Option<Cow<'a, str>>,
    },
    /// Content whose core text was extracted.
    Extracted {
        /// The content as it came.
        bytes: Cow<'a, [u8]>,
        /// Its core text.
        text: Cow<'a, str>,
    },
    /// No content: the address leads elsewhere.
    Redirect(Cow<'a, str>),
}

impl<'a> Document<'a> {
    /// A document that is only an id and content.
    #[must_use]
    pub fn new(id: impl Into<Cow<'a, str>>, content: Content<'a>) -> Self {
        Document {
            id: id.into(),
            url: None,
            created: None,
            published: None,
            title: None,
            site: None,
            author: None,
            language: None,
            content,
            ranking: Value::Missing,
            archived: false,
        }
    }

    /// Extracts the core text of a page, and from the page the title, language and date of publication
    /// that the document does not have otherwise. Does nothing the second time.
    pub fn extract(&mut self) {
        let empty = Content::Text(Cow::Borrowed(""));
        let (bytes, page) = match std::mem::replace(&mut self.content, empty) {
            Content::Page(html) => {
                let page = extract(&html, self.url.as_deref());
                let bytes = match html {
                    Cow::Borrowed(html) => Cow::Borrowed(html.as_bytes()),
                    Cow::Owned(html) => Cow::Owned(html.into_bytes()),
                };
                (bytes, page)
            }
            Content::Bytes { bytes, charset } => {
                let core = core_text(&bytes, charset.as_deref(), self.url.as_deref());
                (bytes, core.page)
            }
            other => {
                self.content = other;
                return;
            }
        };
        self.title = self.title.take().or(page.title.map(Cow::Owned));
        self.language = self.language.take().or(page.language.map(Cow::Owned));
        let claimed = page.published.and_then(|text| Timestamp::parse_iso(&text).ok());
        self.published = self.published.or(claimed);
        self.content = Content::Extracted { bytes, text: Cow::Owned(page.text) };
    }

    /// The core text; empty before a page was extracted, and for a redirect.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.content {
            Content::Text(text) | Content::Extracted { text, .. } => text,
            Content::Page(_) | Content::Bytes { .. } | Content::Redirect(_) => "",
        }
    }

    /// The bytes by which two contents are identical.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match &self.content {
            Content::Text(text) | Content::Page(text) => text.as_bytes(),
            Content::Bytes { bytes, .. } | Content::Extracted { bytes, .. } => bytes,
            Content::Redirect(_) => &[],
        }
    }

    /// Where the address leads, if that is all there is.
    #[must_use]
    pub fn redirect(&self) -> Option<&str> {
        match &self.content {
            Content::Redirect(to) => Some(to),
            _ => None,
        }
    }

    /// The address, or the id of a document that has none: what a redirect is noted under.
    #[must_use]
    pub fn address(&self) -> &str {
        self.url.as_deref().unwrap_or(&self.id)
    }

    /// The date that decides who is the original, if the document has one. A page has to be extracted
    /// before its own claim is known.
    #[must_use]
    pub fn deciding_date(&self, dates: Dates) -> Option<Timestamp> {
        dates.deciding(self.created, self.published, self.archived)
    }
}
