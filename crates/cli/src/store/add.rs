//! `wonbon add`: documents into a store, each decided as it arrives.
//!
//! Reading, core text, words, features and compression run on all cores; the store's one writer
//! decides in the order of the input. Verdicts are printed in that order, each once it is durable.

use std::collections::VecDeque;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::bail;
use wonbon_cluster::ClusterError;
use wonbon_cluster::progress::Progress;
use wonbon_cluster::reading::{Inputs, Piece, Skipped, Visited, for_each_unknown_document};
use wonbon_server::json;
use wonbon_store::{
    NewDocument, Pending, PendingRedirect, Prepared, Recognised, Redirect, Store, StoreError,
    Stored,
};

use super::{date, explained, new_document, shown_time, too_early};
use crate::batch::{
    FieldOptions, Watcher, all_cores, name_skipped, spool_standard_input, thousands,
};
use crate::output::Output;
use crate::{Outcome, report};

/// Documents that may be on their way through the store at a time.
const IN_FLIGHT: usize = 2048;

/// Store documents, and say of each whether it copies an earlier one.
///
/// Input: what `wonbon dedup` reads: JSON lines, CSV, Parquet, web archives (WARC), text and HTML
/// files, folders of them, plain or compressed; `-` is standard input. Fields: id (or url),
/// created, title, text or html, site, author, language. A document without an id is called by its
/// URL, or by its file and row; one without a creation time was created now.
///
/// Everything is stored; only originals can be found by `wonbon search`. A known id with other
/// content is a new version and is decided again. A document that arrives late but was created
/// earlier than its original takes the original's place.
///
/// Verdicts: original, copy, same-text (the same words), same-shingles, identical (the same bytes),
/// empty (no words), updated (a new version; `kind` says what it is now), unchanged.
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
    /// Files and folders to read; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    fields: FieldOptions,
    /// The date of the sweep that saw these documents.
    #[arg(long, value_name = "DATE", value_parser = date)]
    sweep: Option<i64>,
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

/// A row made ready for the store.
enum Ready {
    Document(Box<Prepared>),
    Seen(Recognised),
    Redirect(Redirect),
    /// A redirect of a web archive, of which nobody wants to know.
    PassedOver,
}

impl Ready {
    fn of(store: &Store, sweep: Option<i64>, visited: &Visited<'_>) -> anyhow::Result<Ready> {
        if let Some(to) = visited.redirect {
            // What leads elsewhere is the address, whatever else the row is called.
            let key = visited.url.unwrap_or(visited.id).to_owned();
            let Some(sweep) = sweep else {
                if visited.archived {
                    return Ok(Ready::PassedOver);
                }
                bail!("`{key}` only leads to {to}: redirects are noted with --sweep");
            };
            let site = visited.about.site.map(str::to_owned);
            return Ok(Ready::Redirect(Redirect { key, target: to.to_owned(), sweep, site }));
        }
        let document = NewDocument { sweep, ..new_document(visited)? };
        if visited.recognised {
            return Ok(Ready::Seen(Recognised::of(&document)));
        }
        let prepared = store.prepare(&document)?;
        Ok(Ready::Document(Box::new(match visited.archived {
            true => prepared.created_at_the_latest(),
            false => prepared,
        })))
    }
}

/// What is on its way through the store.
enum Waiting {
    Document(Pending),
    Seen(Pending),
    Redirect(PendingRedirect, String),
}

/// Takes verdicts in the order of the input and prints them.
struct Printer<'a> {
    args: &'a Args,
    output: Output,
    waiting: VecDeque<(String, Instant, Waiting)>,
    summary: json::AddSummary,
}

