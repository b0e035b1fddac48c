//! Replays the kept corpus of the fuzz target `sketch_format`.

use std::path::Path;

#[test]
fn the_kept_corpus_of_sketch_format_passes() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/sketch_format");
    let mut replayed = 0;
    for entry in std::fs::read_dir(&corpus).expect("the corpus is in the repository") {
        let path = entry.expect("the corpus can be listed").path();
        let data = std::fs::read(&path).expect("a corpus file can be read");
        wonbon_testkit::harness::sketch_format(&data);
        replayed += 1;
    }
    assert!(replayed >= 10, "only {replayed} files in {}", corpus.display());
}
