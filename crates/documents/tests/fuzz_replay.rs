//! Feeds the corpus of the fuzz target for Parquet files, and inputs made from it, to its harness.

#[path = "../../../fuzz/harness/parquet.rs"]
mod harness;

#[test]
fn no_parquet_file_breaks_a_promise() {
    wonbon_testkit::fuzz::replay("parquet", harness::parquet);
}
