//! The library's road: documents from an iterator, results to an iterator; stopped at any moment.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;
use wonbon_cluster::ClusterError;
use wonbon_cluster::clustering::{ClusterConfig, ClusterMethod, cluster};
use wonbon_cluster::corpus::PART_BYTES;
use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::dedup::{DedupConfig, dedup};
use wonbon_cluster::stream::{StreamDocument, clusters_of, families_of};
use wonbon_documents::{Dates, FieldNames, Limits, Progress, Unwatched};
use wonbon_testkit::generate::{Corpus, CorpusParams, Document};

/// Stops the run when it asks for the n-th time.
struct StopAt {
    asked: AtomicU64,
    at: u64,
    stopped: AtomicBool,
}

impl StopAt {
    fn new(at: u64) -> Self {
        StopAt { asked: AtomicU64::new(0), at, stopped: AtomicBool::new(false) }
    }
}

impl Progress for StopAt {
    fn stop_asked(&self) -> bool {
        let stop = self.asked.fetch_add(1, Ordering::SeqCst) >= self.at;
        self.stopped.fetch_or(stop, Ordering::SeqCst);
        stop
    }
}

fn posts() -> Vec<Document> {
    let params = CorpusParams { documents: 600, copy_share: 0.4, ..CorpusParams::default() };
    Corpus::new(params).documents().collect()
}

fn stream(posts: &[Document]) -> impl Iterator<Item = StreamDocument> + Send {
    posts.iter().map(|post| StreamDocument::new(&format!("post-{}", post.number), &post.text))
}

fn write_input(folder: &Path, posts: &[Document]) {
    let mut lines = String::new();
    let mut line = String::new();
    for post in posts {
        post.json_line(&mut line);
        lines.push_str(&line);
    }
    std::fs::write(folder.join("in.jsonl"), lines).unwrap();
}

fn families() -> FamilyConfig {
    let threads = NonZeroUsize::new(2).unwrap();
    FamilyConfig { engine: Engine::Features, threads, ..FamilyConfig::default() }
}

fn clusters() -> ClusterMethod {
    ClusterMethod { modulus: 4, threads: NonZeroUsize::new(2).unwrap(), ..ClusterMethod::default() }
}

fn dedup_config(folder: &Path) -> DedupConfig {
    DedupConfig {
        inputs: vec![folder.join("in.jsonl")],
        output: folder.join("out"),
        fields: FieldNames::default(),
        dates: Dates::default(),
        method: families(),
        pairs: Some(folder.join("pairs.tsv")),
        annotate: false,
        strict: false,
        limits: Limits::default(),
        against: Vec::new(),
        part_bytes: 100_000,
        save_sketches: false,
        passages: None,
    }
}

fn cluster_config(folder: &Path) -> ClusterConfig {
    ClusterConfig {
        inputs: vec![folder.join("in.jsonl")],
        output: folder.join("out"),
        fields: FieldNames::default(),
        dates: Dates::default(),
        method: clusters(),
        super_shingles: Some(6),
        part_bytes: PART_BYTES,
        strict: false,
        limits: Limits::default(),
    }
}

fn json_lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn an_iterator_gives_the_families_that_files_give() {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let posts = posts();
    write_input(folder.path(), &posts);
    dedup(&dedup_config(folder.path()), &Unwatched).unwrap();
    let found = families_of(stream(&posts), &families(), work.path(), &Unwatched).unwrap();
    let expected = json_lines(&folder.path().join("out/families.jsonl"));
    assert!(expected.iter().any(|row| row["kind"] == "copy"));
    let mut count = 0;
    for (told, expected) in found.iter().zip(expected) {
        let told = told.unwrap();
        assert_eq!(expected["id"], told.id);
        assert_eq!(expected["original"], told.original);
        assert_eq!(expected["kind"], told.kind.name());
        // The parser may be off in the last bit.
        assert!((expected["resemblance"].as_f64().unwrap() - told.resemblance).abs() < 1e-12);
        count += 1;
    }
    assert_eq!(count, posts.len());
}

#[test]
fn an_iterator_gives_the_clusters_that_files_give() {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let posts = posts();
    write_input(folder.path(), &posts);
    let summary = cluster(&cluster_config(folder.path()), &Unwatched).unwrap();
    let found = clusters_of(stream(&posts), &clusters(), work.path(), &Unwatched).unwrap();
    assert_eq!(found.counts(), summary.clusters);
    let told: Vec<(String, Option<u32>)> = found.iter().map(Result::unwrap).collect();
    assert_eq!(told.len(), posts.len());
    let expected = json_lines(&folder.path().join("out/clusters.jsonl"));
    assert!(!expected.is_empty());
    for line in expected {
        let number = line["cluster"].as_u64().map(|number| number as u32);
        let members: Vec<&str> =
            told.iter().filter(|(_, of)| *of == number).map(|(id, _)| id.as_str()).collect();
        assert_eq!(line["documents"], serde_json::json!(members));
    }
}

