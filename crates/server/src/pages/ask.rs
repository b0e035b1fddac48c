//! Everything about a text: what resembles it, contains it, is contained in it, and what it is made of.

use std::ops::Range;

use wonbon_app::questions::{AllAnswers, TextQuestion};
use wonbon_pages::{Cell, Page, escape, thousands};
use wonbon_store::{Answer, Sources};

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
        let about = document_link(key, "");
        page.markup(format_args!("<p>{} {about}</p>", escape(reader.say(Say::AskedAbout))));
    } else {
        page.markup(format_args!(
            "<form class=box action=\"/ask\" method=post>{}<label for=text>{}</label><textarea id=text name=text rows=8 required>{}</textarea><button>{}</button></form>",
            form_mark(reader),
            escape(reader.say(Say::TextToAsk)),
            // The first line end of a text area is not its text.
            escape(&asked.text.as_deref().map_or_else(String::new, |text| format!("\n{text}"))),
            escape(reader.say(Say::AskButton))
        ));
    }
    if let Some(all) = found {
        sources(&mut page, reader, &all.sources, &all.about.text);
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
            let compare = key.map_or_else(String::new, |key| {
                link("/compare", &[("a", key), ("b", &document.key)], reader.say(Say::Compare))
            });
            vec![
                Cell::Markup(standing_marks(reader, document.verdict.kind, document.decision)),
                Cell::Markup(format!(
                    "{}<br><small>{}</small>",
                    document_link(&document.key, title),
                    escape(&time(document.created))
                )),
                Cell::Number(part(found.overlap.resemblance())),
                Cell::Number(part(found.overlap.left_in_right())),
                Cell::Number(part(found.overlap.right_in_left())),
                Cell::Markup(compare),
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
        page.markup(format_args!("<ol class=sources>"));
        for (at, source) in found.sources.iter().enumerate() {
            let title = source.document.title.as_deref().unwrap_or_default();
            let words = reader.tell(Say::ExplainsWords, &[&thousands(source.words as u64)]);
            page.markup(format_args!(
                "<li class=s{}><span>{}</span> <small>{} · {}</small></li>",
                at % 6,
                document_link(&source.document.key, title),
                escape(&time(source.document.created)),
                escape(&words)
            ));
        }
        page.markup(format_args!("</ol>"));
        marked(page, found, text);
    });
}

fn marked(page: &mut Page, found: &Sources, text: &str) {
    let mut passages: Vec<(Range<usize>, usize)> = Vec::new();
    for (at, source) in found.sources.iter().enumerate() {
        passages.extend(source.passages.iter().map(|passage| (passage.place.clone(), at)));
    }
    passages.sort_by_key(|(place, _)| place.start);
    page.markup(format_args!("<div class=\"body marked\" dir=auto>"));
    let most = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(at, _)| at);
    let mut at = 0;
    for (place, source) in passages {
        let (start, end) = (place.start.max(at), place.end.min(most));
        if start >= end {
            continue;
        }
        page.markup(format_args!(
            "{}<mark class=s{}><sup>{}</sup>{}</mark>",
            escape(&text[at..start]),
            source % 6,
            source + 1,
            escape(&text[start..end])
        ));
        at = end;
    }
    page.markup(format_args!("{}</div>", escape(&text[at.min(most)..most])));
}
