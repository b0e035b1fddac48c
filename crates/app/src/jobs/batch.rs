//! Jobs over a corpus: `dedup` and `cluster`. Results go to the folder `out` of the job.
//!
//! Both keep unfinished work beside that folder and resume from there; this module passes their parameters
//! on, records their progress, and cancels them.

use serde::Serialize;
use serde_json::{Value, json};
use wonbon_cluster::ClusterError;
use wonbon_cluster::clustering::cluster as cluster_corpus;
use wonbon_cluster::dedup::dedup as dedup_corpus;
use wonbon_crawl::progress::Control;
use wonbon_documents::ChosenFields;
use wonbon_progress::Progress;

use super::{Entry, Jobs, JobsConfig, Stopped, inputs, sentence, value_without_place};
use crate::requests::{ClusterRequest, DedupRequest, Resources};

/// Tells a job's record how far a run is, and the run when to stop.
pub(super) struct Watcher<'a> {
    entry: &'a Entry,
    control: &'a Control,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(entry: &'a Entry, control: &'a Control) -> Self {
        Watcher { entry, control }
    }
}

impl Progress for Watcher<'_> {
    fn begin(&self, phase: &'static str, total: u64) {
        self.entry.note_progress(|job| {
            phase.clone_into(&mut job.progress.phase);
            job.progress.done = 0;
            job.progress.total = (total > 0).then_some(total);
        });
    }

    fn advance(&self, done: u64) {
        self.entry.note_progress(|job| {
            // Compressed input unpacks to more than its files have.
            job.progress.total = job.progress.total.map(|total| total.max(done));
            job.progress.done = done;
        });
    }

    fn say(&self, sentence: &str) {
        self.entry.note(sentence);
    }

    fn stop_asked(&self) -> bool {
        self.control.is_stopped()
    }
}

/// What a run reads, where it writes and how much it may take.
fn resources(
    jobs: &Jobs,
    entry: &Entry,
    given: &[String],
    fields: &ChosenFields,
) -> Result<Resources, Stopped> {
    let JobsConfig { directory, threads, memory_bytes, part_bytes, .. } = &jobs.config;
    let inputs =
        inputs::resolve(directory, given).map_err(|error| Stopped::Failed(error.to_string()))?;
    let fields = fields
        .names(&inputs, Some(&entry.directory))
        .map_err(|error| Stopped::Failed(sentence(&error, directory)))?;
    Ok(Resources {
        inputs,
        fields,
        output: entry.directory.join("out"),
        threads: *threads,
        memory: *memory_bytes,
        part_bytes: *part_bytes,
    })
}

/// The result of a run: what it returned, or its `summary.json` if the service was killed before the
/// result could be noted.
fn conclude<S: Serialize>(
    jobs: &Jobs,
    entry: &Entry,
    ran: Result<S, ClusterError>,
) -> Result<Value, Stopped> {
    let directory = &jobs.config.directory;
    let mut result = match ran {
        Ok(summary) => json!(summary),
        Err(ClusterError::Stopped) => return Err(Stopped::Asked),
        Err(ClusterError::OutputExists { path }) => {
            let bytes = std::fs::read(path.join("summary.json"))
                .map_err(|error| Stopped::Failed(sentence(&error, directory)))?;
            serde_json::from_slice(&bytes)
                .map_err(|error| Stopped::Failed(sentence(&error, directory)))?
        }
        Err(error) => return Err(Stopped::Failed(sentence(&error, directory))),
    };
    value_without_place(&mut result, directory);
    let counts = ["rows", "documents", "skipped", "families", "compared", "duplicates", "pairs"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), result[name].as_u64()?)))
        .collect();
    entry.note_progress(|job| job.progress.counts = counts);
    Ok(result)
}

pub(super) fn dedup(
    jobs: &Jobs,
    entry: &Entry,
    request: &DedupRequest,
    control: &Control,
) -> Result<Value, Stopped> {
    let resources = resources(jobs, entry, &request.inputs, &request.fields)?;
    let config = request.config(resources).map_err(|error| Stopped::Failed(error.to_string()))?;
    conclude(jobs, entry, dedup_corpus(&config, &Watcher::new(entry, control)))
}

pub(super) fn cluster(
    jobs: &Jobs,
    entry: &Entry,
    request: &ClusterRequest,
    control: &Control,
) -> Result<Value, Stopped> {
    let resources = resources(jobs, entry, &request.inputs, &request.fields)?;
    let config = request.config(resources).map_err(|error| Stopped::Failed(error.to_string()))?;
    conclude(jobs, entry, cluster_corpus(&config, &Watcher::new(entry, control)))
}
