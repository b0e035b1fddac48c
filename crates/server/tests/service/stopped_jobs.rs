//! Imports, deduplications and clusterings that are paused, cancelled, resumed and killed: they end as if
//! nobody had disturbed them. (Crawls: `jobs`; many kills at any moment: `kills`.)
//!
//! A job is caught while it runs: the test waits until it is some way on, and if it was faster than the
//! test, begins anew with more documents.

use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};
use wonbon_server::Config;
use wonbon_store::Store;
use wonbon_testkit::crawl::toy_web::{Reply, ToyHost};

use crate::jobs::{
    begin, change, corpus, crawl_of, get, jobs_in, same_files, undisturbed_cluster,
    undisturbed_dedup, until, until_state,
};
use crate::process::{address_of, start, start_child};
use crate::support::text;

/// Documents of a corpus at first, and how often it may be doubled.
const DOCUMENTS: u64 = 4000;
const DOUBLED: u32 = 5;

/// Documents in each file of a folder: every file is a piece of the input of its own.
const IN_A_FILE: u64 = 20;

/// A folder of files with documents; every third copies the one before. Each file ends with a line that is
/// no document.
fn folder_of(folder: &Path, documents: u64) {
    std::fs::create_dir_all(folder).unwrap();
    for file in 0..documents / IN_A_FILE {
        let mut lines = String::new();
        for number in file * IN_A_FILE..(file + 1) * IN_A_FILE {
            let about = 100_000 + if number % 3 == 2 { number - 1 } else { number };
            let id = format!("c{number}");
            let document = json!({"id": id, "created": number, "text": text(about)});
            lines.push_str(&format!("{document}\n"));
        }
        lines.push_str("no document\n");
        std::fs::write(folder.join(format!("{file:05}.jsonl")), lines).unwrap();
    }
}

/// The lines that are no documents are counted once each, and the first are named in their order.
fn assert_lines_refused(job: &Value, documents: u64) {
    assert_eq!(job["result"]["refused"], documents / IN_A_FILE, "{job}");
    let skipped = job["result"]["skipped_first"].as_array().unwrap();
    assert_eq!(skipped.len(), 20, "{job}");
    for (file, skipped) in skipped.iter().enumerate() {
        let named = format!("in/posts/{file:05}.jsonl");
        assert_eq!((&skipped["file"], &skipped["row"]), (&json!(named), &json!(IN_A_FILE + 1)));
    }
}

/// Documents that a job's record says are stored for good.
fn durable(job: &Value) -> u64 {
    job["durable"]["summary"]["documents"].as_u64().unwrap_or(0)
}

/// Starts a job, waits until it is some way on and changes it; `false` if it was done before.
fn caught(
    address: SocketAddr,
    number: u64,
    is_under_way: impl Fn(&Value) -> bool,
    by: &str,
    becomes: &str,
) -> bool {
    until(address, number, "under way", |job| job["state"] == "done" || is_under_way(job));
    let (status, job) = change(address, number, by);
    if status == 409 {
        assert_eq!(job["code"], "wrong_state", "{job}");
        return false;
    }
    assert_eq!(status, 202, "{job}");
    let job =
        until(address, number, "stopped", |job| job["state"] == "done" || job["state"] == becomes);
    // What ends a job says when; a pause is no end.
    assert_eq!(job["ended"].is_string(), becomes != "paused" || job["state"] == "done", "{job}");
    job["state"] == becomes
}

/// Tries with ever more documents until a job was caught in the middle.
fn with_enough(attempt: impl Fn(u64) -> bool) {
    let enough = (0..DOUBLED).any(|doubled| attempt(DOCUMENTS << doubled));
    assert!(enough, "no job could be caught while it ran");
}

#[test]
fn an_import_is_paused_cancelled_and_resumed_and_stores_everything_once() {
    with_enough(|documents| {
        let folder = tempfile::tempdir().unwrap();
        let jobs = jobs_in(folder.path(), &[]);
        folder_of(&folder.path().join("jobs/in/posts"), documents);
        let served = start(folder.path(), Config { jobs: Some(jobs), ..Config::default() });
        let address = served.address;
        let number = begin(address, &json!({"kind": "import", "inputs": ["posts"]}));
        let paused = caught(address, number, |job| durable(job) > 0, "pause", "paused");
        if !paused {
            return false;
        }
        let job = get(address, &format!("/v1/jobs/{number}"));
        let stored = durable(&job);
        assert!(stored < documents, "{job}");
        // What is told is what is there, to the document.
        assert_eq!(get(address, "/v1/status")["documents"], stored, "{job}");
        assert_eq!(change(address, number, "pause").0, 409);
        assert_eq!(change(address, number, "resume").0, 202);
        let further = |job: &Value| durable(job) > stored;
        let cancelled = caught(address, number, further, "cancel", "cancelled");
        if cancelled {
            assert_eq!(change(address, number, "cancel").0, 409);
            assert_eq!(change(address, number, "resume").0, 202);
        }
        let job = until_state(address, number, "done");
        assert_eq!(job["resumed"], 1 + u64::from(cancelled));
        let result = &job["result"];
        // A stop settles what is on its way: nothing is read twice.
        let counts = ["documents", "unchanged"].map(|name| result[name].as_u64());
        assert_eq!(counts, [Some(documents), Some(0)], "{result}");
        assert_lines_refused(&job, documents);
        assert_eq!(result["copies"], documents / 3, "{result}");
        served.stop();
        assert_stored(&folder.path().join("store"), documents);
        cancelled
    });
}

