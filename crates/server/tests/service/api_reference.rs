//! A request and its response for every route of the API: asked of the service, written to
//! `docs/reference/api.md` and shown on `/docs`.
//!
//! `UPDATE_REFERENCE=1` writes both files anew; without it they are compared with what the service
//! says. What differs from run to run (times, sizes on disk) has one fixed value in them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;
use wonbon_server::{Config, router_for_tests};
use wonbon_store::{SeedSource, Store, StoreParams};

use crate::jobs::jobs_in;
use crate::support::Running;

const FERRY: &str =
    "The ferry did not come that morning, and the whole village stood on the pier and waited.";

/// The same with a word more at its end: a copy at 0.8.
const COPIED: &str = "The ferry did not come that morning, and the whole village stood on the pier and waited. Again.";

/// One route's example.
struct Asked {
    method: &'static str,
    /// As in the table of routes.
    path: &'static str,
    /// As it is asked for.
    address: &'static str,
    body: Option<Value>,
}

fn asked(method: &'static str, path: &'static str, address: &'static str) -> Asked {
    Asked { method, path, address, body: None }
}

fn sent(method: &'static str, path: &'static str, body: Value) -> Asked {
    Asked { method, path, address: path, body: Some(body) }
}

/// The examples in the order in which they are asked: a later one finds what an earlier one did.
fn examples() -> Vec<Asked> {
    let text = || json!({"text": COPIED});
    let quoted = || json!({"text": "the whole village stood on the pier and waited"});
    vec![
        sent("POST", "/v1/check", json!({"id": "https://two.example/b", "text": COPIED})),
        sent(
            "POST",
            "/v1/documents",
            json!({"id": "https://two.example/b", "created": "2025-03-04", "text": COPIED}),
        ),
        asked("GET", "/v1/documents", "/v1/documents?limit=2"),
        asked("GET", "/v1/documents/{key}", "/v1/documents/https%3A%2F%2Fone.example%2Fa"),
        asked("GET", "/v1/search", "/v1/search?q=ferry"),
        asked("GET", "/v1/similar", "/v1/similar?key=https://two.example/b"),
        sent("POST", "/v1/similar", text()),
        asked("GET", "/v1/within", "/v1/within?key=https://one.example/a"),
        sent("POST", "/v1/within", quoted()),
        asked("GET", "/v1/contains", "/v1/contains?key=https://two.example/b"),
        sent("POST", "/v1/contains", text()),
        asked("GET", "/v1/sources", "/v1/sources?key=https://two.example/b"),
        sent("POST", "/v1/sources", text()),
        asked("GET", "/v1/passages", "/v1/passages?key=https://two.example/b"),
        sent("POST", "/v1/passages", quoted()),
        asked("GET", "/v1/ask", "/v1/ask?key=https://two.example/b"),
        sent("POST", "/v1/ask", quoted()),
        asked("GET", "/v1/moved", "/v1/moved?key=https://one.example/a"),
        asked("GET", "/v1/copies", "/v1/copies?key=https://one.example/a"),
        asked("GET", "/v1/changes", "/v1/changes?key=https://one.example/a"),
        sent("POST", "/v1/watch", json!({"key": "https://one.example/a"})),
        asked("GET", "/v1/watch", "/v1/watch"),
        asked("GET", "/v1/watch/report", "/v1/watch/report"),
        asked("DELETE", "/v1/watch", "/v1/watch?key=https://one.example/a"),
        asked("GET", "/v1/compare", "/v1/compare?a=https://one.example/a&b=https://two.example/b"),
        sent("POST", "/v1/compare", json!({"a": {"text": FERRY}, "b": {"text": COPIED}})),
        sent(
            "POST",
            "/v1/collapse",
            json!({"results": [{"id": "1", "text": FERRY}, {"id": "2", "text": COPIED}]}),
        ),
        asked("GET", "/v1/families", "/v1/families"),
        asked("GET", "/v1/family", "/v1/family?key=https://one.example/a"),
        sent(
            "POST",
            "/v1/decisions",
            json!({"key": "https://two.example/b", "decision": "not-a-copy", "reason": "written on its own"}),
        ),
        asked("GET", "/v1/decisions", "/v1/decisions"),
        sent("POST", "/v1/decisions/undo", json!({"key": "https://two.example/b"})),
        asked("GET", "/v1/status", "/v1/status"),
        sent("POST", "/v1/backup", json!({"name": "monday"})),
        sent("POST", "/v1/jobs", json!({"kind": "import", "inputs": ["posts.jsonl"]})),
        asked("GET", "/v1/jobs", "/v1/jobs"),
        asked("GET", "/v1/jobs/{number}", "/v1/jobs/1"),
        asked("GET", "/v1/jobs/{number}/events", "/v1/jobs/1/events"),
        asked("POST", "/v1/jobs/{number}/pause", "/v1/jobs/1/pause"),
        asked("POST", "/v1/jobs/{number}/resume", "/v1/jobs/1/resume"),
        asked("POST", "/v1/jobs/{number}/cancel", "/v1/jobs/1/cancel"),
        asked("DELETE", "/v1/documents", "/v1/documents?key=https://two.example/b"),
        asked("DELETE", "/v1/documents/{key}", "/v1/documents/https%3A%2F%2Fone.example%2Fa"),
    ]
}

