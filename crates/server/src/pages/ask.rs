//! `/ask`: everything about a text: what resembles it, contains it, is contained in it, its sources and its stored
//! passages.

use std::ops::Range;

use maud::html;
use wonbon_app::questions::{AllAnswers, TextQuestion};
use wonbon_pages::{Cell, Page, thousands};
use wonbon_store::{Answer, Sources, StoredPassages};

use super::decisions::standing_marks;
use super::frame::{page, reply};
use super::pieces::{document_link, form_mark, link, part, time};
use crate::messages::Say;
use crate::view::{Reader, Reply};

/// Characters of the text that are shown with their sources marked.
const MOST_CHARACTERS: usize = 50_000;

/// `/ask`.
pub(crate) fn ask_page(reader: &Reader, asked: &TextQuestion, found: Option<&AllAnswers>) -> Reply {
    let mut page = page(reader, reader.say(Say::Ask));
    page.heading(reader.say(Say::Ask));
    page.lead(reader.say(Say::AskLead));
    if let Some(key) = &asked.key {
        page.markup(html! { p { (reader.say(Say::AskedAbout)) " " (document_link(key, "")) } });
    } else {
        page.markup(html! {
            form.box action="/ask" method="post" {
                (form_mark(reader))
                label for="text" { (reader.say(Say::TextToAsk)) }
                textarea id="text" name="text" rows="8" required {
                    // The first line end of a text area is not its text.
                    @if let Some(text) = &asked.text { "\n" (text) }
                }
                button { (reader.say(Say::AskButton)) }
            }
        });
    }
    if let Some(all) = found {
        sources(&mut page, reader, &all.sources, &all.about.text);
        passages(&mut page, reader, &all.passages, &all.about.text);
        for (title, lead, answer) in [
            (Say::Similar, Say::SimilarLead, &all.similar),
            (Say::Within, Say::WithinLead, &all.within),
            (Say::Contains, Say::ContainsLead, &all.contains),
        ] {
            page.section(reader.say(title), |page| {
                page.paragraph(reader.say(lead));
                matches(page, reader, answer, asked.key.as_deref());
            });
        }
    }
    reply(reader, "/ask", page)
}

fn matches(page: &mut Page, reader: &Reader, answer: &Answer, key: Option<&str>) {
    if answer.matches.is_empty() {
        page.paragraph(reader.say(Say::NothingFound));
        return;
    }
    let rows: Vec<Vec<Cell>> = answer
        .matches
        .iter()
        .map(|found| {
            let document = &found.document;
            let title = document.title.as_deref().unwrap_or_default();
            let compare = html! {
                @if let Some(key) = key {
                    (link("/compare", &[("a", key), ("b", &document.key)], reader.say(Say::Compare)))
                }
            };
            let named = html! {
                (document_link(&document.key, title)) br; small { (time(document.created)) }
            };
            vec![
                standing_marks(reader, document.verdict.kind, document.decision).into(),
                named.into(),
                Cell::Number(part(found.overlap.resemblance())),
                Cell::Number(part(found.overlap.left_in_right())),
                Cell::Number(part(found.overlap.right_in_left())),
                compare.into(),
            ]
        })
        .collect();
    let columns =
        [Say::Kind, Say::Document, Say::Resemblance, Say::HasOfText, Say::IsInText, Say::Compare]
            .map(|word| reader.say(word));
    page.table(&columns, &rows);
    if !answer.complete {
        let told = reader.tell(
            Say::NotAllLookedAt,
            &[&thousands(answer.verified as u64), &thousands(answer.candidates as u64)],
        );
        page.paragraph(&told);
    }
}

/// Where the text comes from: the sources, and the text with what each explains marked.
fn sources(page: &mut Page, reader: &Reader, found: &Sources, text: &str) {
    page.section(reader.say(Say::Sources), |page| {
        let percent = 100.0 * found.explained as f64 / found.words.max(1) as f64;
        let told = reader.tell(
            Say::Explained,
            &[
                &thousands(found.explained as u64),
                &thousands(found.words as u64),
                &format!("{percent:.1}"),
            ],
        );
        page.paragraph(&told);
        if found.sources.is_empty() {
            return;
        }
        page.markup(html! {
            ol.sources {
                @for (at, source) in found.sources.iter().enumerate() {
                    @let document = &source.document;
                    @let title = document.title.as_deref().unwrap_or_default();
                    @let words = reader.tell(Say::ExplainsWords, &[&thousands(source.words as u64)]);
                    li class={ "s" (at % 6) } {
                        span { (document_link(&document.key, title)) }
                        " " small { (time(document.created)) " · " (words) }
                    }
                }
            }
        });
        mark_sources(page, found, text);
    });
}

/// Passages that are shown, and places that are named of each.
const SHOWN_PASSAGES: usize = 50;
const SHOWN_PLACES: usize = 5;

/// The passages of the text that stand in stored documents, run by run, in the colours of their first sources.
fn passages(page: &mut Page, reader: &Reader, found: &StoredPassages, text: &str) {
    if found.passages.is_empty() {
        return;
    }
    page.section(reader.say(Say::StoredPassages), |page| {
        let counts = [thousands(found.repeated as u64), thousands(found.words as u64)];
        page.paragraph(&reader.tell(Say::StoredPassagesLead, &[&counts[0], &counts[1]]));
        page.markup(html! {
            ol.sources {
                @for passage in found.passages.iter().take(SHOWN_PASSAGES) {
                    @let first = passage.places.first().map_or(0, |(number, _)| *number);
                    @let told = reader.tell(
                        Say::PassageWords,
                        &[
                            &thousands(passage.words.len() as u64),
                            &thousands(passage.places.len() as u64),
                        ],
                    );
                    li class={ "s" (first % 6) } {
                        span.marked { mark class={ "s" (first % 6) } { (&text[passage.place.clone()]) } }
                        " " small { (told) }
                        @for (number, _) in passage.places.iter().take(SHOWN_PLACES) {
                            @let document = &found.documents[*number];
                            " · "
                            (document_link(&document.key, document.title.as_deref().unwrap_or_default()))
                        }
                    }
                }
            }
        });
    });
}

fn mark_sources(page: &mut Page, found: &Sources, text: &str) {
    let mut passages: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, source) in found.sources.iter().enumerate() {
        passages.extend(source.passages.iter().map(|passage| (passage.place.clone(), at)));
    }
    passages.sort_by_key(|(place, _)| place.start);
    let most = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(at, _)| at);
    let mut pieces = Vec::new();
    let mut at = 0;
    for (place, source) in passages {
        let (start, end) = (place.start.max(at), place.end.min(most));
        if start < end {
            pieces.push((&text[at..start], &text[start..end], source));
            at = end;
        }
    }
    page.markup(html! {
        div.body.marked dir="auto" {
            @for (before, marked, source) in pieces {
                (before)
                mark class={ "s" (source % 6) } { sup { (source + 1) } (marked) }
            }
            (text[at.min(most)..most])
        }
    });
}
