//! The report of a run: one self-contained HTML page with a light and a dark style.
//!
//! Totals, how large families are, how alike copies are, the largest families with their differences
//! marked, what was skipped and why, the parameters, time and memory of every phase.
//!
//! Cost: some hundred kilobytes at most; texts are shown up to [`SHOWN_BYTES`].

use std::collections::BTreeMap;

use maud::html;
use wonbon_pages::{Card, Cell, Page, bytes, thousands};
use wonbon_rule::Kind;

use crate::dedup::DedupSummary;
use crate::progress::PhaseTime;
use crate::verdicts::Verdicts;

/// How many families are shown.
pub(crate) const SHOWN_FAMILIES: usize = 20;

/// How many copies of each family are shown.
pub(crate) const SHOWN_COPIES: usize = 3;

/// How much of a text is compared and shown.
pub(crate) const SHOWN_BYTES: usize = 6_000;

/// Words of agreement that are shown around a difference.
const AROUND: usize = 12;

/// The rows of a table of phases: name, seconds, CPU seconds, memory.
pub(crate) fn phase_rows(phases: &[PhaseTime]) -> Vec<Vec<Cell>> {
    let row = |phase: &PhaseTime| {
        vec![
            Cell::Text(phase.phase.clone()),
            Cell::Number(format!("{:.2}", phase.seconds)),
            Cell::Number(format!("{:.2}", phase.cpu_seconds)),
            Cell::Number(bytes(phase.peak_bytes)),
        ]
    };
    phases.iter().map(row).collect()
}

/// A family as it is shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownFamily {
    pub(crate) original: u32,
    pub(crate) size: u32,
    pub(crate) copies: Vec<u32>,
}

impl ShownFamily {
    /// Its original and the copies that are shown.
    pub(crate) fn documents(&self) -> impl Iterator<Item = u32> {
        self.copies.iter().chain([&self.original]).copied()
    }
}

/// The largest families, with some copies of each: those that differ first.
pub(crate) fn shown_families(verdicts: &Verdicts, others: u32) -> Vec<ShownFamily> {
    let mut families: Vec<ShownFamily> = verdicts
        .largest(SHOWN_FAMILIES)
        .into_iter()
        .map(|(original, size)| ShownFamily { original, size, copies: Vec::new() })
        .collect();
    let place: BTreeMap<u32, usize> =
        families.iter().enumerate().map(|(at, family)| (family.original, at)).collect();
    for wanted in [true, false] {
        for document in others..verdicts.len() {
            let told = verdicts.row(document);
            if told.kind.is_copy()
                && (told.kind == Kind::Copy) == wanted
                && let Some(&at) = place.get(&told.original)
                && families[at].copies.len() < SHOWN_COPIES
            {
                families[at].copies.push(document);
            }
        }
    }
    families
}

/// What the page is made of.
pub(crate) struct Report<'a> {
    pub(crate) summary: &'a DedupSummary,
    pub(crate) verdicts: &'a Verdicts,
    pub(crate) others: u32,
    pub(crate) families: &'a [ShownFamily],
    /// Ids and texts of the documents that are shown.
    pub(crate) documents: &'a BTreeMap<u32, (String, String)>,
}

