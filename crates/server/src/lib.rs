//! The service and its pages: the store and the questions over HTTP, for programs and for people.
//!
//! One process over one store. [`Server::bind`] listens, [`Server::run`] serves until it is told to end:
//!
//! | under | is |
//! |---|---|
//! | `/v1` | the API: JSON in and out, problems by stable codes ([`Code`]), described at `/v1/openapi.json` |
//! | `/`, `/search`, … | pages; their `.json` twins redirect to `/v1` |
//! | `/healthz`, `/readyz`, `/metrics` | for whoever keeps it running |
//!
//! A question is answered by one function whether a program or a person asks, and its JSON ([`wonbon_app::answers`])
//! is what `wonbon … --json` prints. Routes are one table (`routes`), so that scopes, counters and the
//! description cannot be forgotten for one. Adds go to the store's one writer without a thread each
//! (`adding`); everything else that takes time runs on a bounded number of threads (`service`).
//!
//! Guarantees: what was acknowledged is durable; when the service ends, what is on its way is acknowledged
//! or refused. What comes from documents or requests never becomes markup. Without tokens only this
//! machine is listened to, and other sites' pages cannot make a browser ask.
//!
//! Not here: what a question or a job does (`wonbon-app`), what is stored and decided (`wonbon-store`), how a corpus is worked through
//! (`wonbon-cluster`), how pages are fetched (`wonbon-crawl`), TLS.

mod adding;
mod answer_budget;
mod answer_threads;
mod api;
mod body_budget;
mod connection;
mod document_request;
mod forms;
mod guard;
mod inquiry;
mod json_address;
mod listen;
mod logging;
mod messages;
mod metrics;
mod open_files;
mod openapi;
mod pages;
mod problem;
mod rate;
mod reasons;
mod request;
mod routes;
mod service;
mod view;

pub use listen::Server;
pub use logging::{LogFormat, start_logging};
pub use problem::{Code, Problem};
pub use rate::Rate;
pub use service::{Config, Limits, ServerError};

/// A router over a store, and what ends it: for tests that need no connection.
///
/// # Errors
///
/// As [`Server::bind`].
#[doc(hidden)]
pub fn router_for_tests(
    store: wonbon_store::Store,
    config: Config,
) -> Result<(axum::Router, tokio::sync::watch::Sender<bool>), ServerError> {
    let (end, ending) = tokio::sync::watch::channel(false);
    let service = service::Service::new(store, 0.0, config, &routes::table(), ending)?;
    Ok((routes::router(std::sync::Arc::new(service)), end))
}
