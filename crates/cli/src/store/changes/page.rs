//! How pages change, as a page with plots.

use wonbon_app::answers::{days, resemblance_classes};
use wonbon_pages::{Card, Cell, Moment, Page, Scale, Series, Shape, TimePlot};
use wonbon_store::{Changes, LIFE_CLASSES, Lives, PageHistory, RATE_CLASSES, SweepChanges};
use wonbon_time::Timestamp;

use super::in_columns;
use crate::batch::thousands;

/// The versions of one page.
pub(super) fn history_page(history: &PageHistory) -> String {
    let mut page = Page::new(&format!("Versions of {}", history.place.key));
    page.heading("Versions of a page");
    page.lead(&history.place.key);
    let moments: Vec<Moment> = history
        .versions
        .iter()
        .map(|version| {
            let at = version.seen.first().map_or(version.stored, |(first, _)| *first);
            Moment::new(at.as_microseconds(), at.to_short_text())
        })
        .collect();
    if moments.len() > 1 && moments.windows(2).all(|pair| pair[0].at < pair[1].at) {
        let resemblances = history.versions.iter().map(|version| version.resemblance);
        page.time_plot(&TimePlot {
            title: "Resemblance to the version before",
            moments: "version",
            values: "resemblance",
            scale: Scale::Numbers,
            shape: Shape::Lines,
            points: &moments,
            series: &[Series::new("resemblance", resemblances)],
        });
    }
    let rows: Vec<Vec<Cell>> = history
        .versions
        .iter()
        .map(|version| {
            let seen: Vec<String> = version
                .seen
                .iter()
                .map(|(first, last)| {
                    format!("{} to {}", first.to_short_text(), last.to_short_text())
                })
                .collect();
            vec![
                Cell::Number(version.version.to_string()),
                version.title.clone().unwrap_or_default().into(),
                version.created.to_short_text().into(),
                seen.join(", ").into(),
                version.words.into(),
                Cell::Number(
                    version.resemblance.map_or_else(String::new, |value| format!("{value:.3}")),
                ),
            ]
        })
        .collect();
    let columns = ["version", "title", "created", "seen", "words", "resemblance"];
    page.table(&columns, &rows);
    page.finish()
}

