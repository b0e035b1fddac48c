//! `/watch`: watched documents, and their copies that differ.

use maud::{Markup, html};
use wonbon_pages::{Page, thousands};
use wonbon_store::{Passage, WatchReport};

use super::frame::{page, reply};
use super::pieces::{document_link, form_mark, link, part};
use super::places::note_missing_places;
use crate::messages::Say;
use crate::view::{Reader, Reply};

/// Differing passages of a copy that are shown.
const MOST_PASSAGES: usize = 20;

/// `/watch`.
pub(crate) fn watch_page(reader: &Reader, reports: &[WatchReport]) -> Reply {
    let mut page = page(reader, reader.say(Say::Watch));
    page.heading(reader.say(Say::Watch));
    page.lead(reader.say(Say::WatchLead));
    page.markup(html! {
        form.ask action="/watch" method="post" {
            (form_mark(reader))
            label.f-text {
                (reader.say(Say::KeyOrAddress))
                input type="text" name="key" required;
            }
            button { (reader.say(Say::WatchThis)) }
        }
    });
    if reports.is_empty() {
        page.paragraph(reader.say(Say::NothingWatched));
    }
    for report in reports {
        report_section(&mut page, reader, report);
    }
    reply(reader, "/watch", page)
}

fn report_section(page: &mut Page, reader: &Reader, report: &WatchReport) {
    let place = &report.watched.place;
    let named = document_link(&place.key, place.title.as_deref().unwrap_or_default());
    let section = |inside| html! { section { h2 { (named) } (inside) } };
    page.within(section, |page| {
        let counts = reader.tell(
            Say::WatchCounts,
            &[
                &thousands(report.faithful),
                &thousands(report.outdated.len() as u64),
                &thousands(report.differing.len() as u64),
            ],
        );
        page.paragraph(&counts);
        note_missing_places(page, reader, 0, 0, report.cut);
        for (old, version) in &report.outdated {
            let versions = [version.to_string(), place.versions.to_string()];
            let told = reader.tell(Say::FollowsOld, &[&old.key, &versions[0], &versions[1]]);
            page.paragraph(&told);
        }
        for copy in &report.differing {
            let summary = html! {
                (copy.place.key) " "
                small { (reader.say(Say::Resemblance)) " " (part(copy.resemblance)) }
            };
            page.details(summary, false, |page| {
                let question = [("a", place.key.as_str()), ("b", copy.place.key.as_str())];
                let compare = link("/compare", &question, reader.say(Say::Compare));
                page.markup(html! {
                    p { (compare) }
                    @for passage in copy.passages.iter().take(MOST_PASSAGES) {
                        (passage_markup(passage))
                    }
                });
            });
        }
        page.markup(html! {
            form action="/watch" method="post" {
                (form_mark(reader))
                input type="hidden" name="key" value=(place.key);
                input type="hidden" name="then" value="remove";
                button.quiet { (reader.say(Say::WatchNoMore)) }
            }
        });
    });
}

fn passage_markup(passage: &Passage) -> Markup {
    html! {
        p.text {
            "… " (passage.before) " "
            @if !passage.reference.is_empty() { del { (passage.reference) } " " }
            @if !passage.copy.is_empty() { ins { (passage.copy) } " " }
            (passage.after) " …"
        }
    }
}
