//! `wonbon copies`: who holds a document.

use std::fmt::Write as _;
use std::path::Path;

use wonbon_app::answers;
use wonbon_store::{Copies, Copy};

use super::{PlaceOptions, open_to_read, refused};
use crate::Outcome;
use crate::output::Output;

/// List who holds a document, by site.
///
/// Each holder with when it was first and last seen, its resemblance, and which version of the document
/// it follows: the one it resembles most. Members of the document's family are always listed. Exit code
/// 1 if nobody holds it, or there is no such document.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: PlaceOptions,
    /// How to print it.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// One line of JSON.
    Json,
    /// A line for each holder.
    Csv,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let Some(copies) = refused(args.place.question().copies(&store))? else {
        return Ok(Outcome::Refused);
    };
    let mut output = Output::new();
    match args.format {
        Format::Table => output.bytes(table(&copies).as_bytes())?,
        Format::Json => output.json_line(&answers::Copies::of(&copies))?,
        Format::Csv => output.bytes(csv(&copies).as_bytes())?,
    }
    output.finish()?;
    Ok(if copies.sites.is_empty() { Outcome::Refused } else { Outcome::Done })
}

fn follows(copy: &Copy, versions: u32) -> String {
    if versions == 1 {
        String::new()
    } else if copy.follows == versions {
        format!("current, version {versions} of {versions}")
    } else {
        format!("version {} of {versions}", copy.follows)
    }
}

fn table(copies: &Copies) -> String {
    let versions = copies.place.versions;
    let count = |number: usize, one: &str| match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {one}s"),
    };
    let more = if copies.cut { ", and there may be more" } else { "" };
    let mut text = format!(
        "{}\n{} on {}{more}\n",
        copies.place.key,
        count(copies.total, "holder"),
        count(copies.sites.len(), "site")
    );
    for site in &copies.sites {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "\n{}: {}, seen {} to {}",
            site.site.as_deref().unwrap_or("no site"),
            site.copies.len(),
            site.first.to_short_text(),
            site.last.to_short_text()
        );
        for copy in &site.copies {
            let gone = copy.place.gone.map_or_else(String::new, |gone| {
                format!(", missed since {}", gone.to_short_text())
            });
            let line = format!(
                "  {:.3}  {} to {}  {}  {}{gone}",
                copy.resemblance,
                copy.place.first.to_short_text(),
                copy.place.last.to_short_text(),
                copy.place.key,
                follows(copy, versions)
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}

/// A field of CSV: quoted if it has to be.
fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn csv(copies: &Copies) -> String {
    let mut text = String::from("site,key,first,last,gone,resemblance,follows,versions,family\n");
    for site in &copies.sites {
        for copy in &site.copies {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{},{}",
                field(site.site.as_deref().unwrap_or_default()),
                field(&copy.place.key),
                copy.place.first,
                copy.place.last,
                copy.place.gone.map_or_else(String::new, |time| time.to_string()),
                copy.resemblance,
                copy.follows,
                copies.place.versions,
                copy.family
            );
        }
    }
    text
}
