//! The life of jobs: started, stopped, resumed, run on threads, ended with the service.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wonbon_crawl::progress::Control;
use wonbon_files::{create_new_private_directory, sync_directory};
use wonbon_time::Timestamp;

use super::entry::Entry;
use super::record::{CrawlProgress, Job, JobProgress, JobState, Wanted};
use super::{Jobs, Stopped, batch, crawl, import, inputs};
use crate::error::AppError;
use crate::requests::JobRequest;

/// Jobs that may be there without having ended.
const MOST_OPEN: usize = 1000;

impl Jobs {
    /// Starts a job: durable when this comes back.
    pub fn start(
        jobs: &Arc<Self>,
        request: JobRequest,
        who: Option<String>,
    ) -> Result<Job, AppError> {
        request.check()?;
        match &request {
            JobRequest::Crawl(request) => jobs.check_crawl(request)?,
            other => drop(inputs::resolve(&jobs.config.directory, other.inputs())?),
        }
        let failed = record_error;
        let mut table = jobs.table();
        if table.is_ending {
            return Err(AppError::Ending);
        }
        let is_open = |entry: &Arc<Entry>| !entry.hold().job.state.is_end();
        if table.jobs.values().filter(|entry| is_open(entry)).count() >= MOST_OPEN {
            return Err(AppError::TooManyJobs { most: MOST_OPEN });
        }
        let directory = &jobs.config.directory;
        let mut number = table.jobs.last_key_value().map_or(1, |(last, _)| last + 1);
        let place = loop {
            let place = directory.join(number.to_string());
            match create_new_private_directory(&place) {
                Ok(()) => break place,
                // One whose record cannot be read, or one that a kill left without a record.
                Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => {
                    number += 1;
                }
                Err(error) => return Err(failed(error.source)),
            }
        };
        let job = Job {
            number,
            state: JobState::Waiting,
            wanted: None,
            crawl: request.is_crawl().then(CrawlProgress::default),
            request,
            who,
            created: Timestamp::now().to_string(),
            started: None,
            ended: None,
            resumed: 0,
            unfinished_runs: 0,
            error: None,
            progress: JobProgress::default(),
            durable: None,
            result: None,
        };
        job.write(&place).map_err(failed)?;
        // The name of the job's directory is durable when the directory above is.
        sync_directory(directory).map_err(|error| failed(error.source))?;
        table.jobs.insert(number, Arc::new(Entry::new(place, job.clone(), jobs.shared.clone())));
        drop(table);
        tracing::info!(job = number, kind = job.request.kind(), "a job was started");
        Jobs::schedule(jobs);
        Ok(job)
    }

    /// Asks a job to pause or to end; the wish is durable when this comes back.
    pub fn stop(jobs: &Arc<Self>, number: u32, wanted: Wanted) -> Result<Job, AppError> {
        // With the table in hand, so that nothing begins to run meanwhile.
        let table = jobs.table();
        let entry = table.jobs.get(&number).cloned();
        let entry = entry.ok_or(AppError::UnknownJob { number })?;
        let state = entry.hold().job.state;
        let becomes = match (state, wanted) {
            (JobState::Running, _) => None,
            (JobState::Waiting, Wanted::Paused) => Some(JobState::Paused),
            (JobState::Waiting | JobState::Paused, Wanted::Cancelled) => Some(JobState::Cancelled),
            _ => return Err(AppError::WrongState { number, state }),
        };
        let change = |job: &mut Job| match becomes {
            Some(state) => {
                job.state = state;
                job.ended = state.is_end().then(|| Timestamp::now().to_string());
            }
            // Who wants it to end does not want less.
            None if job.wanted == Some(Wanted::Cancelled) => {}
            None => job.wanted = Some(wanted),
        };
        let tell = |control: &Control| match (becomes, wanted) {
            (Some(_), _) => {}
            (None, Wanted::Paused) => control.stop(),
            (None, Wanted::Cancelled) => control.abandon_requests(),
        };
        entry.change_and_control(change, tell).map_err(record_error)?;
        drop(table);
        Jobs::schedule(jobs);
        Ok(entry.job())
    }

    /// Resumes a paused, cancelled or failed job.
    pub fn resume(jobs: &Arc<Self>, number: u32) -> Result<Job, AppError> {
        let entry = jobs.get(number)?;
        let job = entry.job();
        if !job.state.can_resume() {
            return Err(AppError::WrongState { number, state: job.state });
        }
        if job.request.is_crawl() && job.started.is_some() {
            jobs.check_sweep(&entry.directory)?;
        }
        let table = jobs.table();
        if table.is_ending {
            return Err(AppError::Ending);
        }
        let resumed = entry
            .change(|job| {
                let can = job.state.can_resume();
                if can {
                    job.state = JobState::Waiting;
                    job.wanted = None;
                    job.error = None;
                    job.ended = None;
                    job.unfinished_runs = 0;
                }
                can
            })
            .map_err(record_error)?;
        drop(table);
        if !resumed {
            return Err(AppError::WrongState { number, state: entry.job().state });
        }
        Jobs::schedule(jobs);
        Ok(entry.job())
    }

