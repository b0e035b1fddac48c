//! Jobs over HTTP: started, listed, watched, paused, resumed, cancelled.
//!
//! What changes a job answers 202 with the job as it is then: a job that runs takes a moment to hear it.
//! Events are server-sent (`text/event-stream`): `state` when the job's state changes, and first of all,
//! `progress` at most four times a second in between, each with the whole job; a comment now and then
//! keeps the connection open. The stream ends behind the state that ends the job, or with the service.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, HeaderValue, LOCATION};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use serde::Deserialize;
use wonbon_app::answers::{JobAnswer, JobList};
use wonbon_app::jobs::{
    ClusterAsked, CrawlAsked, DedupAsked, Entry, ImportAsked, Job, JobAsked, JobState, Jobs,
    JobsQuestion, Wanted,
};

use crate::asked::parameters_sent;
use crate::guard::Who;
use crate::pages;
use crate::problem::{Code, Problem};
use crate::service::Service;
use crate::view::{Reader, Reply, View};

/// At most so often is progress told.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// After so long without news a comment says that the connection is meant to be open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Jobs, the latest first.
#[utoipa::path(
    get,
    path = "/v1/jobs",
    tag = "jobs",
    description = "Jobs, the latest first, with how far they are. Needs a service that was started with `--jobs DIR`, as everything about jobs does.",
    params(JobsQuestion),
    responses((status = 200, body = JobList), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) fn list(service: &Service, asked: JobsQuestion, view: &View) -> Result<Reply, Problem> {
    let jobs = match (service.jobs(), view) {
        (Ok(jobs), _) => jobs,
        (Err(_), View::Page(reader)) => return Ok(pages::no_jobs_page(reader, "/jobs")),
        (Err(problem), View::Json) => return Err(problem),
    };
    let found = asked.ask(jobs)?;
    Ok(match view {
        View::Page(reader) => {
            let next = found.next.as_deref();
            pages::jobs_page(reader, &found.jobs, next, &jobs.input_names(100))
        }
        View::Json => Reply::json(&found.answer()),
    })
}

/// Which job.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct JobQuestion {
    number: u32,
}

/// `/job`: one job, for people.
pub(crate) fn job_page(
    service: &Service,
    asked: JobQuestion,
    reader: &Reader,
) -> Result<Reply, Problem> {
    let job = service.jobs()?.get(asked.number)?.job();
    Ok(pages::job_page(reader, &job))
}

/// Which crawl; the latest if none is said.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CrawlQuestion {
    number: Option<u32>,
}

