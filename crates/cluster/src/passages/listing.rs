//! The list of all passages of a corpus: the whole job, from input files to output files.
//!
//! 1. *read*: the words of every document go to a column (`corpus`), with several threads;
//! 2. *search*: every maximal repeat, with its first places;
//! 3. *texts*: the inputs are read again, since only they say which bytes the words came from: bytes of all listed places,
//!    texts of the first ones;
//! 4. *write*: passages by the bytes that their repetitions take, and the report.
//!
//! A run that was killed goes on after the last finished part of step 1.
//!
//! Cost: about 150 bytes of memory a passage and 40 for each place that is listed; on disk as `repeats` says, and the words.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wonbon_documents::{Dates, FieldNames, Inputs, Limits, Progress, Skipped};
use wonbon_files::replace;

use super::cut::locate_ranges;
use super::list_files::write_list;
use super::list_report::report_page;
use super::maximal::{Repeat, RepeatFilter, for_each_maximal};
use super::repeats::Finder;
use super::scan::WindowPlan;
use super::seeds::Seeds;
use super::words::{Removed, WordText};
use crate::columns::{Column, ColumnWriter, Mark};
use crate::corpus::{Corpus, CorpusSource};
use crate::dedup::check_passage_words;
use crate::error::ClusterError;
use crate::keep::Keep;
use crate::kept_rows::read_texts;
use crate::progress::{PhaseClock, PhaseTime};
use crate::report::start as text_start;
use crate::run_folder::{self, FINISHED_BEFORE, RunFolder};
use crate::sketching::{Sketcher, Sketches};

/// How many skipped rows are named.
const NAMED: usize = 100;

/// How much of the text of a passage is written.
pub const SHOWN_PASSAGE_BYTES: usize = 10_000;

/// How many places of each passage are written, unless another number is said.
pub const LISTED_PLACES: usize = 100;

/// How many passages the report shows.
pub(super) const REPORTED: usize = 50;

/// Bytes of text around a passage that the report shows.
pub(super) const CONTEXT: usize = 160;

/// The part of the memory in which one list is sorted; two are sorted at a time.
const SORTING_SHARE: u64 = 4;

/// What a person sets.
#[derive(Clone, Debug)]
pub struct ListConfig {
    /// Files and folders to read.
    pub inputs: Vec<PathBuf>,
    /// Where the results go: a folder that does not exist yet.
    pub output: PathBuf,
    /// Which field of a row means what.
    pub fields: FieldNames,
    /// The least words of a passage.
    pub words: usize,
    /// The least documents that it occurs in.
    pub min_documents: u64,
    /// The most places that are listed of each; all are counted.
    pub places: usize,
    /// Other corpora: only what occurs in them and in the inputs is listed.
    pub against: Vec<PathBuf>,
    /// Whether a row that is no document ends the run.
    pub strict: bool,
    /// How much of an input may be held in memory.
    pub limits: Limits,
    /// Threads. Never changes the result.
    pub threads: NonZeroUsize,
    /// Bytes of memory to stay within. Never changes the result.
    pub memory: u64,
    /// Bytes of input between two places where a killed run can continue.
    pub part_bytes: u64,
}

/// What a run did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListSummary {
    /// Rows read.
    pub rows: u64,
    /// Documents among them.
    pub documents: u64,
    /// Documents of the other corpora.
    pub others: u64,
    /// Rows and files that are no documents.
    pub skipped: u64,
    /// The first of them.
    pub skipped_first: Vec<Skipped>,
    /// Passages listed.
    pub passages: u64,
    /// Their occurrences altogether.
    pub occurrences: u64,
    /// Bytes of words in normal form.
    pub word_bytes: u64,
    /// Those of them that occurred before, in a run of the least words.
    pub repeated_bytes: u64,
    /// Bytes read, decompressed.
    pub input_bytes: u64,
    /// Bytes of core text.
    pub text_bytes: u64,
    /// What each phase took.
    pub phases: Vec<PhaseTime>,
    /// Everything that decides the result.
    pub plan: Value,
}

/// A passage as it is written.
#[derive(Clone, Debug)]
pub(super) struct Passage {
    pub(super) words: u64,
    pub(super) occurrences: u64,
    pub(super) documents: u64,
    /// The document, and the bytes of its text.
    pub(super) places: Vec<(u32, [u64; 2])>,
    /// Where its text stands among the texts.
    pub(super) text: (u64, u32),
    /// What of the text is shown around it, if the report shows it.
    pub(super) context: Option<[String; 2]>,
}

impl Passage {
    /// Bytes of the first occurrence.
    pub(super) fn bytes(&self) -> u64 {
        self.places.first().map_or(0, |(_, [start, end])| end - start)
    }

    /// Bytes that all occurrences but one take.
    pub(super) fn saved(&self) -> u64 {
        self.bytes() * (self.occurrences - 1)
    }
}

