//! Bytes to core text, links, words and shingles.

pub mod decode;
pub mod extract;
pub mod links;
