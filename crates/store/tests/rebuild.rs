//! A store decided anew is the store that would have been: by any rule, whatever it was decided by before,
//! and whenever the work was interrupted.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use wonbon_store::{
    By, Decision, Kind, NewDocument, RebuildConfig, RebuildPhase, Rule, SeedSource, Store,
    StoreError, StoreParams,
};
use wonbon_testkit::generate::{Corpus, CorpusParams};
use wonbon_time::Timestamp;

type Said = BTreeMap<String, (Kind, Option<String>, Option<f64>, Option<Decision>)>;

fn said(store: &Store) -> Said {
    let mut said = Said::new();
    let read: Result<(), StoreError> = store.for_each(|document| {
        let verdict = document.verdict;
        let told = (verdict.kind, verdict.original, verdict.resemblance, document.decision);
        said.insert(document.key, told);
        Ok(())
    });
    read.unwrap();
    said
}

fn params(rule: &str, seed: u64) -> StoreParams {
    let (rule, seed) = (rule.parse().unwrap(), SeedSource::Number(seed));
    StoreParams { rule, seed, ..StoreParams::default() }
}

/// Five thousand documents, so that every phase has several commits; some decided about by people, some
/// with an earlier version.
fn fill(store: &Store) {
    let corpus = Corpus::new(CorpusParams {
        documents: 5000,
        mean_words: 60,
        copy_share: 0.4,
        ..CorpusParams::default()
    });
    let add = |key: &str, created: u64, text: &str| {
        let created = Some(Timestamp::from_seconds((created % 900) as i64));
        store.submit(store.prepare(&NewDocument::text(key, created, text)).unwrap()).unwrap()
    };
    let pending: Vec<_> = corpus
        .documents()
        .map(|post| add(&post.number.to_string(), post.number, &post.text))
        .collect();
    for pending in pending {
        pending.wait().unwrap();
    }
    for number in (0..5000).step_by(501) {
        let text = format!("{} and another ending", corpus.document(number + 1).text);
        add(&number.to_string(), number, &text).wait().unwrap();
        store.decide(&(number + 7).to_string(), Decision::Original, &By::default(), None).unwrap();
        store.decide(&(number + 9).to_string(), Decision::NotACopy, &By::default(), None).unwrap();
    }
}

fn made(directory: &Path, params: &StoreParams) -> Said {
    let store = Store::create(directory, params).unwrap();
    fill(&store);
    let said = said(&store);
    store.close().unwrap();
    said
}

#[test]
fn a_rebuilt_store_is_what_it_would_have_been() {
    let folder = tempfile::tempdir().unwrap();
    let (by_features, by_threshold) = (params("2of6", 0), params("threshold=0.7", 5));
    let expected = made(&folder.path().join("expected"), &by_threshold);
    let directory = folder.path().join("store");
    let before = made(&directory, &by_features);
    assert_ne!(before, expected);

    let config =
        RebuildConfig { rule: Some(by_threshold.rule), seed: Some(by_threshold.seed.clone()) };
    let mut phases = Vec::new();
    let rebuilt = Store::rebuild_with(&directory, &config, |at| {
        phases.push(at.phase);
        true
    })
    .unwrap();
    phases.dedup();
    assert_eq!(phases, [RebuildPhase::Copy, RebuildPhase::Features, RebuildPhase::Decide]);
    assert_eq!((rebuilt.documents, rebuilt.continued), (5000, false));
    let differ =
        |key: &String| (before[key].0, &before[key].1) != (expected[key].0, &expected[key].1);
    assert_eq!(rebuilt.changed, before.keys().filter(|key| differ(key)).count() as u64);

    let store = Store::open(&directory).unwrap();
    assert_eq!(store.params().rule, Rule::Threshold(0.7));
    assert_eq!(said(&store), expected);
    store.catch_up().unwrap();
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    store.close().unwrap();
    assert_eq!(rebuild_files(&directory), 0);
}

