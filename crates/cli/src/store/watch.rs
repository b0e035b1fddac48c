//! `wonbon watch`: reference documents, and copies that differ from them by a little.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use wonbon_app::answers;
use wonbon_app::parameters::USUAL_WATCHED;
use wonbon_app::questions::{self, ReportQuestion};
use wonbon_store::{Passage, Store, WatchReport};

use super::{explain, explained, open_to_read, refused, share};
use crate::output::Output;
use crate::{Outcome, report};

/// Watch reference documents, such as laws, for copies that differ a little.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Watch stored documents. Exit code 1 if one is not there.
    Add {
        /// The documents: their keys or addresses.
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
    },
    /// Stop watching documents. Exit code 1 if one was not watched.
    Remove {
        /// The documents: their keys or addresses.
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
    },
    /// List the documents that are watched.
    List {
        /// Print one JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// List stored copies that differ from a watched document by a little, with the differing words.
    ///
    /// Copies with the very words are counted as faithful; copies with the very words of an earlier
    /// version are listed apart. Exit code 1 if any copy differs.
    Report {
        /// The least resemblance of a copy.
        #[arg(long, value_name = "R", default_value_t = USUAL_WATCHED, value_parser = share)]
        min: f64,
        /// Print one JSON object a line for each watched document.
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    match &args.command {
        Command::Add { keys } => {
            let store = Store::open(directory).map_err(explained)?;
            let mut outcome = Outcome::Done;
            for key in keys {
                if refused(questions::watch(&store, key))?.is_none() {
                    outcome = Outcome::Refused;
                }
            }
            store.close().map_err(explained)?;
            Ok(outcome)
        }
        Command::Remove { keys } => {
            let store = Store::open(directory).map_err(explained)?;
            let mut outcome = Outcome::Done;
            for key in keys {
                if refused(questions::unwatch(&store, key))?.is_none() {
                    outcome = Outcome::Refused;
                }
            }
            store.close().map_err(explained)?;
            Ok(outcome)
        }
        Command::List { json } => list(&open_to_read(directory)?, *json),
        Command::Report { min, json } => print_reports(&open_to_read(directory)?, *min, *json),
    }
}

fn list(store: &Store, as_json: bool) -> anyhow::Result<Outcome> {
    let mut output = Output::new();
    for watched in store.watched()? {
        if as_json {
            output.json_line(&answers::Watched::of(&watched))?;
        } else {
            let line = format!("{}\n", watched.place.key);
            output.bytes(line.as_bytes())?;
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn print_reports(store: &Store, min: f64, as_json: bool) -> anyhow::Result<Outcome> {
    let reports = ReportQuestion { min: Some(min) }.ask(store).map_err(explain)?;
    if reports.is_empty() {
        report::note("no document is watched; `wonbon watch add` marks one");
    }
    let mut output = Output::new();
    let mut outcome = Outcome::Done;
    for report in &reports {
        if !report.differing.is_empty() {
            outcome = Outcome::Refused;
        }
        if as_json {
            output.json_line(&answers::WatchReport::of(report))?;
        } else {
            output.styled(&render_report(report))?;
        }
    }
    output.finish()?;
    Ok(outcome)
}

const HEAD: Style = Style::new().bold();
const OUT: Style = AnsiColor::Red.on_default();
const IN: Style = AnsiColor::Green.on_default();

/// Passages of a copy that are shown.
const MOST_PASSAGES: usize = 20;

fn render_report(report: &WatchReport) -> String {
    let place = &report.watched.place;
    let mut text = format!(
        "{HEAD}{}{HEAD:#}\n  {} faithful, {} of an earlier version, {} that differ\n",
        place.key,
        report.faithful,
        report.outdated.len(),
        report.differing.len()
    );
    // Writing to a string does not fail.
    for (old, version) in &report.outdated {
        let versions = place.versions;
        let _ = writeln!(text, "  {} follows version {version} of {versions}", old.key);
    }
    for copy in &report.differing {
        let (missing, added) = copy.words;
        let _ = writeln!(
            text,
            "  {}\n    resemblance {:.3}, {missing} words missing, {added} put in, last seen {}",
            copy.place.key,
            copy.resemblance,
            copy.place.last.to_short_text()
        );
        for passage in copy.passages.iter().take(MOST_PASSAGES) {
            let _ = writeln!(text, "    {}", render_passage(passage));
        }
        if copy.passages.len() > MOST_PASSAGES {
            let _ = writeln!(text, "    and {} more places", copy.passages.len() - MOST_PASSAGES);
        }
    }
    text
}

fn render_passage(passage: &Passage) -> String {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut parts = Vec::new();
    if !passage.before.is_empty() {
        parts.push(format!("… {}", one_line(&passage.before)));
    }
    if !passage.reference.is_empty() {
        parts.push(format!("{OUT}[-{}-]{OUT:#}", one_line(&passage.reference)));
    }
    if !passage.copy.is_empty() {
        parts.push(format!("{IN}{{+{}+}}{IN:#}", one_line(&passage.copy)));
    }
    if !passage.after.is_empty() {
        parts.push(format!("{} …", one_line(&passage.after)));
    }
    parts.join(" ")
}
