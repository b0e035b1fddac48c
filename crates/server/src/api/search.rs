//! `/v1/search` and its page: originals by their words, each with its copies.
//!
//! A search that is estimated to be cheap is answered on the thread that reads the request, which saves
//! two thread switches.

use wonbon_app::answers::SearchAnswer;
use wonbon_app::questions::SearchQuestion;

use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::Problem;
use crate::service::Service;
use crate::view::{Reply, View};

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
    let simple = matches!(view, View::Json)
        && asked.copies != Some(true)
        && asked.cursor.is_none()
        && asked.limit.is_none_or(|limit| limit <= BRIEF_PAGE);
    if !simple {
        return None;
    }
    let found = asked.search_briefly(&service.store, BRIEF_ORIGINALS)?;
    Some(found.map(|found| Reply::json(&found.answer())).map_err(Problem::from))
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
    service: &Inquiry,
    mut asked: SearchQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let View::Page(reader) = view else {
        return Ok(Reply::json(&asked.search(&service.store)?.answer()));
    };
    if asked.is_empty() {
        return Ok(pages::search_page(reader, &asked, None));
    }
    asked.copies.get_or_insert(true);
    let found = asked.search(&service.store)?;
    Ok(pages::search_page(reader, &asked, Some(&found)))
}
