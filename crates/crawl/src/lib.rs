//! Crawl orderings, virtual crawls, and a polite, crash-safe crawler whose order they decide.

pub mod graph;
pub mod order;
mod random;
pub mod virtual_crawl;
