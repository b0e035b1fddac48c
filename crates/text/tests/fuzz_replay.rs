//! Feeds the corpus under `fuzz/corpus` to the harnesses: what a fuzzer once found interesting
//! is tried on every plain test run, and inputs
//! made from it.

use wonbon_testkit::fuzz::replay;
use wonbon_testkit::harness;

#[test]
fn the_corpus_of_decode_breaks_no_promise() {
    replay("decode", harness::decode);
}

#[test]
fn the_corpus_of_difference_breaks_no_promise() {
    replay("difference", harness::difference_of_halves);
}

#[test]
fn the_corpus_of_extract_breaks_no_promise() {
    replay("extract", harness::extract);
}

#[test]
fn the_corpus_of_links_breaks_no_promise() {
    replay("links", harness::links);
}

#[test]
fn the_words_corpus_passes() {
    replay("words", harness::words);
}
