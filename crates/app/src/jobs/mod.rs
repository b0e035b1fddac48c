//! Jobs: work that takes longer than a request. Files into the store, a corpus deduplicated or clustered,
//! a crawl.
//!
//! Everything of job N stands in the directory N below the one the service was started with: its record
//! (`job.json`), its results, and what it needs to go on. A job runs on a thread of its own, a few at a
//! time; the others wait for their turn, the lowest number first. Crawls go one after another, since each
//! is a sweep of the store and sweeps are added in order: a crawl waits until no other runs or is paused.
//!
//! Pausing, cancelling and the end of the service all stop a job the same way: it comes to an end at a
//! place from which it can go on, and its record says which of the three it was. After a restart,
//! whether the service ended cleanly or was killed, jobs that ran go on where they durably were:
//!
//! | kind | goes on |
//! |---|---|
//! | import | behind the last piece of the input whose documents are all stored; what is read twice is unchanged |
//! | dedup, cluster | behind the last finished part, by their own marks |
//! | crawl | where its log ends; requests that were under way are made again |
//!
//! A job that ran during three crashes in a row fails with that reason, because it may be their cause: it
//! would otherwise end the service again after every start. Whoever knows better resumes it.
//!
//! Guarantees: a job that was acknowledged is in its directory; its result does not depend on how often it
//! was interrupted; what it made stays when it is cancelled. Nothing here reads or writes outside the
//! jobs' directory but the store, and no crawl reaches an address that whoever started the service did
//! not allow.
//!
//! Not here: how jobs are asked for and shown over HTTP (`wonbon-server`).

mod batch;
mod crawl;
mod hosts;
mod import;
mod inputs;
mod list;
mod record;
mod request;

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use wonbon_cluster::corpus::PART_BYTES;
use wonbon_crawl::guard::Guard;
use wonbon_crawl::progress::Control;
use wonbon_files::{create_new_private_directory, create_private_directory, sync_directory};
use wonbon_store::{Store, StoreError};
use wonbon_time::Timestamp;

use crate::error::{AppError, JobsError, public_sentence};

pub use list::{JobsFound, JobsQuestion};
pub use record::{
    CrawlProgress, CrawledSite, CurvePoint, Durable, Failure, HostCount, Job, JobProgress,
    JobState, Wanted,
};
pub use request::{
    ClusterAsked, CrawlAsked, DedupAsked, FieldsAsked, ImportAsked, JobAsked, USUAL_PAGES,
};

/// Jobs that may be there without having ended.
const MOST_OPEN: usize = 1000;

/// How often the record of a job that runs is written, with two syncs each time.
const WRITE_EVERY: Duration = Duration::from_secs(3);

/// A job that ran during so many crashes in a row is not begun again by itself: it may be their cause.
const MOST_CRASHES: u32 = 3;

/// Notes that are kept of a job.
const NOTES: usize = 20;

/// Where jobs are, and what they may take.
#[derive(Debug, Clone)]
pub struct JobsConfig {
    /// Their directory; inputs are in its folder `in`.
    pub directory: PathBuf,
    /// How many run at a time, from 1 to 4. Two: a crawl mostly waits, and leaves room for another.
    pub at_once: usize,
    /// Threads that a job reads with. Half of the machine's, so that questions are answered meanwhile.
    pub threads: NonZeroUsize,
    /// Bytes of memory that a job over a corpus stays within.
    pub memory_bytes: u64,
    /// Bytes of a corpus between two places where a job can go on.
    pub part_bytes: u64,
    /// Which addresses crawls may ask: the public ones, and those named at start.
    pub guard: Guard,
}

impl JobsConfig {
    /// As usual, in a directory.
    #[must_use]
    pub fn new(directory: PathBuf) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        JobsConfig {
            directory,
            at_once: 2,
            threads: NonZeroUsize::new(cores / 2).unwrap_or(NonZeroUsize::MIN),
            memory_bytes: 1 << 30,
            part_bytes: PART_BYTES,
            guard: Guard::default(),
        }
    }
}

