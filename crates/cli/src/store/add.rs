//! `wonbon add`: documents into a store, each decided as it arrives.
//!
//! How files become documents of a store is [`wonbon_app::import`]'s, which the service's jobs
//! use too; here verdicts are printed, in the order of the input, each once it is durable.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use wonbon_app::answers;
use wonbon_app::import::{Import, ImportError, Listener, import};
use wonbon_documents::{Progress, Skipped};
use wonbon_store::{Added, Store, StoreError, Stored};
use wonbon_time::Timestamp;

use super::reading::ReadingOptions;
use super::{date, explained, too_early};
use crate::batch::{all_cores, name_skipped};
use crate::output::Output;
use crate::watcher::Watcher;
use crate::wording::counted;
use crate::{Outcome, report};

/// Documents that may be on their way through the store at a time.
const IN_FLIGHT: usize = 2048;

/// Store documents, and say of each whether it copies an earlier one.
///
/// Input: what `wonbon dedup` reads: JSON lines, CSV, Parquet, web archives (WARC), text and HTML
/// files, folders of them, plain or compressed; `-` is standard input. Fields: id (or url),
/// created, published, title, text or html, site, author, language. A document without an id is
/// called by its URL, or by its file and row; one without a creation time was created now. The date
/// that a page claims of itself is kept as `published`.
///
/// Everything is stored; only originals can be found by `wonbon search`. A known id with other
/// content is a new version and is decided again. A document that arrives late but was created
/// earlier than its original takes the original's place.
///
/// Verdicts: original, copy, same-text (the same words), same-shingles, identical (the same bytes),
/// empty (no words). A known key is `updated` if its content changed, `unchanged` otherwise.
///
/// With --sweep the documents were seen by the pass of a crawl of that date: `wonbon moved` and
/// `wonbon changes` answer from it. Documents that are stored as they come are recognised by the
/// fingerprint of their bytes, and nothing is made of them again. A row without text whose field
/// `redirect` names another address is noted as a redirect. Sweeps are added in order of date; the
/// latest may be continued.
///
/// Exit codes: 0 done, 1 done but rows were refused (they are named), 2 it could not run; whatever
/// was printed before that is stored.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    reading: ReadingOptions,
    /// The date of the sweep that saw these documents.
    #[arg(long, value_name = "DATE", value_parser = date)]
    sweep: Option<Timestamp>,
    /// Print a line for each document.
    #[arg(short, long)]
    verbose: bool,
    /// Print one JSON object a line for each document, and the summary as the last one.
    #[arg(long)]
    json: bool,
    /// Threads to use; all cores if not said. The verdicts do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// Prints verdicts as they come, in the order of the input.
struct Printer<'a> {
    args: &'a Args,
    output: Output,
    watcher: &'a Watcher,
    skipped_first: Vec<Skipped>,
}

impl Listener for Printer<'_> {
    type Error = anyhow::Error;

    fn added(&mut self, id: &str, added: &Added, since: Instant) -> anyhow::Result<()> {
        let verdict = &added.verdict;
        if self.args.json {
            let microseconds = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.output.json_line(&answers::Added::of(id, added, microseconds))?;
        } else if self.args.verbose {
            let mut line = format!("{:<13} {id}", verdict.kind.name());
            if added.stored != Stored::New {
                line.push_str(&format!(" ({})", answers::change_name(added.stored)));
            }
            if let (Some(original), Some(resemblance)) = (&verdict.original, verdict.resemblance) {
                line.push_str(&format!(" of {original} (resemblance {resemblance:.3})"));
            }
            line.push('\n');
            self.output.bytes(line.as_bytes())?;
        }
        Ok(())
    }

    fn redirected(&mut self, id: &str, target: &str) -> anyhow::Result<()> {
        if self.args.json {
            self.output.json_line(&answers::Redirected::of(id, target))?;
        } else if self.args.verbose {
            let line = format!("{:<13} {id} leads to {target}\n", "redirect");
            self.output.bytes(line.as_bytes())?;
        }
        Ok(())
    }

    fn refused(&mut self, why: &str) {
        self.watcher.say(&format!("refused: {why}"));
    }

    fn skipped(&mut self, row: Skipped) {
        if self.skipped_first.len() < 20 {
            self.skipped_first.push(row);
        }
    }
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let spool = tempfile::tempdir()?;
    let found = args.reading.find(directory, spool.path())?;
    let store = Store::open_or_create(directory, None).map_err(explained)?;
    if let Some(why) = store.index_rebuilt() {
        report::note(&format!("the index was built anew: {why}"));
    }
    if let Some((sweep, latest)) =
        args.sweep.zip(store.sweeps().map_err(explained)?.last().copied())
        && sweep < latest
    {
        return Err(too_early(sweep, latest));
    }
    let watcher = Watcher::new();
    watcher.begin("read", found.bytes());
    let mut printer =
        Printer { args, output: Output::new(), watcher: &watcher, skipped_first: Vec::new() };
    let what = Import {
        store: &store,
        inputs: &found,
        sweep: args.sweep,
        dates: args.reading.dates.dates,
        threads: args.threads.unwrap_or_else(all_cores),
        in_flight: IN_FLIGHT,
        skip_pieces: 0,
    };
    let imported = import(&what, answers::AddSummary::default(), &watcher, &mut printer);
    watcher.finish();
    let closed = store.close();
    let Printer { mut output, skipped_first, .. } = printer;
    if let (true, Ok(summary)) = (args.json, &imported) {
        output.json_line(&serde_json::json!({ "summary": summary }))?;
    }
    output.finish()?;
    name_skipped(skipped_first.len() as u64, &skipped_first);
    let summary = imported.map_err(|error| match error {
        ImportError::Store(error) => explained(error),
        ImportError::Input(error) => error.into(),
        ImportError::Listener(error) => error,
        other => anyhow::anyhow!("{other}"),
    })?;
    closed.map_err(|error: StoreError| explained(error))?;
    if !args.json {
        tell(&summary, args.sweep);
    }
    Ok(if summary.refused == 0 { Outcome::Done } else { Outcome::Refused })
}

fn tell(summary: &answers::AddSummary, sweep: Option<Timestamp>) {
    let mut parts = Vec::new();
    for (count, one, more) in [
        (summary.originals, "original", "originals"),
        (summary.copies, "copy", "copies"),
        (summary.empty, "empty", "empty"),
        (summary.updated, "updated", "updated"),
        (summary.unchanged, "unchanged", "unchanged"),
        (summary.redirects, "redirect", "redirects"),
        (summary.passed_over, "other record", "other records"),
        (summary.refused, "refused", "refused"),
    ] {
        if count > 0 {
            parts.push(counted(count, one, more));
        }
    }
    // A closed standard error takes nothing from what was stored.
    let _ = writeln!(
        anstream::stderr(),
        "{}{} in {:.1} s ({:.0} a second): {}",
        sweep.map_or_else(String::new, |sweep| format!("sweep of {}: ", sweep.to_short_text())),
        counted(summary.documents, "document", "documents"),
        summary.seconds,
        summary.documents as f64 / summary.seconds.max(1e-3),
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    );
}
