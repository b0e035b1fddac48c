//! Jobs in a list, the latest first.

use serde::Deserialize;

use super::{Job, Jobs, SharedJobs};
use crate::answers::{JobList, JobListed};
use crate::cursor::{Cursor, next_of};
use crate::error::AppError;
use crate::parameters::ROWS;

/// Which jobs.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct JobsQuestion {
    /// How many: 20 unless said, at most 1000.
    pub limit: Option<usize>,
    /// Where the list goes on.
    pub cursor: Option<String>,
}

/// A page of jobs.
#[derive(Debug)]
pub struct JobsFound {
    /// The latest first.
    pub jobs: Vec<Job>,
    /// Where the list goes on, if it does.
    pub next: Option<String>,
}

impl JobsQuestion {
    /// Lists them.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`].
    pub fn ask(&self, jobs: &Jobs) -> Result<JobsFound, AppError> {
        self.page(|below, most| {
            Ok(jobs.list(below).iter().take(most).map(|entry| entry.job()).collect())
        })
    }

    /// Lists those of another instance.
    ///
    /// # Errors
    ///
    /// [`AppError::Request`], or the database's.
    pub fn ask_shared(&self, jobs: &SharedJobs) -> Result<JobsFound, AppError> {
        self.page(|below, most| jobs.list(below, most))
    }

    fn page(
        &self,
        list: impl FnOnce(Option<u32>, usize) -> Result<Vec<Job>, AppError>,
    ) -> Result<JobsFound, AppError> {
        let limit = ROWS.of(self.limit)?;
        let below = Cursor::read(self.cursor.as_deref(), 'j')?.map(Cursor::first).transpose()?;
        let mut found = list(below, limit + 1)?;
        let is_more = found.len() > limit;
        found.truncate(limit);
        let next = next_of(is_more, 'j', found.last().map(|job| [u64::from(job.number), 0]));
        Ok(JobsFound { jobs: found, next })
    }
}

impl JobsFound {
    /// As JSON.
    #[must_use]
    pub fn answer(&self) -> JobList<'_> {
        let jobs = self.jobs.iter().map(JobListed::of).collect();
        JobList { jobs, next: self.next.as_deref() }
    }
}
