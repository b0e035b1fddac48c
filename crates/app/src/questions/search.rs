//! Search: originals by their words, each with its copies.

use std::sync::OnceLock;

use serde::Deserialize;
use wonbon_store::{Page, Query, SearchResult, SearchResults, Store, StoredDocument};

use super::non_empty;
use crate::answers::{FoundResult, SearchAnswer};
use crate::cursor::{Cursor, next_of};
use crate::error::{AppError, RequestError};
use crate::parameters::RESULTS;

/// The most copies of a result that are listed with it.
const MOST_COPIES: usize = 100;

/// What is looked for.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct SearchQuestion {
    /// The words. All must occur; "several words" in quotes as they stand; -word must not occur; OR
    /// stands between alternatives; title:word looks in titles.
    #[serde(default)]
    pub q: String,
    /// Originals of this site only.
    pub site: Option<String>,
    /// Originals in this language only.
    pub language: Option<String>,
    /// Originals created from this date on only.
    pub after: Option<String>,
    /// Originals created before this date only.
    pub before: Option<String>,
    /// List the copies of each result too, up to 100.
    pub copies: Option<bool>,
    /// How many results: 10 unless said, at most 1000.
    pub limit: Option<usize>,
    /// Where the list goes on.
    pub cursor: Option<String>,
    /// All of this as a query, once it was asked for.
    #[serde(skip)]
    #[cfg_attr(feature = "openapi", param(ignore))]
    query: OnceLock<Query>,
}

/// A result and its copies, if they are listed.
#[derive(Debug)]
pub struct FoundOriginal {
    /// The result.
    pub result: SearchResult,
    /// Its copies, without their texts.
    pub copies: Option<Vec<StoredDocument>>,
}

/// What was found.
#[derive(Debug)]
pub struct SearchFound {
    /// How many originals match.
    pub total: u64,
    /// How many results stand before these.
    pub offset: usize,
    /// A page of them, the best first.
    pub results: Vec<FoundOriginal>,
    /// Where the list goes on, if it does.
    pub next: Option<String>,
}

impl SearchQuestion {
    /// A question for words, behind so many results.
    #[must_use]
    pub fn for_words(q: String, offset: usize, limit: usize) -> Self {
        let cursor = Some(Cursor([offset as u64, 0]).write('s'));
        SearchQuestion { q, limit: Some(limit), cursor, ..SearchQuestion::default() }
    }

    /// Whether anything is asked at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let filters = [&self.site, &self.language, &self.after, &self.before];
        self.q.trim().is_empty() && filters.iter().all(|filter| non_empty(filter).is_none())
    }

    /// The words and filters as one query.
    fn query(&self) -> Result<&Query, AppError> {
        if let Some(query) = self.query.get() {
            return Ok(query);
        }
        let mut text = self.q.clone();
        for (field, name, value) in [
            ("site", "site", &self.site),
            ("lang", "language", &self.language),
            ("after", "after", &self.after),
            ("before", "before", &self.before),
        ] {
            let Some(value) = non_empty(value) else { continue };
            if value.contains(|c: char| c.is_whitespace() || c == '"') {
                return Err(RequestError::parameter(name, "one word", value).into());
            }
            text.push_str(&format!(" {field}:{value}"));
        }
        let query = Query::parse(&text)?;
        Ok(self.query.get_or_init(|| query))
    }

    fn page(&self) -> Result<Page, RequestError> {
        let offset = Cursor::read(self.cursor.as_deref(), 's')?.map_or(Ok(0), Cursor::first)?;
        Ok(Page { offset, limit: RESULTS.of(self.limit)? })
    }

    /// Finds originals.
    ///
    /// # Errors
    ///
    /// [`AppError::Query`], [`AppError::Request`], or the store's.
    pub fn search(&self, store: &Store) -> Result<SearchFound, AppError> {
        let page = self.page()?;
        let found = store.search(self.query()?, page)?;
        self.list(store, page, found)
    }

    /// Finds originals if that takes no more than looking at so many; none if it may take more, or the
    /// question is wrong, which [`SearchQuestion::search`] tells.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn search_briefly(
        &self,
        store: &Store,
        most_originals: u64,
    ) -> Option<Result<SearchFound, AppError>> {
        let (page, query) = (self.page().ok()?, self.query().ok()?);
        let found = store.search_briefly(query, page, most_originals).transpose()?;
        Some(found.map_err(AppError::from).and_then(|found| self.list(store, page, found)))
    }

    /// What was found, with its copies.
    fn list(
        &self,
        store: &Store,
        page: Page,
        found: SearchResults,
    ) -> Result<SearchFound, AppError> {
        let Page { offset, limit } = page;
        let mut results = Vec::with_capacity(found.results.len());
        for result in found.results {
            let copies = if self.copies == Some(true) && result.document.copies > 0 {
                let part = store.family_part(&result.document.key, 1, MOST_COPIES)?;
                part.map(|part| part.documents.into_iter().map(without_text).collect())
            } else {
                None
            };
            results.push(FoundOriginal { result, copies });
        }
        let shown = offset + results.len();
        let is_more = results.len() == limit && (shown as u64) < found.total;
        let next = next_of(is_more, 's', Some([shown as u64, 0]));
        Ok(SearchFound { total: found.total, offset, results, next })
    }
}

/// Drops the text of a copy: a page of results may list 100,000 copies.
fn without_text(mut copy: StoredDocument) -> StoredDocument {
    copy.text = String::new();
    copy
}

impl SearchFound {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> SearchAnswer<'_> {
        SearchAnswer {
            total: self.total,
            results: self
                .results
                .iter()
                .map(|found| FoundResult::of(&found.result, found.copies.as_deref()))
                .collect(),
            next: self.next.as_deref(),
        }
    }
}
