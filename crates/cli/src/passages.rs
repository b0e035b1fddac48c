//! `wonbon passages`: the runs of words that a corpus repeats.

use std::io::{self, Write};
use std::path::PathBuf;

use wonbon_cluster::dedup::PASSAGE_WORDS;
use wonbon_cluster::passages::{LISTED_PLACES, ListConfig, ListSummary, list_passages};

use crate::Outcome;
use crate::batch::{CorpusOptions, RunOptions, end_run, tell_fields, tell_speed};
use crate::watcher::Watcher;
use crate::wording::counted;

/// List the passages that a corpus repeats: licences, footers, quoted posts, notices.
///
/// A passage is a run of at least --words words in normal form that occurs at two places or more, and that no word before
/// or behind makes longer at all of them. INPUT as for `wonbon dedup`. OUT is a folder that must not exist yet: in it are
/// `passages.jsonl` (`passages.parquet` if an input is Parquet): text of the first occurrence, words, bytes, occurrences,
/// documents, bytes saved if all but one were removed, and places as id, first byte and the byte behind the last of the
/// text; those that would save most come first. `report.html` shows the first of them in context.
///
/// `wonbon dedup --passages N` removes what this lists.
///
/// Exit codes: 0 done, 1 done but rows were skipped (they are named), 2 it could not run.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusOptions,
    /// The least words of a passage, from 2 on.
    #[arg(long, value_name = "N", default_value_t = PASSAGE_WORDS)]
    words: usize,
    /// The least documents that a passage occurs in; 1 lists what one document repeats, too.
    #[arg(long, value_name = "N", default_value_t = 2)]
    min_documents: u64,
    /// How many places of each passage are listed; all are counted.
    #[arg(long, value_name = "N", default_value_t = LISTED_PLACES)]
    places: usize,
    /// List only what also occurs in another corpus (files, folders), such as a benchmark or a collection of licences. May be
    /// given several times.
    #[arg(long, value_name = "OTHER")]
    against: Vec<PathBuf>,
    /// End at the first row that is no document, instead of skipping and naming it.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    run: RunOptions,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let resources = args.corpus.resources(&args.run)?;
    let config = ListConfig {
        inputs: resources.inputs,
        output: resources.output,
        fields: resources.fields,
        words: args.words,
        min_documents: args.min_documents,
        places: args.places,
        against: args.against.clone(),
        strict: args.strict,
        limits: args.corpus.limits(),
        threads: resources.threads,
        memory: resources.memory,
        part_bytes: resources.part_bytes,
    };
    let watcher = Watcher::new();
    let summary = list_passages(&config, &watcher).map_err(|error| args.corpus.explain(error))?;
    watcher.finish();
    let skipped = (summary.skipped, &summary.skipped_first[..]);
    end_run(args.run.json, &summary, || print_summary(&summary, &config), skipped)
}

fn print_summary(summary: &ListSummary, config: &ListConfig) -> io::Result<()> {
    let mut out = anstream::stderr().lock();
    tell_fields(&mut out, &config.fields)?;
    writeln!(
        out,
        "{}, {} of {} words or more, with {} in all",
        counted(summary.documents, "document", "documents"),
        counted(summary.passages, "passage", "passages"),
        config.words,
        counted(summary.occurrences, "occurrence", "occurrences")
    )?;
    if summary.others > 0 {
        let others = counted(summary.others, "document", "documents");
        writeln!(out, "compared with {others} of other corpora")?;
    }
    let share = 100.0 * summary.repeated_bytes as f64 / summary.word_bytes.max(1) as f64;
    writeln!(out, "{share:.1} % of the words occurred before in such a run")?;
    tell_speed(&mut out, &summary.phases, summary.text_bytes)
}
