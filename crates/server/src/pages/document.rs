//! `/document`: the text of a document, its fields, its verdict and why, its family, its versions.

use maud::html;
use serde::Deserialize;
use wonbon_pages::{Cell, Page, fill_markup, thousands};
use wonbon_store::{FamilyPart, Kind, PageHistory, Rule, StoredDocument};

use super::decisions;
use super::frame::{page, reply};
use super::pieces::{
    document_link, family_columns, family_row, kind_mark, link, outside_link, part, span, time,
    time_line,
};
use crate::inquiry::Inquiry;
use crate::messages::Say;
use crate::problem::{Code, Problem};
use crate::view::{Reader, Reply};

/// Members of the family that are shown.
const MEMBERS: usize = 20;

/// Characters of text that a page shows; the rest is one link away.
const MOST_CHARACTERS: usize = 100_000;

/// Which document.
#[derive(Debug, Deserialize)]
pub(crate) struct DocumentQuestion {
    key: Option<String>,
    /// The entry of a decision that was just made here.
    decided: Option<u64>,
}

fn find(service: &Inquiry, asked: &DocumentQuestion) -> Result<StoredDocument, Problem> {
    let key = asked
        .key
        .as_deref()
        .ok_or_else(|| Problem::new(Code::BadParameter, "`key` says which document is meant"))?;
    service.store.find(key)?.ok_or_else(|| Problem::unknown(key))
}

/// `/raw`: the core text.
pub(crate) fn raw(
    service: &Inquiry,
    asked: DocumentQuestion,
    _: &Reader,
) -> Result<Reply, Problem> {
    Ok(Reply::text(find(service, &asked)?.text))
}

/// `/document`.
pub(crate) fn document(
    service: &Inquiry,
    asked: DocumentQuestion,
    reader: &Reader,
) -> Result<Reply, Problem> {
    let document = find(service, &asked)?;
    let key = document.key.as_str();
    let family =
        service.store.family_part(key, 0, MEMBERS)?.ok_or_else(|| Problem::unknown(key))?;
    let history = service.store.history(key, None)?;
    let title = document.title.as_deref().filter(|title| !title.trim().is_empty());
    let mut page = page(reader, title.unwrap_or(key));
    page.heading(title.unwrap_or(key));
    decisions::notice(&mut page, service, reader, asked.decided, "document")?;
    verdict(&mut page, reader, &document, service.store.params().rule);
    links(&mut page, reader, &document);
    page.columns(|page| {
        page.section(reader.say(Say::Facts), |page| facts(page, reader, &document));
        if let Some(history) = history.as_ref().filter(|history| history.versions.len() > 1) {
            page.section(reader.say(Say::Versions), |page| versions(page, reader, history));
        }
    });
    if family.total > 1 {
        page.section(reader.say(Say::Family), |page| {
            members(page, reader, &family, key);
        });
    }
    decisions::section(&mut page, service, reader, &document)?;
    page.section(reader.say(Say::Text), |page| {
        let end = document.text.char_indices().nth(MOST_CHARACTERS).map(|(at, _)| at);
        let shown = &document.text[..end.unwrap_or(document.text.len())];
        let language = document.language.as_deref().unwrap_or_default();
        page.markup(html! {
            div.body lang=(language) dir="auto" { (shown) }
            @if end.is_some() { p { (link("/raw", &[("key", key)], reader.say(Say::WholeText))) } }
        });
    });
    Ok(reply(reader, "/document", page))
}

/// What it is, and why.
fn verdict(page: &mut Page, reader: &Reader, document: &StoredDocument, rule: Rule) {
    let verdict = &document.verdict;
    let why = match (&verdict.original, verdict.kind) {
        (Some(original), _) => {
            fill_markup(reader.say(Say::OfOriginal), &document_link(original, ""))
        }
        (None, Kind::Original) if document.copies == 1 => html! { (reader.say(Say::HasCopy)) },
        (None, Kind::Original) if document.copies > 0 => {
            html! { (reader.tell(Say::HasCopies, &[&thousands(document.copies)])) }
        }
        (None, Kind::Original) if document.decision.is_some() => html! {},
        (None, Kind::Original) => html! { (reader.say(Say::NoEarlierLikeIt)) },
        (None, _) => html! { (reader.say(Say::WithoutWords)) },
    };
    let mut facts = Vec::new();
    if let Some(resemblance) = verdict.resemblance {
        facts.push(format!("{} {}", reader.say(Say::Resemblance), part(resemblance)));
    }
    if let Some(features) = verdict.features_equal {
        facts.push(reader.tell(Say::FeaturesAgree, &[&features.to_string()]));
    }
    if verdict.original.is_some() {
        facts.push(reader.tell(Say::ByTheRule, &[&rule.to_string()]));
    }
    if document.decision.is_some() && verdict.kind == Kind::Original {
        facts.push(reader.say(Say::ByDecision).to_owned());
    }
    page.markup(html! {
        p.verdict {
            (kind_mark(reader, verdict.kind)) " " (why)
            @if !facts.is_empty() { " " small { "(" (facts.join(", ")) ")" } }
        }
    });
}

