//! Slow, obvious oracles for the crawler, and a web to crawl.

pub mod robots;
pub mod toy_web;
