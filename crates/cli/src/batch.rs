//! What the commands over whole corpora share: fields, memory, standard input.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use serde::Serialize;
use wonbon_app::parameters::half_of_the_machine;
use wonbon_app::requests::Resources;
use wonbon_cluster::ClusterError;
use wonbon_cluster::progress::PhaseTime;
use wonbon_documents::{
    ChosenFields, Dates, FieldNames, Limits, MAX_DOCUMENT_BYTES, Skipped, SourceKind, open,
};
use wonbon_files::PartialFolder;

use crate::output::Output;
use crate::{Outcome, report};

/// Which field of a row means what.
#[derive(clap::Args)]
pub(crate) struct FieldOptions {
    /// The field with the text; guessed from the first row if not said.
    #[arg(long, value_name = "FIELD")]
    text_field: Option<String>,
    /// The field with the id; guessed if not said. Without one a document is called by its URL, or
    /// by its file and row.
    #[arg(long, value_name = "FIELD")]
    id_field: Option<String>,
    /// The field with the address; guessed if not said.
    #[arg(long, value_name = "FIELD")]
    url_field: Option<String>,
    /// The field with the creation time (ISO 8601 or seconds); guessed if not said.
    #[arg(long, value_name = "FIELD")]
    created_field: Option<String>,
    /// The field with a page, used where there is no text; guessed if not said.
    #[arg(long, value_name = "FIELD")]
    html_field: Option<String>,
    /// The field with the address a row leads to, where it has no text; guessed if not said.
    #[arg(long, value_name = "FIELD")]
    redirect_field: Option<String>,
}

impl FieldOptions {
    /// The names as given, or guessed from the first row of the inputs. What has to be unpacked to
    /// be looked at is unpacked beside the output, where there is room.
    pub(crate) fn names(&self, inputs: &[PathBuf], output: &Path) -> anyhow::Result<FieldNames> {
        let output = std::path::absolute(output)?;
        Ok(self.chosen().names(inputs, output.parent())?)
    }

    /// The names as given.
    pub(crate) fn chosen(&self) -> ChosenFields {
        ChosenFields {
            text: self.text_field.clone(),
            id: self.id_field.clone(),
            url: self.url_field.clone(),
            created: self.created_field.clone(),
            html: self.html_field.clone(),
            redirect: self.redirect_field.clone(),
        }
    }
}

/// How much of an input may be held in memory.
#[derive(clap::Args)]
pub(crate) struct LimitOptions {
    /// The most bytes of one document. A row that is longer is an error of that row. Memory grows with
    /// it: a line may have twice as much.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = Limits::default().document_bytes,
        value_parser = document_bytes
    )]
    max_document_bytes: usize,
    /// The largest window of a zstd file, as its binary logarithm: what `zstd --long=N` was given.
    #[arg(
        long,
        value_name = "N",
        default_value_t = Limits::default().zstd_window_log,
        value_parser = clap::value_parser!(u32).range(10..=31)
    )]
    max_zstd_window: u32,
}

fn document_bytes(text: &str) -> Result<usize, String> {
    let told = || format!("write a number from 1 to {MAX_DOCUMENT_BYTES}");
    let bytes = text.parse().map_err(|_| told())?;
    if (1..=MAX_DOCUMENT_BYTES).contains(&bytes) { Ok(bytes) } else { Err(told()) }
}

impl LimitOptions {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            zstd_window_log: self.max_zstd_window,
            ..Limits::for_documents(self.max_document_bytes)
        }
    }
}

/// What a run over a corpus reads, and where its results go.
#[derive(clap::Args)]
pub(crate) struct CorpusOptions {
    /// Files and folders to read; `-` is standard input.
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    // Missing only where a subcommand stands instead (`wonbon cluster again`).
    /// The folder of the results.
    #[arg(short, long, value_name = "OUT", required = true)]
    output: Option<PathBuf>,
    #[command(flatten)]
    fields: FieldOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

impl CorpusOptions {
    /// What a run has: standard input is kept in a file, and fields that were not named are guessed.
    pub(crate) fn resources(&self, run: &RunOptions) -> anyhow::Result<Resources> {
        let output = self.output.as_ref().context("say with -o where the results go")?;
        let inputs = spool_standard_input(&self.inputs, output)?;
        let fields = self.fields.names(&inputs, output)?;
        Ok(run.resources(inputs, fields, output))
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits.limits()
    }

