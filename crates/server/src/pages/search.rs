//! Originals by their words, each with its copies behind it.

use wonbon_app::questions::{Found, SearchFound, SearchQuestion, said};
use wonbon_pages::{Page, escape, thousands};

use super::decisions::decided_mark;
use super::frame::{page, reply};
use super::pieces::{Field, asking_form, document_link, link, next_link, part, shown_time, time};
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
    let value = |field| said(field).unwrap_or_default();
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
    page.markup(format_args!("<p role=status class=lead>{}</p>", escape(&count)));
    page.markup(format_args!("<ol class=results start={}>", found.offset + 1));
    for found in &found.results {
        result(page, reader, found);
    }
    page.markup(format_args!("</ol>"));
    let mut question = vec![("q", asked.q.as_str())];
    for (name, value) in [
        ("site", &asked.site),
        ("language", &asked.language),
        ("after", &asked.after),
        ("before", &asked.before),
    ] {
        if let Some(value) = said(value) {
            question.push((name, value));
        }
    }
    next_link(page, reader, "/search", &question, found.next.as_deref());
}

fn result(page: &mut Page, reader: &Reader, found: &Found) {
    let document = &found.result.document;
    let title = found.result.title.as_ref().map(wonbon_store::Snippet::to_html);
    let shown = match title {
        // Escaped by the snippet, with what matches marked.
        Some(title) if !title.trim().is_empty() => {
            let address = super::frame::address("/document", &[("key", &document.key)]);
            format!("<a href=\"{}\">{title}</a>", escape(&address))
        }
        _ => document_link(&document.key, ""),
    };
    let site = document.site.as_deref().unwrap_or_default();
    page.markup(format_args!(
        "<li><h2>{shown}</h2><p class=where><code>{}</code> <span>{}</span> <span class=d>{}</span> {}</p><p class=snippet>{}</p>",
        escape(&document.key),
        escape(site),
        escape(&time(document.created)),
        decided_mark(reader, document.decision),
        found.result.snippet.to_html()
    ));
    if document.copies > 0 {
        let message = if document.copies == 1 { Say::PlusCopy } else { Say::PlusCopies };
        let summary = reader.tell(message, &[&thousands(document.copies)]);
        page.details(&escape(&summary), false, |page| copies(page, reader, found));
    }
    page.markup(format_args!("</li>"));
}

fn copies(page: &mut Page, reader: &Reader, found: &Found) {
    let original = found.result.document.key.as_str();
    let copies = found.copies.as_deref().unwrap_or_default();
    page.markup(format_args!("<ul class=copies>"));
    for copy in copies {
        let compare =
            link("/compare", &[("a", original), ("b", &copy.id)], reader.say(Say::Compare));
        page.markup(format_args!(
            "<li>{} <small>{} {} {compare}</small></li>",
            document_link(&copy.id, ""),
            escape(&shown_time(&copy.created)),
            copy.resemblance.map_or_else(String::new, part),
        ));
    }
    page.markup(format_args!("</ul>"));
    if (copies.len() as u64) < found.result.document.copies {
        let all = link("/family", &[("key", original)], reader.say(Say::WholeFamily));
        page.markup(format_args!("<p>{all}</p>"));
    }
}
