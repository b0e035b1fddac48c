//! The pages about crawls: a form to start one, and its progress as counters, curves, hosts and failures.
//!
//! The curves show what the fetched pages amount to: while the crawl runs, their share of all known links,
//! which approximates the PageRank; after its end, their share of the PageRank of all known pages.

use maud::html;
use wonbon_app::jobs::{CrawlProgress, Job, JobState};
use wonbon_app::requests::USUAL_PAGES;
use wonbon_crawl::order::ORDER_NAMES;
use wonbon_pages::{Card, Cell, Moment, Page, Scale, Series, Shape, TimePlot, bytes, thousands};

use super::frame::{page, reply};
use super::jobs::{
    facts, job_table, live, live_list, live_progress, notes, parameters, progress_bar, state_part,
};
use super::pieces::form_mark;
use crate::messages::Say;
use crate::view::{Reader, Reply};

/// Points that are drawn: more would not be told apart.
const DRAWN: usize = 60;

/// `/crawl`.
pub(crate) fn crawl_page(reader: &Reader, shown: Option<&Job>, crawls: &[Job]) -> Reply {
    let mut page = page(reader, reader.say(Say::Crawl));
    page.heading(reader.say(Say::Crawl));
    page.lead(reader.say(Say::CrawlLead));
    if let Some(job) = shown {
        one(&mut page, reader, job);
    }
    page.section(reader.say(Say::StartCrawl), |page| start_form(page, reader));
    let others: Vec<&Job> = crawls.iter().take(20).collect();
    if others.len() > 1 {
        page.section(reader.say(Say::Crawls), |page| {
            live_list(page, |page| job_table(page, reader, &others));
        });
    }
    reply(reader, "/crawl", page)
}

fn one(page: &mut Page, reader: &Reader, job: &Job) {
    let title = reader.tell(Say::CrawlTitle, &[&job.number.to_string(), &job.request.about()]);
    page.subheading(&title);
    live(page, &[job], |page| {
        state_part(page, reader, job, true);
        live_progress(page, |page| {
            progress_bar(page, reader, job);
            let crawl = job.crawl.clone().unwrap_or_default();
            page.cards(&cards(reader, job, &crawl));
            curves(page, reader, &crawl);
            page.columns(|page| {
                if crawl.sites.is_empty() {
                    hosts_table(page, reader, &crawl);
                } else {
                    sites_table(page, reader, &crawl);
                }
                outcomes_table(page, reader, &crawl);
            });
            failures_table(page, reader, &crawl);
            notes(page, reader, job);
            facts(page, reader, job);
        });
    });
    parameters(page, reader, job);
}

fn cards(reader: &Reader, job: &Job, crawl: &CrawlProgress) -> Vec<Card> {
    let count = |name: &str| job.progress.counts.get(name).copied().unwrap_or(0);
    let noted = |message: Say, name: &str| reader.tell(message, &[&thousands(count(name))]);
    let card = |number: String, name: Say, note: String| Card {
        number,
        name: reader.say(name).to_owned(),
        note,
    };
    let share = crawl.curve.last().map_or(0.0, |point| point.share);
    let of = if crawl.exact { Say::OfPageRank } else { Say::OfLinks };
    let now = |name: &str| if job.state == JobState::Running { count(name) } else { 0 };
    let under_way = reader.tell(Say::UnderWay, &[&thousands(now("active"))]);
    vec![
        card(thousands(count("pages")), Say::PagesCount, noted(Say::OfKnown, "known")),
        card(thousands(count("sites")), Say::SitesCount, noted(Say::HostsKnown, "hosts")),
        card(format!("{:.1} %", share * 100.0), of, noted(Say::LinksFound, "links")),
        card(bytes(count("bytes")), Say::OfBodies, String::new()),
        card(thousands(count("copies")), Say::CopiesCount, noted(Say::OriginalsFound, "originals")),
        card(thousands(count("errors")), Say::ErrorsCount, noted(Say::TrapsFound, "traps")),
        card(thousands(now("waiting")), Say::PagesWaiting, under_way),
    ]
}