    /// What a person can do about an error of the run.
    pub(crate) fn explain(&self, error: ClusterError) -> anyhow::Error {
        explain(error, self.output.as_deref().unwrap_or(Path::new("OUT")))
    }
}

/// Which dates decide.
#[derive(clap::Args)]
pub(crate) struct DateOptions {
    /// Which dates decide who is the original: `created`, or `claimed` to take the date that a page
    /// claims of itself where there is no creation time.
    #[arg(long, value_name = "DATES", default_value_t)]
    pub(crate) dates: Dates,
}

/// Which dates decide in a store.
#[derive(clap::Args)]
pub(crate) struct StoreDateOptions {
    /// Which dates decide who is the original: `created`, or `claimed` to take the date that a page
    /// claims of itself where there is no creation time; what the store was made with if not said.
    #[arg(long, value_name = "DATES")]
    pub(crate) dates: Option<Dates>,
}

/// What a run over a whole corpus may use, and how its summary is printed.
#[derive(clap::Args)]
pub(crate) struct RunOptions {
    /// Threads to use; all cores if not said. The results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Memory to stay within, such as 512M or 4G; half of the machine's if not said.
    #[arg(long, value_name = "BYTES")]
    memory: Option<MemoryBytes>,
    /// Input between two places where a killed run can go on.
    #[arg(long, value_name = "BYTES", hide = true, default_value_t = Resources::PART_BYTES)]
    part_bytes: u64,
    /// Print the summary as one line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

impl RunOptions {
    /// What a run from these inputs into `output` has.
    fn resources(&self, inputs: Vec<PathBuf>, fields: FieldNames, output: &Path) -> Resources {
        Resources {
            inputs,
            fields,
            output: output.to_owned(),
            threads: self.threads.unwrap_or_else(all_cores),
            memory: self.memory.map_or_else(half_of_the_machine, |memory| memory.0),
            part_bytes: self.part_bytes,
        }
    }
}

/// Standard input cannot be read twice: it is kept in a file first, among the unfinished results for
/// `output`. A run that was killed cannot continue with it, so what is left of one is removed.
pub(crate) fn spool_standard_input(
    inputs: &[PathBuf],
    output: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    if !inputs.iter().any(|path| path.as_os_str() == "-") {
        return Ok(inputs.to_vec());
    }
    let partial = PartialFolder::of(output);
    partial.open_empty().map_err(|error| explain(error.into(), output))?;
    let folder = partial.path().join("work");
    let making = || format!("could not keep standard input in {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(making)?;
    let mut source = open(Path::new("-"))?;
    let name = match source.kind {
        SourceKind::JsonLines => "stdin.jsonl",
        SourceKind::Csv => "stdin.csv",
        SourceKind::Parquet => "stdin.parquet",
        SourceKind::Warc => "stdin.warc",
        SourceKind::Document => "stdin.txt",
    };
    let path = folder.join(name);
    let mut file = io::BufWriter::new(std::fs::File::create(&path).with_context(making)?);
    loop {
        let piece = match source.reader().fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(source.broken(error).into()),
        };
        if piece.is_empty() {
            break;
        }
        file.write_all(piece).with_context(making)?;
        let length = piece.len();
        source.reader().consume(length);
    }
    file.flush().with_context(making)?;
    let spooled =
        |given: &PathBuf| if given.as_os_str() == "-" { path.clone() } else { given.clone() };
    Ok(inputs.iter().map(spooled).collect())
}

/// What a person can do about it.
fn explain(error: ClusterError, output: &Path) -> anyhow::Error {
    let hint = match &error {
        ClusterError::OtherPlan { path, .. } => {
            Some(format!("rm -r {} to begin again", path.display()))
        }
        ClusterError::OutputExists { .. } => {
            Some(format!("choose another folder or rm -r {}", output.display()))
        }
        ClusterError::NotOurs { .. } => Some("move it away or choose another folder".to_owned()),
        ClusterError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            Some("make room; the same command again goes on from here".to_owned())
        }
        _ => None,
    };
    match hint {
        Some(hint) => anyhow::Error::new(error).context(format!("stopped ({hint})")),
        None => error.into(),
    }
}

/// Says which fields were taken, since most people let them be guessed.
pub(crate) fn tell_fields(out: &mut impl Write, fields: &FieldNames) -> io::Result<()> {
    let FieldNames { id, url, created, text, html, .. } = fields;
    writeln!(
        out,
        "fields: text `{text}` or else page `{html}`, id `{id}`, url `{url}`, created `{created}`"
    )
}

/// Says how long a run took, how fast it read, and how much memory it had.
pub(crate) fn tell_speed(
    out: &mut impl Write,
    phases: &[PhaseTime],
    text_bytes: u64,
) -> io::Result<()> {
    let seconds: f64 = phases.iter().map(|phase| phase.seconds).sum();
    let peak = phases.iter().map(|phase| phase.peak_bytes).max().unwrap_or(0);
    writeln!(
        out,
        "{:.1} s, {:.1} MB of text a second, {} MB of memory at most",
        seconds,
        text_bytes as f64 / 1e6 / seconds.max(1e-3),
        peak / 1_000_000
    )
}

/// How a run over a corpus ends: its summary on standard output as JSON, or in words on standard error by
/// `in_words`; then the rows that were skipped.
pub(crate) fn end_run(
    as_json: bool,
    summary: &impl Serialize,
    in_words: impl FnOnce() -> io::Result<()>,
    (skipped, first): (u64, &[Skipped]),
) -> anyhow::Result<Outcome> {
    if as_json {
        let mut output = Output::new();
        output.json_line(summary)?;
        output.finish()?;
    } else {
        in_words().context(STANDARD_ERROR)?;
    }
    name_skipped(skipped, first);
    Ok(if skipped == 0 { Outcome::Done } else { Outcome::Refused })
}

/// What could not be done where nobody reads the summary.
pub(crate) const STANDARD_ERROR: &str = "could not write to standard error";

/// Says how many rows were skipped and names the first of them.
pub(crate) fn name_skipped(count: u64, first: &[Skipped]) {
    for skipped in first {
        report::refused(&anyhow::anyhow!("{skipped}"));
    }
    if count > first.len() as u64 {
        let rest = thousands(count - first.len() as u64);
        report::refused(&anyhow::anyhow!("{rest} more rows or files; summary.json has the total"));
    }
}

/// An amount of memory, such as 512M or 4G.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MemoryBytes(u64);

/// The text is no amount of memory.
#[derive(Debug, thiserror::Error)]
#[error("write a number of bytes from 64M up, such as 512M or 4G")]
struct NotMemory;

impl FromStr for MemoryBytes {
    type Err = NotMemory;

    fn from_str(text: &str) -> Result<Self, NotMemory> {
        let text = text.trim().trim_end_matches(['B', 'b']).trim_end_matches('i');
        let (digits, shift) = match text.as_bytes().last() {
            Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
            Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
            Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
            Some(b't' | b'T') => (&text[..text.len() - 1], 40),
            _ => (text, 0),
        };
        let bytes = digits.trim().parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
        bytes.filter(|&bytes| bytes >= 64 << 20).map(MemoryBytes).ok_or(NotMemory)
    }
}

pub(crate) fn all_cores() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// A number with its thousands apart.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut apart = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_memory_are_read() {
        for (text, bytes) in [("64M", 64 << 20), ("4GiB", 4 << 30), ("1000000000", 1_000_000_000)] {
            assert_eq!(text.parse::<MemoryBytes>().unwrap().0, bytes, "{text}");
        }
        for text in ["", "1K", "G", "many", "99999999999999999T"] {
            assert!(text.parse::<MemoryBytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([1, 999, 1000, 1_234_567].map(thousands), ["1", "999", "1,000", "1,234,567"]);
    }
}
