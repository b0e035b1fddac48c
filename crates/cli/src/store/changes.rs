//! `wonbon changes`: the versions of a page, and how all pages change.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use wonbon_app::answers::{days, resemblance_classes};
use wonbon_app::changes_page::{ENGLISH, add_changes, add_versions, counts_of};
use wonbon_app::questions::{ChangesFound, ChangesParameters};
use wonbon_pages::Page;
use wonbon_store::{Changes, LIFE_CLASSES, Lives, PageHistory, RATE_CLASSES};
use wonbon_time::Timestamp;

use super::{date, open_to_read, refused};
use crate::batch::thousands;
use crate::output::{Output, write_file};
use crate::wording::counted;
use crate::{Outcome, report};

/// Show the versions of a page, or how all pages change.
///
/// With a KEY: its versions with the dates they were stored and seen, their words, and the resemblance
/// between neighbours. Otherwise, from the sweeps of all sites or of one: what each sweep saw (pages
/// found on a site's first sweep, born, changed, unchanged, come back, died, moved within and between
/// sites), how often pages change, how much, and how long they live.
///
/// A page is missed by a sweep that saw its site but not it; of sites it did not see a sweep says
/// nothing. A family that loses one address and gains another in the same sweep moved. Exit code 1 if
/// there is no such page.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A page: its key or address.
    #[arg(value_name = "KEY", conflicts_with = "site")]
    key: Option<String>,
    /// Pages of this site only.
    #[arg(long, value_name = "SITE")]
    site: Option<String>,
    /// Sweeps from this date on only; for a page, versions stored or seen from then on.
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Timestamp>,
    /// Print the answer as one line of JSON.
    #[arg(long)]
    json: bool,
    /// Write a page with plots to this file too.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let mut output = Output::new();
    let question =
        ChangesParameters { key: args.key.clone(), site: args.site.clone(), since: args.since };
    let Some(found) = refused(question.ask(&store))? else { return Ok(Outcome::Refused) };
    let (table, html) = match &found {
        ChangesFound::History(history) => (history_table(history), history_page(history)),
        ChangesFound::Changes { site, since, changes } => {
            if changes.sweeps.is_empty() {
                let of = site.as_ref().map_or_else(String::new, |site| format!(" of {site}"));
                report::note(&format!("no sweep{of} was added; `wonbon add --sweep DATE` does"));
            }
            (table(changes), changes_page(site.as_deref(), *since, changes))
        }
    };
    if args.json {
        output.json_line(&found.answer())?;
    } else {
        output.bytes(table.as_bytes())?;
    }
    output.finish()?;
    if let Some(path) = &args.html {
        write_file(path, html.as_bytes())?;
    }
    Ok(Outcome::Done)
}

/// The versions of one page, as a page.
fn history_page(history: &PageHistory) -> String {
    let mut page = Page::new(&format!("Versions of {}", history.place.key));
    page.heading("Versions of a page");
    page.lead(&history.place.key);
    add_versions(&mut page, &ENGLISH, history);
    page.finish()
}

/// How all pages change, as a page.
fn changes_page(site: Option<&str>, since: Option<Timestamp>, changes: &Changes) -> String {
    let of = site.map_or_else(String::new, |site| format!(" of {site}"));
    let title = format!("How pages{of} change");
    let mut page = Page::new(&title);
    page.heading(&title);
    let from =
        since.map_or_else(String::new, |since| format!(" from {} on", since.to_short_text()));
    page.lead(&format!(
        "{} in {}{from}.",
        counted(changes.pages, "page", "pages"),
        counted(changes.sweeps.len() as u64, "sweep", "sweeps")
    ));
    add_changes(&mut page, &ENGLISH, changes);
    page.finish()
}

fn history_table(history: &PageHistory) -> String {
    let mut text = format!("{}\n", history.place.key);
    let mut rows =
        vec![["version", "stored", "seen", "words", "resemblance"].map(str::to_owned).to_vec()];
    for version in &history.versions {
        let seen: Vec<String> = version
            .seen
            .iter()
            .map(|(first, last)| format!("{} to {}", first.to_short_text(), last.to_short_text()))
            .collect();
        rows.push(vec![
            version.version.to_string(),
            version.stored.floor_to_second().to_short_text(),
            if seen.is_empty() { "–".to_owned() } else { seen.join(", ") },
            thousands(version.words),
            version.resemblance.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}")),
        ]);
    }
    text.push_str(&aligned(&rows, &[0, 3, 4]));
    text
}

fn table(changes: &Changes) -> String {
    let names = [
        "sweep",
        "seen",
        "found",
        "born",
        "back",
        "changed",
        "same",
        "died",
        "moved",
        "elsewhere",
        "alike",
    ];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    for counts in &changes.sweeps {
        let mut row = vec![counts.sweep.to_short_text()];
        row.extend(counts_of(counts).map(thousands));
        row.push(counts.mean_resemblance().map_or_else(String::new, |mean| format!("{mean:.3}")));
        rows.push(row);
    }
    let mut text = aligned(&rows, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let share = |part: u64, all: u64| match all {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", part as f64 * 100.0 / all as f64),
    };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "\n{}; changed in {} of {} intervals between neighbouring sweeps ({})",
        counted(changes.pages, "page", "pages"),
        thousands(changes.changed_intervals),
        thousands(changes.intervals),
        share(changes.changed_intervals, changes.intervals)
    );
    let named = |names: &[&str], counts: &[u64]| {
        let rows: Vec<Vec<String>> = names
            .iter()
            .zip(counts)
            .map(|(name, count)| vec![format!("  {name}"), thousands(*count)])
            .collect();
        aligned(&rows, &[1])
    };
    text.push_str("\npages by the share of intervals in which they change\n");
    text.push_str(&named(&RATE_CLASSES, &changes.rates));
    text.push_str("\nchanges by the resemblance of the two versions\n");
    let classes = resemblance_classes();
    let classes: Vec<&str> = classes.iter().map(String::as_str).collect();
    text.push_str(&named(&classes, &changes.resemblances));
    text.push_str("\nlives in sweeps of the site, from the first to the last that saw the page\n");
    let mut rows = vec![["", "ended", "go on"].map(str::to_owned).to_vec()];
    for (at, name) in LIFE_CLASSES.iter().enumerate() {
        let counts = [changes.ended.by_sweeps[at], changes.going_on.by_sweeps[at]];
        let mut row = vec![format!("  {name}")];
        row.extend(counts.map(thousands));
        rows.push(row);
    }
    for (name, of) in [
        ("  pages", (|lives: &Lives| Some(thousands(lives.pages))) as fn(&Lives) -> Option<String>),
        ("  mean days", |lives| lives.mean().map(|life| format!("{:.1}", days(life)))),
        ("  median days", |lives| lives.median.map(|life| format!("{:.1}", days(life)))),
    ] {
        let shown = |lives| of(lives).unwrap_or_else(|| "–".to_owned());
        rows.push(vec![name.to_owned(), shown(&changes.ended), shown(&changes.going_on)]);
    }
    text.push_str(&aligned(&rows, &[1, 2]));
    text
}

/// Rows as columns; these ones to the right.
fn aligned(rows: &[Vec<String>], right: &[usize]) -> String {
    let width = |text: &str| text.chars().count();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell)).max())
        .map(Option::unwrap_or_default)
        .collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[at] - width(cell));
            let gap = if at == 0 { "" } else { "  " };
            line.push_str(gap);
            if right.contains(&at) {
                line.push_str(&padding);
                line.push_str(cell);
            } else {
                line.push_str(cell);
                line.push_str(&padding);
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
