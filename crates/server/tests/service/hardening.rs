//! What a review by attack found, each finding once: redirects, hosts, paths, readiness, tokens, forms.

use axum::body::Body;
use axum::http::Request;
use serde_json::json;
use wonbon_app::tokens::{Scope, Tokens};
use wonbon_server::{Config, Rate};

use crate::support::Running;

#[tokio::test]
async fn choosing_a_language_leads_to_no_other_site() {
    let service = Running::new();
    for back in [
        "/%09/host.example",
        "/%0A/host.example",
        "/%0D/host.example",
        "//host.example",
        "/%5Chost.example",
        "/%20/host.example",
        "/%7F/host.example",
        "/a/..//host.example",
        "http://host.example",
    ] {
        let answer = service.get(&format!("/choose?language=en&back={back}")).await;
        assert_eq!(answer.status, 303);
        let to = url::Url::parse("http://127.0.0.1:7600/").unwrap();
        let led = to.join(answer.header("location")).unwrap();
        assert_eq!(led.host_str(), Some("127.0.0.1"), "{back} leads to {led}");
        assert!(!answer.header("location").contains(['\t', '\\', ' ']), "{answer:?}");
    }
    let answer = service.get("/choose?language=en&back=/search?q%3Da%2520b").await;
    assert_eq!(answer.header("location"), "/search?q=a%20b");
}

#[tokio::test]
async fn two_hosts_are_refused() {
    let service = Running::new();
    let two = Request::get("/healthz").header("host", "127.0.0.1").header("host", "evil.example");
    assert_eq!(service.send(two.body(Body::empty()).unwrap()).await.code(), "wrong_host");
    // An address in the request line must not hide another name in the header.
    let other = Request::get("http://127.0.0.1/healthz").header("host", "evil.example");
    assert_eq!(service.send(other.body(Body::empty()).unwrap()).await.code(), "wrong_host");
    let same = Request::get("http://127.0.0.1/healthz").header("host", "127.0.0.1");
    assert_eq!(service.send(same.body(Body::empty()).unwrap()).await.status, 200);
}

#[tokio::test]
async fn the_status_does_not_say_where_the_store_is() {
    let service = Running::new();
    let place = service.store.directory().display().to_string();
    assert!(place.starts_with('/'));
    let status = service.get("/v1/status").await;
    assert!(!status.body.contains(&place), "{}", status.body);
    let shown = if service.store.is_shared() { "PostgreSQL" } else { "store" };
    assert_eq!(status.json()["store"], shown);
    assert!(!service.page("/status", "en").await.body.contains(&place));
}

#[tokio::test]
async fn a_service_whose_writer_has_stopped_is_not_ready() {
    let service = Running::new();
    assert_eq!(service.get("/readyz").await.status, 200);
    service.store.clone().close().unwrap();
    let answer = service.get("/readyz").await;
    assert_eq!(answer.code(), "write_failed");
    assert_eq!(service.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn failed_tokens_count_against_the_rate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let mut tokens = Tokens::default();
    let good = tokens.create("a", &[Scope::Read], None).unwrap();
    tokens.write(&path).unwrap();
    let mut config = Config { tokens: Some(path), ..Config::default() };
    config.limits.rate = Some(Rate { per_second: 0.001, at_once: 5.0 });
    let service = Running::with(config);
    let status = async |secret: &str| {
        let bearer = format!("Bearer {secret}");
        service.call("GET", "/v1/status", &[("authorization", &bearer)], "").await
    };
    for _ in 0..5 {
        assert_eq!(status("wonbon_00").await.code(), "token_unknown");
    }
    assert_eq!(status("wonbon_01").await.code(), "too_many_requests");
    assert_eq!(service.get("/v1/status").await.code(), "too_many_requests");
    // Whoever has a token is not kept out by those who guess.
    assert_eq!(status(&good).await.status, 200);
    // Signing in is guessing too.
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let answer = service.call("POST", "/login", &form, "token=wonbon_02").await;
    assert_eq!(answer.code(), "too_many_requests");
}

#[tokio::test]
async fn forms_are_small() {
    let service = Running::new();
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let long = |length: usize| format!("token={}", "x".repeat(length));
    assert_eq!(service.call("POST", "/login", &form, long(5000)).await.code(), "too_large");
    for path in ["/watch", "/decisions", "/decisions/undo", "/job", "/jobs", "/crawl", "/go"] {
        let answer = service.call("POST", path, &form, long(70_000)).await;
        assert_eq!(answer.code(), "too_large", "{path}");
        // A key of 4 kB takes up to 12 kB in a form.
        assert_eq!(service.call("POST", path, &form, long(13_000)).await.code(), "bad_form");
    }
    // Texts are asked about by a form too: that one is as long as any body.
    let answer = service.call("POST", "/ask", &form, long(70_000)).await;
    assert_eq!(answer.code(), "bad_form");
    let answer = service.post("/v1/check", &json!({"text": "word ".repeat(20_000)})).await;
    assert_eq!(answer.status, 200);
}
