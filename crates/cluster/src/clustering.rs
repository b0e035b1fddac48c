//! The 1997 paper whole: a collection clustered by its sketches.
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
//! Where this deviates: sizes of sketches do not count ignored shingles, so that a page is not less
//! like its twin because both carry a common footer; a document whose sketch is empty (a sample of
//! one in 25 of few shingles) is clustered with documents of the same words only.
//!
//! Memory: four bytes a document for union-find, about 24 while duplicates are set aside; the rest is
//! sorted in parts of what is given. Estimates, not exact values: the standard error at resemblance r
//! and n sampled shingles is the square root of r (1 - r) / n.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wonbon_input::rows::FieldNames;
use wonbon_sketch::rabin::RABIN_64;
use wonbon_sketch::{ModulusMaker, ModulusParams, Seed, Width, finalise, super_shingles};
use wonbon_text::shingles::Shingler;

use crate::columns::{Column, ColumnWriter, Mark};
use crate::corpus::{Corpus, CorpusWriter, goes_on, read_json, write_whole};
use crate::dedup::{FINISHED_BEFORE, READ_BEFORE, partial_folder};
use crate::error::{ClusterError, io};
use crate::keep::Keep;
use crate::order::{NOBODY, Representatives};
use crate::progress::{PhaseClock, PhaseTime, Progress, Steps, Unwatched};
use crate::reading::{Inputs, Reading, Skipped, read_documents};
use crate::sketching::{Sketches, set_fingerprint};
use crate::sorted_runs::{Equal, SortedRuns};
use crate::union_find::UnionFind;
use crate::writing::OutputFile;

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
    /// How clusters are found.
    pub method: ClusterMethod,
    /// Cluster by super-shingles of so many sampled shingles beside it.
    pub super_shingles: Option<u32>,
    /// Bytes of input between two places where a killed run can go on.
    pub part_bytes: u64,
    /// Whether a row that is no document ends the run.
    pub strict: bool,
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

const NAMED: usize = 100;
const MERGED_PAIRS: &str = "pairs";
const SIZES: &str = "sizes";
const REPRESENTATIVES: &str = "representatives";
const ROOTS: &str = "roots";
const COMMON: &str = "common-shingles.tsv";
const CLUSTERS: &str = "clusters";
const MERGED: &str = "merged.json";

/// Makes sketches; one for each thread.
pub(crate) struct Sampler<'a> {
    shingler: Shingler,
    maker: &'a ModulusMaker,
    run: Option<u32>,
}

impl Sampler<'_> {
    pub(crate) fn add(&mut self, bytes: &[u8], text: &str, sketches: &mut Sketches) {
        let mut builder = self.maker.builder();
        let count = self.shingler.for_each_chunk(text, |chunk| builder.update(chunk));
        let sketch = builder.finish();
        let normal = finalise(count.normal_form_hash ^ count.words.rotate_left(40));
        sketches.bytes.push(finalise(RABIN_64.fingerprint(bytes)));
        sketches.normal.push(normal);
        sketches.set.push(match (count.words, sketch.is_empty()) {
            (0, _) => 0,
            (_, true) => normal.max(1),
            (_, false) => set_fingerprint(sketch.values()),
        });
        sketches.shingles.push(sketch.values().len() as u32);
        sketches.elements.extend_from_slice(sketch.values());
        if let Some(run) = self.run {
            let supers = super_shingles(&sketch, run).expect("the run was checked before");
            sketches.super_counts.push(supers.values().len() as u32);
            sketches.supers.extend_from_slice(supers.values());
        }
    }
}

/// What merging shingles and pairs gave, beside the files of the last phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Merged {
    common_shingles: u64,
    pairs: u64,
    runs: [u64; 2],
    /// The files of the last phase, each with how far it is.
    marks: Vec<(String, Mark)>,
}

impl ClusterMethod {
    pub(crate) fn check(&self) -> Result<(), ClusterError> {
        check_threshold(self.threshold)
    }

    pub(crate) fn sketch_maker(&self) -> Result<ModulusMaker, ClusterError> {
        let ClusterMethod { modulus, width, seed, .. } = self.clone();
        Ok(ModulusMaker::new(ModulusParams { modulus, width, seed })?)
    }