    /// Begins as many jobs as may run.
    pub(super) fn schedule(jobs: &Arc<Self>) {
        let mut table = jobs.table();
        while !table.is_ending && table.running.len() < jobs.config.at_once.clamp(1, 4) {
            let crawl_goes_on = table.jobs.values().any(|entry| {
                let held = entry.hold();
                held.job.request.is_crawl()
                    && matches!(held.job.state, JobState::Running | JobState::Paused)
            });
            let next = table.jobs.iter().find(|(_, entry)| {
                let held = entry.hold();
                held.job.state == JobState::Waiting
                    && !(crawl_goes_on && held.job.request.is_crawl())
            });
            let Some((&number, entry)) = next else { break };
            let entry = entry.clone();
            entry.hold().control = Control::default();
            let began = entry.change(|job| {
                job.state = JobState::Running;
                job.unfinished_runs += 1;
                match job.started {
                    None => job.started = Some(Timestamp::now().to_string()),
                    Some(_) => job.resumed += 1,
                }
            });
            let spawned = began.and_then(|()| {
                let (jobs, entry) = (jobs.clone(), entry.clone());
                let name = format!("wonbon-job-{number}");
                std::thread::Builder::new().name(name).spawn(move || Jobs::run(&jobs, &entry))
            });
            match spawned {
                Ok(thread) => {
                    table.running.insert(number, thread);
                }
                Err(error) => {
                    tracing::error!(job = number, %error, "a job could not begin");
                    let mut held = entry.hold();
                    held.job.state = JobState::Failed;
                    held.job.error = Some("it could not begin: the log says more".to_owned());
                }
            }
        }
    }

    /// The life of a job's thread.
    fn run(jobs: &Arc<Self>, entry: &Arc<Entry>) {
        let (number, request, control) = {
            let held = entry.hold();
            (held.job.number, held.job.request.clone(), held.control.clone())
        };
        let ran = catch_unwind(AssertUnwindSafe(|| match &request {
            JobRequest::Import(request) => import::run(jobs, entry, request, &control),
            JobRequest::Dedup(request) => batch::dedup(jobs, entry, request, &control),
            JobRequest::Cluster(request) => batch::cluster(jobs, entry, request, &control),
            JobRequest::Crawl(request) => crawl::run(jobs, entry, request, &control),
        }));
        let ran = ran.unwrap_or_else(|_| {
            Err(Stopped::Failed("a defect ended it; the log of the service says more".to_owned()))
        });
        let mut table = jobs.table();
        let is_ending = table.is_ending;
        let ended = entry.change(|job| {
            let wanted = job.wanted.take();
            job.state = match (ran, wanted) {
                (Ok(result), _) => {
                    job.result = Some(result);
                    JobState::Done
                }
                // The store ended under it, or it failed at the very end: it tries again.
                (Err(Stopped::Failed(_)), None) if is_ending => JobState::Running,
                (Err(Stopped::Failed(error)), _) => {
                    tracing::warn!(job = number, error, "a job failed");
                    job.error = Some(error);
                    JobState::Failed
                }
                (Err(Stopped::Asked), Some(Wanted::Paused)) => JobState::Paused,
                (Err(Stopped::Asked), Some(Wanted::Cancelled)) => JobState::Cancelled,
                // The service ends; the job goes on when it is started again.
                (Err(Stopped::Asked), None) => JobState::Running,
            };
            job.ended = job.state.is_end().then(|| Timestamp::now().to_string());
            job.unfinished_runs = 0;
            job.state
        });
        match ended {
            Ok(state) => tracing::info!(job = number, state = state.name(), "a job stopped"),
            // It goes on when the service is started again.
            Err(error) => tracing::error!(job = number, %error, "a job's end could not be noted"),
        }
        table.running.remove(&number);
        drop(table);
        if !is_ending {
            Jobs::schedule(jobs);
        }
    }

    /// Asks all jobs to stop, and waits for them: they go on when the service is started again. Requests of
    /// crawls that are under way after half of the time are let go.
    pub fn end(&self, most: Duration) {
        let begun = Instant::now();
        let stop = |let_go: bool| {
            let mut table = self.table();
            table.is_ending = true;
            for number in table.running.keys() {
                let control = table.jobs[number].hold().control.clone();
                if let_go { control.abandon_requests() } else { control.stop() }
            }
            table.running.is_empty()
        };
        let mut let_go = false;
        while !stop(let_go) && begun.elapsed() < most {
            let_go = begun.elapsed() > most / 2;
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A record could not be written: nothing was changed.
fn record_error(source: std::io::Error) -> AppError {
    AppError::Record { source }
}
