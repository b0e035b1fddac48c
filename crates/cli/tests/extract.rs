//! `wonbon extract` as a person or a program sees it.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use support::{Files, json, stderr, stdout, wonbon, wonbon_reading};

const PAGE: &str = "<!doctype html><html lang='en'><head><meta charset='utf-8'>\
    <title>Mending a kettle - My blog</title><link rel='canonical' href='http://a.example/kettle'>\
    <meta property='article:published_time' content='2026-03-01T10:00:00Z'></head><body>\
    <nav><ul><li><a href='http://a.example/'>Home</a></li><li><a href='http://a.example/about'>About</a>\
    </li></ul></nav><article><h1>Mending a kettle</h1><p>The kettle leaked for a whole winter before I \
    took it apart, and the fault was a single rubber ring that had gone hard.</p><p>Order the ring by its \
    inner diameter, see <a href='http://rings.example/sizes'>the table of sizes</a>, and boil it \
    once before fitting it.</p></article><footer>All rights reserved by nobody</footer></body></html>";

#[test]
fn the_core_text_is_printed_without_the_frame() {
    let files = Files::new();
    let path = files.write("page.html", PAGE);
    let output = wonbon(&["extract", &path]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(text.contains("a single rubber ring"), "{text}");
    assert!(text.contains("the table of sizes"), "{text}");
    assert!(!text.contains("About") && !text.contains("All rights"), "{text}");
}

#[test]
fn json_has_every_field() {
    let found = json(&wonbon_reading(&["extract", "--json", "-"], PAGE.as_bytes()));
    assert_eq!(found["file"], "standard input");
    assert!(found["title"].as_str().unwrap().starts_with("Mending a kettle"));
    assert_eq!(found["language"], "en");
    assert!(found["published"].as_str().unwrap().starts_with("2026-03-01"));
    assert_eq!(found["canonical"], "http://a.example/kettle");
    assert_eq!(found["charset"], "UTF-8");
    let links = found["links"].as_array().unwrap();
    assert_eq!(links.len(), 3);
    assert_eq!(links[2]["url"], "http://rings.example/sizes");
    assert_eq!(links[2]["text"], "the table of sizes");
}

#[test]
fn markdown_and_html_have_the_structure_and_the_text_stays_the_same() {
    let read = |flags: &[&str]| {
        let arguments = [&["extract", "-"][..], flags].concat();
        wonbon_reading(&arguments, PAGE.as_bytes())
    };
    let link = "[the table of sizes](http://rings.example/sizes)";
    assert!(stdout(&read(&["--markdown"])).contains(link));
    let html = "<a href=\"http://rings.example/sizes\">the table of sizes</a>";
    assert!(stdout(&read(&["--html"])).contains(html));
    let found = json(&read(&["--json", "--markdown", "--html"]));
    assert!(found["markdown"].as_str().unwrap().contains(link));
    assert!(found["html"].as_str().unwrap().contains(html));
    assert_eq!(found["text"], json(&read(&["--json"]))["text"]);
    let both = read(&["--markdown", "--html"]);
    assert_eq!(both.status.code(), Some(2));
    assert!(stderr(&both).contains("choose one"), "{}", stderr(&both));
}

#[test]
fn plain_text_passes_through_untouched() {
    let text = "  Two  spaces,\r\n\ttabs & <angles> stay.\n\n\nNo break at the end";
    let output = wonbon_reading(&["extract", "-"], text.as_bytes());
    assert_eq!(stdout(&output), text);
}

#[test]
fn euc_kr_bytes_become_utf8() {
    let (bytes, _, _) = encoding_rs::EUC_KR.encode("원본과 사본을 가려내는 일은 생각보다 어렵다");
    let found = json(&wonbon_reading(&["extract", "-", "--json"], &bytes));
    assert_eq!(found["charset"], "EUC-KR");
    assert_eq!(found["text"], "원본과 사본을 가려내는 일은 생각보다 어렵다");
}

#[test]
fn several_files_are_told_apart_and_a_missing_one_is_named() {
    let files = Files::new();
    let (a, b) = (files.write("a.txt", "first"), files.write("b.txt", "second\n"));
    let output = wonbon(&["extract", &a, "no-such-file", &b]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("a.txt <==\nfirst"));
    assert!(stdout(&output).contains("b.txt <==\nsecond\n"));
    assert_eq!(stderr(&output).lines().count(), 1);
    assert!(stderr(&output).contains("could not open no-such-file"));
    assert_eq!(wonbon(&["extract", "no-such-file"]).status.code(), Some(2));
    assert_eq!(wonbon(&["extract", "no-such-file", "nor-this"]).status.code(), Some(2));
}
