//! Crawl orderings, virtual crawls, and a polite, crash-safe crawler whose order they decide.

#![warn(unreachable_pub)]

mod addresses;
pub mod canonical;
pub mod crawl;
mod engine;
mod error;
pub mod fetch;
mod frontier;
pub mod graph;
pub mod guard;
pub mod link_graph;
pub mod log;
pub mod order;
mod page_reader;
pub mod pattern;
pub mod plan;
mod politeness;
mod previous_sweep;
pub mod progress;
mod random;
pub mod records;
pub mod report;
pub mod robots;
pub mod scope;
pub mod sink;
pub mod sitemap;
mod state;
pub mod traps;
pub mod virtual_crawl;
mod writer;

pub use error::CrawlError;
