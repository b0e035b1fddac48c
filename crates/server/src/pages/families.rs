//! `/families` (sizes, the largest first) and `/family` (one of them, with how much its documents resemble
//! each other).

use maud::html;
use wonbon_pages::{Cell, Page, thousands};
use wonbon_sketch::ElementSet;
use wonbon_store::{Families, FamilyPart};
use wonbon_text::shingles::Shingler;

use super::decisions;
use super::frame::{page, reply};
use super::pieces::{document_link, family_columns, family_row, link, next_link, time, time_line};
use crate::inquiry::Inquiry;
use crate::messages::Say;
use crate::problem::Problem;
use crate::view::{Reader, Reply};

/// Documents in the matrix.
const MATRIX: usize = 12;

/// Upper ends of the classes of size; the last has none.
const SIZES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

/// `/families`.
pub(crate) fn families_page(reader: &Reader, found: &Families, next: Option<String>) -> Reply {
    let mut page = page(reader, reader.say(Say::Families));
    page.heading(reader.say(Say::Families));
    if found.total == 0 {
        page.paragraph(reader.say(Say::NoCopiesYet));
        return reply(reader, "/families", page);
    }
    page.lead(&reader.tell(Say::FamiliesLead, &[&thousands(found.total)]));
    page.section(reader.say(Say::FamilySizes), |page| {
        let mut counts = [0; SIZES.len() + 1];
        for (copies, families) in &found.sizes {
            counts[SIZES.partition_point(|end| end < copies)] += families;
        }
        let name = |at: usize| match (at.checked_sub(1).map(|before| SIZES[before]), SIZES.get(at))
        {
            (Some(before), Some(end)) if before + 1 < *end => format!("{}–{end}", before + 1),
            (_, Some(end)) => end.to_string(),
            (before, None) => format!("{}+", before.unwrap_or(0) + 1),
        };
        let last = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
        let rows: Vec<(String, u64)> =
            counts[..=last].iter().enumerate().map(|(at, count)| (name(at), *count)).collect();
        page.bars(reader.say(Say::FamiliesByCopies), &rows);
    });
    page.section(reader.say(Say::Largest), |page| {
        let rows: Vec<Vec<Cell>> = found
            .families
            .iter()
            .map(|family| {
                let original = &family.original;
                let title = original.title.as_deref().unwrap_or_default();
                let shown = if title.trim().is_empty() { &original.key } else { title };
                let named = html! {
                    (link("/family", &[("key", &original.key)], shown)) " "
                    (decisions::decided_mark(reader, original.decision))
                    br; small { (original.key) }
                };
                vec![
                    named.into(),
                    family.copies.into(),
                    family.sites.into(),
                    time(original.created).into(),
                    time(family.last).into(),
                ]
            })
            .collect();
        let columns = [Say::Original, Say::CopiesCount, Say::Sites, Say::Created, Say::LastCopy]
            .map(|word| reader.say(word));
        page.table(&columns, &rows);
    });
    next_link(&mut page, reader, "/families", &[], next.as_deref());
    page.markup(html! { p { (link("/decisions", &[], reader.say(Say::AllDecisions))) } });
    reply(reader, "/families", page)
}

/// `/family`.
pub(crate) fn family_page(
    service: &Inquiry,
    reader: &Reader,
    part: &FamilyPart,
    offset: usize,
    next: Option<String>,
    decided: Option<u64>,
) -> Result<Reply, Problem> {
    let first = part.documents.first();
    let original = first
        .map(|document| document.verdict.original.clone().unwrap_or_else(|| document.key.clone()));
    let original = original.unwrap_or_default();
    let title = first
        .filter(|_| offset == 0)
        .and_then(|document| document.title.clone())
        .filter(|title| !title.trim().is_empty())
        .unwrap_or_else(|| original.clone());
    let mut page = page(reader, &format!("{title} · {}", reader.say(Say::Family)));
    page.markup(html! { h1 { (document_link(&original, &title)) } });
    page.lead(&reader.tell(Say::FamilyOf, &[&thousands(part.total)]));
    decisions::notice(&mut page, service, reader, decided, "family")?;
    time_line(&mut page, reader, &part.documents);
    let mut rows = Vec::with_capacity(part.documents.len());
    for document in &part.documents {
        let mut row = family_row(reader, document, &original, "");
        // Before the link to the comparison.
        row.insert(row.len() - 1, decisions::member_cell(service, reader, document)?);
        rows.push(row);
    }
    let mut columns = family_columns(reader).to_vec();
    columns.insert(columns.len() - 1, reader.say(Say::Decision));
    page.table(&columns, &rows);
    page.markup(html! { p { (link("/decisions", &[], reader.say(Say::AllDecisions))) } });
    next_link(&mut page, reader, "/family", &[("key", &original)], next.as_deref());
    if part.documents.len() > 1 {
        page.section(reader.say(Say::Matrix), |page| {
            page.paragraph(reader.say(Say::MatrixLead));
            matrix(page, service, part);
        });
    }
    Ok(reply(reader, "/families", page))
}

/// The exact resemblance of each pair.
fn matrix(page: &mut Page, service: &Inquiry, part: &FamilyPart) {
    let documents = &part.documents[..part.documents.len().min(MATRIX)];
    let mut shingler = Shingler::new(service.store.params().shingle_words);
    let sets: Vec<ElementSet> = documents
        .iter()
        .map(|document| {
            let mut all = Vec::new();
            shingler.for_each_chunk(&document.text, |chunk| all.extend_from_slice(chunk));
            ElementSet::new(all)
        })
        .collect();
    page.markup(html! {
        div.wide tabindex="0" {
            table.matrix {
                tr {
                    td {}
                    @for number in 1..=documents.len() { th scope="col" { (number) } }
                }
                @for (at, document) in documents.iter().enumerate() {
                    tr {
                        th scope="row" { (at + 1) " " small { (document.key) } }
                        @for other in &sets {
                            @let resemblance = sets[at].resemblance(other);
                            @let class = (resemblance * 10.0).floor().clamp(0.0, 10.0) as u32;
                            td.n.{ "m" (class) } { (format_args!("{resemblance:.2}")) }
                        }
                    }
                }
            }
        }
    });
}
