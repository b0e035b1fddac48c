//! The page about changes: plots and tables of what sweeps saw, and the versions of one page.
//!
//! `wonbon changes --html` writes it to a file and the service shows it in its frame, so the two show the
//! same. Its words are here in both languages of the pages.
//!
//! Not here: the frame, the form and the lead around it.

use wonbon_pages::{Card, Cell, Moment, Page, Scale, Series, Shape, TimePlot, fill, thousands};
use wonbon_store::{Changes, LIFE_CLASSES, Lives, PageHistory, RATE_CLASSES, SweepChanges};
use wonbon_time::Timestamp;

use crate::answers::{days, resemblance_classes};

macro_rules! words {
    ($($name:ident: $english:literal, $korean:literal;)+) => {
        /// The words of the page in one language.
        #[derive(Debug)]
        pub struct ChangesWords {
            $($name: &'static str,)+
        }

        /// The words in English.
        pub const ENGLISH: ChangesWords = ChangesWords { $($name: $english,)+ };

        /// The words in Korean.
        pub const KOREAN: ChangesWords = ChangesWords { $($name: $korean,)+ };
    };
}

words! {
    resemblance: "Resemblance", "유사도";
    resemblance_before: "Resemblance to the previous version", "이전 버전과의 유사도";
    version: "Version", "버전";
    title: "Title", "제목";
    stored: "Stored", "저장일";
    seen_when: "Seen", "확인한 때";
    words: "Words", "낱말";
    pages: "pages", "페이지";
    sweeps: "sweeps", "순회";
    sweep: "sweep", "순회";
    sweeps_section: "Sweeps", "순회";
    changes: "changes", "바뀐 횟수";
    intervals: "times seen again", "다시 확인한 횟수";
    births_and_deaths: "Pages that appeared and disappeared", "생긴 페이지와 사라진 페이지";
    seen: "seen", "확인";
    found: "found", "처음 수집";
    born: "born", "생김";
    died: "died", "사라짐";
    came_back: "came back", "돌아옴";
    moves: "Moves", "옮겨짐";
    within_site: "within a site", "사이트 안에서";
    between_sites: "between sites", "사이트 사이에서";
    changed_and_unchanged: "Changed and unchanged", "바뀐 페이지와 그대로인 페이지";
    changed: "changed", "바뀜";
    unchanged: "unchanged", "그대로";
    mean_resemblance: "resemblance of the changed pages", "바뀐 페이지의 유사도";
    how_much: "How much pages change", "얼마나 많이 바뀌나";
    how_much_lead: "Changes by the resemblance of the two versions", "두 버전의 유사도별 변화";
    how_often: "How often pages change", "얼마나 자주 바뀌나";
    how_often_lead: "Pages by the share of intervals in which they changed", "바뀐 간격의 비율별 페이지 수";
    never: "never", "안 바뀜";
    always: "always", "매번 바뀜";
    lives_ended: "Lifetimes of pages that are gone", "사라진 페이지의 수명";
    lives_going_on: "Lifetimes of existing pages, so far", "남아 있는 페이지의 수명(지금까지)";
    lives_average: "{0} pages, {1} days on average.", "페이지 {0}개, 평균 {1}일.";
    lives_by_sweeps: "Pages by number of sweeps from the first to the last sighting", "처음 확인부터 마지막 확인까지의 순회 수별 페이지 수";
}

fn time(time: Timestamp) -> String {
    time.floor_to_second().to_short_text()
}

fn value(value: Option<f64>) -> Cell {
    Cell::Number(value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}")))
}

/// Adds the versions of one page: a plot if there are several, and a table.
pub fn add_versions(page: &mut Page, words: &ChangesWords, history: &PageHistory) {
    let moments: Vec<Moment> = history
        .versions
        .iter()
        .map(|version| {
            let at = version.seen.first().map_or(version.stored, |(first, _)| *first);
            Moment::new(at.as_microseconds(), time(at))
        })
        .collect();
    if moments.len() > 1 && moments.windows(2).all(|pair| pair[0].at < pair[1].at) {
        let resemblances = history.versions.iter().map(|version| version.resemblance);
        page.time_plot(&TimePlot {
            title: words.resemblance_before,
            moments: words.version,
            values: words.resemblance,
            scale: Scale::Numbers,
            shape: Shape::Lines,
            points: &moments,
            series: &[Series::new(words.resemblance, resemblances)],
        });
    }
    let rows: Vec<Vec<Cell>> = history
        .versions
        .iter()
        .map(|version| {
            let seen = version.seen.iter().map(|(first, last)| match (time(*first), time(*last)) {
                (first, last) if first == last => first,
                (first, last) => format!("{first} – {last}"),
            });
            vec![
                Cell::Number(version.version.to_string()),
                version.title.clone().unwrap_or_default().into(),
                time(version.stored).into(),
                seen.collect::<Vec<_>>().join(", ").into(),
                version.words.into(),
                value(version.resemblance),
            ]
        })
        .collect();
    let columns = [
        words.version,
        words.title,
        words.stored,
        words.seen_when,
        words.words,
        words.resemblance_before,
    ];
    page.table(&columns, &rows);
}

/// Adds how all pages change: what each sweep saw, how much and how often pages change, how long they
/// live. Without sweeps only how much they change is known.
pub fn add_changes(page: &mut Page, words: &ChangesWords, changes: &Changes) {
    let has_sweeps = !changes.sweeps.is_empty();
    if has_sweeps {
        add_sweep_plots(page, words, changes);
    }
    page.columns(|page| {
        page.section(words.how_much, |page| {
            let rows: Vec<(String, u64)> =
                resemblance_classes().into_iter().zip(changes.resemblances).collect();
            page.bars(words.how_much_lead, &rows);
        });
        if !has_sweeps {
            return;
        }
        page.section(words.how_often, |page| {
            let [_, one, two, three, four, _] = RATE_CLASSES;
            let names = [words.never, one, two, three, four, words.always];
            let rows: Vec<(String, u64)> = names
                .map(|name| name.replace("to ", "– "))
                .into_iter()
                .zip(changes.rates)
                .collect();
            page.bars(words.how_often_lead, &rows);
        });
        for (name, lives) in
            [(words.lives_ended, &changes.ended), (words.lives_going_on, &changes.going_on)]
        {
            page.section(name, |page| add_lives(page, words, lives));
        }
    });
    if has_sweeps {
        page.section(words.sweeps_section, |page| add_sweep_table(page, words, changes));
    }
}

type Count = fn(&SweepChanges) -> u64;

fn add_sweep_plots(page: &mut Page, words: &ChangesWords, changes: &Changes) {
    let card = |number: u64, name: &str| Card {
        number: thousands(number),
        name: name.to_owned(),
        note: String::new(),
    };
    page.cards(&[
        card(changes.pages, words.pages),
        card(changes.sweeps.len() as u64, words.sweeps),
        card(changes.changed_intervals, words.changes),
        card(changes.intervals, words.intervals),
    ]);
    let moments: Vec<Moment> = changes
        .sweeps
        .iter()
        .map(|sweep| Moment::new(sweep.sweep.as_microseconds(), time(sweep.sweep)))
        .collect();
    let plot = |page: &mut Page, title: &str, named: &[(&str, Count)]| {
        let series: Vec<Series> = named
            .iter()
            .map(|(name, count)| {
                let values = changes.sweeps.iter().map(|sweep| Some(count(sweep) as f64));
                Series::new(*name, values)
            })
            .collect();
        page.time_plot(&TimePlot {
            title,
            moments: words.sweep,
            values: words.pages,
            scale: Scale::Counts,
            shape: Shape::Lines,
            points: &moments,
            series: &series,
        });
    };
    page.columns(|page| {
        let births: [(&str, Count); 3] = [
            (words.born, |sweep| sweep.born),
            (words.died, |sweep| sweep.died),
            (words.came_back, |sweep| sweep.came_back),
        ];
        plot(page, words.births_and_deaths, &births);
        let moves: [(&str, Count); 2] = [
            (words.within_site, |sweep| sweep.moved_within),
            (words.between_sites, |sweep| sweep.moved_between),
        ];
        plot(page, words.moves, &moves);
        let changed: [(&str, Count); 2] =
            [(words.changed, |sweep| sweep.changed), (words.unchanged, |sweep| sweep.unchanged)];
        plot(page, words.changed_and_unchanged, &changed);
    });
}

fn add_lives(page: &mut Page, words: &ChangesWords, lives: &Lives) {
    if let Some(mean) = lives.mean() {
        let mean = format!("{:.1}", days(mean));
        page.paragraph(&fill(words.lives_average, &[&thousands(lives.pages), &mean]));
    }
    let rows: Vec<(String, u64)> =
        LIFE_CLASSES.map(str::to_owned).into_iter().zip(lives.by_sweeps).collect();
    page.bars(words.lives_by_sweeps, &rows);
}

/// What a sweep saw, in the order of the columns of a table.
#[must_use]
pub fn counts_of(sweep: &SweepChanges) -> [u64; 9] {
    [
        sweep.seen,
        sweep.found,
        sweep.born,
        sweep.came_back,
        sweep.changed,
        sweep.unchanged,
        sweep.died,
        sweep.moved_within,
        sweep.moved_between,
    ]
}

fn add_sweep_table(page: &mut Page, words: &ChangesWords, changes: &Changes) {
    let rows: Vec<Vec<Cell>> = changes
        .sweeps
        .iter()
        .map(|sweep| {
            let mut row: Vec<Cell> = vec![time(sweep.sweep).into()];
            row.extend(counts_of(sweep).map(Cell::from));
            row.push(value(sweep.mean_resemblance()));
            row
        })
        .collect();
    let columns = [
        words.sweep,
        words.seen,
        words.found,
        words.born,
        words.came_back,
        words.changed,
        words.unchanged,
        words.died,
        words.within_site,
        words.between_sites,
        words.mean_resemblance,
    ];
    page.table(&columns, &rows);
}
