//! Bytes to core text, links, words and shingles.
//!
//! The first half of a document's way: everything that follows (features, sketches, joins, the
//! store) sees only what this crate makes of the bytes, so the online and the batch road agree.

#![warn(unreachable_pub)]

mod block;
mod char_class;
pub mod decode;
pub mod difference;
pub mod extract;
pub mod links;
pub mod shingles;
pub mod simple;
pub mod words;