fn curves(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
    if crawl.curve.len() < 2 {
        return;
    }
    let last = crawl.curve.len() - 1;
    let step = crawl.curve.len().div_ceil(DRAWN).max(1);
    let drawn: Vec<_> = crawl
        .curve
        .iter()
        .enumerate()
        .filter(|(at, _)| at % step == 0 || *at == last)
        .map(|(_, point)| point)
        .collect();
    let moments: Vec<Moment> = drawn
        .iter()
        .map(|point| {
            let at = i64::try_from(point.pages).unwrap_or(i64::MAX);
            Moment::new(at, thousands(point.pages))
        })
        .collect();
    let share = if crawl.exact { Say::PageRankShare } else { Say::LinkShare };
    page.columns(|page| {
        for (title, scale, values) in [
            (share, Scale::Shares, drawn.iter().map(|point| point.share).collect::<Vec<f64>>()),
            (Say::SitesOver, Scale::Counts, drawn.iter().map(|point| point.sites as f64).collect()),
        ] {
            let title = reader.say(title);
            page.time_plot(&TimePlot {
                title,
                moments: reader.say(Say::PagesCount),
                values: title,
                scale,
                shape: Shape::Lines,
                points: &moments,
                series: &[Series::new(title, values.into_iter().map(Some))],
            });
        }
    });
}

fn hosts_table(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
    if crawl.hosts.is_empty() {
        return;
    }
    let rows: Vec<Vec<Cell>> = crawl
        .hosts
        .iter()
        .map(|of| {
            vec![
                Cell::Code(of.host.clone()),
                of.answers.into(),
                Cell::Number(bytes(of.bytes)),
                of.failures.into(),
            ]
        })
        .collect();
    let columns =
        [Say::Host, Say::AnswersCount, Say::Size, Say::FailuresCount].map(|word| reader.say(word));
    page.section(reader.say(Say::HostsNow), |page| page.table(&columns, &rows));
}

fn sites_table(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
    let rows: Vec<Vec<Cell>> = crawl
        .sites
        .iter()
        .map(|of| {
            vec![
                Cell::Code(of.site.clone()),
                of.pages.into(),
                Cell::Number(bytes(of.bytes)),
                Cell::Number(format!("{:.2} %", of.pagerank * 100.0)),
            ]
        })
        .collect();
    let columns =
        [reader.say(Say::Site), reader.say(Say::PagesCount), reader.say(Say::Size), "PageRank"];
    page.section(reader.say(Say::Sites), |page| page.table(&columns, &rows));
}

fn outcomes_table(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
    if crawl.outcomes.is_empty() {
        return;
    }
    let rows: Vec<Vec<Cell>> = crawl
        .outcomes
        .iter()
        .map(|(name, count)| vec![Cell::Code(name.clone()), (*count).into()])
        .collect();
    let columns = [Say::Outcome, Say::PagesCount].map(|word| reader.say(word));
    page.section(reader.say(Say::Outcomes), |page| page.table(&columns, &rows));
}

fn failures_table(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
    if crawl.failures.is_empty() {
        return;
    }
    let rows: Vec<Vec<Cell>> = crawl
        .failures
        .iter()
        .map(|failure| vec![Cell::Code(failure.url.clone()), failure.why.clone().into()])
        .collect();
    let columns = [Say::Address, Say::Why].map(|word| reader.say(word));
    page.section(reader.say(Say::FailuresLately), |page| page.table(&columns, &rows));
}

fn start_form(page: &mut Page, reader: &Reader) {
    let scopes = [("domain", Say::ScopeDomain), ("host", Say::ScopeHost), ("all", Say::ScopeAll)];
    let usual = USUAL_PAGES.to_string();
    let numbers = [
        ("pages", Say::MostPages, usual.as_str(), "1"),
        ("delay", Say::DelaySeconds, "1", "any"),
        ("depth", Say::MostDepth, "", "1"),
        ("site_pages", Say::MostSitePages, "", "1"),
    ];
    let texts = [
        ("include", Say::OnlyPaths),
        ("exclude", Say::NoPaths),
        ("agent", Say::Agent),
        ("sweep_of", Say::SweepOf),
    ];
    page.markup(html! {
        form.start action="/crawl" method="post" {
            (form_mark(reader))
            label.long {
                (reader.say(Say::Seeds))
                textarea name="seeds" rows="3" required placeholder="https://" {}
            }
            label {
                (reader.say(Say::Ordering))
                select name="order" {
                    @for order in ORDER_NAMES {
                        option value=(order.name()) selected[order.name() == "damped"] title=(order.description()) {
                            (order.name())
                        }
                    }
                }
            }
            label {
                (reader.say(Say::CrawlScope))
                select name="scope" {
                    @for (scope, name) in scopes { option value=(scope) { (reader.say(name)) } }
                }
            }
            @for (name, label, value, step) in numbers {
                label {
                    (reader.say(label))
                    input type="number" min="0" step=(step) name=(name) value=(value);
                }
            }
            @for (name, label) in texts {
                label { (reader.say(label)) input type="text" name=(name); }
            }
            button { (reader.say(Say::StartCrawl)) }
        }
    });
}
