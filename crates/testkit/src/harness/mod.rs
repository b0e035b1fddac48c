//! Fuzz harnesses: ordinary functions of bytes that panic when a promise is broken.
//!
//! Each is called by the fuzz target of its name under `fuzz/` and, with the kept corpus, by plain
//! tests.

#[cfg(feature = "crawl")]
mod canonical;
mod decode;
mod difference;
mod extract;
mod links;
#[cfg(feature = "crawl")]
mod robots;
#[cfg(feature = "crawl")]
mod sitemap;
mod sketch_format;
#[cfg(feature = "crawl")]
mod warc;
#[cfg(feature = "crawl")]
mod webgraph;
mod words;

#[cfg(feature = "crawl")]
pub use canonical::canonical;
pub use decode::decode;
pub use difference::difference_of_halves;
pub use extract::extract;
pub use links::links;
#[cfg(feature = "crawl")]
pub use robots::robots;
#[cfg(feature = "crawl")]
pub use sitemap::sitemap;
pub use sketch_format::sketch_format;
#[cfg(feature = "crawl")]
pub use warc::warc;
#[cfg(feature = "crawl")]
pub use webgraph::webgraph;
pub use words::words;
