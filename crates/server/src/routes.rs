//! All routes in one table: method, path, which scope they need, who answers.
//!
//! The router, the scopes, the metrics and the test of the API description (`/v1/openapi.json`) all read
//! this table.

use std::sync::Arc;

use axum::Router;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use wonbon_app::tokens::Scope;

use crate::api::{
    collapse, compare, decisions, documents, families, health, job_events, job_forms, jobs, places,
    search, texts,
};
use crate::guard::guard;
use crate::json_address::redirect_twin;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::request::{action, brief_question, page, posted, question, removal};
use crate::service::Service;

/// A route.
struct Route {
    method: &'static str,
    path: &'static str,
    /// None for what is open to all.
    scope: Option<Scope>,
    answers: MethodRouter<Arc<Service>>,
}

fn routes() -> Vec<Route> {
    const READ: Option<Scope> = Some(Scope::Read);
    const ADD: Option<Scope> = Some(Scope::Add);
    const ADMIN: Option<Scope> = Some(Scope::Admin);
    let mut routes = Vec::new();
    let mut route = |method, path, scope, answers| {
        routes.push(Route { method, path, scope, answers });
    };

    route("GET", "/healthz", None, get(health::healthz));
    route("GET", "/readyz", None, get(health::readyz));
    route("GET", "/metrics", READ, get(health::metrics));

    route("POST", "/v1/documents", ADD, post(documents::add));
    route("GET", "/v1/documents", READ, question(documents::list));
    route("DELETE", "/v1/documents", ADD, delete(documents::delete_by_parameter));
    route("GET", "/v1/documents/{key}", READ, get(documents::get_one));
    route("DELETE", "/v1/documents/{key}", ADD, delete(documents::delete_one));
    route("POST", "/v1/check", READ, post(documents::check));
    let search_route = || brief_question(search::search, search::brief_search);
    route("GET", "/v1/search", READ, search_route());
    route("GET", "/v1/similar", READ, question(texts::similar));
    route("POST", "/v1/similar", READ, posted(texts::post_similar));
    route("GET", "/v1/within", READ, question(texts::within));
    route("POST", "/v1/within", READ, posted(texts::post_within));
    route("GET", "/v1/contains", READ, question(texts::contains));
    route("POST", "/v1/contains", READ, posted(texts::post_contains));
    route("GET", "/v1/sources", READ, question(texts::sources));
    route("POST", "/v1/sources", READ, posted(texts::post_sources));
    route("GET", "/v1/passages", READ, question(texts::passages));
    route("POST", "/v1/passages", READ, posted(texts::post_passages));
    route("GET", "/v1/ask", READ, question(texts::ask));
    route("POST", "/v1/ask", READ, posted(texts::post_ask));
    route("GET", "/v1/moved", READ, question(places::moved));
    route("GET", "/v1/copies", READ, question(places::copies));
    route("GET", "/v1/changes", READ, question(places::changes));
    route("GET", "/v1/watch", READ, question(places::watched));
    route("POST", "/v1/watch", ADD, action(places::watch));
    route("DELETE", "/v1/watch", ADD, removal(places::unwatch));
    route("GET", "/v1/watch/report", READ, question(places::report));
    route("GET", "/v1/compare", READ, question(compare::compare));
    route("POST", "/v1/compare", READ, posted(compare::post_compare));
    route("POST", "/v1/collapse", READ, posted(collapse::collapse));
    route("GET", "/v1/families", READ, question(families::families));
    route("GET", "/v1/family", READ, question(families::family));
    route("GET", "/v1/decisions", READ, question(decisions::decisions));
    route("POST", "/v1/decisions", ADD, post(decisions::decide));
    route("POST", "/v1/decisions/undo", ADD, post(decisions::undo));
    route("GET", "/v1/status", READ, question(health::status));
    route("POST", "/v1/backup", ADMIN, action(health::backup));
    route("POST", "/v1/jobs", ADMIN, post(jobs::start));
    route("GET", "/v1/jobs", READ, question(jobs::list));
    route("GET", "/v1/jobs/{number}", READ, get(jobs::get_one));
    route("GET", "/v1/jobs/{number}/events", READ, get(job_events::events));
    route("POST", "/v1/jobs/{number}/cancel", ADMIN, post(jobs::cancel));
    route("POST", "/v1/jobs/{number}/pause", ADMIN, post(jobs::pause));
    route("POST", "/v1/jobs/{number}/resume", ADMIN, post(jobs::resume));
    route("GET", "/v1/openapi.json", None, get(crate::openapi::openapi));

    route("GET", "/docs", None, page(crate::openapi::docs));
    route("GET", "/static/wonbon.css", None, get(pages::style));
    route("GET", "/static/wonbon.js", None, get(pages::script));
    route("GET", "/static/wonbon.svg", None, get(pages::mark));
    route("GET", "/choose", None, page(pages::choose));
    route("GET", "/login", None, page(pages::login_page));
    route("POST", "/login", None, post(pages::login));

    route("GET", "/", READ, page(pages::home));
    route("POST", "/go", READ, posted(pages::go));
    route("POST", "/ask", READ, posted(texts::ask));
    route("POST", "/watch", ADD, action(places::watch));
    route("POST", "/decisions", ADD, post(decisions::decide));
    route("POST", "/decisions/undo", ADD, post(decisions::undo));
    route("POST", "/jobs", ADMIN, post(job_forms::start_job));
    route("POST", "/job", ADMIN, post(job_forms::change_job));
    route("POST", "/crawl", ADMIN, post(job_forms::start_crawl));
    route("GET", "/raw", READ, page(pages::raw));
    // Each page, and the address that leads to its JSON.
    route("GET", "/index.json", READ, get(redirect_twin));
    route("GET", "/docs.json", None, get(redirect_twin));
    for (path, twin, answers) in [
        ("/search", "/search.json", search_route()),
        ("/document", "/document.json", page(pages::document)),
        ("/compare", "/compare.json", question(compare::compare)),
        ("/ask", "/ask.json", question(texts::ask)),
        ("/moved", "/moved.json", question(places::moved)),
        ("/copies", "/copies.json", question(places::copies)),
        ("/changes", "/changes.json", question(places::changes)),
        ("/watch", "/watch.json", question(places::report)),
        ("/families", "/families.json", question(families::families)),
        ("/family", "/family.json", question(families::family)),
        ("/decisions", "/decisions.json", question(decisions::decisions)),
        ("/status", "/status.json", question(health::status)),
        ("/jobs", "/jobs.json", question(jobs::list)),
        ("/job", "/job.json", page(job_forms::job_page)),
        ("/crawl", "/crawl.json", page(job_forms::crawl_page)),
    ] {
        route("GET", path, READ, answers);
        route("GET", twin, READ, get(redirect_twin));
    }
    routes
}

