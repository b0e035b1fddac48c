//! What the program and the service both do, between the libraries and the edges.
//!
//! `wonbon add` and `POST /v1/documents`, `wonbon compare` and `GET /v1/compare`, a flag and a JSON field
//! of the same name: each is decided here once. The program parses flags, calls this crate and prints;
//! the service parses requests, calls this crate and renders.
//!
//! | module | is |
//! |---|---|
//! | [`answers`] | every answer as JSON: what `--json` prints and what the service sends |
//! | [`compare`] | two documents side by side |
//! | [`crawl`] | a crawl into a store, and what it came to |
//! | [`import`] | files into a store |
//! | [`intake`] | one document into a store: the only way |
//! | [`jobs`] | work that takes longer than a request |
//! | [`collapse`] | ranked results with near-copies behind the best-ranked one |
//! | [`questions`] | what is asked of a store, checked once |
//! | [`parameters`] | limits and defaults of what is asked |
//! | [`tokens`] | who may use the service |
//!
//! Not here: HTTP, flags, pages, printing.

pub mod answers;
pub mod collapse;
pub mod compare;
pub mod crawl;
mod cursor;
mod error;
pub mod import;
pub mod intake;
pub mod jobs;
pub mod parameters;
pub mod questions;
pub mod tokens;

pub use error::{AppError, JobsError, RequestError, public_sentence};
