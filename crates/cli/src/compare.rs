//! `wonbon compare`: how much two documents share, exactly and as their sketches see it.

use std::fmt::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use anyhow::Context;
use serde::Serialize;
use wonbon_pages::{Compared, Shared, comparison_page};
use wonbon_sketch::{
    ElementSet, Estimate, FeatureMaker, FeatureParams, Features, MinValues, Overlap,
    containments_from_resemblance,
};
use wonbon_text::difference::{Difference, Kind, Span, difference};
use wonbon_text::shingles::{ShingleCount, Shingler};

use crate::Outcome;
use crate::options::{Document, ShingleOptions, read_document};
use crate::output::{Output, write_file};
use crate::rule::{DEFAULT_RULE, Rule};

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
    #[arg(long, value_name = "RULE", default_value_t = DEFAULT_RULE)]
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

/// A document that is not a copy is "partly contained" from this part of its shingles on...
const PARTLY_CONTAINED: f64 = 0.2;
/// ...or from this many shared shingles on: a quotation may be a small part of both.
const QUOTED_SHINGLES: usize = 20;
/// Words shown before and after a differing passage.
const CONTEXT_WORDS: usize = 6;

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    anyhow::ensure!(
        !(args.a.as_os_str() == "-" && args.b.as_os_str() == "-"),
        "only one of the two documents can be standard input"
    );
    let maker =
        FeatureMaker::new(FeatureParams { seed: args.shingles.seed()?, ..Default::default() })?;
    let mut shingler = Shingler::new(args.shingles.shingle);
    let a = Side::read(read_document(&args.a)?, &mut shingler, &maker);
    let b = Side::read(read_document(&args.b)?, &mut shingler, &maker);
    let comparison = Comparison::of(&a, &b, args.rule)?;
    let found = (args.diff || args.html.is_some())
        .then(|| difference(&a.document.core.page.text, &b.document.core.page.text));
    if let (Some(path), Some(found)) = (&args.html, &found) {
        write_file(path, comparison.page(&a, &b, found).as_bytes())?;
    }
    let found = found.filter(|_| args.diff);

    let mut output = Output::new();
    if args.json {
        output.json_line(&comparison.json(&a, &b, found.as_ref()))?;
    } else {
        let mut text = comparison.table(&a, &b, args.rule);
        if let Some(found) = &found {
            text.push('\n');
            text.push_str(&passages(&a, &b, found));
        }
        output.styled(&text)?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// One of the two documents and all that is made of it.
struct Side {
    document: Document,
    count: ShingleCount,
    set: ElementSet,
    min_values: MinValues,
    features: Features,
}

impl Side {
    fn read(document: Document, shingler: &mut Shingler, maker: &FeatureMaker) -> Self {
        let mut collected = Vec::new();
        let mut keep = 1 << 20;
        let mut builder = maker.builder();
        let count = shingler.for_each_chunk(&document.core.page.text, |chunk| {
            builder.update(chunk);
            collected.extend_from_slice(chunk);
            // A long text that repeats itself has few different shingles; keep only those.
            if collected.len() >= keep {
                collected = ElementSet::new(std::mem::take(&mut collected)).into_vec();
                keep = 2 * collected.len().max(1 << 20);
            }
        });
        let set = ElementSet::new(collected);
        let features = builder.features();
        Side { document, count, set, min_values: builder.min_values().clone(), features }
    }

    fn describe(&self) -> String {
        let core = &self.document.core;
        let kind = if core.is_html { "core text of HTML" } else { "plain text" };
        let damage = if core.malformed { ", some bytes malformed" } else { "" };
        format!(
            "{} ({} words, {} shingles; {kind}, {}{damage})",
            self.document.name,
            self.count.words,
            self.set.len(),
            core.charset
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    IdenticalBytes,
    SameText,
    SameShingles,
    Copy,
    PartlyContained,
    Different,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Verdict::IdenticalBytes => "identical bytes",
            Verdict::SameText => "same text",
            Verdict::SameShingles => "same shingles",
            Verdict::Copy => "copy",
            Verdict::PartlyContained => "partly contained",
            Verdict::Different => "different",
        }
    }
}

struct Comparison {
    overlap: Overlap,
    resemblance: Estimate,
    a_in_b: Estimate,
    b_in_a: Estimate,
    features: usize,
    features_equal: usize,
    verdict: Verdict,
}

impl Comparison {
    fn of(a: &Side, b: &Side, rule: Rule) -> anyhow::Result<Self> {
        let overlap = a.set.overlap(&b.set);
        let resemblance = a
            .min_values
            .estimate_resemblance(&b.min_values)
            .context("comparing the two sketches")?;
        let (a_in_b, b_in_a) =
            containments_from_resemblance(resemblance, a.set.len() as u64, b.set.len() as u64);
        let features_equal =
            a.features.agreeing(&b.features).context("comparing the two features")?;
        let verdict = if a.document.bytes == b.document.bytes {
            Verdict::IdenticalBytes
        } else if a.set.is_empty() || b.set.is_empty() {
            Verdict::Different
        } else if same_words(a, b) {
            Verdict::SameText
        } else if overlap.shared == overlap.union() {
            Verdict::SameShingles
        } else if rule.makes_a_copy(overlap.resemblance(), features_equal) {
            Verdict::Copy
        } else if overlap.left_in_right().max(overlap.right_in_left()) >= PARTLY_CONTAINED
            || overlap.shared >= QUOTED_SHINGLES
        {
            Verdict::PartlyContained
        } else {
            Verdict::Different
        };
        let features = a.features.values().len().max(b.features.values().len());
        Ok(Comparison { overlap, resemblance, a_in_b, b_in_a, features, features_equal, verdict })
    }

    fn table(&self, a: &Side, b: &Side, rule: Rule) -> String {
        let mut text = format!("A  {}\nB  {}\n\n", a.describe(), b.describe());
        let mut row = |name: &str, exact: f64, estimate: &Estimate| {
            let _ = writeln!(
                text,
                "{name:<16}  {exact:.4}  estimated {:.3} ± {:.3}",
                estimate.value, estimate.standard_error
            );
        };
        row("resemblance", self.overlap.resemblance(), &self.resemblance);
        row("A inside B", self.overlap.left_in_right(), &self.a_in_b);
        row("B inside A", self.overlap.right_in_left(), &self.b_in_a);
        let bold = Style::new().bold();
        let _ = writeln!(
            text,
            "features equal    {} of {}\n\nverdict: {bold}{}{bold:#}{}",
            self.features_equal,
            self.features,
            self.verdict.name(),
            self.why(rule)
        );
        text
    }

    fn why(&self, rule: Rule) -> String {
        let resemblance = self.overlap.resemblance();
        match (self.verdict, rule) {
            (Verdict::Copy, Rule::Threshold(threshold)) => {
                format!(" (resemblance {resemblance:.4} is at least {threshold})")
            }
            (Verdict::Copy, Rule::Features(needed)) => {
                format!(" (at least {needed} features agree)")
            }
            (Verdict::PartlyContained, _) => {
                format!(" ({} shingles are in both)", self.overlap.shared)
            }
            _ => String::new(),
        }
    }

    fn page(&self, a: &Side, b: &Side, found: &Difference) -> String {
        let compared = Compared {
            left_name: &a.document.name,
            left: &a.document.core.page.text,
            right_name: &b.document.name,
            right: &b.document.core.page.text,
            found,
        };
        let shared = Shared {
            verdict: self.verdict.name(),
            resemblance: self.overlap.resemblance(),
            left_in_right: self.overlap.left_in_right(),
            right_in_left: self.overlap.right_in_left(),
        };
        comparison_page(&compared, &shared)
    }

    fn json<'a>(&self, a: &'a Side, b: &'a Side, found: Option<&Difference>) -> Json<'a> {
        Json {
            a: &a.document.name,
            b: &b.document.name,
            resemblance: self.overlap.resemblance(),
            containment_a_in_b: self.overlap.left_in_right(),
            containment_b_in_a: self.overlap.right_in_left(),
            estimate: JsonEstimate {
                resemblance: self.resemblance.value,
                containment_a_in_b: self.a_in_b.value,
                containment_b_in_a: self.b_in_a.value,
                resemblance_standard_error: self.resemblance.standard_error,
                containment_a_in_b_standard_error: self.a_in_b.standard_error,
                containment_b_in_a_standard_error: self.b_in_a.standard_error,
            },
            features_equal: self.features_equal,
            features: self.features,
            shingles_a: a.set.len(),
            shingles_b: b.set.len(),
            shingles_shared: self.overlap.shared,
            verdict: self.verdict.name(),
            differences: found.map(|found| differences(a, b, found)),
            moved: found.map(|found| moved(a, found)),
        }
    }
}

/// Whether the two have the same words in the same order. The hash is asked first; the words, whose
/// equality no hash can prove, only when it agrees.
fn same_words(a: &Side, b: &Side) -> bool {
    let normal_form = |side: &Side| wonbon_text::words::normal_form(&side.document.core.page.text);
    a.count == b.count && normal_form(a) == normal_form(b)
}

#[derive(Serialize)]
struct Json<'a> {
    a: &'a str,
    b: &'a str,
    resemblance: f64,
    containment_a_in_b: f64,
    containment_b_in_a: f64,
    estimate: JsonEstimate,
    features_equal: usize,
    features: usize,
    shingles_a: usize,
    shingles_b: usize,
    shingles_shared: usize,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<JsonDifference<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<Vec<JsonMoved<'a>>>,
}

