//! Crawl orderings, virtual crawls, and a polite, crash-safe crawler whose order they decide.

pub mod addresses;
mod before;
pub mod canonical;
pub mod crawl;
mod engine;
mod error;
pub mod fetch;
pub mod frontier;
pub mod graph;
pub mod guard;
mod keeping;
pub mod link_graph;
pub mod log;
pub mod order;
pub mod pattern;
pub mod plan;
pub mod politeness;
pub mod progress;
mod random;
mod reading;
pub mod records;
pub mod report;
pub mod robots;
pub mod scope;
pub mod sink;
pub mod sitemap;
mod state;
pub mod traps;
pub mod virtual_crawl;

pub use error::CrawlError;
