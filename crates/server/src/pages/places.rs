//! `/moved` and `/copies`: where a document is now, and who holds copies of it.

use maud::html;
use wonbon_app::answers::MovedFinding;
use wonbon_app::questions::PlaceQuestion;
use wonbon_pages::{Cell, Page, thousands};
use wonbon_store::{Copies, Finding, Holder, Moved};

use super::frame::{page, reply};
use super::pieces::{Field, asking_form, document_link, link, part, span, time};
use crate::messages::Say;
use crate::view::{Reader, Reply};

fn address_form(page: &mut Page, reader: &Reader, path: &str, asked: &PlaceQuestion) {
    let field = Field {
        name: "key",
        label: reader.say(Say::KeyOrAddress),
        value: asked.key.as_deref().unwrap_or_default(),
        kind: "text",
    };
    asking_form(page, path, &[field], reader.say(Say::AskButton));
}

/// `/moved`.
pub(crate) fn moved_page(reader: &Reader, asked: &PlaceQuestion, found: Option<&Moved>) -> Reply {
    let mut page = page(reader, reader.say(Say::Moved));
    page.heading(reader.say(Say::Moved));
    page.lead(reader.say(Say::MovedLead));
    address_form(&mut page, reader, "/moved", asked);
    if let Some(moved) = found {
        let MovedFinding { places, covered, .. } = MovedFinding::of(&moved.finding);
        let mut told = reader
            .say(match &moved.finding {
                Finding::Here => Say::MovedHere,
                Finding::Moved(_) => Say::MovedMoved,
                Finding::Merged(_) => Say::MovedMerged,
                Finding::Split { .. } => Say::MovedSplit,
                Finding::Gone(places) if places.is_empty() => Say::MovedGone,
                Finding::Gone(_) => Say::MovedGoneThese,
            })
            .to_owned();
        if let Some(covered) = covered {
            told.push_str(&format!(" ({:.1} %)", covered * 100.0));
        }
        page.markup(html! { h2 role="status" { (told) } });
        if let Some(place) = &moved.place {
            let title = place.title.as_deref().unwrap_or_default();
            page.markup(html! {
                p {
                    (document_link(&place.key, title)) " "
                    small {
                        (reader.say(Say::Seen)) " " (span(place.first, place.last))
                        @if let Some(gone) = place.gone {
                            ", " (reader.tell(Say::MissedSince, &[&time(gone)]))
                        }
                    }
                }
            });
        }
        for hop in &moved.redirects {
            let told = reader.tell(Say::LeadsTo, &[&hop.from, &hop.to, &time(hop.sweep)]);
            page.paragraph(&told);
        }
        holders(&mut page, reader, &moved.asked, places);
        note_missing_places(
            &mut page,
            reader,
            places.len() + moved.also.len(),
            moved.total,
            moved.cut,
        );
        if !moved.also.is_empty() {
            page.section(reader.say(Say::AlsoAt), |page| {
                holders(page, reader, &moved.asked, &moved.also);
            });
        }
    }
    reply(reader, "/moved", page)
}

/// Says so where places are left out.
pub(super) fn note_missing_places(
    page: &mut Page,
    reader: &Reader,
    told: usize,
    total: usize,
    cut: bool,
) {
    if told < total {
        let [told, total] = [told, total].map(|count| thousands(count as u64));
        let sentence = reader.tell(Say::PlacesShown, &[&told, &total]);
        page.markup(html! { p.cut { (sentence) } });
    }
    if cut {
        page.markup(html! { p.cut { (reader.say(Say::MorePlaces)) } });
    }
}

fn holders(page: &mut Page, reader: &Reader, asked: &str, holders: &[Holder]) {
    if holders.is_empty() {
        return;
    }
    let value = |value: Option<f64>| Cell::Number(value.map_or_else(|| "–".to_owned(), part));
    let rows: Vec<Vec<Cell>> = holders
        .iter()
        .map(|holder| {
            let place = &holder.place;
            let title = place.title.as_deref().unwrap_or_default();
            let redirect = holder.redirect.map_or_else(String::new, time);
            let question = [("a", asked), ("b", place.key.as_str())];
            vec![
                document_link(&place.key, title).into(),
                span(place.first, place.last).into(),
                value(holder.overlap.map(|overlap| overlap.resemblance())),
                value(holder.overlap.map(|overlap| overlap.left_in_right())),
                redirect.into(),
                link("/compare", &question, reader.say(Say::Compare)).into(),
            ]
        })
        .collect();
    let columns =
        [Say::Document, Say::Seen, Say::Resemblance, Say::Holds, Say::RedirectSeen, Say::Compare]
            .map(|word| reader.say(word));
    page.table(&columns, &rows);
}

/// `/copies`.
pub(crate) fn copies_page(reader: &Reader, asked: &PlaceQuestion, found: Option<&Copies>) -> Reply {
    let mut page = page(reader, reader.say(Say::Copies));
    page.heading(reader.say(Say::Copies));
    page.lead(reader.say(Say::CopiesLead));
    address_form(&mut page, reader, "/copies", asked);
    if let Some(copies) = found {
        let told = reader.tell(
            Say::HoldersOnSites,
            &[&thousands(copies.told() as u64), &thousands(copies.sites.len() as u64)],
        );
        page.markup(html! { h2 role="status" { (told) } });
        note_missing_places(&mut page, reader, copies.told(), copies.total, copies.cut);
        let title = copies.place.title.as_deref().unwrap_or_default();
        page.markup(html! { p { (document_link(&copies.place.key, title)) } });
        for site in &copies.sites {
            let name = site.site.as_deref().unwrap_or(reader.say(Say::NoSite));
            page.section(name, |page| {
                let rows: Vec<Vec<Cell>> = site
                    .copies
                    .iter()
                    .map(|copy| {
                        let follows = format!("{} / {}", copy.follows, copies.place.versions);
                        let question =
                            [("a", copies.place.key.as_str()), ("b", copy.place.key.as_str())];
                        vec![
                            document_link(&copy.place.key, "").into(),
                            span(copy.place.first, copy.place.last).into(),
                            Cell::Number(part(copy.resemblance)),
                            Cell::Number(follows),
                            link("/compare", &question, reader.say(Say::Compare)).into(),
                        ]
                    })
                    .collect();
                let columns =
                    [Say::Document, Say::Seen, Say::Resemblance, Say::FollowsVersion, Say::Compare]
                        .map(|word| reader.say(word));
                page.table(&columns, &rows);
            });
        }
    }
    reply(reader, "/copies", page)
}
