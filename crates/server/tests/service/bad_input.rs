//! Bad input, whichever way it comes: one clear problem each, and nothing is stored or lost.

use serde_json::json;
use wonbon_app::tokens::{Scope, Tokens};
use wonbon_server::Config;
use wonbon_store::NewDocument;
use wonbon_time::Timestamp;

use crate::support::{Running, address, text};

#[tokio::test]
async fn every_bad_body_is_one_problem_and_stores_nothing() {
    let mut config = Config::default();
    config.limits.body_bytes = 4000;
    let service = Running::with(config);
    service.store(&[NewDocument::text("a", Some(Timestamp::from_microseconds(1)), &text(1))]);
    let json = "application/json";
    let long = json!({"id": "b", "text": "word ".repeat(1000)}).to_string();
    let deep = format!("{{\"id\": \"b\", \"text\": \"x\", \"more\": {}1", "[".repeat(3000));
    let cases: [(&str, &str, &[u8], &str); 19] = [
        ("cut off", json, b"{\"id\": \"b\", \"text\": \"a b", "bad_json"),
        ("two of them", json, b"{\"id\": \"b\", \"text\": \"x\"}{}", "bad_json"),
        ("a list", json, b"[]", "bad_json"),
        ("nothing", json, b"", "bad_json"),
        ("a number for a text", json, b"{\"id\": \"b\", \"text\": 7}", "bad_json"),
        ("half a surrogate", json, b"{\"id\": \"b\", \"text\": \"\\ud800 x\"}", "bad_json"),
        ("half a surrogate in a key", json, b"{\"id\": \"\\udc00\", \"text\": \"x\"}", "bad_json"),
        ("a raw control character", json, b"{\"id\": \"b\", \"text\": \"a\x01b\"}", "bad_json"),
        ("no time", json, b"{\"id\": \"b\", \"text\": \"x\", \"created\": \"soon\"}", "bad_json"),
        ("nested", json, deep.as_bytes(), "bad_json"),
        ("no key", json, b"{\"text\": \"x\"}", "bad_json"),
        ("an empty key", json, b"{\"id\": \"\", \"text\": \"x\"}", "bad_json"),
        (
            "EUC-KR called UTF-8",
            json,
            b"{\"id\": \"b\", \"text\": \"\xc7\xd1\xb1\xdb\"}",
            "not_utf8",
        ),
        ("UTF-16", json, b"\xff\xfe{\0\"\0", "not_utf8"),
        ("another charset", "application/json; charset=euc-kr", b"{}", "unsupported_content"),
        ("a picture", "image/png", b"\x89PNG", "unsupported_content"),
        ("no kind", "", b"{\"id\": \"b\", \"text\": \"x\"}", "unsupported_content"),
        ("a form", "application/x-www-form-urlencoded", b"id=b&text=x", "unsupported_content"),
        ("too large", json, long.as_bytes(), "too_large"),
    ];
    for (what, kind, body, code) in cases {
        for route in ["/v1/documents", "/v1/check"] {
            // What is checked needs no key, and takes no room.
            if route == "/v1/check" && ["no key", "an empty key"].contains(&what) {
                continue;
            }
            let headers = if kind.is_empty() { vec![] } else { vec![("content-type", kind)] };
            let refused = service.call("POST", route, &headers, body.to_vec()).await;
            assert_eq!(refused.code(), code, "{route}: {what}: {refused:?}");
            assert!(!refused.json()["detail"].as_str().unwrap().is_empty(), "{what}");
        }
    }
    assert_eq!(service.store.counts().unwrap().documents, 1);
    assert_eq!(service.get("/v1/documents/a").await.status, 200);
}

#[tokio::test]
async fn an_unknown_key_is_the_same_problem_wherever_it_is_asked_for() {
    let service = Running::new();
    service.store(&[NewDocument::text("a", Some(Timestamp::from_microseconds(1)), &text(1))]);
    for (method, route) in [
        ("GET", "/v1/documents/nobody"),
        ("GET", "/v1/similar?key=nobody"),
        ("GET", "/v1/within?key=nobody"),
        ("GET", "/v1/contains?key=nobody"),
        ("GET", "/v1/sources?key=nobody"),
        ("GET", "/v1/passages?key=nobody"),
        ("GET", "/v1/moved?key=nobody"),
        ("GET", "/v1/copies?key=nobody"),
        ("GET", "/v1/changes?key=nobody"),
        ("GET", "/v1/compare?a=a&b=nobody"),
        ("GET", "/v1/family?key=nobody"),
        ("DELETE", "/v1/documents/nobody"),
        ("GET", "/document?key=nobody"),
        ("GET", "/v1/ask?key=nobody"),
        ("GET", "/raw?key=nobody"),
    ] {
        let answer = service.call(method, route, &[], "").await;
        assert_eq!(answer.code(), "unknown_document", "{method} {route}: {answer:?}");
    }
    let watched = service.post("/v1/watch", &json!({"key": "nobody"})).await;
    assert_eq!(watched.code(), "unknown_document");
    // Keys that are nothing in an address, written as they have to be.
    for key in ["../status", "%2e%2e", "a\0b", "?", "#", "\u{202E}"] {
        let answer = service.get(&address("/v1/documents", &[("key", key)])).await;
        assert_eq!(answer.code(), "unknown_document", "{key:?}");
    }
}

#[tokio::test]
async fn an_expired_token_opens_nothing_by_header_or_by_cookie() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let mut tokens = Tokens::default();
    let expired =
        tokens.create("old", &[Scope::Admin], Some(Timestamp::from_microseconds(1))).unwrap();
    tokens.write(&path).unwrap();
    let service = Running::with(Config { tokens: Some(path), ..Config::default() });
    let bearer = format!("Bearer {expired}");
    let cookie = format!("wonbon_token={expired}");
    for header in [("authorization", bearer.as_str()), ("cookie", cookie.as_str())] {
        for (method, route) in [("GET", "/v1/status"), ("POST", "/v1/documents"), ("GET", "/")] {
            let kind = ("content-type", "application/json");
            let body = json!({"id": "b", "text": "x"}).to_string();
            let answer = service.call(method, route, &[kind, header], body).await;
            assert_eq!(answer.code(), "token_expired", "{method} {route} by {}", header.0);
        }
    }
    assert_eq!(service.store.counts().unwrap().documents, 0);
}
