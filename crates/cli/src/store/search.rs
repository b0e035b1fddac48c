//! `wonbon search`: originals by their words, each with its copies.

use std::fmt::Write;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use wonbon_app::answers;
use wonbon_app::parameters::RESULTS;
use wonbon_app::questions::{FoundOriginal, SearchQuestion};
use wonbon_store::{SearchResult, Snippet, StoredDocument};

use super::{explain, open_to_read};
use crate::Outcome;
use crate::batch::thousands;
use crate::output::Output;
use crate::wording::counted;

/// Find originals by their words.
///
/// All words must occur. "several words" in quotes occur as they stand; -word must not occur; OR stands
/// between alternatives; title:word looks in titles; site:example.org, lang:ko, after:2025-01 and
/// before:2026 narrow. Korean, Chinese and Japanese are found without spaces between words.
///
/// Only originals are found, each with the number of its copies. Exit code 1 if nothing was.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What to look for.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,
    /// How many results to show.
    #[arg(short = 'n', long, value_name = "N", default_value_t = RESULTS.usual)]
    limit: usize,
    /// How many of the best to leave out: the next page.
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Show the copies of each result too, up to 100 (`wonbon get --family` shows all).
    #[arg(long)]
    copies: bool,
    /// Print one JSON object a line for each result.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let mut question = SearchQuestion::for_words(args.query.join(" "), args.offset, args.limit);
    question.copies = Some(args.copies);
    let found = question.search(&store).map_err(explain)?;
    let mut output = Output::new();
    for (place, FoundOriginal { result, copies }) in (args.offset + 1..).zip(&found.results) {
        if args.json {
            output.json_line(&answers::FoundResult::of(result, copies.as_deref()))?;
        } else {
            output.styled(&render_result(place, result, copies.as_deref().unwrap_or_default()))?;
        }
    }
    if !args.json {
        let (first, last) = (args.offset + 1, args.offset + found.results.len());
        let line = match found.results.len() {
            0 => format!("nothing found among the originals ({} match)\n", thousands(found.total)),
            _ => {
                let total = counted(found.total, "original", "originals");
                format!("{first} to {last} of {total}\n")
            }
        };
        output.bytes(line.as_bytes())?;
    }
    output.finish()?;
    Ok(if found.results.is_empty() { Outcome::Refused } else { Outcome::Done })
}

const TITLE: Style = Style::new().bold();
const MATCH: Style = AnsiColor::Yellow.on_default().bold();
const FAINT: Style = Style::new().dimmed();

fn render_result(place: usize, result: &SearchResult, copies: &[StoredDocument]) -> String {
    let document = &result.document;
    let mut text = String::new();
    let title = match &result.title {
        Some(title) => highlight(title, TITLE),
        None => format!("{TITLE}{}{TITLE:#}", document.key),
    };
    let count = match document.copies {
        0 => String::new(),
        copies => format!(", {}", counted(copies, "copy", "copies")),
    };
    let decision = document
        .decision
        .map_or_else(String::new, |decision| format!(", decided: {}", decision.name()));
    let published =
        document.published.map_or_else(String::new, |published| format!(", claims {published}"));
    // Writing to a string does not fail.
    let _ = writeln!(text, "{place:>3}. {title}");
    let _ = writeln!(
        text,
        "     {FAINT}{}  {}{published}{count}{decision}{FAINT:#}",
        document.key, document.created
    );
    let _ = writeln!(text, "     {}", highlight(&result.snippet, Style::new()));
    for copy in copies {
        let verdict = &copy.verdict;
        let resemblance = verdict
            .resemblance
            .map_or_else(String::new, |resemblance| format!("  {resemblance:.3}"));
        let _ = writeln!(
            text,
            "       {FAINT}{:<13} {}  {}{resemblance}{FAINT:#}",
            verdict.kind.name(),
            copy.key,
            copy.created
        );
    }
    text.push('\n');
    text
}

/// A snippet with what matches in colour.
fn highlight(snippet: &Snippet, plain: Style) -> String {
    let mut text = String::new();
    let mut at = 0;
    for highlight in &snippet.highlights {
        let _ = write!(
            text,
            "{plain}{}{plain:#}{MATCH}{}{MATCH:#}",
            &snippet.text[at..highlight.start],
            &snippet.text[highlight.clone()]
        );
        at = highlight.end;
    }
    let _ = write!(text, "{plain}{}{plain:#}", &snippet.text[at..]);
    text
}
