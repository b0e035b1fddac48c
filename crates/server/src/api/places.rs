//! Routes about places: where a document moved, who holds copies, how pages change, what is watched.

use serde::Deserialize;
use utoipa::ToSchema;
use wonbon_app::answers::{self, WatchList, WatchReports};
use wonbon_app::questions::{
    self, ChangesFound, ChangesParameters, PlaceQuestion, ReportQuestion, non_empty,
};

use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::Problem;
use crate::view::{Reply, View};

/// Where the document of an address is now.
#[utoipa::path(
    get,
    path = "/v1/moved",
    tag = "questions",
    description = "For an address that is gone, the newest place that holds the same document, with the evidence. `total` says how many places were found, `cut` whether some are not told.",
    params(PlaceQuestion),
    responses((status = 200, body = answers::Moved), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn moved(
    service: &Inquiry,
    asked: PlaceQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    match view {
        View::Json => Ok(Reply::json(&answers::Moved::of(&asked.moved(&service.store)?))),
        View::Page(reader) if non_empty(&asked.key).is_none() => {
            Ok(pages::moved_page(reader, &asked, None))
        }
        View::Page(reader) => {
            Ok(pages::moved_page(reader, &asked, Some(&asked.moved(&service.store)?)))
        }
    }
}

/// Who holds a document.
#[utoipa::path(
    get,
    path = "/v1/copies",
    tag = "questions",
    description = "Who holds a document, by site: when each holder was seen, its resemblance, and which version it follows. `holders` says how many were found, `cut` whether some are not told.",
    params(PlaceQuestion),
    responses((status = 200, body = answers::Copies), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn copies(
    service: &Inquiry,
    asked: PlaceQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    match view {
        View::Json => Ok(Reply::json(&answers::Copies::of(&asked.copies(&service.store)?))),
        View::Page(reader) if non_empty(&asked.key).is_none() => {
            Ok(pages::copies_page(reader, &asked, None))
        }
        View::Page(reader) => {
            Ok(pages::copies_page(reader, &asked, Some(&asked.copies(&service.store)?)))
        }
    }
}

/// How pages change.
#[utoipa::path(
    get,
    path = "/v1/changes",
    tag = "questions",
    description = "With `key` the versions of a page. Otherwise what each sweep saw, how often pages change, how much, and how long they live.",
    params(ChangesParameters),
    responses((status = 200, body = answers::ChangesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn changes(
    service: &Inquiry,
    asked: ChangesParameters,
    view: &View,
) -> Result<Reply, Problem> {
    let found = asked.ask(&service.store)?;
    Ok(match (view, &found) {
        (View::Json, found) => Reply::json(&found.answer()),
        (View::Page(reader), ChangesFound::History(history)) => {
            pages::history_page(reader, &asked, history)
        }
        (View::Page(reader), ChangesFound::Changes { changes, .. }) => {
            pages::changes_page(reader, &asked, changes)
        }
    })
}

/// Which document is watched, or no more.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct WatchParameters {
    /// Its key or address.
    pub(crate) key: String,
    /// On the page: `remove` to watch it no more.
    #[serde(default)]
    pub(crate) then: String,
}

/// The documents that are watched.
#[utoipa::path(
    get,
    path = "/v1/watch",
    tag = "questions",
    description = "The documents whose copies are watched.",
    responses((status = 200, body = WatchList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn watched(service: &Inquiry, _asked: Nothing, _view: &View) -> Result<Reply, Problem> {
    Ok(Reply::json(&WatchList::of(&service.store.watched()?)))
}

/// No parameters.
#[derive(Debug, Deserialize)]
pub(crate) struct Nothing {}

/// Watches a document.
#[utoipa::path(
    post,
    path = "/v1/watch",
    tag = "questions",
    description = "Watches a stored document for copies that differ from it by a little.",
    request_body(content = WatchParameters, content_type = "application/json"),
    responses((status = 200, body = WatchList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn watch(
    service: &Inquiry,
    asked: WatchParameters,
    view: &View,
) -> Result<Reply, Problem> {
    let key = asked.key.trim();
    if matches!(view, View::Page(_)) && asked.then == "remove" {
        questions::unwatch(&service.store, key)?;
    } else {
        questions::watch(&service.store, key)?;
    }
    match view {
        View::Page(_) => Ok(Reply::see_other("/watch")),
        View::Json => watched(service, Nothing {}, view),
    }
}

/// Watches a document no more.
#[utoipa::path(
    delete,
    path = "/v1/watch",
    tag = "questions",
    description = "Watches a document no more.",
    params(("key" = String, Query, description = "its key or address")),
    responses((status = 200, body = WatchList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn unwatch(
    service: &Inquiry,
    asked: PlaceQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    questions::unwatch(&service.store, asked.key()?)?;
    watched(service, Nothing {}, view)
}

/// Copies of watched documents that differ from them by a little.
#[utoipa::path(
    get,
    path = "/v1/watch/report",
    tag = "questions",
    description = "Of each watched document: how many stored copies have its very words, which follow an earlier version, and which differ, with the differing words.",
    params(ReportQuestion),
    responses((status = 200, body = WatchReports), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn report(
    service: &Inquiry,
    asked: ReportQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let reports = asked.ask(&service.store)?;
    Ok(match view {
        View::Page(reader) => pages::watch_page(reader, &reports),
        View::Json => Reply::json(&WatchReports::of(&reports)),
    })
}