/// How all pages change.
pub(super) fn changes_page(
    site: Option<&str>,
    since: Option<Timestamp>,
    changes: &Changes,
) -> String {
    let of = site.map_or_else(String::new, |site| format!(" of {site}"));
    let mut page = Page::new(&format!("How pages{of} change"));
    page.heading(&format!("How pages{of} change"));
    let from =
        since.map_or_else(String::new, |since| format!(" from {} on", since.to_short_text()));
    page.lead(&format!(
        "{} pages in {} sweeps{from}.",
        thousands(changes.pages),
        thousands(changes.sweeps.len() as u64)
    ));
    page.cards(&cards(changes));
    let moments: Vec<Moment> = changes
        .sweeps
        .iter()
        .map(|counts| Moment::new(counts.sweep.as_microseconds(), counts.sweep.to_short_text()))
        .collect();
    type Count = fn(&SweepChanges) -> u64;
    let series = |named: &[(&str, Count)]| -> Vec<Series> {
        let of_name = |(name, count): &(&str, Count)| {
            Series::new(*name, changes.sweeps.iter().map(|counts| Some(count(counts) as f64)))
        };
        named.iter().map(of_name).collect()
    };
    let plot = |page: &mut Page, title: &str, series: &[Series]| {
        page.time_plot(&TimePlot {
            title,
            moments: "sweep",
            values: "pages",
            scale: Scale::Counts,
            shape: Shape::Lines,
            points: &moments,
            series,
        });
    };
    page.columns(|page| {
        page.section("Births and deaths", |page| {
            let named: [(&str, Count); 3] = [
                ("born", |counts| counts.born),
                ("died", |counts| counts.died),
                ("came back", |counts| counts.came_back),
            ];
            plot(page, "Pages born, died and come back per sweep", &series(&named));
        });
        page.section("Moves", |page| {
            let named: [(&str, Count); 2] = [
                ("within a site", |counts| counts.moved_within),
                ("between sites", |counts| counts.moved_between),
            ];
            plot(page, "Pages that moved per sweep", &series(&named));
        });
        page.section("Changes", |page| {
            let shares = changes.sweeps.iter().map(|counts| {
                let both = counts.changed + counts.unchanged;
                (both > 0).then(|| counts.changed as f64 / both as f64)
            });
            page.time_plot(&TimePlot {
                title: "Share of pages that changed since the sweep before",
                moments: "sweep",
                values: "share of pages",
                scale: Scale::Shares,
                shape: Shape::Lines,
                points: &moments,
                series: &[Series::new("changed", shares)],
            });
        });
        page.section("How much", |page| {
            let names = resemblance_classes();
            let rows: Vec<(String, u64)> = names.into_iter().zip(changes.resemblances).collect();
            page.paragraph("Changes by the resemblance of the two versions.");
            page.bars("Changes by the resemblance of the two versions", &rows);
        });
        page.section("How often", |page| {
            let rows: Vec<(String, u64)> =
                RATE_CLASSES.map(str::to_owned).into_iter().zip(changes.rates).collect();
            page.paragraph("Pages by the share of intervals in which they changed.");
            page.bars("Pages by the share of intervals in which they changed", &rows);
        });
        page.section("How long they live", |page| {
            for (name, lives) in
                [("lives that ended", &changes.ended), ("lives that go on", &changes.going_on)]
            {
                let rows: Vec<(String, u64)> =
                    LIFE_CLASSES.map(str::to_owned).into_iter().zip(lives.by_sweeps).collect();
                page.paragraph(&format!(
                    "{} {name}, by sweeps from first to last seen{}.",
                    thousands(lives.pages),
                    averages(lives)
                ));
                page.bars(&format!("Pages by sweeps from first to last seen, {name}"), &rows);
            }
        });
    });
    page.section("Sweeps", |page| sweeps(page, changes));
    page.finish()
}

fn cards(changes: &Changes) -> Vec<Card> {
    let sum = |count: fn(&SweepChanges) -> u64| changes.sweeps.iter().map(count).sum::<u64>();
    let card = |number: u64, name: &str, note: String| Card {
        number: thousands(number),
        name: name.to_owned(),
        note,
    };
    let share = match changes.intervals {
        0 => String::new(),
        all => {
            let share = changes.changed_intervals as f64 * 100.0 / all as f64;
            format!("in {share:.1} % of intervals")
        }
    };
    vec![
        card(changes.pages, "pages", String::new()),
        card(sum(|counts| counts.born), "born", String::new()),
        card(sum(|counts| counts.died), "died", String::new()),
        card(changes.changed_intervals, "changes", share),
        card(
            sum(|counts| counts.moved_within + counts.moved_between),
            "moves",
            format!("{} between sites", thousands(sum(|counts| counts.moved_between))),
        ),
    ]
}

fn averages(lives: &Lives) -> String {
    match (lives.mean(), lives.median) {
        (Some(mean), Some(median)) => {
            format!("; mean {:.1} days, median {:.1}", days(mean), days(median))
        }
        _ => String::new(),
    }
}

fn sweeps(page: &mut Page, changes: &Changes) {
    let rows: Vec<Vec<Cell>> = changes
        .sweeps
        .iter()
        .map(|counts| {
            let mut row: Vec<Cell> = vec![counts.sweep.to_short_text().into()];
            row.extend(in_columns(counts).map(Cell::from));
            let mean = counts.mean_resemblance();
            row.push(Cell::Number(mean.map_or_else(String::new, |mean| format!("{mean:.3}"))));
            row
        })
        .collect();
    let columns = [
        "sweep",
        "seen",
        "found",
        "born",
        "came back",
        "changed",
        "unchanged",
        "died",
        "moved within",
        "moved between",
        "resemblance of changed",
    ];
    page.table(&columns, &rows);
}
