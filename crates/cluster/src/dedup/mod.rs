//! Deduplication of a corpus: the whole job, from input files to output files.
//!
//! 1. *read*: every document becomes numbers in columns (`corpus`), with several threads;
//! 2. *order*: keep order; documents with the same set of shingles are represented by one;
//! 3. *compare*: candidates are verified on their full sets and families decided (`families`);
//! 4. *passages*: if asked for, what repeats in the documents that are kept (`passages`);
//! 5. *write*: the rows that are kept, the families, the pairs, the report.
//!
//! Everything is written below `OUT.partial`, which becomes `OUT` when all of it is on the disk
//! (`run_folder`). The same run started again after a kill continues after the last finished part of
//! step 1, or after steps 3 or 4 if these were finished.
//!
//! Memory: 40 to 75 bytes a document must fit, more the more copies there are; everything else is
//! done in pieces that fit what is given. Disk: eight bytes for each different shingle of each document, until the end of the run.

mod decided;
mod passages;
mod summary;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wonbon_documents::{Dates, FieldNames, Inputs, Limits, Progress};
use wonbon_files::{move_file, replace};
use wonbon_rule::Bands;

use crate::assignments::Assignments;
use crate::corpus::{Corpus, CorpusSource};
use crate::deciding::FamilyConfig;
use crate::digest::FamilyDigest;
use crate::error::{ClusterError, io};
use crate::family_files::{write_family_lines, write_family_table, write_pairs};
use crate::kept_rows::KeptRows;
use crate::order::Representatives;
use crate::output_file::OutputFile;
use crate::passages::Removal;
use crate::progress::PhaseClock;
use crate::report::{Report, ShownFamily, shown_families};
use crate::row_writers::{RowPassages, Selection};
use crate::run_folder::{self, FINISHED_BEFORE, RunFolder, begin_again_if_damaged};
use crate::sketching::Sketcher;
use crate::strings::StringColumn;
use crate::verdicts::Verdicts;
use decided::Decided;
use summary::NAMED;

pub(crate) use summary::{count_kinds, count_missing_keys, find_repeated_ids};

pub(crate) use passages::check_passage_words;
pub use passages::{MOST_PASSAGE_WORDS, PASSAGE_WORDS, PassageOptions, PassageSummary};
pub use summary::DedupSummary;

/// What a person sets.
#[derive(Clone, Debug)]
pub struct DedupConfig {
    /// Files and folders to read.
    pub inputs: Vec<PathBuf>,
    /// Where the results go: a folder that does not exist yet.
    pub output: PathBuf,
    /// Which field of a row means what.
    pub fields: FieldNames,
    /// Which dates decide who is the original.
    pub dates: Dates,
    /// How families are found.
    pub method: FamilyConfig,
    /// Whether every verified pair is written, to this file.
    pub pairs: Option<PathBuf>,
    /// All rows with their verdicts, rather than the kept ones.
    pub annotate: bool,
    /// Whether a row that is no document ends the run.
    pub strict: bool,
    /// How much of an input may be held in memory.
    pub limits: Limits,
    /// Other corpora (files, folders, or results of runs that saved their sketches): what occurs in
    /// them is dropped.
    pub against: Vec<PathBuf>,
    /// Bytes of input between two places where a killed run can continue. Smaller loses less and
    /// checks more. Never changes the result.
    pub part_bytes: u64,
    /// Whether the sketches stay with the results, for later runs against them.
    pub save_sketches: bool,
    /// Whether repeated passages are removed.
    pub passages: Option<PassageOptions>,
}

/// Runs the whole job.
///
/// # Errors
///
/// As [`ClusterError`] says. What is finished stays in `OUT.partial`, and the same run continues
/// from there.
pub fn dedup(config: &DedupConfig, progress: &dyn Progress) -> Result<DedupSummary, ClusterError> {
    begin_again_if_damaged(&config.output, progress, || dedup_once(config, progress))
}

