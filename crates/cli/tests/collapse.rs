//! `wonbon collapse` as a program sees it.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use serde_json::json;
use support::{Files, json_lines, stderr, stdout, transcript, wonbon, wonbon_reading};

/// A text of numbered words.
fn words(range: std::ops::Range<u32>) -> String {
    range.map(|n| format!("word{} ", n * 7 % 1009)).collect()
}

fn results() -> String {
    let (one, other) = (words(0..100), words(500..600));
    [
        json!({"id": "first", "text": one, "score": 9.5}),
        json!({"id": "second", "text": other}),
        json!({"id": "copy", "text": format!("{one} more"), "score": 3}),
        json!({"url": "https://a.example/", "text": other.to_uppercase()}),
        json!({"text": words(800..900)}),
    ]
    .iter()
    .map(|line| format!("{line}\n"))
    .collect()
}

#[test]
fn near_copies_go_behind_the_best_ranked_one() {
    let output = wonbon_reading(&["collapse"], results().as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(stderr(&output), "");
    let lines = json_lines(stdout(&output));
    let ids: Vec<_> = lines.iter().map(|line| line["id"].as_str()).collect();
    assert_eq!(ids, [Some("first"), Some("second"), None]);
    assert_eq!(lines[0]["copies"], json!([{"key": "copy", "resemblance": 96.0 / 97.0, "rank": 3}]));
    assert_eq!(
        lines[1]["copies"],
        json!([{"key": "https://a.example/", "resemblance": 1.0, "rank": 4}])
    );
    assert_eq!(lines[2]["copies"], json!([]));
    let strict = wonbon_reading(&["collapse", "--threshold", "1"], results().as_bytes());
    assert_eq!(json_lines(stdout(&strict)).len(), 4);
}

#[test]
fn what_is_not_understood_goes_out_as_it_came() {
    let line = r#"{"text":"some words", "n": 1.0000000000000000001, "big":123456789012345678901234567890 ,"x":{"a":[]}}"#;
    let output = wonbon_reading(&["collapse"], line.as_bytes());
    assert_eq!(
        stdout(&output),
        "{\"text\":\"some words\",\"n\":1.0000000000000000001,\"big\":123456789012345678901234567890,\"x\":{\"a\":[]},\"copies\":[]}\n"
    );
}

#[test]
fn when_the_time_is_over_the_rest_goes_out_in_order() {
    let output = wonbon_reading(&["collapse", "--budget", "0ms"], results().as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let lines = json_lines(stdout(&output));
    assert_eq!(lines.len(), 5);
    assert!(lines.iter().all(|line| line["collapsed"] == false && line.get("copies").is_none()));
    assert_eq!(
        stderr(&output),
        "note: the time was over after 0 of 5 results; the others are as they came\n"
    );
}

#[test]
fn broken_lines_are_named_and_passed_through() {
    let files = Files::new();
    let input = files.write(
        "results.jsonl",
        b"{\"id\":1,\"text\":\"a b c d e f\"}\n{\"id\":2,\n\n[1]\n{\"id\":3,\"text\":7}\n\xFF\xFE\n{\"id\":4,\"text\":\"A b c d e f\"}\n",
    );
    let output = wonbon(&["collapse", &input]);
    assert_eq!(output.status.code(), Some(1));
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        out,
        "{\"id\":1,\"text\":\"a b c d e f\",\"copies\":[{\"key\":4,\"resemblance\":1.0,\"rank\":6}]}\n{\"id\":2,\n[1]\n{\"id\":3,\"text\":7}\n\u{FFFD}\u{FFFD}\n"
    );
    insta::assert_snapshot!(stderr(&output).replace(files.path().to_str().unwrap(), "[dir]"));
}

#[test]
fn texts_that_are_not_given_come_from_the_store() {
    let files = Files::new();
    let store = files.path().join("store");
    let store = store.to_str().unwrap();
    let documents: String = [("a", words(0..100)), ("b", words(0..99)), ("c", words(300..400))]
        .iter()
        .map(|(id, text)| json!({"id": id, "text": text}).to_string() + "\n")
        .collect();
    let documents = files.write("documents.jsonl", documents);
    assert_eq!(wonbon(&["add", &documents, "--store", store]).status.code(), Some(0));

    let ranked = "{\"id\":\"c\",\"copies\":0}\n{\"id\":17,\"url\":\"b\"}\n{\"key\":\"a\"}\n";
    let output = wonbon_reading(&["collapse", "--store", store], ranked.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = json_lines(stdout(&output));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0], json!({"id": "c", "copies": []}));
    assert_eq!(lines[1]["copies"][0]["key"], "a");

    let searched = wonbon(&["search", "--json", "--store", store, "word7"]);
    let output = wonbon_reading(&["collapse", "--store", store], &searched.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json_lines(stdout(&output))[0]["document"]["key"], "a");

    let unknown = "{\"id\":\"nobody\"}\n{\"score\":1}\n{\"id\":\"a\"}\n";
    let output = wonbon_reading(&["collapse", "--store", store], unknown.as_bytes());
    insta::assert_snapshot!(transcript(&output, Some(files.path())));
}

#[test]
fn without_a_store_a_result_without_a_text_is_an_error() {
    let files = Files::new();
    let store = files.path().join("none");
    let output =
        wonbon_reading(&["collapse", "--store", store.to_str().unwrap()], b"{\"id\":\"a\"}\n");
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
}

#[test]
fn flags_that_mean_nothing_are_refused_in_one_sentence() {
    for arguments in [
        ["collapse", "--threshold", "0"],
        ["collapse", "--threshold", "NaN"],
        ["collapse", "--budget", "50"],
        ["collapse", "--shingle", "0"],
    ] {
        let output = wonbon_reading(&arguments, b"");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
}
