//! Crawls of a toy web: which pages are found, and what becomes of the others.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use toy_web::{Reply, ToyHost, archived, crawl, linking, outcomes, plan, texts, with_outcome};
use wonbon_crawl::progress::Ended;
use wonbon_crawl::records::Outcome;

#[test]
fn a_small_site_is_crawled_whole_and_everything_is_written() {
    let host = ToyHost::start("small.toy", 2, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking("home", ["/a", "/b?utm_source=x", "/a#top", "/c"])),
        "/a" => Reply::page(linking("a", ["/", "/b"])),
        "/b" => Reply::Chunked(linking("b", ["/missing", "mailto:x@y"]).into_bytes()),
        "/c" => Reply::redirect(301, "/d"),
        "/d" => Reply::page(linking("a", ["/", "/b"])),
        _ => Reply::status(404),
    });
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&[host.url("/")]);
    let summary = crawl(folder.path(), &plan, &[&host]);
    assert_eq!(summary.ended, Ended::Exhausted);
    let expected = [
        ("small.toy/", Outcome::Kept),
        ("small.toy/a", Outcome::Kept),
        ("small.toy/b", Outcome::Kept),
        ("small.toy/c", Outcome::Redirect),
        ("small.toy/d", Outcome::SameBody),
        ("small.toy/missing", Outcome::ServerError),
    ];
    assert_eq!(outcomes(folder.path()), expected.map(|(path, got)| (path.to_owned(), got)));
    assert_eq!(summary.stats.pages, 4);
    let mut asked = host.paths();
    assert_eq!(asked[0], "/robots.txt");
    asked.sort();
    assert_eq!(asked, ["/", "/a", "/b", "/c", "/d", "/missing", "/robots.txt"]);
    let records = archived(folder.path());
    let kinds = |kind: &str| records.iter().filter(|(got, _)| got == kind).count();
    assert_eq!([kinds("response"), kinds("request"), kinds("revisit")], [6, 7, 1]);
    let texts = texts(folder.path());
    assert_eq!(texts.len(), 3);
    assert!(texts[0]["text"].as_str().unwrap().contains("The page home says"));
    assert_eq!(with_outcome(folder.path(), Outcome::Redirect), ["small.toy/c"]);
}
