//! The corpora beside the checkout, where they are.
//!
//! Tests and benchmarks read real texts from `../shared/data`. They are not part of the repository:
//! a test that needs them asks [`corpus`] and, when it answers `None`, says that it was skipped.

use std::path::PathBuf;

/// A file of the shared data, or `None` with a word on standard error where there is none.
#[must_use]
#[allow(clippy::print_stderr)]
pub fn corpus(name: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: the corpus {name} is not beside this checkout");
    None
}
