//! A corpus without its copies: the whole job, from files to files.
//!
//! 1. *read*: every document becomes numbers in columns (`corpus`), with several threads;
//! 2. *order*: keep order; documents with the same set of shingles are represented by one;
//! 3. *compare*: candidates are verified on their full sets and families decided (`families`);
//! 4. *write*: the rows that are kept, the families, the pairs, the report.
//!
//! Everything is written below `OUT.partial`, which becomes `OUT` when all of it is on the disk. The
//! same run started again after a kill goes on behind the last finished part of step 1, or behind
//! step 3 if that was finished.
//!
//! Memory: about 40 bytes a document must fit; everything else is done in pieces that fit what is
//! given. Disk: eight bytes for each different shingle of each document, until the end of the run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wonbon_input::rows::FieldNames;

use crate::bands::Bands;
use crate::columns::{Column, ColumnWriter, Mark};
use crate::corpus::{Corpus, CorpusWriter, goes_on, write_whole};
use crate::deciding::{FamilyConfig, bands_for};
use crate::error::{ClusterError, io};
use crate::families::{CopyRule, Families, FamilyKind, Verdict};
use crate::keep::MISSING;
use crate::order::Representatives;
use crate::progress::{PhaseClock, PhaseTime, Progress};
use crate::reading::{Inputs, Reading, Skipped, read_documents};
use crate::report::{Report, shown_families};
use crate::sketching::Sketcher;
use crate::verdicts::{Kind, Verdicts};
use crate::writing::Writing;

/// What a person sets.
#[derive(Clone, Debug)]
pub struct DedupConfig {
    /// Files and folders to read.
    pub inputs: Vec<PathBuf>,
    /// Where the results go: a folder that does not exist yet.
    pub output: PathBuf,
    /// Which field of a row means what.
    pub fields: FieldNames,
    /// How families are found.
    pub method: FamilyConfig,
    /// Whether every verified pair is written, to this file.
    pub pairs: Option<PathBuf>,
    /// All rows with their verdicts, rather than the kept ones.
    pub annotate: bool,
    /// Whether a row that is no document ends the run.
    pub strict: bool,
    /// Other corpora (files, folders, or results of runs that saved their sketches): what occurs in
    /// them is dropped.
    pub against: Vec<PathBuf>,
    /// Bytes of input between two places where a killed run can go on. Smaller loses less and
    /// checks more. Never changes the result.
    pub part_bytes: u64,
    /// Whether the sketches stay with the results, for later runs against them.
    pub save_sketches: bool,
}

/// What a run did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DedupSummary {
    /// Rows read.
    pub rows: u64,
    /// Documents among them.
    pub documents: u64,
    /// Documents of the other corpora, which were compared with and are not counted otherwise.
    pub others: u64,
    /// Rows and files that are no documents.
    pub skipped: u64,
    /// The first of them.
    pub skipped_first: Vec<Skipped>,
    /// Ids that several documents have: how many, and the first of them.
    pub repeated_ids: (u64, Vec<String>),
    /// Documents without the field that decides which to keep.
    pub without_key: u64,
    /// Documents of each kind.
    pub kinds: Vec<(Kind, u64)>,
    /// Families of two or more.
    pub families: u64,
    /// Pairs whose sets were compared.
    pub compared: u64,
    /// Pairs written, if they were.
    pub pairs: Option<u64>,
    /// How copies were looked for, and why so.
    pub engine: String,
    /// Bytes read, decompressed.
    pub input_bytes: u64,
    /// Bytes of core text.
    pub text_bytes: u64,
    /// What each phase took.
    pub phases: Vec<PhaseTime>,
    /// Everything that decides the result.
    pub plan: Value,
}

impl DedupSummary {
    /// How many documents are of a kind.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> u64 {
        self.kinds.iter().find(|(other, _)| *other == kind).map_or(0, |(_, count)| *count)
    }

    /// How many documents are copies.
    #[must_use]
    pub fn copies(&self) -> u64 {
        self.kinds.iter().filter(|(kind, _)| kind.is_copy()).map(|(_, count)| count).sum()
    }
}

/// How many skipped rows and repeated ids are named.
const NAMED: usize = 100;

/// Runs the whole job.
///
/// # Errors
///
/// As [`ClusterError`] says. What is finished stays in `OUT.partial`, and the same run goes on
/// from there.
pub fn dedup(config: &DedupConfig, progress: &dyn Progress) -> Result<DedupSummary, ClusterError> {
    let job = Job::new(config)?;
    if let Some(summary) = job.was_finished()? {
        progress.say(FINISHED_BEFORE);
        job.publish()?;
        return Ok(summary);
    }
    let clock = PhaseClock::new();
    let corpus = clock.time("read", job.inputs.bytes(), progress, || job.read(progress))?;
    let summary = job.decide_and_write(&corpus, clock, progress)?;
    drop(corpus);
    job.publish()?;
    Ok(summary)
}

