//! Pages: all of them in both languages, where their JSON is, and nothing from outside as markup.

use std::sync::OnceLock;

use axum::http::StatusCode;
use proptest::prelude::*;
use serde_json::json;
use wonbon_app::tokens::{Scope, Tokens};
use wonbon_server::Config;
use wonbon_store::{By, Content, Decision, NewDocument};
use wonbon_time::Timestamp;

use crate::support::{Answer, IN_POSTGRES, Running, address, text};

fn filled() -> Running {
    let service = Running::new();
    let edited = text(1).replace(' ', " , ") + " and a new end";
    let mut documents = vec![
        NewDocument::text(
            "https://one.example/a",
            Some(Timestamp::from_microseconds(1_000_000)),
            &edited,
        ),
        NewDocument::text(
            "https://two.example/b",
            Some(Timestamp::from_microseconds(90_000_000_000)),
            &edited,
        ),
        NewDocument::text(
            "third",
            Some(Timestamp::from_microseconds(3)),
            "something else entirely stands here",
        ),
    ];
    documents[0].title = Some("The ferry".into());
    service.store(&documents);
    service.store.watch("https://one.example/a").unwrap();
    service
}

const PAGES: [&str; 20] = [
    "/",
    "/search",
    "/search?q=ferry",
    "/document?key=https://one.example/a",
    "/compare",
    "/compare?a=https://one.example/a&b=third",
    "/ask",
    "/ask?key=https://one.example/a",
    "/moved",
    "/moved?key=https://one.example/a",
    "/copies",
    "/copies?key=https://one.example/a",
    "/changes",
    "/changes?key=third",
    "/watch",
    "/families",
    "/family?key=third",
    "/decisions",
    "/status",
    "/docs",
];

#[tokio::test]
async fn every_page_speaks_both_languages_and_needs_nothing_from_elsewhere() {
    let service = filled();
    for address in PAGES {
        let [english, korean] =
            [service.page(address, "en").await, service.page(address, "ko-KR,ko").await];
        for (page, language) in [(&english, "en"), (&korean, "ko")] {
            assert_eq!(page.status, StatusCode::OK, "{address}: {page:?}");
            assert!(
                page.body.starts_with(&format!("<!DOCTYPE html><html lang=\"{language}\">")),
                "{address}"
            );
            assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
            let policy = page.header("content-security-policy");
            assert!(
                policy.contains("default-src 'none'") && !policy.contains("unsafe"),
                "{policy}"
            );
            assert_eq!(page.header("x-content-type-options"), "nosniff");
            assert_eq!(page.body.matches("<script").count(), 1, "{address}: one script, ours");
            for inline in [" style=", "<style", " onclick=", "javascript:"] {
                assert!(!page.body.contains(inline), "{address} has {inline}");
            }
            for landmark in ["<header>", "<nav aria-label=", "<main id=\"main\"", "<footer>", "<h1"]
            {
                assert_eq!(page.body.matches(landmark).count(), 1, "{address}: {landmark}");
            }
            for elsewhere in [" src=\"http", " href=\"//", "@import"] {
                assert!(!page.body.contains(elsewhere), "{address} has {elsewhere}");
            }
        }
        assert_ne!(english.body, korean.body, "{address}");
        assert!(korean.body.contains("본문으로"), "{address}");
    }
}

