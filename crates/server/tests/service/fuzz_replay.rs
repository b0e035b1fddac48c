//! Feeds the corpus of the fuzz target for requests, and inputs made from it, to its harness.

#[path = "../../../../fuzz/harness/request.rs"]
mod harness;

#[test]
fn no_request_breaks_a_promise() {
    wonbon_testkit::fuzz::replay("request", harness::request);
    harness::end();
}
