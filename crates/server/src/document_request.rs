//! Documents as clients send them: JSON objects and lines, plain text, pages.
//!
//! What the fields mean is decided by [`wonbon_documents`], as for files; this module finds the document
//! in the body and turns a row error into a problem. A request has no file and row to name a document
//! after, so one with neither id nor address is refused.
//!
//! Cost: JSON is parsed in place, with a parser that each thread keeps.

use std::cell::RefCell;

use bytes::Bytes;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use wonbon_app::intake::{Intake, IntakeError, ReadyDocument};
use wonbon_app::parameters::{date, dates};
use wonbon_documents::{Content, Document, FieldNames, RowError, RowParser, is_binary};
use wonbon_store::{Expected, Store};
use wonbon_time::{Dates, Timestamp};

use crate::problem::{Code, Problem};
use crate::request::{ContentKind, from_address, utf8};

/// A document to be stored or checked: the fields and rules of docs/formats.md. Other fields are ignored.
///
/// This describes the JSON for the API's description; `wonbon_documents` reads it.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it only describes what wonbon_documents reads")]
pub(crate) struct DocumentRequest {
    /// Its key; without one, or if it is empty, the URL is. A number is written out.
    id: Option<IdRequest>,
    /// Its address.
    url: Option<String>,
    /// When it was created. Without it, now.
    created: Option<TimeRequest>,
    /// When it claims to be published; without it, what the page claims of itself.
    published: Option<TimeRequest>,
    /// Its title; without one, the page's.
    title: Option<String>,
    /// Its text: taken if it has a word.
    text: Option<String>,
    /// A page, used where the text has no word: its core text is taken.
    html: Option<String>,
    /// The site it stands on; without one it follows from the address.
    site: Option<String>,
    /// Who wrote it.
    author: Option<String>,
    /// Its language; without one, the page's.
    language: Option<String>,
    /// Where the address leads, where there is neither text nor page; with a sweep only.
    redirect: Option<String>,
}

/// An id: a string or a whole number.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes what wonbon_documents reads")]
pub(crate) enum IdRequest {
    /// As it is.
    Text(String),
    /// Written out.
    Number(u64),
}

/// A time: ISO 8601, or a number of seconds, milliseconds (from 10^11) or microseconds (from 10^14) since
/// 1970, as a number or a string.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only describes what wonbon_documents reads")]
pub(crate) enum TimeRequest {
    /// Since 1970.
    Number(f64),
    /// ISO 8601, or a number.
    Text(String),
}

/// How a document is added.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AddParameters {
    /// The key of a document that comes as plain text or HTML.
    pub(crate) key: Option<String>,
    /// The date of the sweep that saw it.
    pub(crate) sweep: Option<String>,
    /// Which dates decide who is the original: `created`, or `claimed` to take the date that a page
    /// claims where there is no creation time; those of the store if not said.
    pub(crate) dates: Option<String>,
    /// When it was created, if it comes as plain text or HTML.
    pub(crate) created: Option<String>,
    /// When it claims to be published, if it comes as plain text or HTML.
    pub(crate) published: Option<String>,
    /// Its title, if it comes as plain text or HTML.
    pub(crate) title: Option<String>,
}

/// How the documents of a request are taken in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddOptions {
    sweep: Option<Timestamp>,
    dates: Option<Dates>,
}

impl AddOptions {
    /// Into this store.
    pub(crate) fn intake(self, store: &Store) -> Intake<'_> {
        Intake::new(store).with_sweep(self.sweep).with_dates(self.dates)
    }
}

impl AddParameters {
    pub(crate) fn of(parts: &axum::http::request::Parts) -> Result<(Self, AddOptions), Problem> {
        let parameters: AddParameters = from_address(parts)?;
        let sweep = date("sweep", parameters.sweep.as_deref())?;
        let dates = dates(parameters.dates.as_deref())?;
        Ok((parameters, AddOptions { sweep, dates }))
    }
}

/// One document as it was sent.
#[derive(Debug)]
pub(crate) struct SentDocument {
    pub(crate) kind: ContentKind,
    pub(crate) parameters: AddParameters,
    pub(crate) body: Bytes,
}

