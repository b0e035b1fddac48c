//! `wonbon crawl`, as a person sees it: what it refuses, and a crawl from beginning to end.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod site;
mod support;

use support::{Files, json, stderr, wonbon};

#[test]
fn what_cannot_be_crawled_is_refused_in_a_sentence_and_nothing_is_written() {
    let files = Files::new();
    let out = files.path().join("out").to_str().unwrap().to_owned();
    let refused = |args: &[&str], sentence: &str| {
        let output = wonbon(args);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(sentence), "{said}");
        assert_eq!(said.trim().lines().count(), 1, "{said}");
        assert!(!files.path().join("out").exists());
    };
    refused(
        &["crawl", "http://no-such-host.invalid/", "--out", &out],
        "`no-such-host.invalid` has no address",
    );
    refused(&["crawl", "http://127.0.0.5/", "--out", &out], "this machine (loopback)");
    refused(&["crawl", "gopher://example.org/", "--out", &out], "no http or https address");
    refused(
        &["crawl", "http://example.org/a", "--exclude", "/a", "--out", &out],
        "is outside the scope",
    );
    refused(&["crawl", "--resume", &out], "holds no crawl");
    refused(&["crawl", "http://example.org/", "--out", &out, "--order", "best"], "is no ordering");
    let folder = files.path().to_str().unwrap().to_owned();
    files.write("mine.txt", "mine");
    let site = format!("http://127.0.0.5:{}/", site::serve());
    refused(
        &["crawl", &site, "--allow-private", "127.0.0.5", "--out", &folder],
        "is not empty and holds no crawl",
    );
}

#[test]
fn a_site_goes_into_a_directory_and_a_store() {
    let files = Files::new();
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let site = format!("http://127.0.0.5:{}/", site::serve());
    let (out, store) = (path("out"), path("store"));
    let crawl = ["crawl", &site, "--allow-private", "127.0.0.0/8", "--delay", "0", "--json"];
    let output = wonbon(&[&crawl[..], &["--out", &out, "--store", &store]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = json(&output);
    assert_eq!(summary["pages"], 3);
    assert_eq!((&summary["originals"], &summary["copies"]), (&2.into(), &1.into()));
    let status = json(&wonbon(&["--store", &store, "status", "--json"]));
    assert_eq!((&status["originals"], &status["copies"]), (&2.into(), &1.into()));
    for file in ["stats.json", "report.html", "graph/edges.tsv", "texts.jsonl.zst", "crawl.log"] {
        assert!(files.path().join("out").join(file).is_file(), "{file}");
    }
    let again = wonbon(&[&crawl[..], &["--out", &out]].concat());
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("holds a crawl already"), "{}", stderr(&again));
    let changed = wonbon(&["crawl", "--resume", &out, "--depth", "2"]);
    assert!(stderr(&changed).contains("begun with depth null, not 2"), "{}", stderr(&changed));
    let resumed = wonbon(&["crawl", "--resume", &out, "--allow-private", "127.0.0.5", "--json"]);
    assert_eq!(json(&resumed)["pages"], 3, "{}", stderr(&resumed));
    let replayed = path("replayed");
    let archive = path("out/archive/crawl-00000.warc.gz");
    let output = wonbon(&["crawl", "--from-warc", &archive, "--out", &replayed, "--json"]);
    assert_eq!(json(&output)["pages"], 3, "{}", stderr(&output));
}
