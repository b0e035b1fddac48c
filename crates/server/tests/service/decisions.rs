//! What people decide: verdicts follow, now and later; the log; who may.

use axum::http::StatusCode;
use serde_json::{Value, json};
use wonbon_app::tokens::{Scope, Tokens};
use wonbon_server::Config;
use wonbon_store::NewDocument;
use wonbon_time::Timestamp;

use crate::support::{Answer, Running, address, text};

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Two documents of the same text, the first the original of the second.
fn two() -> Running {
    two_with(Config::default())
}

fn two_with(config: Config) -> Running {
    let service = Running::with(config);
    service.store(&[
        NewDocument::text(
            "https://one.example/a",
            Some(Timestamp::from_microseconds(1_000_000)),
            &text(1),
        ),
        NewDocument::text("b & b", Some(Timestamp::from_microseconds(2_000_000)), &text(1)),
    ]);
    service
}

async fn document(service: &Running, key: &str) -> Value {
    service.get(&address("/v1/documents", &[("key", key)])).await.json()
}

async fn log(service: &Running) -> Vec<Value> {
    let log = service.get("/v1/decisions").await.json();
    assert_eq!(log["next"], Value::Null);
    log["decisions"].as_array().unwrap().clone()
}

#[tokio::test]
async fn lists_and_results_say_what_was_decided() {
    let service = two();
    let mark = "<span class=\"kind decided\">Declared not a copy</span>";
    let answers = [
        ("/v1/documents", "/documents/0"),
        ("/v1/families", "/families/0/original"),
        ("/v1/search?q=w13x1", "/results/0/document"),
        ("/v1/similar?key=third", "/matches/0/document"),
        ("/v1/family?key=https://one.example/a", "/documents/0"),
    ];
    service.store(&[NewDocument::text(
        "third",
        Some(Timestamp::from_microseconds(3_000_000)),
        &text(1),
    )]);
    for decided in [false, true] {
        if decided {
            // The first of its family by creation: it stays what it is.
            let decision = json!({"key": "https://one.example/a", "decision": "not-a-copy"});
            assert_eq!(service.post("/v1/decisions", &decision).await.status, StatusCode::OK);
        }
        for (path, place) in answers {
            let answer = service.get(path).await.json();
            let told: Vec<&Value> = match path {
                "/v1/documents" => answer["documents"].as_array().unwrap().iter().collect(),
                _ => vec![answer.pointer(place).unwrap()],
            };
            let one = told.iter().find(|one| one["key"] == "https://one.example/a").unwrap();
            let expected = if decided { json!("not-a-copy") } else { Value::Null };
            assert_eq!(one["decision"], expected, "{path}: {answer}");
            assert!(told.iter().all(|it| it == one || it["decision"].is_null()), "{answer}");
        }
        for page in ["/", "/families", "/search?q=w13x1", "/ask?key=third", "/document?key=third"] {
            let page = service.page(page, "en").await;
            assert_eq!(page.body.contains(mark), decided, "{}", page.body);
        }
    }
}

#[tokio::test]
async fn a_decision_changes_verdicts_now_and_later_and_is_taken_back() {
    let service = two();
    let decided =
        json!({"key": "b & b", "decision": "original", "reason": "the author <b>said</b> so"});
    let answer = service.post("/v1/decisions", &decided).await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let body = answer.json();
    assert_eq!(body["entry"]["entry"], 1);
    assert_eq!(body["entry"]["who"], "local");
    assert_eq!(body["document"]["verdict"], "original");
    assert_eq!(body["document"]["decision"], "original");
    let first = document(&service, "https://one.example/a").await;
    assert_eq!((&first["verdict"], &first["original"]), (&json!("identical"), &json!("b & b")));
    assert_eq!(document(&service, "b & b").await["decision"], "original");

    // The same again is no entry.
    assert_eq!(service.post("/v1/decisions", &decided).await.json()["entry"], Value::Null);

    // What comes later respects it, though it was created before.
    let late = json!({"id": "late", "created": "1970-01-01", "text": text(1)});
    let checked = service.post("/v1/check", &late).await.json();
    assert_eq!(checked["original"], "b & b");
    assert_eq!(service.add(&late).await.json()["original"], "b & b");

    let second = json!({"key": "late", "decision": "not-a-copy"});
    assert_eq!(
        service.post("/v1/decisions", &second).await.json()["document"]["verdict"],
        "original"
    );
    // The entry that is named has to be the last about the document.
    let other = json!({"key": "late", "entry": 1});
    assert_eq!(service.post("/v1/decisions/undo", &other).await.code(), "nothing_to_undo");
    let undo = json!({"key": "b & b", "entry": 1, "reason": "they did not"});
    let undone = service.post("/v1/decisions/undo", &undo).await.json();
    assert_eq!(undone["document"]["decision"], Value::Null);
    assert_eq!(undone["document"]["original"], "late");
    assert_eq!(service.post("/v1/decisions/undo", &undo).await.code(), "nothing_to_undo");
    assert_eq!(service.call("DELETE", "/v1/documents/late", &[], "").await.status, 204);

    let told: Vec<(u64, String, Value, Value, Value)> = log(&service)
        .await
        .iter()
        .map(|entry| {
            let change = entry["change"].as_str().unwrap().to_owned();
            let (before, after) = (entry["before"].clone(), entry["after"].clone());
            (entry["entry"].as_u64().unwrap(), change, before, after, entry["reason"].clone())
        })
        .collect();
    let nothing = Value::Null;
    assert_eq!(
        told,
        [
            (4, "removed".to_owned(), json!("not-a-copy"), nothing.clone(), nothing.clone()),
            (3, "undone".to_owned(), json!("original"), nothing.clone(), json!("they did not")),
            (2, "decided".to_owned(), nothing.clone(), json!("not-a-copy"), nothing.clone()),
            (1, "decided".to_owned(), nothing, json!("original"), decided["reason"].clone()),
        ]
    );
    let page = service.get("/v1/decisions?limit=3").await.json();
    let next = page["next"].as_str().unwrap();
    let rest = service.get(&format!("/v1/decisions?limit=3&cursor={next}")).await.json();
    assert_eq!(rest["decisions"][0]["entry"], 1);
    assert_eq!(rest["next"], Value::Null);
    let of_late = service.get("/v1/decisions?key=late").await.json();
    assert_eq!(of_late["decisions"].as_array().unwrap().len(), 2);
    assert_eq!(service.store.verify().unwrap().first, Vec::<String>::new());
}