/// Runs the whole job.
///
/// # Errors
///
/// As [`ClusterError`] says. What was read stays in `OUT.partial`, and the same run continues from there.
pub fn list_passages(
    config: &ListConfig,
    progress: &dyn Progress,
) -> Result<ListSummary, ClusterError> {
    check_passage_words(config.words)?;
    let folder = RunFolder::check(&config.output)?;
    let mut inputs = Inputs::find(&config.against, config.fields.clone())?;
    let other_files = inputs.files.len();
    let own = Inputs::find(&config.inputs, config.fields.clone())?;
    inputs.files.extend(own.files);
    inputs.strict = config.strict;
    inputs.limits = config.limits;
    inputs.unpack = folder.work();
    let own = json!({
        "passage words": config.words,
        "least documents": config.min_documents,
        "places": config.places,
        "against": config.against,
    });
    let plan = run_folder::plan(own, &config.fields, Dates::default(), config.strict, &inputs);
    folder.open()?;
    if let Some(summary) = folder.finished_summary(&plan)? {
        progress.say(FINISHED_BEFORE);
        folder.publish()?;
        return Ok(summary);
    }
    let clock = PhaseClock::new();
    let corpus = clock.time("read", inputs.bytes(), progress, || {
        read(config, &inputs, other_files, &folder, &plan, progress)
    })?;
    let run = Run { config, inputs: &inputs, corpus: &corpus, folder: &folder, progress };
    let (repeats, word_bytes, repeated_bytes) =
        clock.time("search", corpus.read().text_bytes, progress, || run.search())?;
    let mut passages =
        clock.time("texts", corpus.read().input_bytes, progress, || run.find_places(&repeats))?;
    drop(repeats);
    passages.sort_unstable_by(|one, other| {
        let by_saved = other.saved().cmp(&one.saved());
        by_saved.then_with(|| one.places.cmp(&other.places)).then(one.words.cmp(&other.words))
    });
    let (ids, texts) = (corpus.ids()?, Column::open(folder.work().join(TEXTS))?);
    clock.time("write", 0, progress, || {
        folder.remove(&RESULTS)?;
        run.find_contexts(&mut passages)?;
        let any_table = inputs.files[other_files..]
            .iter()
            .any(|file| file.path.extension().is_some_and(|ending| ending == "parquet"));
        let name = if any_table { RESULTS[1] } else { RESULTS[0] };
        write_list(folder.result(name), any_table, &passages, &ids, &texts)
    })?;
    let read = corpus.read();
    let summary = ListSummary {
        rows: read.rows,
        documents: read.documents - read.others,
        others: read.others,
        skipped: read.skipped,
        skipped_first: corpus.skipped(NAMED)?,
        passages: passages.len() as u64,
        occurrences: passages.iter().map(|passage| passage.occurrences).sum(),
        word_bytes,
        repeated_bytes,
        input_bytes: read.input_bytes,
        text_bytes: read.text_bytes,
        phases: clock.finish(),
        plan,
    };
    let shown = &passages[..passages.len().min(REPORTED)];
    let page = report_page(&summary, config.words, shown, &ids, &texts)?;
    replace(&folder.result("report.html"), page.as_bytes())?;
    folder.complete(&summary)?;
    drop(corpus);
    folder.publish()?;
    Ok(summary)
}

/// The texts of passages, one behind another.
const TEXTS: &str = "passage-texts";

/// The list, in either format.
const RESULTS: [&str; 2] = ["passages.jsonl", "passages.parquet"];

fn read(
    config: &ListConfig,
    inputs: &Inputs,
    other_files: usize,
    folder: &RunFolder,
    plan: &Value,
    progress: &dyn Progress,
) -> Result<Corpus, ClusterError> {
    let source = CorpusSource {
        inputs,
        other_files,
        keep: &Keep::First,
        dates: Dates::default(),
        feature_count: 0,
        part_bytes: config.part_bytes,
        threads: config.threads,
        progress,
    };
    source.read(
        &folder.work(),
        plan,
        |_| Ok(()),
        || (),
        |(), document, sketches: &mut Sketches| {
            Sketcher::add_unsketched(document.bytes(), document.text(), sketches);
            sketches.add_words(document.text(), None);
        },
    )
}

struct Run<'a> {
    config: &'a ListConfig,
    inputs: &'a Inputs,
    corpus: &'a Corpus,
    folder: &'a RunFolder,
    progress: &'a dyn Progress,
}

/// A place of a repeat that is to be found in a text.
struct Wanted {
    /// The document.
    document: u32,
    /// Where the place starts and ends in the words of the document.
    words: [u64; 2],
    /// The number of the passage, and of the place in its list.
    of: (usize, usize),
}

