//! `wonbon demo`: the main job on a sample that ships inside the binary.
//!
//! Runs a real store in a temporary directory: every post is stored like any document and decided at that
//! moment. The table shows the verdicts after the last post, because a post that arrives late can replace
//! an original; a search at the end finds originals only.
//!
//! With `--serve` the pages are opened on that store instead. A store of one's own choice (`--store`) is
//! kept; otherwise it goes away when the demo ends.
//!
//! Why exact resemblance decides by default here, not the papers' 2 of 6: a reader can check it, and
//! the features stand beside it.
//!
//! Cost: a fraction of a second, most of it the disk's. The table goes to standard output, the summary
//! and what to try next to standard error.

mod families;
mod reading;
mod sample;
mod saving;
mod table;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;
use unicode_width::UnicodeWidthChar;
use wonbon_time::Timestamp;

use wonbon_app::intake::{Intake, Outcome as Arrived};
use wonbon_documents::{Content, Document};
use wonbon_server::{Config, LogFormat, start_logging};
use wonbon_store::{Kind, Page, Query, Rule, SeedSource, Store, StoreParams};

use families::{Families, Said, Verdict};
use reading::Reader;

use crate::Outcome;
use crate::output::Output;
use crate::serve;
use crate::store::explained;
use crate::wording::counted;

/// Tell originals from copies among the blog posts that ship with the program.
///
/// 72 short posts in Korean, English and Japanese: originals, scraps, edited copies, quotations,
/// look-alikes, other character sets, pages with thick frames. Each is decided as it arrives; one that
/// arrives late but was created earlier takes the original's place.
///
/// With --serve the pages show them in a browser until Ctrl-C. The store is a temporary one, unless
/// --store names a directory for it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What makes a copy: `threshold=0.8` (exact resemblance of at least 0.8) or `2of6` (at least
    /// 2 of the 6 features agree).
    #[arg(long, value_name = "RULE", default_value_t = Rule::default())]
    rule: Rule,
    /// One JSON object a line for each post, instead of the table.
    #[arg(long)]
    json: bool,
    /// Serve the posts as pages, at the address that is printed, until Ctrl-C.
    #[arg(long, conflicts_with = "json")]
    serve: bool,
    /// Write the posts to this folder instead, as files to try other commands on: posts.jsonl, and of
    /// single posts post.txt, scrap.txt, quotation.txt and page.html. Nothing there is overwritten.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "serve", "rule"])]
    save: Option<PathBuf>,
    /// Where --serve listens.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7600", requires = "serve")]
    listen: SocketAddr,
}

/// One post in `--json`.
#[derive(Serialize)]
struct JsonVerdict<'a> {
    id: &'a str,
    created: &'a str,
    verdict: &'static str,
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
            verdict: verdict.kind.name(),
            original: verdict.original,
            resemblance: verdict.resemblance,
            features_equal: verdict.features_equal,
            why: &verdict.why,
        }
    }
}

