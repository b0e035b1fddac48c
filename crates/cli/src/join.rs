//! `wonbon join`: all pairs of records in one file, or of two files, that are similar enough.
//!
//! Reads records, hands them to `wonbon-join`, sorts the pairs and prints them. Everything that
//! can be wrong with the request is checked before the first record is read.

mod memory;
mod output;
mod records;
mod stats;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser as _;
use wonbon_join::{JoinParams, MEASURES, Measure, Threshold, algorithm, algorithms, join_pairs};

use crate::Outcome;
use crate::watcher::Watcher;
use output::{Format, Output, PairSorter};
use records::{Reading, TextAs};
use stats::Stats;

/// Find all pairs of records whose similarity reaches a threshold, exactly.
///
/// A record is a line: tokens separated by spaces, or a JSON object with a field of tokens or of
/// text. Prints `line-a<TAB>line-b<TAB>similarity` with lines counted from 0, sorted; with two
/// files, line-a is a line of the first.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Records to join, plain, .gz or .zst; `-` is standard input.
    file: PathBuf,
    /// Joins the first file with this one instead of with itself.
    file2: Option<PathBuf>,
    /// The least similarity of a pair, such as 0.85 or 17/20; a number of tokens for overlap.
    #[arg(long, short, value_name = "T")]
    threshold: String,
    /// How records are compared. Containment is the part of the first file's record that the
    /// other has too; within one file, of the smaller record.
    #[arg(long, value_name = "M", default_value = "jaccard",
          value_parser = PossibleValuesParser::new(MEASURES.map(Measure::name))
              .map(|name| name.parse::<Measure>().expect("only names of measures get here")))]
    measure: Measure,
    /// How pairs are found; every algorithm finds the same.
    #[arg(long, value_name = "A", default_value = "auto",
          value_parser = PossibleValuesParser::new(algorithms().map(|algorithm| algorithm.name())))]
    algorithm: String,
    /// Keeps only the best N pairs of each record (of the first file's, with two files).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Threads to use [default: all cores]. Only auto uses more than one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Writes the pairs to a file, which appears when it is complete.
    #[arg(long, short, value_name = "F")]
    out: Option<PathBuf>,
    /// Says on standard error what was done: comparisons, candidates, pairs, seconds, memory.
    #[arg(long)]
    stats: bool,
    /// Prints a JSON object a pair (and statistics as one).
    #[arg(long)]
    json: bool,
    /// Memory to stay below, such as 512M or 4G; work that does not fit is split by size.
    #[arg(long, value_name = "SIZE", value_parser = memory::parse)]
    memory: Option<u64>,
    /// Takes records as text and joins their sets of shingles of W words.
    #[arg(long, value_name = "W", conflicts_with = "words",
          value_parser = clap::value_parser!(u16).range(1..))]
    shingle: Option<u16>,
    /// Takes records as text and joins their sets of words.
    #[arg(long)]
    words: bool,
    /// The field of JSON lines to join [default: tokens, or else text].
    #[arg(long, value_name = "NAME")]
    field: Option<String>,
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<Outcome> {
    let threshold: Threshold = args.threshold.parse()?;
    let mut params = JoinParams::new(args.measure, threshold)?;
    params.threads = match args.threads {
        Some(threads) => usize::from(threads),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    let algorithm = algorithm(&args.algorithm).context("no such algorithm")?;
    let text_as = match (args.shingle, args.words) {
        (Some(words), _) => TextAs::Shingles(words.into()),
        (None, true) => TextAs::Words,
        (None, false) => TextAs::Tokens,
    };
    if args.file2.as_ref().is_some_and(|second| second.as_os_str() == "-")
        && args.file.as_os_str() == "-"
    {
        bail!("only one of the two files can be standard input");
    }
    let output = Output::check(args.out.as_deref())?;

    let started = Instant::now();
    let mut reading = Reading::new(text_as, args.field.as_deref(), args.file2.is_some());
    reading.read(&args.file, wonbon_join::Side::Left)?;
    if let Some(second) = &args.file2 {
        reading.read(second, wonbon_join::Side::Right)?;
    }
    let lines = reading.lines();
    let builder = reading.into_builder();
    let read = Instant::now();
    let collection = builder.finish();
    let ordered = Instant::now();

    if let Some(limit) = args.memory {
        // Every thread has a table of its own: rather fewer threads than no join.
        let held = collection.bytes_held();
        params.index_bytes = loop {
            let tables = collection.list_table_bytes(params.threads);
            match memory::left_for_index(limit, held, tables) {
                Err(_) if params.threads > 1 => params.threads -= 1,
                left => break left?,
            }
        };
    }
    let progress = Watcher::new();
    params.progress = &progress;
    let mut sorter = PairSorter::new(args.memory);
    let joined =
        join_pairs(algorithm, &collection, &params, args.top.map(|top| top as usize), &mut sorter);
    progress.finish();
    let counters = sorter.check().and_then(|()| Ok(joined?))?;
    let finished = Instant::now();

    let format = Format::new(&collection, args.measure, args.json);
    let records = collection.len();
    let tokens = collection.token_count();
    drop(collection);
    let pairs = output.write(sorter, &format)?;
    if args.stats {
        let stats = Stats {
            algorithm: algorithm.name(),
            measure: args.measure.name(),
            threshold,
            threads: params.threads,
            lines,
            records: records as u64,
            tokens,
            counters,
            pairs,
            reading: read - started,
            ordering: ordered - read,
            joining: finished - ordered,
            writing: finished.elapsed(),
        };
        output::say(&if args.json { stats.as_json() } else { stats.as_text() });
    }
    Ok(Outcome::Done)
}
