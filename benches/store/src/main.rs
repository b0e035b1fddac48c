//! The decision at store time, measured. `run.sh` builds and calls it.
//!
//! `papers` repeats the experiment of Lee, Lee and Kim 2010, section 4: N documents in each of the
//! indexes B6D1, R15D2, R1D3 and the default one, for growing N; then 1,000 documents made of stored
//! ones by changing one to five words, and for each the question whether it is a copy. Printed are
//! the average time and the average number of page accesses of a question, beside the paper's.
//!
//! Data: made-up Korean posts of 300 words on average from `wonbon_testkit::generate`, by seed; words,
//! shingles and features as the product makes them (5 words, 6 features of 14). As in the product,
//! only originals are stored: the few short posts that copy earlier ones are left out, and further
//! ones made in their place.
//!
//! Measured: `first_match`, from features to answer, CPU and wall time, the best of several rounds
//! over all questions after one that warmed the caches. Every index must give the same verdict and
//! the same full list of originals for every question, or the run fails.
//!
//! `adds` measures the whole store ([`adds`]), `instances` several on one PostgreSQL ([`instances`]), `questions` what is asked of it ([`questions`]).
//!
//! Left out of `papers`: making features, storing the document. The disk: after the warming round all pages that
//! are needed are in memory, while the paper's machine of 2 GB may have had to read some.

mod adds;
mod documents;
mod instances;
mod nodes;
mod papers;
mod plot;
mod questions;
mod report;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use wonbon_allocator::BySize;

/// The program's.
#[global_allocator]
static ALLOCATOR: BySize = BySize;

#[derive(Parser)]
#[command(about = "The decision at store time, measured")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Average query time and page accesses of B6D1, R15D2, R1D3 and the default.
    Papers(PapersArgs),
    /// Checks and durable adds of the whole store.
    Adds(AddsArgs),
    /// Several instances on one PostgreSQL.
    Instances(InstancesArgs),
    /// Similar, within, contains and sources.
    Questions(QuestionsArgs),
}

/// What the report says of the run, and where it goes.
#[derive(clap::Args)]
struct ReportArgs {
    /// The command line, for the report.
    #[arg(long, default_value = "")]
    command: String,
    /// The commit, for the report.
    #[arg(long, default_value = "")]
    commit: String,
    /// The date, for the report.
    #[arg(long, default_value = "")]
    date: String,
    /// Where the report goes, without the ending.
    #[arg(long)]
    out: PathBuf,
}

impl ReportArgs {
    /// Machine, load, commit, date and command, a line each.
    fn head(&self) -> String {
        let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("");
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        format!(
            "- machine: {}, {} cores; load average at the end {}\n- commit: {}\n- date: {}\n- command: `{}`\n",
            model.trim_start_matches(['\t', ' ', ':']).trim_end(),
            std::thread::available_parallelism().map_or(1, usize::from),
            load.split(' ').take(3).collect::<Vec<_>>().join("/"),
            self.commit,
            self.date,
            self.command,
        )
    }
}

#[derive(clap::Args)]
struct QuestionsArgs {
    /// Numbers of documents at which to ask, ascending, from 100,000.
    #[arg(long, value_delimiter = ',', default_values_t = [100_000, 1_000_000])]
    steps: Vec<u64>,
    /// How many questions of each kind at each step.
    #[arg(long, default_value_t = 1000)]
    questions: u64,
    #[arg(long, default_value_t = 1997)]
    seed: u64,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(clap::Args)]
struct InstancesArgs {
    /// Documents in each store before anything is measured.
    #[arg(long, default_value_t = 20_000)]
    documents: u64,
    /// How long clients add or ask, for each number of clients.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Numbers of clients; those that are fewer than the instances are left out.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64])]
    clients: Vec<usize>,
    #[arg(long, default_value_t = 2008)]
    seed: u64,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(clap::Args)]
struct AddsArgs {
    /// Numbers of documents at which to measure, ascending.
    #[arg(long, value_delimiter = ',', default_values_t = [100_000, 1_000_000, 1_500_000])]
    steps: Vec<u64>,
    /// How many questions at each step.
    #[arg(long, default_value_t = 20_000)]
    questions: u64,
    /// How long clients add, for each number of clients.
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
    /// Numbers of clients.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64])]
    clients: Vec<usize>,
    /// The address of a PostgreSQL in which there is no store yet; a temporary directory otherwise.
    #[arg(long)]
    place: Option<PathBuf>,
    /// How many handles add, as that many instances would; more than one only in PostgreSQL.
    #[arg(long, default_value_t = 1)]
    instances: usize,
    #[arg(long, default_value_t = 2008)]
    seed: u64,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(clap::Args)]
struct PapersArgs {
    /// Numbers of documents at which to ask, ascending.
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [100_000, 300_000, 600_000, 900_000, 1_200_000, 1_500_000]
    )]
    steps: Vec<usize>,
    /// How many questions at each step.
    #[arg(long, default_value_t = 1000)]
    queries: usize,
    /// Which documents the questions are made of.
    #[arg(long, value_enum, default_value_t = Draw::Stored)]
    draw: Draw,
    /// How often all questions are asked; the best round counts.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[arg(long, default_value_t = 2010)]
    seed: u64,
    /// Memory for the pages of each index.
    #[arg(long, default_value_t = 1024)]
    cache_mebibytes: u64,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Draw {
    /// Of those stored so far: each has its original in the index.
    Stored,
    /// Of those of the last step, as in the paper: at smaller steps most have none there.
    All,
}

fn main() -> anyhow::Result<()> {
    let args = match Args::parse().command {
        Command::Papers(args) => args,
        Command::Adds(args) => return adds::run(&args),
        Command::Instances(args) => return instances::run(&args),
        Command::Questions(args) => return questions::run(&args),
    };
    anyhow::ensure!(
        args.steps.is_sorted_by(|one, next| one < next) && args.steps.first() > Some(&0),
        "the steps must ascend"
    );
    anyhow::ensure!(args.queries > 0 && args.rounds > 0, "nothing to measure");
    papers::run(&args)
}
