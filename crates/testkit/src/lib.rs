//! Generators and slow, obvious oracles for Wonbon's tests and benchmarks.
//!
//! Nothing here is fast and nothing here is clever: an oracle is worth having only as long as a
//! reader can see at a glance that it is right. Unpublished.

#![warn(unreachable_pub)]

pub mod cluster;
pub mod corpora;
pub mod crawl;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod disk;
pub mod fuzz;
pub mod generate;
#[cfg(feature = "golden")]
pub mod golden;
pub mod harness;
pub mod join;
pub mod long;
pub mod passages;
pub mod platform_pages;
#[cfg(unix)]
pub mod postgres;
pub mod sketch;
pub mod text;
