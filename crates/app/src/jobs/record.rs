//! The record of a job: its request, state, progress and result, in one small file.
//!
//! The file is written under another name, made durable, and renamed over the old one, whose directory
//! is made durable too: after a kill or a power cut the file holds the old record or the new one,
//! never a part of either. It is written before a change of state is reported, and every few seconds while
//! the job runs; after a kill, work that was counted since then is counted again.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wonbon_documents::Skipped;
use wonbon_files::{remove_leftovers, replace};

use crate::answers::AddSummary;
use crate::requests::JobRequest;

/// Where a job's record stands in its directory.
pub(super) const RECORD: &str = "job.json";

/// How a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum JobState {
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
    /// All of them.
    pub const ALL: [JobState; 6] = [
        JobState::Waiting,
        JobState::Running,
        JobState::Paused,
        JobState::Done,
        JobState::Cancelled,
        JobState::Failed,
    ];

    /// The name in records and answers.
    #[must_use]
    pub fn name(self) -> &'static str {
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
    pub fn is_end(self) -> bool {
        matches!(self, JobState::Done | JobState::Cancelled | JobState::Failed)
    }

    /// Whether it can be resumed.
    pub fn can_resume(self) -> bool {
        matches!(self, JobState::Paused | JobState::Cancelled | JobState::Failed)
    }
}

/// What was asked of a job that runs and has not heard it yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    /// To pause.
    Paused,
    /// To end.
    Cancelled,
}

/// How far a job is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobProgress {
    /// What it is doing.
    pub phase: String,
    /// How much of that is done, in the phase's own unit: bytes read, pages asked for.
    pub done: u64,
    /// How much there is, if that is known.
    pub total: Option<u64>,
    /// What is counted, by name.
    pub counts: BTreeMap<String, u64>,
    /// What a person should know, the latest last.
    pub notes: Vec<String>,
}

/// How much of an import is stored for good.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Durable {
    /// Pieces of the input.
    pub pieces: u64,
    /// Bytes of the input's files as they were; a resumed import of other files begins anew.
    pub input_bytes: u64,
    /// What became of the documents in them.
    pub summary: AddSummary,
    /// The first rows in them that are no documents.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Object>))]
    pub skipped_first: Vec<Skipped>,
}

/// What a crawl has gathered after some pages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CurvePoint {
    /// Pages that came.
    pub pages: u64,
    /// The part of the PageRank of all known pages that they have; while a crawl runs, the part of
    /// all links that leads to them.
    pub share: f64,
    /// Sites they are from.
    pub sites: u64,
}

/// A host as it was asked since the job was started or resumed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HostCount {
    /// Its name.
    pub host: String,
    /// Requests that were answered.
    pub answers: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// Requests that failed, or were answered by a server's error.
    pub failures: u64,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Failure {
    /// Which address.
    pub url: String,
    /// Why.
    pub why: String,
}

/// A site of a crawl that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CrawledSite {
    /// Its name.
    pub site: String,
    /// Pages that came.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// The part of the PageRank of all known pages that they have.
    pub pagerank: f64,
}

/// What only crawls have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CrawlProgress {
    /// Pages by what came of them.
    pub outcomes: BTreeMap<String, u64>,
    /// What was gathered page by page.
    pub curve: Vec<CurvePoint>,
    /// Whether the curve is of the PageRank: when the crawl has ended.
    pub exact: bool,
    /// Hosts, the most asked first.
    pub hosts: Vec<HostCount>,
    /// Requests that failed lately, the latest first.
    pub failures: Vec<Failure>,
    /// Sites, the one with the most pages first; when the crawl has ended.
    pub sites: Vec<CrawledSite>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Job {
    /// Its number; its files stand in the directory of this name.
    pub number: u32,
    /// How it is.
    pub state: JobState,
    /// What it was asked to become and is not yet.
    pub wanted: Option<Wanted>,
    /// What it does.
    #[serde(alias = "asked")]
    pub request: JobRequest,
    /// Whose token it was started with.
    pub who: Option<String>,
    /// When it was asked for.
    pub created: String,
    /// When it began to work, first.
    pub started: Option<String>,
    /// When it ended, last.
    pub ended: Option<String>,
    /// How often it went on after it had begun.
    pub resumed: u32,
    /// How often it began to run, lately, without coming to an orderly stop: how many crashes in a row
    /// it saw.
    #[serde(default)]
    pub unfinished_runs: u32,
    /// Why it failed.
    pub error: Option<String>,
    /// How far it is.
    pub progress: JobProgress,
    /// How much of an import is stored for good.
    pub durable: Option<Durable>,
    /// What only crawls have.
    pub crawl: Option<CrawlProgress>,
    /// What it came to.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Object>))]
    pub result: Option<Value>,
}

impl Job {
    /// Reads the record in a job's directory.
    pub(super) fn read(directory: &Path) -> std::io::Result<Job> {
        let bytes = std::fs::read(directory.join(RECORD))?;
        serde_json::from_slice(&bytes).map_err(std::io::Error::from)
    }

    /// Writes the record, as the module says.
    pub(super) fn write(&self, directory: &Path) -> std::io::Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        // Only its job writes a record.
        let path = directory.join(RECORD);
        remove_leftovers(&path);
        replace(&path, &bytes).map_err(|error| error.source)
    }
}