/// As a person would ask with curl.
fn curl(asked: &Asked) -> String {
    let method =
        if asked.method == "GET" { String::new() } else { format!("-X {} ", asked.method) };
    let address = format!("'http://127.0.0.1:7600{}'", asked.address);
    let Some(body) = &asked.body else { return format!("curl {method}{address}") };
    let body = body.to_string().replace('\'', "'\\''");
    format!("curl {method}{address} \\\n  -H 'content-type: application/json' \\\n  -d '{body}'")
}

/// One value for everything that differs from run to run.
fn settle(name: &str, value: &mut Value) {
    const DURATIONS: [&str; 2] = ["seconds", "microseconds"];
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| settle(name, value)),
        Value::Array(values) => values.iter_mut().for_each(|value| settle(name, value)),
        Value::String(text) if text.starts_with("20") && *text.as_str() > *"2026" => {
            *text = "2026-11-18T09:00:00Z".to_owned();
        }
        Value::String(text)
            if name == "state" && matches!(text.as_str(), "waiting" | "running") =>
        {
            *text = "waiting".to_owned();
        }
        Value::String(text) if name == "version" || name == "fingerprint" => *text = "…".to_owned(),
        Value::Number(_) if DURATIONS.iter().any(|part| name.ends_with(part)) => {
            *value = json!(0.002);
        }
        Value::Number(_) if name.contains("bytes") || name.contains("memory") => {
            *value = json!(4096);
        }
        _ => {}
    }
}

