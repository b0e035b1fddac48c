//! The clustering of the 1997 paper: a collection is clustered by its sketches.
//!
//! Broder, Glassman, Manasse and Zweig, "Syntactic Clustering of the Web". The phases are theirs:
//!
//! | phase | what it does |
//! |---|---|
//! | sketch | every document to its modulus sketch (m 25, shingles of 10 words, 40 bits) |
//! | duplicates | identical, lexically equivalent and shingle-equivalent documents are set aside |
//! | shingle merge | <shingle, ID> sorted in parts and merged |
//! | pair formation | every shingle in several documents becomes <ID, ID, 1>; very common ones do not |
//! | pair merge | <ID, ID, count> sorted and added up in parts and merged |
//! | clusters | union-find over the pairs that reach the threshold; what was set aside comes back |
//!
//! The last phase reads the merged pairs and nothing else, so that [`cluster_again`] repeats it at
//! another threshold or policy. The super-shingle variant needs no pairs: documents that share one
//! super-shingle are one cluster.
//!
//! Deviations from the paper: sizes of sketches do not count ignored shingles, so that a page is not
//! less like its twin because both carry a common footer; a document whose sketch is empty (a sample
//! of one in 25 of few shingles) is clustered with documents of the same words only.
//!
//! Memory: four bytes a document for union-find, about 24 while duplicates are set aside; the rest is
//! sorted in parts of what is given. Estimates, not exact values: the standard error at resemblance r
//! and n sampled shingles is the square root of r (1 - r) / n.

mod cluster_files;
mod components;
mod lookups;
mod pairs;
mod sampling;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wonbon_documents::{Dates, FieldNames, Inputs, Limits, Progress, Skipped, Unwatched};
use wonbon_sketch::{ModulusMaker, ModulusParams, Seed, Width, super_shingles};

use crate::corpus::{Corpus, CorpusSource};
use crate::error::{ClusterError, io};
use crate::keep::Keep;
use crate::order::{NOBODY, Representatives};
use crate::progress::{PhaseClock, PhaseTime};
use crate::run_folder::{self, FINISHED_BEFORE, RunFolder, begin_again_if_damaged};
use crate::union_find::UnionFind;
use cluster_files::{CLUSTERS, LOOKUPS, write_addresses, write_clusters};
use components::{find_components, join_by_super_shingles};
use pairs::{MERGED_PAIRS, Merged};

pub(crate) use components::number_clusters;
pub use lookups::Lookups;

/// When two documents belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Their resemblance reaches the threshold.
    #[default]
    Resemblance,
    /// One contains the other to the threshold, whichever it is.
    Containment,
    /// The later document contains the earlier one to the threshold.
    ContainmentOfEarlier,
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The text names no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write resemblance, containment or containment-of-earlier")]
pub struct NotAPolicy;

impl FromStr for Policy {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Self, NotAPolicy> {
        [Policy::Resemblance, Policy::Containment, Policy::ContainmentOfEarlier]
            .into_iter()
            .find(|policy| policy.word() == text)
            .ok_or(NotAPolicy)
    }
}

impl Policy {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Policy::Resemblance => "resemblance",
            Policy::Containment => "containment",
            Policy::ContainmentOfEarlier => "containment-of-earlier",
        }
    }

    fn value(self, shared: u32, earlier: u32, later: u32) -> f64 {
        let share =
            |whole: u32| if whole == 0 { 0.0 } else { f64::from(shared) / f64::from(whole) };
        match self {
            Policy::Resemblance => share(earlier + later - shared),
            Policy::Containment => share(earlier.min(later)),
            Policy::ContainmentOfEarlier => share(earlier),
        }
    }
}

/// How clusters are found.
#[derive(Clone, Debug)]
pub struct ClusterMethod {
    /// Words in a shingle; the paper's 10 makes chance agreement rare in a sample.
    pub shingle_words: NonZeroUsize,
    /// One in so many shingles is kept; the paper's 25. Smaller estimates better and costs more.
    pub modulus: u64,
    /// The width of a sampled shingle; the paper's 40 bits.
    pub width: Width,
    /// Decides which shingles are kept.
    pub seed: Seed,
    /// A shingle in more documents than this is ignored; the paper's 1,000.
    pub common: u32,
    /// The threshold of the last phase; the paper's 0.5.
    pub threshold: f64,
    /// When two documents belong together.
    pub policy: Policy,
    /// Threads. Never changes the result.
    pub threads: NonZeroUsize,
    /// Bytes of memory to stay within. Never changes the result.
    pub memory: u64,
}

/// The paper's numbers, on one thread, in a gigabyte.
impl Default for ClusterMethod {
    fn default() -> Self {
        let ModulusParams { modulus, width, seed } = ModulusParams::default();
        ClusterMethod {
            shingle_words: PAPER_SHINGLE_WORDS,
            modulus,
            width,
            seed,
            common: 1000,
            threshold: 0.5,
            policy: Policy::default(),
            threads: NonZeroUsize::MIN,
            memory: 1 << 30,
        }
    }
}