#[tokio::test]
async fn every_page_leads_to_its_json_under_v1() {
    let service = filled();
    for page in PAGES {
        if page == "/docs" {
            continue;
        }
        let (path, question) = page.split_once('?').unwrap_or((page, ""));
        // Without a question there is a form, and nothing to answer.
        let asks = ["/search", "/compare", "/ask", "/moved", "/copies"];
        if asks.contains(&path) && question.is_empty() {
            continue;
        }
        let path = if path == "/" { "/index" } else { path };
        let by_name = service.get(&format!("{path}.json?{question}")).await;
        let by_header = service.call("GET", page, &[("accept", "application/json")], "").await;
        assert_eq!(by_name.status, StatusCode::PERMANENT_REDIRECT, "{page}: {by_name:?}");
        assert_eq!(by_header.status, StatusCode::TEMPORARY_REDIRECT, "{page}: {by_header:?}");
        let address = by_name.header("location");
        assert_eq!(by_header.header("location"), address, "{page}");
        assert!(address.starts_with("/v1/"), "{page}: {address}");
        let answer = service.get(address).await;
        assert_eq!(answer.status, StatusCode::OK, "{page}: {answer:?}");
        assert_eq!(answer.header("content-type"), "application/json", "{page}: {answer:?}");
    }
}

#[tokio::test]
async fn language_and_scheme_are_remembered_and_lead_back_only_here() {
    let service = filled();
    let chosen = service.get("/choose?language=ko&back=/search?q=a").await;
    assert_eq!((chosen.status, chosen.header("location")), (StatusCode::SEE_OTHER, "/search?q=a"));
    let cookie = chosen.header("set-cookie");
    assert!(
        cookie.starts_with("wonbon_language=ko;") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let headers = [("accept", "text/html"), ("cookie", "wonbon_language=ko; wonbon_scheme=dark")];
    let page = service.call("GET", "/", &headers, "").await;
    assert!(page.body.contains("<html lang=\"ko\" class=\"dark\">"), "{}", &page.body[..200]);
    let elsewhere = service.get("/choose?language=en&back=https://evil.example").await;
    assert_eq!(elsewhere.header("location"), "/");
}

/// What a browser does: loads a page and sends its form back.
pub(crate) async fn form_of(service: &Running, page: &str, cookies: &str) -> (String, String) {
    let headers = [("accept", "text/html"), ("cookie", cookies)];
    let page = service.call("GET", page, &headers, "").await;
    let cookie = page.header("set-cookie").split(';').next().unwrap().to_owned();
    let mark = page.body.split("name=\"form\" value=\"").nth(1).unwrap();
    (cookie, mark.split('"').next().unwrap().to_owned())
}

pub(crate) async fn send_form(service: &Running, to: &str, cookie: &str, body: &str) -> Answer {
    let headers = [
        ("accept", "text/html"),
        ("content-type", "application/x-www-form-urlencoded"),
        ("cookie", cookie),
        ("origin", "http://127.0.0.1:7600"),
        ("sec-fetch-site", "same-origin"),
    ];
    service.call("POST", to, &headers, body.to_owned()).await
}

#[tokio::test]
async fn forms_work_with_their_mark_and_not_without() {
    let service = filled();
    let (cookie, mark) = form_of(&service, "/watch", "").await;
    let body = format!("form={mark}&key=third");
    let sent = send_form(&service, "/watch", &cookie, &body).await;
    assert_eq!((sent.status, sent.header("location")), (StatusCode::SEE_OTHER, "/watch"));
    assert_eq!(service.store.watched().unwrap().len(), 2);
    let body = format!("form={mark}&key=third&then=remove");
    send_form(&service, "/watch", &cookie, &body).await;
    assert_eq!(service.store.watched().unwrap().len(), 1);
    for (cookie, body) in [
        (cookie.as_str(), "key=third"),
        ("", &*format!("form={mark}&key=third")),
        ("wonbon_form=00000000000000000000000000000000", &*format!("form={mark}&key=third")),
    ] {
        let refused = send_form(&service, "/watch", cookie, body).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{cookie} {body}");
    }
    assert_eq!(service.store.watched().unwrap().len(), 1);
}

#[tokio::test]
async fn the_box_takes_a_key_an_address_a_text_or_words() {
    let service = filled();
    let (cookie, mark) = form_of(&service, "/", "").await;
    let go = async |text: &str| {
        let body = address("", &[("form", &mark), ("q", text)]);
        send_form(&service, "/go", &cookie, body.trim_start_matches('?')).await
    };
    assert_eq!(go("third").await.header("location"), "/document?key=third");
    let unknown = go("https://nobody.example/").await;
    assert_eq!(unknown.header("location"), "/moved?key=https%3A%2F%2Fnobody.example%2F");
    assert_eq!(go("ferry morning").await.header("location"), "/search?q=ferry+morning");
    let asked = go(&text(1).replace(' ', " , ")).await;
    assert_eq!(asked.status, StatusCode::OK);
    assert!(asked.body.contains("The ferry"), "{}", asked.body);
}

#[tokio::test]
async fn signing_in_with_a_token_opens_the_pages() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let mut tokens = Tokens::default();
    let secret = tokens.create("reader", &[Scope::Read], None).unwrap();
    tokens.write(&path).unwrap();
    let service = Running::with(Config { tokens: Some(path), ..Config::default() });
    let closed = service.page("/", "en").await;
    assert_eq!(closed.status, StatusCode::UNAUTHORIZED);
    assert!(closed.body.contains("href=\"/login\""), "{}", closed.body);
    let (cookie, mark) = form_of(&service, "/login", "").await;
    let wrong = send_form(&service, "/login", &cookie, &format!("form={mark}&token=nothing")).await;
    assert_eq!(wrong.status, StatusCode::UNAUTHORIZED);
    let signed =
        send_form(&service, "/login", &cookie, &format!("form={mark}&token={secret}")).await;
    assert_eq!(signed.status, StatusCode::SEE_OTHER, "{signed:?}");
    let token = signed.header("set-cookie").split(';').next().unwrap().to_owned();
    let headers = [("accept", "text/html"), ("cookie", token.as_str())];
    assert_eq!(service.call("GET", "/", &headers, "").await.status, StatusCode::OK);
}

