//! Bytes to core text, links, words and shingles.
//!
//! Everything that follows (features, sketches, joins, the store) sees only what this crate makes of the bytes, so stores
//! and batch runs agree.

#![warn(unreachable_pub)]

mod block;
mod char_class;
pub mod decode;
pub mod difference;
pub mod extract;
pub mod links;
pub mod shingles;
pub mod simple;
pub mod site;
pub mod words;
