//! `wonbon similar`, `within`, `contains`, `sources`: what stored documents share with a text.
//!
//! The text is a stored document's, by its id or URL, or a file's, or what comes on standard input.
//! What is asked about need not be stored.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use wonbon_app::answers;
use wonbon_app::parameters::{LEAST_WORDS, MATCHES, USUAL_MATCH};
use wonbon_app::questions::TextQuestion;
use wonbon_documents::read_file;
use wonbon_store::{Answer, Match, Measure, Source, Sources, Store, StoredPassage, StoredPassages};

use super::{explain, explained, open_to_read, share};
use crate::batch::thousands;
use crate::output::Output;
use crate::{Outcome, report};

/// What is asked about.
#[derive(clap::Args)]
struct AboutOptions {
    /// The id or URL of a stored document, or a file of text or HTML; `-` is standard input.
    #[arg(value_name = "URL|FILE")]
    about: String,
    /// How many documents to show.
    #[arg(short = 'n', long, value_name = "N", default_value_t = MATCHES.usual)]
    limit: usize,
    /// Print one JSON object a line for each document.
    #[arg(long)]
    json: bool,
}

/// Find stored documents that resemble a text, originals and copies alike.
///
/// The text is a stored document's, by its id or URL, or a file's, in any character set; HTML is
/// reduced to its core text. Candidates come from an index of sampled shingles; what is shown was
/// verified on the full sets of shingles, so every value is exact. For each document: resemblance, how
/// much of the text the document has, and how much of the document the text has.
///
/// Exit code 1 if nothing was found.
#[derive(clap::Args)]
pub(crate) struct SimilarArgs {
    #[command(flatten)]
    about: AboutOptions,
    /// The least resemblance to show.
    #[arg(long, value_name = "R", default_value_t = USUAL_MATCH, value_parser = share)]
    min: f64,
}

/// Find stored documents that contain a text or part of it.
///
/// Ranked by the part of the text's shingles that the document has: 1 for a document that quotes all
/// of it. A text of a few words is looked for by its words too. With --passages: every run of words that the text has in
/// common with a stored document, and where. Input and output as for `wonbon
/// similar`. Exit code 1 if nothing was found.
#[derive(clap::Args)]
pub(crate) struct WithinArgs {
    #[command(flatten)]
    about: AboutOptions,
    /// The least part of the text that a document has to have.
    #[arg(long, value_name = "C", default_value_t = USUAL_MATCH, value_parser = share)]
    min: f64,
    /// Show the passages of the text that stand in stored documents instead, run by run with their sources.
    #[arg(long, conflicts_with = "min")]
    passages: bool,
    /// The least words of a passage.
    #[arg(long, value_name = "N", default_value_t = LEAST_WORDS, requires = "passages")]
    least_words: usize,
}

/// Find stored documents that a text contains, whole or in part.
///
/// Ranked by the part of the document's shingles that the text has: 1 for a document that the text
/// quotes whole. Input and output as for `wonbon similar`. Exit code 1 if nothing was found.
#[derive(clap::Args)]
pub(crate) struct ContainsArgs {
    #[command(flatten)]
    about: AboutOptions,
    /// The least part of a document that the text has to have.
    #[arg(long, value_name = "C", default_value_t = USUAL_MATCH, value_parser = share)]
    min: f64,
}

/// Find where a text was taken from: the fewest documents that explain it.
///
/// The document that has most of the text comes first, then the one that has most of the rest. For
/// each: the passages of the text that it explains and that no document before it did. At the end:
/// what no stored document explains. Input as for `wonbon similar`. Exit code 1 if nothing was found.
#[derive(clap::Args)]
pub(crate) struct SourcesArgs {
    #[command(flatten)]
    about: AboutOptions,
    /// Name a document if it explains at least this many words that no other one does.
    #[arg(long, value_name = "N", default_value_t = LEAST_WORDS)]
    least_words: usize,
}

pub(crate) fn run_similar(args: &SimilarArgs, directory: &Path) -> anyhow::Result<Outcome> {
    ask(&args.about, Measure::Resemblance, args.min, directory)
}

pub(crate) fn run_within(args: &WithinArgs, directory: &Path) -> anyhow::Result<Outcome> {
    if args.passages {
        return run_passages(args, directory);
    }
    ask(&args.about, Measure::Within, args.min, directory)
}

