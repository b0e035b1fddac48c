//! `/`: one box for a key, an address, a text or a query; counters; the latest documents.

use maud::html;
use serde::Deserialize;
use wonbon_app::questions::TextQuestion;
use wonbon_pages::{Card, Cell, thousands};
use wonbon_store::Counts;

use super::decisions::standing_marks;
use super::frame::{address, page, reply};
use super::pieces::{coded_paragraph, document_link, form_mark, time};
use crate::api::places::Nothing;
use crate::api::texts;
use crate::inquiry::Inquiry;
use crate::messages::Say;
use crate::problem::Problem;
use crate::view::{Reader, Reply, View};

/// Documents that are shown as the latest.
const LATEST: usize = 12;

/// From so many words on it is a text and no query.
const TEXT_WORDS: usize = 16;

/// `/`.
pub(crate) fn home(service: &Inquiry, _: Nothing, reader: &Reader) -> Result<Reply, Problem> {
    let counts = service.store.counts()?;
    let latest = service.store.latest(None, LATEST)?;
    let mut page = page(reader, "");
    page.heading(reader.say(Say::HomeTitle));
    page.lead(reader.say(Say::HomeLead));
    page.markup(html! {
        form.box action="/go" method="post" {
            (form_mark(reader))
            label for="q" { (reader.say(Say::BoxLabel)) }
            textarea id="q" name="q" rows="3" required placeholder=(reader.say(Say::BoxPlaceholder)) {}
            button { (reader.say(Say::BoxButton)) }
        }
    });
    page.cards(&cards(reader, &counts));
    page.subheading(reader.say(Say::Latest));
    if latest.is_empty() {
        coded_paragraph(&mut page, reader.say(Say::NothingYet));
        return Ok(reply(reader, "/", page));
    }
    let rows: Vec<Vec<Cell>> = latest
        .iter()
        .map(|listed| {
            let title = listed.title.as_deref().unwrap_or_default();
            let named = html! {
                (document_link(&listed.key, title))
                @if !title.trim().is_empty() { br; small { (listed.key) } }
                @if let Some(original) = &listed.original {
                    br; small { (reader.tell(Say::OfOriginal, &[original])) }
                }
            };
            vec![
                standing_marks(reader, listed.kind, listed.decision).into(),
                named.into(),
                time(listed.created).into(),
                listed.words.into(),
            ]
        })
        .collect();
    let columns = [Say::Kind, Say::Document, Say::Created, Say::Words].map(|word| reader.say(word));
    page.table(&columns, &rows);
    Ok(reply(reader, "/", page))
}

fn cards(reader: &Reader, counts: &Counts) -> Vec<Card> {
    let share = |part: u64| match counts.documents {
        0 => String::new(),
        all => format!("{:.1} %", part as f64 * 100.0 / all as f64),
    };
    [
        (counts.documents, Say::Documents, String::new()),
        (counts.originals, Say::Originals, share(counts.originals)),
        (counts.copies, Say::CopiesCount, share(counts.copies)),
        (counts.old_versions, Say::OldVersions, String::new()),
    ]
    .into_iter()
    .map(|(number, name, note)| Card {
        number: thousands(number),
        name: reader.say(name).to_owned(),
        note,
    })
    .collect()
}

/// What a person put into the box.
#[derive(Debug, Deserialize)]
pub(crate) struct Box {
    #[serde(default)]
    q: String,
}

/// `/go`: a known document is shown, an address looked for, a text asked about, words searched for.
pub(crate) fn go(service: &Inquiry, asked: Box, view: &View) -> Result<Reply, Problem> {
    let text = asked.q.trim();
    if text.is_empty() {
        return Ok(Reply::see_other("/"));
    }
    if text.len() <= wonbon_store::MOST_KEY_BYTES
        && let Some(document) = service.store.find(text)?
    {
        return Ok(Reply::see_other(&address("/document", &[("key", &document.key)])));
    }
    let words = text.split_whitespace().count();
    if words == 1 && (text.starts_with("http://") || text.starts_with("https://")) {
        return Ok(Reply::see_other(&address("/moved", &[("key", text)])));
    }
    if words >= TEXT_WORDS || text.contains('\n') || text.chars().count() > 200 {
        let question = TextQuestion { text: Some(text.to_owned()), ..TextQuestion::default() };
        return texts::ask(service, question, view);
    }
    Ok(Reply::see_other(&address("/search", &[("q", text)])))
}