/// `/crawl`: start one, and watch one.
pub(crate) fn crawl_page(
    service: &Service,
    asked: CrawlQuestion,
    reader: &Reader,
) -> Result<Reply, Problem> {
    let Ok(jobs) = service.jobs() else { return Ok(pages::no_jobs_page(reader, "/crawl")) };
    let crawls: Vec<Job> = jobs
        .list(None)
        .iter()
        .map(|entry| entry.job())
        .filter(|job| job.asked.is_crawl())
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

fn accepted(job: &Job) -> Reply {
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
    request_body(content = JobAsked, content_type = "application/json"),
    responses((status = 202, body = JobAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn start(State(service): State<Arc<Service>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let started = async {
        service.jobs()?;
        let asked: JobAsked = parameters_sent(&service, &parts, body).await?;
        let who = Who::of(&parts).token();
        service
            .answer(move |service| Ok(accepted(&Jobs::start(service.jobs()?, asked, who)?)))
            .await
    };
    started.await.into_response()
}

fn numbered(text: &str) -> Result<u32, Problem> {
    text.parse().map_err(|_| Problem::new(Code::UnknownJob, format!("there is no job `{text}`")))
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
        let job = service.jobs()?.get(numbered(&number)?)?.job();
        Ok(Reply::json(&JobAnswer::of(&job)))
    });
    answered.await.into_response()
}

/// What a person or a program does with a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Change {
    Cancel,
    Pause,
    Resume,
}

impl Change {
    fn make(self, service: &Service, number: u32) -> Result<Job, Problem> {
        let jobs = service.jobs()?;
        Ok(match self {
            Change::Cancel => Jobs::ask(jobs, number, Wanted::Cancelled),
            Change::Pause => Jobs::ask(jobs, number, Wanted::Paused),
            Change::Resume => Jobs::resume(jobs, number),
        }?)
    }
}

async fn changed(service: Arc<Service>, number: String, change: Change) -> Response {
    let answered = service.answer(move |service| {
        service.jobs()?;
        Ok(accepted(&change.make(service, numbered(&number)?)?))
    });
    answered.await.into_response()
}

/// Cancels a job.
#[utoipa::path(
    post,
    path = "/v1/jobs/{number}/cancel",
    tag = "jobs",
    description = "Cancels a job. What it made stays; one that runs stops within a moment, and `wanted` says so until it has.",
    params(("number" = u32, Path, description = "Its number.")),
    responses((status = 202, body = JobAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn cancel(
    State(service): State<Arc<Service>>,
    Path(number): Path<String>,
) -> Response {
    changed(service, number, Change::Cancel).await
}

/// Pauses a job.
#[utoipa::path(
    post,
    path = "/v1/jobs/{number}/pause",
    tag = "jobs",
    description = "Pauses a job until it is resumed, also over restarts of the service. A crawl finishes the requests that are under way.",
    params(("number" = u32, Path, description = "Its number.")),
    responses((status = 202, body = JobAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn pause(
    State(service): State<Arc<Service>>,
    Path(number): Path<String>,
) -> Response {
    changed(service, number, Change::Pause).await
}

/// Resumes a job.
#[utoipa::path(
    post,
    path = "/v1/jobs/{number}/resume",
    tag = "jobs",
    description = "Lets a job go on that was paused or cancelled, or that failed, from where it durably was. A crawl goes on only while no later sweep was added to the store.",
    params(("number" = u32, Path, description = "Its number.")),
    responses((status = 202, body = JobAnswer), (status = "default", body = crate::problem::ProblemJson, description = "a problem", content_type = "application/problem+json"))
)]
pub(crate) async fn resume(
    State(service): State<Arc<Service>>,
    Path(number): Path<String>,
) -> Response {
    changed(service, number, Change::Resume).await
}

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
    let found = service.jobs().and_then(|jobs| Ok(jobs.get(numbered(&number)?)?));
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

/// What a form of a page does: starts a job or changes one, and goes to its page.
async fn posted<P, F>(service: Arc<Service>, request: Request, answer: F) -> Response
where
    P: serde::de::DeserializeOwned + Send + 'static,
    F: FnOnce(&Service, P, Option<String>) -> Result<String, Problem> + Send + 'static,
{
    let (parts, body) = request.into_parts();
    let answered = async {
        let form: P = parameters_sent(&service, &parts, body).await?;
        let who = Who::of(&parts).token();
        service.answer(move |service| Ok(Reply::see_other(&answer(service, form, who)?))).await
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
pub(crate) async fn change_by_form(
    State(service): State<Arc<Service>>,
    request: Request,
) -> Response {
    posted(service, request, |service, form: ChangeForm, _| {
        let job = form.change.make(service, form.number)?;
        let page = if form.crawl { "/crawl" } else { "/job" };
        Ok(format!("{page}?number={}", job.number))
    })
    .await
}

/// A job over files, from a form.
#[derive(Debug, Deserialize)]
struct StartForm {
    kind: String,
    /// A path a line.
    inputs: String,
    #[serde(default)]
    threshold: String,
    #[serde(default)]
    sweep: String,
}

/// What stands on the lines of a field.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// What stands in a field, if something does.
fn filled(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn number<N: std::str::FromStr>(name: &str, text: &str) -> Result<Option<N>, Problem> {
    let Some(text) = filled(text) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        Problem::new(Code::BadParameter, format!("`{name}` is a number, not `{text}`"))
    })
}

/// `POST /jobs`: starts an import, a deduplication or a clustering.
pub(crate) async fn start_by_form(
    State(service): State<Arc<Service>>,
    request: Request,
) -> Response {
    posted(service, request, |service, form: StartForm, who| {
        let inputs = lines(&form.inputs);
        let threshold = number("threshold", &form.threshold)?;
        let asked = match form.kind.as_str() {
            "import" => JobAsked::Import(ImportAsked {
                inputs,
                sweep: filled(&form.sweep),
                ..ImportAsked::default()
            }),
            "dedup" => JobAsked::Dedup(DedupAsked { inputs, threshold, ..DedupAsked::default() }),
            "cluster" => {
                JobAsked::Cluster(ClusterAsked { inputs, threshold, ..ClusterAsked::default() })
            }
            other => {
                let detail = format!("`kind` is import, dedup or cluster, not `{other}`");
                return Err(Problem::new(Code::BadParameter, detail));
            }
        };
        let job = Jobs::start(service.jobs()?, asked, who)?;
        Ok(format!("/job?number={}", job.number))
    })
    .await
}

/// A crawl, from a form.
#[derive(Debug, Deserialize)]
struct CrawlForm {
    /// A seed a line.
    seeds: String,
    #[serde(default)]
    order: String,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    pages: String,
    #[serde(default)]
    delay: String,
    #[serde(default)]
    depth: String,
    #[serde(default)]
    site_pages: String,
    #[serde(default)]
    include: String,
    #[serde(default)]
    exclude: String,
    #[serde(default)]
    agent: String,
    #[serde(default)]
    sweep_of: String,
}

/// `POST /crawl`: starts one.
pub(crate) async fn crawl_by_form(
    State(service): State<Arc<Service>>,
    request: Request,
) -> Response {
    posted(service, request, |service, form: CrawlForm, who| {
        let asked = CrawlAsked {
            seeds: lines(&form.seeds),
            order: filled(&form.order),
            scope: filled(&form.scope),
            pages: number("pages", &form.pages)?,
            delay: number("delay", &form.delay)?,
            depth: number("depth", &form.depth)?,
            site_pages: number("site_pages", &form.site_pages)?,
            include: lines(&form.include),
            exclude: lines(&form.exclude),
            agent: filled(&form.agent),
            sweep_of: number("sweep_of", &form.sweep_of)?,
            ..CrawlAsked::default()
        };
        let job = Jobs::start(service.jobs()?, JobAsked::Crawl(asked), who)?;
        Ok(format!("/crawl?number={}", job.number))
    })
    .await
}
