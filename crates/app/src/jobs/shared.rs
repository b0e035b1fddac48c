//! Records of jobs in a store that several instances share: one instance runs the jobs, and all show how they are.
//!
//! A record is published when it is written to the job's directory, which stays the truth: an instance that runs jobs
//! publishes all of them when it starts. Publishing fails without harm to a job; the next record makes it good.

use std::sync::Arc;

use wonbon_store::{SharedRecords, Store, StoreError};

use super::Job;
use crate::error::AppError;

/// The records of all jobs, as the instance that runs them published them.
#[derive(Debug, Clone)]
pub struct SharedJobs(Arc<SharedRecords>);

impl SharedJobs {
    /// Of a store, if several instances may share it.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn of(store: &Store) -> Result<Option<Self>, StoreError> {
        Ok(store.shared_records("job")?.map(|records| SharedJobs(Arc::new(records))))
    }

    pub(super) fn publish(&self, job: &Job) {
        let published = serde_json::to_string(job)
            .map_err(|error| error.to_string())
            .and_then(|text| self.0.put(job.number, &text).map_err(|error| error.to_string()));
        if let Err(error) = published {
            tracing::warn!(job = job.number, %error, "other instances do not see how a job is");
        }
    }

    /// A job.
    ///
    /// # Errors
    ///
    /// [`AppError::UnknownJob`], or the database's.
    pub fn get(&self, number: u32) -> Result<Job, AppError> {
        let text = self.0.get(number)?.ok_or(AppError::UnknownJob { number })?;
        read(&text).ok_or(AppError::UnknownJob { number })
    }

    /// Up to `most` jobs, the latest first, from below a number on.
    pub(super) fn list(&self, below: Option<u32>, most: usize) -> Result<Vec<Job>, AppError> {
        Ok(self.0.latest(below, most)?.iter().filter_map(|text| read(text)).collect())
    }
}

/// A record, unless another version of the program wrote it so that this one cannot read it.
fn read(text: &str) -> Option<Job> {
    serde_json::from_str(text).ok()
}