#[tokio::test]
async fn a_decision_that_is_wrong_is_refused_by_its_code() {
    let service = two();
    service.store(&[NewDocument::text("empty", Some(Timestamp::from_microseconds(1)), " … ")]);
    for (body, code) in [
        (json!({"key": "nobody", "decision": "original"}), "unknown_document"),
        (json!({"key": "empty", "decision": "original"}), "no_words"),
        (json!({"key": "b & b", "decision": "copy"}), "bad_json"),
        (json!({"key": "b & b"}), "bad_json"),
        (json!({"decision": "original"}), "bad_json"),
        (
            json!({"key": "b & b", "decision": "original", "reason": "x".repeat(1001)}),
            "bad_parameter",
        ),
    ] {
        assert_eq!(service.post("/v1/decisions", &body).await.code(), code, "{body}");
    }
    let nobody = json!({"key": "nobody"});
    assert_eq!(service.post("/v1/decisions/undo", &nobody).await.code(), "unknown_document");
    let nothing = json!({"key": "b & b"});
    assert_eq!(service.post("/v1/decisions/undo", &nothing).await.code(), "nothing_to_undo");
    assert_eq!(service.get("/v1/decisions?cursor=d1-0").await.code(), "bad_cursor");
    assert_eq!(service.get("/v1/decisions?limit=0").await.code(), "bad_parameter");
    assert_eq!(log(&service).await, Vec::<Value>::new());
    service.end.send(true).unwrap();
    let late = json!({"key": "b & b", "decision": "original"});
    assert_eq!(service.post("/v1/decisions", &late).await.code(), "shutting_down");
}

#[tokio::test]
async fn the_mark_of_a_document_changes_with_a_decision() {
    let service = two();
    let question = address("/v1/documents", &[("key", "b & b")]);
    let before = service.get(&question).await.header("etag").to_owned();
    let decide = async |decision: &str, mark: &str| -> Answer {
        let body = json!({"key": "b & b", "decision": decision}).to_string();
        service.call("POST", "/v1/decisions", &[JSON, ("if-match", mark)], body).await
    };
    let decided = decide("original", &before).await;
    let after = decided.header("etag").to_owned();
    assert_eq!(decided.status, StatusCode::OK);
    assert_ne!(before, after);
    assert_eq!(service.get(&question).await.header("etag"), after);
    assert_eq!(decide("not-a-copy", &before).await.code(), "not_as_expected");
    // An edit by somebody who has not seen the decision is refused, and goes with the new mark.
    let edit = json!({"id": "b & b", "text": text(2)}).to_string();
    let edited = async |mark: &str| {
        service.call("POST", "/v1/documents", &[JSON, ("if-match", mark)], edit.clone()).await
    };
    assert_eq!(edited(&before).await.code(), "not_as_expected");
    assert_eq!(edited(&after).await.status, StatusCode::OK);
    assert_eq!(document(&service, "b & b").await["decision"], "original", "an edit keeps it");
}

