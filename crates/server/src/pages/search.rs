//! `/search`: originals by their words; the copies of each open under it.

use maud::{Markup, html};
use wonbon_app::questions::{FoundOriginal, SearchFound, SearchQuestion, non_empty};
use wonbon_pages::{Page, thousands};

use super::decisions::decided_mark;
use super::frame::{page, reply};
use super::pieces::{Field, asking_form, document_link, link, next_link, part, time};
use crate::messages::Say;
use crate::view::{Reader, Reply};

/// `/search`.
pub(crate) fn search_page(
    reader: &Reader,
    asked: &SearchQuestion,
    found: Option<&SearchFound>,
) -> Reply {
    let title = match asked.q.trim() {
        "" => reader.say(Say::Search).to_owned(),
        q => format!("{q} · {}", reader.say(Say::Search)),
    };
    let mut page = page(reader, &title);
    page.heading(reader.say(Say::Search));
    let value = |field| non_empty(field).unwrap_or_default();
    let fields = [
        (("q", Say::WordsToFind), asked.q.as_str(), "search"),
        (("site", Say::Site), value(&asked.site), "text"),
        (("language", Say::LanguageField), value(&asked.language), "text"),
        (("after", Say::CreatedFrom), value(&asked.after), "text"),
        (("before", Say::CreatedBefore), value(&asked.before), "text"),
    ]
    .map(|((name, label), value, kind)| Field { name, label: reader.say(label), value, kind });
    asking_form(&mut page, "/search", &fields, reader.say(Say::Search));
    match found {
        None => page.paragraph(reader.say(Say::SearchHelp)),
        Some(found) => results(&mut page, reader, asked, found),
    }
    reply(reader, "/search", page)
}

fn results(page: &mut Page, reader: &Reader, asked: &SearchQuestion, found: &SearchFound) {
    let total = thousands(found.total);
    let count = if found.results.is_empty() {
        reader.say(Say::NothingFound).to_owned()
    } else {
        let first = thousands(found.offset as u64 + 1);
        let last = thousands((found.offset + found.results.len()) as u64);
        reader.tell(Say::ResultCount, &[&first, &last, &total])
    };
    page.markup(html! {
        p.lead role="status" { (count) }
        @if found.results.is_empty() {
            p { (reader.say(Say::NothingFoundHelp)) " " (link("/ask", &[], reader.say(Say::Ask))) }
        }
        ol.results start=(found.offset + 1) {
            @for found in &found.results { (result(reader, found)) }
        }
    });
    let mut question = vec![("q", asked.q.as_str())];
    for (name, value) in [
        ("site", &asked.site),
        ("language", &asked.language),
        ("after", &asked.after),
        ("before", &asked.before),
    ] {
        if let Some(value) = non_empty(value) {
            question.push((name, value));
        }
    }
    next_link(page, reader, "/search", &question, found.next.as_deref());
}

fn result(reader: &Reader, found: &FoundOriginal) -> Markup {
    let document = &found.result.document;
    let address = super::frame::address("/document", &[("key", &document.key)]);
    let title = found.result.title.as_ref().filter(|title| !title.text.trim().is_empty());
    html! {
        li {
            h2 {
                a href=(address) {
                    @if let Some(title) = title { (title) } @else { (document.key) }
                }
            }
            p.where {
                code { (document.key) } " "
                span { (document.site.as_deref().unwrap_or_default()) } " "
                span.d { (time(document.created)) } " "
                @if let Some(published) = document.published {
                    span.d { (reader.say(Say::Published)) ": " (time(published)) } " "
                }
                (decided_mark(reader, document.decision))
            }
            p.snippet { (found.result.snippet) }
            @if document.copies > 0 {
                @let message = if document.copies == 1 { Say::PlusCopy } else { Say::PlusCopies };
                details {
                    summary { (reader.tell(message, &[&thousands(document.copies)])) }
                    (copies(reader, found))
                }
            }
        }
    }
}

fn copies(reader: &Reader, found: &FoundOriginal) -> Markup {
    let original = found.result.document.key.as_str();
    let copies = found.copies.as_deref().unwrap_or_default();
    html! {
        ul.copies {
            @for copy in copies {
                li {
                    (document_link(&copy.key, "")) " "
                    small {
                        (time(copy.created)) " "
                        (copy.verdict.resemblance.map_or_else(String::new, part)) " "
                        (link("/compare", &[("a", original), ("b", &copy.key)], reader.say(Say::Compare)))
                    }
                }
            }
        }
        @if (copies.len() as u64) < found.result.document.copies {
            p { (link("/family", &[("key", original)], reader.say(Say::WholeFamily))) }
        }
    }
}