/// The first event of a stream, or a whole answer.
async fn body_of(response: axum::response::Response) -> String {
    let is_stream =
        response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
    let mut body = response.into_body();
    if is_stream {
        let frame = body.frame().await.unwrap().unwrap();
        return String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
    }
    String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

/// A body with fixed values, as it stands on the page.
fn settled(body: &str) -> String {
    if let Ok(mut json) = serde_json::from_str::<Value>(body) {
        settle("", &mut json);
        return serde_json::to_string_pretty(&json).unwrap();
    }
    let line = |line: &str| match line.strip_prefix("data: ").map(serde_json::from_str::<Value>) {
        Some(Ok(mut data)) => {
            settle("", &mut data);
            format!("data: {data}")
        }
        _ => line.to_owned(),
    };
    body.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_reference_shows_a_request_and_a_response_for_every_route() {
    let folder = tempfile::tempdir().unwrap();
    let params = StoreParams { seed: SeedSource::Number(0), ..StoreParams::default() };
    let store = Store::create(&folder.path().join("store"), &params).unwrap();
    let config = Config {
        jobs: Some(jobs_in(folder.path(), &[])),
        backups: Some(folder.path().join("backups")),
        ..Config::default()
    };
    let row = json!({"id": "c", "created": "2025-05-06", "text": "Bread for people who forget that they are baking."});
    std::fs::write(folder.path().join("jobs/in/posts.jsonl"), format!("{row}\n")).unwrap();
    let (router, _end) = router_for_tests(store.clone(), config).unwrap();
    let service = Running::over(store.clone());
    service
        .add(&json!({"id": "https://one.example/a", "created": "2025-03-01", "title": "No ferry", "text": FERRY}))
        .await;

    let description: Value =
        serde_json::from_str(&service.get("/v1/openapi.json").await.body).unwrap();
    let mut shown: BTreeMap<(String, String), Value> = BTreeMap::new();
    for asked in examples() {
        store.catch_up().unwrap();
        let mut request = Request::builder()
            .method(asked.method)
            .uri(asked.address)
            .header("host", "127.0.0.1:7600");
        if asked.body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = asked.body.as_ref().map(Value::to_string).unwrap_or_default();
        let request = request.body(Body::from(body)).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let is_refused = matches!(
            asked.path,
            "/v1/jobs/{number}/pause" | "/v1/jobs/{number}/resume" | "/v1/jobs/{number}/cancel"
        );
        let body = body_of(response).await;
        assert_eq!(status.is_success(), !is_refused, "{} {}: {body}", asked.method, asked.address);
        let example = json!({
            "request": curl(&asked),
            "status": status.to_string(),
            "response": settled(&body),
        });
        let route = (asked.path.to_owned(), asked.method.to_owned());
        assert!(shown.insert(route, example).is_none(), "{} has two examples", asked.path);
        // Later examples find the job done.
        if asked.path == "/v1/jobs" && asked.method == "POST" {
            while service_job_state(&router).await != "done" {
                tokio::task::yield_now().await;
            }
        }
    }

    let mut page = String::from(
        "# API\n\nEvery route with a request and the response to it. Generated from the service: \
         `UPDATE_REFERENCE=1 cargo test -p wonbon-server --test service api_reference` writes it anew. \
         [The service](../server.md) explains words, streams, problems and tokens.\n",
    );
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let method = method.to_uppercase();
            let example = shown
                .get(&(path.clone(), method.clone()))
                .unwrap_or_else(|| panic!("{method} {path} has no example"));
            write!(page, "\n## {method} {path}\n\n").unwrap();
            writeln!(page, "{}", operation["description"].as_str().unwrap_or_default().trim())
                .unwrap();
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            if !parameters.is_empty() {
                page.push_str("\n| parameter | in | meaning |\n|---|---|---|\n");
            }
            for parameter in parameters {
                let text =
                    |name: &str| parameter[name].as_str().unwrap_or_default().replace('\n', " ");
                let meaning = text("description").replace('|', "\\|");
                writeln!(page, "| `{}` | {} | {meaning} |", text("name"), text("in")).unwrap();
            }
            let text = |name: &str| example[name].as_str().unwrap();
            write!(page, "\n```sh\n{}\n```\n\n{}\n", text("request"), text("status")).unwrap();
            if !text("response").is_empty() {
                write!(page, "\n```json\n{}\n```\n", text("response")).unwrap();
            }
        }
    }
    let by_route: BTreeMap<String, &Value> = shown
        .iter()
        .map(|((path, method), example)| (format!("{method} {path}"), example))
        .collect();
    let examples = serde_json::to_string_pretty(&by_route).unwrap() + "\n";
    let root = env!("CARGO_MANIFEST_DIR");
    for (path, written) in [
        (format!("{root}/src/api-examples.json"), examples),
        (format!("{root}/../../docs/reference/api.md"), page),
    ] {
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::write(&path, &written).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(there == written, "{path} is not what the service says; see the head of this test");
    }
}

/// The state of the first job.
async fn service_job_state(router: &axum::Router) -> String {
    let request = Request::builder().uri("/v1/jobs/1").header("host", "127.0.0.1:7600");
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let job: Value = serde_json::from_str(&body_of(response).await).unwrap();
    job["state"].as_str().unwrap().to_owned()
}
