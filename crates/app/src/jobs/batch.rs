//! Jobs over a corpus: deduplicated, or clustered. Results go to the folder `out` of the job.
//!
//! Both keep what is unfinished beside it and go on from there by themselves; here they get their
//! parameters, are watched, and are asked to stop.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Value, json};
use wonbon_cluster::ClusterError;
use wonbon_cluster::clustering::{ClusterConfig, ClusterMethod, cluster as cluster_corpus};
use wonbon_cluster::dedup::{DedupConfig, dedup as dedup_corpus};
use wonbon_crawl::progress::Control;
use wonbon_documents::{FieldNames, Limits, Progress};

use super::request::{ClusterAsked, DedupAsked, FieldsAsked};
use super::{Entry, Jobs, Stopped, inputs, sentence, value_without_place};

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
        self.entry.progress(|job| {
            phase.clone_into(&mut job.progress.phase);
            job.progress.done = 0;
            job.progress.total = (total > 0).then_some(total);
        });
    }

    fn advance(&self, done: u64) {
        self.entry.progress(|job| {
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

/// What both need.
struct Prepared {
    inputs: Vec<PathBuf>,
    output: PathBuf,
    fields: FieldNames,
}

fn prepared(
    jobs: &Jobs,
    entry: &Entry,
    given: &[String],
    fields: &FieldsAsked,
) -> Result<Prepared, Stopped> {
    let directory = &jobs.config.directory;
    let inputs =
        inputs::resolved(directory, given).map_err(|error| Stopped::Failed(error.to_string()))?;
    let fields = fields
        .chosen()
        .names(&inputs, Some(&entry.directory))
        .map_err(|error| Stopped::Failed(sentence(&error, directory)))?;
    Ok(Prepared { inputs, output: entry.directory.join("out"), fields })
}

/// What a run came to: told by it, or, if the service was killed before that could be noted, by its
/// own summary.
fn concluded<S: Serialize>(
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
    entry.progress(|job| job.progress.counts = counts);
    Ok(result)
}

pub(super) fn dedup(
    jobs: &Jobs,
    entry: &Entry,
    asked: &DedupAsked,
    control: &Control,
) -> Result<Value, Stopped> {
    let Prepared { inputs, output, fields } = prepared(jobs, entry, &asked.inputs, &asked.fields)?;
    let mut method = asked.method().map_err(|error| Stopped::Failed(error.to_string()))?;
    method.threads = jobs.config.threads;
    method.memory = jobs.config.memory_bytes;
    let config = DedupConfig {
        inputs,
        output,
        fields,
        dates: asked.dates().map_err(|error| Stopped::Failed(error.to_string()))?,
        method,
        pairs: None,
        annotate: asked.annotate,
        strict: false,
        limits: Limits::default(),
        against: Vec::new(),
        part_bytes: jobs.config.part_bytes,
        save_sketches: false,
    };
    concluded(jobs, entry, dedup_corpus(&config, &Watcher::new(entry, control)))
}

pub(super) fn cluster(
    jobs: &Jobs,
    entry: &Entry,
    asked: &ClusterAsked,
    control: &Control,
) -> Result<Value, Stopped> {
    let Prepared { inputs, output, fields } = prepared(jobs, entry, &asked.inputs, &asked.fields)?;
    let (threshold, policy) =
        asked.last_phase().map_err(|error| Stopped::Failed(error.to_string()))?;
    let config = ClusterConfig {
        inputs,
        output,
        fields,
        dates: asked.dates().map_err(|error| Stopped::Failed(error.to_string()))?,
        method: ClusterMethod {
            threshold,
            policy,
            threads: jobs.config.threads,
            memory: jobs.config.memory_bytes,
            ..ClusterMethod::default()
        },
        super_shingles: None,
        part_bytes: jobs.config.part_bytes,
        strict: false,
        limits: Limits::default(),
    };
    concluded(jobs, entry, cluster_corpus(&config, &Watcher::new(entry, control)))
}
