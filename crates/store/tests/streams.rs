//! Real corpora streamed in order of creation by the papers' rule: every verdict is the oracle's, and a
//! search never finds a copy. (`wonbon-app` compares stores with batch runs.)

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "support/mod.rs"]
mod support;

use std::io::Read;
use std::path::Path;

use serde_json::Value;
use wonbon_store::{Kind, NewDocument, Page, Query, Rule, Store, StoreParams};
use wonbon_testkit::corpora::corpus;
use wonbon_text::shingles::shingles;
use wonbon_time::Timestamp;

struct Post {
    id: String,
    created: Timestamp,
    text: String,
}

/// The documents of a corpus, the earliest first.
fn posts(path: &Path) -> Vec<Post> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    zstd::stream::read::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    let mut posts: Vec<Post> = text
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            let created = row["created"].as_str().unwrap_or("1970");
            Post {
                id: row["id"].as_str().unwrap().to_owned(),
                created: Timestamp::parse_text(created).unwrap(),
                text: row["text"].as_str().unwrap().to_owned(),
            }
        })
        .collect();
    posts.sort_by_key(|post| post.created);
    posts
}

/// The first originals that agree in most features, by comparing with all of them.
fn slow_best(originals: &[(Vec<u64>, usize)], features: &[u64], needed: usize) -> Option<usize> {
    let mut best = None;
    for (other, place) in originals {
        let agreeing = other.iter().zip(features).filter(|(a, b)| a == b).count();
        if agreeing >= needed && best.is_none_or(|(known, _)| agreeing > known) {
            best = Some((agreeing, *place));
        }
    }
    best.map(|(_, place)| place)
}

fn stream(name: &str) {
    if support::leaves_out_large_corpora() && name != "ko-petitions.jsonl.zst" {
        return;
    }
    let Some(path) = corpus(name) else { return };
    let posts = posts(&path);
    let directory = support::place();
    // The papers' rule, unverified: agreement of features is all there is to it.
    let rule = Rule::Features { needed: 2, floor: 0.0 };
    let params = StoreParams { rule, ..StoreParams::default() };
    let store = Store::create(directory.path(), &params).unwrap();
    let maker = params.feature_maker().unwrap();
    let mut originals: Vec<(Vec<u64>, usize)> = Vec::new();
    let mut copies = 0;
    let pending: Vec<_> = posts
        .iter()
        .map(|post| {
            let document = NewDocument::text(&post.id, Some(post.created), &post.text);
            store.submit(store.prepare(&document).unwrap()).unwrap()
        })
        .collect();
    for (place, (post, pending)) in posts.iter().zip(pending).enumerate() {
        let verdict = pending.wait().unwrap().verdict;
        let set = shingles(&post.text, params.shingle_words);
        let features = maker.features(&set).values().to_vec();
        let expected = slow_best(&originals, &features, 2).map(|of| posts[of].id.clone());
        assert_eq!(verdict.original, expected, "{name}: {}", post.id);
        match expected {
            None if !features.is_empty() => originals.push((features, place)),
            None => assert_eq!(verdict.kind, Kind::Empty),
            Some(_) => copies += 1,
        }
    }
    assert!(copies > 0, "{name} has no copies to be tested by");
    store.catch_up().unwrap();
    let counts = store.counts().unwrap();
    assert_eq!((counts.originals, counts.copies), (originals.len() as u64, copies));

    // Words of copies are searched for: originals come, never a copy.
    let mut asked = 0;
    for post in posts.iter().rev().step_by(posts.len() / 40 + 1) {
        let word: String = post.text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        let Ok(query) = Query::parse(&word) else { continue };
        for result in store.search(&query, Page { offset: 0, limit: 20 }).unwrap().results {
            assert_eq!(result.document.verdict.kind, Kind::Original, "{name}: {word}");
            asked += 1;
        }
    }
    assert!(asked > 0);
    let verified = store.verify().unwrap();
    assert_eq!(verified.differences, 0, "{:?}", verified.first);
    store.close().unwrap();
}

#[test]
fn korean_petitions_are_decided_as_the_oracle_does() {
    stream("ko-petitions.jsonl.zst");
}

#[test]
fn korean_precedents_are_decided_as_the_oracle_does() {
    stream("ko-precedents.jsonl.zst");
}

#[test]
fn news_are_decided_as_the_oracle_does() {
    stream("en-reuters21578.jsonl.zst");
}
