//! Search: originals by their words, each with its copies.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use wonbon_app::answers;
use wonbon_app::parameters::limit;
use wonbon_store::{Page, Query, SearchResult, SearchResults};

use crate::pages;
use crate::paging::{Cursor, next_of};
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reply, View};

/// The most copies of a result that are listed with it.
const MOST_COPIES: usize = 100;

/// What is looked for.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuestion {
    /// The words. All must occur; "several words" in quotes as they stand; -word must not occur; OR
    /// stands between alternatives; title:word looks in titles.
    #[serde(default)]
    pub(crate) q: String,
    /// Originals of this site only.
    pub(crate) site: Option<String>,
    /// Originals in this language only.
    pub(crate) language: Option<String>,
    /// Originals created from this date on only.
    pub(crate) after: Option<String>,
    /// Originals created before this date only.
    pub(crate) before: Option<String>,
    /// List the copies of each result too, up to 100.
    pub(crate) copies: Option<bool>,
    /// How many results: 10 unless said, at most 100.
    pub(crate) limit: Option<usize>,
    /// Where the list goes on.
    pub(crate) cursor: Option<String>,
    /// All of this as a query, once it was asked for.
    #[serde(skip)]
    #[param(ignore)]
    query: OnceLock<Query>,
}

impl SearchQuestion {
    /// Whether anything is asked at all.
    pub(crate) fn is_empty(&self) -> bool {
        let filters = [&self.site, &self.language, &self.after, &self.before];
        self.q.trim().is_empty() && filters.iter().all(|filter| said(filter).is_none())
    }

    /// The words and filters as one query.
    fn query(&self) -> Result<&Query, Problem> {
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
            let Some(value) = said(value) else { continue };
            if value.contains(|c: char| c.is_whitespace() || c == '"') {
                let detail = format!("`{name}` is one word, not {value}");
                return Err(Problem::new(Code::BadParameter, detail));
            }
            text.push_str(&format!(" {field}:{value}"));
        }
        let query = Query::parse(&text)?;
        Ok(self.query.get_or_init(|| query))
    }
}

/// What a field says, if it says anything: forms send empty ones.
pub(crate) fn said(value: &Option<String>) -> Option<&str> {
    value.as_deref().map(str::trim).filter(|value| !value.is_empty())
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SearchAnswer<'a> {
    /// How many originals match.
    total: u64,
    /// A page of them, the best first.
    results: Vec<answers::FoundResult<'a>>,
    /// Where the list goes on, if it does.
    next: Option<String>,
}

/// A search is brief that looks at no more originals than these, of which it shows no more than
/// [`BRIEF_PAGE`].
const BRIEF_ORIGINALS: u64 = 20_000;
const BRIEF_PAGE: usize = 20;

/// The answer of a search that takes well under a millisecond; `None` if it may take longer.
pub(crate) fn brief_search(
    service: &Service,
    asked: &SearchQuestion,
    view: &View,
) -> Option<Result<Reply, Problem>> {
    let limit = asked.limit.unwrap_or(10);
    let simple = matches!(view, View::Json)
        && asked.copies != Some(true)
        && asked.cursor.is_none()
        && (1..=BRIEF_PAGE).contains(&limit);
    if !simple {
        return None;
    }
    // What is wrong with the question is told by whoever answers it.
    let query = asked.query().ok()?;
    let page = Page { offset: 0, limit };
    let found = service.store.search_briefly(query, page, BRIEF_ORIGINALS).transpose()?;
    Some(found.map_err(Problem::from).and_then(|found| answer(service, asked, view, page, found)))
}

/// A result and its copies, if they are listed.
pub(crate) struct Found {
    pub(crate) result: SearchResult,
    pub(crate) copies: Option<Vec<answers::FoundCopy>>,
}

/// Originals by their words.
#[utoipa::path(
    get,
    path = "/v1/search",
    tag = "questions",
    description = "Finds originals by their words. Every hit is looked up: one that became a copy or is \
        gone is left out. What was stored is found about a second later.",
    params(SearchQuestion),
    responses((status = 200, body = SearchAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn search(
    service: &Service,
    asked: SearchQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    if let View::Page(reader) = view
        && asked.is_empty()
    {
        return Ok(pages::search_page(reader, &asked, None));
    }
    let limit = limit(asked.limit, 10, 100)?;
    let offset = match Cursor::read(asked.cursor.as_deref(), 's')? {
        Some(Cursor([offset, _])) => usize::try_from(offset).map_err(|_| Cursor::wrong())?,
        None => 0,
    };
    let page = Page { offset, limit };
    let found = service.store.search(asked.query()?, page)?;
    answer(service, &asked, view, page, found)
}

/// What was found, as it is shown.
fn answer(
    service: &Service,
    asked: &SearchQuestion,
    view: &View,
    page: Page,
    found: SearchResults,
) -> Result<Reply, Problem> {
    let Page { offset, limit } = page;
    let with_copies = asked.copies.unwrap_or(matches!(view, View::Page(_)));
    let mut results = Vec::with_capacity(found.results.len());
    for result in found.results {
        let copies = if with_copies && result.document.copies > 0 {
            let part = service.store.family_part(&result.document.key, 1, MOST_COPIES)?;
            part.map(|part| part.documents.into_iter().map(answers::FoundCopy::of).collect())
        } else {
            None
        };
        results.push(Found { result, copies });
    }
    let shown = offset + results.len();
    let is_more = results.len() == limit && (shown as u64) < found.total;
    let next = next_of(is_more, 's', Some([shown as u64, 0]));
    match view {
        View::Json => Ok(Reply::json(&SearchAnswer {
            total: found.total,
            results: results
                .iter()
                .map(|found| answers::FoundResult::of(&found.result, found.copies.clone()))
                .collect(),
            next,
        })),
        View::Page(reader) => {
            let page = pages::ResultPage { total: found.total, offset, results: &results, next };
            Ok(pages::search_page(reader, asked, Some(page)))
        }
    }
}
