//! Jobs: one, and in a list.

use serde::Serialize;

use crate::jobs::{Job, JobProgress, JobState, Wanted};

/// A job, whole.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobAnswer<'a> {
    /// Where it is asked about.
    pub address: String,
    /// What kind of job.
    pub kind: &'a str,
    /// All that is known of it.
    #[serde(flatten)]
    pub job: &'a Job,
}

impl<'a> JobAnswer<'a> {
    /// Of a job.
    #[must_use]
    pub fn of(job: &'a Job) -> Self {
        JobAnswer { address: address(job), kind: job.request.kind(), job }
    }
}

fn address(job: &Job) -> String {
    format!("/v1/jobs/{}", job.number)
}

/// A job in a list.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobListed<'a> {
    /// Where it is asked about.
    pub address: String,
    /// Its number.
    pub number: u32,
    /// What kind of job.
    pub kind: &'a str,
    /// Its first input or seed, and how many more there are.
    pub about: String,
    /// How it is.
    pub state: JobState,
    /// What it was asked to become and is not yet.
    pub wanted: Option<Wanted>,
    /// Whose token it was started with.
    pub who: Option<&'a str>,
    /// When it was asked for.
    pub created: &'a str,
    /// When it began to work, first.
    pub started: Option<&'a str>,
    /// When it ended, last.
    pub ended: Option<&'a str>,
    /// Why it failed.
    pub error: Option<&'a str>,
    /// How far it is.
    pub progress: &'a JobProgress,
}

impl<'a> JobListed<'a> {
    /// Of a job.
    #[must_use]
    pub fn of(job: &'a Job) -> Self {
        JobListed {
            address: address(job),
            number: job.number,
            kind: job.request.kind(),
            about: job.request.about(),
            state: job.state,
            wanted: job.wanted,
            who: job.who.as_deref(),
            created: &job.created,
            started: job.started.as_deref(),
            ended: job.ended.as_deref(),
            error: job.error.as_deref(),
            progress: &job.progress,
        }
    }
}

/// Jobs, the latest first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobList<'a> {
    /// A page of them.
    pub jobs: Vec<JobListed<'a>>,
    /// Where the list goes on, if it does.
    pub next: Option<&'a str>,
}
