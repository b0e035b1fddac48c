//! Every route of the API with what it is for.

use axum::http::StatusCode;
use serde_json::{Value, json};
use wonbon_server::Config;
use wonbon_store::{NewDocument, Store};
use wonbon_time::Timestamp;

use crate::support::{Running, address, text};

#[tokio::test]
async fn a_document_is_added_shown_checked_and_removed() {
    let service = Running::new();
    let key = "https://one.example/a?b=c#d";
    let document = json!({"id": key, "created": "2026-01-02", "title": "T", "text": text(1)});
    let added = service.add(&document).await;
    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");
    assert_eq!(added.json()["verdict"], "original");
    assert_eq!(added.json()["key"], key);

    let again = service.add(&document).await;
    assert_eq!(
        (again.status, again.json()["change"].clone(), again.json()["verdict"].clone()),
        (StatusCode::OK, json!("unchanged"), json!("original"))
    );

    let copy = json!({"id": "copy", "created": "2026-01-03", "text": text(1)});
    let checked = service.post("/v1/check", &copy).await;
    assert_eq!(checked.json()["verdict"], "identical", "{checked:?}");
    assert_eq!(checked.json()["original"], key);
    assert_eq!(service.store.counts().unwrap().documents, 1, "a check stores nothing");
    let unnamed = service.post("/v1/check", &json!({"text": text(2)})).await;
    assert_eq!(unnamed.json()["verdict"], "original");
    // What has no name is no document that is stored, whatever that is called.
    service.add(&json!({"id": "(unnamed)", "text": text(3)})).await;
    for nameless in [json!({"text": text(3)}), json!({"id": "", "text": text(3)})] {
        let unnamed = service.post("/v1/check", &nameless).await.json();
        assert_eq!(
            (&unnamed["key"], &unnamed["original"]),
            (&json!("(unnamed)"), &json!("(unnamed)"))
        );
        let refused = service.post("/v1/documents", &nameless).await;
        assert_eq!(refused.code(), "bad_json");
    }
    service.call("DELETE", "/v1/documents/(unnamed)", &[], "").await;
    service.add(&copy).await;

    let encoded = format!(
        "/v1/documents/{}",
        key.replace('/', "%2F").replace('?', "%3F").replace('#', "%23")
    );
    for found in [&encoded, &address("/v1/documents", &[("key", key)])] {
        let shown = service.get(found).await;
        assert_eq!(shown.json()["key"], key, "{found}: {shown:?}");
        assert_eq!(shown.json()["copies"], 1);
        assert_eq!(shown.json()["text"], text(1));
    }
    let removed = service.call("DELETE", &encoded, &[], "").await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    assert_eq!(service.get(&encoded).await.code(), "unknown_document");
    let orphan = service.get("/v1/documents/copy").await;
    assert_eq!(orphan.json()["verdict"], "original", "it was decided again");
    let removed = service.call("DELETE", "/v1/documents?key=copy", &[], "").await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
    assert_eq!(service.store.verify().unwrap().differences, 0);
}

#[tokio::test]
async fn pages_and_texts_in_any_charset_are_taken_as_they_are() {
    let service = Running::new();
    let page = "<html><head><title>연락선</title></head><body><p>그날 아침 연락선은 오지 않았고 온 마을이 부두에 서서 기다렸다</p></body></html>";
    let page = encoding_rs::EUC_KR.encode(page).0.into_owned();
    let headers = [("content-type", "text/html; charset=euc-kr")];
    let address = "/v1/documents?key=ferry&created=2026-01-01";
    let added = service.call("POST", address, &headers, page).await;
    assert_eq!(added.status, StatusCode::CREATED, "{added:?}");
    let shown = service.get("/v1/documents/ferry").await.json();
    assert!(shown["text"].as_str().unwrap().contains("온 마을이 부두에 서서"), "{shown}");
    let without_key =
        service.call("POST", "/v1/documents", &[("content-type", "text/plain")], "words").await;
    assert_eq!(without_key.code(), "bad_parameter");
}

