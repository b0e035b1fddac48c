//! The report of a list of passages: totals, how long passages are, the most repeated ones in context.

use maud::html;
use wonbon_pages::{Card, Cell, Page, bytes, thousands};

use super::listing::{ListSummary, Passage, text_of};
use crate::columns::Column;
use crate::error::ClusterError;
use crate::report::{phase_rows, start};
use crate::strings::StringColumn;

/// How much of a passage is shown.
const SHOWN_BYTES: usize = 1_500;

/// How many places of a passage are named.
const NAMED_PLACES: usize = 5;

/// The page; `shown` are the first passages of the list.
pub(super) fn report_page(
    summary: &ListSummary,
    words: usize,
    shown: &[Passage],
    ids: &StringColumn,
    texts: &Column<u8>,
) -> Result<String, ClusterError> {
    let mut page = Page::new("wonbon passages: report");
    let share = 100.0 * summary.repeated_bytes as f64 / summary.word_bytes.max(1) as f64;
    page.heading(&format!("{share:.1} % of the words occurred before, in runs of {words} or more"));
    page.lead(&format!(
        "{} passages have at least {words} words and occur at two places or more. {} of text in {} documents were read.",
        thousands(summary.passages),
        bytes(summary.text_bytes),
        thousands(summary.documents),
    ));
    let card = |number: String, name: &str, note: &str| Card {
        number,
        name: name.to_owned(),
        note: note.to_owned(),
    };
    page.cards(&[
        card(thousands(summary.passages), "passages", "maximal; one may be a part of another"),
        card(thousands(summary.occurrences), "occurrences", "of all passages"),
        card(
            bytes(summary.repeated_bytes),
            "repeated",
            "words that occurred before, each counted once",
        ),
    ]);
    if summary.others > 0 {
        page.paragraph(&format!(
            "Only passages that also occur in {} documents of other corpora are listed.",
            thousands(summary.others)
        ));
    }
    page.subheading("The passages whose repetitions take most");
    if shown.is_empty() {
        page.paragraph("Nothing repeats.");
    }
    for (at, passage) in shown.iter().enumerate() {
        let text = text_of(passage, texts)?;
        let text = start(&text, SHOWN_BYTES);
        let saved = bytes(passage.saved());
        let counts = format!(
            " · {} words · {} times in {} documents",
            thousands(passage.words),
            thousands(passage.occurrences),
            thousands(passage.documents)
        );
        let [before, behind] = passage.context.clone().unwrap_or_default();
        let cut = if (text.len() as u64) < passage.bytes() { "…" } else { "" };
        let named = passage.places.iter().take(NAMED_PLACES);
        let places: Vec<(String, String)> = named
            .map(|&(document, [start, end])| Ok((ids.get(document)?, format!(" {start}–{end}"))))
            .collect::<Result<_, ClusterError>>()?;
        page.details(html! { b { (saved) } (counts) }, at == 0, |page| {
            page.markup(html! {
                p.text { (before) mark { (text) (cut) } (behind) }
                p {
                    @for (number, (id, range)) in places.iter().enumerate() {
                        @if number > 0 { br; }
                        code { (id) } (range)
                    }
                }
            });
        });
    }
    if summary.skipped > 0 {
        page.subheading("What was skipped");
        let rows: Vec<Vec<Cell>> = summary
            .skipped_first
            .iter()
            .map(|skipped| {
                let row = skipped.row.map_or_else(String::new, |row| format!(":{row}"));
                vec![Cell::Code(format!("{}{row}", skipped.file)), Cell::Text(skipped.why.clone())]
            })
            .collect();
        page.table(&["where", "why"], &rows);
    }
    let phases = phase_rows(&summary.phases);
    page.section("Time and memory", |page| {
        page.table(&["phase", "seconds", "CPU", "peak so far"], &phases);
    });
    Ok(page.finish())
}