/// Where a run keeps what is not finished.
#[must_use]
pub fn partial_folder(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

struct Job<'a> {
    config: &'a DedupConfig,
    inputs: Inputs,
    /// The first so many files belong to other corpora.
    other_files: usize,
    /// Results of earlier runs with their sketches.
    earlier: Vec<PathBuf>,
    bands: Bands,
    plan: Value,
    partial: PathBuf,
    work: PathBuf,
}

impl<'a> Job<'a> {
    fn new(config: &'a DedupConfig) -> Result<Self, ClusterError> {
        let output = &config.output;
        if output.exists() && !is_empty_folder(output) {
            return Err(ClusterError::OutputExists { path: output.clone() });
        }
        let bands = bands_for(config.method.rule)?;
        let (earlier, other): (Vec<PathBuf>, Vec<PathBuf>) =
            config.against.iter().cloned().partition(|path| path.join(SKETCHES).is_dir());
        let mut inputs = Inputs::find(&other, config.fields.clone())?;
        let other_files = inputs.files.len();
        let own = Inputs::find(&config.inputs, config.fields.clone())?;
        inputs.files.extend(own.files);
        inputs.unknown.extend(own.unknown);
        inputs.strict = config.strict;
        let plan = plan(config, bands, &inputs);
        let partial = partial_folder(output);
        let work = partial.join("work");
        inputs.unpack = work.clone();
        // Results without the work that led to them are nobody's: a kill came in the last step.
        if partial.exists() && !work.exists() && !partial.join(DONE).exists() {
            std::fs::remove_dir_all(&partial).map_err(io("remove", &partial))?;
        }
        Ok(Job { config, inputs, other_files, earlier, bands, plan, partial, work })
    }

    fn read(&self, progress: &dyn Progress) -> Result<Corpus, ClusterError> {
        let config = self.config;
        let mut writer =
            CorpusWriter::open(&self.work, self.bands.bands, &self.plan, config.part_bytes)?;
        if writer.at().complete {
            progress.say(READ_BEFORE);
            drop(writer);
            return Corpus::open(&self.work);
        }
        if writer.at().items > 0 {
            progress.say(&goes_on(writer.at()));
        }
        if writer.at().items == 0 && writer.at().documents == 0 {
            for folder in &self.earlier {
                writer.import(&folder.join(SKETCHES), &self.plan)?;
            }
        }
        let maker = config.method.feature_maker()?;
        let reading = Reading {
            inputs: &self.inputs,
            keep: &config.method.keep,
            threads: config.method.threads,
            skip_items: writer.at().items,
            progress,
            redirects: false,
            known: None,
        };
        read_documents(
            reading,
            || Sketcher::new(&maker, self.bands.bands, config.method.shingle_words),
            |sketcher, visited, sketches| sketcher.add(visited.bytes, visited.text, sketches),
            |rows| {
                let other = rows.file < self.other_files;
                writer.append(&rows, other)?;
                progress.advance(writer.at().input_bytes);
                Ok(())
            },
        )?;
        writer.finish()
    }

