//! `/changes`: the versions of one page, or how all pages change from sweep to sweep.

use maud::html;
use wonbon_app::changes_page::{ChangesWords, ENGLISH, KOREAN, add_changes, add_versions};
use wonbon_app::questions::ChangesParameters;
use wonbon_pages::Page;
use wonbon_store::{Changes, PageHistory};
use wonbon_time::Timestamp;

use super::frame::{page, reply};
use super::pieces::{Field, asking_form, coded_paragraph, document_link};
use crate::messages::Say;
use crate::view::{Language, Reader, Reply};

fn words(reader: &Reader) -> &'static ChangesWords {
    match reader.language {
        Language::English => &ENGLISH,
        Language::Korean => &KOREAN,
    }
}

fn changes_form(page: &mut Page, reader: &Reader, asked: &ChangesParameters) {
    let since = asked.since.map(Timestamp::to_short_text);
    let fields = [
        ("key", Say::KeyOrAddress, &asked.key),
        ("site", Say::Site, &asked.site),
        ("since", Say::Since, &since),
    ]
    .map(|(name, label, value)| Field {
        name,
        label: reader.say(label),
        value: value.as_deref().unwrap_or_default(),
        kind: "text",
    });
    asking_form(page, "/changes", &fields, reader.say(Say::AskButton));
}

/// `/changes` of one page.
pub(crate) fn history_page(
    reader: &Reader,
    asked: &ChangesParameters,
    history: &PageHistory,
) -> Reply {
    let mut page = page(reader, reader.say(Say::Versions));
    page.heading(reader.say(Say::Versions));
    let title = history.place.title.as_deref().unwrap_or_default();
    page.markup(html! { p.lead { (document_link(&history.place.key, title)) } });
    changes_form(&mut page, reader, asked);
    add_versions(&mut page, words(reader), history);
    reply(reader, "/changes", page)
}

/// `/changes` of all pages.
pub(crate) fn changes_page(reader: &Reader, asked: &ChangesParameters, changes: &Changes) -> Reply {
    let mut page = page(reader, reader.say(Say::Changes));
    page.heading(reader.say(Say::Changes));
    page.lead(reader.say(Say::ChangesLead));
    changes_form(&mut page, reader, asked);
    if changes.sweeps.is_empty() {
        coded_paragraph(&mut page, reader.say(Say::NoSweeps));
    }
    add_changes(&mut page, words(reader), changes);
    reply(reader, "/changes", page)
}
