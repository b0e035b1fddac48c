//! `wonbon compare`: how much two documents share, exactly and as their sketches see it.

use std::fmt::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use wonbon_app::compare::{
    CompareConfig, ComparedTexts, Comparison, Relation, Side, TextToCompare,
};
use wonbon_documents::{FileDocument, read_file};
use wonbon_pages::{Compared, Shared, comparison_page};
use wonbon_sketch::{Estimate, FeatureParams};
use wonbon_store::Rule;
use wonbon_text::difference::{Difference, SpanKind, difference};

use crate::Outcome;
use crate::options::ShingleOptions;
use crate::output::{Output, write_file};

/// Compare two documents: resemblance, containment both ways, and a verdict.
///
/// Files may be text or HTML (then their core text is compared), in any character set. Values are
/// exact, from the full sets of shingles; beside them stand the estimates that 84 min-values give,
/// with their standard errors, and how many of the 6 features agree.
///
/// Verdicts: "identical bytes"; "same text" (the same words in the same order); "same shingles" (the
/// same set of shingles in another order or number); "copy" (by --rule); "partly contained" (not a
/// copy, but a fifth of one, or 20 shingles, are in the other); "different". A document without
/// words is nobody's copy.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The first document; `-` is standard input.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The second document; `-` is standard input.
    #[arg(value_name = "B")]
    b: PathBuf,
    #[command(flatten)]
    shingles: ShingleOptions,
    /// What makes a copy: `threshold=0.8` (exact resemblance of at least 0.8) or `2of6` (at least 2
    /// of the 6 features agree, as in the papers).
    #[arg(long, value_name = "RULE", default_value_t = Rule::default())]
    rule: Rule,
    /// Show the differing passages: words only A has as [-...-], words only B has as {+...+}, blocks
    /// that moved as [1> ... 1>] where A has them and as {>1 ... >1} where B has them, with the same
    /// number; in colour on a terminal.
    #[arg(long)]
    diff: bool,
    /// Write a page that shows the two texts beside each other, passage by passage, with every
    /// differing word and every moved block marked. It needs nothing but a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// One JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// Words shown before and after a differing passage.