fn dedup_once(config: &DedupConfig, progress: &dyn Progress) -> Result<DedupSummary, ClusterError> {
    let job = Job::new(config)?;
    if let Some(summary) = job.folder.finished_summary(&job.plan)? {
        progress.say(FINISHED_BEFORE);
        job.publish()?;
        return Ok(summary);
    }
    let clock = PhaseClock::new();
    let corpus = clock.time("read", job.inputs.bytes(), progress, || job.read(progress))?;
    let (verdicts, decided) = job.decide(&corpus, &clock, progress)?;
    let removal = job.find_passages(&corpus, &verdicts, &clock, progress)?;
    let results = clock.time("write", corpus.read().input_bytes, progress, || {
        job.write_rows(&corpus, &verdicts, removal.as_ref(), progress)
    })?;
    let summary = job.summarise(&corpus, &verdicts, decided, &results, clock)?;
    job.write_report(&summary, &verdicts, &results)?;
    job.folder.complete(&summary)?;
    drop(corpus);
    job.publish()?;
    Ok(summary)
}

/// Where sketches stay with the results.
const SKETCHES: &str = "sketches";
/// Verified pairs as they are found, and the folder of the file that is made of them.
const FOUND_PAIRS: &str = "found-pairs";
const PAIRS: &str = "pairs";

/// Documents of which too little is left.
const DROPPED: &str = "dropped.jsonl";

/// What is said of how copies were looked for when they were not.
const ONLY_PASSAGES: &str = "nothing: only passages were";

/// Results that a run interrupted in step 5 leaves behind.
const RESULTS: [&str; 6] =
    ["kept", "annotated", "families.jsonl", "families.parquet", DROPPED, "work/pairs"];

struct Job<'a> {
    config: &'a DedupConfig,
    inputs: Inputs,
    /// The first so many files belong to other corpora.
    other_files: usize,
    /// Results of earlier runs with their sketches.
    earlier: Vec<PathBuf>,
    bands: Bands,
    plan: Value,
    folder: RunFolder,
}

/// What step 5 wrote, and what it saw for the report.
struct Results {
    pairs: Option<u64>,
    passages: Option<PassageSummary>,
    digest: FamilyDigest,
    shown: Vec<ShownFamily>,
    /// Ids and texts of the documents that are shown.
    documents: BTreeMap<u32, (String, String)>,
}

impl<'a> Job<'a> {
    fn new(config: &'a DedupConfig) -> Result<Self, ClusterError> {
        let folder = RunFolder::check(&config.output)?;
        let bands = config.method.rule.bands();
        let (earlier, other): (Vec<PathBuf>, Vec<PathBuf>) =
            config.against.iter().cloned().partition(|path| path.join(SKETCHES).is_dir());
        let mut inputs = Inputs::find(&other, config.fields.clone())?;
        let other_files = inputs.files.len();
        let own = Inputs::find(&config.inputs, config.fields.clone())?;
        if let Some(passages) = &config.passages {
            passages.check()?;
            if let Some(path) = earlier.first().cloned() {
                let what = "texts; passages are compared by words, which sketches do not have";
                return Err(ClusterError::NotARun { path, what });
            }
            if !config.annotate {
                passages::check_inputs(&own.files)?;
            }
        }
        inputs.files.extend(own.files);
        inputs.unknown.extend(own.unknown);
        inputs.strict = config.strict;
        inputs.limits = config.limits;
        inputs.unpack = folder.work();
        let plan = plan(config, &inputs);
        folder.open()?;
        Ok(Job { config, inputs, other_files, earlier, bands, plan, folder })
    }

    fn read(&self, progress: &dyn Progress) -> Result<Corpus, ClusterError> {
        let method = &self.config.method;
        let maker = method.feature_maker()?;
        let passages = self.config.passages;
        let only_passages = passages.is_some_and(|passages| passages.only);
        let source = CorpusSource {
            inputs: &self.inputs,
            other_files: self.other_files,
            keep: &method.keep,
            dates: self.config.dates,
            feature_count: if only_passages { 0 } else { self.bands.bands },
            part_bytes: self.config.part_bytes,
            threads: method.threads,
            progress,
        };
        source.read(
            &self.folder.work(),
            &self.plan,
            |writer| {
                let mut earlier = self.earlier.iter().map(|folder| folder.join(SKETCHES));
                earlier.try_for_each(|sketches| writer.import(&sketches, &self.plan))
            },
            || Sketcher::new(&maker, self.bands.bands, method.shingle_words),
            |sketcher, document, sketches| {
                if only_passages {
                    Sketcher::add_unsketched(document.bytes(), document.text(), sketches);
                } else {
                    sketcher.add(document.bytes(), document.text(), sketches);
                }
                if let Some(PassageOptions { unit, .. }) = passages {
                    sketches.add_words(document.text(), Some(unit));
                }
            },
        )
    }

