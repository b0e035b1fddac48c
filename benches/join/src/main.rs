//! Times joins inside one process, so that algorithms are compared on the same records in the
//! same memory within moments of each other.
//!
//! `time` reads a file of token numbers once and runs each algorithm at each threshold,
//! `--repeat` times, alternating (also between numbers of threads, if several are given), and
//! prints a JSON line for each cell with the least wall time and the least CPU time. `generate` writes a seeded set with the shape of the paper's data.
//! What it leaves out: reading, ordering and printing (see `wonbon join --stats`).

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Parser;
use wonbon_join::auto::{Auto, Way};
use wonbon_join::interner::WordNumbers;
use wonbon_join::{
    Algorithm, Collection, CollectionBuilder, Counters, JoinParams, Match, MatchSink, Measure,
    Side, Threshold, algorithm,
};
use wonbon_testkit::join::shapes::{DBLP, ENRON};

#[derive(Parser)]
enum Command {
    /// Times algorithms on a file.
    Time {
        file: PathBuf,
        #[arg(long, value_delimiter = ',', default_value = "0.5,0.6,0.7,0.8,0.85,0.9,0.95")]
        thresholds: Vec<String>,
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "auto,allpairs,ppjoin,ppjoin+,mpjoin,apjoin"
        )]
        algorithms: Vec<String>,
        #[arg(long, default_value = "3")]
        repeat: u32,
        /// Repeats further until so many seconds went into a threshold.
        #[arg(long, default_value = "0")]
        spend: f64,
        #[arg(long, value_delimiter = ',', default_value = "1")]
        threads: Vec<usize>,
        #[arg(long, default_value = "jaccard")]
        measure: String,
        /// An algorithm that took longer than so many seconds is not run at lower thresholds.
        #[arg(long, default_value = "1000000")]
        limit: f64,
    },
    /// Writes a generated set: dblp or enron.
    Generate {
        shape: String,
        #[arg(long)]
        records: Option<u32>,
    },
}

/// Cells over so many seconds are measured once.
const NOT_REPEATED: f64 = 2.0;

struct Count(u64);

impl MatchSink for Count {
    fn accept(&mut self, matches: &[Match]) -> std::ops::ControlFlow<()> {
        self.0 += matches.len() as u64;
        std::ops::ControlFlow::Continue(())
    }
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Generate { shape, records } => {
            let shape = if shape == "dblp" { DBLP } else { ENRON };
            let shape = records.map_or(shape, |records| shape.with_records(records));
            let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
            let mut failed = Ok(());
            shape.generate(|tokens| {
                let mut write = || -> std::io::Result<()> {
                    for (at, token) in tokens.iter().enumerate() {
                        write!(out, "{}{token}", if at == 0 { "" } else { " " })?;
                    }
                    writeln!(out)
                };
                if failed.is_ok() {
                    failed = write();
                }
            });
            failed?;
            out.flush()?;
        }
        Command::Time {
            file,
            mut thresholds,
            algorithms,
            repeat,
            spend,
            threads,
            measure,
            limit,
        } => {
            let measure = measure.parse().ok().context("unknown measure")?;
            let collection = read(&file)?;
            let columns: Vec<(&str, usize)> = algorithms
                .iter()
                .flat_map(|name| threads.iter().map(move |&threads| (name.as_str(), threads)))
                .collect();
            let mut slow = vec![false; columns.len()];
            // Highest first: the fastest cells come first and the limit cuts the rest.
            thresholds.sort_by(|a, b| b.partial_cmp(a).expect("text compares"));
            for threshold in thresholds {
                let mut cells: Vec<Option<Cell>> = vec![None; columns.len()];
                let (started, mut rounds) = (Instant::now(), 0);
                while rounds < repeat || started.elapsed().as_secs_f64() < spend {
                    rounds += 1;
                    for (at, &(name, threads)) in columns.iter().enumerate() {
                        if slow[at]
                            || cells[at].as_ref().is_some_and(|cell| cell.wall > NOT_REPEATED)
                        {
                            continue;
                        }
                        let cell = run(&collection, name, &threshold, measure, threads)?;
                        let best = cells[at].get_or_insert_with(|| cell.clone());
                        best.wall = best.wall.min(cell.wall);
                        best.cpu = best.cpu.min(cell.cpu);
                        best.busiest = best.busiest.min(cell.busiest);
                    }
                }
                for (at, cell) in cells.into_iter().enumerate() {
                    let Some(cell) = cell else { continue };
                    slow[at] = cell.wall > limit;
                    let line = serde_json::json!({
                        "file": file.file_name().map(|name| name.to_string_lossy()),
                        "records": collection.len(),
                        "tokens": collection.token_count(),
                        "threshold": threshold,
                        "algorithm": columns[at].0,
                        "threads": columns[at].1,
                        "wall_seconds": cell.wall,
                        "cpu_seconds": cell.cpu,
                        "busiest_seconds": cell.busiest,
                        "comparisons": cell.counters.comparisons,
                        "candidates": cell.counters.candidates,
                        "results": cell.counters.results,
                        "postings": cell.counters.postings,
                    });
                    println!("{line}");
                }
            }
        }
    }
    Ok(())
}

#[derive(Clone)]
struct Cell {
    wall: f64,
    cpu: f64,
    /// CPU seconds of the calling thread or of the others together, whichever is more: with two
    /// threads what the join takes on two free cores, waiting apart.
    busiest: f64,
    counters: Counters,
}

fn run(
    collection: &Collection,
    name: &str,
    threshold: &str,
    measure: Measure,
    threads: usize,
) -> Result<Cell> {
    let by_postings = Auto { way: Way::Postings };
    let by_columns = Auto { way: Way::Columns };
    let algorithm: &dyn Algorithm = match name {
        "postings" => &by_postings,
        "columns" => &by_columns,
        _ => algorithm(name).context("unknown algorithm")?,
    };
    let threshold: Threshold = threshold.parse()?;
    let params = JoinParams::new(measure, threshold)?.with_threads(threads);
    let mut counters = Counters::default();
    let mut sink = Count(0);
    let (started, cpu, own) = (Instant::now(), process_seconds(), thread_seconds());
    algorithm.join(collection, &params, &mut sink, &mut counters)?;
    let (wall, cpu, own) =
        (started.elapsed().as_secs_f64(), process_seconds() - cpu, thread_seconds() - own);
    anyhow::ensure!(sink.0 == counters.results, "{name} counted wrongly");
    Ok(Cell { wall, cpu, busiest: own.max(cpu - own), counters })
}

/// CPU seconds of this process so far, all threads together.
fn process_seconds() -> f64 {
    clock_seconds(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU seconds of this thread so far.
fn thread_seconds() -> f64 {
    clock_seconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock_seconds(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a valid timespec.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn read(file: &std::path::Path) -> Result<Collection> {
    let mut source = wonbon_documents::open(file)?;
    let mut numbers = WordNumbers::new();
    let mut builder = CollectionBuilder::for_self_join();
    let mut line = String::new();
    let mut tokens = Vec::new();
    while source.reader().read_line(&mut line)? > 0 {
        tokens.clear();
        numbers.number_all(line.as_bytes(), &mut tokens)?;
        builder.push(Side::Left, &tokens)?;
        line.clear();
    }
    Ok(builder.finish())
}
