//! A job's record: what it is, how far it is, what came of it; one small file that is whole or old.
//!
//! The file is written under another name, made durable, and renamed over the old one, whose directory
//! is made durable too: after a kill or a power cut there is the record before or the record after,
//! never a part of one. It is written when a job's state changes, before anybody is told, and a few times
//! a second while it runs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use wonbon_cluster::reading::Skipped;

use super::asked::JobAsked;
use crate::json::AddSummary;

/// Where a job's record stands in its directory.
pub(super) const RECORD: &str = "job.json";

/// How a job is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobState {
    /// For its turn.
    Waiting,
    /// At work.
    Running,
    /// Stopped until somebody resumes it.
    Paused,
    /// Finished.
    Done,
    /// Stopped for good, unless somebody resumes it.
    Cancelled,
    /// It could not go on; `error` says why.
    Failed,
}

impl JobState {
    pub(crate) const ALL: [JobState; 6] = [
        JobState::Waiting,
        JobState::Running,
        JobState::Paused,
        JobState::Done,
        JobState::Cancelled,
        JobState::Failed,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            JobState::Waiting => "waiting",
            JobState::Running => "running",
            JobState::Paused => "paused",
            JobState::Done => "done",
            JobState::Cancelled => "cancelled",
            JobState::Failed => "failed",
        }
    }

    /// Whether nothing more happens by itself, nor is anybody expected to let it go on.
    pub(crate) fn is_end(self) -> bool {
        matches!(self, JobState::Done | JobState::Cancelled | JobState::Failed)
    }

    /// Whether it can be resumed.
    pub(crate) fn can_resume(self) -> bool {
        matches!(self, JobState::Paused | JobState::Cancelled | JobState::Failed)
    }
}

/// What was asked of a job that runs and has not heard it yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wanted {
    /// To pause.
    Paused,
    /// To end.
    Cancelled,
}

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct JobProgress {
    /// What it is doing.
    pub(crate) phase: String,
    /// How much of that is done, in the phase's own unit: bytes read, pages asked for.
    pub(crate) done: u64,
    /// How much there is, if that is known.
    pub(crate) total: Option<u64>,
    /// What is counted, by name.
    pub(crate) counts: BTreeMap<String, u64>,
    /// What a person should know, the latest last.
    pub(crate) notes: Vec<String>,
}

/// How much of an import is stored for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Durable {
    /// Pieces of the input.
    pub(crate) pieces: u64,
    /// Bytes of the input's files as they were; a resumed import of other files begins anew.
    pub(crate) input_bytes: u64,
    /// What became of the documents in them.
    pub(crate) summary: AddSummary,
    /// The first rows in them that are no documents.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    pub(crate) skipped_first: Vec<Skipped>,
}

/// What a crawl has gathered after some pages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct CurvePoint {
    /// Pages that came.
    pub(crate) pages: u64,
    /// The part of the PageRank of all known pages that they have; while a crawl runs, the part of
    /// all links that leads to them.
    pub(crate) share: f64,
    /// Sites they are from.
    pub(crate) sites: u64,
}

/// A host as it was asked since the job was started or resumed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct HostCount {
    /// Its name.
    pub(crate) host: String,
    /// Requests that were answered.
    pub(crate) answers: u64,
    /// Bytes of bodies.
    pub(crate) bytes: u64,
    /// Requests that failed, or were answered by a server's error.
    pub(crate) failures: u64,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Failure {
    /// Which address.
    pub(crate) url: String,
    /// Why.
    pub(crate) why: String,
}

/// A site of a crawl that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct CrawledSite {
    /// Its name.
    pub(crate) site: String,
    /// Pages that came.
    pub(crate) pages: u64,
    /// Bytes of their bodies.
    pub(crate) bytes: u64,
    /// The part of the PageRank of all known pages that they have.
    pub(crate) pagerank: f64,
}

/// What only crawls have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct CrawlProgress {
    /// Pages by what came of them.
    pub(crate) outcomes: BTreeMap<String, u64>,
    /// What was gathered page by page.
    pub(crate) curve: Vec<CurvePoint>,
    /// Whether the curve is of the PageRank: when the crawl has ended.
    pub(crate) exact: bool,
    /// Hosts, the most asked first.
    pub(crate) hosts: Vec<HostCount>,
    /// Requests that failed lately, the latest first.
    pub(crate) failures: Vec<Failure>,
    /// Sites, the one with the most pages first; when the crawl has ended.
    pub(crate) sites: Vec<CrawledSite>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub(crate) struct Job {
    /// Its number; its files stand in the directory of this name.
    pub(crate) number: u32,
    /// How it is.
    pub(crate) state: JobState,
    /// What it was asked to become and is not yet.
    pub(crate) wanted: Option<Wanted>,
    /// What it does.
    pub(crate) asked: JobAsked,
    /// Whose token it was started with.
    pub(crate) who: Option<String>,
    /// When it was asked for.
    pub(crate) created: String,
    /// When it began to work, first.
    pub(crate) started: Option<String>,
    /// When it ended, last.
    pub(crate) ended: Option<String>,
    /// How often it went on after it had begun.
    pub(crate) resumed: u32,
    /// Why it failed.
    pub(crate) error: Option<String>,
    /// How far it is.
    pub(crate) progress: JobProgress,
    /// How much of an import is stored for good.
    pub(crate) durable: Option<Durable>,
    /// What only crawls have.
    pub(crate) crawl: Option<CrawlProgress>,
    /// What it came to.
    #[schema(value_type = Option<Object>)]
    pub(crate) result: Option<Value>,
}

impl Job {
    /// Reads the record in a job's directory.
    pub(super) fn read(directory: &Path) -> std::io::Result<Job> {
        let bytes = std::fs::read(directory.join(RECORD))?;
        serde_json::from_slice(&bytes).map_err(std::io::Error::from)
    }

    /// Writes the record, as the module says.
    pub(super) fn write(&self, directory: &Path) -> std::io::Result<()> {
        let partial: PathBuf = directory.join("job.json.partial");
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        let mut file = File::create(&partial)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, directory.join(RECORD))?;
        File::open(directory)?.sync_all()
    }
}