    pub(crate) fn sampler<'a>(&self, maker: &'a ModulusMaker, run: Option<u32>) -> Sampler<'a> {
        Sampler { shingler: Shingler::new(self.shingle_words), maker, run }
    }

    /// From sketches to merged pairs: everything that the last phase needs goes to `again`, the list
    /// of common shingles to `lists`, runs to `work`.
    pub(crate) fn merge(
        &self,
        corpus: &Corpus,
        work: &Path,
        again: &Path,
        lists: &Path,
        clock: &PhaseClock,
        progress: &dyn Progress,
    ) -> Result<Merged, ClusterError> {
        let representatives = clock.time("duplicates", 0, progress, || {
            Representatives::find(corpus, &Keep::Earliest, 0, self.memory / 4)
        })?;
        let elements = corpus.elements()?;
        let shingles = clock.time("shingle merge", elements.len(), progress, || {
            let mut runs = SortedRuns::new(work, "shingles", Equal::Stay, self.memory / 2);
            let mut steps = Steps::new(progress);
            for_each_element(
                &corpus.shingles()?,
                &elements,
                &representatives,
                |shingle, number| {
                    steps.step()?;
                    runs.push(u128::from(shingle) << 32 | u128::from(number))
                },
            )?;
            Ok(runs)
        })?;
        let shingle_runs = shingles.runs() as u64;
        let mut sizes = vec![0_u32; representatives.documents.len()];
        let common_path = lists.join(COMMON);
        let (pairs, common_shingles) =
            clock.time("pair formation", shingles.pushed(), progress, || {
                form_pairs(shingles, self, work, &mut sizes, common_path, progress)
            })?;
        let pair_runs = pairs.runs() as u64;
        // How many different pairs there are is known at the end only.
        let (pair_count, merged) = clock.time("pair merge", 0, progress, || {
            let mut merged = ColumnWriter::open(again.join(MERGED_PAIRS), Mark::default())?;
            let mut steps = Steps::new(progress);
            let mut count = 0_u64;
            pairs.merge(|pair| {
                count += 1;
                steps.step()?;
                merged.extend(&[pair])
            })?;
            Ok((count, merged.flush()?))
        })?;
        let marks = vec![
            (MERGED_PAIRS.to_owned(), merged),
            (SIZES.to_owned(), write_column(&again.join(SIZES), &sizes)?),
            (
                REPRESENTATIVES.to_owned(),
                write_column(&again.join(REPRESENTATIVES), &representatives.documents)?,
            ),
            (ROOTS.to_owned(), write_column(&again.join(ROOTS), &representatives.of)?),
        ];
        Ok(Merged { common_shingles, pairs: pair_count, runs: [shingle_runs, pair_runs], marks })
    }

    /// Union-find over the pairs that reach the threshold: the last phase but for its writing.
    pub(crate) fn components(
        &self,
        again: &Path,
        progress: &dyn Progress,
    ) -> Result<(Representatives, UnionFind), ClusterError> {
        components(again, self.threshold, self.policy, progress)
    }
}