pub(crate) fn run_contains(args: &ContainsArgs, directory: &Path) -> anyhow::Result<Outcome> {
    ask(&args.about, Measure::Contains, args.min, directory)
}

impl AboutOptions {
    /// The question: about a stored document if there is one of this name, otherwise about a file's text.
    fn question(&self, store: &Store) -> anyhow::Result<TextQuestion> {
        let question = TextQuestion { limit: Some(self.limit), ..TextQuestion::default() };
        let about = self.about.as_str();
        if about != "-" {
            if store.find(about).map_err(explained)?.is_some() {
                return Ok(TextQuestion { key: Some(about.to_owned()), ..question });
            }
            anyhow::ensure!(
                Path::new(about).exists(),
                "`{about}` is neither a stored document nor a file"
            );
        }
        let document = read_file(Path::new(about))?;
        Ok(TextQuestion { text: Some(document.core.page.text), ..question })
    }
}

fn ask(
    args: &AboutOptions,
    measure: Measure,
    min: f64,
    directory: &Path,
) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let question = TextQuestion { min: Some(min), ..args.question(&store)? };
    let about = question.about(&store).map_err(explain)?;
    let answer = question.matches(&store, &about, measure).map_err(explain)?;
    let mut output = Output::new();
    for (place, found) in (1..).zip(&answer.matches) {
        if args.json {
            output.json_line(&answers::Match::of(found))?;
        } else {
            output.styled(&render_match(place, found, measure))?;
        }
    }
    output.finish()?;
    print_notes(&answer);
    Ok(if answer.matches.is_empty() { Outcome::Refused } else { Outcome::Done })
}

/// What a reader should know of an answer.
fn print_notes(answer: &Answer) {
    if answer.matches.is_empty() {
        report::note("nothing found");
    }
    if answer.common > 0 {
        report::note(&format!(
            "{} of {} shingles were left out: too many documents have them",
            thousands(answer.common as u64),
            thousands(answer.shingles as u64)
        ));
    }
    if !answer.complete {
        report::note(&format!(
            "{} of {} candidates were looked at; a larger --min or --limit shows more",
            thousands(answer.verified as u64),
            thousands(answer.candidates as u64)
        ));
    }
}

const BOLD: Style = Style::new().bold();
const FAINT: Style = Style::new().dimmed();
const MARKED: Style = AnsiColor::Yellow.on_default();

fn render_match(place: usize, found: &Match, measure: Measure) -> String {
    let document = &found.document;
    let overlap = &found.overlap;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{place:>3}. {BOLD}{}{BOLD:#}",
        document.title.as_deref().unwrap_or(&document.key)
    );
    let mut verdict = document.verdict.kind.name().to_owned();
    if let Some(original) = &document.verdict.original {
        let _ = write!(verdict, " of {original}");
    }
    let _ =
        writeln!(text, "     {FAINT}{}  {}  {verdict}{FAINT:#}", document.key, document.created);
    let value = |name: &str, value: f64, ranked: bool| {
        if ranked {
            format!("{BOLD}{name} {value:.3}{BOLD:#}")
        } else {
            format!("{name} {value:.3}")
        }
    };
    let _ = writeln!(
        text,
        "     {}, {}, {}",
        value("resemblance", overlap.resemblance(), measure == Measure::Resemblance),
        value("has of the text", overlap.left_in_right(), measure == Measure::Within),
        value("is in the text", overlap.right_in_left(), measure == Measure::Contains),
    );
    text.push('\n');
    text
}

pub(crate) fn run_sources(args: &SourcesArgs, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let question =
        TextQuestion { least_words: Some(args.least_words), ..args.about.question(&store)? };
    let about = question.about(&store).map_err(explain)?;
    let answer = question.sources(&store, &about).map_err(explain)?;
    let mut output = Output::new();
    if args.about.json {
        for source in &answer.sources {
            output.json_line(&answers::Source::of(source, &about.text))?;
        }
        output.json_line(&answers::Explained::of(&answer, &about.text))?;
    } else {
        for (place, source) in (1..).zip(&answer.sources) {
            output.styled(&render_source(place, source, &answer, &about.text))?;
        }
        output.styled(&render_unexplained(&answer, &about.text))?;
    }
    output.finish()?;
    Ok(if answer.sources.is_empty() { Outcome::Refused } else { Outcome::Done })
}

