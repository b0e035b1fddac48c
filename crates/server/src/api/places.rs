//! Where documents are and were: moved, copies, changes, watch.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use wonbon_app::answers;
use wonbon_app::parameters::{date, least_share, limit};
use wonbon_store::{ChangesQuestion, Copies, MOST_PLACES, Moved, Store, StoreError};

use super::searching::said;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reader, Reply, View};

/// Places that are told unless more are asked for: as many as a page can well show.
const USUAL_PLACES: usize = 1000;

/// A question about an address.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PlaceQuestion {
    /// The address, or the id of the document.
    pub(crate) url: Option<String>,
    /// The least resemblance of what is shown: 0.5 unless said.
    pub(crate) min: Option<f64>,
    /// How many places are told, the best ones: 1000 unless said, at most 100000.
    pub(crate) limit: Option<usize>,
}

fn address_of(asked: &PlaceQuestion) -> Result<&str, Problem> {
    said(&asked.url)
        .ok_or_else(|| Problem::new(Code::BadParameter, "`url` says what is asked about"))
}

/// What is answered about the places of a document.
trait OfPlaces: Sized {
    /// Asks the store; `None` if the address was never seen.
    fn find(store: &Store, address: &str, min: f64) -> Result<Option<Self>, StoreError>;
    /// Leaves out what is beyond the limit.
    fn keep(&mut self, limit: usize);
    /// The page: a form only, or with the answer.
    fn page(reader: &Reader, asked: &PlaceQuestion, found: Option<&Self>) -> Reply;
    fn json(&self) -> Reply;
}

impl OfPlaces for Moved {
    fn find(store: &Store, address: &str, min: f64) -> Result<Option<Self>, StoreError> {
        store.moved(address, min)
    }

    fn keep(&mut self, limit: usize) {
        Moved::keep(self, limit);
    }

    fn page(reader: &Reader, asked: &PlaceQuestion, found: Option<&Self>) -> Reply {
        pages::moved_page(reader, asked, found)
    }

    fn json(&self) -> Reply {
        Reply::json(&answers::Moved::of(self))
    }
}

impl OfPlaces for Copies {
    fn find(store: &Store, address: &str, min: f64) -> Result<Option<Self>, StoreError> {
        store.copies(address, min)
    }

    fn keep(&mut self, limit: usize) {
        Copies::keep(self, limit);
    }

    fn page(reader: &Reader, asked: &PlaceQuestion, found: Option<&Self>) -> Reply {
        pages::copies_page(reader, asked, found)
    }

    fn json(&self) -> Reply {
        Reply::json(&answers::Copies::of(self))
    }
}

fn answered<A: OfPlaces>(
    service: &Service,
    asked: &PlaceQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    if let View::Page(reader) = view
        && said(&asked.url).is_none()
    {
        return Ok(A::page(reader, asked, None));
    }
    let (address, min) = (address_of(asked)?, least_share(asked.min, 0.5)?);
    let limit = limit(asked.limit, USUAL_PLACES, MOST_PLACES)?;
    let found = A::find(&service.store, address, min)?;
    let mut found = found.ok_or_else(|| Problem::unknown(address))?;
    found.keep(limit);
    Ok(match view {
        View::Page(reader) => A::page(reader, asked, Some(&found)),
        View::Json => found.json(),
    })
}

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
    service: &Service,
    asked: PlaceQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    answered::<Moved>(service, &asked, view)
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
    service: &Service,
    asked: PlaceQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    answered::<Copies>(service, &asked, view)
}

/// A question about changes: of one page, or of all.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ChangesParameters {
    /// A page, by its address or id: its versions.
    pub(crate) url: Option<String>,
    /// Pages of this site only.
    pub(crate) site: Option<String>,
    /// From this date on only.
    pub(crate) since: Option<String>,
}