/// Runs the whole job.
///
/// # Errors
///
/// As [`ClusterError`] says. What is finished stays in `OUT.partial`, and the same run goes on from
/// there: behind the last finished part of the sketches, or behind the merged pairs.
pub fn cluster(
    config: &ClusterConfig,
    progress: &dyn Progress,
) -> Result<ClusterSummary, ClusterError> {
    check(config)?;
    let mut inputs = Inputs::find(&config.inputs, config.fields.clone())?;
    inputs.strict = config.strict;
    let plan = plan(config, &inputs);
    let partial = partial_folder(&config.output);
    let work = partial.join("work");
    inputs.unpack = work.clone();
    if let Some(summary) = was_finished(&partial, config, &plan)? {
        progress.say(FINISHED_BEFORE);
        publish(&partial, &config.output)?;
        return Ok(summary);
    }
    let clock = PhaseClock::new();
    let corpus = clock.time("sketch", inputs.bytes(), progress, || {
        sketch(config, &inputs, &work, &plan, progress)
    })?;
    let again = partial.join("again");
    std::fs::create_dir_all(&again).map_err(io("make", &again))?;
    let merged = match load_merged(&work, &again, config)? {
        Some(merged) => {
            progress.say("all pairs were merged by an earlier run");
            merged
        }
        None => {
            let merged = config.method.merge(&corpus, &work, &again, &partial, &clock, progress)?;
            let note = json!({ "common": config.method.common, "merged": merged });
            write_whole(&work.join(MERGED), note.to_string().as_bytes())?;
            merged
        }
    };

    let lookups = partial.join("lookups");
    let (representatives, clusters) = clock.time("clusters", merged.pairs, progress, || {
        write_addresses(&corpus, &lookups)?;
        let (representatives, components) = config.method.components(&again, progress)?;
        let how = how(config.method.threshold, config.method.policy);
        let clusters =
            write_clusters(&representatives, components, &lookups, &partial, CLUSTERS, &how)?;
        Ok((representatives, clusters))
    })?;
    let by_super_shingles = match config.super_shingles {
        None => None,
        Some(_) => Some(clock.time("super-shingles", 0, progress, || {
            let components =
                by_super_shingles(&corpus, &representatives, &work, config.method.memory / 2)?;
            let (name, how) = ("clusters-by-super-shingles", "super-shingles");
            write_clusters(&representatives, components, &lookups, &partial, name, how)
        })?),
    };
    let read = corpus.read();
    let count = representatives.len();
    let summary = ClusterSummary {
        rows: read.rows,
        documents: read.documents,
        skipped: read.skipped,
        skipped_first: corpus.skipped(NAMED)?,
        duplicates: representatives.of.iter().filter(|&&number| number != NOBODY).count() as u64
            - u64::from(count),
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
    let json = serde_json::to_vec_pretty(&summary).expect("numbers and strings are JSON");
    write_whole(&partial.join("summary.json"), &json)?;
    drop(corpus);
    publish(&partial, &config.output)?;
    Ok(summary)
}

/// What an earlier run of the same plan did, if it was killed while it took its place.
fn was_finished(
    partial: &Path,
    config: &ClusterConfig,
    plan: &Value,
) -> Result<Option<ClusterSummary>, ClusterError> {
    if partial.join("work").exists() || !partial.join("summary.json").exists() {
        return Ok(None);
    }
    let summary: ClusterSummary = read_json(&partial.join("summary.json"))?;
    if summary.plan == whole_plan(config, plan) {
        return Ok(Some(summary));
    }
    Err(ClusterError::OtherPlan { path: partial.to_owned(), what: "plan".to_owned() })
}

/// Everything is written: it takes its place. The work goes first and at once, so that what a kill
/// leaves behind says whether the results are complete.
fn publish(partial: &Path, output: &Path) -> Result<(), ClusterError> {
    let (work, done) = (partial.join("work"), partial.join("done"));
    if work.exists() {
        std::fs::rename(&work, &done).map_err(io("write", &done))?;
    }
    if done.exists() {
        std::fs::remove_dir_all(&done).map_err(io("remove", &done))?;
    }
    if output.exists() {
        std::fs::remove_dir(output).map_err(io("replace", output))?;
    }
    std::fs::rename(partial, output).map_err(io("write", output))
}

/// What an earlier run merged, if it was with the same limit for common shingles.
fn load_merged(
    work: &Path,
    again: &Path,
    config: &ClusterConfig,
) -> Result<Option<Merged>, ClusterError> {
    let path = work.join(MERGED);
    if !path.exists() {
        return Ok(None);
    }
    #[derive(Deserialize)]
    struct Note {
        common: u32,
        merged: Merged,
    }
    let Note { common, merged } = read_json(&path)?;
    if common != config.method.common {
        return Ok(None);
    }
    for (name, mark) in &merged.marks {
        // Opening a column behind its mark checks what it holds.
        ColumnWriter::<u8>::open(again.join(name), *mark)?;
    }
    Ok(Some(merged))
}

fn check(config: &ClusterConfig) -> Result<(), ClusterError> {
    config.method.check()?;
    if let Some(run) = config.super_shingles {
        let maker = ModulusMaker::new(ModulusParams::default())?;
        super_shingles(&maker.sketch(&[1]), run)?;
    }
    let output = &config.output;
    let taken = output.exists()
        && !std::fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_none());
    if taken { Err(ClusterError::OutputExists { path: output.clone() }) } else { Ok(()) }
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
    let mut writer = CorpusWriter::open(work, 0, plan, config.part_bytes)?;
    if writer.at().complete {
        progress.say(READ_BEFORE);
        drop(writer);
        return Corpus::open(work);
    }
    if writer.at().items > 0 {
        progress.say(&goes_on(writer.at()));
    }
    let maker = config.method.sketch_maker()?;
    let reading = Reading {
        inputs,
        keep: &Keep::Earliest,
        threads: config.method.threads,
        skip_items: writer.at().items,
        progress,
        redirects: false,
        known: None,
    };
    read_documents(
        reading,
        || config.method.sampler(&maker, config.super_shingles),
        |sampler, visited, sketches| {
            sampler.add(visited.bytes, visited.text, sketches);
            sketches.urls.extend_from_slice(visited.url.unwrap_or(visited.id).as_bytes());
            sketches.url_ends.push(sketches.urls.len() as u64);
        },
        |rows| {
            writer.append(&rows, false)?;
            progress.advance(writer.at().input_bytes);
            Ok(())
        },
    )?;
    writer.finish()
}