#[tokio::test]
async fn edits_happen_only_to_what_a_client_has_seen() {
    let service = Running::new();
    let headers = |name: &'static str, value: &str| {
        [
            ("content-type".to_owned(), "application/json".to_owned()),
            (name.to_owned(), value.to_owned()),
        ]
    };
    let call = async |name, value: &str, number| {
        let headers = headers(name, value);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let body = json!({"id": "a", "text": text(number)}).to_string();
        service.call("POST", "/v1/documents", &headers, body).await
    };
    assert_eq!(call("if-match", "*", 1).await.code(), "not_as_expected");
    assert_eq!(call("if-none-match", "*", 1).await.status, StatusCode::CREATED);
    assert_eq!(call("if-none-match", "*", 1).await.code(), "not_as_expected");
    let mark = service.get("/v1/documents/a").await.header("etag").to_owned();
    assert_eq!(call("if-match", &mark, 2).await.json()["change"], "updated");
    let late = call("if-match", &mark, 3).await;
    assert_eq!((late.status.as_u16(), late.code().as_str()), (412, "not_as_expected"));
    assert_eq!(call("if-match", "\"never given\"", 3).await.code(), "not_as_expected");
    let refused = service.call("DELETE", "/v1/documents/a", &[("if-match", &mark)], "").await;
    assert_eq!(refused.code(), "not_as_expected");
    let mark = service.get("/v1/documents/a").await.header("etag").to_owned();
    let removed = service.call("DELETE", "/v1/documents/a", &[("if-match", &mark)], "").await;
    assert_eq!(removed.status, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_stream_answers_every_line_in_order_and_refuses_by_number() {
    let service = Running::new();
    let mut lines: Vec<Vec<u8>> = (0..40)
        .map(|number| {
            let about = number % 10;
            json!({"id": format!("d{number}"), "created": number, "text": text(about)})
                .to_string()
                .into()
        })
        .collect();
    lines[7] = b"{\"id\": \"broken\", \"text\": ".to_vec();
    lines[13] = b"{\"id\": \"d13\", \"text\": \"\xff\xfe\"}".to_vec();
    lines[20] = b"".to_vec();
    lines[21] = b"[1, 2]".to_vec();
    lines[22] = json!({"text": "no name"}).to_string().into();
    lines[23] = json!({"id": "k".repeat(5000), "text": "a"}).to_string().into();
    let body = lines.join(&b'\n');
    let headers = [("content-type", "application/x-ndjson")];
    let answer = service.call("POST", "/v1/documents", &headers, body).await;
    assert_eq!(answer.status, StatusCode::OK);
    let answers = answer.lines();
    let (summary, answers) = answers.split_last().unwrap();
    let told: Vec<(Option<u64>, String)> = answers
        .iter()
        .map(|line| match line["code"].as_str() {
            Some(code) => (line["line"].as_u64(), code.to_owned()),
            None => (None, line["key"].as_str().unwrap().to_owned()),
        })
        .collect();
    let mut expected: Vec<(Option<u64>, String)> =
        (0..40).map(|number| (None, format!("d{number}"))).collect();
    for (line, code) in
        [(8, "bad_json"), (14, "not_utf8"), (22, "bad_json"), (23, "bad_json"), (24, "bad_key")]
    {
        expected[line - 1] = (Some(line as u64), code.to_owned());
    }
    expected.remove(20);
    assert_eq!(told, expected);
    assert_eq!(summary["summary"]["refused"], 5);
    assert_eq!(summary["summary"]["documents"], 34);
    let verdict = |at: usize| answers[at]["verdict"].as_str().unwrap();
    assert_eq!((verdict(0), verdict(10)), ("original", "identical"));
    let copies = service.get("/v1/documents/d30").await.json();
    assert_eq!(copies["original"], "d0");
    assert_eq!(service.store.verify().unwrap().differences, 0);
}

#[tokio::test]
async fn a_line_that_is_too_long_is_refused_and_the_next_is_taken() {
    let mut config = Config::default();
    config.limits.body_bytes = 2000;
    let service = Running::with(config);
    let long = json!({"id": "long", "text": "word ".repeat(1000)});
    let short = json!({"id": "short", "text": text(1)});
    let body = format!("{long}\n{short}\n{long}");
    let headers = [("content-type", "application/x-ndjson")];
    let answers = service.call("POST", "/v1/documents", &headers, body).await.lines();
    assert_eq!((&answers[0]["code"], &answers[0]["line"]), (&json!("too_large"), &json!(1)));
    assert_eq!(answers[1]["key"], "short");
    assert_eq!((&answers[2]["code"], &answers[2]["line"]), (&json!("too_large"), &json!(3)));
}

#[tokio::test]
async fn sweeps_and_redirects_answer_where_a_page_is_now() {
    let service = Running::new();
    let stream = async |sweep: &str, lines: &[Value]| {
        let body = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        let address = format!("/v1/documents?sweep={sweep}");
        let headers = [("content-type", "application/x-ndjson")];
        service.call("POST", &address, &headers, body).await.lines()
    };
    let old = json!({"url": "https://one.example/old", "text": text(1)});
    let other = json!({"url": "https://one.example/other", "text": text(2)});
    stream("2026-11-01", &[old, other.clone()]).await;
    let leads = json!({"url": "https://one.example/old", "redirect": "https://one.example/new"});
    let new = json!({"url": "https://one.example/new", "text": text(1)});
    let told = stream("2026-11-08", &[other, new, leads]).await;
    assert_eq!(told[0]["change"], "unchanged");
    assert_eq!(told[2]["verdict"], "redirect");
    service.store.catch_up().unwrap();
    let moved = service.get("/v1/moved?key=https://one.example/old").await.json();
    assert_eq!(moved["status"], "moved", "{moved}");
    assert_eq!(moved["places"][0]["place"]["key"], "https://one.example/new");
    let changes = service.get("/v1/changes").await.json();
    assert_eq!(changes["sweeps"][1]["died"], 1, "{changes}");
    let site = service.get("/v1/changes?site=one.example&since=2026-11-05").await.json();
    assert_eq!(site["sweeps"].as_array().unwrap().len(), 1);
    let history = service.get("/v1/changes?key=https://one.example/other").await.json();
    assert_eq!(history["versions"][0]["seen"][0][1], "2026-11-08T00:00:00Z");
    let holders = service.get("/v1/copies?key=https://one.example/old").await.json();
    assert_eq!(holders["holders"], 1);
}

/// A store with families of several sizes.
fn filled() -> Running {
    let service = Running::new();
    let mut documents = Vec::new();
    let keys: Vec<(String, String, i64)> = (0..12_u64)
        .flat_map(|family| (0..=family % 5).map(move |copy| (family, copy)))
        .map(|(family, copy)| {
            let key = format!("https://site{copy}.example/{family}");
            (key, format!("common words of all. {}", text(family)), (copy * 100 + family) as i64)
        })
        .collect();
    for (key, text, created) in &keys {
        documents.push(NewDocument::text(key, Some(Timestamp::from_microseconds(*created)), text));
    }
    service.store(&documents);
    service
}

async fn all_pages(service: &Running, first: &str, list: &str) -> Vec<Value> {
    let mut all = Vec::new();
    let mut address = first.to_owned();
    loop {
        let answer = service.get(&address).await.json();
        all.extend(answer[list].as_array().unwrap().iter().cloned());
        match answer["next"].as_str() {
            Some(next) => address = format!("{first}&cursor={next}"),
            None => return all,
        }
    }
}

#[tokio::test]
async fn lists_go_on_where_they_ended() {
    let service = filled();
    let total = service.store.counts().unwrap();
    let keys = |list: &[Value]| -> std::collections::BTreeSet<String> {
        list.iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect()
    };
    let documents = all_pages(&service, "/v1/documents?limit=5", "documents").await;
    assert_eq!(documents.len() as u64, total.documents);
    assert_eq!(keys(&documents).len() as u64, total.documents);
    let found = all_pages(&service, "/v1/search?q=common&limit=5", "results").await;
    let found: Vec<Value> = found.iter().map(|result| result["document"].clone()).collect();
    assert_eq!(keys(&found).len() as u64, total.originals);
    let families = all_pages(&service, "/v1/families?limit=3", "families").await;
    let copies: u64 = families.iter().map(|family| family["copies"].as_u64().unwrap()).sum();
    assert_eq!(copies, total.copies);
    let members =
        all_pages(&service, "/v1/family?key=https://site0.example/4&limit=2", "documents").await;
    assert_eq!(members.len(), 5);
    assert_eq!(members[0]["verdict"], "original");
}

#[tokio::test]
async fn search_finds_originals_with_their_copies_and_filters() {
    let service = filled();
    let word = text(4).split(' ').next().unwrap().to_owned();
    let found = service.get(&format!("/v1/search?q={word}&copies=true")).await.json();
    assert_eq!(
        (&found["total"], &found["results"][0]["document"]["copies"]),
        (&json!(1), &json!(4)),
        "{found}"
    );
    assert_eq!(found["results"][0]["copies"].as_array().unwrap().len(), 4);
    assert!(found["results"][0]["snippet_html"].as_str().unwrap().contains("<mark>"));
    let elsewhere = service.get(&format!("/v1/search?q={word}&site=site1.example")).await.json();
    assert_eq!(elsewhere["total"], 0, "copies are not searched");
    let late = service.get(&format!("/v1/search?q={word}&after=2030-01-01")).await.json();
    assert_eq!(late["total"], 0);
}

#[tokio::test]
async fn a_text_is_asked_about_by_key_or_as_it_is() {
    let service = filled();
    let about =
        json!({"text": format!("{} and something new at the end of it", text(3)), "limit": 3});
    let similar = service.post("/v1/similar", &about).await.json();
    assert!(similar["matches"][0]["resemblance"].as_f64().unwrap() > 0.7, "{similar}");
    let within = service.post("/v1/within", &json!({"text": text(3)})).await.json();
    assert_eq!(within["matches"][0]["containment_of_text"], 1.0);
    let contains = service.post("/v1/contains", &about).await.json();
    assert!(contains["matches"][0]["containment_of_document"].as_f64().unwrap() > 0.8);
    let sources = service.post("/v1/sources", &about).await.json();
    assert!(sources["explained"].as_u64().unwrap() >= 60, "{sources}");
    let passages = service.post("/v1/passages", &about).await.json();
    assert_eq!(passages["repeated"], sources["explained"], "{passages}");
    let place = &passages["passages"][0]["places"][0];
    assert_eq!(place["key"], passages["documents"][0]["key"]);
    assert!(passages["passages"][0]["words"][1].as_u64().unwrap() >= 60, "{passages}");
    let own = service.get("/v1/similar?key=https://site0.example/4").await.json();
    let matches = own["matches"].as_array().unwrap();
    let keys: Vec<&Value> = matches.iter().map(|found| &found["document"]["key"]).collect();
    assert!(keys.len() == 4 && !keys.contains(&&json!("https://site0.example/4")), "{own}");
    let all = service.get("/v1/ask?key=https://site0.example/4").await.json();
    assert_eq!(all["similar"], own);
    for path in ["within", "contains", "sources", "passages"] {
        let answer = service.get(&format!("/v1/{path}?key=https://site0.example/4")).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    }
}

#[tokio::test]
async fn two_documents_are_compared_and_results_collapsed() {
    let service = filled();
    let question =
        "/v1/compare?a=https://site0.example/4&b=https://site1.example/4&differences=true";
    let compared = service.get(question).await.json();
    assert_eq!(compared["resemblance"], 1.0);
    let sent = json!({"a": {"text": "one two three four five six"}, "b": {"text": "one two three four five seven"}, "differences": true});
    let compared = service.post("/v1/compare", &sent).await.json();
    assert_eq!(compared["differences"][0]["a"], "six", "{compared}");
    let results = json!({"results": [
        {"id": "x", "text": text(1), "score": 9.5},
        {"id": "https://site0.example/1"},
        {"id": "nobody knows it"},
        {"id": "y", "text": text(2)},
    ], "threshold": 0.5});
    let collapsed = service.post("/v1/collapse", &results).await.json();
    assert_eq!(collapsed["results"].as_array().unwrap().len(), 3, "{collapsed}");
    assert_eq!(collapsed["results"][0]["copies"][0]["rank"], 2);
    assert_eq!(collapsed["results"][0]["score"], 9.5);
    assert_eq!(collapsed["unknown"], json!([3]));
}

#[tokio::test]
async fn documents_are_watched_and_watched_no_more() {
    let service = Running::new();
    let law = format!("the seller shall deliver within thirty days {}", text(1));
    let forged = law.replace("thirty", "ninety");
    service.store(&[
        NewDocument::text("law", Some(Timestamp::from_microseconds(1)), &law),
        NewDocument::text("faithful", Some(Timestamp::from_microseconds(2)), &law),
        NewDocument::text("forged", Some(Timestamp::from_microseconds(3)), &forged),
    ]);
    let watched = service.post("/v1/watch", &json!({"key": "law"})).await.json();
    assert_eq!(watched["watched"][0]["place"]["key"], "law");
    let report = service.get("/v1/watch/report").await.json();
    assert_eq!(report["reports"][0]["faithful"], 1, "{report}");
    assert_eq!(report["reports"][0]["differing"][0]["passages"][0]["copy"], "ninety");
    let left = service.call("DELETE", "/v1/watch?key=law", &[], "").await.json();
    assert_eq!(left["watched"], json!([]));
}

#[tokio::test]
async fn a_backup_is_a_store() {
    let folder = tempfile::tempdir().unwrap();
    let config = Config { backups: Some(folder.path().to_owned()), ..Config::default() };
    let service = Running::with(config);
    service.add(&json!({"id": "a", "text": text(1)})).await;
    let made = service.post("/v1/backup", &json!({"name": "first"})).await;
    assert_eq!(made.status, StatusCode::OK, "{made:?}");
    let copy = Store::open(&folder.path().join("first")).unwrap();
    assert_eq!(copy.counts().unwrap().documents, 1);
    assert_eq!(service.post("/v1/backup", &json!({"name": "../x"})).await.code(), "bad_parameter");
}

#[tokio::test]
async fn health_status_and_metrics_are_told() {
    let service = filled();
    service.add(&json!({"id": "new", "text": text(90)})).await;
    assert_eq!(service.get("/healthz").await.body, "ok\n");
    assert_eq!(service.get("/readyz").await.body, "ready\n");
    let status = service.get("/v1/status").await.json();
    assert_eq!(status["documents"], service.store.counts().unwrap().documents);
    let metrics = service.get("/metrics").await;
    assert!(
        metrics.header("content-type").starts_with("application/openmetrics-text; version=1.0.0")
    );
    for line in [
        "wonbon_adds_total{change=\"new\",verdict=\"original\"} 1",
        "wonbon_requests_total{method=\"GET\",route=\"/v1/status\",status=\"2xx\"} 1",
        "wonbon_queue_documents 0",
        "wonbon_add_durable_seconds_count{kind=\"document\"} 1",
    ] {
        assert!(metrics.body.lines().any(|found| found == line), "{line}: {}", metrics.body);
    }
    assert!(metrics.body.contains("wonbon_behind_changes{part=\"shingles\"} "));
    assert!(metrics.body.ends_with("\n# EOF\n"), "{}", metrics.body);
    // Every line is a comment or a name with a number.
    for line in metrics.body.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("wonbon_") && value.parse::<f64>().is_ok(), "{line}");
    }
    service.end.send(true).unwrap();
    assert_eq!(service.get("/readyz").await.code(), "shutting_down");
}

