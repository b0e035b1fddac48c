//! Crawl orderings, virtual crawls, and a polite, crash-safe crawler whose order they decide.

pub mod canonical;
pub mod guard;
pub mod order;
pub mod pattern;
pub mod robots;
pub mod scope;
pub mod sitemap;
pub mod traps;