impl Run<'_> {
    /// The maximal repeats with their first places; how many bytes of words there are, and how many of them repeat.
    fn search(&self) -> Result<(Vec<Repeat>, u64, u64), ClusterError> {
        let config = self.config;
        let others = self.corpus.read().others as usize;
        let (bytes, ends) = self.corpus.words()?;
        let words = WordText::new(bytes, &ends, 0..self.corpus.len(), others);
        let work = self.folder.work();
        let finder = Finder {
            words: &words,
            plan: WindowPlan::new(config.words),
            folder: &work,
            memory: config.memory / SORTING_SHARE,
            window_bytes: None,
            threads: config.threads,
            progress: self.progress,
            of_others_only: others > 0,
        };
        let filter = RepeatFilter {
            words: config.words,
            documents: config.min_documents,
            places: config.places.max(1),
            across: others > 0,
        };
        let nothing = Removed::default();
        let mut repeats = Vec::new();
        let mut seeds = Seeds::default();
        finder.write_seeds(&mut seeds, &nothing, None)?;
        let again = finder.find(
            &seeds,
            &nothing,
            Some(&mut |class| {
                for_each_maximal(&words, class, filter, |repeat| {
                    repeats.push(repeat);
                    Ok(())
                })
            }),
        )?;
        seeds.remove()?;
        let repeated = again.ranges().iter().map(|(start, end)| end - start + 1).sum();
        Ok((repeats, words.total_bytes(), repeated))
    }

    /// Finds the bytes of all places that are listed, and writes the texts of the first ones.
    fn find_places(&self, repeats: &[Repeat]) -> Result<Vec<Passage>, ClusterError> {
        let mut passages: Vec<Passage> = repeats
            .iter()
            .map(|repeat| Passage {
                words: repeat.words,
                occurrences: repeat.occurrences,
                documents: repeat.documents,
                places: vec![(0, [0; 2]); repeat.places.len()],
                text: (0, 0),
                context: None,
            })
            .collect();
        let (_, ends) = self.corpus.words()?;
        let start_of = |document: usize| if document == 0 { 0 } else { ends[document - 1] };
        let mut wanted = Vec::new();
        for (number, repeat) in repeats.iter().enumerate() {
            for (at, &place) in repeat.places.iter().enumerate() {
                let document = ends.partition_point(|&end| end <= place);
                let start = place - start_of(document);
                let words = [start, start + repeat.bytes];
                wanted.push(Wanted { document: document as u32, words, of: (number, at) });
            }
        }
        wanted.sort_unstable_by_key(|one| (one.document, one.of));
        let mut documents: Vec<u32> = wanted.iter().map(|one| one.document).collect();
        documents.dedup();

        let mut texts = ColumnWriter::<u8>::open(self.folder.work().join(TEXTS), Mark::default())?;
        let mut rest = &wanted[..];
        let mut failed = Ok(());
        read_texts(self.inputs, self.corpus, &documents, self.progress, |document, text| {
            let count = rest.partition_point(|one| one.document <= document);
            let (here, behind) = rest.split_at(count);
            rest = behind;
            if failed.is_ok() {
                failed = note_places(here, &text, &mut passages, &mut texts);
            }
        })?;
        failed?;
        texts.flush()?;
        if let Some(missing) = rest.first() {
            let file = self.corpus.ids()?.get(missing.document)?;
            return Err(ClusterError::InputChanged { file });
        }
        Ok(passages)
    }

    /// Finds what stands around the passages that the report shows.
    fn find_contexts(&self, passages: &mut [Passage]) -> Result<(), ClusterError> {
        let mut shown: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, passage) in passages.iter().enumerate().take(REPORTED) {
            if let Some((document, _)) = passage.places.first() {
                shown.entry(*document).or_default().push(at);
            }
        }
        let documents: Vec<u32> = shown.keys().copied().collect();
        read_texts(self.inputs, self.corpus, &documents, self.progress, |document, text| {
            for &at in &shown[&document] {
                let [start, end] = passages[at].places[0].1.map(|byte| byte as usize);
                let before = text_start(&text, start.saturating_sub(CONTEXT)).len();
                let behind = text_start(&text, end + CONTEXT).len();
                let context = [text.get(before..start), text.get(end..behind)];
                passages[at].context = Some(context.map(|part| part.unwrap_or("").to_owned()));
            }
        })
    }
}

/// Notes the bytes of the places in one document.
fn note_places(
    wanted: &[Wanted],
    text: &str,
    passages: &mut [Passage],
    texts: &mut ColumnWriter<u8>,
) -> Result<(), ClusterError> {
    let ranges: Vec<[u64; 2]> = wanted.iter().map(|one| one.words).collect();
    let Some(found) = locate_ranges(text, &ranges) else {
        let file = "an input".to_owned();
        return Err(ClusterError::InputChanged { file });
    };
    for (Wanted { document, of: (passage, at), .. }, Range { start, end }) in
        wanted.iter().zip(found)
    {
        let passage = &mut passages[*passage];
        passage.places[*at] = (*document, [start as u64, end as u64]);
        if *at == 0 {
            let shown = text_start(text, end.min(start + SHOWN_PASSAGE_BYTES)).len();
            let bytes = &text.as_bytes()[start..shown.max(start)];
            passage.text = (texts.bytes(), bytes.len() as u32);
            texts.extend(bytes)?;
        }
    }
    Ok(())
}

/// The text of a passage, as far as it is written.
pub(super) fn text_of(passage: &Passage, texts: &Column<u8>) -> Result<String, ClusterError> {
    let mut bytes = vec![0; passage.text.1 as usize];
    texts.read_at(passage.text.0, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
