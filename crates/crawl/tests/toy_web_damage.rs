//! Crawls whose files were damaged: they are refused, and nothing of them is deleted or cut.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toy_web::{Reply, ToyHost, crawl, linking, network, plan};
use wonbon_crawl::CrawlError;
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::plan::Plan;
use wonbon_crawl::progress::{Control, Unwatched};

/// All files under a directory but the lock.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.file_name().unwrap() != "lock" {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}

/// A crawl of a few pages, and the plan to resume it with.
fn crawled(directory: &Path, address: u8) -> (ToyHost, Plan) {
    let host = ToyHost::start("damage.toy", address, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::page(linking("home", ["/a", "/b", "/c"])),
        path => Reply::page(linking(path, ["/"])),
    });
    let plan = plan(&[host.url("/")]);
    crawl(directory, &plan, &[&host]);
    (host, plan)
}

#[test]
fn a_flipped_bit_in_the_first_record_is_refused_and_nothing_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("crawl");
    let (_host, plan) = crawled(&directory, 30);
    let path = directory.join("crawl.log");
    let whole = std::fs::read(&path).unwrap();
    // The head, the length and checksum of the first record, and the plan in it.
    for at in 0..100 {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        std::fs::write(&path, &changed).unwrap();
        let before = files(&directory);
        for error in [
            Crawl::plan_of(&directory).unwrap_err(),
            Crawl::begun_of(&directory).unwrap_err(),
            Crawl::resume(&directory, plan.clone()).unwrap_err(),
            Crawl::begin(&directory, plan.clone(), None).unwrap_err(),
        ] {
            let is_refused =
                error.remedy().is_some() || matches!(error, CrawlError::OtherVersion { .. });
            assert!(is_refused, "byte {at}: {error:?}");
            assert!(error.to_string().contains("crawl.log"), "{error}");
        }
        assert_eq!(files(&directory), before, "byte {at}");
    }
}

#[test]
fn a_log_that_cannot_be_looked_at_is_an_error_and_no_missing_crawl() {
    let folder = tempfile::tempdir().unwrap();
    // Looking for a file below a file fails with something else than "not found".
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Crawl::plan_of(&file).unwrap_err();
    assert!(matches!(error, CrawlError::Io { .. }), "{error:?}");
    let none = Crawl::plan_of(&folder.path().join("none")).unwrap_err();
    assert!(matches!(none, CrawlError::NoCrawl { .. }), "{none:?}");
}

#[test]
fn a_crawl_that_was_interrupted_while_it_began_begins_again() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("crawl");
    let (host, plan) = crawled(&directory, 31);
    let log = std::fs::read(directory.join("crawl.log")).unwrap();
    for length in [0, 5, 12, 40] {
        let directory = folder.path().join(format!("cut-{length}"));
        std::fs::create_dir_all(directory.join("archive")).unwrap();
        std::fs::write(directory.join("lock"), "").unwrap();
        std::fs::write(directory.join("crawl.log"), &log[..length]).unwrap();
        let error = Crawl::resume(&directory, plan.clone()).unwrap_err();
        assert!(matches!(error, CrawlError::NotBegun { .. }), "{length}: {error:?}");
        assert_eq!(crawl(&directory, &plan, &[&host]).stats.pages, 4);
    }
    // But not over anything else.
    let directory = folder.path().join("other");
    std::fs::create_dir_all(directory.join("archive")).unwrap();
    std::fs::write(directory.join("crawl.log"), &log[..40]).unwrap();
    std::fs::write(directory.join("archive").join("crawl-00000.warc.gz"), "pages").unwrap();
    let before = files(&directory);
    let error = Crawl::begin(&directory, plan, None).unwrap_err();
    assert!(matches!(error, CrawlError::NotEmpty { .. }), "{error:?}");
    assert_eq!(files(&directory), before);
}

#[test]
fn files_that_are_shorter_than_the_log_says_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (number, name) in ["texts.jsonl.zst", "archive/crawl-00000.warc.gz"].iter().enumerate() {
        let directory = folder.path().join(number.to_string());
        let (host, plan) = crawled(&directory, 32 + number as u8);
        let path = directory.join(name);
        let bytes = std::fs::read(&path).unwrap();
        for left in [Some(bytes.len() / 2), None] {
            match left {
                Some(length) => std::fs::write(&path, &bytes[..length]).unwrap(),
                None => std::fs::remove_file(&path).unwrap(),
            }
            let before = files(&directory);
            let resumed = Crawl::resume(&directory, plan.clone()).unwrap();
            let fetcher = network(&plan, &[&host]);
            let error = resumed.run(fetcher, None, &Unwatched, &Control::default()).unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
            assert_eq!(files(&directory), before, "{name}");
        }
    }
}
