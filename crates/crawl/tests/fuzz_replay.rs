//! Feeds the corpus under `fuzz/corpus` to the harnesses of the crawler and its archives.

use std::path::Path;

use wonbon_testkit::harness;

fn replay(target: &str, harness: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).expect("the corpus is in the checkout") {
        let path = entry.expect("the folder can be listed").path();
        harness(&std::fs::read(&path).expect("the file can be read"));
        files += 1;
    }
    assert!(files > 0, "{} is empty", folder.display());
}

#[test]
fn the_corpus_of_canonical_breaks_no_promise() {
    replay("canonical", harness::canonical);
}

#[test]
fn the_corpus_of_robots_breaks_no_promise() {
    replay("robots", harness::robots);
}

#[test]
fn the_corpus_of_sitemap_breaks_no_promise() {
    replay("sitemap", harness::sitemap);
}

#[test]
fn the_corpus_of_warc_breaks_no_promise() {
    replay("warc", harness::warc);
}

#[test]
fn the_corpus_of_webgraph_breaks_no_promise() {
    replay("webgraph", harness::webgraph);
}
