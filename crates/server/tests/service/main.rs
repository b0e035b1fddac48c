//! The service as programs and people meet it: the real router without connections, and real servers
//! with them.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stdout, reason = "what was skipped is told")]

mod api;
mod api_reference;
mod bad_input;
mod crowd;
mod damaged_crawls;
mod decisions;
mod full_disk;
mod fuzz_replay;
mod golden;
mod hardening;
mod jobs;
mod kills;
mod pages;
mod problems;
mod process;
mod stopped_jobs;
mod support;
