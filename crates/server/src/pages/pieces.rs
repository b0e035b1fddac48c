//! Pieces that several pages have: links to documents, verdicts, forms, times, time lines.

use maud::{Markup, html};
use wonbon_pages::{Cell, Page};
use wonbon_store::{Kind, StoredDocument};
use wonbon_time::Timestamp;

use super::frame::address;
use crate::messages::Say;
use crate::view::Reader;

/// A time as people read it: to the second, and only the date if it is a midnight.
pub(super) fn time(time: Timestamp) -> String {
    let text = format!("{time:.0}");
    match text.strip_suffix("T00:00:00Z") {
        Some(date) => date.to_owned(),
        None => text.replace('T', " ").replace('Z', ""),
    }
}

/// A time as programs are told it, as people read it.
pub(super) fn shown_time(text: &str) -> String {
    Timestamp::parse_text(text).map_or_else(|_| text.to_owned(), time)
}

/// From a first to a last time.
pub(super) fn span(first: Timestamp, last: Timestamp) -> String {
    let (first, last) = (time(first), time(last));
    if first == last { first } else { format!("{first} – {last}") }
}

/// A value from 0 to 1.
pub(super) fn part(value: f64) -> String {
    format!("{value:.3}")
}

/// The word for what a document is.
pub(super) fn kind_word(reader: &Reader, kind: Kind) -> &'static str {
    reader.say(match kind {
        Kind::Original => Say::KindOriginal,
        Kind::Copy => Say::KindCopy,
        Kind::Identical => Say::KindIdentical,
        Kind::SameText => Say::KindSameText,
        Kind::SameShingles => Say::KindSameShingles,
        Kind::Empty => Say::KindEmpty,
    })
}

/// The same, as a mark that does not rest on its colour.
pub(super) fn kind_mark(reader: &Reader, kind: Kind) -> Markup {
    let class = if kind.is_copy() { "copy" } else { "first" };
    html! { span.kind.(class) { (kind_word(reader, kind)) } }
}

/// A link to a document's page.
pub(super) fn document_link(key: &str, shown: &str) -> Markup {
    link("/document", &[("key", key)], if shown.trim().is_empty() { key } else { shown })
}

/// A link out of the service, if it leads to a web page; otherwise the words.
pub(super) fn outside_link(url: &str) -> Markup {
    let is_web = url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    html! {
        @if is_web { a href=(url) rel="noreferrer nofollow" { (url) } } @else { (url) }
    }
}

/// A link with a question.
pub(super) fn link(path: &str, question: &[(&str, &str)], shown: &str) -> Markup {
    html! { a href=(address(path, question)) { (shown) } }
}

/// A paragraph of our own words in which what stands between back quotes is code.
pub(crate) fn coded_paragraph(page: &mut Page, text: &str) {
    page.markup(html! {
        p {
            @for (at, piece) in text.split('`').enumerate() {
                @if at % 2 == 1 { code { (piece) } } @else { (piece) }
            }
        }
    });
}

/// A text that may hold others' words, with quotation marks for its back quotes: no text makes a tag.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for (at, piece) in text.split('`').enumerate() {
        let mark = ["", "“", "”"][if at == 0 { 0 } else { 2 - at % 2 }];
        quoted.push_str(mark);
        quoted.push_str(piece);
    }
    quoted
}

/// A field of a form: its name, what stands over it, what is in it.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    pub(super) label: &'a str,
    pub(super) value: &'a str,
    pub(super) kind: &'a str,
}

/// A form that asks: its fields stand in the address.
pub(super) fn asking_form(page: &mut Page, path: &str, fields: &[Field<'_>], button: &str) {
    page.markup(html! {
        form.ask action=(path) method="get" {
            @for Field { name, label, value, kind } in fields {
                label class={ "f-" (kind) } { (label) input type=(kind) name=(name) value=(value); }
            }
            button { (button) }
        }
    });
}

/// The mark that makes a form ours.
pub(super) fn form_mark(reader: &Reader) -> Markup {
    html! { input type="hidden" name="form" value=(reader.form_mark); }
}

/// The link to the next part of a list.
pub(super) fn next_link(
    page: &mut Page,
    reader: &Reader,
    path: &str,
    question: &[(&str, &str)],
    next: Option<&str>,
) {
    if let Some(next) = next {
        let mut question = question.to_vec();
        question.push(("cursor", next));
        let link = address(path, &question);
        page.markup(html! {
            p.more { a.button rel="next" href=(link) { (reader.say(Say::More)) } }
        });
    }
}

/// A row of a family: what it is, its key, when it was created, its resemblance to the original, and
/// links.
pub(super) fn family_row(
    reader: &Reader,
    document: &StoredDocument,
    original: &str,
    here: &str,
) -> Vec<Cell> {
    let title = document.title.as_deref().unwrap_or_default();
    let named = html! {
        (document_link(&document.key, title))
        @if !title.is_empty() { br; small { (document.key) } }
    };
    let named = html! { @if document.key == here { b { (named) } } @else { (named) } };
    let question = [("a", original), ("b", document.key.as_str())];
    let compare = html! {
        @if document.key != original { (link("/compare", &question, reader.say(Say::Compare))) }
    };
    vec![
        kind_mark(reader, document.verdict.kind).into(),
        named.into(),
        document.site.clone().unwrap_or_default().into(),
        time(document.created).into(),
        Cell::Number(document.verdict.resemblance.map_or_else(|| "–".to_owned(), part)),
        compare.into(),
    ]
}

/// The names of the columns of [`family_row`].
pub(super) fn family_columns(reader: &Reader) -> [&'static str; 6] {
    [Say::Kind, Say::Document, Say::Site, Say::Created, Say::Resemblance, Say::Compare]
        .map(|message| reader.say(message))
}

const LINE_WIDTH: f64 = 640.0;

/// Documents over time: a line with a mark for each, the original's filled.
pub(super) fn time_line(page: &mut Page, reader: &Reader, documents: &[StoredDocument]) {
    let times = || documents.iter().map(|document| document.created);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return };
    if first == last {
        return;
    }
    let title = reader.say(Say::TimeLine);
    let told =
        reader.tell(Say::TimeLineTold, &[&documents.len().to_string(), &time(first), &time(last)]);
    page.markup(html! {
        figure {
            figcaption { (title) }
            svg.timeline viewBox={ "0 0 " (LINE_WIDTH) " 60" } role="img" aria-label=(told) {
                line x1="10" x2=(LINE_WIDTH - 10.0) y1="20" y2="20" {}
                @for document in documents {
                    @let share = document.created.since(first).div_duration_f64(last.since(first));
                    @let x = 10.0 + share * (LINE_WIDTH - 20.0);
                    @let class = if document.verdict.kind.is_copy() { "copy" } else { "first" };
                    circle.(class) cx=(format_args!("{x:.1}")) cy="20" r="7" {
                        title { (time(document.created)) " " (document.key) }
                    }
                }
                text x="0" y="50" { (time(first)) }
                text.label x=(LINE_WIDTH) y="50" { (time(last)) }
            }
        }
    });
}