/// Calls `each` with every element of every representative.
fn for_each_element(
    counts: &Column<u32>,
    elements: &Column<u64>,
    representatives: &Representatives,
    mut each: impl FnMut(u64, u32) -> Result<(), ClusterError>,
) -> Result<(), ClusterError> {
    let mut start = 0;
    let mut set = Vec::new();
    counts.for_each(|document, count| {
        if representatives.is_one(document as u32) {
            set.resize(count as usize, 0);
            elements.read_at(start, &mut set)?;
            let number = representatives.of[document as usize];
            set.iter().try_for_each(|&element| each(element, number))?;
        }
        start += u64::from(count);
        Ok(())
    })
}

/// Every shingle that several documents have as <ID, ID, 1>; very common ones are listed instead.
fn form_pairs(
    shingles: SortedRuns,
    method: &ClusterMethod,
    work: &Path,
    sizes: &mut [u32],
    common_path: PathBuf,
    progress: &dyn Progress,
) -> Result<(SortedRuns, u64), ClusterError> {
    let mut pairs = SortedRuns::new(work, "pairs", Equal::AddUp, method.memory / 4);
    let mut common = OutputFile::create(common_path)?;
    let mut common_count = 0;
    let mut current: Option<u128> = None;
    let mut owners: Vec<u32> = Vec::new();
    let mut close = |shingle: u128, owners: &[u32]| {
        if owners.len() > method.common as usize {
            common_count += 1;
            return common.write(format!("{shingle:010x}\t{}\n", owners.len()).as_bytes());
        }
        for (at, &later) in owners.iter().enumerate() {
            sizes[later as usize] += 1;
            for &earlier in &owners[..at] {
                pairs.push(u128::from(earlier) << 64 | u128::from(later) << 32 | 1)?;
            }
        }
        Ok(())
    };
    let mut steps = Steps::new(progress);
    shingles.merge(|pair| {
        steps.step()?;
        let shingle = pair >> 32;
        if current != Some(shingle) {
            if let Some(before) = current {
                close(before, &owners)?;
            }
            current = Some(shingle);
            owners.clear();
        }
        owners.push(pair as u32);
        Ok(())
    })?;
    if let Some(last) = current {
        close(last, &owners)?;
    }
    common.finish()?;
    pairs.settle();
    Ok((pairs, common_count))
}

