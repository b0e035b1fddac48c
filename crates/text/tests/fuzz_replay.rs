//! Feeds the corpus under `fuzz/corpus` to the harnesses: what a fuzzer once found interesting
//! is tried on every plain test run.

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
fn the_corpus_of_decode_breaks_no_promise() {
    replay("decode", harness::decode);
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
