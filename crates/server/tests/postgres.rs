//! The service on a store in PostgreSQL: the tests of routes and pages that ask for no directory, and what several instances on one
//! store have in common. Without PostgreSQL's programs the former run on directories and the latter say that they were
//! skipped.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

#[path = "service/api.rs"]
mod api;
#[path = "service/bad_input.rs"]
mod bad_input;
#[path = "service/decisions.rs"]
mod decisions;
#[path = "service/hardening.rs"]
mod hardening;
#[path = "service/instances.rs"]
mod instances;
#[path = "service/pages.rs"]
mod pages;
#[path = "service/support.rs"]
mod support;
