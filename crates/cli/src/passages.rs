//! `wonbon passages`: the runs of words that a corpus repeats.

use std::io::{self, Write};
use std::path::PathBuf;

use wonbon_cluster::dedup::PASSAGE_WORDS;
use wonbon_cluster::passages::{LISTED_PLACES, ListConfig, ListSummary, list_passages};

use crate::Outcome;
use crate::batch::{
    FieldOptions, LimitOptions, RunOptions, end_run, explain, spool_standard_input, tell_fields,
    thousands,
};
use crate::watcher::Watcher;

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
    /// Files and folders to read; `-` is standard input.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// The folder of the results.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
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
    #[command(flatten)]
    fields: FieldOptions,
    #[command(flatten)]
    limits: LimitOptions,
    /// End at the first row that is no document, instead of skipping and naming it.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    run: RunOptions,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let inputs = spool_standard_input(&args.inputs, &args.output)?;
    let fields = args.fields.names(&inputs, &args.output)?;
    let resources = args.run.resources(inputs, fields, &args.output);
    let config = ListConfig {
        inputs: resources.inputs,
        output: resources.output,
        fields: resources.fields,
        words: args.words,
        min_documents: args.min_documents,
        places: args.places,
        against: args.against.clone(),
        strict: args.strict,
        limits: args.limits.limits(),
        threads: resources.threads,
        memory: resources.memory,
        part_bytes: resources.part_bytes,
    };
    let watcher = Watcher::new();
    let summary = list_passages(&config, &watcher).map_err(|error| explain(error, &args.output))?;
    watcher.finish();
    let skipped = (summary.skipped, &summary.skipped_first[..]);
    end_run(args.run.json, &summary, || print_summary(&summary, &config), skipped)
}

fn print_summary(summary: &ListSummary, config: &ListConfig) -> io::Result<()> {
    let mut out = anstream::stderr().lock();
    tell_fields(&mut out, &config.fields)?;
    writeln!(
        out,
        "{} documents, {} passages of {} words or more, which occur {} times",
        thousands(summary.documents),
        thousands(summary.passages),
        config.words,
        thousands(summary.occurrences)
    )?;
    if summary.others > 0 {
        writeln!(out, "compared with {} documents of other corpora", thousands(summary.others))?;
    }
    let share = 100.0 * summary.repeated_bytes as f64 / summary.word_bytes.max(1) as f64;
    writeln!(out, "{share:.1} % of the words occurred before in such a run")?;
    let seconds: f64 = summary.phases.iter().map(|phase| phase.seconds).sum();
    let peak = summary.phases.iter().map(|phase| phase.peak_bytes).max().unwrap_or(0);
    writeln!(
        out,
        "{:.1} s, {:.1} MB of text a second, {} MB of memory at most",
        seconds,
        summary.text_bytes as f64 / 1e6 / seconds.max(1e-3),
        peak / 1_000_000
    )
}
