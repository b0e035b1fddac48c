//! A router over a store of its own, and a way to call it. The store is in a directory, or, in the test binary `postgres`, in a
//! PostgreSQL that is started for the run, if that is installed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::watch;
use tower::ServiceExt;
use wonbon_server::{Config, router_for_tests};
use wonbon_store::{NewDocument, Store, StoreParams};
use wonbon_testkit::postgres::shared_server;

/// A service over a store in a directory that goes away with it.
pub(crate) struct Running {
    pub(crate) router: Router,
    pub(crate) store: Store,
    pub(crate) end: watch::Sender<bool>,
    _folder: Option<tempfile::TempDir>,
}

/// An answer, read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn code(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        self.json()["code"].as_str().unwrap().to_owned()
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Running {
    pub(crate) fn new() -> Self {
        Running::with(Config::default())
    }

    pub(crate) fn with(config: Config) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::create(&place(folder.path()), &StoreParams::default()).unwrap();
        Running { _folder: Some(folder), ..Running::over_with(store, config) }
    }

    /// A service over a store that stands elsewhere.
    pub(crate) fn over(store: Store) -> Self {
        Running::over_with(store, Config::default())
    }

    /// The same, set up in some way.
    pub(crate) fn over_with(store: Store, config: Config) -> Self {
        let (router, end) = router_for_tests(store.clone(), config).unwrap();
        Running { router, store, end, _folder: None }
    }

    /// Sends a request as it is.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Calls a route with some headers and a body.
    pub(crate) async fn call(
        &self,
        method: &str,
        address: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(address);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request = request.header("host", "127.0.0.1:7600");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn get(&self, address: &str) -> Answer {
        self.call("GET", address, &[], "").await
    }

    /// A page as a browser asks for it.
    pub(crate) async fn page(&self, address: &str, language: &str) -> Answer {
        let headers =
            [("accept", "text/html,application/xhtml+xml"), ("accept-language", language)];
        self.call("GET", address, &headers, "").await
    }

    pub(crate) async fn post(&self, address: &str, body: &Value) -> Answer {
        let headers = [("content-type", "application/json")];
        self.call("POST", address, &headers, body.to_string()).await
    }

    pub(crate) async fn add(&self, document: &Value) -> Answer {
        self.post("/v1/documents", document).await
    }

    /// Stores documents without the service, and waits until they can be found.
    pub(crate) fn store(&self, documents: &[NewDocument<'_>]) {
        for document in documents {
            self.store.add(document).unwrap();
        }
        self.store.catch_up().unwrap();
    }
}

/// Whether the stores of this binary are in a PostgreSQL.
pub(crate) const IN_POSTGRES: bool = matches!(env!("CARGO_CRATE_NAME").as_bytes(), b"postgres");

/// What names a new store; in a PostgreSQL, what it derives is in the folder.
pub(crate) fn place(folder: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    match IN_POSTGRES.then(shared_server).flatten() {
        Some(server) => {
            let schema = format!("service_{}", NEXT.fetch_add(1, Ordering::Relaxed));
            server.address(&schema, folder).into()
        }
        None => folder.join("store"),
    }
}

/// A text of some words that no other number shares.
pub(crate) fn text(number: u64) -> String {
    let words = (0..60).map(|at| format!("w{}x{number}", (at * 7 + number * 13) % 977));
    words.collect::<Vec<_>>().join(" ")
}

/// An address with its values written as they have to be.
pub(crate) fn address(path: &str, question: &[(&str, &str)]) -> String {
    let mut written = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in question {
        written.append_pair(name, value);
    }
    format!("{path}?{}", written.finish())
}
