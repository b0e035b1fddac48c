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
//! | [`crawl_sink`] | the store as the place where a crawl's pages go |
//! | [`import`] | files into a store |
//! | [`jobs`] | work that takes longer than a request |
//! | [`parameters`] | limits and defaults of what is asked |
//! | [`tokens`] | who may use the service |
//!
//! Not here: HTTP, flags, pages, printing.

pub mod answers;
pub mod compare;
pub mod crawl_sink;
mod error;
pub mod import;
pub mod jobs;
pub mod parameters;
pub mod tokens;

pub use error::{AppError, JobsError, RequestError, public_sentence};