/// Why a job came to no result.
enum Stopped {
    /// Somebody asked it to stop; it can go on.
    Asked,
    /// It could not go on, in a sentence.
    Failed(String),
}

/// An error and its causes in a sentence, without saying where the jobs' directory is.
fn sentence(error: &dyn std::error::Error, directory: &Path) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    without_place(&text, directory)
}

/// A store's error as a job's end.
fn store_failed(error: &StoreError) -> Stopped {
    Stopped::Failed(public_sentence(error).unwrap_or_else(|| {
        tracing::error!(%error, "a job could not store");
        "the log of the service says more".to_owned()
    }))
}

/// A text without the place of the jobs' directory, which is an absolute path.
fn without_place(text: &str, directory: &Path) -> String {
    text.replace(&format!("{}/", directory.display()), "")
}

/// The same for everything a result says.
fn value_without_place(value: &mut Value, directory: &Path) {
    match value {
        Value::String(text) => *text = without_place(text, directory),
        Value::Array(values) => {
            values.iter_mut().for_each(|value| value_without_place(value, directory));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| value_without_place(value, directory));
        }
        _ => {}
    }
}

/// A job as the service holds it.
pub struct Entry {
    directory: PathBuf,
    held: Mutex<Held>,
    /// Counts changes; whoever watches is woken by it.
    changes: watch::Sender<u64>,
}

struct Held {
    job: Job,
    /// Stops the run it is in; a new one for each.
    control: Control,
    written: Instant,
}

impl Entry {
    fn new(directory: PathBuf, job: Job) -> Self {
        let held = Held { job, control: Control::default(), written: Instant::now() };
        Entry { directory, held: Mutex::new(held), changes: watch::channel(0).0 }
    }

    fn hold(&self) -> MutexGuard<'_, Held> {
        self.held.lock().expect("nobody panics with it")
    }

    /// The job as it is now.
    pub fn job(&self) -> Job {
        self.hold().job.clone()
    }

    /// Wakes at every change.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Notes how far the job is; written to disk now and then.
    fn progress(&self, change: impl FnOnce(&mut Job)) {
        let mut held = self.hold();
        change(&mut held.job);
        if held.written.elapsed() >= WRITE_EVERY {
            held.written = Instant::now();
            self.written(&held.job);
        }
        drop(held);
        self.changed();
    }

    /// Changes the job's state: durable before anybody sees it.
    fn change<T>(&self, change: impl FnOnce(&mut Job) -> T) -> std::io::Result<T> {
        let mut held = self.hold();
        let mut job = held.job.clone();
        let told = change(&mut job);
        job.write(&self.directory)?;
        held.job = job;
        drop(held);
        self.changed();
        Ok(told)
    }

    fn written(&self, job: &Job) {
        if let Err(error) = job.write(&self.directory) {
            tracing::warn!(job = job.number, %error, "the record of a job could not be written");
        }
    }

    fn note(&self, sentence: &str) {
        self.progress(|job| {
            let notes = &mut job.progress.notes;
            notes.push(sentence.to_owned());
            let first = notes.len().saturating_sub(NOTES);
            notes.drain(..first);
        });
    }
}

/// All jobs.
pub struct Jobs {
    config: JobsConfig,
    store: Store,
    table: Mutex<Table>,
    /// Held while the service runs: two must not work in one directory.
    _lock: File,
}

#[derive(Default)]
struct Table {
    jobs: BTreeMap<u32, Arc<Entry>>,
    running: BTreeMap<u32, JoinHandle<()>>,
    is_ending: bool,
}

