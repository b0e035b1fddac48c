//! Feeds the corpus of the fuzz target for files of tokens, and inputs made from it, to its harness.

#[path = "../../../fuzz/harness/tokens.rs"]
mod harness;

#[test]
fn no_file_of_tokens_breaks_a_promise() {
    wonbon_testkit::fuzz::replay("tokens", harness::tokens);
}