impl Printer<'_> {
    fn submit(&mut self, store: &Store, ready: Ready, started: Instant) -> anyhow::Result<()> {
        let (id, waiting) = match ready {
            Ready::Document(prepared) => {
                (prepared.key().to_owned(), Waiting::Document(store.submit(*prepared)?))
            }
            Ready::Seen(recognised) => {
                let id = recognised.key().to_owned();
                (id, Waiting::Seen(store.submit_recognised(recognised)?))
            }
            Ready::Redirect(redirect) => {
                let pending = store.submit_redirect(&redirect)?;
                (redirect.key, Waiting::Redirect(pending, redirect.target))
            }
            Ready::PassedOver => {
                self.summary.passed_over += 1;
                return Ok(());
            }
        };
        self.waiting.push_back((id, started, waiting));
        while self.waiting.len() > IN_FLIGHT {
            self.take_first()?;
        }
        Ok(())
    }

    fn take_first(&mut self) -> anyhow::Result<()> {
        let Some((id, started, waiting)) = self.waiting.pop_front() else { return Ok(()) };
        let added = match waiting {
            Waiting::Redirect(pending, target) => {
                pending.wait().map_err(explained)?;
                return self.redirected(&id, &target);
            }
            Waiting::Document(pending) => pending.wait().map_err(explained)?,
            Waiting::Seen(pending) => match pending.wait() {
                Err(StoreError::NotRecognised { key }) => {
                    self.summary.refused += 1;
                    report::refused(&anyhow::anyhow!(
                        "`{key}` stands here twice with different content: add it once more"
                    ));
                    return Ok(());
                }
                added => {
                    self.summary.recognised += 1;
                    added.map_err(explained)?
                }
            },
        };
        self.summary.count(&added);
        let verdict = &added.verdict;
        if self.args.json {
            let microseconds = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.output.json_line(&json::Added::of(&id, &added, microseconds))?;
        } else if self.args.verbose {
            let mut line = format!("{:<13} {id}", json::verdict_name(&added));
            if added.stored == Stored::Updated {
                line.push_str(&format!(", {}", verdict.kind.name()));
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
        self.summary.redirects += 1;
        if self.args.json {
            self.output.json_line(&json::Redirected::of(id, target))?;
        } else if self.args.verbose {
            let line = format!("{:<13} {id} leads to {target}\n", "redirect");
            self.output.bytes(line.as_bytes())?;
        }
        Ok(())
    }
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let spool = tempfile::tempdir()?;
    let inputs = spool_standard_input(&args.inputs, spool.path())?;
    let fields = args.fields.names(&inputs, directory)?;
    let mut found = Inputs::find(&inputs, fields)?;
    found.unpack = spool.path().to_owned();
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
    let started = Instant::now();
    let watcher = Watcher::new();
    watcher.begin("read", found.bytes());
    let mut printer = Printer {
        args,
        output: Output::new(),
        waiting: VecDeque::new(),
        summary: json::AddSummary::default(),
    };
    let mut skipped_first: Vec<Skipped> = Vec::new();
    let mut read_bytes = 0;
    let mut failed: Option<anyhow::Error> = None;
    // Whatever keeps a document from being recognised shows when it is stored.
    let known = |visited: &Visited<'_>| {
        args.sweep.is_some()
            && new_document(visited)
                .is_ok_and(|document| matches!(store.recognise(&document), Ok(Some(_))))
    };
    type Rows = Vec<Result<(Ready, Instant), String>>;
    let ended = for_each_unknown_document(
        &found,
        args.threads.unwrap_or_else(all_cores),
        &watcher,
        &known,
        |visited, rows: &mut Rows| {
            let started = Instant::now();
            let ready = Ready::of(&store, args.sweep, visited);
            rows.push(ready.map(|ready| (ready, started)).map_err(|error| error.to_string()));
        },
        |piece: Piece<Rows>| {
            let Piece { output: rows, skipped, bytes, passed_over } = piece;
            read_bytes += bytes;
            printer.summary.passed_over += passed_over;
            watcher.advance(read_bytes);
            for row in skipped {
                printer.summary.refused += 1;
                if skipped_first.len() < 20 {
                    skipped_first.push(row);
                }
            }
            for row in rows {
                let submitted = match row {
                    Ok((ready, started)) => printer.submit(&store, ready, started),
                    Err(why) => {
                        printer.summary.refused += 1;
                        watcher.say(&format!("refused: {why}"));
                        Ok(())
                    }
                };
                if let Err(error) = submitted {
                    failed = Some(error);
                    return Err(ClusterError::Stopped);
                }
            }
            Ok(())
        },
    );
    if failed.is_none() {
        while !printer.waiting.is_empty() {
            if let Err(error) = printer.take_first() {
                failed = Some(error);
                break;
            }
        }
    }
    watcher.finish();
    let closed = store.close();
    let Printer { mut output, mut summary, .. } = printer;
    summary.seconds = started.elapsed().as_secs_f64();
    if args.json && failed.is_none() {
        output.json_line(&serde_json::json!({ "summary": &summary }))?;
    }
    output.finish()?;
    name_skipped(skipped_first.len() as u64, &skipped_first);
    if let Some(error) = failed {
        return Err(error);
    }
    ended?;
    closed.map_err(|error: StoreError| explained(error))?;
    if !args.json {
        tell(&summary, args.sweep);
    }
    Ok(if summary.refused == 0 { Outcome::Done } else { Outcome::Refused })
}

fn tell(summary: &json::AddSummary, sweep: Option<i64>) {
    let mut parts = Vec::new();
    for (count, what) in [
        (summary.originals, "originals"),
        (summary.copies, "copies"),
        (summary.empty, "empty"),
        (summary.updated, "updated"),
        (summary.unchanged, "unchanged"),
        (summary.redirects, "redirects"),
        (summary.passed_over, "other records"),
        (summary.refused, "refused"),
    ] {
        if count > 0 {
            parts.push(format!("{} {what}", thousands(count)));
        }
    }
    // A closed standard error takes nothing from what was stored.
    let _ = writeln!(
        anstream::stderr(),
        "{}{} documents in {:.1} s ({:.0} a second): {}",
        sweep.map_or_else(String::new, |sweep| format!("sweep of {}: ", shown_time(sweep))),
        thousands(summary.documents),
        summary.seconds,
        summary.documents as f64 / summary.seconds.max(1e-3),
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    );
}