fn run_passages(args: &WithinArgs, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    let question =
        TextQuestion { least_words: Some(args.least_words), ..args.about.question(&store)? };
    let about = question.about(&store).map_err(explain)?;
    let found = question.passages(&store, &about).map_err(explain)?;
    let mut output = Output::new();
    for passage in &found.passages {
        if args.about.json {
            output.json_line(&answers::TextPassage::of(passage, &found, &about.text))?;
        } else {
            output.styled(&render_passage(passage, &found, &about.text))?;
        }
    }
    if !args.about.json {
        output.styled(&format!(
            "{} of {} words ({:.1} %) stand in stored documents\n",
            thousands(found.repeated as u64),
            thousands(found.words as u64),
            percent(found.repeated, found.words)
        ))?;
    }
    output.finish()?;
    if !found.complete {
        report::note("more documents share something with the text than were looked at");
    }
    Ok(if found.passages.is_empty() { Outcome::Refused } else { Outcome::Done })
}

/// The colours of sources, taken in turn.
const SOURCE_COLOURS: [AnsiColor; 6] = [
    AnsiColor::Yellow,
    AnsiColor::Cyan,
    AnsiColor::Green,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::Red,
];

fn render_passage(passage: &StoredPassage, found: &StoredPassages, asked: &str) -> String {
    let first = passage.places.first().map_or(0, |(number, _)| *number);
    let colour = SOURCE_COLOURS[first % SOURCE_COLOURS.len()].on_default();
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{FAINT}words {} to {}{FAINT:#}  {colour}{}{colour:#}",
        passage.words.start + 1,
        passage.words.end,
        shorten(&asked[passage.place.clone()])
    );
    for (number, place) in &passage.places {
        let document = &found.documents[*number];
        let colour = SOURCE_COLOURS[number % SOURCE_COLOURS.len()].on_default();
        let _ = writeln!(
            text,
            "     {colour}{}{colour:#} {FAINT}bytes {} to {}  {}{FAINT:#}",
            document.key, place.start, place.end, document.created
        );
    }
    text.push('\n');
    text
}

fn percent(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

fn render_source(place: usize, source: &Source, answer: &Sources, asked: &str) -> String {
    let document = &source.document;
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{place:>3}. {BOLD}{}{BOLD:#}\n     {FAINT}{}  {}{FAINT:#}\n     explains {} of {} words ({:.1} %)",
        document.title.as_deref().unwrap_or(&document.key),
        document.key,
        document.created,
        thousands(source.words as u64),
        thousands(answer.words as u64),
        percent(source.words, answer.words),
    );
    for passage in &source.passages {
        let _ = writeln!(
            text,
            "     {FAINT}words {} to {}{FAINT:#}  {MARKED}{}{MARKED:#}",
            passage.words.start + 1,
            passage.words.end,
            shorten(&asked[passage.place.clone()])
        );
    }
    text.push('\n');
    text
}

fn render_unexplained(answer: &Sources, asked: &str) -> String {
    let left = answer.words - answer.explained;
    if answer.sources.is_empty() {
        return "no stored document explains any of it\n".to_owned();
    }
    if left == 0 {
        return "nothing is left unexplained\n".to_owned();
    }
    let mut text = format!(
        "unexplained: {} of {} words ({:.1} %)\n",
        thousands(left as u64),
        thousands(answer.words as u64),
        percent(left, answer.words)
    );
    for part in &answer.unexplained {
        let _ = writeln!(
            text,
            "     {FAINT}words {} to {}{FAINT:#}  {}",
            part.words.start + 1,
            part.words.end,
            shorten(&asked[part.place.clone()])
        );
    }
    text
}

/// The beginning and the end of a passage, on one line.
fn shorten(passage: &str) -> String {
    let words: Vec<&str> = passage.split_whitespace().collect();
    let line = words.join(" ");
    let characters = line.chars().count();
    if characters <= 120 {
        return line;
    }
    let head: String = line.chars().take(80).collect();
    let tail: String = line.chars().skip(characters - 30).collect();
    format!("{head} … {tail}")
}