#[tokio::test]
async fn problems_are_pages_for_people_and_json_for_programs() {
    let service = filled();
    let page =
        service.page(&address("/document", &[("key", "<script>alert(1)</script>")]), "ko").await;
    assert_eq!(page.status, StatusCode::NOT_FOUND);
    assert!(page.body.contains("그런 문서가 없습니다"), "{}", page.body);
    assert!(page.body.contains("&lt;script&gt;alert(1)"), "{}", page.body);
    assert_eq!(page.body.matches("<script").count(), 1);
    let json = service.call("GET", "/v1/documents/none", &[("accept", "text/html")], "").await;
    assert_eq!(json.code(), "unknown_document");
}

/// Texts that would be something else if they were not escaped.
const HOSTILE: [&str; 24] = [
    "<script>alert(1)</script>",
    "\"><script>alert(1)</script>",
    "'><img src=x onerror=alert(1)>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "\" onmouseover=\"alert(1)",
    "' onfocus='alert(1)' autofocus='",
    "javascript:alert(1)",
    "<svg onload=alert(1)>",
    "</svg></figure></table></main></body><h1>",
    "<!--",
    "-->",
    "<![CDATA[x]]>",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "<iframe srcdoc=\"<script>alert(1)</script>\">",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content=0>",
    "<form action=//evil.example><input name=q>",
    "\u{202E}desrever",
    "a\u{0}b",
    "{{constructor.constructor('alert(1)')()}}",
    "<a href=\"javascript:alert(1)\">x</a>",
    "`${alert(1)}`",
];