    /// Steps 2 and 3. The second answer is how families were found, and how many pairs were compared.
    fn decide(
        &self,
        corpus: &Corpus,
        clock: &PhaseClock,
        progress: &dyn Progress,
    ) -> Result<(Verdicts, (String, u64)), ClusterError> {
        let (method, work) = (&self.config.method, self.folder.work());
        let others = corpus.read().others as u32;
        if self.config.passages.is_some_and(|passages| passages.only) {
            return clock.time("order", 0, progress, || {
                let representatives = Representatives::all(corpus, &method.keep, others)?;
                let assignments = Assignments::alone(representatives.len());
                let verdicts = Verdicts::new(corpus, representatives, assignments, others)?;
                Ok((verdicts, (ONLY_PASSAGES.to_owned(), 0)))
            });
        }
        let representatives =
            clock.time("order", 0, progress, || method.representatives(corpus, others))?;
        let decided = match Decided::load(&work, representatives.len())? {
            Some(decided) => decided,
            None => {
                let pairs = self.config.pairs.as_ref().map(|_| work.join(FOUND_PAIRS));
                let (families, engine) =
                    method.decide(corpus, &representatives, pairs.as_deref(), clock, progress)?;
                let decided = Decided { families, engine };
                decided.save(&work)?;
                decided
            }
        };
        let Decided { families, engine } = decided;
        let verdicts = Verdicts::new(corpus, representatives, families.verdicts, others)?;
        Ok((verdicts, (engine, families.compared)))
    }

    /// Step 4.
    fn find_passages(
        &self,
        corpus: &Corpus,
        verdicts: &Verdicts,
        clock: &PhaseClock,
        progress: &dyn Progress,
    ) -> Result<Option<Removal>, ClusterError> {
        let Some(passages) = self.config.passages else { return Ok(None) };
        let (work, method) = (self.folder.work(), &self.config.method);
        clock
            .time("passages", corpus.read().text_bytes, progress, || {
                passages.find(corpus, verdicts, &work, method, progress)
            })
            .map(Some)
    }

    /// Step 5, but for the report and the summary.
    fn write_rows(
        &self,
        corpus: &Corpus,
        verdicts: &Verdicts,
        removal: Option<&Removal>,
        progress: &dyn Progress,
    ) -> Result<Results, ClusterError> {
        let others = corpus.read().others as u32;
        let annotate = self.config.annotate;
        let ids = corpus.ids()?;
        let no_cuts = BTreeMap::new();
        let options = self.config.passages.zip(removal);
        let passages = options.map(|(options, removal)| RowPassages {
            removal,
            min_left: options.min_left,
            text_field: &self.config.fields.text,
            input: Path::new(""),
            cuts: &no_cuts,
        });
        let selection = Selection { verdicts, ids: &ids, annotate, passages };
        self.folder.remove(&RESULTS)?;

        let shown = shown_families(verdicts, others);
        let mut documents = BTreeMap::new();
        let rows = KeptRows {
            inputs: &self.inputs,
            corpus,
            selection,
            other_files: self.other_files,
            unit: self.config.passages.map(|passages| passages.unit).unwrap_or_default(),
            progress,
        };
        let folder = self.folder.result(if annotate { "annotated" } else { "kept" });
        let written = rows.write(&folder, &documents_of(&shown, corpus), |document, text| {
            documents.insert(document, (String::new(), text));
        })?;
        for (document, (id, _)) in &mut documents {
            *id = ids.get(*document)?;
        }

        let digest = if written.any_table {
            write_family_table(self.folder.result("families.parquet"), selection, others)?
        } else {
            write_family_lines(self.folder.result("families.jsonl"), selection, others)?
        };
        let work = self.folder.work();
        let pairs = match &self.config.pairs {
            None => None,
            Some(path) => {
                let staged = staged_pairs(&work, path);
                let found = work.join(FOUND_PAIRS);
                Some(write_pairs(staged, &found, selection, others, progress)?)
            }
        };
        let passages = passages.map(|passages| self.write_dropped(passages, &ids)).transpose()?;
        Ok(Results { pairs, passages, digest, shown, documents })
    }