fn links(page: &mut Page, reader: &Reader, document: &StoredDocument) {
    let key = document.key.as_str();
    let mut links = Vec::new();
    if let Some(original) = &document.verdict.original {
        let question = [("a", original.as_str()), ("b", key)];
        links.push(link("/compare", &question, reader.say(Say::CompareWithOriginal)));
    }
    links.push(link("/ask", &[("key", key)], reader.say(Say::Ask)));
    links.push(link("/copies", &[("key", key)], reader.say(Say::Copies)));
    links.push(link("/moved", &[("key", key)], reader.say(Say::Moved)));
    links.push(link("/changes", &[("key", key)], reader.say(Say::Changes)));
    links.push(link("/raw", &[("key", key)], reader.say(Say::PlainText)));
    links.push(link("/v1/documents", &[("key", key)], "JSON"));
    page.markup(html! {
        p.links {
            @for (at, link) in links.iter().enumerate() {
                @if at > 0 { " " }
                (link)
            }
        }
    });
}

fn facts(page: &mut Page, reader: &Reader, document: &StoredDocument) {
    let mut rows: Vec<(Say, Cell)> = vec![(Say::Key, outside_link(&document.key).into())];
    if let Some(url) = document.url.as_ref().filter(|url| **url != document.key) {
        rows.push((Say::Address, outside_link(url).into()));
    }
    for (name, value) in [
        (Say::Site, &document.site),
        (Say::Author, &document.author),
        (Say::LanguageField, &document.language),
    ] {
        if let Some(value) = value {
            rows.push((name, value.as_str().into()));
        }
    }
    rows.push((Say::Created, time(document.created).into()));
    if let Some(published) = document.published {
        rows.push((Say::Published, time(published).into()));
    }
    rows.push((Say::StoredAt, time(document.stored).into()));
    rows.push((Say::Words, thousands(document.words).into()));
    rows.push((Say::VersionNumber, document.version.to_string().into()));
    let rows: Vec<Vec<Cell>> =
        rows.into_iter().map(|(name, value)| vec![reader.say(name).into(), value]).collect();
    page.table(&[], &rows);
}

fn versions(page: &mut Page, reader: &Reader, history: &PageHistory) {
    let rows: Vec<Vec<Cell>> = history
        .versions
        .iter()
        .rev()
        .map(|version| {
            let seen: Vec<String> =
                version.seen.iter().map(|(first, last)| span(*first, *last)).collect();
            vec![
                Cell::Number(version.version.to_string()),
                time(version.stored).into(),
                seen.join(", ").into(),
                version.words.into(),
                Cell::Number(version.resemblance.map_or_else(|| "–".to_owned(), part)),
            ]
        })
        .collect();
    let columns = [Say::VersionNumber, Say::StoredAt, Say::Seen, Say::Words, Say::ToTheOneBefore]
        .map(|word| reader.say(word));
    page.table(&columns, &rows);
}

fn members(page: &mut Page, reader: &Reader, family: &FamilyPart, key: &str) {
    time_line(page, reader, &family.documents);
    let original = family.documents.first().map_or("", |document| document.key.as_str());
    let rows: Vec<Vec<Cell>> = family
        .documents
        .iter()
        .map(|document| {
            let mut row = family_row(reader, document, original, key);
            let (kind, decision) = (document.verdict.kind, document.decision);
            row[0] = decisions::standing_marks(reader, kind, decision).into();
            row
        })
        .collect();
    page.table(&family_columns(reader), &rows);
    let all = reader.tell(Say::FamilyOf, &[&thousands(family.total)]);
    let all = link("/family", &[("key", original)], &all);
    page.markup(html! { p { (all) } });
}
