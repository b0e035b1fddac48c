//! Disks that fail: power cuts, operations that return errors or at which the program is killed, flipped bits.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was tried is counted and told")]

mod damage;
mod faults;
mod place;
mod power;
#[path = "../site/mod.rs"]
mod site;
#[path = "../support/mod.rs"]
mod support;
