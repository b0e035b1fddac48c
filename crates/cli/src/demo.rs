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

use std::io::{self, Write};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;

use families::{Families, Kind, Verdict};
use reading::Reader;

use crate::Outcome;
use crate::output::Output;
use crate::rule::{DEFAULT_RULE, Rule};

/// Tell originals from copies among the blog posts that ship with the program.
///
/// 72 short posts in Korean, English and Japanese: originals, scraps, edited copies, quotations,
/// look-alikes, other character sets, pages with thick frames. Each is decided as it arrives; one that
/// arrives late but was created earlier takes the original's place.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What makes a copy: `threshold=0.8` (exact resemblance of at least 0.8) or `2of6` (at least
    /// 2 of the 6 features agree).
    #[arg(long, value_name = "RULE", default_value_t = DEFAULT_RULE)]
    rule: Rule,
    /// One JSON object a line for each post, instead of the table.
    #[arg(long)]
    json: bool,
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

impl<'a> JsonVerdict<'a> {
    fn of(verdict: &'a Verdict<'a>) -> Self {
        JsonVerdict {
            id: verdict.id,
            created: verdict.created,
            verdict: verdict.kind,
            original: verdict.original,
            resemblance: verdict.resemblance,
            features_equal: verdict.features_equal,
            why: &verdict.why,
        }
    }
}

/// Runs the demo.
pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
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

    let mut output = Output::new();
    if args.json {
        for verdict in &verdicts {
            output.json_line(&JsonVerdict::of(verdict))?;
        }
    } else {
        output.styled(&table::render(&verdicts))?;
    }
    output.finish()?;
    if !args.json {
        // A closed standard error takes nothing from the answer.
        let _ = io::stderr().write_all(closing(args.rule, &verdicts, &mut times).as_bytes());
    }
    Ok(Outcome::Done)
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
         wonbon compare A B --diff          what two files of your own share\n  \
         wonbon --help                      everything else\n"
    )
}