#[derive(Serialize)]
struct JsonEstimate {
    resemblance: f64,
    containment_a_in_b: f64,
    containment_b_in_a: f64,
    resemblance_standard_error: f64,
    containment_a_in_b_standard_error: f64,
    containment_b_in_a_standard_error: f64,
}

/// A passage that differs: what A has there and what B has there, either may be empty.
#[derive(Serialize)]
struct JsonDifference<'a> {
    a: &'a str,
    b: &'a str,
    words_a: [usize; 2],
    words_b: [usize; 2],
}

/// A block that stands at one place of A and at another of B: its number is its place in the list,
/// from 1.
#[derive(Serialize)]
struct JsonMoved<'a> {
    a: &'a str,
    words_a: [usize; 2],
    words_b: [usize; 2],
}

fn moved<'a>(a: &'a Side, found: &Difference) -> Vec<JsonMoved<'a>> {
    found
        .moved
        .iter()
        .map(|block| JsonMoved {
            a: &a.document.core.page.text[found.left.place(block.left.clone())],
            words_a: [block.left.start, block.left.end],
            words_b: [block.right.start, block.right.end],
        })
        .collect()
}

fn differences<'a>(a: &'a Side, b: &'a Side, found: &Difference) -> Vec<JsonDifference<'a>> {
    let (text_a, text_b) = (&a.document.core.page.text, &b.document.core.page.text);
    let is_alone = |span: &Span| matches!(span.kind, Kind::OnlyLeft | Kind::OnlyRight);
    found
        .spans
        .chunk_by(|one, other| is_alone(one) && is_alone(other))
        .filter(|spans| is_alone(&spans[0]))
        .map(|spans| {
            let last = spans.len() - 1;
            let words_a = spans[0].left.start..spans[last].left.end;
            let words_b = spans[0].right.start..spans[last].right.end;
            JsonDifference {
                a: &text_a[found.left.place(words_a.clone())],
                b: &text_b[found.right.place(words_b.clone())],
                words_a: [words_a.start, words_a.end],
                words_b: [words_b.start, words_b.end],
            }
        })
        .collect()
}