/// Runs the demo, in the directory that was asked for or in one that goes away.
pub(crate) fn run(args: &Args, chosen: Option<&Path>) -> anyhow::Result<Outcome> {
    let config = Config { listen: args.listen, ..Config::default() };
    config.check()?;
    let posts = sample::posts().context("reading the sample inside the program")?;
    if let Some(folder) = &args.save {
        saving::save(&posts, folder)?;
        return Ok(Outcome::Done);
    }
    let reader = Reader::new().context("preparing the features")?;
    let temporary = tempfile::tempdir().context("making a directory for the store")?;
    // A published seed, so that everybody sees the same table.
    let seed = SeedSource::Number(0);
    let params = StoreParams { rule: args.rule, seed, ..StoreParams::default() };
    let within = temporary.path().join("store");
    let directory = chosen.unwrap_or(&within);
    let store = Store::create(directory, &params).map_err(explained)?;
    let mut times = Vec::with_capacity(posts.len());
    let (mut documents, mut on_arrival, mut now) = (Vec::new(), Vec::new(), Vec::new());
    for post in &posts {
        let start = Instant::now();
        let content = Content::Bytes {
            bytes: post.bytes.as_ref().into(),
            charset: post.charset.as_deref().map(Into::into),
        };
        let mut document = Document {
            created: Timestamp::parse_text(&post.created).ok(),
            title: post.title.as_deref().map(Into::into),
            site: Some(post.blog().into()),
            ..Document::new(&post.id, content)
        };
        let submitted = Intake::new(&store).prepare(&mut document)?.submit(&store)?;
        let outcome = submitted.wait()?;
        let Arrived::Added { added, .. } = outcome else { unreachable!("no post leads elsewhere") };
        times.push(start.elapsed());
        on_arrival.push(Said { kind: added.verdict.kind, original: added.verdict.original });
        documents.push(reader.read(post));
    }
    for post in &posts {
        let stored = store.get(&post.id)?.context("a post that was just stored")?;
        now.push(Said { kind: stored.verdict.kind, original: stored.verdict.original });
    }
    let families = Families { rule: args.rule, documents, on_arrival, now };
    let verdicts = families.verdicts()?;

    if args.serve {
        start_logging(LogFormat::Text, "warn").context("starting the log")?;
        let stays = match chosen {
            Some(directory) => format!("the store stays in {}", directory.display()),
            None => "the store goes away then".to_owned(),
        };
        let told = format!("{}\nCtrl-C ends it; {stays}.\n", summary(args.rule, &verdicts));
        // A closed standard error takes nothing from the pages.
        let _ = io::stderr().write_all(told.as_bytes());
        serve::run_until_interrupted(store, Duration::ZERO, config)?;
        return Ok(Outcome::Done);
    }
    let mut output = Output::new();
    if args.json {
        for verdict in &verdicts {
            output.json_line(&JsonVerdict::of(verdict))?;
        }
    } else {
        output.styled(&table::render(&verdicts))?;
        output.styled(&search_sample(&store)?)?;
    }
    output.finish()?;
    if !args.json {
        // A closed standard error takes nothing from the answer.
        let _ = io::stderr().write_all(closing(args.rule, &verdicts, &mut times).as_bytes());
    }
    Ok(Outcome::Done)
}

/// What the search at the end looks for: words of a post that was copied more than once, by one that
/// arrived before it.
const QUERY: &str = "bridges";

/// Searches the store, to show that only originals are found.
fn search_sample(store: &Store) -> anyhow::Result<String> {
    store.catch_up()?;
    let results = store.search(&Query::parse(QUERY)?, Page { offset: 0, limit: 5 })?;
    let mut text = format!("\nwonbon search {QUERY}: originals only, each with its copies\n");
    for result in &results.results {
        let document = &result.document;
        // Writing to a string does not fail.
        let copies = counted(document.copies, "copy", "copies");
        let _ = writeln!(text, "  {} ({copies})", document.key);
        let _ = writeln!(text, "    {}", first_columns(&result.snippet.text, 90));
    }
    Ok(text)
}

/// As much of a line as fits so many columns of a terminal.
fn first_columns(line: &str, columns: usize) -> String {
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width <= columns
    };
    let shown: String = line.chars().take_while(fits).collect();
    if shown.len() < line.len() { format!("{}…", shown.trim_end()) } else { shown }
}

/// How many of each kind there are.
fn summary(rule: Rule, verdicts: &[Verdict<'_>]) -> String {
    let count = |wanted: fn(Kind) -> bool| verdicts.iter().filter(|v| wanted(v.kind)).count();
    let posts = verdicts.len();
    let originals = count(|kind| kind == Kind::Original);
    let copies = count(Kind::is_copy);
    let empty = count(|kind| kind == Kind::Empty);
    format!("{posts} posts: {originals} originals, {copies} copies, {empty} empty by {rule}")
}

/// The summary line and what to try next.
fn closing(rule: Rule, verdicts: &[Verdict<'_>], times: &mut [Duration]) -> String {
    let counted = summary(rule, verdicts);
    // The median: on a busy machine the mean tells about the other programs.
    times.sort_unstable();
    let microseconds = times.get(times.len() / 2).map_or(0, Duration::as_micros);
    let other = match rule {
        Rule::Threshold(_) => "--rule 2of6            the papers' rule: 2 of 6 features agree",
        Rule::Features { .. } => "--rule threshold=0.8   exact resemblance of at least 0.8",
    };
    format!(
        "\n{counted}; median durable add {microseconds} microseconds.\n\n\
         Try next:\n  \
         wonbon demo {other}\n  \
         wonbon demo --json                 one line a post, for programs\n  \
         wonbon demo --serve                the same posts as pages in a browser\n  \
         wonbon demo --save .               the posts as files, to try commands on\n  \
         wonbon compare A B --diff          what two files of your own share\n  \
         wonbon add FILE                    a store of your own\n  \
         wonbon --help                      everything else\n"
    )
}