fn write_column<T: bytemuck::Pod>(path: &Path, values: &[T]) -> Result<Mark, ClusterError> {
    let mut column = ColumnWriter::open(path.to_owned(), Mark::default())?;
    column.extend(values)?;
    column.flush()
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
    let again = output.join("again");
    if !again.join(MERGED_PAIRS).exists() {
        return Err(ClusterError::NotARun { path: output.to_owned(), what: "clusters" });
    }
    let (representatives, components) = components(&again, threshold, policy, &Unwatched)?;
    let how = how(threshold, policy);
    write_clusters(&representatives, components, &output.join("lookups"), output, CLUSTERS, &how)
}

/// By what clusters were formed, for people.
fn how(threshold: f64, policy: Policy) -> String {
    format!("{} {threshold}", policy.word())
}

fn components(
    again: &Path,
    threshold: f64,
    policy: Policy,
    progress: &dyn Progress,
) -> Result<(Representatives, UnionFind), ClusterError> {
    let sizes: Vec<u32> = Column::open(again.join(SIZES))?.read_all()?;
    let representatives = Representatives {
        documents: Column::open(again.join(REPRESENTATIVES))?.read_all()?,
        of: Column::open(again.join(ROOTS))?.read_all()?,
    };
    let mut components = UnionFind::new(representatives.len());
    let mut steps = Steps::new(progress);
    Column::<u128>::open(again.join(MERGED_PAIRS))?.for_each(|_, pair| {
        let (earlier, later, shared) = ((pair >> 64) as u32, (pair >> 32) as u32, pair as u32);
        let value = policy.value(shared, sizes[earlier as usize], sizes[later as usize]);
        if value >= threshold {
            components.join(earlier, later);
        }
        steps.step()
    })?;
    Ok((representatives, components))
}

/// Documents that share one super-shingle are one cluster: no pairs are formed.
fn by_super_shingles(
    corpus: &Corpus,
    representatives: &Representatives,
    work: &Path,
    memory: u64,
) -> Result<UnionFind, ClusterError> {
    let mut runs = SortedRuns::new(work, "super-shingles", Equal::Stay, memory);
    let (counts, supers) = corpus.supers()?;
    for_each_element(&counts, &supers, representatives, |super_shingle, number| {
        runs.push(u128::from(super_shingle) << 32 | u128::from(number))
    })?;
    let mut components = UnionFind::new(representatives.len());
    let mut before: Option<u128> = None;
    runs.merge(|pair| {
        if let Some(before) = before
            && before >> 32 == pair >> 32
        {
            components.join(before as u32, pair as u32);
        }
        before = Some(pair);
        Ok(())
    })?;
    Ok(components)
}

/// Puts back what was set aside: for each document the number of its cluster, 0 if it is alone.
/// Clusters are numbered by their first document in keep order.
pub(crate) fn numbered(
    representatives: &Representatives,
    mut components: UnionFind,
) -> (Vec<u32>, Clusters) {
    let members = representatives.members();
    let mut number_of_root = vec![0_u32; representatives.documents.len()];
    let mut document_count = vec![0_u32; representatives.documents.len()];
    let mut representative_count = vec![0_u32; representatives.documents.len()];
    for number in 0..representatives.len() {
        let root = components.root(number) as usize;
        document_count[root] += members.of(number).len() as u32;
        representative_count[root] += 1;
    }
    let mut clusters = Clusters::default();
    let mut next = 0;
    for root in 0..representatives.documents.len() {
        if document_count[root] > 1 {
            next += 1;
            number_of_root[root] = next;
            clusters.clusters += 1;
            clusters.documents += u64::from(document_count[root]);
            clusters.of_equal_documents += u64::from(representative_count[root] == 1);
        }
    }
    let cluster_of = (0..representatives.of.len())
        .map(|document| match representatives.of[document] {
            NOBODY => 0,
            number => number_of_root[components.root(number) as usize],
        })
        .collect();
    (cluster_of, clusters)
}

