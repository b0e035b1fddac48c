//! Feeds the corpus of the fuzz target for snapshots, and inputs made from it, to its harness.

#[path = "../../../fuzz/harness/snapshot.rs"]
mod harness;

#[test]
fn no_snapshot_breaks_a_promise() {
    wonbon_testkit::fuzz::replay("snapshot", harness::snapshot);
}