/// Method, path and scope of every route.
pub(crate) fn table() -> Vec<(&'static str, &'static str, Option<Scope>)> {
    routes().into_iter().map(|route| (route.method, route.path, route.scope)).collect()
}

/// The router.
pub(crate) fn router(service: Arc<Service>) -> Router {
    let mut router = Router::new();
    for Route { path, answers, .. } in routes() {
        router = router.route(path, answers);
    }
    router
        .fallback(no_such_address)
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(service.clone(), guard))
        .with_state(service)
}

async fn no_such_address() -> Response {
    Problem::new(Code::NoSuchAddress, "/docs lists what there is").into_response()
}

async fn method_not_allowed() -> Response {
    Problem::new(Code::MethodNotAllowed, "/docs lists what can be done here").into_response()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_description_has_every_route_and_no_other() {
        let description = serde_json::to_value(crate::openapi::description()).unwrap();
        let mut described = BTreeSet::new();
        for (path, methods) in description["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                described.insert((method.to_uppercase(), path.clone()));
            }
        }
        let routed: BTreeSet<(String, String)> = table()
            .into_iter()
            .filter(|(_, path, _)| path.starts_with("/v1/") && *path != "/v1/openapi.json")
            .map(|(method, path, _)| (method.to_owned(), path.to_owned()))
            .collect();
        assert_eq!(described, routed);
    }

    /// Calls a route as somebody, and says what came back: the status and the code of the problem.
    async fn called(
        router: &Router,
        route: (&str, &str),
        headers: &[(&str, &str)],
    ) -> (u16, String) {
        use http_body_util::BodyExt;
        use tower::ServiceExt;
        let path = route.1.replace("{key}", "a").replace("{number}", "1");
        let mut request = axum::http::Request::builder().method(route.0).uri(path);
        for (name, value) in [("host", "127.0.0.1:7600")].iter().chain(headers) {
            request = request.header(*name, *value);
        }
        let response =
            router.clone().oneshot(request.body(axum::body::Body::empty()).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        let kind = response.headers().get("content-type").cloned();
        // What is no problem may be a stream that does not end.
        if kind.is_none_or(|kind| kind != "application/problem+json") {
            return (status, String::new());
        }
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let problem: serde_json::Value = serde_json::from_slice(&body).unwrap();
        (status, problem["code"].as_str().unwrap().to_owned())
    }

    #[tokio::test]
    async fn every_route_refuses_who_may_not_use_it() {
        use wonbon_app::tokens::Tokens;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let mut tokens = Tokens::default();
        let mut bearer =
            |name: &str, scope| format!("Bearer {}", tokens.create(name, &[scope], None).unwrap());
        let (read, admin) = (bearer("reader", Scope::Read), bearer("admin", Scope::Admin));
        tokens.write(&path).unwrap();
        let params = wonbon_store::StoreParams::default();
        let store = wonbon_store::Store::create(&folder.path().join("store"), &params).unwrap();
        let config = crate::Config { tokens: Some(path), ..crate::Config::default() };
        let (router, _end) = crate::router_for_tests(store, config).unwrap();
        let let_in = ["token_needed", "token_unknown", "scope_missing", "cross_site"];
        let form = ("content-type", "application/x-www-form-urlencoded");
        for (method, path, scope) in table() {
            let route = (method, path);
            let name = format!("{method} {path}");
            let without = called(&router, route, &[]).await;
            let wrong = called(&router, route, &[("authorization", "Bearer wonbon_00")]).await;
            let reading = called(&router, route, &[("authorization", &read)]).await;
            let all = called(&router, route, &[("authorization", &admin)]).await;
            assert!(!let_in.contains(&all.1.as_str()), "{name}: {all:?}");
            match scope {
                None => assert!(!let_in.contains(&without.1.as_str()), "{name}: {without:?}"),
                Some(scope) => {
                    assert_eq!(without, (401, "token_needed".to_owned()), "{name}");
                    assert_eq!(wrong, (401, "token_unknown".to_owned()), "{name}");
                    let refused = reading == (403, "scope_missing".to_owned());
                    assert_eq!(refused, scope > Scope::Read, "{name}: {reading:?}");
                }
            }
            let foreign = [("authorization", admin.as_str()), ("origin", "https://evil.example")];
            let crossed = called(&router, route, &foreign).await;
            assert_eq!(crossed.1 == "cross_site", method != "GET", "{name}: {crossed:?}");
            if method == "POST" && !path.starts_with("/v1/") {
                let unmarked = called(&router, route, &[("authorization", &admin), form]).await;
                assert_eq!(unmarked.1, "bad_form", "{name}");
            }
        }
    }

    #[test]
    fn whatever_changes_something_needs_more_than_reading() {
        // Posted because they are long, not because they change anything.
        let asked = [
            "check", "similar", "within", "contains", "sources", "passages", "compare", "collapse",
            "go", "ask",
        ];
        for (method, path, scope) in table() {
            let last = path.rsplit('/').next().unwrap_or_default();
            if method != "GET" && !asked.contains(&last) && path != "/login" {
                assert!(scope >= Some(Scope::Add), "{method} {path}");
            }
            if path.starts_with("/v1/") && path != "/v1/openapi.json" {
                assert!(scope.is_some(), "{method} {path}");
            }
        }
    }
}
