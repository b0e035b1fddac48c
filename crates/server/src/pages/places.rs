//! Where documents are and were: moved, copies, changes, watch.

use maud::{Markup, html};
use wonbon_app::answers::{MovedFinding, days, resemblance_classes};
use wonbon_app::questions::{ChangesParameters, PlaceQuestion};
use wonbon_pages::{Card, Cell, Moment, Page, Scale, Series, Shape, TimePlot, thousands};
use wonbon_store::{
    Changes, Copies, Finding, Holder, LIFE_CLASSES, Lives, Moved, PageHistory, Passage,
    RATE_CLASSES, SweepChanges, WatchReport,
};
use wonbon_time::Timestamp;

use super::frame::{page, reply};
use super::pieces::{
    Field, asking_form, coded_paragraph, document_link, form_mark, link, part, span, time,
};
use crate::messages::Say;
use crate::view::{Reader, Reply};

/// Differing passages of a copy that are shown.
const MOST_PASSAGES: usize = 20;

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
        not_all(&mut page, reader, places.len() + moved.also.len(), moved.total, moved.cut);
        if !moved.also.is_empty() {
            page.section(reader.say(Say::AlsoAt), |page| {
                holders(page, reader, &moved.asked, &moved.also);
            });
        }
    }
    reply(reader, "/moved", page)
}

/// Says so where places are left out.
fn not_all(page: &mut Page, reader: &Reader, told: usize, total: usize, cut: bool) {
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
        not_all(&mut page, reader, copies.told(), copies.total, copies.cut);
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
    let moments: Vec<Moment> = history
        .versions
        .iter()
        .map(|version| {
            let at = version.seen.first().map_or(version.stored, |(first, _)| *first);
            Moment::new(at.as_microseconds(), time(at))
        })
        .collect();
    if moments.len() > 1 && moments.windows(2).all(|pair| pair[0].at < pair[1].at) {
        page.time_plot(&TimePlot {
            title: reader.say(Say::ToTheOneBefore),
            moments: reader.say(Say::VersionNumber),
            values: reader.say(Say::Resemblance),
            scale: Scale::Numbers,
            shape: Shape::Lines,
            points: &moments,
            series: &[Series::new(
                reader.say(Say::Resemblance),
                history.versions.iter().map(|version| version.resemblance),
            )],
        });
    }
    let rows: Vec<Vec<Cell>> = history
        .versions
        .iter()
        .map(|version| {
            let seen: Vec<String> =
                version.seen.iter().map(|(first, last)| span(*first, *last)).collect();
            vec![
                Cell::Number(version.version.to_string()),
                version.title.clone().unwrap_or_default().into(),
                time(version.stored).into(),
                seen.join(", ").into(),
                version.words.into(),
                Cell::Number(version.resemblance.map_or_else(|| "–".to_owned(), part)),
            ]
        })
        .collect();
    let columns =
        [Say::VersionNumber, Say::Title, Say::StoredAt, Say::Seen, Say::Words, Say::ToTheOneBefore]
            .map(|word| reader.say(word));
    page.table(&columns, &rows);
    reply(reader, "/changes", page)
}

type Count = fn(&SweepChanges) -> u64;

