//! `wonbon check`: what would be said of documents, with nothing stored.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use wonbon_app::answers;
use wonbon_app::intake::{Intake, IntakeError};
use wonbon_documents::{PieceOutput, Reading, for_each_document};
use wonbon_store::{Kind, Verdict};

use super::reading::ReadingOptions;
use super::{explained, open_to_read};
use crate::batch::{all_cores, name_skipped};
use crate::output::Output;
use crate::watcher::Watcher;
use crate::{Outcome, report};

/// Say of documents whether they would be copies, without storing anything.
///
/// Input as for `wonbon add`. Exit code 1 if any would be a copy or was refused.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    reading: ReadingOptions,
    /// Print one JSON object a line for each document.
    #[arg(long)]
    json: bool,
    /// Threads to use; all cores if not said.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let spool = tempfile::tempdir()?;
    let found = args.reading.find(directory, spool.path())?;
    let store = open_to_read(directory)?;
    let intake = Intake::new(&store).with_dates(args.reading.dates.dates);
    let mut output = Output::new();
    let (mut copies, mut refused) = (0, 0);
    type Checked = Vec<Result<(String, Verdict, u64), anyhow::Error>>;
    let watcher = Watcher::new();
    let threads = args.threads.unwrap_or_else(all_cores);
    for_each_document(
        &Reading::new(&found, threads, &watcher),
        || (),
        |(), document, checked: &mut Checked| {
            // An address that only leads elsewhere is no document.
            if document.redirect().is_some() {
                return;
            }
            let started = Instant::now();
            let verdict = intake.check(document).map_err(|error| match error {
                IntakeError::Store(error) => explained(error),
                error => error.into(),
            });
            let microseconds = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
            let id = if document.id.is_empty() { answers::UNNAMED } else { &document.id };
            let id = id.to_owned();
            checked.push(verdict.map(|verdict| (id, verdict, microseconds)));
        },
        |piece: PieceOutput<Checked>| -> anyhow::Result<()> {
            refused += piece.skipped.len();
            name_skipped(piece.skipped.len() as u64, &piece.skipped);
            for verdict in piece.output {
                let (id, verdict, microseconds) = match verdict {
                    Ok(verdict) => verdict,
                    Err(error) => {
                        refused += 1;
                        report::refused(&error);
                        continue;
                    }
                };
                copies += usize::from(verdict.kind.is_copy());
                print(&mut output, args.json, &id, &verdict, microseconds)?;
            }
            Ok(())
        },
    )?;
    output.finish()?;
    Ok(if copies + refused == 0 { Outcome::Done } else { Outcome::Refused })
}

fn print(
    output: &mut Output,
    as_json: bool,
    id: &str,
    verdict: &Verdict,
    microseconds: u64,
) -> anyhow::Result<()> {
    if as_json {
        return output.json_line(&answers::Checked::of(id, verdict, microseconds));
    }
    let line = match (&verdict.original, verdict.resemblance) {
        (Some(original), Some(resemblance)) => format!(
            "{:<13} {id} of {original} (resemblance {resemblance:.3})\n",
            verdict.kind.name()
        ),
        _ if verdict.kind == Kind::Empty => format!("{:<13} {id}\n", "empty"),
        _ => format!("{:<13} {id}\n", "original"),
    };
    output.bytes(line.as_bytes())
}
