//! A job as the service holds it: its record, the handle that stops it, and who is woken when it changes.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use wonbon_crawl::progress::Control;

use super::SharedJobs;
use super::record::Job;

/// How often counters of a job that runs are written, with two syncs each time.
const WRITE_COUNTERS_EVERY: Duration = Duration::from_secs(3);

/// How often it is written how far the durable part of a job's work is: what is lost of it is done again
/// after a kill.
const WRITE_DURABLE_EVERY: Duration = Duration::from_millis(250);

/// Notes that are kept of a job.
const NOTES: usize = 20;

/// A job as the service holds it.
pub struct Entry {
    pub(super) directory: PathBuf,
    shared: Option<SharedJobs>,
    held: Mutex<Held>,
    /// Counts changes; whoever watches is woken by it.
    changes: watch::Sender<u64>,
}

/// What changes of a job.
pub(super) struct Held {
    pub(super) job: Job,
    /// Stops the run it is in; a new one for each.
    pub(super) control: Control,
    written: Instant,
}

impl Entry {
    pub(super) fn new(directory: PathBuf, job: Job, shared: Option<SharedJobs>) -> Self {
        let held = Held { job, control: Control::default(), written: Instant::now() };
        let entry =
            Entry { directory, shared, held: Mutex::new(held), changes: watch::channel(0).0 };
        entry.publish(&entry.hold().job);
        entry
    }

    /// Shows other instances how the job is.
    fn publish(&self, job: &Job) {
        if let Some(shared) = &self.shared {
            shared.publish(job);
        }
    }

    pub(super) fn hold(&self) -> MutexGuard<'_, Held> {
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

    fn notify(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Notes how far the job is; written to disk now and then.
    pub(super) fn note_progress(&self, change: impl FnOnce(&mut Job)) {
        self.note_every(WRITE_COUNTERS_EVERY, change);
    }

    /// Notes that more of the job's work is durable. A job that gets on is not the cause of crashes.
    pub(super) fn note_durable(&self, change: impl FnOnce(&mut Job)) {
        self.note_every(WRITE_DURABLE_EVERY, |job| {
            change(job);
            job.unfinished_runs = job.unfinished_runs.min(1);
        });
    }

    fn note_every(&self, every: Duration, change: impl FnOnce(&mut Job)) {
        let mut held = self.hold();
        change(&mut held.job);
        if held.written.elapsed() >= every {
            held.written = Instant::now();
            self.write(&held.job);
        }
        drop(held);
        self.notify();
    }

    /// Changes the job's state: durable before anybody sees it.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut Job) -> T) -> std::io::Result<T> {
        self.change_and_control(change, |_| ())
    }

    /// Changes the job's state and tells the run it is in: durable first, then told, then seen. Whoever
    /// sees that a job pauses can rely on its run having been told.
    pub(super) fn change_and_control<T>(
        &self,
        change: impl FnOnce(&mut Job) -> T,
        tell: impl FnOnce(&Control),
    ) -> std::io::Result<T> {
        let mut held = self.hold();
        let mut job = held.job.clone();
        let changed = change(&mut job);
        job.write(&self.directory)?;
        tell(&held.control);
        held.job = job;
        self.publish(&held.job);
        drop(held);
        self.notify();
        Ok(changed)
    }

    fn write(&self, job: &Job) {
        if let Err(error) = job.write(&self.directory) {
            tracing::warn!(job = job.number, %error, "the record of a job could not be written");
        }
        self.publish(job);
    }

    /// Keeps a sentence that a person should read.
    pub(super) fn note(&self, sentence: &str) {
        self.note_progress(|job| {
            let notes = &mut job.progress.notes;
            notes.push(sentence.to_owned());
            let first = notes.len().saturating_sub(NOTES);
            notes.drain(..first);
        });
    }
}
