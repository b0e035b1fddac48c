//! Jobs: work that takes longer than a request. Importing files into the store, deduplicating or clustering
//! a corpus, crawling.
//!
//! Job N has a directory of its own, N below the directory the service was started with. It holds the
//! job's record (`job.json`), its results, and what is needed to resume it. Each job runs on its own thread, a
//! few at a time; the others wait, and the lowest number is next. Crawls run one after another, because
//! each is a sweep of the store and sweeps are added in order: a crawl waits until no other crawl runs or
//! is paused.
//!
//! Pausing, cancelling and the end of the service all stop a job the same way: it stops at a place from
//! which it can be resumed, and its record says which of the three it was. After a restart, clean or not,
//! jobs that were running are resumed:
//!
//! | kind | is resumed |
//! |---|---|
//! | import | after the last piece of the input whose documents are all stored; what is read twice is unchanged |
//! | dedup, cluster | after the last finished part, by the marks in their run folder |
//! | crawl | where its log ends; requests that were under way are made again |
//!
//! A job that ran during three crashes in a row fails with that reason, because it may be their cause: it
//! would otherwise end the service again after every start. A person can still resume it.
//!
//! Guarantees: an acknowledged job is in its directory; its result does not depend on how often it was
//! interrupted; what it made stays when it is cancelled. Jobs read and write their directory and the store
//! and nothing else, and no crawl reaches an address that whoever started the service did not allow.
//!
//! Not here: what may be asked of a job (`requests`), jobs over HTTP (`wonbon-server`).

mod batch;
mod crawl;
mod entry;
mod hosts;
mod import;
mod inputs;
mod list;
mod record;
mod schedule;
mod shared;

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use serde_json::Value;
use wonbon_cluster::corpus::PART_BYTES;
use wonbon_crawl::guard::Guard;
use wonbon_files::create_private_directory;
use wonbon_store::{Store, StoreError};
use wonbon_time::Timestamp;

use crate::error::{AppError, JobsError, public_sentence};
use crate::requests::JobRequest;

pub use entry::Entry;
pub use list::{JobsFound, JobsQuestion};
pub use record::{
    CrawlProgress, CrawledSite, CurvePoint, Durable, Failure, HostCount, Job, JobProgress,
    JobState, Wanted,
};
pub use shared::SharedJobs;

/// A job that ran during so many crashes in a row is not begun again by itself: it may be their cause.
const MOST_CRASHES: u32 = 3;

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

/// All jobs.
pub struct Jobs {
    config: JobsConfig,
    store: Store,
    /// Where other instances see them.
    shared: Option<SharedJobs>,
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
        let shared = SharedJobs::of(&store).map_err(JobsError::Store)?;
        let mut table = Table::default();
        for entry in std::fs::read_dir(&directory).map_err(io("read", &directory))? {
            let entry = entry.map_err(io("read", &directory))?;
            let number = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
            let Some(number) = number else { continue };
            match Job::read(&entry.path()) {
                Ok(mut job) => {
                    job.number = number;
                    settle_after_restart(&mut job);
                    if job.state == JobState::Failed && job.unfinished_runs > 0 {
                        job.write(&entry.path()).map_err(io("write", &entry.path()))?;
                    }
                    let entry = Entry::new(entry.path(), job, shared.clone());
                    table.jobs.insert(number, Arc::new(entry));
                }
                Err(error) => {
                    tracing::warn!(job = number, %error, "the record of a job cannot be read");
                }
            }
        }
        let jobs = Arc::new(Jobs { config, store, shared, table: Mutex::new(table), _lock: lock });
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

    /// Jobs by kind and state.
    pub fn counts(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        let mut counts = BTreeMap::new();
        for kind in JobRequest::KINDS {
            for state in JobState::ALL {
                counts.insert((kind, state.name()), 0);
            }
        }
        for entry in self.table().jobs.values() {
            let held = entry.hold();
            *counts.entry((held.job.request.kind(), held.job.state.name())).or_default() += 1;
        }
        counts
    }

    /// What all crawls together have counted, and how many pages wait in those that run.
    pub fn crawl_counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
        for entry in self.table().jobs.values() {
            let held = entry.hold();
            if !held.job.request.is_crawl() {
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

/// Sets the state of a job whose service ended while it ran.
fn settle_after_restart(job: &mut Job) {
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