    fn decide_and_write(
        &self,
        corpus: &Corpus,
        clock: PhaseClock,
        progress: &dyn Progress,
    ) -> Result<DedupSummary, ClusterError> {
        let config = self.config;
        let others = corpus.read().others as u32;
        let representatives =
            clock.time("order", 0, progress, || config.method.representatives(corpus, others))?;
        let (families, engine) = match self.load_verdicts(&representatives)? {
            Some(decided) => decided,
            None => {
                let pairs = config.pairs.as_ref().map(|_| self.work.join(FOUND_PAIRS));
                let pairs = pairs.as_deref();
                let decided =
                    config.method.decide(corpus, &representatives, pairs, &clock, progress)?;
                self.save_verdicts(&decided)?;
                decided
            }
        };
        let compared = families.compared;
        let verdicts = Verdicts::new(corpus, representatives, families.verdicts, others)?;
        let writing = Writing {
            inputs: &self.inputs,
            corpus,
            verdicts: &verdicts,
            other_files: self.other_files,
            imported: corpus.read().imported as u32,
            others,
            annotate: config.annotate,
            progress,
        };
        let shown_families = shown_families(&verdicts, others);
        let mut shown: Vec<u32> = shown_families
            .iter()
            .flat_map(|family| family.copies.iter().chain([&family.original]))
            .copied()
            .filter(|&document| u64::from(document) >= corpus.read().imported)
            .collect();
        shown.sort_unstable();
        shown.dedup();
        let mut texts = BTreeMap::new();
        let mut pairs = None;
        clock.time("write", corpus.read().input_bytes, progress, || {
            let rows = if config.annotate { "annotated" } else { "kept" };
            let tables = writing.rows(&self.partial.join(rows), &shown, |document, text| {
                texts.insert(document, text);
            })?;
            writing.families(&self.partial, tables)?;
            if let Some(path) = &config.pairs {
                pairs = Some(writing.pairs(&self.work.join(FOUND_PAIRS), partial_file(path))?);
            }
            Ok(())
        })?;
        let mut kinds: Vec<(Kind, u64)> = Kind::ALL.into_iter().map(|kind| (kind, 0)).collect();
        for document in others..verdicts.len() {
            kinds[verdicts.get(document).kind as usize].1 += 1;
        }
        let mut without_key = 0;
        if config.method.keep.field(&config.fields.created).is_some() {
            corpus.keys()?.for_each(|_, key| {
                without_key += u64::from(key == MISSING);
                Ok(())
            })?;
        }
        let read = corpus.read();
        let summary = DedupSummary {
            rows: read.rows,
            documents: read.documents - read.others,
            others: read.others,
            skipped: read.skipped,
            skipped_first: corpus.skipped(NAMED)?,
            repeated_ids: repeated_ids(corpus, others)?,
            without_key,
            kinds,
            families: verdicts.family_sizes().count() as u64,
            compared,
            pairs,
            engine,
            input_bytes: read.input_bytes,
            text_bytes: read.text_bytes,
            phases: clock.finish(),
            plan: self.plan.clone(),
        };
        let json = serde_json::to_vec_pretty(&summary).expect("numbers and strings are JSON");
        write_whole(&self.partial.join("summary.json"), &json)?;
        let ids = corpus.ids()?;
        let mut documents = BTreeMap::new();
        for (document, text) in texts {
            documents.insert(document, (ids.get(document)?, text));
        }
        let report = Report {
            summary: &summary,
            verdicts: &verdicts,
            others,
            families: &shown_families,
            documents: &documents,
        };
        write_whole(&self.partial.join("report.html"), report.page().as_bytes())?;
        Ok(summary)
    }

    /// Verdicts are the last thing that takes long: a run that is killed while it writes does not
    /// decide again.
    fn save_verdicts(&self, decided: &(Families, String)) -> Result<(), ClusterError> {
        let (families, engine) = decided;
        let mut originals = ColumnWriter::open(self.work.join(ORIGINALS), Mark::default())?;
        let mut resemblances = ColumnWriter::open(self.work.join(RESEMBLANCES), Mark::default())?;
        for part in families.verdicts.chunks(4096) {
            let numbers: Vec<u32> = part.iter().map(|verdict| verdict.original).collect();
            originals.extend(&numbers)?;
            let values: Vec<f64> = part.iter().map(|verdict| verdict.resemblance).collect();
            resemblances.extend(&values)?;
        }
        let marks = [originals.flush()?, resemblances.flush()?];
        let note = json!({ "marks": marks, "compared": families.compared, "engine": engine });
        write_whole(&self.work.join(DECIDED), note.to_string().as_bytes())
    }

    fn load_verdicts(
        &self,
        representatives: &Representatives,
    ) -> Result<Option<(Families, String)>, ClusterError> {
        let path = self.work.join(DECIDED);
        if !path.exists() {
            return Ok(None);
        }
        #[derive(Deserialize)]
        struct Note {
            marks: [Mark; 2],
            compared: u64,
            engine: String,
        }
        let Note { marks, compared, engine } = crate::corpus::read_json(&path)?;
        // Opening a column behind its mark checks what it holds.
        ColumnWriter::<u32>::open(self.work.join(ORIGINALS), marks[0])?;
        ColumnWriter::<f64>::open(self.work.join(RESEMBLANCES), marks[1])?;
        let originals: Vec<u32> = Column::open(self.work.join(ORIGINALS))?.read_all()?;
        let values: Vec<f64> = Column::open(self.work.join(RESEMBLANCES))?.read_all()?;
        if originals.len() != representatives.documents.len() || values.len() != originals.len() {
            return Err(ClusterError::Damaged { path });
        }
        let verdicts = originals
            .into_iter()
            .zip(values)
            .map(|(original, resemblance)| Verdict { original, resemblance })
            .collect();
        Ok(Some((Families { verdicts, compared }, engine)))
    }

    /// What an earlier run of the same plan did, if it was killed while it took its place.
    fn was_finished(&self) -> Result<Option<DedupSummary>, ClusterError> {
        if !self.partial.join(DONE).exists() {
            return Ok(None);
        }
        let summary: DedupSummary = crate::corpus::read_json(&self.partial.join("summary.json"))?;
        if summary.plan == self.plan {
            return Ok(Some(summary));
        }
        Err(ClusterError::OtherPlan { path: self.partial.clone(), what: "plan".to_owned() })
    }