/// `/changes` of all pages.
pub(crate) fn changes_page(reader: &Reader, asked: &ChangesParameters, changes: &Changes) -> Reply {
    let mut page = page(reader, reader.say(Say::Changes));
    page.heading(reader.say(Say::Changes));
    page.lead(reader.say(Say::ChangesLead));
    changes_form(&mut page, reader, asked);
    if changes.sweeps.is_empty() {
        coded_paragraph(&mut page, reader.say(Say::NoSweeps));
    } else {
        of_sweeps(&mut page, reader, changes);
    }
    page.columns(|page| {
        page.section(reader.say(Say::HowMuch), |page| {
            let rows: Vec<(String, u64)> =
                resemblance_classes().into_iter().zip(changes.resemblances).collect();
            page.bars(reader.say(Say::HowMuchLead), &rows);
        });
        if changes.sweeps.is_empty() {
            return;
        }
        page.section(reader.say(Say::HowOften), |page| {
            let names = [
                reader.say(Say::Never),
                RATE_CLASSES[1],
                RATE_CLASSES[2],
                RATE_CLASSES[3],
                RATE_CLASSES[4],
                reader.say(Say::Always),
            ];
            let rows: Vec<(String, u64)> = names
                .map(|name| name.replace("to ", "– "))
                .into_iter()
                .zip(changes.rates)
                .collect();
            page.bars(reader.say(Say::HowOftenLead), &rows);
        });
        for (name, lives) in
            [(Say::LivesEnded, &changes.ended), (Say::LivesGoOn, &changes.going_on)]
        {
            page.section(reader.say(name), |page| of_lives(page, reader, lives));
        }
    });
    reply(reader, "/changes", page)
}

fn of_sweeps(page: &mut Page, reader: &Reader, changes: &Changes) {
    let card = |number: String, name: Say| Card {
        number,
        name: reader.say(name).to_owned(),
        note: String::new(),
    };
    page.cards(&[
        card(thousands(changes.pages), Say::PagesCount),
        card(thousands(changes.sweeps.len() as u64), Say::SweepsCount),
        card(thousands(changes.changed_intervals), Say::ChangedIntervals),
        card(thousands(changes.intervals), Say::Intervals),
    ]);
    let moments: Vec<Moment> = changes
        .sweeps
        .iter()
        .map(|sweep| Moment::new(sweep.sweep.as_microseconds(), time(sweep.sweep)))
        .collect();
    let plot = |page: &mut Page, title: Say, named: &[(Say, Count)]| {
        let series: Vec<Series> = named
            .iter()
            .map(|(name, count)| {
                let values = changes.sweeps.iter().map(|sweep| Some(count(sweep) as f64));
                Series::new(reader.say(*name), values)
            })
            .collect();
        page.time_plot(&TimePlot {
            title: reader.say(title),
            moments: reader.say(Say::Sweep),
            values: reader.say(Say::PagesCount),
            scale: Scale::Counts,
            shape: Shape::Lines,
            points: &moments,
            series: &series,
        });
    };
    page.columns(|page| {
        plot(
            page,
            Say::BirthsAndDeaths,
            &[
                (Say::Born, |sweep| sweep.born),
                (Say::Died, |sweep| sweep.died),
                (Say::CameBack, |sweep| sweep.came_back),
            ],
        );
        plot(
            page,
            Say::Moves,
            &[
                (Say::WithinSite, |sweep| sweep.moved_within),
                (Say::BetweenSites, |sweep| sweep.moved_between),
            ],
        );
        plot(
            page,
            Say::ChangedPages,
            &[
                (Say::ChangedWord, |sweep| sweep.changed),
                (Say::UnchangedWord, |sweep| sweep.unchanged),
            ],
        );
    });
}

fn of_lives(page: &mut Page, reader: &Reader, lives: &Lives) {
    let rows: Vec<(String, u64)> =
        LIFE_CLASSES.map(str::to_owned).into_iter().zip(lives.by_sweeps).collect();
    if let Some(mean) = lives.mean() {
        let told =
            reader.tell(Say::LivesTold, &[&thousands(lives.pages), &format!("{:.1}", days(mean))]);
        page.paragraph(&told);
    }
    page.bars(reader.say(Say::LivesBySweeps), &rows);
}

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
        of_report(&mut page, reader, report);
    }
    reply(reader, "/watch", page)
}

fn of_report(page: &mut Page, reader: &Reader, report: &WatchReport) {
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
        not_all(page, reader, 0, 0, report.cut);
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
                        (of_passage(passage))
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

fn of_passage(passage: &Passage) -> Markup {
    html! {
        p.text {
            "… " (passage.before) " "
            @if !passage.reference.is_empty() { del { (passage.reference) } " " }
            @if !passage.copy.is_empty() { ins { (passage.copy) } " " }
            (passage.after) " …"
        }
    }
}
