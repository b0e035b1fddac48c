//! Feeds the corpus under `fuzz/corpus` to the harnesses of the crawler and its archives.

use wonbon_testkit::fuzz::replay;
use wonbon_testkit::harness;

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
