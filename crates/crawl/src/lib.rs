//! Crawl orderings, virtual crawls, and a polite, crash-safe crawler whose order they decide.

pub mod order;
mod random;
