//! What the comparison of extractors and the program that learns the model share: pages with their
//! true texts, which of them are learned from, and the score.

pub mod data;
pub mod score;
pub mod split;