/// Writes the clusters: as JSON lines for people, and as the look-ups document to cluster and cluster
/// to documents.
fn write_clusters(
    representatives: &Representatives,
    components: UnionFind,
    lookups: &Path,
    output: &Path,
    name: &str,
    how: &str,
) -> Result<Clusters, ClusterError> {
    let (cluster_of, clusters) = numbered(representatives, components);
    let mut by_cluster: Vec<(u32, u32)> =
        cluster_of.iter().copied().zip(0..).filter(|&(cluster, _)| cluster > 0).collect();
    by_cluster.sort_unstable();

    let ids = Addresses::open(lookups, "id")?;
    let mut file = OutputFile::create(output.join(format!("{name}.jsonl.partial")))?;
    let (mut starts, mut documents) = (vec![0_u64, 0], Vec::with_capacity(by_cluster.len()));
    for cluster in by_cluster.chunk_by(|one, other| one.0 == other.0) {
        documents.extend(cluster.iter().map(|&(_, document)| document));
        starts.push(documents.len() as u64);
        let names = cluster
            .iter()
            .map(|&(_, document)| ids.get(document))
            .collect::<Result<Vec<String>, _>>()?;
        let line = json!({"cluster": cluster[0].0, "size": cluster.len(), "documents": names});
        file.write(format!("{line}\n").as_bytes())?;
    }
    file.finish()?;
    let replace = |from: &str, to: &str| {
        let (from, to) = (output.join(from), output.join(to));
        std::fs::rename(&from, &to).map_err(io("write", &to))
    };
    replace(&format!("{name}.jsonl.partial"), &format!("{name}.jsonl"))?;
    if name == CLUSTERS {
        let staged = lookups.join("staged");
        std::fs::create_dir_all(&staged).map_err(io("make", &staged))?;
        write_column(&staged.join("document-to-cluster"), &cluster_of)?;
        write_column(&staged.join("cluster-starts"), &starts)?;
        write_column(&staged.join("cluster-to-documents"), &documents)?;
        for file in ["document-to-cluster", "cluster-starts", "cluster-to-documents"] {
            std::fs::rename(staged.join(file), lookups.join(file))
                .map_err(io("write", &lookups.join(file)))?;
        }
        std::fs::remove_dir(&staged).map_err(io("remove", &staged))?;
        write_whole(
            &lookups.join("how.json"),
            json!({ "clusters by": how }).to_string().as_bytes(),
        )?;
    }
    Ok(clusters)
}

/// Writes the look-ups URL to document and document to URL, and the ids.
fn write_addresses(corpus: &Corpus, lookups: &Path) -> Result<(), ClusterError> {
    std::fs::create_dir_all(lookups).map_err(io("make", lookups))?;
    for (from, to) in [
        ("urls", "url-bytes"),
        ("url-ends", "url-ends"),
        ("ids", "id-bytes"),
        ("id-ends", "id-ends"),
    ] {
        let (from, to) = (corpus.path(from), lookups.join(to));
        std::fs::copy(&from, &to).map_err(io("copy", &from))?;
    }
    let urls = Addresses::open(lookups, "url")?;
    let mut by_fingerprint = Vec::with_capacity(corpus.len() as usize);
    for document in 0..corpus.len() {
        let url = urls.get(document)?;
        let fingerprint = RABIN_64.fingerprint(url.as_bytes());
        by_fingerprint.push(u128::from(fingerprint) << 32 | u128::from(document));
    }
    by_fingerprint.sort_unstable();
    write_column(&lookups.join("url-to-document"), &by_fingerprint).map(|_| ())
}

/// Strings by number: document to URL.
struct Addresses {
    bytes: Column<u8>,
    ends: Column<u64>,
}

impl Addresses {
    fn open(lookups: &Path, what: &str) -> Result<Self, ClusterError> {
        Ok(Addresses {
            bytes: Column::open(lookups.join(format!("{what}-bytes")))?,
            ends: Column::open(lookups.join(format!("{what}-ends")))?,
        })
    }