const CONTEXT_WORDS: usize = 6;

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        !(args.a.as_os_str() == "-" && args.b.as_os_str() == "-"),
        "only one of the two documents can be standard input"
    );
    let config = CompareConfig {
        shingle_words: args.shingles.shingle,
        features: FeatureParams { seed: args.shingles.seed()?, ..Default::default() },
        rule: args.rule,
    };
    let documents = [read_file(&args.a)?, read_file(&args.b)?];
    let texts = documents.each_ref().map(|document| TextToCompare {
        name: &document.name,
        bytes: &document.bytes,
        text: &document.core.page.text,
    });
    let answer = ComparedTexts::of(texts, &config).context("comparing the two sketches")?;
    let ComparedTexts { sides: [a, b], comparison: compared } = &answer;
    let found = (args.diff || args.html.is_some()).then(|| difference(a.text, b.text));
    if let (Some(path), Some(found)) = (&args.html, &found) {
        write_file(path, page(compared, a, b, found).as_bytes())?;
    }
    let found = found.filter(|_| args.diff);

    let mut output = Output::new();
    if args.json {
        output.json_line(&answer.answer(found.as_ref()))?;
    } else {
        let described = [describe(&documents[0], a), describe(&documents[1], b)];
        let mut text = table(compared, described, args.rule);
        if let Some(found) = &found {
            text.push('\n');
            text.push_str(&passages(a, b, found));
        }
        output.styled(&text)?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn describe(document: &FileDocument, side: &Side<'_>) -> String {
    let core = &document.core;
    let kind = if core.is_html { "core text of HTML" } else { "plain text" };
    let damage = if core.malformed { ", some bytes malformed" } else { "" };
    format!(
        "{} ({} words, {} shingles; {kind}, {}{damage})",
        side.name,
        side.count.words,
        side.set.len(),
        core.charset
    )
}

fn table(compared: &Comparison, described: [String; 2], rule: Rule) -> String {
    let [a, b] = described;
    let mut text = format!("A  {a}\nB  {b}\n\n");
    let mut row = |name: &str, exact: f64, estimate: &Estimate| {
        let _ = writeln!(
            text,
            "{name:<16}  {exact:.4}  estimated {:.3} ± {:.3}",
            estimate.value, estimate.standard_error
        );
    };
    row("resemblance", compared.overlap.resemblance(), &compared.resemblance);
    row("A inside B", compared.overlap.left_in_right(), &compared.a_in_b);
    row("B inside A", compared.overlap.right_in_left(), &compared.b_in_a);
    let bold = Style::new().bold();
    let _ = writeln!(
        text,
        "features equal    {} of {}\n\nverdict: {bold}{}{bold:#}{}",
        compared.features_equal,
        compared.features,
        compared.verdict.name(),
        why(compared, rule)
    );
    text
}

fn why(compared: &Comparison, rule: Rule) -> String {
    let resemblance = compared.overlap.resemblance();
    match (compared.verdict, rule) {
        (Relation::Copy, Rule::Threshold(threshold)) => {
            format!(" (resemblance {resemblance:.4} is at least {threshold})")
        }
        (Relation::Copy, Rule::Features { needed, floor }) => {
            format!(" (at least {needed} features agree, and the resemblance is at least {floor})")
        }
        (Relation::PartlyContained, _) => {
            format!(" ({} shingles are in both)", compared.overlap.shared)
        }
        _ => String::new(),
    }
}

fn page(compared: &Comparison, a: &Side<'_>, b: &Side<'_>, found: &Difference) -> String {
    let texts =
        Compared { left_name: a.name, left: a.text, right_name: b.name, right: b.text, found };
    let shared = Shared {
        verdict: compared.verdict.name(),
        resemblance: compared.overlap.resemblance(),
        left_in_right: compared.overlap.left_in_right(),
        right_in_left: compared.overlap.right_in_left(),
    };
    comparison_page(&texts, &shared)
}

/// The differing passages with a few words around them, one passage a line.
fn passages(a: &Side<'_>, b: &Side<'_>, found: &Difference) -> String {
    let (text_a, text_b) = (a.text, b.text);
    let removed = AnsiColor::Red.on_default().strikethrough();
    let added = AnsiColor::Green.on_default().bold();
    let elsewhere = AnsiColor::Magenta.on_default();
    let left = |words| folded(&text_a[found.left.place(words)]);
    let right = |words| folded(&text_b[found.right.place(words)]);
    let mut out = String::new();
    for (index, span) in found.spans.iter().enumerate() {
        match span.kind {
            SpanKind::OnlyLeft => {
                let _ = write!(out, "{removed}[-{}-]{removed:#} ", left(span.left.clone()));
            }
            SpanKind::OnlyRight => {
                let _ = write!(out, "{added}{{+{}+}}{added:#} ", right(span.right.clone()));
            }
            SpanKind::MovedLeft(block) => {
                let (number, words) = (block + 1, left(span.left.clone()));
                let _ = write!(out, "{elsewhere}[{number}> {words} {number}>]{elsewhere:#} ");
            }
            SpanKind::MovedRight(block) => {
                let (number, words) = (block + 1, right(span.right.clone()));
                let _ = write!(out, "{elsewhere}{{>{number} {words} >{number}}}{elsewhere:#} ");
            }
            SpanKind::Same => {
                let (words, first, last) =
                    (span.left.clone(), index == 0, index + 1 == found.spans.len());
                let behind = if first { 0 } else { CONTEXT_WORDS };
                let ahead = if last { 0 } else { CONTEXT_WORDS };
                if words.len() <= behind + ahead {
                    let _ = write!(out, "{} ", left(words));
                    continue;
                }
                if !first {
                    let _ = writeln!(out, "{} ...", left(words.start..words.start + behind));
                }
                if !last {
                    let _ = write!(out, "... {} ", left(words.end - ahead..words.end));
                }
            }
        }
    }
    if found.spans.iter().all(|span| span.kind == SpanKind::Same) {
        return "no differing words\n".to_owned();
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A passage on one line.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
