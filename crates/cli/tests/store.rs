//! The commands on a store, as a person or a program sees them.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use arrow_array::cast::AsArray;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;
use support::{Files, command, json, json_lines, stderr, stdout, wonbon, wonbon_reading};

const FERRY: &str = "one morning the old ferry did not come and the whole village stood on the quay \
    with baskets and bicycles and one very patient goat waiting for somebody to explain";
const BREAD: &str = "a loaf that rises overnight in a cold kitchen needs less yeast than any book \
    says and more patience than any baker admits to having before the first coffee of the day";

/// Rows with a scrap, a shouted copy, a text of its own and one without words.
fn rows() -> String {
    let row = |id: &str, created: &str, text: &str| {
        serde_json::json!({"id": id, "created": created, "title": format!("About {id}"), "text": text})
            .to_string()
    };
    [
        row("https://ferry.example.org/1", "2024-03-01", FERRY),
        row("scrap", "2024-03-02T10:00:00Z", FERRY),
        row("shout", "2024-03-03", &FERRY.to_uppercase()),
        row("bread", "2024-03-04", BREAD),
        row("nothing", "2024-03-05", "..."),
    ]
    .join("\n")
}

/// A store of these rows; the files must live as long as it is used.
fn filled() -> (Files, String) {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let input = files.write("rows.jsonl", rows());
    let output = wonbon(&["add", "--store", &store, &input]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (files, store)
}

#[test]
fn add_tells_of_every_document_what_it_is() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let input = files.write("rows.jsonl", rows());
    let output = wonbon(&["--store", &store, "add", "--json", &input]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = json_lines(stdout(&output));
    let verdicts: Vec<&str> =
        lines[..5].iter().map(|line| line["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["original", "identical", "same-text", "original", "empty"]);
    assert_eq!(lines[1]["original"], "https://ferry.example.org/1");
    assert_eq!(lines[1]["resemblance"], 1.0);
    assert_eq!(lines[1]["features_equal"], 18);
    assert!(lines[1]["microseconds"].as_u64().unwrap() > 0);
    let summary = &lines[5]["summary"];
    assert_eq!((&summary["documents"], &summary["copies"]), (&5.into(), &2.into()));

    let again = wonbon(&["add", "--store", &store, &input]);
    assert!(stderr(&again).contains("5 unchanged"), "{}", stderr(&again));
}

#[test]
fn an_edit_is_a_new_version_and_frees_its_copies() {
    let (files, store) = filled();
    let edited =
        serde_json::json!({"id": "https://ferry.example.org/1", "text": BREAD}).to_string();
    let input = files.write("edited.jsonl", edited);
    let output = wonbon(&["--store", &store, "add", "--verbose", &input]);
    let told = stdout(&output);
    assert!(told.starts_with("original ") && told.contains(" (updated)"), "{told}");
    // Created before the bread, it takes its place; the scrap is the ferry's original now.
    let get = |key: &str| json(&wonbon(&["--store", &store, "get", "--json", key]));
    let ferry = get("https://ferry.example.org/1");
    assert_eq!((&ferry["verdict"], &ferry["version"]), (&"original".into(), &2.into()));
    assert_eq!(get("bread")["original"], "https://ferry.example.org/1");
    assert_eq!(get("scrap")["verdict"], "original");
    assert_eq!(get("shout")["original"], "scrap");
    assert_eq!(wonbon(&["--store", &store, "verify"]).status.code(), Some(0));
}

#[test]
fn search_finds_originals_only_with_their_copies() {
    let (_files, store) = filled();
    let found = wonbon(&["--store", &store, "search", "--json", "--copies", "patient goat"]);
    let result = json(&found);
    let document = &result["document"];
    assert_eq!(document["key"], "https://ferry.example.org/1");
    assert_eq!(document["site"], "example.org");
    assert_eq!(document["copies"], 2);
    let copies: Vec<&Value> = result["copies"].as_array().unwrap().iter().collect();
    assert_eq!((&copies[0]["key"], &copies[1]["key"]), (&"scrap".into(), &"shout".into()));
    assert!(copies.iter().all(|copy| copy.get("text").is_none()), "{result}");
    assert!(result["snippet_html"].as_str().unwrap().contains("<mark>patient</mark>"));

    let shown = wonbon(&["--store", &store, "search", "site:example.org", "before:2024-03-02"]);
    assert!(stdout(&shown).contains("1 to 1 of 1 original"), "{}", stdout(&shown));
    let none = wonbon(&["--store", &store, "search", "zeppelin"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(stdout(&none).contains("nothing found"));
    let deep = wonbon(&["--store", &store, "search", "--offset", "999999", "goat"]);
    assert_eq!(deep.status.code(), Some(2), "{}", stdout(&deep));
}

#[test]
fn a_check_stores_nothing() {
    let (files, store) = filled();
    let scrap = files.write("scrap.txt", format!("{FERRY}!!"));
    let before = stdout(&wonbon(&["--store", &store, "status"])).lines().nth(3).map(str::to_owned);
    let checked = wonbon(&["--store", &store, "check", "--json", &scrap]);
    assert_eq!(checked.status.code(), Some(1), "a copy: the answer is no");
    let line = &json_lines(stdout(&checked))[0];
    assert_eq!(line["original"], "https://ferry.example.org/1");
    let after = stdout(&wonbon(&["--store", &store, "status"])).lines().nth(3).map(str::to_owned);
    assert_eq!(before, after);
    let own =
        wonbon_reading(&["--store", &store, "check", "-"], b"nothing of the kind was ever said");
    assert_eq!(own.status.code(), Some(0), "{}", stderr(&own));
}

#[test]
fn delete_promotes_the_earliest_copy() {
    let (_files, store) = filled();
    let deleted = wonbon(&["--store", &store, "delete", "https://ferry.example.org/1", "unknown"]);
    assert_eq!(deleted.status.code(), Some(1));
    assert_eq!(stderr(&deleted), "refused: there is no document `unknown`\n");
    let family = wonbon(&["--store", &store, "get", "--family", "shout"]);
    let lines: Vec<&str> = stdout(&family).lines().collect();
    assert!(lines[0].starts_with("original") && lines[0].contains("scrap"), "{lines:?}");
    assert_eq!(lines.len(), 2);
    assert_eq!(wonbon(&["--store", &store, "get", "unknown"]).status.code(), Some(2));
}

/// The ids and decisions of a table.
fn table_rows(path: &str) -> Vec<Value> {
    let file = std::fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let mut rows = Vec::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column = |name| batch.column_by_name(name).unwrap().as_string::<i32>();
        let (ids, decisions) = (column("key"), column("decision"));
        rows.extend(
            ids.iter()
                .zip(decisions)
                .map(|(id, decision)| serde_json::json!({"key": id, "decision": decision})),
        );
    }
    rows
}

#[test]
fn what_is_exported_can_be_added_again() {
    let (files, store) = filled();
    let exported = wonbon(&["--store", &store, "export"]);
    let lines = json_lines(stdout(&exported));
    assert_eq!(lines.len(), 5);
    let originals = wonbon(&["--store", &store, "export", "--originals"]);
    assert_eq!(json_lines(stdout(&originals)).len(), 2);
    for name in ["all.jsonl", "all.parquet"] {
        let file = files.path().join(name).to_str().unwrap().to_owned();
        assert_eq!(wonbon(&["--store", &store, "export", "-o", &file]).status.code(), Some(0));
        let other = files.path().join(format!("store of {name}")).to_str().unwrap().to_owned();
        let added = wonbon(&["--store", &other, "add", &file]);
        assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
        let again = wonbon(&["--store", &other, "export"]);
        let verdicts = |lines: &[Value]| -> Vec<(Value, Value, Value)> {
            lines
                .iter()
                .map(|line| {
                    (line["key"].clone(), line["original"].clone(), line["created"].clone())
                })
                .collect()
        };
        assert_eq!(verdicts(&json_lines(stdout(&again))), verdicts(&lines), "{name}");
    }
    // What was decided is told where it is in effect.
    assert_eq!(
        wonbon(&["--store", &store, "decide", "scrap", "--not-a-copy"]).status.code(),
        Some(0)
    );
    let told = |lines: &[Value]| -> Vec<(Value, Value)> {
        let decided = lines.iter().filter(|line| !line["decision"].is_null());
        decided.map(|line| (line["key"].clone(), line["decision"].clone())).collect()
    };
    let decided = [(Value::from("scrap"), Value::from("not-a-copy"))];
    let lines = json_lines(stdout(&wonbon(&["--store", &store, "export"])));
    assert_eq!(told(&lines), decided);
    let table = files.path().join("decided.parquet").to_str().unwrap().to_owned();
    assert_eq!(wonbon(&["--store", &store, "export", "-o", &table]).status.code(), Some(0));
    assert_eq!(told(&table_rows(&table)), decided);
    let wrong = files.path().join("all.docx").to_str().unwrap().to_owned();
    let refused = wonbon(&["--store", &store, "export", "-o", &wrong]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn status_rebuild_backup_and_verify_agree() {
    let (files, store) = filled();
    let status = json(&wonbon(&["--store", &store, "status", "--json"]));
    assert_eq!((&status["documents"], &status["originals"]), (&5.into(), &2.into()));
    assert_eq!(status["rule"], "threshold=0.8");
    assert_eq!(wonbon(&["--store", &store, "rebuild"]).status.code(), Some(0));
    let copy = files.path().join("copy").to_str().unwrap().to_owned();
    assert_eq!(wonbon(&["--store", &store, "backup", &copy]).status.code(), Some(0));
    for store in [&store, &copy] {
        let verified = wonbon(&["--store", store, "verify"]);
        assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
        assert_eq!(stderr(&verified), "5 documents, 0 differences\n");
    }
    let again = wonbon(&["--store", &store, "backup", &copy]);
    assert_eq!(again.status.code(), Some(2), "a backup never overwrites");
}

#[test]
fn a_store_keeps_what_it_was_made_with() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let made = wonbon(&[
        "--store",
        &store,
        "init",
        "--rule",
        "threshold=0.9",
        "--shingle",
        "3",
        "--seed",
        "secret",
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    assert!(stderr(&made).contains("copies by threshold=0.9, shingles of 3 words, seed secret"));
    let input = files.write("rows.jsonl", rows());
    assert_eq!(wonbon(&["--store", &store, "add", &input]).status.code(), Some(0));
    let again = wonbon(&["--store", &store, "init"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("there is a store at"), "{}", stderr(&again));
    let status = json(&wonbon(&["--store", &store, "status", "--json"]));
    assert_eq!(status["rule"], "threshold=0.9");
}

#[test]
fn the_store_may_be_named_by_the_environment() {
    let (_files, store) = filled();
    let output = command(&["status", "--json"]).env("WONBON_STORE", &store).output().unwrap();
    assert_eq!(json(&output)["documents"], 5);
}

#[test]
fn bad_input_is_named_and_the_rest_is_stored() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let good = serde_json::json!({"id": "good", "text": FERRY});
    let late = serde_json::json!({"id": "late", "created": "yesterday", "text": BREAD});
    let unnamed = serde_json::json!({"id": "", "text": BREAD});
    let input = files.write("rows.jsonl", format!("{good}\n{{broken\n{late}\n{unnamed}\n"));
    let output = wonbon(&["--store", &store, "add", &input]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("rows.jsonl:2 is not JSON"), "{told}");
    assert!(told.contains("rows.jsonl:3 has a field `created` that is not a time"), "{told}");
    // An empty id is none: the document is called by its file and row.
    assert!(told.contains("2 originals, 2 refused"), "{told}");
    assert_eq!(wonbon(&["--store", &store, "add", "no-such-file"]).status.code(), Some(2));
    let nowhere = wonbon(&["--store", "no-such-store", "search", "x"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(stderr(&nowhere).starts_with("error: there is no store at no-such-store"));
}

#[test]
fn what_comes_from_standard_input_needs_a_name_to_be_stored() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let unnamed = serde_json::json!({"text": FERRY});
    let named = serde_json::json!({"id": "stdin.jsonl:1", "text": FERRY});
    let rows = format!("{unnamed}\n{named}\n");
    let output = wonbon_reading(&["--store", &store, "add", "-"], rows.as_bytes());
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("a document without a name is not stored"), "{told}");
    assert!(told.contains("1 original, 1 refused"), "{told}");
    for text in [unnamed.to_string().as_bytes(), FERRY.as_bytes()] {
        let output = wonbon_reading(&["--store", &store, "check", "-"], text);
        assert!(stdout(&output).contains("(unnamed) of stdin.jsonl:1"), "{}", stdout(&output));
    }
}

#[test]
fn a_person_decides_and_takes_it_back() {
    let (_files, store) = filled();
    let decide = |arguments: &[&str]| {
        let mut all = vec!["--store", &store, "decide"];
        all.extend(arguments);
        wonbon(&all)
    };
    let original_of = |key: &str| {
        let output = wonbon(&["--store", &store, "get", key, "--json"]);
        json(&output)["original"].clone()
    };
    let decided = decide(&["shout", "--original", "--reason", "the author shouts", "--who", "me"]);
    assert_eq!(decided.status.code(), Some(0), "{}", stderr(&decided));
    assert_eq!(stdout(&decided), "entry 1  shout  original: original with 2 copies\n");
    assert_eq!(original_of("https://ferry.example.org/1"), "shout");
    let again = decide(&["shout", "--original", "--json"]);
    assert_eq!((again.status.code(), stdout(&again)), (Some(0), ""));
    assert!(stderr(&again).contains("already"), "{}", stderr(&again));
    let second = decide(&["scrap", "--not-a-copy", "--json"]);
    assert_eq!(json(&second)["who"], "local");
    let family = wonbon(&["--store", &store, "get", "shout", "--family"]);
    assert!(stdout(&family).contains("shout  decided: original\n"), "{}", stdout(&family));

    let undone = decide(&["shout", "--undo"]);
    let told =
        "entry 3  shout  entry 1 taken back, nothing: same-text of https://ferry.example.org/1\n";
    assert_eq!(stdout(&undone), told);
    assert_eq!(decide(&["shout", "--undo"]).status.code(), Some(1));
    assert_eq!(decide(&["nobody", "--original"]).status.code(), Some(1));
    assert_eq!(decide(&["nothing", "--original"]).status.code(), Some(1));
    assert_eq!(decide(&["shout"]).status.code(), Some(2));
    assert_eq!(decide(&["shout", "--original", "--undo"]).status.code(), Some(2));
    let long = "x".repeat(1001);
    assert_eq!(decide(&["shout", "--original", "--reason", &long]).status.code(), Some(2));
    assert_eq!(wonbon(&["--store", &store, "delete", "scrap"]).status.code(), Some(0));

    let log = wonbon(&["--store", &store, "decisions", "--json"]);
    let entries = json_lines(stdout(&log));
    let told: Vec<(u64, &str)> = entries
        .iter()
        .map(|entry| (entry["entry"].as_u64().unwrap(), entry["change"].as_str().unwrap()))
        .collect();
    assert_eq!(told, [(4, "removed"), (3, "undone"), (2, "decided"), (1, "decided")]);
    assert_eq!((&entries[3]["who"], &entries[1]["undoes"]), (&"me".into(), &1.into()));
    let log = wonbon(&["--store", &store, "decisions", "shout", "--limit", "1"]);
    assert!(stdout(&log).ends_with("local  entry 3  shout  entry 1 taken back, nothing\n"));
    let verified = wonbon(&["--store", &store, "verify"]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
}

#[test]
fn a_key_that_is_too_long_is_refused_in_a_sentence_and_the_rest_is_stored() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let long = "k".repeat(4097);
    let redirect = format!("https://a.example/{long}");
    let rows = [
        serde_json::json!({"id": long, "text": FERRY}),
        serde_json::json!({"id": "k".repeat(4096), "text": BREAD}),
        serde_json::json!({"url": redirect, "redirect": "https://a.example/"}),
        serde_json::json!({"id": "after", "text": FERRY}),
    ];
    let input = files.write("rows.jsonl", rows.map(|row| row.to_string()).join("\n"));
    let output = wonbon(&["add", "--store", &store, "--sweep", "2024-05-01", &input]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("a key has 1 to 4096 bytes, this one has 4097"), "{told}");
    assert!(told.contains("a key has 1 to 4096 bytes, this one has 4115"), "{told}");
    let output = wonbon(&["export", "--store", &store]);
    let stored = json_lines(stdout(&output));
    assert_eq!(stored.len(), 2, "{}", stdout(&output));
    assert_eq!(stored[1]["key"], "after");

    let output = wonbon(&["check", "--store", &store, &input]);
    assert!(stderr(&output).contains("a key has 1 to 4096 bytes"), "{}", stderr(&output));
}

/// A page that claims to be from 1999, given after the text that it copies.
fn claiming_page(files: &Files) -> [String; 2] {
    let claim = "<meta property=\"article:published_time\" content=\"1999-01-01T00:00:00Z\">";
    let page =
        format!("<html><head>{claim}<title>Old</title></head><body><p>{FERRY}</p></body></html>");
    let first = serde_json::json!({"id": "first", "created": "2024-03-01", "text": FERRY});
    [
        files.write("1.jsonl", first.to_string()),
        files.write("2.jsonl", serde_json::json!({"id": "claims", "html": page}).to_string()),
    ]
}

#[test]
fn a_claimed_date_is_shown_and_decides_only_where_claims_are_trusted() {
    let files = Files::new();
    let inputs = claiming_page(&files);
    for (name, init, add, original) in [
        ("plain", &[][..], &[][..], "first"),
        ("flag", &[][..], &["--dates", "claimed"][..], "claims"),
        ("store", &["--dates", "claimed"][..], &[][..], "claims"),
        ("both", &["--dates", "claimed"][..], &["--dates", "created"][..], "first"),
    ] {
        let store = files.path().join(name).to_str().unwrap().to_owned();
        let made =
            wonbon(&[&["init", "--store", &store, "--rule", "threshold=0.8"], init].concat());
        assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
        for input in &inputs {
            let added = wonbon(&[&["add", "--store", &store, input], add].concat());
            assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
        }
        let claims = json(&wonbon(&["get", "--store", &store, "claims", "--json"]));
        let is = claims["original"].as_str().unwrap_or("claims");
        assert_eq!(is, original, "{name}: {claims}");
        assert_eq!(claims["published"], "1999-01-01T00:00:00Z", "{name}");
        let from_1999 = claims["created"] == "1999-01-01T00:00:00Z";
        assert_eq!(from_1999, original == "claims", "{name}: {claims}");
        let dates = if init.is_empty() { "created" } else { "claimed" };
        let status = json(&wonbon(&["status", "--store", &store, "--json"]));
        assert_eq!(status["dates"], dates, "{name}");
        let found = wonbon(&["search", "--store", &store, "ferry"]);
        assert_eq!(stdout(&found).contains("1999-01-01"), original == "claims", "{name}");
    }
}

#[test]
fn what_is_exported_keeps_the_claimed_date_when_it_is_added_again() {
    let files = Files::new();
    let inputs = claiming_page(&files);
    let [one, two, three] =
        ["one", "two", "three"].map(|name| files.path().join(name).to_str().unwrap().to_owned());
    let added = wonbon(&["add", "--store", &one, &inputs[0], &inputs[1]]);
    assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
    for (ending, other) in [("jsonl", &two), ("parquet", &three)] {
        let out = files.path().join(format!("out.{ending}")).to_str().unwrap().to_owned();
        let exported = wonbon(&["export", "--store", &one, "-o", &out]);
        assert_eq!(exported.status.code(), Some(0), "{}", stderr(&exported));
        let added = wonbon(&["add", "--store", other, &out]);
        assert_eq!(added.status.code(), Some(0), "{}", stderr(&added));
        for key in ["first", "claims"] {
            let get = |store: &str| json(&wonbon(&["get", "--store", store, key, "--json"]));
            let (before, after) = (get(&one), get(other));
            // The page is a text now, so what was the same text may be the same bytes.
            for field in ["created", "published", "title", "text", "original"] {
                assert_eq!(before[field], after[field], "{field} by {ending}");
            }
            assert_eq!(before["published"].is_string(), key == "claims");
        }
    }
}
