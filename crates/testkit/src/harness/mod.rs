//! Fuzz harnesses: ordinary functions of bytes that panic when an invariant is broken.
//!
//! Each is called by the fuzz target of its name and, with the kept corpus, by plain tests.

mod sketch_format;
mod words;

pub use sketch_format::sketch_format;
pub use words::words;