/// The differing passages with a few words around them, one passage a line.
fn passages(a: &Side, b: &Side, found: &Difference) -> String {
    let (text_a, text_b) = (&a.document.core.page.text, &b.document.core.page.text);
    let removed = AnsiColor::Red.on_default().strikethrough();
    let added = AnsiColor::Green.on_default().bold();
    let elsewhere = AnsiColor::Magenta.on_default();
    let left = |words| folded(&text_a[found.left.place(words)]);
    let right = |words| folded(&text_b[found.right.place(words)]);
    let mut out = String::new();
    for (index, span) in found.spans.iter().enumerate() {
        match span.kind {
            Kind::OnlyLeft => {
                let _ = write!(out, "{removed}[-{}-]{removed:#} ", left(span.left.clone()));
            }
            Kind::OnlyRight => {
                let _ = write!(out, "{added}{{+{}+}}{added:#} ", right(span.right.clone()));
            }
            Kind::MovedLeft(block) => {
                let (number, words) = (block + 1, left(span.left.clone()));
                let _ = write!(out, "{elsewhere}[{number}> {words} {number}>]{elsewhere:#} ");
            }
            Kind::MovedRight(block) => {
                let (number, words) = (block + 1, right(span.right.clone()));
                let _ = write!(out, "{elsewhere}{{>{number} {words} >{number}}}{elsewhere:#} ");
            }
            Kind::Same => {
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
    if found.spans.iter().all(|span| span.kind == Kind::Same) {
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
