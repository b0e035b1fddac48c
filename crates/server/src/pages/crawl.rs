//! A crawl for people: a form to start one, and one as it goes: counters, curves, hosts, failures.
//!
//! The curves are over the pages that came. While a crawl runs the share is that of all known links, the
//! nearest there is to the PageRank; when it has ended it is the PageRank of all known pages.

use wonbon_app::jobs::{CrawlProgress, Job, JobState, USUAL_PAGES};
use wonbon_crawl::order::ORDER_NAMES;
use wonbon_pages::{
    Card, Cell, Moment, Page, Scale, Series, Shape, TimePlot, bytes, escape, thousands,
};

use super::frame::{page, reply};
use super::jobs::{
    begin_live, end_live, facts, job_table, notes, parameters, progress_bar, state_part,
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
            page.markup(format_args!("<div id=job-list data-live=progress>"));
            job_table(page, reader, &others);
            page.markup(format_args!("</div>"));
        });
    }
    reply(reader, "/crawl", page)
}

fn one(page: &mut Page, reader: &Reader, job: &Job) {
    let title = reader.tell(Say::CrawlTitle, &[&job.number.to_string(), &job.asked.about()]);
    page.subheading(&title);
    begin_live(page, &[job]);
    state_part(page, reader, job, true);
    page.markup(format_args!("<div id=job-progress data-live=progress>"));
    progress_bar(page, reader, job);
    let crawl = job.crawl.clone().unwrap_or_default();
    page.cards(&cards(reader, job, &crawl));
    curves(page, reader, &crawl);
    let sites = !crawl.sites.is_empty();
    page.columns(|page| {
        if sites {
            of_sites(page, reader, &crawl);
        } else {
            of_hosts(page, reader, &crawl);
        }
        of_outcomes(page, reader, &crawl);
    });
    of_failures(page, reader, &crawl);
    notes(page, reader, job);
    facts(page, reader, job);
    page.markup(format_args!("</div>"));
    end_live(page);
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

fn of_hosts(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
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

fn of_sites(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
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

fn of_outcomes(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
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

fn of_failures(page: &mut Page, reader: &Reader, crawl: &CrawlProgress) {
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
    page.markup(format_args!(
        "<form class=start action=\"/crawl\" method=post>{}<label class=long>{}<textarea name=seeds rows=3 required placeholder=\"https://\"></textarea></label>",
        form_mark(reader),
        escape(reader.say(Say::Seeds))
    ));
    page.markup(format_args!("<label>{}<select name=order>", escape(reader.say(Say::Ordering))));
    for order in ORDER_NAMES {
        let chosen = if order.name() == "damped" { " selected" } else { "" };
        page.markup(format_args!(
            "<option value=\"{0}\"{chosen} title=\"{1}\">{0}</option>",
            escape(order.name()),
            escape(order.description())
        ));
    }
    page.markup(format_args!(
        "</select></label><label>{}<select name=scope>",
        escape(reader.say(Say::CrawlScope))
    ));
    for (scope, name) in
        [("domain", Say::ScopeDomain), ("host", Say::ScopeHost), ("all", Say::ScopeAll)]
    {
        page.markup(format_args!("<option value={scope}>{}</option>", escape(reader.say(name))));
    }
    page.markup(format_args!("</select></label>"));
    let usual = USUAL_PAGES.to_string();
    for (name, label, value, step) in [
        ("pages", Say::MostPages, usual.as_str(), "1"),
        ("delay", Say::DelaySeconds, "1", "any"),
        ("depth", Say::MostDepth, "", "1"),
        ("site_pages", Say::MostSitePages, "", "1"),
    ] {
        page.markup(format_args!(
            "<label>{}<input type=number min=0 step={step} name={name} value=\"{value}\"></label>",
            escape(reader.say(label))
        ));
    }
    for (name, label) in [
        ("include", Say::OnlyPaths),
        ("exclude", Say::NoPaths),
        ("agent", Say::Agent),
        ("sweep_of", Say::SweepOf),
    ] {
        page.markup(format_args!(
            "<label>{}<input type=text name={name}></label>",
            escape(reader.say(label))
        ));
    }
    page.markup(format_args!("<button>{}</button></form>", escape(reader.say(Say::StartCrawl))));
}
