//! Slow, obvious oracles for the crawler.

pub mod robots;
