//! Jobs for people: the pages of jobs and crawls, and the forms on them.
//!
//! A form fills the same request as the JSON of a program ([`crate::forms`]); what it starts or changes is
//! then shown on the page of the job.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use wonbon_app::AppError;
use wonbon_app::jobs::{Job, Jobs};
use wonbon_app::requests::JobRequest;

use super::jobs::{Change, job_anywhere};
use crate::forms::{Fields, field, request_from};
use crate::guard::Who;
use crate::inquiry::Inquiry;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::request::parameters_sent;
use crate::service::Service;
use crate::view::{Reader, Reply};

/// Fields of a form that are no part of the request.
const ASIDE: [&str; 2] = ["form", "kind"];

/// Which job.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct JobQuestion {
    number: u32,
}

/// `/job`: one job, for people.
pub(crate) fn job_page(
    service: &Inquiry,
    asked: JobQuestion,
    reader: &Reader,
) -> Result<Reply, Problem> {
    let job = job_anywhere(service, asked.number)?;
    Ok(pages::job_page(reader, &job, service.jobs().is_ok()))
}

/// Which crawl; the latest if none is said.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CrawlQuestion {
    number: Option<u32>,
}

/// `/crawl`: start one, and watch one.
pub(crate) fn crawl_page(
    service: &Inquiry,
    asked: CrawlQuestion,
    reader: &Reader,
) -> Result<Reply, Problem> {
    let Ok(jobs) = service.jobs() else { return Ok(pages::no_jobs_page(reader, "/crawl")) };
    let crawls: Vec<Job> = jobs
        .list(None)
        .iter()
        .map(|entry| entry.job())
        .filter(|job| job.request.is_crawl())
        .collect();
    let shown = match asked.number {
        Some(number) => {
            let found = crawls.iter().find(|job| job.number == number);
            let unknown = || Problem::new(Code::UnknownJob, format!("there is no crawl {number}"));
            Some(found.ok_or_else(unknown)?)
        }
        None => crawls.first(),
    };
    Ok(pages::crawl_page(reader, shown, &crawls))
}

/// Does what a form asks for and goes to the page that shows it.
async fn submit<F>(service: Arc<Service>, request: Request, act: F) -> Response
where
    F: FnOnce(&Service, Fields, Option<String>) -> Result<String, Problem> + Send + 'static,
{
    let (parts, body) = request.into_parts();
    let answered = async {
        let fields: Fields = parameters_sent(&service, &parts, body).await?;
        let who = Who::of(&parts).token();
        service.act(move |service| Ok(Reply::see_other(&act(service, fields, who)?))).await
    };
    answered.await.into_response()
}

/// A change of a job, from a form.
#[derive(Debug, Deserialize)]
struct ChangeForm {
    number: u32,
    change: Change,
    /// Whether the form stands on the page of crawls.
    #[serde(default)]
    crawl: bool,
}

/// `POST /job`: cancels, pauses or resumes one.
pub(crate) async fn change_job(State(service): State<Arc<Service>>, request: Request) -> Response {
    submit(service, request, |service, fields, _| {
        let form: ChangeForm = request_from(&fields, &ASIDE)?;
        let job = form.change.make(service, form.number)?;
        let page = if form.crawl { "/crawl" } else { "/job" };
        Ok(format!("{page}?number={}", job.number))
    })
    .await
}

/// `POST /jobs`: starts an import, a deduplication or a clustering.
pub(crate) async fn start_job(State(service): State<Arc<Service>>, request: Request) -> Response {
    submit(service, request, |service, fields, who| {
        if field(&fields, "inputs").is_empty() {
            return Err(AppError::NoInputs.into());
        }
        let job = match field(&fields, "kind") {
            "import" => JobRequest::Import(request_from(&fields, &ASIDE)?),
            "dedup" => JobRequest::Dedup(request_from(&fields, &ASIDE)?),
            "cluster" => JobRequest::Cluster(request_from(&fields, &ASIDE)?),
            other => {
                let detail = format!("`kind` is import, dedup or cluster, not `{other}`");
                return Err(Problem::new(Code::BadParameter, detail));
            }
        };
        let job = Jobs::start(service.jobs()?, job, who)?;
        Ok(format!("/job?number={}", job.number))
    })
    .await
}

/// `POST /crawl`: starts one.
pub(crate) async fn start_crawl(State(service): State<Arc<Service>>, request: Request) -> Response {
    submit(service, request, |service, fields, who| {
        let crawl = JobRequest::Crawl(request_from(&fields, &ASIDE)?);
        let job = Jobs::start(service.jobs()?, crawl, who)?;
        Ok(format!("/crawl?number={}", job.number))
    })
    .await
}
