//! Fuzz harnesses: ordinary functions of bytes that panic when a promise is broken.
//!
//! Each is called by the fuzz target of its name under `fuzz/` and, with the kept corpus, by plain
//! tests.

mod decode;
mod extract;
mod links;
mod sketch_format;
mod words;

pub use decode::decode;
pub use extract::extract;
pub use links::links;
pub use sketch_format::sketch_format;
pub use words::words;
