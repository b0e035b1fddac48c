//! Feeds the corpus of the fuzz target for queries, and inputs made from it, to its harness.

#[path = "../../../fuzz/harness/query.rs"]
mod harness;

#[test]
fn no_query_breaks_a_promise() {
    wonbon_testkit::fuzz::replay("query", harness::query);
}
