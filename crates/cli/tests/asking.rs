//! `similar`, `within`, `contains` and `sources`, as a person or a program sees them.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use support::{Files, json, json_lines, stderr, stdout, wonbon, wonbon_reading};

const FERRY: &str = "one morning the old ferry did not come and the whole village stood on the quay \
    with baskets and bicycles and one very patient goat waiting for somebody to explain";
const BREAD: &str = "a loaf that rises overnight in a cold kitchen needs less yeast than any book \
    says and more patience than any baker admits to having before the first coffee of the day";
const NEW: &str =
    "and this part nobody has ever written down anywhere before today as far as we know";

/// A store with two texts, a copy, and a post that quotes both.
fn filled() -> (Files, String) {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let row = |id: &str, created: &str, title: &str, text: &str| {
        serde_json::json!({"id": id, "created": created, "title": title, "text": text}).to_string()
    };
    let rows = [
        row("https://ferry.example.org/1", "2024-03-01", "The ferry", FERRY),
        row("https://bread.example.net/a", "2024-03-02", "Bread", BREAD),
        row("scrap", "2024-03-03", "Seen elsewhere", FERRY),
        row("both", "2024-03-04", "Two stories", &format!("{FERRY}. {BREAD}. {NEW}.")),
    ];
    let input = files.write("rows.jsonl", rows.join("\n"));
    let output = wonbon(&["add", "--store", &store, &input]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (files, store)
}

/// Some words of a text.
fn words(text: &str, from: usize, count: usize) -> String {
    text.split_whitespace().skip(from).take(count).collect::<Vec<_>>().join(" ")
}

fn keys(output: &std::process::Output) -> Vec<String> {
    let lines = json_lines(stdout(output));
    lines.iter().map(|line| line["document"]["key"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_stored_document_is_asked_about_by_its_url() {
    let (_files, store) = filled();
    let output = wonbon(&["--store", &store, "similar", "https://ferry.example.org/1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output), @r"
  1. Seen elsewhere
     scrap  2024-03-03T00:00:00Z  identical of https://ferry.example.org/1
     resemblance 1.000, has of the text 1.000, is in the text 1.000

  2. Two stories
     both  2024-03-04T00:00:00Z  original
     resemblance 0.351, has of the text 1.000, is in the text 0.351

");
}

#[test]
fn a_quotation_is_found_in_both_directions() {
    let (files, store) = filled();
    let quotation = files.write("quotation.txt", words(FERRY, 5, 18));
    let within = wonbon(&["within", "--store", &store, "--json", &quotation]);
    assert_eq!(keys(&within), ["https://ferry.example.org/1", "scrap", "both"]);
    let first = &json_lines(stdout(&within))[0];
    assert_eq!(first["containment_of_text"], 1.0);
    assert_eq!(first["estimate"]["standard_error"], 0.0);

    let contains = wonbon(&["contains", "--store", &store, "--min", "0.9", "--json", "both"]);
    assert_eq!(
        keys(&contains),
        ["https://ferry.example.org/1", "https://bread.example.net/a", "scrap"]
    );
    let by_stdin =
        wonbon_reading(&["within", "--store", &store, "-n", "1", "--json", "-"], BREAD.as_bytes());
    assert_eq!(keys(&by_stdin), ["https://bread.example.net/a"]);
}

#[test]
fn sources_name_passages_and_what_is_left() {
    let (files, store) = filled();
    let essay = files.write(
        "essay.txt",
        format!("{BREAD}. {}. {}", "something quite new stands here", words(FERRY, 0, 19)),
    );
    let output = wonbon(&["--store", &store, "sources", &essay]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output));
    let lines = json_lines(stdout(&wonbon(&["--store", &store, "sources", "--json", &essay])));
    assert_eq!(lines.last().unwrap()["words"], 56);
    assert_eq!(lines[0]["passages"][0]["text"], lines[0]["passages"][0]["source"]);
}

#[test]
fn passages_of_a_text_are_told_run_by_run_with_their_places() {
    let (files, store) = filled();
    let essay = files.write(
        "essay.txt",
        format!("{BREAD}. {}. {}", "something quite new stands here", words(FERRY, 0, 19)),
    );
    let ask =
        |more: &[&str]| wonbon(&[&["--store", &store, "within", "--passages"], more].concat());
    let lines = json_lines(stdout(&ask(&["--json", &essay])));
    let of = |line: &serde_json::Value| (line["words"][0].as_u64(), line["words"][1].as_u64());
    assert!(lines.iter().any(|line| of(line) == (Some(0), Some(32))), "{lines:?}");
    for line in &lines {
        for place in line["places"].as_array().unwrap() {
            assert_eq!(place["text"].as_str().unwrap(), line["text"].as_str().unwrap());
        }
    }
    let shown = ask(&[&essay]);
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    assert!(stdout(&shown).contains("51 of 56 words"), "{}", stdout(&shown));
    let none = ask(&["--least-words", "40", &essay]);
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn what_was_deleted_is_not_found() {
    let (files, store) = filled();
    let text = files.write("ferry.txt", FERRY);
    for key in ["https://ferry.example.org/1", "both"] {
        assert_eq!(wonbon(&["--store", &store, "delete", key]).status.code(), Some(0));
    }
    assert_eq!(keys(&wonbon(&["--store", &store, "similar", "--json", &text])), ["scrap"]);
    assert_eq!(wonbon(&["--store", &store, "delete", "scrap"]).status.code(), Some(0));
    let nothing = wonbon(&["--store", &store, "similar", &text]);
    assert_eq!((nothing.status.code(), stdout(&nothing)), (Some(1), ""));
    assert_eq!(stderr(&nothing), "note: nothing found\n");
}

#[test]
fn what_cannot_be_asked_gets_one_sentence() {
    let (files, store) = filled();
    let empty = files.write("empty.txt", " \n");
    let binary = files.write("binary.bin", [0x7f, b'E', b'L', b'F', 0, 1, 2, 3, 0, 0, 0, 9]);
    let long = files.write("long.txt", "word ".repeat(20 << 20));
    for (about, sentence) in [
        ("https://nowhere.example.com/", "is neither a stored document nor a file"),
        (empty.as_str(), "the text has no words"),
        (binary.as_str(), "is a binary file; a text is wanted"),
        (long.as_str(), "a text has up to 33554432 bytes, this one has"),
    ] {
        for question in ["similar", "within", "contains", "sources"] {
            let output = wonbon(&["--store", &store, question, about]);
            assert_eq!(output.status.code(), Some(2), "{question} {about}");
            assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
            assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
        }
    }
    let wrong = wonbon(&["--store", &store, "similar", "--min", "1.5", "scrap"]);
    assert!(stderr(&wrong).contains("`min` is from 0 to 1, not 1.5"), "{}", stderr(&wrong));
    assert_eq!(json(&wonbon(&["--store", &store, "status", "--json"]))["documents"], 4);
}