#[test]
fn a_folder_with_something_in_it_is_refused_and_left_alone() {
    let work = tempfile::tempdir().unwrap();
    std::fs::write(work.path().join("mine"), "mine").unwrap();
    let error = families_of([], &families(), work.path(), &Unwatched).unwrap_err();
    assert!(matches!(error, ClusterError::NotEmpty { .. }));
    assert!(work.path().join("mine").exists());
}

/// The posts; who takes one after the stop is counted.
fn counted<'a>(
    posts: &'a [Document],
    watcher: &'a StopAt,
    taken_after: &'a AtomicU64,
) -> impl Iterator<Item = StreamDocument> + Send + 'a {
    stream(posts).inspect(|_| {
        taken_after.fetch_add(watcher.stopped.load(Ordering::SeqCst).into(), Ordering::SeqCst);
    })
}

/// Runs `work` with a watcher that stops it at its first, second, ... question until it runs to its
/// end; tells how often it was stopped.
fn stop_everywhere(mut work: impl FnMut(&StopAt) -> Result<(), ClusterError>) -> u64 {
    for at in 0..10_000 {
        let watcher = StopAt::new(at);
        match work(&watcher) {
            Ok(()) => {
                assert!(
                    !watcher.stopped.load(Ordering::SeqCst),
                    "it went on though it was stopped"
                );
                return at;
            }
            Err(error) => assert!(matches!(error, ClusterError::Stopped), "{error:?}"),
        }
    }
    panic!("it asks too often");
}

#[test]
fn a_stopped_stream_takes_no_more_documents_and_leaves_an_empty_folder() {
    let posts = posts();
    let taken_after = AtomicU64::new(0);
    let watched = |watcher: &StopAt, roads: &dyn Fn(&StopAt, &Path) -> Result<(), ClusterError>| {
        let work = tempfile::tempdir().unwrap();
        let result = roads(watcher, work.path());
        let left = std::fs::read_dir(work.path()).unwrap().count();
        assert!(result.is_ok() || left == 0, "{left} files are left");
        result
    };
    // One thread: with several, another may be taking documents while one hears of the stop.
    let one = FamilyConfig { threads: NonZeroUsize::MIN, ..families() };
    let stops = stop_everywhere(|watcher| {
        watched(watcher, &|watcher, folder| {
            families_of(counted(&posts, watcher, &taken_after), &one, folder, watcher).map(|_| ())
        })
    });
    assert!(stops > 5, "{stops}");
    let one = ClusterMethod { threads: NonZeroUsize::MIN, ..clusters() };
    let stops = stop_everywhere(|watcher| {
        watched(watcher, &|watcher, folder| {
            clusters_of(counted(&posts, watcher, &taken_after), &one, folder, watcher).map(|_| ())
        })
    });
    assert!(stops > 5, "{stops}");
    assert_eq!(taken_after.load(Ordering::SeqCst), 0);
}

#[test]
fn stopped_runs_show_nothing_and_the_next_one_ends_as_if_there_had_been_none() {
    let (whole, often) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let posts = posts();
    write_input(whole.path(), &posts);
    write_input(often.path(), &posts);
    dedup(&dedup_config(whole.path()), &Unwatched).unwrap();
    let stops = stop_everywhere(|watcher| {
        let result = dedup(&dedup_config(often.path()), watcher).map(|_| ());
        assert!(result.is_ok() || !often.path().join("out").exists());
        assert!(result.is_ok() || !often.path().join("pairs.tsv").exists());
        result
    });
    assert!(stops > 3, "{stops}");
    for name in ["out/families.jsonl", "out/kept/in.jsonl", "pairs.tsv"] {
        let [one, other] = [&whole, &often].map(|folder| std::fs::read(folder.path().join(name)));
        assert!(one.unwrap() == other.unwrap(), "{name}");
    }
    assert!(!often.path().join("out.partial").exists());
}

#[test]
fn stopped_clusterings_show_nothing_and_the_next_one_ends_as_if_there_had_been_none() {
    let (whole, often) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let posts = posts();
    write_input(whole.path(), &posts);
    write_input(often.path(), &posts);
    cluster(&cluster_config(whole.path()), &Unwatched).unwrap();
    let stops = stop_everywhere(|watcher| {
        let result = cluster(&cluster_config(often.path()), watcher).map(|_| ());
        assert!(result.is_ok() || !often.path().join("out").exists());
        result
    });
    assert!(stops > 5, "{stops}");
    for name in ["clusters.jsonl", "clusters-by-super-shingles.jsonl", "common-shingles.tsv"] {
        let [one, other] =
            [&whole, &often].map(|folder| std::fs::read(folder.path().join("out").join(name)));
        assert!(one.unwrap() == other.unwrap(), "{name}");
    }
    assert!(!often.path().join("out.partial").exists());
}
