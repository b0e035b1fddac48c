//! Feeds the corpus of the fuzz target `sketch_format`, and inputs made from it, to its harness.

#[test]
fn the_kept_corpus_of_sketch_format_passes() {
    wonbon_testkit::fuzz::replay("sketch_format", wonbon_testkit::harness::sketch_format);
}