fn rebuild_files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap();
    entries
        .filter(|entry| {
            entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("rebuild")
        })
        .count()
}

#[test]
fn an_interrupted_rebuild_continues_and_the_old_verdicts_stay_until_then() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    let before = made(&directory, &params("threshold=0.9", 1));
    let expected = made(&folder.path().join("expected"), &params("threshold=0.6", 1));
    let config = RebuildConfig { rule: Some(Rule::Threshold(0.6)), seed: None };
    // Stopped after every commit there is.
    let mut stops = 0;
    loop {
        let mut commits = 0;
        let rebuilt = Store::rebuild_with(&directory, &config, |at| {
            commits += u64::from(at.phase != RebuildPhase::Copy);
            commits == 0
        });
        let store = Store::open_read_only(&directory).unwrap();
        match rebuilt {
            Err(StoreError::Interrupted) => assert_eq!(said(&store), before),
            done => {
                assert!(done.unwrap().continued);
                assert_eq!(said(&store), expected);
                break;
            }
        }
        stops += 1;
    }
    assert!(stops >= 6, "{stops} stops");
}

/// What the child does until it is killed.
#[test]
fn child() {
    let Ok(directory) = std::env::var("WONBON_REBUILD_STORE") else { return };
    let config = RebuildConfig { rule: Some(Rule::features(2)), seed: Some(SeedSource::draw()) };
    Store::rebuild_with(Path::new(&directory), &config, |_| true).unwrap();
}

#[test]
fn a_killed_rebuild_continues_with_the_secret_it_drew() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    let before = made(&directory, &params("threshold=0.9", 1));
    let program = std::env::current_exe().unwrap();
    let mut kills = 0;
    loop {
        let mut child = Command::new(&program)
            .args(["--exact", "child"])
            .env("WONBON_REBUILD_STORE", &directory)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // A little later each time: from before the copy to the end.
        std::thread::sleep(std::time::Duration::from_millis(40 * kills));
        child.kill().unwrap();
        if child.wait().unwrap().success() || kills > 500 {
            break;
        }
        kills += 1;
        let store = Store::open_read_only(&directory).unwrap();
        let now = said(&store);
        let features = matches!(store.params().rule, Rule::Features { .. });
        assert!(features || now == before, "after kill {kills}");
        if features {
            break;
        }
    }
    let store = Store::open(&directory).unwrap();
    assert_eq!(store.params().rule, Rule::features(2));
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
}

#[test]
fn a_store_that_somebody_has_open_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("store");
    let store = Store::create(&directory, &params("2of6", 0)).unwrap();
    let text =
        "the ferry did not come that morning and the whole village stood waiting on the quay";
    store.add(&NewDocument::text("a", Some(Timestamp::from_seconds(1)), text)).unwrap();
    let config = RebuildConfig { rule: Some(Rule::default()), seed: None };
    let refused = Store::rebuild_with(&directory, &config, |_| true);
    assert!(matches!(refused, Err(StoreError::InUse { .. })), "{refused:?}");
    store.close().unwrap();

    let reader = Store::open_read_only(&directory).unwrap();
    assert_eq!(reader.get("a").unwrap().unwrap().text, text);
    let refused = Store::rebuild_with(&directory, &config, |_| true);
    assert!(matches!(refused, Err(StoreError::InUse { .. })), "{refused:?}");
    assert_eq!(reader.get("a").unwrap().unwrap().text, text);
    drop(reader);
    // A store that was added to meanwhile is copied again.
    let store = Store::open(&directory).unwrap();
    store.add(&NewDocument::text("b", Some(Timestamp::from_seconds(2)), text)).unwrap();
    store.close().unwrap();
    let rebuilt = Store::rebuild_with(&directory, &config, |_| true).unwrap();
    assert_eq!((rebuilt.documents, rebuilt.originals, rebuilt.continued), (2, 1, false));
    let missing = Store::rebuild_with(&folder.path().join("nowhere"), &config, |_| true);
    assert!(matches!(missing, Err(StoreError::NoStore { .. })));
}
