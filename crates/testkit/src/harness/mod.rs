//! Fuzz harnesses: ordinary functions of bytes that panic when an invariant is broken.
//!
//! Each is called by the fuzz target of its name and, with the kept corpus, by plain tests.

mod words;

pub use words::words;
