//! Our side of the sketching benchmark: makes the inputs, runs the library loop, its stages alone,
//! and the floors it is held against. `run.sh` calls it; `compare.py` measures it from outside.
//!
//! Measured: wall and CPU seconds of one loop over one file on one thread, from opening the file to
//! the last document; peak memory is taken from outside. Every loop prints a checksum of what it
//! computed, so that nothing can be optimised away and paths can be compared.
//!
//! Left out: the program's own work around the loop (counting different shingles, printing lines);
//! `wonbon sketch` is a contestant of its own.

mod floors;
mod inputs;
mod loops;
mod process;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use clap::{Parser, Subcommand, ValueEnum};
use cpu_time::ProcessTime;
use wonbon_sketch::PermutationPath;

#[derive(Parser)]
#[command(about = "Our side of the sketching benchmark: inputs, loops, stages, floors")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write made-up posts until about that many megabytes of text are written.
    Generate {
        #[arg(long)]
        megabytes: u64,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        #[arg(long)]
        out: PathBuf,
    },
    /// Write the lines of all files, decompressed, one file after another.
    Concatenate {
        files: Vec<PathBuf>,
        #[arg(long)]
        out: PathBuf,
    },
    /// Write every n-th line of a file, n chosen so that about that many megabytes of text remain.
    Slice {
        file: PathBuf,
        #[arg(long)]
        megabytes: u64,
        #[arg(long)]
        out: PathBuf,
    },
    /// Print documents, bytes of text and words of a file.
    Count { file: PathBuf },
    /// Run a program to its end and print what its process took and printed.
    Measure {
        /// Throw away what it prints.
        #[arg(long)]
        discard: bool,
        #[arg(required = true, last = true)]
        command: Vec<String>,
    },
    /// Print the SIMD paths of this CPU.
    Paths,
    /// Run one loop over a file and print what it took.
    Run {
        #[arg(value_enum)]
        what: Loop,
        file: PathBuf,
        /// The SIMD path; the best one of this CPU if not said.
        #[arg(long)]
        path: Option<String>,
        /// How many features.
        #[arg(long, default_value_t = 6)]
        groups: usize,
        /// How many min-values in a feature.
        #[arg(long, default_value_t = 14)]
        group_size: usize,
    },
}

/// A loop that can be run alone.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Loop {
    /// Read and cut into lines.
    Lines,
    /// ... and parse the JSON.
    Rows,
    /// ... and walk the words, counting them.
    Words,
    /// ... and make shingles.
    Shingles,
    /// ... and make features: the whole way.
    Features,
    /// Features out of shingles that are in memory already.
    Permutations,
    /// Counting different shingles that are in memory already.
    Distinct,
    /// Floor: our JSON, our words, each hashed as for shingles.
    FloorOurHashes,
    /// Floor: our JSON, our words as strings, each hashed by foldhash.
    FloorOurWords,
    /// Floor: our JSON, words by a table of bytes, hashed byte by byte.
    FloorByteWords,
    /// Floor: our JSON, words by the standard library, each hashed by foldhash.
    FloorStdWords,
    /// Floor: the usual crates: serde_json, words by the standard library, foldhash.
    FloorPlain,
}

/// What a loop did and took.
#[derive(serde::Serialize)]
struct Outcome {
    documents: u64,
    seconds: f64,
    cpu_seconds: f64,
    checksum: String,
}

/// What a loop adds up.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) documents: u64,
    pub(crate) checksum: u64,
}

impl Tally {
    /// Takes in a document by a value that depends on all that was computed for it.
    #[inline]
    pub(crate) fn document(&mut self, value: u64) {
        self.documents += 1;
        self.take(value);
    }

    /// Takes in a value.
    #[inline]
    pub(crate) fn take(&mut self, value: u64) {
        self.checksum = (self.checksum.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

/// Times a loop; what comes before it, such as bringing shingles into memory, is not counted.
pub(crate) struct Clock {
    wall: Instant,
    cpu: ProcessTime,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Clock { wall: Instant::now(), cpu: ProcessTime::now() }
    }

    fn stop(&self, tally: &Tally) -> Outcome {
        Outcome {
            documents: tally.documents,
            seconds: self.wall.elapsed().as_secs_f64(),
            cpu_seconds: self.cpu.elapsed().as_secs_f64(),
            checksum: format!("{:016x}", tally.checksum),
        }
    }
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Generate { megabytes, seed, out } => inputs::generate(megabytes, seed, &out),
        Command::Concatenate { files, out } => inputs::concatenate(&files, &out),
        Command::Slice { file, megabytes, out } => inputs::slice(&file, megabytes, &out),
        Command::Count { file } => {
            println!("{}", serde_json::to_string(&inputs::count(&file)?)?);
            Ok(())
        }
        Command::Measure { discard, command } => {
            println!("{}", serde_json::to_string(&process::measure(&command, discard)?)?);
            Ok(())
        }
        Command::Paths => {
            PermutationPath::available().iter().for_each(|path| println!("{path}"));
            Ok(())
        }
        Command::Run { what, file, path, groups, group_size } => {
            let maker = loops::maker(groups, group_size, simd_path(path.as_deref())?)?;
            let mut clock = Clock::start();
            let tally = match what {
                Loop::Lines => loops::lines(&file),
                Loop::Rows => loops::rows(&file),
                Loop::Words => loops::words(&file),
                Loop::Shingles => loops::shingles(&file),
                Loop::Features => loops::features(&file, &maker),
                Loop::Permutations => loops::permutations(&file, &maker, &mut clock),
                Loop::Distinct => loops::distinct(&file, &mut clock),
                Loop::FloorOurHashes => floors::our_hashes(&file),
                Loop::FloorOurWords => floors::our_words(&file),
                Loop::FloorByteWords => floors::byte_words(&file),
                Loop::FloorStdWords => floors::std_words(&file),
                Loop::FloorPlain => floors::plain(&file),
            }
            .with_context(|| format!("reading {}", file.display()))?;
            println!("{}", serde_json::to_string(&clock.stop(&tally))?);
            Ok(())
        }
    }
}

fn simd_path(name: Option<&str>) -> anyhow::Result<Option<PermutationPath>> {
    let Some(name) = name else { return Ok(None) };
    let path = PermutationPath::available().into_iter().find(|path| path.to_string() == name);
    path.map(Some).with_context(|| format!("this CPU has no path named {name}"))
}
