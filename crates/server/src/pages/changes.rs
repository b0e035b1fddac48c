//! `/changes`: the versions of one page, or how all pages change from sweep to sweep.

use maud::html;
use wonbon_app::answers::{days, resemblance_classes};
use wonbon_app::questions::ChangesParameters;
use wonbon_pages::{Card, Cell, Moment, Page, Scale, Series, Shape, TimePlot, thousands};
use wonbon_store::{Changes, LIFE_CLASSES, Lives, PageHistory, RATE_CLASSES, SweepChanges};
use wonbon_time::Timestamp;

use super::frame::{page, reply};
use super::pieces::{Field, asking_form, coded_paragraph, document_link, part, span, time};
use crate::messages::Say;
use crate::view::{Reader, Reply};

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
        sweeps_section(&mut page, reader, changes);
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
            page.section(reader.say(name), |page| lives_section(page, reader, lives));
        }
    });
    reply(reader, "/changes", page)
}

fn sweeps_section(page: &mut Page, reader: &Reader, changes: &Changes) {
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

fn lives_section(page: &mut Page, reader: &Reader, lives: &Lives) {
    let rows: Vec<(String, u64)> =
        LIFE_CLASSES.map(str::to_owned).into_iter().zip(lives.by_sweeps).collect();
    if let Some(mean) = lives.mean() {
        let told =
            reader.tell(Say::LivesTold, &[&thousands(lives.pages), &format!("{:.1}", days(mean))]);
        page.paragraph(&told);
    }
    page.bars(reader.say(Say::LivesBySweeps), &rows);
}