impl Jobs {
    /// Opens the directory of jobs and lets those go on that ran when the service ended.
    pub fn open(mut config: JobsConfig, store: Store) -> Result<Arc<Self>, JobsError> {
        let io = |doing: &'static str, path: &Path| {
            let path = path.to_owned();
            move |source| JobsError::Io { doing, path, source }
        };
        let folder = config.directory.join(inputs::FOLDER);
        create_private_directory(&folder).map_err(|error| io("create", &folder)(error.source))?;
        let directory =
            std::fs::canonicalize(&config.directory).map_err(io("find", &config.directory))?;
        config.directory.clone_from(&directory);
        let path = directory.join("lock");
        let Some(lock) = wonbon_files::lock::take(&path).map_err(io("lock", &path))? else {
            return Err(JobsError::InUse { path: directory });
        };
        let mut table = Table::default();
        for entry in std::fs::read_dir(&directory).map_err(io("read", &directory))? {
            let entry = entry.map_err(io("read", &directory))?;
            let number = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
            let Some(number) = number else { continue };
            match Job::read(&entry.path()) {
                Ok(mut job) => {
                    job.number = number;
                    restarted(&mut job);
                    if job.state == JobState::Failed && job.unfinished_runs > 0 {
                        job.write(&entry.path()).map_err(io("write", &entry.path()))?;
                    }
                    table.jobs.insert(number, Arc::new(Entry::new(entry.path(), job)));
                }
                Err(error) => {
                    tracing::warn!(job = number, %error, "the record of a job cannot be read");
                }
            }
        }
        let jobs = Arc::new(Jobs { config, store, table: Mutex::new(table), _lock: lock });
        Jobs::schedule(&jobs);
        Ok(jobs)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect("nobody panics with it")
    }

    /// Names of inputs for people to choose from.
    pub fn input_names(&self, most: usize) -> Vec<String> {
        inputs::names(&self.config.directory, most)
    }

    /// A job.
    pub fn get(&self, number: u32) -> Result<Arc<Entry>, AppError> {
        self.table().jobs.get(&number).cloned().ok_or(AppError::UnknownJob { number })
    }

    /// Jobs, the latest first, from below a number on.
    pub fn list(&self, below: Option<u32>) -> Vec<Arc<Entry>> {
        let table = self.table();
        let end = below.unwrap_or(u32::MAX);
        table.jobs.range(..end).rev().map(|(_, entry)| entry.clone()).collect()
    }

    /// Starts a job: durable when this comes back.
    pub fn start(jobs: &Arc<Self>, asked: JobAsked, who: Option<String>) -> Result<Job, AppError> {
        asked.check()?;
        match &asked {
            JobAsked::Crawl(asked) => jobs.check_crawl(asked)?,
            other => drop(inputs::resolved(&jobs.config.directory, other.inputs())?),
        }
        let failed = storing_failed;
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
            crawl: asked.is_crawl().then(CrawlProgress::default),
            asked,
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
        table.jobs.insert(number, Arc::new(Entry::new(place, job.clone())));
        drop(table);
        tracing::info!(job = number, kind = job.asked.kind(), "a job was started");
        Jobs::schedule(jobs);
        Ok(job)
    }

    /// Asks a job to pause or to end; what it was asked is durable when this comes back.
    pub fn ask(jobs: &Arc<Self>, number: u32, wanted: Wanted) -> Result<Job, AppError> {
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
        entry
            .change(|job| match becomes {
                Some(state) => {
                    job.state = state;
                    job.ended = state.is_end().then(|| Timestamp::now().to_string());
                }
                // Who wants it to end does not want less.
                None if job.wanted == Some(Wanted::Cancelled) => {}
                None => job.wanted = Some(wanted),
            })
            .map_err(storing_failed)?;
        if becomes.is_none() {
            let control = entry.hold().control.clone();
            match wanted {
                Wanted::Paused => control.stop(),
                Wanted::Cancelled => control.let_go(),
            }
        }
        drop(table);
        Jobs::schedule(jobs);
        Ok(entry.job())
    }

    /// Lets a job go on that was paused, cancelled or failed.
    pub fn resume(jobs: &Arc<Self>, number: u32) -> Result<Job, AppError> {
        let entry = jobs.get(number)?;
        let job = entry.job();
        if !job.state.can_resume() {
            return Err(AppError::WrongState { number, state: job.state });
        }
        if job.asked.is_crawl() && job.started.is_some() {
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
                    job.unfinished_runs = 0;
                    job.wanted = None;
                    job.error = None;
                    job.ended = None;
                }
                can
            })
            .map_err(storing_failed)?;
        drop(table);
        if !resumed {
            return Err(AppError::WrongState { number, state: entry.job().state });
        }
        Jobs::schedule(jobs);
        Ok(entry.job())
    }

    /// Begins as many jobs as may run.
    fn schedule(jobs: &Arc<Self>) {
        let mut table = jobs.table();
        while !table.is_ending && table.running.len() < jobs.config.at_once.clamp(1, 4) {
            let crawl_goes_on = table.jobs.values().any(|entry| {
                let held = entry.hold();
                held.job.asked.is_crawl()
                    && matches!(held.job.state, JobState::Running | JobState::Paused)
            });
            let next = table.jobs.iter().find(|(_, entry)| {
                let held = entry.hold();
                held.job.state == JobState::Waiting && !(crawl_goes_on && held.job.asked.is_crawl())
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
        let (number, asked, control) = {
            let held = entry.hold();
            (held.job.number, held.job.asked.clone(), held.control.clone())
        };
        let ran = catch_unwind(AssertUnwindSafe(|| match &asked {
            JobAsked::Import(asked) => import::run(jobs, entry, asked, &control),
            JobAsked::Dedup(asked) => batch::dedup(jobs, entry, asked, &control),
            JobAsked::Cluster(asked) => batch::cluster(jobs, entry, asked, &control),
            JobAsked::Crawl(asked) => crawl::run(jobs, entry, asked, &control),
        }));
        let ran = ran.unwrap_or_else(|_| {
            Err(Stopped::Failed("a defect ended it; the log of the service says more".to_owned()))
        });
        let mut table = jobs.table();
        let is_ending = table.is_ending;
        let ended = entry.change(|job| {
            let wanted = job.wanted.take();
            job.unfinished_runs = 0;
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
                if let_go { control.let_go() } else { control.stop() }
            }
            table.running.is_empty()
        };
        let mut let_go = false;
        while !stop(let_go) && begun.elapsed() < most {
            let_go = begun.elapsed() > most / 2;
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Jobs by kind and state.
    pub fn counts(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        let mut counts = BTreeMap::new();
        for kind in JobAsked::KINDS {
            for state in JobState::ALL {
                counts.insert((kind, state.name()), 0);
            }
        }
        for entry in self.table().jobs.values() {
            let held = entry.hold();
            *counts.entry((held.job.asked.kind(), held.job.state.name())).or_default() += 1;
        }
        counts
    }

    /// What all crawls together have counted, and how many pages wait in those that run.
    pub fn crawl_counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        for entry in self.table().jobs.values() {
            let held = entry.hold();
            if !held.job.asked.is_crawl() {
                continue;
            }
            for name in ["pages", "bytes", "errors", "copies", "waiting"] {
                let count = held.job.progress.counts.get(name).copied().unwrap_or(0);
                let counts_now = name != "waiting" || held.job.state == JobState::Running;
                *counts.entry(name).or_default() += if counts_now { count } else { 0 };
            }
        }
        counts
    }
}

/// A record could not be written: nothing was changed.
fn storing_failed(source: std::io::Error) -> AppError {
    AppError::Record { source }
}

/// What a job becomes whose service ended under it.
fn restarted(job: &mut Job) {
    if job.state == JobState::Running {
        job.state = match job.wanted.take() {
            None if job.unfinished_runs >= MOST_CRASHES => {
                job.error = Some(format!(
                    "the service crashed {MOST_CRASHES} times in a row while this job ran; it is not \
                     begun again by itself"
                ));
                job.ended = Some(Timestamp::now().to_string());
                JobState::Failed
            }
            None => JobState::Waiting,
            Some(Wanted::Paused) => JobState::Paused,
            Some(Wanted::Cancelled) => JobState::Cancelled,
        };
    }
}
