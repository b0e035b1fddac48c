//! A job as it goes: server-sent events (`text/event-stream`).
//!
//! `state` comes first and whenever the job's state changes, `progress` at most four times a second in
//! between; each holds the whole job. A comment now and then keeps the connection open. The stream ends
//! after the state that ends the job, or with the service.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use wonbon_app::answers::JobAnswer;
use wonbon_app::jobs::{Entry, JobState};

use super::jobs::parse_number;
use crate::service::Service;

/// At most so often is progress told.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// After so long without news a comment says that the connection is meant to be open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Watches a job.
#[utoipa::path(
    get,
    path = "/v1/jobs/{number}/events",
    tag = "jobs",
    description = "Server-sent events: `state` at first and whenever the job's state changes, `progress` in between, each with the whole job as its data. Ends behind the state that ends the job.",
    params(("number" = u32, Path, description = "Its number.")),
    responses((status = 200, body = String, description = "events", content_type = "text/event-stream"), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn events(
    State(service): State<Arc<Service>>,
    Path(number): Path<String>,
) -> Response {
    let found = service.jobs().and_then(|jobs| Ok(jobs.get(parse_number(&number)?)?));
    let entry = match found {
        Ok(entry) => entry,
        Err(problem) => return problem.into_response(),
    };
    let ended = async move { service.ended().await };
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE).text("nothing new");
    let mut response =
        Sse::new(job_events(entry).take_until(ended)).keep_alive(keep_alive).into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// How a job goes, until it has ended. Made when it is read: whoever reads slowly hears less often.
fn job_events(entry: Arc<Entry>) -> impl Stream<Item = Result<Event, axum::Error>> {
    let watching = (entry.watch(), None);
    stream::unfold((entry, watching), |(entry, (mut changes, told))| async move {
        match told {
            Some((state, _)) if JobState::is_end(state) => return None,
            Some(_) => {
                tokio::time::sleep(TELL_EVERY).await;
                // Whoever changes it lives as long as its entry.
                let _ = changes.changed().await;
            }
            None => {}
        }
        changes.mark_unchanged();
        let job = entry.job();
        let now = Some((job.state, job.wanted));
        let name = if told == now { "progress" } else { "state" };
        let event = Event::default().event(name).json_data(JobAnswer::of(&job));
        Some((event, (entry, (changes, now))))
    })
}
