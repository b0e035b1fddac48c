//! The contract of a store, on PostgreSQL: the same tests as on directories (see `support`).

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::duplicate_mod, reason = "each file is a test binary of its own as well")]

mod support;

#[path = "decisions.rs"]
mod decisions;
#[path = "history.rs"]
mod history;
#[path = "labelled_sweeps.rs"]
mod labelled_sweeps;
#[path = "listing.rs"]
mod listing;
#[path = "model.rs"]
mod model;
#[path = "questions.rs"]
mod questions;
#[path = "streams.rs"]
mod streams;
#[path = "sweeps.rs"]
mod sweeps;
#[path = "threads.rs"]
mod threads;
