//! `wonbon collapse`: ranked results with near-copies behind the best-ranked one.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wonbon_app::collapse::{CollapseQuestion, Fate, RankedResult};
use wonbon_app::parameters::USUAL_THRESHOLD;
use wonbon_documents::{open, read_whole};
use wonbon_progress::Cancellation;
use wonbon_store::Store;
use wonbon_text::shingles::DEFAULT_SHINGLE_WORDS;

use super::open_to_read;
use crate::batch::thousands;
use crate::options::{shingle_words, threshold};
use crate::output::Output;
use crate::{Outcome, report};

/// Put near-copies in ranked results behind the best-ranked one.
///
/// Reads results as JSON lines, the best first, and prints them in the same order without those that
/// resemble an earlier one. Each line that stays gets a field "copies": the keys of those behind it,
/// their resemblance to it and their rank. All other fields go out as they came.
///
/// A result is compared by its field "text"; without one, the store is asked for the document whose
/// key is in "key", "id", "url" or "document.key". A line that is no JSON object, and a result of which no text is
/// known, is named, printed as it came and compared with nothing; exit code 1.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The results; `-` is standard input.
    #[arg(value_name = "FILE", default_value = "-")]
    results: PathBuf,
    /// From which exact resemblance on a result goes behind an earlier one.
    #[arg(long, value_name = "T", default_value_t = USUAL_THRESHOLD, value_parser = threshold)]
    threshold: f64,
    /// Words in a shingle. Longer shingles make every changed word count more.
    #[arg(long, value_name = "W", default_value_t = DEFAULT_SHINGLE_WORDS, value_parser = shingle_words)]
    shingle: NonZeroUsize,
    /// Time limit, as in 50ms or 2s, counted from when all results are read. The results that it leaves are
    /// printed unchanged and in order with "collapsed": false, and a note says so. No limit if not said.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
}

/// How many bytes of results are read.
const MOST_BYTES: usize = 1 << 30;

fn duration(text: &str) -> Result<Duration, String> {
    let seconds = match text.strip_suffix("ms") {
        Some(number) => number.parse::<f64>().map(|number| number / 1e3),
        None => text.strip_suffix('s').unwrap_or(text).parse::<f64>(),
    };
    let is_unit_given = text.ends_with('s');
    seconds
        .ok()
        .filter(|_| is_unit_given)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "write a time as 50ms or 2s".to_owned())
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let source = open(&args.results)?;
    let name = source.name.clone();
    let bytes = read_whole(source, MOST_BYTES)?;
    let mut refused = 0;
    let mut lines = Vec::new();
    let mut results = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let result = result(line).map_err(|error| {
            refused += 1;
            report::refused(&error.context(format!("line {number} of {name}")));
        });
        // A line that is no result keeps its rank, and is compared with nothing.
        lines.push((line, result.is_ok()));
        results.push(result.unwrap_or_default());
    }
    let question =
        CollapseQuestion { results, threshold: Some(args.threshold), budget: args.budget };
    let mut store: Option<Store> = None;
    let collapsed =
        question.collapse(args.shingle, None, &Cancellation::default(), || match &store {
            Some(store) => Ok(store.clone()),
            None => open_to_read(directory).map(|opened| store.insert(opened).clone()),
        })?;

    let mut output = Output::new();
    let mut late = 0;
    for (at, ((line, is_result), (result, fate))) in (1..).zip(lines.iter().zip(&collapsed.results))
    {
        match fate {
            Fate::Behind => continue,
            Fate::Kept => output.json_line(result)?,
            Fate::Late => {
                late += 1;
                output.json_line(result)?;
            }
            Fate::Unknown => {
                if *is_result {
                    refused += 1;
                    report::refused(&no_text(at, result));
                }
                output.bytes(line.trim_ascii_end())?;
                output.bytes(b"\n")?;
            }
        }
    }
    output.finish()?;
    if late > 0 {
        report::note(&format!(
            "the time was over after {} of {} results; the others are as they came",
            thousands(collapsed.looked_at as u64),
            thousands(lines.len() as u64)
        ));
    }
    Ok(if refused == 0 { Outcome::Done } else { Outcome::Refused })
}

/// A line as a result, if it is one.
fn result(line: &[u8]) -> anyhow::Result<RankedResult> {
    let text = std::str::from_utf8(line).map_err(|_| anyhow::anyhow!("it is not UTF-8"))?;
    anyhow::ensure!(text.trim_start().starts_with('{'), "it is no JSON object");
    Ok(serde_json::from_str(text)?)
}

/// Why a result is compared with nothing.
fn no_text(rank: usize, result: &RankedResult) -> anyhow::Error {
    match result.names().next() {
        Some(name) => {
            anyhow::anyhow!("result {rank} has no text, and the store has no document {name}")
        }
        None => anyhow::anyhow!("result {rank} has no text, no id, no key and no url"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_need_their_unit() {
        assert_eq!(duration("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(duration("0.5s"), Ok(Duration::from_millis(500)));
        for wrong in ["50", "-1s", "ms", "fast", "infs"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