impl SentDocument {
    /// Prepares it for the store's writer.
    pub(crate) fn prepare(
        &self,
        store: &Store,
        options: AddOptions,
        expected: Option<Expected>,
    ) -> Result<ReadyDocument, Problem> {
        let intake = options.intake(store).with_expected(expected);
        self.read(None, |document| Ok(intake.prepare(document)?))
    }

    /// Calls `with` with the document; one without a name is called by `otherwise`, if that is given.
    pub(crate) fn read<T>(
        &self,
        otherwise: Option<&str>,
        with: impl FnOnce(&mut Document<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        if self.kind.essence == "application/json" {
            return read_json(&self.body, otherwise, with);
        }
        if is_binary(&self.body) {
            let detail = "the document is a binary file; a text is wanted";
            return Err(Problem::new(Code::UnsupportedContent, detail));
        }
        let key = self.parameters.key.as_deref().filter(|key| !key.is_empty()).or(otherwise);
        let key = key.ok_or_else(key_missing)?;
        let content = Content::Bytes {
            bytes: self.body[..].into(),
            charset: self.kind.charset.as_deref().map(Into::into),
        };
        let title = self.parameters.title.as_deref().filter(|title| !title.is_empty());
        with(&mut Document {
            created: date("created", self.parameters.created.as_deref())?,
            published: date("published", self.parameters.published.as_deref())?,
            title: title.map(Into::into),
            ..Document::new(key, content)
        })
    }
}

/// Plain text without a name.
pub(crate) fn key_missing() -> Problem {
    Problem::new(Code::BadParameter, "plain text and HTML need the parameter `key`")
}

/// Calls `with` with the document of a JSON object; one with neither id nor address is called by
/// `otherwise`, if that is given.
pub(crate) fn read_json<T>(
    json: &[u8],
    otherwise: Option<&str>,
    with: impl FnOnce(&mut Document<'_>) -> Result<T, Problem>,
) -> Result<T, Problem> {
    thread_local! {
        static PARSER: RefCell<RowParser> = RefCell::new(RowParser::new(FieldNames::default()));
    }
    let mut copy = RowParser::copy_with_room(json);
    let document = PARSER.with_borrow_mut(|parser| parser.parse(&mut copy, otherwise));
    if document.is_err() {
        // The parser refuses what is no UTF-8, too, but does not say so.
        utf8(json)?;
    }
    with(&mut document?)
}

/// A sentence that begins with the document.
impl From<RowError> for Problem {
    fn from(error: RowError) -> Self {
        Problem::new(Code::BadJson, format!("the document {error}"))
    }
}

impl From<IntakeError> for Problem {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Store(error) => error.into(),
            error => Problem::new(Code::BadJson, error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem_of(line: &[u8]) -> Problem {
        read_json(line, None, |document| Ok(document.id.clone().into_owned())).unwrap_err()
    }

    #[test]
    fn what_is_wrong_with_a_document_is_told_apart() {
        assert_eq!(problem_of(b"{\"id\":\"a\",\"text\":\"\xff\"}").code, Code::NotUtf8);
        for (line, why) in [
            (&b"[1]"[..], "the document is not a JSON object"),
            (b"{\"id\":\"a\"", "the document is not JSON ("),
            (b"{\"id\":\"a\"}", "the document has neither a field `text` nor a field `html`"),
            (b"{\"text\":\"a\"}", "the document has neither a field `id` nor a field `url`"),
            (b"{\"id\":\"\",\"text\":\"a\"}", "the document has neither a field `id`"),
            (b"{\"id\":[7],\"text\":\"a\"}", "the document has a field `id` that is neither"),
            (
                b"{\"id\":\"a\",\"text\":\"a\",\"created\":\"yesterday\"}",
                "the document has a field `created` that is not a time: yesterday",
            ),
        ] {
            let problem = problem_of(line);
            assert_eq!(problem.code, Code::BadJson);
            assert!(problem.detail.starts_with(why), "{}", problem.detail);
        }
    }

    #[test]
    fn a_document_without_a_name_can_be_given_one() {
        let id = |document: &mut Document<'_>| Ok(document.id.clone().into_owned());
        assert_eq!(read_json(b"{\"text\":\"a\"}", Some("(unnamed)"), id).unwrap(), "(unnamed)");
    }
}
