//! Jobs for programs: started, listed, paused, resumed, cancelled.
//!
//! What changes a job answers 202 with the job as it is then: a running job takes a moment to stop.
//!
//! Not here: events (`job_events`), forms and pages (`job_forms`).

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{HeaderValue, LOCATION};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use wonbon_app::answers::{JobAnswer, JobList};
use wonbon_app::jobs::{Job, Jobs, JobsQuestion, Wanted};
use wonbon_app::requests::JobRequest;

use crate::guard::Who;
use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::request::parameters_sent;
use crate::service::Service;
use crate::view::{Reply, View};

/// Jobs, the latest first.
#[utoipa::path(
    get,
    path = "/v1/jobs",
    tag = "jobs",
    description = "Jobs, the latest first, with how far they are. Needs a service that was started with `--jobs DIR`, as everything about jobs does. Instances on one PostgreSQL show the jobs of the one that was.",
    params(JobsQuestion),
    responses((status = 200, body = JobList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn list(service: &Inquiry, asked: JobsQuestion, view: &View) -> Result<Reply, Problem> {
    let (found, inputs) = match (service.jobs(), &service.jobs_elsewhere, view) {
        (Ok(jobs), ..) => (asked.ask(jobs)?, Some(jobs.input_names(100))),
        (Err(_), Some(elsewhere), _) => (asked.ask_shared(elsewhere)?, None),
        (Err(_), None, View::Page(reader)) => return Ok(pages::no_jobs_page(reader, "/jobs")),
        (Err(problem), None, View::Json) => return Err(problem),
    };
    Ok(match view {
        View::Page(reader) => {
            let next = found.next.as_deref();
            pages::jobs_page(reader, &found.jobs, next, inputs.as_deref())
        }
        View::Json => Reply::json(&found.answer()),
    })
}

fn reply_accepted(job: &Job) -> Reply {
    let answer = JobAnswer::of(job);
    let location = HeaderValue::from_str(&answer.address).expect("it has plain letters");
    Reply::json(&answer).with_status(StatusCode::ACCEPTED).with_header(LOCATION, location)
}

/// Starts a job.
#[utoipa::path(
    post,
    path = "/v1/jobs",
    tag = "jobs",
    description = "Starts a job: `import` files into the store, `dedup` or `cluster` a corpus, or `crawl`. Files are named by their path below the folder `in` of the jobs' directory; results are written to the directory of the job's number there. The job is durable when the answer comes, and runs when there is room. A crawl asks public addresses only, and those named with `--allow-private` when the service was started.",
    request_body(content = JobRequest, content_type = "application/json"),
    responses((status = 202, body = JobAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn start(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let started = async {
        service.jobs()?;
        let job: JobRequest = parameters_sent(&service, &parts, body).await?;
        let who = Who::of(&parts).token();
        service
            .act(move |service| Ok(reply_accepted(&Jobs::start(service.jobs()?, job, who)?)))
            .await
    };
    started.await.into_response()
}

pub(super) fn parse_number(text: &str) -> Result<u32, Problem> {
    text.parse().map_err(|_| Problem::new(Code::UnknownJob, format!("there is no job `{text}`")))
}

/// A job of this instance, or, where it has none, of the one on the same store that has.
pub(super) fn job_anywhere(service: &Service, number: u32) -> Result<Job, Problem> {
    match (service.jobs(), &service.jobs_elsewhere) {
        (Ok(jobs), _) => Ok(jobs.get(number)?.job()),
        (Err(_), Some(elsewhere)) => Ok(elsewhere.get(number)?),
        (Err(problem), None) => Err(problem),
    }
}

/// Shows a job.
#[utoipa::path(
    get,
    path = "/v1/jobs/{number}",
    tag = "jobs",
    description = "A job: what it was asked, how it is, how far it is, what came of it.",
    params(("number" = u32, Path, description = "Its number.")),
    responses((status = 200, body = JobAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn get_one(
    State(service): State<Arc<Service>>,
    Path(number): Path<String>,
) -> Response {
    let answered = service.answer(move |service| {
        let job = job_anywhere(service, parse_number(&number)?)?;
        Ok(Reply::json(&JobAnswer::of(&job)))
    });
    answered.await.into_response()
}

/// What a person or a program does with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Change {
    Cancel,
    Pause,
    Resume,
}

impl Change {
    pub(super) fn make(self, service: &Service, number: u32) -> Result<Job, Problem> {
        let jobs = service.jobs()?;
        Ok(match self {
            Change::Cancel => Jobs::stop(jobs, number, Wanted::Cancelled),
            Change::Pause => Jobs::stop(jobs, number, Wanted::Paused),
            Change::Resume => Jobs::resume(jobs, number),
        }?)
    }
}

async fn change(service: Arc<Service>, number: String, change: Change) -> Response {
    let answered = service.act(move |service| {
        service.jobs()?;
        Ok(reply_accepted(&change.make(service, parse_number(&number)?)?))
    });
    answered.await.into_response()
}

/// A route for each change that can be asked of a job.
macro_rules! changes {
    ($($(#[doc = $doc:literal])+ $function:ident $path:literal $change:ident $description:literal;)+) => {
        $(
            $(#[doc = $doc])+
            #[utoipa::path(
                post,
                path = $path,
                tag = "jobs",
                description = $description,
                params(("number" = u32, Path, description = "Its number.")),
                responses((status = 202, body = JobAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
            )]
            pub(crate) async fn $function(
                State(service): State<Arc<Service>>,
                Path(number): Path<String>,
            ) -> Response {
                change(service, number, Change::$change).await
            }
        )+
    };
}

changes! {
    /// Cancels a job.
    cancel "/v1/jobs/{number}/cancel" Cancel "Cancels a job. What it made stays; one that runs stops within a moment, and `wanted` says so until it has.";
    /// Pauses a job.
    pause "/v1/jobs/{number}/pause" Pause "Pauses a job until it is resumed, also over restarts of the service. A crawl finishes the requests that are under way.";
    /// Resumes a job.
    resume "/v1/jobs/{number}/resume" Resume "Resumes a paused, cancelled or failed job from where it durably was. A crawl can be resumed only while no later sweep was added to the store.";
}
