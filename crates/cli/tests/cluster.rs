//! `wonbon cluster`: clusters, the last phase again, look-ups.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod killing;
mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use killing::kill_at_random_moments;
use serde_json::json;
use support::{json_lines, stderr, stdout, wonbon};
use wonbon_testkit::corpora::corpus;
use wonbon_testkit::generate::{Corpus, CorpusParams};

fn text(words: std::ops::Range<u32>) -> String {
    words.map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ")
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

fn clusters(folder: &Path, file: &str) -> BTreeSet<BTreeSet<String>> {
    json_lines(&std::fs::read_to_string(folder.join("out").join(file)).unwrap())
        .iter()
        .map(|line| {
            let ids = line["documents"].as_array().unwrap();
            ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect()
        })
        .collect()
}

fn names(clusters: &[&[&str]]) -> BTreeSet<BTreeSet<String>> {
    clusters.iter().map(|ids| ids.iter().map(|id| (*id).to_owned()).collect()).collect()
}

/// Documents a and b share four fifths, c is contained in a, d is a twice over in other case; e is
/// alone; f and g are short and equal.
fn input(folder: &Path) -> String {
    let rows = [
        json!({"id": "a", "url": "http://a.example/", "text": text(0..5000)}),
        json!({"id": "b", "url": "http://b.example/", "text": text(500..5500)}),
        json!({"id": "c", "url": "http://c.example/", "text": text(1000..2500)}),
        json!({"id": "d", "text": text(0..5000).to_uppercase()}),
        json!({"id": "e", "text": text(9000..12_000)}),
        json!({"id": "f", "text": "two words"}),
        json!({"id": "g", "text": "Two, words!"}),
        json!({"id": "h", "text": "..."}),
    ];
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    std::fs::write(folder.join("in.jsonl"), lines).unwrap();
    path(folder, "in.jsonl")
}

#[test]
fn related_documents_are_one_cluster_and_equal_ones_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (input(folder.path()), path(folder.path(), "out"));
    let output = wonbon(&["cluster", &input, "-o", &out, "--super-shingles", "10"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = names(&[&["a", "b", "d"], &["f", "g"]]);
    assert_eq!(clusters(folder.path(), "clusters.jsonl"), expected);
    assert_eq!(clusters(folder.path(), "clusters-by-super-shingles.jsonl"), expected);

    let again = |flags: &[&str]| {
        let mut arguments = vec!["cluster", "again", out.as_str()];
        arguments.extend(flags);
        let output = wonbon(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        clusters(folder.path(), "clusters.jsonl")
    };
    assert_eq!(again(&["--threshold", "0.95"]), names(&[&["a", "d"], &["f", "g"]]));
    assert_eq!(
        again(&["--threshold", "0.95", "--policy", "containment"]),
        names(&[&["a", "b", "c", "d"], &["f", "g"]])
    );
    // c came after a: a is not contained in it.
    assert_eq!(
        again(&["--threshold", "0.95", "--policy", "containment-of-earlier"]),
        names(&[&["a", "d"], &["f", "g"]])
    );

    let output = wonbon(&["cluster", "lookup", &out, "http://a.example/"]);
    assert_eq!(stdout(&output), "http://a.example/\nd\n");
    let output = wonbon(&["cluster", "lookup", &out, "e"]);
    assert_eq!(stdout(&output), "e\n");
    let output = wonbon(&["cluster", "lookup", &out, "http://nowhere.example/"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn too_common_shingles_are_ignored_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let footer = text(0..400);
    let lines: String = (0..12_u32)
        .map(|n| {
            let own = text(10_000 * (n + 1)..10_000 * (n + 1) + 300);
            format!("{}\n", json!({"id": n, "text": format!("{own} {footer}")}))
        })
        .collect();
    std::fs::write(folder.path().join("in.jsonl"), lines).unwrap();
    let (input, out) = (path(folder.path(), "in.jsonl"), path(folder.path(), "out"));
    let arguments = ["cluster", &input, "-o", &out, "--modulus", "2", "--threshold", "0.3"];
    let output = wonbon(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(clusters(folder.path(), "clusters.jsonl").len(), 1);
    std::fs::remove_dir_all(&out).unwrap();
    let mut arguments = arguments.to_vec();
    arguments.extend(["--common", "11"]);
    let output = wonbon(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(clusters(folder.path(), "clusters.jsonl").is_empty());
    let listed = std::fs::read_to_string(folder.path().join("out/common-shingles.tsv")).unwrap();
    assert!(listed.lines().count() > 100);
    assert!(listed.lines().all(|line| line.ends_with("\t12")), "{listed}");
}

#[test]
fn threads_and_memory_change_no_cluster() {
    let Some(input) = corpus("en-usenet20news.jsonl.zst") else { return };
    let mut results = Vec::new();
    for (threads, memory) in [("1", "2G"), ("2", "64M")] {
        let folder = tempfile::tempdir().unwrap();
        let out = path(folder.path(), "out");
        let output = wonbon(&[
            "cluster",
            input.to_str().unwrap(),
            "-o",
            &out,
            "--threads",
            threads,
            "--memory",
            memory,
            "--modulus",
            "1",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        results.push(std::fs::read(folder.path().join("out/clusters.jsonl")).unwrap());
    }
    assert!(results[0].len() > 1000);
    assert!(results[0] == results[1]);
}

/// Every file that a run leaves behind, except the summary with its times.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap().path();
        let name = entry.file_name().unwrap().to_str().unwrap().to_owned();
        if entry.is_dir() {
            let inner = files(&entry).into_iter();
            found.extend(inner.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if name != "summary.json" {
            found.insert(name, std::fs::read(entry).unwrap());
        }
    }
    found
}

#[test]
fn a_clustering_killed_at_twelve_moments_ends_as_one_that_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let params = CorpusParams { documents: 8000, copy_share: 0.4, ..CorpusParams::default() };
    let mut lines = Vec::new();
    Corpus::new(params).write_json_lines(&mut lines).unwrap();
    std::fs::write(folder.path().join("in.jsonl"), lines).unwrap();
    let input = path(folder.path(), "in.jsonl");
    let outs = [path(folder.path(), "whole"), path(folder.path(), "killed")];
    let arguments = |at: usize| {
        let mut arguments = vec!["cluster", input.as_str(), "-o", outs[at].as_str()];
        arguments.extend(["--modulus", "2", "--super-shingles", "10", "--part-bytes", "1000000"]);
        arguments
    };
    let started = Instant::now();
    let output = wonbon(&arguments(0));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let whole = started.elapsed();
    let expected = files(&folder.path().join("whole"));
    assert!(expected.contains_key("clusters.jsonl") && expected.contains_key("lookups/how.json"));
    let mut resumed = 0;
    kill_at_random_moments(&arguments(1), whole, 12, |_| {
        let out = folder.path().join("killed");
        if out.exists() {
            assert!(files(&out) == expected);
            std::fs::remove_dir_all(&out).unwrap();
        }
        resumed += u32::from(folder.path().join("killed.partial/work/parts").exists());
    });
    let output = wonbon(&arguments(1));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(files(&folder.path().join("killed")) == expected);
    assert!(!folder.path().join("killed.partial").exists());
    assert!(resumed > 0, "no kill left a finished part behind");
}

#[test]
fn a_clustering_that_only_lacks_its_last_step_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (input(folder.path()), path(folder.path(), "out"));
    let output = wonbon(&["cluster", &input, "-o", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = files(&folder.path().join("out"));
    // As a kill in the middle of the last step leaves it.
    std::fs::rename(folder.path().join("out"), folder.path().join("out.partial")).unwrap();
    std::fs::create_dir(folder.path().join("out.partial/done")).unwrap();
    std::fs::write(folder.path().join("out.partial/.wonbon-partial"), "").unwrap();
    let other = wonbon(&["cluster", &input, "-o", &out, "--threshold", "0.9"]);
    assert_eq!(other.status.code(), Some(2), "{}", stderr(&other));
    assert!(stderr(&other).contains("another plan"), "{}", stderr(&other));
    let output = wonbon(&["cluster", &input, "-o", &out]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("everything but its last step"), "{}", stderr(&output));
    assert!(files(&folder.path().join("out")) == expected);
}