/// Every document is there, no other is, and the store is as it should be.
fn assert_stored(directory: &Path, documents: u64) {
    let store = Store::open(directory).unwrap();
    assert_eq!(store.counts().unwrap().documents, documents);
    for number in 0..documents {
        let id = format!("c{number}");
        let document = store.get(&id).unwrap();
        assert!(document.is_some_and(|document| document.version == 1), "{id}");
    }
    let verified = store.verify().unwrap();
    assert_eq!((verified.differences, &verified.first), (0, &Vec::new()));
}

#[test]
fn deduplications_and_clusterings_are_paused_cancelled_and_resumed() {
    for (kind, files) in [
        ("dedup", ["families.jsonl", "kept/a.jsonl"].as_slice()),
        ("cluster", ["clusters.jsonl"].as_slice()),
    ] {
        with_enough(|documents| {
            let folder = tempfile::tempdir().unwrap();
            let jobs = jobs_in(folder.path(), &[]);
            let input = folder.path().join("jobs/in/a.jsonl");
            corpus(&input, documents);
            let served = start(folder.path(), Config { jobs: Some(jobs), ..Config::default() });
            let address = served.address;
            let number = begin(address, &json!({"kind": kind, "inputs": ["a.jsonl"]}));
            let under_way = |job: &Value| job["progress"]["done"].as_u64().unwrap_or(0) > 0;
            let mut stops = 0;
            for (by, becomes) in [("pause", "paused"), ("cancel", "cancelled")] {
                if !caught(address, number, under_way, by, becomes) {
                    break;
                }
                let out = folder.path().join(format!("jobs/{number}/out"));
                assert!(!out.exists(), "what is unfinished does not look finished");
                assert_eq!(change(address, number, "resume").0, 202);
                stops += 1;
            }
            let job = until_state(address, number, "done");
            assert_eq!(
                (&job["resumed"], &job["result"]["documents"]),
                (&json!(stops), &json!(documents))
            );
            served.stop();
            let alone = folder.path().join("alone");
            match kind {
                "dedup" => undisturbed_dedup(&input, &alone),
                _ => undisturbed_cluster(&input, &alone),
            }
            same_files(&folder.path().join(format!("jobs/{number}/out")), &alone, files);
            stops == 2
        });
    }
}

#[test]
fn jobs_that_wait_are_paused_resumed_and_cancelled_at_once() {
    let silent = ToyHost::start("silent.example", 1, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        _ => Reply::Drip,
    });
    let folder = tempfile::tempdir().unwrap();
    let mut jobs = jobs_in(folder.path(), &["127.0.0.1"]);
    jobs.at_once = 1;
    corpus(&folder.path().join("jobs/in/a.jsonl"), 30);
    let served = start(folder.path(), Config { jobs: Some(jobs), ..Config::default() });
    let address = served.address;
    // It has the only place until somebody cancels it.
    let crawl = begin(address, &crawl_of(&silent));
    let numbers = ["import", "dedup", "cluster"]
        .map(|kind| begin(address, &json!({"kind": kind, "inputs": ["a.jsonl"]})));
    for number in numbers {
        for (by, becomes) in [
            ("pause", "paused"),
            ("resume", "waiting"),
            ("cancel", "cancelled"),
            ("resume", "waiting"),
            ("pause", "paused"),
            ("cancel", "cancelled"),
            ("resume", "waiting"),
        ] {
            let (status, job) = change(address, number, by);
            assert_eq!((status, &job["state"]), (202, &json!(becomes)), "{by}: {job}");
            assert_eq!(job["ended"].is_string(), becomes == "cancelled", "{job}");
            let (status, problem) = change(address, number, by);
            assert_eq!((status, &problem["code"]), (409, &json!("wrong_state")), "{by} again");
        }
    }
    change(address, crawl, "cancel");
    for number in numbers {
        let job = until_state(address, number, "done");
        assert_eq!((&job["resumed"], &job["result"]["documents"]), (&json!(0), &json!(30)));
    }
    served.stop();
}

#[test]
fn an_import_that_is_killed_goes_on_behind_what_it_made_durable() {
    with_enough(|documents| {
        let folder = tempfile::tempdir().unwrap();
        folder_of(&folder.path().join("jobs/in/posts"), documents);
        let mut child = start_child(folder.path(), &[]);
        let address = address_of(folder.path());
        let number = begin(address, &json!({"kind": "import", "inputs": ["posts"]}));
        // What was noted counts after a kill. More than half, so that an import that begins anew shows in the
        // counts below.
        let record = folder.path().join(format!("jobs/{number}/job.json"));
        let noted = || serde_json::from_slice::<Value>(&std::fs::read(&record).unwrap()).unwrap();
        let is_far = |job: &Value| job["state"] == "done" || durable(job) > documents / 2;
        until(address, number, "noted", |_| is_far(&noted()));
        child.kill().unwrap();
        child.wait().unwrap();
        let job = noted();
        let noted = durable(&job);
        if job["state"] == "done" {
            return false;
        }
        let pieces = job["durable"]["pieces"].as_u64().unwrap();
        assert_eq!(noted, pieces * IN_A_FILE, "{job}");
        assert_eq!(job["durable"]["summary"]["refused"], pieces, "{job}");

        let mut child = start_child(folder.path(), &[]);
        let address = address_of(folder.path());
        let job = until_state(address, number, "done");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(job["resumed"], 1);
        let count = |name: &str| job["result"][name].as_u64().unwrap();
        assert_eq!(count("documents"), documents, "{job}");
        assert_lines_refused(&job, documents);
        // What was noted is not read again; what was stored behind it is, and is unchanged by that.
        let new = count("originals") + count("copies");
        assert!(new >= noted && new + count("unchanged") == documents, "{noted} noted: {job}");
        assert_stored(&folder.path().join("store"), documents);
        true
    });
}
