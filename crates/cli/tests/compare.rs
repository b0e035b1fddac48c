//! `wonbon compare` as a person or a program sees it.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::collections::BTreeSet;

use support::{Files, json, stderr, transcript, wonbon, wonbon_reading};

/// A text of numbered words, long enough to have copies.
fn words(range: std::ops::Range<u32>) -> String {
    range.map(|n| format!("word{} ", n * 7 % 1009)).collect()
}

fn verdict(a: &[u8], b: &[u8]) -> String {
    let files = Files::new();
    let (a, b) = (files.write("a.txt", a), files.write("b.txt", b));
    json(&wonbon(&["compare", "--json", &a, &b]))["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn every_verdict_is_told_apart() {
    let text = words(0..300);
    let shouted = text.to_uppercase().replace(' ', ", ");
    let edited = text.replace("word700 ", "changed ");
    let half = words(0..150) + &words(5000..5600);
    let circle = ["a b c d e f "; 3].concat();
    let turned = format!("d e f {circle}");
    assert_eq!(verdict(text.as_bytes(), text.as_bytes()), "identical bytes");
    assert_eq!(verdict(text.as_bytes(), shouted.as_bytes()), "same text");
    assert_eq!(verdict(circle.as_bytes(), turned.as_bytes()), "same shingles");
    assert_eq!(verdict(text.as_bytes(), edited.as_bytes()), "copy");
    assert_eq!(verdict(text.as_bytes(), half.as_bytes()), "partly contained");
    assert_eq!(verdict(text.as_bytes(), b"Something else altogether stands here."), "different");
}

#[test]
fn documents_without_words_are_nobodys_copy() {
    assert_eq!(verdict(b"", b"..."), "different");
    assert_eq!(verdict(b"", b"a few words of text"), "different");
    assert_eq!(verdict(b"", b""), "identical bytes");
    assert_eq!(verdict(b"one", b"One!"), "same text");
    assert_eq!(verdict(b"one", b"two"), "different");
}

#[test]
fn the_values_are_those_of_the_definition() {
    let (a, b) = (words(0..200), words(40..260));
    let shingles = |text: &str| -> BTreeSet<Vec<String>> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.windows(7).map(<[String]>::to_vec).collect()
    };
    let (set_a, set_b) = (shingles(&a), shingles(&b));
    let shared = set_a.intersection(&set_b).count() as f64;
    let union = set_a.union(&set_b).count() as f64;

    let files = Files::new();
    let (a, b) = (files.write("a.txt", a), files.write("b.txt", b));
    let found = json(&wonbon(&["compare", &a, &b, "--shingle", "7", "--json"]));
    let close = |field: &str, expected: f64| {
        let value = found[field].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-12, "{field} is {value}, not {expected}");
    };
    close("resemblance", shared / union);
    close("containment_a_in_b", shared / set_a.len() as f64);
    close("containment_b_in_a", shared / set_b.len() as f64);
    for field in ["resemblance", "containment_a_in_b", "containment_b_in_a"] {
        let off = found["estimate"][field].as_f64().unwrap() - found[field].as_f64().unwrap();
        let error = found["estimate"][format!("{field}_standard_error")].as_f64().unwrap();
        assert!(off.abs() < 4.0 * error, "{field} is off by {off}, standard error {error}");
    }
    assert!(found["features_equal"].as_u64().unwrap() <= 6);
}

#[test]
fn pages_are_compared_by_their_core_text_in_any_charset() {
    let post = "어제 저녁에 시장에서 사 온 감자로 국을 끓였다. 멸치 육수를 먼저 내고 감자는 도톰하게 \
        썰어 넣었다. 마지막에 대파를 듬뿍 올리니 맛이 훨씬 깊어졌고 온 식구가 두 그릇씩 먹었다.";
    let page = format!(
        "<html><head><title>감자국</title></head><body><nav><a href='/'>처음</a><a href='/b'>목록</a>\
         </nav><article><p>{post}</p></article><footer>이 블로그의 모든 글</footer></body></html>"
    );
    let files = Files::new();
    let plain = files.write("post.txt", post);
    let html = files.write("page.html", page);
    let found = json(&wonbon(&["compare", &plain, &html, "--json"]));
    assert_eq!(found["verdict"], "same text");
    assert_eq!(found["resemblance"], 1.0);
}

#[test]
fn the_table_and_the_differences_read_well() {
    let files = Files::new();
    let a = files.write(
        "a.txt",
        "The harbour was quiet on Monday. Two boats left before dawn and \
        came back with almost nothing, which surprised nobody who had watched the weather.\n",
    );
    let b = files.write(
        "b.txt",
        "The harbour was very quiet on Tuesday. Two boats left before dawn \
        and came back with almost nothing, which surprised nobody who had watched the sky.\n",
    );
    let output = wonbon(&["compare", &a, &b, "--diff"]);
    insta::assert_snapshot!(transcript(&output, Some(files.path())));
    let found = json(&wonbon(&["compare", &a, &b, "--diff", "--json"]));
    assert_eq!(found["differences"][1]["a"], "Monday");
    assert_eq!(found["differences"][1]["b"], "Tuesday");
}

