//! Fuzz harnesses as ordinary functions: bytes in, a panic when a promise is broken. The targets
//! under `fuzz/` call them, and each crate's `fuzz_replay` test feeds them the kept corpus.

pub mod decode;
pub mod extract;
pub mod links;
