//! Sweeps and what is asked of them, as a person or a program sees it.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use serde_json::{Value, json};
use support::{Files, json as json_of, json_lines, stderr, stdout, transcript, wonbon};

/// A text of words that only this topic has; `changed` of them others.
fn text(topic: &str, changed: &[usize]) -> String {
    let word = |at: usize| match changed.contains(&at) {
        true => format!("{topic}other{at}"),
        false => format!("{topic}{at}"),
    };
    (0..60).map(word).collect::<Vec<_>>().join(" ")
}

fn page(address: &str, text: &str) -> Value {
    json!({"url": format!("https://{address}"), "created": "2026-10-01", "text": text})
}

/// Three sweeps: a page that stays, one that changes, one that moves with a redirect, one that dies; a
/// mirror of the one that changes.
fn swept() -> (Files, String) {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let sweeps = [
        (
            "2026-11-01",
            vec![
                page("one.example/stay", &text("stay", &[])),
                page("one.example/edit", &text("edit", &[])),
                page("one.example/old", &text("move", &[])),
                page("one.example/dead", &text("dead", &[])),
                page("two.example/mirror", &text("edit", &[])),
            ],
        ),
        (
            "2026-11-08",
            vec![
                page("one.example/stay", &text("stay", &[])),
                page("one.example/edit", &text("edit", &[59])),
                page("one.example/new", &text("move", &[])),
                json!({"url": "https://one.example/old", "redirect": "https://one.example/new"}),
                page("two.example/mirror", &text("edit", &[])),
            ],
        ),
        (
            "2026-11-15",
            vec![
                page("one.example/stay", &text("stay", &[])),
                page("one.example/edit", &text("edit", &[59])),
                page("one.example/new", &text("move", &[])),
            ],
        ),
    ];
    for (date, rows) in sweeps {
        let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
        let input = files.write(&format!("{date}.jsonl"), rows.join("\n"));
        let output = wonbon(&["--store", &store, "add", "--sweep", date, &input]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    (files, store)
}

#[test]
fn a_sweep_recognises_what_did_not_change() {
    let (files, store) = swept();
    let input = files.path().join("2026-11-15.jsonl");
    let add =
        ["--store", &store, "add", "--json", "--sweep", "2026-11-22", input.to_str().unwrap()];
    let lines = json_lines(stdout(&wonbon(&add)));
    let summary = &lines.last().unwrap()["summary"];
    let counts = ["documents", "unchanged", "recognised", "updated"];
    assert_eq!(counts.map(|name| summary[name].as_u64().unwrap()), [3, 3, 3, 0]);
    // The same sweep again changes nothing.
    let again = wonbon(&add);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let status = json_of(&wonbon(&["--store", &store, "status", "--json"]));
    assert_eq!((&status["sweeps"], &status["latest_sweep"]), (&4.into(), &"2026-11-22".into()));
    assert_eq!(wonbon(&["--store", &store, "verify"]).status.code(), Some(0));
}

#[test]
fn pages_are_recognised_before_their_core_text_is_taken_out() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let html = format!("<html><title>A page</title><body><p>{}</p></body></html>", text("a", &[]));
    let rows = json!({"url": "https://one.example/a", "html": html}).to_string();
    let rows = files.write("rows.jsonl", rows);
    let file = files.write("file.html", &html);
    let add = |date| {
        let output = wonbon(&["--store", &store, "add", "--json", "--sweep", date, &rows, &file]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let lines = json_lines(stdout(&output));
        lines.last().unwrap()["summary"]["recognised"].as_u64().unwrap()
    };
    assert_eq!(["2026-11-01", "2026-11-08"].map(add), [0, 2]);
    let stored = json_of(&wonbon(&["--store", &store, "get", "--json", "https://one.example/a"]));
    assert_eq!((&stored["title"], &stored["version"]), (&"A page".into(), &1.into()));
}

#[test]
fn a_moved_page_is_told_with_the_evidence() {
    let (_files, store) = swept();
    let moved = |url: &str| wonbon(&["--store", &store, "moved", &format!("https://{url}")]);
    insta::assert_snapshot!(
        ["one.example/old", "one.example/edit", "one.example/dead", "nowhere.example/"]
            .map(|url| transcript(&moved(url), None))
            .join("\n")
    );
    let old = wonbon(&["--store", &store, "moved", "--json", "https://one.example/old"]);
    let old = json_of(&old);
    assert_eq!(old["status"], "moved");
    assert_eq!(old["place"]["gone"], "2026-11-08T00:00:00Z");
    assert_eq!(old["redirects"][0]["to"], "https://one.example/new");
    let place = &old["places"][0];
    assert_eq!(
        (&place["id"], &place["resemblance"]),
        (&"https://one.example/new".into(), &1.0.into())
    );
    assert_eq!(place["redirect"], "2026-11-08T00:00:00Z");
}

#[test]
fn holders_are_listed_by_site_with_the_version_they_follow() {
    let (_files, store) = swept();
    let copies = |format: &str| {
        let url = "https://one.example/edit";
        wonbon(&["--store", &store, "copies", "--format", format, url])
    };
    insta::assert_snapshot!(
        ["table", "csv"].map(|format| transcript(&copies(format), None)).join("\n")
    );
    let copies = json_of(&copies("json"));
    assert_eq!((&copies["holders"], &copies["document"]["versions"]), (&1.into(), &2.into()));
    let copy = &copies["sites"][0]["copies"][0];
    assert_eq!((&copy["follows"], &copy["current"]), (&1.into(), &false.into()));
    for (url, words) in [("https://one.example/stay", "0 holders"), ("https://x.example/", "")] {
        let none = wonbon(&["--store", &store, "copies", url]);
        assert_eq!(none.status.code(), Some(1));
        assert!(stdout(&none).contains(words), "{}", stdout(&none));
    }
}

#[test]
fn changes_are_told_for_a_page_and_for_all() {
    let (files, store) = swept();
    let html = files.path().join("changes.html");
    let html = html.to_str().unwrap();
    let all = wonbon(&["--store", &store, "changes", "--html", html]);
    insta::assert_snapshot!(transcript(&all, None));
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.contains("<svg") && page.contains("How pages change"), "{page}");
    let site = ["--store", &store, "changes", "--json", "--site", "one.example"];
    let site = json_of(&wonbon(&site));
    let second = &site["sweeps"][1];
    for (name, count) in [
        ("seen", 3),
        ("born", 1),
        ("changed", 1),
        ("unchanged", 1),
        ("died", 2),
        ("moved_within", 1),
    ] {
        assert_eq!(second[name], count, "{name}");
    }
    let since = ["--store", &store, "changes", "--json", "--since", "2026-11-15"];
    assert_eq!(json_of(&wonbon(&since))["sweeps"].as_array().unwrap().len(), 1);

    let edit = ["--store", &store, "changes", "--json", "https://one.example/edit", "--html", html];
    let edit = json_of(&wonbon(&edit));
    assert_eq!(edit["versions"].as_array().unwrap().len(), 2);
    assert_eq!(edit["versions"][1]["resemblance"], 55.0 / 57.0);
    assert!(std::fs::read_to_string(html).unwrap().contains("Versions of a page"));
    let shown = wonbon(&["--store", &store, "changes", "https://one.example/edit"]);
    assert!(stdout(&shown).contains("2026-11-08 to 2026-11-15"), "{}", stdout(&shown));
    let none = wonbon(&["--store", &store, "changes", "https://nowhere.example/"]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(stderr(&none).lines().count(), 1);
}

#[test]
fn a_watched_document_tells_of_copies_that_differ() {
    let (files, store) = swept();
    let tampered = page("two.example/tampered", &text("stay", &[30])).to_string();
    let input = files.write("tampered.jsonl", tampered);
    // Continues the latest sweep.
    let add = ["--store", &store, "add", "--sweep", "2026-11-15", &input];
    assert_eq!(wonbon(&add).status.code(), Some(0));
    let watch = |arguments: &[&str]| {
        let mut all = vec!["--store", &store, "watch"];
        all.extend(arguments);
        wonbon(&all)
    };
    let stay = "https://one.example/stay";
    assert!(stderr(&watch(&["report"])).contains("no document is watched"));
    assert_eq!(watch(&["add", stay, "https://one.example/edit"]).status.code(), Some(0));
    assert_eq!(watch(&["add", "https://nowhere.example/"]).status.code(), Some(1));
    insta::assert_snapshot!(transcript(&watch(&["report"]), None));
    let report = watch(&["report", "--json"]);
    let report = json_lines(stdout(&report));
    assert_eq!(report[0]["differing"][0]["passages"][0]["copy"], "stayother30");
    assert_eq!(report[1]["outdated"][0]["follows"], 1);
    assert_eq!(watch(&["remove", stay]).status.code(), Some(0));
    assert_eq!(watch(&["remove", stay]).status.code(), Some(1));
    assert_eq!(stdout(&watch(&["list"])), "https://one.example/edit\n");
    // What is deleted is in no answer.
    assert_eq!(
        wonbon(&["--store", &store, "delete", "https://two.example/mirror"]).status.code(),
        Some(0)
    );
    let report = watch(&["report", "--json"]);
    assert_eq!(json_of(&report)["outdated"], json!([]));
}

#[test]
fn bad_dates_and_numbers_get_one_sentence() {
    let (files, store) = swept();
    let input = files.path().join("2026-11-01.jsonl");
    let input = input.to_str().unwrap();
    let early = wonbon(&["--store", &store, "add", "--sweep", "2026-11-01", input]);
    assert_eq!(early.status.code(), Some(2));
    assert_eq!(
        stderr(&early),
        "error: the sweep of 2026-11-01 is earlier than the store's latest, of 2026-11-15: \
         sweeps are added in order\n"
    );
    for arguments in [
        vec!["add", "--sweep", "yesterday", input],
        vec!["changes", "--since", "soon"],
        vec!["moved", "--min", "2", "x"],
        vec!["copies", "--format", "xml", "x"],
    ] {
        let mut all = vec!["--store", &store];
        all.extend(&arguments);
        let output = wonbon(&all);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
    // A redirect belongs to a sweep.
    let row = json!({"url": "https://a.example/", "redirect": "https://b.example/"}).to_string();
    let row = files.write("redirect.jsonl", row);
    let refused = wonbon(&["--store", &store, "add", &row]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("noted with a sweep"), "{}", stderr(&refused));
}