#[test]
fn the_papers_rule_can_be_asked_for() {
    let files = Files::new();
    let text = words(0..400);
    let a = files.write("a.txt", &text);
    let b = files.write("b.txt", text.replace("word700 ", "changed "));
    let found = json(&wonbon(&["compare", &a, &b, "--rule", "2of6", "--json"]));
    let copy = found["features_equal"].as_u64().unwrap() >= 2;
    assert_eq!(found["verdict"] == "copy", copy);
}

#[test]
fn a_secret_seed_changes_the_features_and_not_the_exact_values() {
    let files = Files::new();
    let (a, b) = (files.write("a.txt", words(0..300)), files.write("b.txt", words(10..310)));
    let seed = files.write("seed", "sixteen or more secret bytes");
    let open = json(&wonbon(&["compare", &a, &b, "--json"]));
    let secret = json(&wonbon(&["compare", &a, &b, "--json", "--seed-file", &seed]));
    assert_eq!(open["resemblance"], secret["resemblance"]);
    assert_ne!(open["estimate"], secret["estimate"]);
    let short = files.write("short", "123");
    let output = wonbon(&["compare", &a, &b, "--seed-file", &short]);
    insta::assert_snapshot!(transcript(&output, Some(files.path())));
}

#[test]
fn one_document_may_come_from_standard_input() {
    let files = Files::new();
    let a = files.write("a.txt", "some words that are here");
    let output = wonbon_reading(&["compare", "-", &a, "--json"], b"Some words, that are HERE");
    assert_eq!(json(&output)["verdict"], "same text");
    assert_eq!(wonbon(&["compare", "-", "-"]).status.code(), Some(2));
}

#[test]
fn what_cannot_be_read_is_named_in_one_sentence() {
    let files = Files::new();
    let a = files.write("a.txt", "text");
    for arguments in [
        vec!["compare", &a, "no-such-file.txt"],
        vec!["compare", &a, files.path().to_str().unwrap()],
        vec!["compare", &a],
        vec!["compare", &a, &a, "--shingle", "0"],
        vec!["compare", &a, &a, "--shingles", "3"],
    ] {
        let output = wonbon(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    }
    let output = wonbon(&["compare", &a, "no-such-file.txt"]);
    assert!(stderr(&output).contains("could not open no-such-file.txt"), "{}", stderr(&output));
}

const BLOCK: &str =
    "A delegation from the ministry arrived with maps and a great many questions about depth.";
const REST: &str = "The harbour was quiet on Monday. Two boats left before dawn and came back with \
    almost nothing, which surprised nobody who had watched the weather.";

#[test]
fn blocks_that_moved_have_a_number_at_both_places() {
    let files = Files::new();
    let a = files.write("a.txt", format!("{BLOCK}\n\n{REST}\n\nIt ended.\n"));
    let b = files.write("b.txt", format!("{REST}\n\n{BLOCK}\n\nIt finally ended.\n"));
    let output = wonbon(&["compare", &a, &b, "--diff"]);
    insta::assert_snapshot!(transcript(&output, Some(files.path())));
    let found = json(&wonbon(&["compare", &a, &b, "--diff", "--json"]));
    assert_eq!(found["moved"][0]["a"], BLOCK.trim_end_matches('.'));
    assert_eq!(found["moved"][0]["words_a"], serde_json::json!([0, 15]));
    assert_eq!(found["moved"][0]["words_b"], serde_json::json!([25, 40]));
    assert_eq!(found["differences"].as_array().unwrap().len(), 1);
}

#[test]
fn the_page_shows_both_texts_and_needs_nothing_else() {
    let files = Files::new();
    let a = files.write("a.txt", format!("{BLOCK}\n\n{REST}\n\n끝났다 <b>정말</b>\n"));
    let b = files.write("b.txt", format!("{REST}\n\n{BLOCK}\n\n끝났다 아직\n"));
    let page = files.path().join("page.html");
    let output = wonbon(&["compare", &a, &b, "--html", page.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("<ins>아직</ins>") && html.contains("<del>b&gt;정말&lt;/b</del>"),
        "{html}"
    );
    assert!(html.contains("id=\"w1-a1\"") && html.contains("id=\"w1-b1\""), "{html}");
    for outside in ["<script", "http:", "https:", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(!files.path().join("page.html.partial").exists());
    let output = wonbon(&["compare", &a, &b, "--html", "no-such-folder/page.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("could not write no-such-folder/page.html"));
}
