//! `wonbon demo` as a person or a program sees it.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::collections::HashMap;

use serde_json::Value;
use support::{json_lines, transcript, wonbon};
use unicode_width::UnicodeWidthStr;

/// The sample's manifest, with the verdict each post is expected to get.
const POSTS: &str = include_str!("../sample/posts.jsonl");

fn demo_json(arguments: &[&str]) -> Vec<Value> {
    let output = wonbon(&[&["demo", "--json"], arguments].concat());
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    json_lines(std::str::from_utf8(&output.stdout).unwrap())
}

#[test]
fn the_sample_has_at_least_sixty_posts_of_every_kind() {
    let posts = json_lines(POSTS);
    assert!(posts.len() >= 60);
    for kind in ["original", "copy", "same-text", "identical", "same-shingles", "empty"] {
        assert!(posts.iter().any(|post| post["expect"] == kind), "no post is expected {kind}");
    }
    let ids: HashMap<_, _> = posts.iter().map(|post| (post["id"].as_str(), post)).collect();
    assert_eq!(ids.len(), posts.len(), "an id occurs twice");
}

#[test]
fn every_post_gets_the_verdict_it_was_written_for() {
    let expected = json_lines(POSTS);
    let verdicts = demo_json(&[]);
    assert_eq!(verdicts.len(), expected.len());
    for (verdict, post) in verdicts.iter().zip(&expected) {
        let got = (&verdict["id"], &verdict["verdict"], &verdict["original"]);
        let wanted = (&post["id"], &post["expect"], post.get("of").unwrap_or(&Value::Null));
        assert_eq!(got, wanted, "why: {}", verdict["why"]);
        assert_eq!(verdict["created"], post["created"]);
    }
}

#[test]
fn json_says_how_alike_a_copy_and_its_original_are() {
    for verdict in demo_json(&[]) {
        let id = &verdict["id"];
        assert!(!verdict["why"].as_str().unwrap().is_empty(), "{id} has no reason");
        if verdict["original"].is_null() {
            assert!(verdict["resemblance"].is_null() && verdict["features_equal"].is_null());
        } else {
            assert!(verdict["resemblance"].as_f64().unwrap() >= 0.8, "{id}");
            assert!(verdict["features_equal"].as_u64().unwrap() <= 6, "{id}");
        }
    }
}

#[test]
fn by_two_of_six_features_every_copy_has_two() {
    let verdicts = demo_json(&["--rule", "2of6"]);
    let copies: Vec<_> = verdicts.iter().filter(|v| !v["original"].is_null()).collect();
    // Equal shingle sets have equal features whatever the seed: these five are always found.
    assert!(copies.len() >= 5);
    for copy in copies {
        assert!(copy["features_equal"].as_u64().unwrap() >= 2, "{copy}");
    }
}

#[test]
fn the_whole_quotation_is_named() {
    let verdicts = demo_json(&[]);
    let letters = verdicts.iter().find(|v| v["id"] == "letters/1").unwrap();
    assert!(letters["why"].as_str().unwrap().starts_with("quotes 100 % of proverb/1"), "{letters}");
}

#[test]
fn the_table_reads_well_in_a_hundred_columns() {
    let transcript = transcript(&wonbon(&["demo"]), None);
    for line in transcript.lines() {
        assert!(line.width() <= 100, "{} columns: {line}", line.width());
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn output_that_is_no_terminal_has_no_colour() {
    assert!(!wonbon(&["demo"]).stdout.contains(&0x1b));
}

#[test]
fn a_wrong_rule_is_refused_with_one_sentence() {
    insta::assert_snapshot!(transcript(&wonbon(&["demo", "--rule", "2of7"]), None));
}
