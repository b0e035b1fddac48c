//! The description of the service: as OpenAPI for programs, as a page for people.
//!
//! Both are generated from the declarations of the handlers and from the types that are serialized; a test
//! compares them with the table of routes.

use std::sync::LazyLock;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use maud::html;
use serde_json::Value;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{RefOr, Schema};
use wonbon_pages::Cell;

use crate::api::places::Nothing;
use crate::api::{
    collapse, compare, decisions, documents, families, health, job_events, jobs, places, search,
    texts,
};
use crate::inquiry::Inquiry;
use crate::messages::Say;
use crate::pages::{coded_paragraph, frame};
use crate::problem::{Code, Problem};
use crate::view::{Reader, Reply};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Wonbon",
        description = "Stores documents, says of each whether it copies an earlier one, and answers questions about them. Problems are told by stable codes."
    ),
    paths(
        documents::add,
        documents::list,
        documents::delete_by_parameter,
        documents::get_one,
        documents::delete_one,
        documents::check,
        search::search,
        texts::similar,
        texts::post_similar,
        texts::within,
        texts::post_within,
        texts::contains,
        texts::post_contains,
        texts::sources,
        texts::post_sources,
        texts::passages,
        texts::post_passages,
        texts::ask,
        texts::post_ask,
        places::moved,
        places::copies,
        places::changes,
        places::watched,
        places::watch,
        places::unwatch,
        places::report,
        compare::compare,
        compare::post_compare,
        collapse::collapse,
        families::families,
        families::family,
        decisions::decisions,
        decisions::decide,
        decisions::undo,
        health::status,
        health::backup,
        jobs::start,
        jobs::list,
        jobs::get_one,
        job_events::events,
        jobs::cancel,
        jobs::pause,
        jobs::resume,
    )
)]
struct Description;

/// The description.
pub(crate) fn description() -> utoipa::openapi::OpenApi {
    let mut description = Description::openapi();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let components = description.components.get_or_insert_default();
    components.add_security_scheme("token", bearer);
    // What a job is asked by stands beside its kind, which each of them alone would refuse.
    for name in ["ImportRequest", "DedupRequest", "ClusterRequest", "CrawlRequest"] {
        if let Some(RefOr::T(Schema::Object(asked))) = components.schemas.get_mut(name) {
            asked.additional_properties = None;
        }
    }
    description
}

static JSON: LazyLock<Bytes> = LazyLock::new(|| {
    let json = serde_json::to_vec_pretty(&description()).expect("it has text for keys");
    Bytes::from(json)
});

/// `/v1/openapi.json`.
pub(crate) async fn openapi() -> Response {
    Reply::bytes("application/json", JSON.clone()).into_response()
}

/// `/docs`: the description as a page.
pub(crate) fn docs(_: &Inquiry, _asked: Nothing, reader: &Reader) -> Result<Reply, Problem> {
    let mut page = frame::page(reader, reader.say(Say::Docs));
    page.heading(reader.say(Say::Docs));
    page.lead(reader.say(Say::DocsLead));
    page.markup(html! { p { a href="/v1/openapi.json" { "/v1/openapi.json" } } });
    let description = serde_json::to_value(description()).expect("it has text for keys");
    for (path, methods) in description["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let method = method.to_uppercase();
            let route =
                |inside| html! { section.route { h2 { code { (method) " " (path) } } (inside) } };
            page.within(route, |page| {
                coded_paragraph(page, operation["description"].as_str().unwrap_or_default());
                parameters(page, reader, operation);
                bodies(page, reader, operation);
                example(page, reader, &format!("{method} {path}"));
            });
        }
    }
    page.section(reader.say(Say::Problems), |page| {
        page.paragraph(reader.say(Say::ProblemsLead));
        let rows: Vec<Vec<Cell>> = Code::ALL
            .iter()
            .map(|code| {
                let name = code.name();
                vec![
                    html! { code id=(name) { (name) } }.into(),
                    Cell::Number(code.status().as_u16().to_string()),
                    code.title().into(),
                ]
            })
            .collect();
        let columns =
            [reader.say(Say::Code), reader.say(Say::HttpStatus), reader.say(Say::Meaning)];
        page.table(&columns, &rows);
    });
    Ok(frame::reply(reader, "/docs", page))
}

fn parameters(page: &mut wonbon_pages::Page, reader: &Reader, operation: &Value) {
    let rows: Vec<Vec<Cell>> = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|parameter| {
            let text = |name: &str| parameter[name].as_str().unwrap_or_default().to_owned();
            vec![Cell::Code(text("name")), text("in").into(), text("description").into()]
        })
        .collect();
    if !rows.is_empty() {
        let columns =
            [reader.say(Say::Parameter), reader.say(Say::StandsIn), reader.say(Say::Meaning)];
        page.table(&columns, &rows);
    }
}

fn bodies(page: &mut wonbon_pages::Page, reader: &Reader, operation: &Value) {
    let kinds: Vec<&str> = operation["requestBody"]["content"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(kind, _)| kind.as_str())
        .collect();
    if !kinds.is_empty() {
        page.paragraph(&format!("{}: {}", reader.say(Say::Body), kinds.join(", ")));
    }
}

/// A request and the response to it for every route, as the service gave it to the test that writes this
/// file and `docs/reference/api.md`.
static EXAMPLES: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("api-examples.json")).expect("a test writes it as JSON")
});

fn example(page: &mut wonbon_pages::Page, reader: &Reader, route: &str) {
    let example = &EXAMPLES[route];
    for (name, said) in [("request", Say::RequestExample), ("response", Say::ResponseExample)] {
        let text = example[name].as_str().unwrap_or_default();
        if text.is_empty() {
            continue;
        }
        let id = format!("{name} {route}").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        page.markup(html! {
            details.example-of open[name == "request"] {
                summary {
                    (reader.say(said))
                    @if name == "response" { " " code { (example["status"].as_str().unwrap_or_default()) } }
                }
                div.example {
                    button.quiet type="button" data-copies=(id) { (reader.say(Say::CopyToClipboard)) }
                    pre id=(id) tabindex="0" { (text) }
                }
            }
        });
    }
}