/// Words in a shingle of the paper.
const PAPER_SHINGLE_WORDS: NonZeroUsize = NonZeroUsize::new(10).expect("ten is not zero");

/// What a person sets.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// Files and folders to read.
    pub inputs: Vec<PathBuf>,
    /// Where the results go: a folder that does not exist yet.
    pub output: PathBuf,
    /// Which field of a row means what.
    pub fields: FieldNames,
    /// Which dates decide who represents documents with the same shingles.
    pub dates: Dates,
    /// How clusters are found.
    pub method: ClusterMethod,
    /// Cluster by super-shingles of so many sampled shingles beside it.
    pub super_shingles: Option<u32>,
    /// Bytes of input between two places where a killed run can continue.
    pub part_bytes: u64,
    /// Whether a row that is no document ends the run.
    pub strict: bool,
    /// How much of an input may be held in memory.
    pub limits: Limits,
}

/// What a run did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterSummary {
    /// Rows read.
    pub rows: u64,
    /// Documents among them.
    pub documents: u64,
    /// Rows and files that are no documents.
    pub skipped: u64,
    /// The first of them.
    pub skipped_first: Vec<Skipped>,
    /// Documents set aside because another has the same bytes, words or sampled shingles.
    pub duplicates: u64,
    /// Shingles in all sketches.
    pub shingles: u64,
    /// Shingles that were ignored because too many documents have them.
    pub common_shingles: u64,
    /// Pairs of documents that share a shingle.
    pub pairs: u64,
    /// Runs that were written to the disk while sorting shingles and pairs.
    pub runs: [u64; 2],
    /// The clusters.
    pub clusters: Clusters,
    /// The clusters by super-shingles, if asked for.
    pub by_super_shingles: Option<Clusters>,
    /// Bytes of core text.
    pub text_bytes: u64,
    /// What each phase took.
    pub phases: Vec<PhaseTime>,
    /// Everything that decides the result.
    pub plan: Value,
}

/// How many clusters there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clusters {
    /// Clusters of two or more documents.
    pub clusters: u64,
    /// Documents in them.
    pub documents: u64,
    /// Clusters of equal documents only (same bytes, words or sampled shingles).
    pub of_equal_documents: u64,
}

/// How many skipped rows are named.
const NAMED: usize = 100;

/// The folder of what the last phase reads.
const AGAIN: &str = "again";

impl ClusterMethod {
    pub(crate) fn check(&self) -> Result<(), ClusterError> {
        check_threshold(self.threshold)
    }

    pub(crate) fn sketch_maker(&self) -> Result<ModulusMaker, ClusterError> {
        let ClusterMethod { modulus, width, seed, .. } = self.clone();
        Ok(ModulusMaker::new(ModulusParams { modulus, width, seed })?)
    }

    /// Union-find over the pairs that reach the threshold: the last phase but for its writing.
    pub(crate) fn find_components(
        &self,
        again: &Path,
        progress: &dyn Progress,
    ) -> Result<(Representatives, UnionFind), ClusterError> {
        find_components(again, self.threshold, self.policy, progress)
    }
}

/// Runs the whole job.
///
/// # Errors
///
/// As [`ClusterError`] says. What is finished stays in `OUT.partial`, and the same run continues from
/// there: after the last finished part of the sketches, or after the merged pairs.
pub fn cluster(
    config: &ClusterConfig,
    progress: &dyn Progress,
) -> Result<ClusterSummary, ClusterError> {
    begin_again_if_damaged(&config.output, progress, || cluster_once(config, progress))
}

fn cluster_once(
    config: &ClusterConfig,
    progress: &dyn Progress,
) -> Result<ClusterSummary, ClusterError> {
    let folder = check(config)?;
    let mut inputs = Inputs::find(&config.inputs, config.fields.clone())?;
    inputs.strict = config.strict;
    inputs.limits = config.limits;
    inputs.unpack = folder.work();
    let plan = plan(config, &inputs);
    folder.open()?;
    if let Some(summary) = folder.finished_summary(&whole_plan(config, &plan))? {
        progress.say(FINISHED_BEFORE);
        folder.publish()?;
        return Ok(summary);
    }
    let clock = PhaseClock::new();
    let corpus = clock.time("sketch", inputs.bytes(), progress, || {
        sketch(config, &inputs, &folder.work(), &plan, progress)
    })?;
    let merged = merge(config, &corpus, &folder, &clock, progress)?;
    let (representatives, clusters) = clock.time("clusters", merged.pairs, progress, || {
        write_addresses(&corpus, &folder.result(LOOKUPS))?;
        let again = folder.result(AGAIN);
        let (representatives, components) = config.method.find_components(&again, progress)?;
        let how = how(config.method.threshold, config.method.policy);
        let clusters = write_clusters(&representatives, components, folder.path(), CLUSTERS, &how)?;
        Ok((representatives, clusters))
    })?;
    let by_super_shingles = match config.super_shingles {
        None => None,
        Some(_) => Some(clock.time("super-shingles", 0, progress, || {
            let memory = config.method.memory / 2;
            let components =
                join_by_super_shingles(&corpus, &representatives, &folder.work(), memory)?;
            let (name, how) = ("clusters-by-super-shingles", "super-shingles");
            write_clusters(&representatives, components, folder.path(), name, how)
        })?),
    };
    let read = corpus.read();
    let represented = representatives.of.iter().filter(|&&number| number != NOBODY).count();
    let summary = ClusterSummary {
        rows: read.rows,
        documents: read.documents,
        skipped: read.skipped,
        skipped_first: corpus.skipped(NAMED)?,
        duplicates: represented as u64 - u64::from(representatives.len()),
        shingles: corpus.elements()?.len(),
        common_shingles: merged.common_shingles,
        pairs: merged.pairs,
        runs: merged.runs,
        clusters,
        by_super_shingles,
        text_bytes: read.text_bytes,
        phases: clock.finish(),
        plan: whole_plan(config, &plan),
    };
    folder.complete(&summary)?;
    drop(corpus);
    folder.publish()?;
    Ok(summary)
}

