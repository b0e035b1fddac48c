//! `wonbon dedup`: a corpus without its copies, every family explained.

use std::io::{self, Write};
use std::path::PathBuf;

use wonbon_app::requests::DedupRequest;
use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::dedup::{
    DedupConfig, DedupSummary, PASSAGE_WORDS, PassageOptions, PassageSummary, dedup,
};
use wonbon_cluster::families::FamilyKind;
use wonbon_cluster::keep::Keep;
use wonbon_cluster::passages::PassageUnit;
use wonbon_store::{Kind, Rule};

use crate::Outcome;
use crate::batch::{
    CorpusOptions, DateOptions, RunOptions, end_run, tell_fields, tell_speed, thousands,
};
use crate::options::{ShingleOptions, threshold};
use crate::watcher::Watcher;
use crate::wording::counted;

/// Remove the copies from a corpus, and say of every document what it is.
///
/// INPUT: JSON lines, CSV or Parquet, text or HTML files, plain or in gzip or zstd, folders of them,
/// or `-` for standard input. Inputs are never changed. OUT is a folder that must not exist yet; it appears when
/// everything in it is complete: `kept/` (the rows that stay, byte for byte, in files named as the
/// inputs), `families.jsonl` (for every document its id, family, original, resemblance to the
/// original and kind), `report.html` and `summary.json`; with --passages, kept rows have what is left of their text, and
/// `dropped.jsonl` names documents of which too little is left.
///
/// Until then the work in progress is in OUT.partial. The same command continues a killed run from the
/// last finished part.
///
/// Kinds: empty (no words; kept), original (the first of its family, often the only one; kept), and
/// copies: identical (same bytes), same-text (same words), same-shingles, copy (with differences).
///
/// Exit codes: 0 done, 1 done but rows were skipped (they are named), 2 it could not run.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusOptions,
    #[command(flatten)]
    dates: DateOptions,
    /// Exact resemblance from which a document is a copy: above 0, up to 1 [default: 0.8].
    #[arg(long, value_name = "R", value_parser = threshold)]
    threshold: Option<f64>,
    /// The papers' rule instead of a threshold: 2of6 features agree, and the resemblance is at least 0.5
    /// (`2of6,floor=0` does not verify).
    #[arg(long, value_name = "RULE", conflicts_with = "threshold")]
    rule: Option<Rule>,
    /// How copies are put together: star (every copy reaches the threshold to its original) or
    /// linked (connected components; a copy may be far from its original).
    #[arg(long, value_name = "KIND", default_value_t)]
    family: FamilyKind,
    /// How copies are looked for: exact (the set-similarity join), features (bands of min-values,
    /// verified), or auto (by size).
    #[arg(long, value_name = "ENGINE", default_value_t)]
    engine: Engine,
    /// Find every pair: the same as --engine exact.
    #[arg(long, conflicts_with_all = ["engine", "rule"])]
    exact: bool,
    #[command(flatten)]
    passages: PassageFlags,
    /// Drop what occurs in another corpus: files, folders, or the OUT of a run with
    /// --save-sketches, whose documents are not read again. May be given several times.
    #[arg(long, value_name = "OTHER")]
    against: Vec<PathBuf>,
    /// Keep the sketches in OUT, for later runs --against it. About 1.3 times the text in size.
    #[arg(long)]
    save_sketches: bool,
    /// Which document of a family stays: earliest (by its creation time, then the first read),
    /// longest, first, last, min:FIELD or max:FIELD.
    #[arg(long, value_name = "WHICH", default_value = "earliest")]
    keep: Keep,
    /// Write every verified pair to this file: id, id, resemblance, separated by tabs.
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// Keep all rows and add wonbon_family, wonbon_original, wonbon_resemblance and wonbon_kind to
    /// each (in `annotated/` instead of `kept/`); with --passages also wonbon_removed, the bytes of the text that passages
    /// take, instead of removing them.
    #[arg(long)]
    annotate: bool,
    /// End at the first row that is no document, instead of skipping and naming it.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    shingles: ShingleOptions,
    #[command(flatten)]
    run: RunOptions,
}