/// The versions of a page, or how pages change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ChangesAnswer<'a> {
    /// Of one page.
    History(answers::History<'a>),
    /// Of all.
    Changes(answers::Changes<'a>),
}

/// How pages change.
#[utoipa::path(
    get,
    path = "/v1/changes",
    tag = "questions",
    description = "With `url` the versions of a page. Otherwise what each sweep saw, how often pages change, how much, and how long they live.",
    params(ChangesParameters),
    responses((status = 200, body = ChangesAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn changes(
    service: &Service,
    asked: ChangesParameters,
    view: &View,
) -> Result<Reply, Problem> {
    let since = date("since", asked.since.as_deref())?;
    if let Some(url) = said(&asked.url) {
        let history = service.store.history(url, since)?.ok_or_else(|| Problem::unknown(url))?;
        return Ok(match view {
            View::Page(reader) => pages::history_page(reader, &asked, &history),
            View::Json => Reply::json(&ChangesAnswer::History(answers::History::of(&history))),
        });
    }
    let question = ChangesQuestion { site: said(&asked.site), since };
    let changes = service.store.changes(&question)?;
    Ok(match view {
        View::Page(reader) => pages::changes_page(reader, &asked, &changes),
        View::Json => {
            Reply::json(&ChangesAnswer::Changes(answers::Changes::of(&question, &changes)))
        }
    })
}

/// Which document is watched, or no more.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct WatchParameters {
    /// Its address or id.
    pub(crate) url: String,
    /// On the page: `remove` to watch it no more.
    #[serde(default)]
    pub(crate) then: String,
}

/// The documents that are watched.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WatchList<'a> {
    watched: Vec<answers::WatchedPlace<'a>>,
}

/// The documents that are watched.
#[utoipa::path(
    get,
    path = "/v1/watch",
    tag = "questions",
    description = "The documents whose copies are watched.",
    responses((status = 200, body = WatchList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn watched(service: &Service, _asked: Nothing, _view: &View) -> Result<Reply, Problem> {
    let watched = service.store.watched()?;
    let watched = watched.iter().map(answers::WatchedPlace::of).collect();
    Ok(Reply::json(&WatchList { watched }))
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
    service: &Service,
    asked: WatchParameters,
    view: &View,
) -> Result<Reply, Problem> {
    let url = asked.url.trim();
    if matches!(view, View::Page(_)) && asked.then == "remove" {
        if !service.store.unwatch(url)? {
            return Err(not_watched(url));
        }
    } else if !service.store.watch(url)? {
        return Err(Problem::unknown(url));
    }
    match view {
        View::Page(_) => Ok(Reply::see_other("/watch")),
        View::Json => watched(service, Nothing {}, view),
    }
}

fn not_watched(url: &str) -> Problem {
    Problem::new(Code::NotWatched, format!("`{url}` is not watched"))
}

/// Watches a document no more.
#[utoipa::path(
    delete,
    path = "/v1/watch",
    tag = "questions",
    description = "Watches a document no more.",
    params(("url" = String, Query, description = "its address or id")),
    responses((status = 200, body = WatchList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn unwatch(
    service: &Service,
    asked: PlaceQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let url = address_of(&asked)?;
    if !service.store.unwatch(url)? {
        return Err(not_watched(url));
    }
    watched(service, Nothing {}, view)
}

/// What watching tells.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WatchReports<'a> {
    reports: Vec<answers::WatchReport<'a>>,
}

/// Which copies of watched documents differ.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReportQuestion {
    /// The least resemblance of a copy: 0.8 unless said.
    pub(crate) min: Option<f64>,
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
    service: &Service,
    asked: ReportQuestion,
    view: &View,
) -> Result<Reply, Problem> {
    let min = least_share(asked.min, 0.8)?;
    let mut reports = Vec::new();
    for watched in service.store.watched()? {
        // Deleted since it was listed.
        let Some(report) = service.store.watch_report(&watched, min)? else { continue };
        reports.push(report);
    }
    Ok(match view {
        View::Page(reader) => pages::watch_page(reader, &reports),
        View::Json => {
            let reports = reports.iter().map(answers::WatchReport::of).collect();
            Reply::json(&WatchReports { reports })
        }
    })
}
