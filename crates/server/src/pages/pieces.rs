//! Pieces that several pages have: links to documents, verdicts, forms, times, time lines.

use maud::{Markup, html};
use wonbon_pages::{Cell, Page};
use wonbon_store::{Kind, StoredDocument};
use wonbon_time::Timestamp;

use super::frame::address;
use crate::messages::Say;
use crate::view::Reader;

/// A time as people read it: to the minute, and only the date if it is a midnight.
pub(super) fn time(time: Timestamp) -> String {
    let text = format!("{time:.0}");
    match text.strip_suffix("T00:00:00Z") {
        Some(date) => date.to_owned(),
        // The seconds and the Z go.
        None => text[..text.len() - 4].replace('T', " "),
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

/// Where the points begin: names of sites stand before them.
const LINE_START: f64 = 170.0;

/// Between the lines of two sites.
const LINE_HEIGHT: f64 = 30.0;

/// Sites with a line of their own; the others share the last.
const MOST_LINES: usize = 8;

/// Documents over time: a line for each site, with a point for each document, an original's filled.
pub(super) fn time_line(page: &mut Page, reader: &Reader, documents: &[StoredDocument]) {
    let times = || documents.iter().map(|document| document.created);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return };
    if first == last {
        return;
    }
    let lines = lines_by_site(reader, documents);
    let height = LINE_HEIGHT * lines.len() as f64;
    let title = reader.say(Say::TimeLine);
    let told =
        reader.tell(Say::TimeLineTold, &[&documents.len().to_string(), &time(first), &time(last)]);
    let place = |document: &StoredDocument| {
        let share = document.created.since(first).div_duration_f64(last.since(first));
        LINE_START + 10.0 + share * (LINE_WIDTH - LINE_START - 20.0)
    };
    page.markup(html! {
        figure {
            figcaption { (title) }
            svg.timeline viewBox={ "0 0 " (LINE_WIDTH) " " (height + 30.0) } role="img" aria-label=(told) {
                @for (at, (site, documents)) in lines.iter().enumerate() {
                    @let y = LINE_HEIGHT * (at as f64 + 0.5);
                    text.site x="0" y=(y + 5.0) { (site) }
                    line x1=(LINE_START + 10.0) x2=(LINE_WIDTH - 10.0) y1=(y) y2=(y) {}
                    @for document in documents {
                        @let class = if document.verdict.kind.is_copy() { "copy" } else { "first" };
                        circle.(class) cx=(format_args!("{:.1}", place(document))) cy=(y) r="7" {
                            title { (time(document.created)) " " (document.key) }
                        }
                    }
                }
                text x=(LINE_START) y=(height + 20.0) { (time(first)) }
                text.label x=(LINE_WIDTH) y=(height + 20.0) { (time(last)) }
            }
        }
    });
}

/// The documents of each site, in the order in which sites come first in time.
fn lines_by_site<'a>(
    reader: &Reader,
    documents: &'a [StoredDocument],
) -> Vec<(String, Vec<&'a StoredDocument>)> {
    let mut in_time: Vec<&StoredDocument> = documents.iter().collect();
    in_time.sort_by_key(|document| document.created);
    let mut lines: Vec<(String, Vec<&StoredDocument>)> = Vec::new();
    for document in in_time {
        let site = document.site.as_deref().unwrap_or_else(|| reader.say(Say::NoSite));
        let site = shortened(site, MOST_NAME);
        let others = reader.say(Say::OtherSites);
        let wanted = match lines.iter().position(|(name, _)| *name == site) {
            Some(known) => known,
            None if lines.len() < MOST_LINES - 1 => {
                lines.push((site, Vec::new()));
                lines.len() - 1
            }
            None if lines.len() < MOST_LINES => {
                lines.push((others.to_owned(), Vec::new()));
                lines.len() - 1
            }
            None => MOST_LINES - 1,
        };
        lines[wanted].1.push(document);
    }
    lines
}

/// Characters of a site's name that fit before its line.
const MOST_NAME: usize = 18;

/// The end of a name, which tells sites apart, if the whole is too long.
fn shortened(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let end: String = name.chars().skip(count - most + 1).collect();
    format!("…{end}")
}