    /// Everything is written: it takes its place. Each step is whole or not done, and what a kill
    /// leaves behind says which came last.
    fn publish(&self) -> Result<(), ClusterError> {
        let done = self.partial.join(DONE);
        if !done.exists() {
            std::fs::rename(&self.work, &done).map_err(io("write", &done))?;
        }
        if let Some(path) = &self.config.pairs
            && partial_file(path).exists()
        {
            std::fs::rename(partial_file(path), path).map_err(io("write", path))?;
        }
        let output = &self.config.output;
        if output.exists() {
            std::fs::remove_dir(output).map_err(io("replace", output))?;
        }
        if self.config.save_sketches {
            for name in [FOUND_PAIRS, ORIGINALS, RESEMBLANCES, DECIDED] {
                let path = done.join(name);
                if path.exists() {
                    std::fs::remove_file(&path).map_err(io("remove", &path))?;
                }
            }
            let sketches = self.partial.join(SKETCHES);
            std::fs::rename(&done, &sketches).map_err(io("write", &sketches))?;
        } else {
            std::fs::remove_dir_all(&done).map_err(io("remove", &done))?;
        }
        std::fs::rename(&self.partial, output).map_err(io("write", output))
    }
}

/// What is said when only the last step was missing.
pub(crate) const FINISHED_BEFORE: &str = "an earlier run had finished everything but its last step";
/// What is said when nothing has to be read.
pub(crate) const READ_BEFORE: &str = "all documents were read by an earlier run";
/// The work of a run whose results are complete.
const DONE: &str = "done";
/// Where sketches stay with the results.
const SKETCHES: &str = "sketches";
const FOUND_PAIRS: &str = "found-pairs";
const ORIGINALS: &str = "originals";
const RESEMBLANCES: &str = "resemblances";
const DECIDED: &str = "decided.json";

fn partial_file(path: &Path) -> PathBuf {
    partial_folder(path)
}

fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Everything that decides the result: what must be equal for a run to go on with another's work.
fn plan(config: &DedupConfig, bands: Bands, inputs: &Inputs) -> Value {
    let rule = match config.method.rule {
        CopyRule::Threshold(threshold) => format!("threshold={threshold}"),
        CopyRule::Agreeing(least) => format!("{least}of{}", bands.bands),
    };
    json!({
        "program": env!("CARGO_PKG_VERSION"),
        "rule": rule,
        "family": match config.method.family { FamilyKind::Star => "star", FamilyKind::Linked => "linked" },
        "keep": config.method.keep.to_string(),
        "shingle words": config.method.shingle_words,
        "bands": [bands.bands, bands.rows],
        "seed": config.method.seed.fingerprint().to_string(),
        "normal form": wonbon_text::words::NORMAL_FORM_VERSION,
        "shingle hash": wonbon_text::shingles::SHINGLE_HASH_VERSION,
        "fields": {
            "id": config.fields.id, "url": config.fields.url, "created": config.fields.created,
            "text": config.fields.text, "html": config.fields.html,
        },
        "engine": format!("{:?}", config.method.engine).to_lowercase(),
        "against": config.against,
        "save sketches": config.save_sketches,
        "annotate": config.annotate,
        "strict": config.strict,
        "pairs": config.pairs,
        "inputs": serde_json::to_value(&inputs.files).expect("paths and numbers are JSON"),
    })
}

/// Ids that several documents have.
fn repeated_ids(corpus: &Corpus, others: u32) -> Result<(u64, Vec<String>), ClusterError> {
    let ids = corpus.ids()?;
    let fingerprint = |id: &str| wonbon_sketch::rabin::RABIN_64.fingerprint(id.as_bytes());
    let mut seen: Vec<u64> = Vec::with_capacity(corpus.len() as usize);
    ids.for_each(|document, id| {
        if document >= others {
            seen.push(fingerprint(id));
        }
        Ok(())
    })?;
    seen.sort_unstable();
    let mut repeated: Vec<u64> = seen
        .chunk_by(|one, other| one == other)
        .filter(|same| same.len() > 1)
        .map(|same| same[0])
        .collect();
    drop(seen);
    let count = repeated.len() as u64;
    let mut names = Vec::new();
    if count > 0 {
        ids.for_each(|document, id| {
            if document >= others
                && names.len() < NAMED
                && let Ok(at) = repeated.binary_search(&fingerprint(id))
            {
                repeated.remove(at);
                names.push(id.to_owned());
            }
            Ok(())
        })?;
    }
    Ok((count, names))
}