/// Pages about one document whose every field is the text.
async fn pages_about(payload: &str) -> Vec<(String, String)> {
    let service = Running::new();
    // A key has no NUL; every other field may.
    let key = format!("key {payload}.").replace('\0', "");
    let body = format!("{payload} and some words that are the same in all of them {}", text(1));
    let document = |key: &str, created| NewDocument {
        key: key.to_owned().into(),
        created: Some(Timestamp::from_microseconds(created)),
        created_at_the_latest: false,
        published: None,
        url: Some(format!("address {payload}").into()),
        site: Some(format!("site {payload}").into()),
        author: Some(format!("author {payload}").into()),
        title: Some(format!("title {payload}").into()),
        language: Some(format!("en{payload}").into()),
        sweep: None,
        content: Content::Text(&body),
    };
    let other = format!("other {payload}.").replace('\0', "");
    service.store(&[document(&key, 1), document(&other, 2_000_000)]);
    service.store.watch(&key).unwrap();
    let by = By { who: &format!("who {payload}"), reason: Some(&format!("reason {payload}")) };
    service.store.decide(&other, Decision::NotACopy, &by, None).unwrap();
    let mut pages = Vec::new();
    for address in [
        "/".to_owned(),
        address("/document", &[("key", &key)]),
        address("/compare", &[("a", &key), ("b", &other)]),
        address("/copies", &[("key", &key)]),
        address("/moved", &[("key", &key)]),
        address("/changes", &[("key", &key)]),
        address("/family", &[("key", &key)]),
        "/families".to_owned(),
        "/watch".to_owned(),
        "/decisions".to_owned(),
        address("/decisions", &[("key", &other)]),
        address("/document", &[("key", &other), ("decided", "1")]),
        address("/document", &[("key", &format!("nobody {payload}"))]),
        address(
            "/search",
            &[
                ("q", "zzz"),
                (
                    "site",
                    &format!("s{}", payload.replace(|c: char| c.is_whitespace() || c == '"', "")),
                ),
            ],
        ),
    ] {
        let page = service.page(&address, "en").await;
        pages.push((address.split('?').next().unwrap().to_owned(), page.body));
    }
    pages
}

/// The tags of a page, without what is between them and what their attributes say.
fn skeleton(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let behind = &rest[at + 1..];
        let mut quoted = false;
        let end = behind.find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let (tag, left) = behind.split_at(end.unwrap_or(behind.len()));
        // What stands in quotes is a value; what a tag is called and which attributes it has is left.
        let names: String = tag.split('"').step_by(2).collect::<Vec<_>>().join("\"");
        tags.push(names);
        rest = left;
    }
    tags
}

fn same_skeletons(payload: &str) {
    static PLAIN: OnceLock<Vec<(String, String)>> = OnceLock::new();
    let about = |payload: &str| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(pages_about(payload))
    };
    let (plain, hostile) = (PLAIN.get_or_init(|| about("plain")), about(payload));
    for ((address, plain), (_, hostile)) in plain.iter().zip(&hostile) {
        assert_eq!(skeleton(plain), skeleton(hostile), "{address} with {payload:?}");
    }
}

#[test]
fn hostile_texts_change_no_tag_of_any_page() {
    // How pages escape does not depend on where the store is, which makes a difference in time.
    let tried = if IN_POSTGRES { 2 } else { HOSTILE.len() };
    for payload in &HOSTILE[..tried] {
        same_skeletons(payload);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if IN_POSTGRES { 2 } else { 24 }, ..ProptestConfig::default() })]

    #[test]
    fn no_text_changes_a_tag_of_a_page(
        payload in "[a-z<>&\"'=/ \\\\;:#(){}\\[\\]`!?\u{0}-\u{9}\u{e}-\u{1f}\u{2028}가-힣]{1,40}"
    ) {
        same_skeletons(&payload);
    }
}

#[tokio::test]
async fn a_link_leads_out_only_to_the_web() {
    let service = Running::new();
    service
        .add(
            &json!({"id": "javascript:alert(1)", "url": "javascript:alert(1)//x", "text": text(1)}),
        )
        .await;
    service.add(&json!({"id": "https://one.example/", "text": text(2)})).await;
    let bad = service.page("/document?key=javascript:alert(1)", "en").await.body;
    assert!(!bad.contains("href=\"javascript:"), "{bad}");
    let good = service.page("/document?key=https://one.example/", "en").await.body;
    assert!(
        good.contains("<a href=\"https://one.example/\" rel=\"noreferrer nofollow\">"),
        "{good}"
    );
}
