//! Pieces that several pages have: links to documents, verdicts, forms, times, time lines.

use std::fmt::Write as _;

use wonbon_pages::{Cell, Page, escape};
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
pub(super) fn kind_mark(reader: &Reader, kind: Kind) -> String {
    let class = if kind.is_copy() { "copy" } else { "first" };
    format!("<span class=\"kind {class}\">{}</span>", escape(kind_word(reader, kind)))
}

/// A link to a document's page.
pub(super) fn document_link(key: &str, shown: &str) -> String {
    let shown = if shown.trim().is_empty() { key } else { shown };
    format!("<a href=\"{}\">{}</a>", escape(&address("/document", &[("key", key)])), escape(shown))
}

/// A link out of the service, if it leads to a web page; otherwise the words.
pub(super) fn outside_link(url: &str) -> String {
    let is_web = url::Url::parse(url).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    if is_web {
        format!("<a href=\"{0}\" rel=\"noreferrer nofollow\">{0}</a>", escape(url))
    } else {
        escape(url)
    }
}

/// A link with a question.
pub(super) fn link(path: &str, question: &[(&str, &str)], shown: &str) -> String {
    format!("<a href=\"{}\">{}</a>", escape(&address(path, question)), escape(shown))
}

/// A paragraph of our own words in which what stands between back quotes is code.
pub(crate) fn coded_paragraph(page: &mut Page, text: &str) {
    let mut markup = String::new();
    for (at, piece) in text.split('`').enumerate() {
        let piece = escape(piece);
        let is_code = at % 2 == 1;
        markup.push_str(&if is_code { format!("<code>{piece}</code>") } else { piece });
    }
    page.markup(format_args!("<p>{markup}</p>"));
}

/// A text that may hold others' words, with quotation marks for its back quotes: no text makes a tag.
pub(super) fn quoted(text: &str) -> String {
    let mut markup = String::new();
    for (at, piece) in text.split('`').enumerate() {
        let mark = ["", "“", "”"][if at == 0 { 0 } else { 2 - at % 2 }];
        markup.push_str(mark);
        markup.push_str(&escape(piece));
    }
    markup
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
    page.markup(format_args!("<form class=ask action=\"{path}\" method=get>"));
    for field in fields {
        let Field { name, label, value, kind } = field;
        page.markup(format_args!(
            "<label class=f-{kind}>{}<input type={kind} name={name} value=\"{}\"></label>",
            escape(label),
            escape(value)
        ));
    }
    page.markup(format_args!("<button>{}</button></form>", escape(button)));
}

/// The mark that makes a form ours.
pub(super) fn form_mark(reader: &Reader) -> String {
    format!("<input type=hidden name=form value=\"{}\">", reader.form_mark)
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
        page.markup(format_args!(
            "<p class=more><a class=button rel=next href=\"{}\">{}</a></p>",
            escape(&link),
            escape(reader.say(Say::More))
        ));
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
    let named = if title.is_empty() {
        document_link(&document.key, "")
    } else {
        format!(
            "{}<br><small>{}</small>",
            document_link(&document.key, title),
            escape(&document.key)
        )
    };
    let named = if document.key == here { format!("<b>{named}</b>") } else { named };
    let compare = if document.key == original {
        String::new()
    } else {
        let question = [("a", original), ("b", document.key.as_str())];
        link("/compare", &question, reader.say(Say::Compare))
    };
    vec![
        Cell::Markup(kind_mark(reader, document.verdict.kind)),
        Cell::Markup(named),
        document.site.clone().unwrap_or_default().into(),
        time(document.created).into(),
        Cell::Number(document.verdict.resemblance.map_or_else(|| "–".to_owned(), part)),
        Cell::Markup(compare),
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
    let mut marks = String::new();
    for document in documents {
        let share = document.created.since(first).div_duration_f64(last.since(first));
        let x = 10.0 + share * (LINE_WIDTH - 20.0);
        let class = if document.verdict.kind.is_copy() { "copy" } else { "first" };
        // Writing to a string does not fail.
        let _ = write!(
            marks,
            "<circle class={class} cx={x:.1} cy=20 r=7><title>{} {}</title></circle>",
            escape(&time(document.created)),
            escape(&document.key)
        );
    }
    page.markup(format_args!(
        "<figure><figcaption>{0}</figcaption><svg class=timeline viewBox=\"0 0 {LINE_WIDTH} 60\" role=img aria-label=\"{1}\"><line x1=10 x2={2} y1=20 y2=20 />{marks}<text x=0 y=50>{3}</text><text class=label x={LINE_WIDTH} y=50>{4}</text></svg></figure>",
        escape(title),
        escape(&told),
        LINE_WIDTH - 10.0,
        escape(&time(first)),
        escape(&time(last))
    ));
}