    fn get(&self, document: u32) -> Result<String, ClusterError> {
        let document = u64::from(document);
        let start = if document == 0 { 0 } else { self.ends.get(document - 1)? };
        let mut bytes = vec![0; (self.ends.get(document)? - start) as usize];
        self.bytes.read_at(start, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The four look-ups of a finished run, read from disk as they are asked.
pub struct Lookups {
    url_to_document: Column<u128>,
    document_to_cluster: Column<u32>,
    cluster_starts: Column<u64>,
    cluster_to_documents: Column<u32>,
    urls: Addresses,
    how: Value,
}

impl std::fmt::Debug for Lookups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lookups").field("how", &self.how).finish_non_exhaustive()
    }
}

impl Lookups {
    /// Opens the look-ups of a run.
    ///
    /// # Errors
    ///
    /// [`ClusterError::NotARun`] if there are none.
    pub fn open(output: &Path) -> Result<Self, ClusterError> {
        let folder = output.join("lookups");
        if !folder.join("how.json").exists() {
            return Err(ClusterError::NotARun { path: output.to_owned(), what: "clusters" });
        }
        Ok(Lookups {
            url_to_document: Column::open(folder.join("url-to-document"))?,
            document_to_cluster: Column::open(folder.join("document-to-cluster"))?,
            cluster_starts: Column::open(folder.join("cluster-starts"))?,
            cluster_to_documents: Column::open(folder.join("cluster-to-documents"))?,
            urls: Addresses::open(&folder, "url")?,
            how: read_json(&folder.join("how.json"))?,
        })
    }

    /// URL to documents: several if one URL was read several times. A document without URL is found
    /// by its id.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn documents_of_url(&self, url: &str) -> Result<Vec<u32>, ClusterError> {
        let key = u128::from(RABIN_64.fingerprint(url.as_bytes()));
        let (mut low, mut high) = (0, self.url_to_document.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.url_to_document.get(middle)? >> 32 < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let mut documents = Vec::new();
        while low < self.url_to_document.len() {
            let entry = self.url_to_document.get(low)?;
            if entry >> 32 != key {
                break;
            }
            // Another URL may have the same fingerprint.
            if self.url(entry as u32)? == url {
                documents.push(entry as u32);
            }
            low += 1;
        }
        Ok(documents)
    }

    /// Document to cluster; none if it is alone.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn cluster_of(&self, document: u32) -> Result<Option<u32>, ClusterError> {
        let cluster = self.document_to_cluster.get(u64::from(document))?;
        Ok((cluster > 0).then_some(cluster))
    }

    /// Cluster to documents.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn documents_of(&self, cluster: u32) -> Result<Vec<u32>, ClusterError> {
        let start = self.cluster_starts.get(u64::from(cluster))?;
        let end = self.cluster_starts.get(u64::from(cluster) + 1)?;
        let mut documents = vec![0; (end - start) as usize];
        self.cluster_to_documents.read_at(start, &mut documents)?;
        Ok(documents)
    }

    /// Document to URL.
    ///
    /// # Errors
    ///
    /// If the files cannot be read.
    pub fn url(&self, document: u32) -> Result<String, ClusterError> {
        self.urls.get(document)
    }

    /// How the clusters were made.
    #[must_use]
    pub fn how(&self) -> &str {
        self.how["clusters by"].as_str().unwrap_or_default()
    }
}

/// Everything that decides the sketches: what must be equal for a run to go on with another's.
fn plan(config: &ClusterConfig, inputs: &Inputs) -> Value {
    json!({
        "program": env!("CARGO_PKG_VERSION"),
        "job": "cluster",
        "shingle words": config.method.shingle_words,
        "modulus": config.method.modulus,
        "width": config.method.width.bits(),
        "seed": config.method.seed.fingerprint().to_string(),
        "super-shingles": config.super_shingles,
        "normal form": wonbon_text::words::NORMAL_FORM_VERSION,
        "shingle hash": wonbon_text::shingles::SHINGLE_HASH_VERSION,
        "fields": {
            "id": config.fields.id, "url": config.fields.url, "created": config.fields.created,
            "text": config.fields.text, "html": config.fields.html,
        },
        "strict": config.strict,
        "inputs": serde_json::to_value(&inputs.files).expect("paths and numbers are JSON"),
    })
}

/// Everything that decides the result.
fn whole_plan(config: &ClusterConfig, plan: &Value) -> Value {
    let mut plan = plan.clone();
    plan["common"] = config.method.common.into();
    plan["clusters by"] = how(config.method.threshold, config.method.policy).into();
    plan
}