#[tokio::test]
async fn deciding_needs_the_scope_to_add_and_the_log_has_the_tokens_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let mut tokens = Tokens::default();
    let reading = tokens.create("reader", &[Scope::Read], None).unwrap();
    let adding = tokens.create("the editor", &[Scope::Add], None).unwrap();
    tokens.write(&path).unwrap();
    let service = two_with(Config { tokens: Some(path), ..Config::default() });
    let body = json!({"key": "b & b", "decision": "original"}).to_string();
    for route in ["/v1/decisions", "/v1/decisions/undo", "/decisions", "/decisions/undo"] {
        assert_eq!(service.call("POST", route, &[JSON], body.clone()).await.code(), "token_needed");
        let bearer = format!("Bearer {reading}");
        let headers = [JSON, ("authorization", bearer.as_str())];
        let refused = service.call("POST", route, &headers, body.clone()).await;
        assert_eq!(refused.code(), "scope_missing", "{route}");
    }
    let bearer = format!("Bearer {adding}");
    let headers = [JSON, ("authorization", bearer.as_str())];
    let decided = service.call("POST", "/v1/decisions", &headers, body).await.json();
    assert_eq!(decided["entry"]["who"], "the editor");
    let removed = address("/v1/documents", &[("key", "b & b")]);
    assert_eq!(service.call("DELETE", &removed, &headers, "").await.status, 204);
    let bearer = format!("Bearer {reading}");
    let headers = [("authorization", bearer.as_str())];
    let log = service.call("GET", "/v1/decisions", &headers, "").await.json();
    assert_eq!(log["decisions"][0]["change"], "removed");
    assert_eq!(log["decisions"][0]["who"], "the editor");
}

/// The mark of a page's forms and the cookie it goes with.
fn form_of(page: &Answer) -> (String, String) {
    let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
    let mark = page.body.split("name=\"form\" value=\"").nth(1).unwrap();
    (cookie, mark.split('"').next().unwrap().to_owned())
}

fn written(fields: &[(&str, &str)]) -> String {
    address("", fields).trim_start_matches('?').to_owned()
}

#[tokio::test]
async fn people_decide_and_take_back_by_the_forms_of_the_pages() {
    let service = two();
    let of_b = address("/document", &[("key", "b & b")]);
    let page = service.page(&of_b, "en").await;
    for button in ["Make this the original", "Not a copy"] {
        assert!(page.body.contains(button), "{button}");
    }
    assert!(!page.body.contains(">Undo<"));
    let (cookie, mark) = form_of(&page);
    let send = async |path: &str, fields: &[(&str, &str)], mark: &str| {
        let mut fields = fields.to_vec();
        fields.push(("form", mark));
        let headers = [FORM, ("cookie", cookie.as_str()), ("accept", "text/html")];
        service.call("POST", path, &headers, written(&fields)).await
    };
    let fields = [
        ("key", "b & b"),
        ("back", "document"),
        ("decision", "original"),
        ("reason", "<script>x</script>"),
    ];
    // Without the mark, or from elsewhere, nothing happens.
    assert_eq!(send("/decisions", &fields, "").await.status, StatusCode::FORBIDDEN);
    let foreign = [FORM, ("cookie", cookie.as_str()), ("origin", "https://evil.example")];
    let mut marked = fields.to_vec();
    marked.push(("form", &mark));
    let refused = service.call("POST", "/decisions", &foreign, written(&marked)).await;
    assert_eq!(refused.code(), "cross_site");
    let undone = service.call("POST", "/decisions/undo", &foreign, written(&marked)).await;
    assert_eq!(undone.code(), "cross_site");
    assert_eq!(log(&service).await, Vec::<Value>::new());

    let sent = send("/decisions", &fields, &mark).await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{sent:?}");
    assert_eq!(sent.header("location"), "/document?key=b+%26+b&decided=1");
    let page = service.page(sent.header("location"), "en").await;
    assert!(page.body.contains("role=\"status\""), "it tells what was recorded");
    assert!(page.body.contains(r#"name="entry" value="1"><button class="quiet">Undo</button>"#));
    assert!(page.body.contains("&lt;script&gt;x&lt;/script&gt;"), "the reason is shown as words");
    assert!(page.body.contains("by decision"));
    let korean = service.page(sent.header("location"), "ko").await;
    assert!(korean.body.contains("되돌리기") && korean.body.contains("원본으로 정함"));

    // From the page of the family, and back to it.
    let family = address("/family", &[("key", "b & b")]);
    assert!(service.page(&family, "en").await.body.contains(r#"name="back" value="family""#));
    let undo = [("key", "b & b"), ("back", "family"), ("entry", "1")];
    let undone = send("/decisions/undo", &undo, &mark).await;
    assert_eq!(undone.header("location"), "/family?key=b+%26+b&decided=2");
    let page = service.page(undone.header("location"), "en").await;
    assert!(page.body.contains("Entry 1 taken back"));
    // Sent again it takes nothing else back.
    let again = send("/decisions/undo", &undo, &mark).await;
    assert_eq!(again.status, StatusCode::CONFLICT);
    assert!(again.body.contains("nothing_to_undo"));
    // A notice whose time is over is told no more.
    let old = service.page("/document?key=b+%26+b&decided=1", "en").await;
    assert!(!old.body.contains("role=\"status\""));

    for (language, word) in [("en", "Decisions"), ("ko", "결정 기록")] {
        let page = service.page("/decisions", language).await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains(word) && page.body.contains("&lt;script&gt;"), "{page:?}");
        assert!(page.body.contains("href=\"/v1/decisions\""), "its JSON");
    }
    let log = service.get("/v1/decisions").await.json();
    assert_eq!(log["decisions"].as_array().unwrap().len(), 2);
}
