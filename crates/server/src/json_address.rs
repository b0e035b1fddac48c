//! Where the JSON of a page is: the API route that answers the same question.
//!
//! A page has no JSON of its own, so the two cannot differ. `/search.json?q=a` and `/search?q=a` with
//! `Accept: application/json` both lead to `/v1/search?q=a`: the first by 308, the second by 307, because
//! what `/search` answers depends on the request.

use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use crate::view::{Reply, wants_json};

/// The route of one job; the number stands in the query of its page.
const JOB: &str = "/v1/jobs/{number}";

/// Pages, and the API routes that answer the same questions.
const ROUTES: [(&str, &str); 17] = [
    ("/", "/v1/status"),
    ("/search", "/v1/search"),
    ("/document", "/v1/documents"),
    ("/compare", "/v1/compare"),
    ("/ask", "/v1/ask"),
    ("/moved", "/v1/moved"),
    ("/copies", "/v1/copies"),
    ("/changes", "/v1/changes"),
    ("/watch", "/v1/watch/report"),
    ("/families", "/v1/families"),
    ("/family", "/v1/family"),
    ("/decisions", "/v1/decisions"),
    ("/status", "/v1/status"),
    ("/jobs", "/v1/jobs"),
    ("/job", JOB),
    ("/crawl", JOB),
    ("/docs", "/v1/openapi.json"),
];

/// The address of the JSON for a page with its query; none for other addresses.
pub(crate) fn json_address(page: &str) -> Option<String> {
    let (path, query) = page.split_once('?').unwrap_or((page, ""));
    let path = match path.strip_suffix(".json") {
        Some("/index") => "/",
        Some(path) => path,
        None => path,
    };
    let (_, route) = ROUTES.iter().find(|(page, _)| *page == path)?;
    if *route == JOB {
        let number = query.split('&').find_map(|pair| pair.strip_prefix("number="));
        return Some(match number {
            Some(number) => JOB.replace("{number}", number),
            None => "/v1/jobs".to_owned(),
        });
    }
    let mark = if query.is_empty() { "" } else { "?" };
    Some(format!("{route}{mark}{query}"))
}

fn address_of(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("/", |address| address.as_str())
}

/// Redirects a request for a page that wants JSON.
pub(crate) fn redirect_to_json(parts: &Parts) -> Option<Reply> {
    if parts.uri.path().starts_with("/v1/") || !wants_json(parts) {
        return None;
    }
    let address = json_address(address_of(parts))?;
    Some(Reply::redirect(StatusCode::TEMPORARY_REDIRECT, &address))
}

/// `/search.json` and its like: the route of the API, for good.
pub(crate) async fn redirect_twin(request: axum::extract::Request) -> Response {
    let (parts, _) = request.into_parts();
    let address = json_address(address_of(&parts)).unwrap_or_else(|| "/v1/openapi.json".to_owned());
    Reply::redirect(StatusCode::PERMANENT_REDIRECT, &address).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_leads_to_the_route_that_answers_the_same() {
        for (page, route) in [
            ("/index.json", "/v1/status"),
            ("/search.json?q=a&limit=2", "/v1/search?q=a&limit=2"),
            ("/document?key=a%2Fb", "/v1/documents?key=a%2Fb"),
            ("/watch.json", "/v1/watch/report"),
            ("/job.json?number=7", "/v1/jobs/7"),
            ("/crawl?number=7&x=1", "/v1/jobs/7"),
            ("/crawl", "/v1/jobs"),
        ] {
            assert_eq!(json_address(page).as_deref(), Some(route), "{page}");
        }
        for other in ["/static/wonbon.css", "/go", "/v1/search", "/nothing.json"] {
            assert_eq!(json_address(other), None, "{other}");
        }
    }
}
