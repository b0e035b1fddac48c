//! `wonbon crawl`, as a person sees it: what it refuses, and a crawl from beginning to end.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod site;
mod support;

use support::{Files, json, json_lines, stderr, stdout, wonbon};

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

/// Pages that a crawl and the reader of its archive could take for different things.
fn odd_site(path: &str) -> site::SiteAnswer {
    let story = "one morning the old ferry did not come and the whole village stood on the quay";
    let html = "Content-Type: text/html\r\n";
    let page = |body: &str| (200, html, body.as_bytes().to_vec());
    match path {
        "/" => page(
            "<title>Home</title><p>the home of many stories<a href=/a>a</a><a href=/dated>d</a>\
             <a href=/old>o</a><a href=/korean>k</a><a href=/binary>b</a><a href=/feed>f</a>\
             <a href=/untyped>u</a><a href=/rows>r</a>",
        ),
        "/a" => page(&format!("<html lang=en><title>A</title><p>{story}")),
        "/dated" => page(&format!(
            "<meta property=\"article:published_time\" content=\"1999-01-01\"><p>{story} twice"
        )),
        "/old" => (301, "Location: /a\r\n", Vec::new()),
        "/korean" => (
            200,
            "Content-Type: text/plain; charset=\"euc-kr\"\r\n",
            b"\xbf\xf8\xba\xbb\xb0\xfa \xbb\xe7\xba\xbb".to_vec(),
        ),
        "/binary" => (200, "Content-Type: text/plain\r\n", b"\x7fELF\x02\x01\x01\0\0\0".to_vec()),
        "/feed" => (
            200,
            "Content-Type: application/rss+xml\r\n",
            b"<rss><channel><title>News</title><item>of the day</item></channel></rss>".to_vec(),
        ),
        "/untyped" => (200, "", format!("{story} without a type").into_bytes()),
        "/rows" => (200, "Content-Type: text/x-log\r\n", b"one two three".to_vec()),
        _ => (404, html, Vec::new()),
    }
}

#[test]
fn a_crawl_fills_a_store_as_its_archive_does() {
    let files = Files::new();
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let site = format!("http://127.0.0.5:{}/", site::serve_with(odd_site));
    let (out, crawled, added) = (path("out"), path("crawled"), path("added"));
    let crawl = ["crawl", &site, "--allow-private", "127.0.0.0/8", "--delay", "0", "--no-sitemaps"];
    let output = wonbon(&[&crawl[..], &["--out", &out, "--store", &crawled]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let archive = path("out/archive/crawl-00000.warc.gz");
    let output = wonbon(&["--store", &added, "add", &archive, "--sweep", "2100-01-01"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let exported = |store: &str| {
        let output = wonbon(&["--store", store, "export"]);
        let mut rows = json_lines(stdout(&output));
        for row in &mut rows {
            // Of each store alone: when it was told, and how many features of its secret seed agree.
            for own in ["stored", "features_equal"] {
                row.as_object_mut().unwrap().remove(own);
            }
        }
        rows.sort_by_key(|row| row["key"].as_str().unwrap().to_owned());
        rows
    };
    let (crawled, added) = (exported(&crawled), exported(&added));
    let names: Vec<&str> = crawled
        .iter()
        .map(|row| row["key"].as_str().unwrap().strip_prefix(&site).unwrap())
        .collect();
    assert_eq!(names, ["", "a", "dated", "korean", "untyped"]);
    assert_eq!(crawled, added);
}