#[tokio::test]
async fn places_beyond_the_limit_are_left_out_and_that_is_told() {
    let service = Running::new();
    let text = text(1);
    for number in 0..5_u64 {
        let (key, site) = (format!("d{number}"), format!("site{}.example", number / 2));
        let document =
            NewDocument::text(&key, Some(Timestamp::from_microseconds(number as i64)), &text);
        service.store(&[NewDocument { site: Some(site.into()), ..document }]);
    }
    let holders = |answer: &Value| -> usize {
        let sites = answer["sites"].as_array().unwrap();
        sites.iter().map(|site| site["copies"].as_array().unwrap().len()).sum()
    };
    for (asked, told, cut) in [("", 4, false), ("&limit=4", 4, false), ("&limit=2", 2, true)] {
        let copies = service.get(&format!("/v1/copies?key=d0{asked}")).await.json();
        assert_eq!((&copies["holders"], &copies["cut"]), (&json!(4), &json!(cut)), "{copies}");
        assert_eq!(holders(&copies), told, "{copies}");
        let moved = service.get(&format!("/v1/moved?key=d0{asked}")).await.json();
        assert_eq!((&moved["total"], &moved["cut"]), (&json!(4), &json!(cut)), "{moved}");
        assert_eq!(moved["also"].as_array().unwrap().len(), told, "{moved}");
        for path in ["copies", "moved"] {
            for (language, sentence) in [("en", "2 of 4 places"), ("ko", "4곳 가운데 2곳")] {
                let page = service.page(&format!("/{path}?key=d0{asked}"), language).await;
                assert_eq!(page.body.contains(sentence), cut, "{}", page.body);
                assert_eq!(page.body.contains("class=\"cut\""), cut, "{}", page.body);
            }
        }
    }
    for wrong in ["0", "100001"] {
        let answer = service.get(&format!("/v1/copies?key=d0&limit={wrong}")).await;
        assert_eq!(answer.code(), "bad_parameter");
    }
}