impl Report<'_> {
    /// The page.
    pub(crate) fn page(&self) -> String {
        let mut page = Page::new("wonbon dedup: report");
        self.totals(&mut page);
        self.histograms(&mut page);
        self.families(&mut page);
        self.skipped(&mut page);
        self.parameters(&mut page);
        page.finish()
    }

    fn totals(&self, page: &mut Page) {
        let summary = self.summary;
        let copies = summary.copies();
        let share = 100.0 * copies as f64 / (summary.documents.max(1)) as f64;
        page.heading(&format!(
            "{} of {} documents are copies",
            thousands(copies),
            thousands(summary.documents)
        ));
        page.lead(&format!(
            "{} stay, in {} families there are {} copies ({share:.1} %). {} of text were read. Copies were looked for by {}.",
            thousands(summary.documents - copies),
            thousands(summary.families),
            thousands(copies),
            bytes(summary.text_bytes),
            summary.engine
        ));
        let cards: Vec<Card> = Kind::ALL
            .into_iter()
            .map(|kind| Card {
                number: thousands(summary.of_kind(kind)),
                name: kind.to_string(),
                note: meaning(kind).to_owned(),
            })
            .collect();
        page.cards(&cards);
    }

    fn histograms(&self, page: &mut Page) {
        let mut sizes: Vec<(String, u64)> = Vec::new();
        let (mut low, mut high) = (2_u32, 2_u32);
        let all: Vec<u32> = self.verdicts.family_sizes().collect();
        let largest = all.iter().copied().max().unwrap_or(0);
        while low <= largest {
            let count = all.iter().filter(|&&size| size >= low && size <= high).count() as u64;
            let name = if low == high { low.to_string() } else { format!("{low}–{high}") };
            sizes.push((name, count));
            low = high + 1;
            high = if low <= 5 { low } else { low * 2 - 1 };
        }
        let mut bins = [0_u64; 20];
        for document in self.others..self.verdicts.len() {
            let told = self.verdicts.row(document);
            if told.kind.is_copy() {
                bins[((told.resemblance * 20.0) as usize).min(19)] += 1;
            }
        }
        let first = bins.iter().position(|&count| count > 0).unwrap_or(16);
        let resemblances: Vec<(String, u64)> = bins
            .iter()
            .enumerate()
            .skip(first.min(16))
            .map(|(bin, &count)| {
                let edge = |bin: usize| bin as f64 / 20.0;
                (format!("{:.2}–{:.2}", edge(bin), edge(bin + 1)), count)
            })
            .collect();
        page.columns(|page| {
            page.section("How large families are", |page| page.bars("families", &sizes));
            page.section("How alike copies are to their original", |page| {
                page.bars("copies", &resemblances);
            });
        });
    }

    fn families(&self, page: &mut Page) {
        if self.families.is_empty() {
            return;
        }
        page.subheading("The largest families");
        for (at, family) in self.families.iter().enumerate() {
            let Some((id, text)) = self.documents.get(&family.original) else { continue };
            let size = thousands(u64::from(family.size));
            let summary = html! { b { (size) } " documents · original " code { (id) } };
            page.details(summary, at == 0, |page| self.family(page, family, text));
        }
    }

    fn family(&self, page: &mut Page, family: &ShownFamily, text: &str) {
        let shown = start(text, 400);
        let more = if shown.len() < text.len() { "…" } else { "" };
        page.markup(html! { p.text { (shown) (more) } });
        for copy in &family.copies {
            let Some((id, copied)) = self.documents.get(copy) else { continue };
            let told = self.verdicts.row(*copy);
            let alike = format!(" · {} · resemblance {:.3}", told.kind, told.resemblance);
            page.markup(html! { h3 { code { (id) } (alike) } });
            // Rows of a stream cannot be read again: there is no text of them.
            if told.kind == Kind::Copy && !copied.is_empty() && !text.is_empty() {
                page.differences(start(text, SHOWN_BYTES), start(copied, SHOWN_BYTES), AROUND);
            }
        }
    }

    fn skipped(&self, page: &mut Page) {
        let summary = self.summary;
        page.subheading("What was skipped and what was odd");
        if summary.skipped == 0 {
            page.paragraph("Every row was a document.");
        } else {
            page.paragraph(&format!(
                "{} rows or files were skipped. The first:",
                thousands(summary.skipped)
            ));
            let rows: Vec<Vec<Cell>> = summary
                .skipped_first
                .iter()
                .map(|skipped| {
                    let row = skipped.row.map_or_else(String::new, |row| format!(":{row}"));
                    vec![
                        Cell::Code(format!("{}{row}", skipped.file)),
                        Cell::Text(skipped.why.clone()),
                    ]
                })
                .collect();
            page.table(&["where", "why"], &rows);
        }
        let (repeated, first) = &summary.repeated_ids;
        if *repeated > 0 {
            page.markup(html! {
                p {
                    (thousands(*repeated)) " ids stand on several rows: "
                    @for (at, id) in first.iter().take(10).enumerate() {
                        @if at > 0 { ", " }
                        code { (id) }
                    }
                    "."
                }
            });
        }
        if summary.without_key > 0 {
            page.paragraph(&format!(
                "{} documents say nothing that decides which of a family stays; they come after the others.",
                thousands(summary.without_key)
            ));
        }
    }

    fn parameters(&self, page: &mut Page) {
        let summary = self.summary;
        let phases = phase_rows(&summary.phases);
        let mut parameters: Vec<Vec<Cell>> = Vec::new();
        if let Some(plan) = summary.plan.as_object() {
            for (name, value) in plan.iter().filter(|(name, _)| name.as_str() != "inputs") {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                parameters.push(vec![Cell::Text(name.clone()), Cell::Code(value)]);
            }
            if let Some(inputs) = plan.get("inputs").and_then(|inputs| inputs.as_array()) {
                let paths = inputs.iter().take(10).filter_map(|input| input["path"].as_str());
                let first = html! {
                    @for (at, path) in paths.enumerate() {
                        @if at > 0 { br; }
                        code { (path) }
                    }
                };
                parameters
                    .push(vec![Cell::Text(format!("inputs ({})", inputs.len())), first.into()]);
            }
        }
        page.columns(|page| {
            page.section("Time and memory", |page| {
                page.table(&["phase", "seconds", "CPU", "peak so far"], &phases);
            });
            page.section("Parameters", |page| page.table(&[], &parameters));
        });
    }
}

fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Empty => "no words; kept",
        Kind::Original => "the first of its family; kept",
        Kind::Identical => "same bytes",
        Kind::SameText => "same words, other bytes",
        Kind::SameShingles => "same shingles, other words",
        Kind::Copy => "copy with differences",
    }
}

/// The first bytes of a text, whole characters.
pub(crate) fn start(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
