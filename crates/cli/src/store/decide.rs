//! `wonbon decide` and `wonbon decisions`: decisions of people about documents, and their log.

use std::path::Path;

use wonbon_app::answers;
use wonbon_store::{By, Decision, DecisionChange, DecisionEntry, LOCAL, Store, StoreError};

use super::{explained, open_to_read};
use crate::output::Output;
use crate::{Outcome, report};

/// Decide that a document is the original, or that it is not a copy; or take that back.
///
/// Families follow at once, and later verdicts respect it. An edit keeps a decision, deleting the
/// document ends it. Everything is recorded in the log that `wonbon decisions` prints. Exit code 1 if
/// there is no such document, or no decision to take back.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The document: its URL or id.
    #[arg(value_name = "KEY")]
    key: String,
    #[command(flatten)]
    what: What,
    /// Why, for the log: up to 1000 characters.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Who decides, for the log.
    #[arg(long, value_name = "NAME", default_value = LOCAL)]
    who: String,
    /// Print the entry of the log as one line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct What {
    /// It is the original: it comes before every document without this decision, and documents like it
    /// become its copies, whenever they were created.
    #[arg(long)]
    original: bool,
    /// It is an original, at its usual place; others may be its copies.
    #[arg(long)]
    not_a_copy: bool,
    /// Take the last decision about it back: what was in effect before is again.
    #[arg(long)]
    undo: bool,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = Store::open(directory).map_err(explained)?;
    let by = By { who: &args.who, reason: args.reason.as_deref() };
    let done = if args.what.undo {
        store.undo_decision(&args.key, None, &by, None).map(Some)
    } else {
        let decision = if args.what.original { Decision::Original } else { Decision::NotACopy };
        store.decide(&args.key, decision, &by, None)
    };
    let entry = match done {
        Err(
            error @ (StoreError::UnknownDocument { .. }
            | StoreError::NothingToUndo { .. }
            | StoreError::NoWords),
        ) => {
            report::refused(&error.into());
            store.close().map_err(explained)?;
            return Ok(Outcome::Refused);
        }
        done => done.map_err(explained)?,
    };
    let mut output = Output::new();
    match &entry {
        None => report::note("that is in effect already"),
        Some(entry) if args.json => output.json_line(&answers::DecisionEntry::of(entry))?,
        Some(entry) => {
            let document = store.get(&entry.key)?;
            let stands = document.map_or_else(String::new, |document| {
                match (&document.verdict.original, document.copies) {
                    (Some(original), _) => {
                        format!(": {} of {original}", document.verdict.kind.name())
                    }
                    (None, copies) => format!(": original with {copies} copies"),
                }
            });
            output.bytes(format!("{}{stands}\n", describe_entry(entry)).as_bytes())?;
        }
    }
    output.finish()?;
    store.close().map_err(explained)?;
    Ok(Outcome::Done)
}

/// Print the log of decisions, the latest first.
///
/// Who decided what of which document, when and why, and what was taken back. Entries are numbered from
/// 1 and never change.
#[derive(clap::Args)]
pub(crate) struct LogArgs {
    /// Only what was decided of this document: its key.
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Print at most so many entries.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Print one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Entries read at a time.
const PAGE: usize = 1000;

pub(crate) fn run_log(args: &LogArgs, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let mut output = Output::new();
    let mut left = args.limit.unwrap_or(usize::MAX);
    let mut before = None;
    while left > 0 {
        let entries = store.decisions(args.key.as_deref(), before, left.min(PAGE))?;
        for entry in &entries {
            if args.json {
                output.json_line(&answers::DecisionEntry::of(entry))?;
                continue;
            }
            let reason =
                entry.reason.as_deref().map_or_else(String::new, |reason| format!("  ({reason})"));
            let line = format!(
                "{}  {}  {}{reason}\n",
                entry.time.floor_to_second().to_short_text(),
                entry.who,
                describe_entry(entry)
            );
            output.bytes(line.as_bytes())?;
        }
        before = entries.last().map(|last| last.entry);
        left -= entries.len();
        if entries.len() < PAGE {
            break;
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// What an entry tells, in a line.
fn describe_entry(entry: &DecisionEntry) -> String {
    let after = entry.after.map_or("nothing", Decision::name);
    let what = match (entry.change, entry.undoes) {
        (DecisionChange::Undone, Some(undone)) => format!("entry {undone} taken back, {after}"),
        (DecisionChange::Removed, _) => "ended, the document was deleted".to_owned(),
        _ => after.to_owned(),
    };
    format!("entry {}  {}  {what}", entry.entry, entry.key)
}