    /// Writes which documents are dropped because too little is left of them.
    fn write_dropped(
        &self,
        passages: RowPassages<'_>,
        ids: &StringColumn,
    ) -> Result<PassageSummary, ClusterError> {
        let removal = passages.removal;
        let mut summary = PassageSummary {
            cut: removal.documents().len() as u64,
            dropped: 0,
            removed_words: removal.removed_words,
            rounds: removal.rounds,
        };
        let mut file = OutputFile::create(self.folder.result(DROPPED))?;
        for &document in removal.documents() {
            if let Some((_, left)) = removal.of(document)
                && passages.drops(document)
            {
                summary.dropped += 1;
                let line = json!({"id": ids.get(document)?, "words_left": left});
                file.write(format!("{line}\n").as_bytes())?;
            }
        }
        file.finish()?;
        Ok(summary)
    }

    fn summarise(
        &self,
        corpus: &Corpus,
        verdicts: &Verdicts,
        (engine, compared): (String, u64),
        results: &Results,
        clock: PhaseClock,
    ) -> Result<DedupSummary, ClusterError> {
        let (read, config) = (corpus.read(), self.config);
        let others = read.others as u32;
        let by_field = config.method.keep.may_lack_key();
        Ok(DedupSummary {
            rows: read.rows,
            documents: read.documents - read.others,
            others: read.others,
            skipped: read.skipped,
            skipped_first: corpus.skipped(NAMED)?,
            repeated_ids: find_repeated_ids(corpus, others)?,
            without_key: if by_field { count_missing_keys(corpus)? } else { 0 },
            kinds: count_kinds(verdicts, others),
            families: verdicts.family_sizes().count() as u64,
            compared,
            pairs: results.pairs,
            passages: results.passages.clone(),
            digest: results.digest.to_string(),
            engine,
            input_bytes: read.input_bytes,
            text_bytes: read.text_bytes,
            phases: clock.finish(),
            plan: self.plan.clone(),
        })
    }

    fn write_report(
        &self,
        summary: &DedupSummary,
        verdicts: &Verdicts,
        results: &Results,
    ) -> Result<(), ClusterError> {
        let report = Report {
            summary,
            verdicts,
            others: summary.others as u32,
            families: &results.shown,
            documents: &results.documents,
        };
        Ok(replace(&self.folder.result("report.html"), report.page().as_bytes())?)
    }

    /// Gives the complete results their names. Each step is whole or not done, and can be repeated.
    fn publish(&self) -> Result<(), ClusterError> {
        let done = self.folder.finished_work();
        if let Some(path) = &self.config.pairs {
            let staged = staged_pairs(&done, path);
            if staged.exists() {
                publish_pairs(&staged, path)?;
            }
        }
        if !self.config.save_sketches {
            return self.folder.publish();
        }
        let own = [FOUND_PAIRS, PAIRS].into_iter().chain(passages::FILES);
        let needless: Vec<&str> = decided::FILES.into_iter().chain(own).collect();
        self.folder.publish_with_work(SKETCHES, &needless)
    }
}

/// The documents of the families that the report shows and whose texts can be read, ascending.
fn documents_of(shown: &[ShownFamily], corpus: &Corpus) -> Vec<u32> {
    let mut documents: Vec<u32> = shown
        .iter()
        .flat_map(ShownFamily::documents)
        .filter(|&document| u64::from(document) >= corpus.read().imported)
        .collect();
    documents.sort_unstable();
    documents.dedup();
    documents
}

/// Where the file of pairs is written first; the name decides how it is compressed.
fn staged_pairs(work: &Path, path: &Path) -> PathBuf {
    work.join(PAIRS).join(path.file_name().unwrap_or_default())
}

/// Moves the file of pairs to its place, which may be on another file system. What is no file, such as
/// a pipe, is written to.
fn publish_pairs(from: &Path, to: &Path) -> Result<(), ClusterError> {
    if to.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        let mut to_file = OpenOptions::new().write(true).open(to).map_err(io("write", to))?;
        let mut from_file = File::open(from).map_err(io("read", from))?;
        return std::io::copy(&mut from_file, &mut to_file).map(|_| ()).map_err(io("write", to));
    }
    Ok(move_file(from, to)?)
}

/// Everything that decides the result: what must be equal for a run to continue another's work.
fn plan(config: &DedupConfig, inputs: &Inputs) -> Value {
    let mut own = config.method.plan();
    own["against"] = json!(config.against);
    own["save sketches"] = json!(config.save_sketches);
    own["annotate"] = json!(config.annotate);
    own["pairs"] = json!(config.pairs);
    if let Some(passages) = &config.passages {
        own["passages"] = passages.plan();
    }
    run_folder::plan(own, &config.fields, config.dates, config.strict, inputs)
}
