//! Originals that were found by their words.

use serde::Serialize;
use wonbon_store::{SearchResult, StoredDocument};

use super::Document;

/// An original that was found by its words.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FoundResult<'a> {
    /// The original, without its text.
    pub document: Document<'a>,
    /// How well it matches; comparable within one answer only.
    pub score: f32,
    /// Escaped, with what matches in `<mark>`.
    pub snippet_html: String,
    /// Its copies without their texts, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<Vec<Document<'a>>>,
}

impl<'a> FoundResult<'a> {
    /// The JSON form of a result, with its copies if they were asked for.
    #[must_use]
    pub fn of(result: &'a SearchResult, copies: Option<&'a [StoredDocument]>) -> Self {
        FoundResult {
            document: Document::without_text(&result.document),
            score: result.score,
            snippet_html: result.snippet.to_html(),
            copies: copies.map(|copies| copies.iter().map(Document::without_text).collect()),
        }
    }
}