/// What is done about passages.
#[derive(clap::Args)]
struct PassageFlags {
    /// Also remove repeated passages from the documents that are kept, all occurrences but the first in keep order,
    /// until no run of N words is left twice. 50 is about a paragraph; 13 is usual against benchmarks.
    #[arg(long, value_name = "N")]
    passages: Option<usize>,
    /// Remove repeated passages (of 50 words unless --passages says otherwise) and compare no whole documents.
    #[arg(long, conflicts_with_all = ["pairs", "save_sketches", "threshold", "rule"])]
    passages_only: bool,
    /// What is removed as a whole where it touches a repeated passage: word, line or paragraph.
    #[arg(long, value_name = "UNIT", default_value_t)]
    unit: PassageUnit,
    /// Drop a document from which passages are removed if fewer words are left; `dropped.jsonl` names it.
    #[arg(long, value_name = "WORDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    min_left: u32,
    /// Remove only passages that occur in the corpora of --against; what the input itself repeats stays.
    #[arg(long, requires = "against")]
    passages_from_against: bool,
}

impl PassageFlags {
    fn options(&self) -> Option<PassageOptions> {
        let words = match self.passages {
            None if !self.passages_only => return None,
            words => words.unwrap_or(PASSAGE_WORDS),
        };
        Some(PassageOptions {
            words,
            only: self.passages_only,
            unit: self.unit,
            min_left: self.min_left,
            of_others_only: self.passages_from_against,
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let request = DedupRequest {
        threshold: args.threshold,
        rule: args.rule,
        family: Some(args.family),
        engine: Some(if args.exact { Engine::Exact } else { args.engine }),
        keep: Some(args.keep.clone()),
        annotate: args.annotate,
        dates: Some(args.dates.dates),
        ..DedupRequest::default()
    };
    let planned = request.config(args.corpus.resources(&args.run)?)?;
    let config = DedupConfig {
        method: FamilyConfig {
            shingle_words: args.shingles.shingle,
            seed: args.shingles.seed()?,
            ..planned.method
        },
        pairs: args.pairs.clone(),
        strict: args.strict,
        limits: args.corpus.limits(),
        against: args.against.clone(),
        save_sketches: args.save_sketches,
        passages: args.passages.options(),
        ..planned
    };
    let watcher = Watcher::new();
    let summary = dedup(&config, &watcher).map_err(|error| args.corpus.explain(error))?;
    watcher.finish();
    let skipped = (summary.skipped, &summary.skipped_first[..]);
    end_run(args.run.json, &summary, || print_summary(&summary, &config), skipped)
}

fn print_summary(summary: &DedupSummary, config: &DedupConfig) -> io::Result<()> {
    let mut out = anstream::stderr().lock();
    tell_fields(&mut out, &config.fields)?;
    writeln!(out, "looked for copies by {}", summary.engine)?;
    let kept = summary.documents - summary.copies();
    writeln!(
        out,
        "{}, {} kept, {} in {}",
        counted(summary.documents, "document", "documents"),
        thousands(kept),
        counted(summary.copies(), "copy", "copies"),
        counted(summary.families, "family", "families")
    )?;
    if summary.others > 0 {
        let others = counted(summary.others, "document", "documents");
        writeln!(out, "compared with {others} of other corpora")?;
    }
    for kind in Kind::ALL.into_iter().filter(|&kind| summary.of_kind(kind) > 0) {
        writeln!(out, "  {kind:<14} {:>12}", thousands(summary.of_kind(kind)))?;
    }
    if let Some(PassageSummary { cut, dropped, removed_words, rounds }) = &summary.passages {
        writeln!(
            out,
            "{} removed from {} in {}; {} of these dropped",
            counted(*removed_words, "word", "words"),
            counted(*cut, "document", "documents"),
            counted(*rounds, "round", "rounds"),
            thousands(*dropped)
        )?;
    }
    writeln!(out, "digest of the families: {}", summary.digest)?;
    if summary.without_key > 0 {
        writeln!(
            out,
            "{} without a value for --keep {}: put after the others",
            counted(summary.without_key, "document", "documents"),
            config.method.keep
        )?;
    }
    let (repeated, first) = &summary.repeated_ids;
    if let Some(first) = first.first() {
        let repeated = counted(*repeated, "id occurs", "ids occur");
        writeln!(out, "{repeated} on several rows, such as `{first}`")?;
    }
    tell_speed(&mut out, &summary.phases, summary.text_bytes)
}