/// Repeats the last phase at another threshold or policy; the clusters of the run are replaced.
///
/// # Errors
///
/// [`ClusterError::NotARun`] if there are no results, or as [`cluster`].
pub fn cluster_again(
    output: &Path,
    threshold: f64,
    policy: Policy,
) -> Result<Clusters, ClusterError> {
    check_threshold(threshold)?;
    let again = output.join(AGAIN);
    if !again.join(MERGED_PAIRS).exists() {
        return Err(ClusterError::NotARun { path: output.to_owned(), what: "clusters" });
    }
    let (representatives, components) = find_components(&again, threshold, policy, &Unwatched)?;
    write_clusters(&representatives, components, output, CLUSTERS, &how(threshold, policy))
}

fn check(config: &ClusterConfig) -> Result<RunFolder, ClusterError> {
    config.method.check()?;
    if let Some(run) = config.super_shingles {
        let maker = ModulusMaker::new(ModulusParams::default())?;
        super_shingles(&maker.sketch(&[1]), run)?;
    }
    RunFolder::check(&config.output)
}

fn check_threshold(threshold: f64) -> Result<(), ClusterError> {
    if threshold > 0.0 && threshold <= 1.0 {
        return Ok(());
    }
    Err(ClusterError::BadParameter {
        what: "the threshold",
        wanted: "above 0 and up to 1",
        got: threshold.to_string(),
    })
}

fn sketch(
    config: &ClusterConfig,
    inputs: &Inputs,
    work: &Path,
    plan: &Value,
    progress: &dyn Progress,
) -> Result<Corpus, ClusterError> {
    let maker = config.method.sketch_maker()?;
    let source = CorpusSource {
        inputs,
        other_files: 0,
        keep: &Keep::Earliest,
        dates: config.dates,
        feature_count: 0,
        part_bytes: config.part_bytes,
        threads: config.method.threads,
        progress,
    };
    source.read(
        work,
        plan,
        |_| Ok(()),
        || config.method.sampler(&maker, config.super_shingles),
        |sampler, document, sketches| {
            sampler.add(document.bytes(), document.text(), sketches);
            sketches.urls.extend_from_slice(document.address().as_bytes());
            sketches.url_ends.push(sketches.urls.len() as u64);
        },
    )
}

/// Merges shingles and pairs, unless an earlier run did with the same limit for common shingles.
fn merge(
    config: &ClusterConfig,
    corpus: &Corpus,
    folder: &RunFolder,
    clock: &PhaseClock,
    progress: &dyn Progress,
) -> Result<Merged, ClusterError> {
    let (work, again) = (folder.work(), folder.result(AGAIN));
    std::fs::create_dir_all(&again).map_err(io("make", &again))?;
    if let Some(merged) = Merged::load(&work, &again, config.method.common)? {
        progress.say("all pairs were merged by an earlier run");
        return Ok(merged);
    }
    folder.remove(&[pairs::COMMON])?;
    let (merged, columns) =
        config.method.merge(corpus, &work, &again, folder.path(), clock, progress)?;
    merged.save(&work, columns)?;
    Ok(merged)
}

/// By what clusters were formed, for people.
fn how(threshold: f64, policy: Policy) -> String {
    format!("{} {threshold}", policy.word())
}

/// Everything that decides the sketches: what must be equal for a run to continue another's.
fn plan(config: &ClusterConfig, inputs: &Inputs) -> Value {
    let own = json!({
        "job": "cluster",
        "shingle words": config.method.shingle_words,
        "modulus": config.method.modulus,
        "width": config.method.width.bits(),
        "seed": config.method.seed.fingerprint().to_string(),
        "super-shingles": config.super_shingles,
    });
    run_folder::plan(own, &config.fields, config.dates, config.strict, inputs)
}

/// Everything that decides the result.
fn whole_plan(config: &ClusterConfig, plan: &Value) -> Value {
    let mut plan = plan.clone();
    plan["common"] = config.method.common.into();
    plan["clusters by"] = how(config.method.threshold, config.method.policy).into();
    plan
}
