//! Every problem of the table is seen once, as an answer: of the router, or of a server process where the
//! disk has to fill. A code that no request brings about fails the test.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use axum::body::Body;
use serde_json::json;
use wonbon_app::tokens::{Scope, Tokens};
use wonbon_server::{Code, Config, Problem, Rate};
use wonbon_store::{Follow, NewDocument, Store, StoreError, StoreParams};
use wonbon_testkit::postgres::shared_server;
use wonbon_time::Timestamp;

use crate::support::{Answer, Running, text};

/// A body that never comes.
struct Never;

impl axum::body::HttpBody for Never {
    type Data = axum::body::Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Self::Data>, Self::Error>>> {
        std::task::Poll::Pending
    }
}

fn limited(change: impl FnOnce(&mut Config)) -> Running {
    let mut config = Config::default();
    change(&mut config);
    Running::with(config)
}

/// A store whose one text was damaged while nobody looked.
fn damaged_store(folder: &std::path::Path) -> Store {
    let directory = folder.join("damaged");
    let store = Store::create(&directory, &StoreParams::default()).unwrap();
    let words: Vec<String> =
        (0..4000_u64).map(|at| format!("{:x}", at.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    store
        .add(&NewDocument::text("a", Some(Timestamp::from_microseconds(1)), &words.join(" ")))
        .unwrap();
    store.close().unwrap();
    let path = directory.join("documents.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    let frame = bytes.windows(4).position(|four| four == [0x28, 0xB5, 0x2F, 0xFD]).unwrap();
    // Deep inside the text, far from the rows.
    bytes[frame + 400] ^= 0x55;
    std::fs::write(&path, bytes).unwrap();
    Store::open(&directory).unwrap()
}

/// A store whose index of shingles has no place where it could be.
fn store_that_lags(folder: &std::path::Path) -> Store {
    let directory = folder.join("lags");
    let store = Store::create(&directory, &StoreParams::default()).unwrap();
    store.add(&NewDocument::text("a", Some(Timestamp::from_microseconds(1)), &text(1))).unwrap();
    store.close().unwrap();
    let place = directory.join("shingles");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::write(place, "").unwrap();
    Store::open(&directory).unwrap()
}

#[tokio::test]
async fn every_code_is_seen() {
    let mut seen = BTreeSet::new();
    let mut see = |code: Code, answer: Answer| {
        assert_eq!(answer.code(), code.name(), "{answer:?}");
        assert_eq!(answer.status, code.status(), "{answer:?}");
        let body = answer.json();
        assert_eq!(body["status"], code.status().as_u16());
        assert_eq!(body["title"], code.title());
        assert!(!body["detail"].as_str().unwrap().is_empty(), "{body}");
        let temporary = matches!(code.status().as_u16(), 429 | 503 | 507);
        assert_eq!(answer.headers.contains_key("retry-after"), temporary, "{answer:?}");
        seen.insert(code);
    };
    let json_type = ("content-type", "application/json");
    let service = Running::new();
    service.store(&[NewDocument::text("a", Some(Timestamp::from_microseconds(1)), &text(1))]);

    see(Code::BadParameter, service.get("/v1/search?q=a&limit=0").await);
    see(Code::BadParameter, service.get("/v1/search?q=a&limit=many").await);
    see(Code::BadParameter, service.get("/v1/similar?key=a&min=2").await);
    see(Code::BadParameter, service.get("/v1/changes?since=soon").await);
    see(Code::BadJson, service.call("POST", "/v1/documents", &[json_type], "{").await);
    see(Code::BadJson, service.post("/v1/collapse", &json!({"results": 7})).await);
    see(Code::BadJson, service.add(&json!({"id": "r", "redirect": "b"})).await);
    see(
        Code::NotUtf8,
        service.call("POST", "/v1/documents", &[json_type], vec![0xFF_u8, 0xFE]).await,
    );
    see(Code::BadQuery, service.get("/v1/search?q=").await);
    see(Code::BadCursor, service.get("/v1/families?cursor=elsewhere").await);
    see(Code::TooDeep, service.get("/v1/search?q=a&cursor=s99999999-0").await);
    see(Code::BadKey, service.add(&json!({"id": "k".repeat(4097), "text": "a"})).await);
    see(Code::NoWords, service.post("/v1/similar", &json!({"text": " … "})).await);
    see(Code::NoSuchAddress, service.get("/v1/nothing").await);
    see(Code::UnknownDocument, service.get("/v1/documents/nobody").await);
    see(Code::UnknownDocument, service.get("/v1/moved?key=nobody").await);
    see(Code::NotWatched, service.call("DELETE", "/v1/watch?key=a", &[], "").await);
    see(Code::MethodNotAllowed, service.call("PUT", "/v1/documents", &[], "").await);
    see(
        Code::UnsupportedContent,
        service.call("POST", "/v1/check", &[("content-type", "image/png")], "x").await,
    );
    let euc_kr = [("content-type", "application/json; charset=euc-kr")];
    see(Code::UnsupportedContent, service.call("POST", "/v1/documents", &euc_kr, "{}").await);
    see(Code::WrongHost, service.call("GET", "/v1/status", &[("host", "evil.example")], "").await);
    let origin = [json_type, ("origin", "https://evil.example")];
    see(Code::CrossSite, service.call("POST", "/v1/documents", &origin, "{}").await);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    see(Code::BadForm, service.call("POST", "/watch", &form, "key=a").await);
    let if_match = [json_type, ("if-match", "\"1-1\"")];
    let body = json!({"id": "a", "text": "b"}).to_string();
    see(Code::NotAsExpected, service.call("POST", "/v1/documents", &if_match, body).await);
    see(Code::NothingToUndo, service.post("/v1/decisions/undo", &json!({"key": "a"})).await);
    see(Code::NoBackups, service.post("/v1/backup", &json!({"name": "a"})).await);
    let sweep = async |date: &str| {
        let document = json!({"id": "s", "text": text(2)});
        service.post(&format!("/v1/documents?sweep={date}"), &document).await
    };
    sweep("2026-11-08").await;
    see(Code::SweepTooEarly, sweep("2026-11-01").await);
    service.end.send(true).unwrap();
    see(Code::ShuttingDown, service.add(&json!({"id": "b", "text": "b"})).await);

    let folder = tempfile::tempdir().unwrap();
    let backups = limited(|config| config.backups = Some(folder.path().to_owned()));
    backups.post("/v1/backup", &json!({"name": "a"})).await;
    see(Code::AlreadyThere, backups.post("/v1/backup", &json!({"name": "a"})).await);

    see(Code::NoJobs, backups.get("/v1/jobs").await);
    let working = limited(|config| {
        config.jobs = Some(wonbon_app::jobs::JobsConfig::new(folder.path().join("jobs")));
    });
    see(Code::UnknownJob, working.get("/v1/jobs/7").await);
    see(Code::UnknownJob, working.get("/v1/jobs/first").await);
    let import = json!({"kind": "import", "inputs": ["../tokens"]});
    see(Code::BadInput, working.post("/v1/jobs", &import).await);
    let crawl = json!({"kind": "crawl", "seeds": ["http://127.0.0.1/"]});
    see(Code::ForbiddenAddress, working.post("/v1/jobs", &crawl).await);
    std::fs::write(folder.path().join("jobs/in/none.jsonl"), "").unwrap();
    let import = json!({"kind": "import", "inputs": ["none.jsonl"]});
    assert_eq!(working.post("/v1/jobs", &import).await.status, 202);
    see(Code::WrongState, working.call("POST", "/v1/jobs/1/resume", &[], "").await);

    let small = limited(|config| config.limits.body_bytes = 100);
    see(Code::TooLarge, small.add(&json!({"id": "a", "text": "word ".repeat(50)})).await);
    let slow = limited(|config| config.limits.body_time = Duration::from_millis(20));
    see(Code::TooSlow, slow.call("POST", "/v1/check", &[json_type], Body::new(Never)).await);
    let busy = limited(|config| config.limits.requests = 0);
    see(Code::Busy, busy.get("/v1/status").await);
    let late = limited(|config| {
        config.limits.questions = 0;
        config.limits.answer_time = Duration::from_millis(20);
    });
    see(Code::TookTooLong, late.get("/v1/status").await);
    let rate = Rate { per_second: 0.001, at_once: 1.0 };
    let rated = limited(|config| config.limits.rate = Some(rate));
    assert_eq!(rated.get("/v1/status").await.status, 200);
    see(Code::TooManyRequests, rated.get("/v1/status").await);

    let tokens = folder.path().join("tokens");
    let mut made = Tokens::default();
    let reading = made.create("reader", &[Scope::Read], None).unwrap();
    let expired =
        made.create("old", &[Scope::Admin], Some(Timestamp::from_microseconds(1))).unwrap();
    made.write(&tokens).unwrap();
    let closed = limited(|config| config.tokens = Some(tokens.clone()));
    let with = |secret: &str| format!("Bearer {secret}");
    let status = async |secret: &str| {
        closed.call("GET", "/v1/status", &[("authorization", secret)], "").await
    };
    see(Code::TokenNeeded, closed.get("/v1/status").await);
    see(Code::TokenUnknown, status(&with("wonbon_00")).await);
    see(Code::TokenUnknown, status("Basic abc").await);
    see(Code::TokenExpired, status(&with(&expired)).await);
    assert_eq!(status(&with(&reading)).await.status, 200);
    let bearer = with(&reading);
    let add = [json_type, ("authorization", bearer.as_str())];
    see(Code::ScopeMissing, closed.call("POST", "/v1/documents", &add, "{}").await);
    assert_eq!(closed.get("/healthz").await.status, 200, "health is open to all");

    let damaged = Running::over(damaged_store(folder.path()));
    see(Code::Damaged, damaged.get("/v1/documents/a").await);
    // A place for backups that is no directory: a defect of whoever started it, told in the log.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let wrong = limited(|config| config.backups = Some(file));
    see(Code::Failed, wrong.post("/v1/backup", &json!({"name": "a"})).await);
    let behind = Running::over(store_that_lags(folder.path()));
    see(Code::Behind, behind.get("/v1/similar?key=a").await);
    assert_eq!(behind.get("/v1/documents/a").await.status, 200, "the others go on");
    see(Code::WriteFailed, crate::full_disk::answer_when_writing_fails());
    // Where no disk can be filled and no database be lost, as the store tells it.
    let mut skipped = vec![Problem::from(StoreError::InDoubt { what: String::new() }).code];
    match crate::full_disk::answer_without_room() {
        Some(answer) => see(Code::DiskFull, answer),
        None => skipped.push(Problem::from(StoreError::DiskFull).code),
    }
    match shared_server() {
        Some(server) => {
            let place = server.address("problems", folder.path());
            let follows = Follow::Nothing;
            let store = Store::open_or_create_following(place.as_ref(), None, follows).unwrap();
            see(Code::NotFollowed, Running::over(store).get("/v1/search?q=a").await);
        }
        None => skipped.push(Problem::from(StoreError::NotFollowed { which: "search" }).code),
    }
    seen.extend(skipped);
    let all: BTreeSet<Code> = Code::ALL.iter().copied().collect();
    assert_eq!(seen, all);
}

#[tokio::test]
async fn a_revoked_token_stops_working_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let mut tokens = Tokens::default();
    let secret = tokens.create("a", &[Scope::Admin], None).unwrap();
    tokens.write(&path).unwrap();
    let service = limited(|config| config.tokens = Some(path.clone()));
    let bearer = format!("Bearer {secret}");
    let status =
        async || service.call("GET", "/v1/status", &[("authorization", &bearer)], "").await.status;
    assert_eq!(status().await, 200);
    let id = tokens.tokens[0].id.clone();
    tokens.revoke(&id);
    tokens.write(&path).unwrap();
    let begun = Instant::now();
    while status().await == 200 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the file is looked at every second");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(status().await, 401);
}
