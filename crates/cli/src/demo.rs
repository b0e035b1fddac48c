//! `wonbon demo`: the main job on a sample that ships inside the binary.
//!
//! Every post goes the whole way of a document (bytes, charset, core text, words, shingles,
//! features) and is told original or copy at the moment it arrives. The table shows where things
//! stand after the last one, since a post that arrives late can take an original's place.
//!
//! Why exact resemblance decides by default and features only stand beside it: among a few
//! dozen posts every original can be compared with, and a reader sees both what is true and what the papers' rule
//! would have said from 48 bytes a post.
//!
//! Cost: milliseconds; nothing is read or written but the output. The table goes to standard
//! output, the summary and what to try next to standard error.
//!
//! Not here: anything durable. [`families::Families`] holds its documents in memory and compares
//! with every original.

mod families;
mod reading;
mod sample;
mod table;

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::str::FromStr;
use std::time::{Duration, Instant};

use anstream::AutoStream;
use anyhow::Context;
use serde::Serialize;

use families::{Families, Kind, Verdict};
use reading::Reader;

/// How many features a document has: the papers' six.
const FEATURE_COUNT: usize = 6;

/// Tells originals from copies among the blog posts that ship with the program.
#[derive(clap::Args)]
pub struct DemoArgs {
    /// What makes a copy: `threshold=0.8` (exact resemblance of at least 0.8) or `2of6` (at least
    /// 2 of the 6 features agree).
    #[arg(long, value_name = "RULE", default_value_t = Rule::Threshold(0.8))]
    rule: Rule,
    /// One JSON object a line for each post, instead of the table.
    #[arg(long)]
    json: bool,
}

/// What makes a document a copy of an original.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Exact resemblance of at least this, above 0 and up to 1.
    Threshold(f64),
    /// At least this many of the six features agree.
    Features(usize),
}

impl Rule {
    fn makes_a_copy(self, resemblance: f64, features_equal: usize) -> bool {
        match self {
            Rule::Threshold(threshold) => resemblance >= threshold,
            Rule::Features(needed) => features_equal >= needed,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Threshold(threshold) => write!(f, "threshold={threshold}"),
            Rule::Features(needed) => write!(f, "{needed}of{FEATURE_COUNT}"),
        }
    }
}

/// The one way a rule can be wrong: it is not one of the two forms.
#[derive(Debug, thiserror::Error)]
#[error(
    "write threshold=0.8 (any number above 0, up to 1) or 2of6 (any number of the six features, \
     from 1)"
)]
struct NotARule;

impl FromStr for Rule {
    type Err = NotARule;

    fn from_str(rule: &str) -> Result<Self, NotARule> {
        if let Some(threshold) = rule.strip_prefix("threshold=") {
            let threshold: f64 = threshold.parse().map_err(|_| NotARule)?;
            let in_range = threshold > 0.0 && threshold <= 1.0;
            return in_range.then_some(Rule::Threshold(threshold)).ok_or(NotARule);
        }
        let (needed, count) = rule.split_once("of").ok_or(NotARule)?;
        let needed: usize = needed.parse().map_err(|_| NotARule)?;
        let in_range = (1..=FEATURE_COUNT).contains(&needed) && count == FEATURE_COUNT.to_string();
        in_range.then_some(Rule::Features(needed)).ok_or(NotARule)
    }
}

/// One post in `--json`.
#[derive(Serialize)]
struct JsonVerdict<'a> {
    id: &'a str,
    created: &'a str,
    verdict: Kind,
    original: Option<&'a str>,
    resemblance: Option<f64>,
    features_equal: Option<usize>,
    why: &'a str,
}

/// Runs the demo.
pub fn run(args: &DemoArgs) -> anyhow::Result<()> {
    let posts = sample::posts().context("reading the sample inside the program")?;
    let reader = Reader::new().context("preparing the features")?;
    let mut families = Families::new(args.rule);
    let mut times = Vec::with_capacity(posts.len());
    for post in posts {
        let start = Instant::now();
        let document = reader.read(post);
        families.add(document)?;
        times.push(start.elapsed());
    }
    let verdicts = families.verdicts()?;

    let choice = AutoStream::choice(&io::stdout());
    let mut stdout = AutoStream::new(io::stdout().lock(), choice);
    let text = if args.json { json_lines(&verdicts)? } else { table::render(&verdicts) };
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // The reader of a pipe has seen enough: `wonbon demo | head` is no failure.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
        written => written.context("writing to standard output")?,
    }
    if !args.json {
        // A closed standard error takes nothing from the answer.
        let _ = io::stderr().write_all(closing(args.rule, &verdicts, &mut times).as_bytes());
    }
    Ok(())
}

fn json_lines(verdicts: &[Verdict<'_>]) -> anyhow::Result<String> {
    let mut lines = String::new();
    for verdict in verdicts {
        let line = JsonVerdict {
            id: verdict.id,
            created: verdict.created,
            verdict: verdict.kind,
            original: verdict.original,
            resemblance: verdict.resemblance,
            features_equal: verdict.features_equal,
            why: &verdict.why,
        };
        lines += &serde_json::to_string(&line).context("writing JSON")?;
        lines.push('\n');
    }
    Ok(lines)
}

/// The summary line and what to try next.
fn closing(rule: Rule, verdicts: &[Verdict<'_>], times: &mut [Duration]) -> String {
    let count = |wanted: fn(Kind) -> bool| verdicts.iter().filter(|v| wanted(v.kind)).count();
    let posts = verdicts.len();
    let originals = count(|kind| kind == Kind::Original);
    let copies = count(Kind::is_copy);
    let empty = count(|kind| kind == Kind::Empty);
    // The median: on a busy machine the mean tells about the other programs.
    times.sort_unstable();
    let microseconds = times.get(posts / 2).map_or(0, Duration::as_micros);
    let other = match rule {
        Rule::Threshold(_) => "--rule 2of6            the papers' rule: 2 of 6 features agree",
        Rule::Features(_) => "--rule threshold=0.8   exact resemblance of at least 0.8",
    };
    format!(
        "\n{posts} posts: {originals} originals, {copies} copies, {empty} empty by {rule}; \
         median decision {microseconds} microseconds.\n\n\
         Try next:\n  \
         wonbon demo {other}\n  \
         wonbon demo --json                 one line a post, for programs\n  \
         wonbon --help                      everything else\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_reads_back_as_it_is_written() {
        for rule in [Rule::Threshold(0.8), Rule::Threshold(1.0), Rule::Features(2)] {
            assert_eq!(rule.to_string().parse::<Rule>().ok(), Some(rule));
        }
    }

    #[test]
    fn rules_out_of_range_are_refused() {
        for wrong in [
            "",
            "0.8",
            "threshold",
            "threshold=",
            "threshold=0",
            "threshold=1.01",
            "threshold=nan",
            "threshold=-1",
            "0of6",
            "7of6",
            "2of7",
            "2of",
            "of6",
            "2 of 6",
        ] {
            assert!(wrong.parse::<Rule>().is_err(), "{wrong:?} was taken for a rule");
        }
    }
}
