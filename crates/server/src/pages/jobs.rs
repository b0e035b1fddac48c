//! Jobs for people: which there are, one of them, and forms to start, pause, resume and cancel them.
//!
//! When an event of the job arrives, the script reloads the parts marked with `data-live`; without script,
//! reloading the page shows the same.

use maud::{Markup, html};
use wonbon_app::jobs::{Job, JobState, Wanted};
use wonbon_pages::{Cell, Page, bytes, thousands};

use super::frame::{address, page, reply};
use super::pieces::{form_mark, link, next_link, shown_time};
use crate::messages::Say;
use crate::view::{Reader, Reply};

/// A service without a place for jobs says so.
pub(crate) fn no_jobs_page(reader: &Reader, here: &str) -> Reply {
    let title = if here == "/crawl" { Say::Crawl } else { Say::Jobs };
    let mut page = page(reader, reader.say(title));
    page.heading(reader.say(title));
    super::coded_paragraph(&mut page, reader.say(Say::NoJobsHere));
    reply(reader, here, page)
}

pub(super) fn kind_word(reader: &Reader, kind: &str) -> &'static str {
    reader.say(match kind {
        "import" => Say::JobImport,
        "dedup" => Say::JobDedup,
        "cluster" => Say::JobCluster,
        _ => Say::JobCrawl,
    })
}

fn state_word(reader: &Reader, job: &Job) -> &'static str {
    reader.say(match (job.wanted, job.state) {
        (Some(Wanted::Paused), JobState::Running) => Say::JobPausing,
        (Some(Wanted::Cancelled), JobState::Running) => Say::JobCancelling,
        (_, JobState::Waiting) => Say::JobWaiting,
        (_, JobState::Running) => Say::JobRunning,
        (_, JobState::Paused) => Say::JobPaused,
        (_, JobState::Done) => Say::JobDone,
        (_, JobState::Cancelled) => Say::JobCancelled,
        (_, JobState::Failed) => Say::JobFailed,
    })
}

/// How a job is, as a mark that does not rest on its colour.
fn state_mark(reader: &Reader, job: &Job) -> Markup {
    html! { span.state.(job.state.name()) { (state_word(reader, job)) } }
}

/// The word for something that a job counts.
fn count_word(reader: &Reader, name: &str) -> String {
    let say = match name {
        "documents" => Say::Documents,
        "originals" => Say::Originals,
        "copies" => Say::CopiesCount,
        "empty" => Say::WithoutWordsCount,
        "updated" => Say::UpdatedCount,
        "unchanged" => Say::UnchangedWord,
        "redirects" => Say::RedirectsCount,
        "refused" => Say::RefusedCount,
        "rows" => Say::RowsCount,
        "skipped" => Say::SkippedCount,
        "families" => Say::FamiliesCount,
        "compared" => Say::ComparedCount,
        "duplicates" => Say::DuplicatesCount,
        "pairs" => Say::PairsCount,
        _ => return name.to_owned(),
    };
    reader.say(say).to_owned()
}

fn phase_word(reader: &Reader, phase: &str) -> String {
    let say = match phase {
        "read" | "sketch" => Say::PhaseRead,
        "write" => Say::PhaseWrite,
        "crawl" => return reader.say(Say::JobCrawl).to_owned(),
        "" => return String::new(),
        _ => Say::PhaseCompare,
    };
    format!("{} ({phase})", reader.say(say))
}

/// How far a job is: a bar, and the same in words.
pub(super) fn progress_bar(page: &mut Page, reader: &Reader, job: &Job) {
    let progress = &job.progress;
    if progress.phase.is_empty() || job.state == JobState::Done {
        return;
    }
    let phase = phase_word(reader, &progress.phase);
    let is_bytes = matches!(progress.phase.as_str(), "read" | "sketch" | "write");
    let shown = |number: u64| if is_bytes { bytes(number) } else { thousands(number) };
    let told = match progress.total {
        Some(total) => reader.tell(Say::DoneOf, &[&shown(progress.done), &shown(total)]),
        None => shown(progress.done),
    };
    page.markup(html! {
        p.progress {
            (phase) " "
            @if let Some(total) = progress.total {
                progress value=(progress.done.min(total)) max=(total) aria-label=(phase) {}
            }
            " " span { (told) }
        }
    });
}

/// How a job is, and what can be done about it.
pub(super) fn state_part(page: &mut Page, reader: &Reader, job: &Job, is_crawl_page: bool) {
    let buttons: &[(&str, Say)] = match (job.state, job.wanted) {
        (JobState::Running, Some(Wanted::Cancelled)) | (JobState::Done, _) => &[],
        (JobState::Running, Some(Wanted::Paused)) => &[("cancel", Say::CancelJob)],
        (JobState::Waiting | JobState::Running, _) => {
            &[("pause", Say::PauseJob), ("cancel", Say::CancelJob)]
        }
        (JobState::Paused, _) => &[("resume", Say::ResumeJob), ("cancel", Say::CancelJob)],
        (JobState::Cancelled | JobState::Failed, _) => &[("resume", Say::ResumeJob)],
    };
    page.markup(html! {
        div id="job-state" data-live="state" {
            p role="status" { (state_mark(reader, job)) }
            @if let Some(error) = &job.error { p.error lang="en" { (error) } }
            @if !buttons.is_empty() {
                form.change action="/job" method="post" {
                    (form_mark(reader))
                    input type="hidden" name="number" value=(job.number);
                    input type="hidden" name="crawl" value=(is_crawl_page);
                    @for (change, name) in buttons {
                        button name="change" value=(change) class=[(*change == "cancel").then_some("quiet")] {
                            (reader.say(*name))
                        }
                    }
                }
            }
        }
    });
}

/// What a script may keep up to date, if something can still change.
pub(super) fn live(page: &mut Page, jobs: &[&Job], content: impl FnOnce(&mut Page)) {
    let sources: Vec<String> = jobs
        .iter()
        .filter(|job| !job.state.is_end())
        // A browser has few connections to one server, and needs some to load pages.
        .take(2)
        .map(|job| format!("/v1/jobs/{}/events", job.number))
        .collect();
    page.within(|inside| html! { div data-events=(sources.join(" ")) { (inside) } }, content);
}

/// The part of [`live`] that changes with a job's progress.
pub(super) fn live_progress(page: &mut Page, content: impl FnOnce(&mut Page)) {
    let wrap = |inside| html! { div id="job-progress" data-live="progress" { (inside) } };
    page.within(wrap, content);
}

/// The list of jobs, which changes with their progress.
pub(super) fn live_list(page: &mut Page, content: impl FnOnce(&mut Page)) {
    let wrap = |inside| html! { div id="job-list" data-live="progress" { (inside) } };
    page.within(wrap, content);
}

/// When a job was asked for, began and ended, and who asked.
pub(super) fn facts(page: &mut Page, reader: &Reader, job: &Job) {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut row = |name: Say, value: String| {
        rows.push(vec![reader.say(name).into(), Cell::Text(value)]);
    };
    if let Some(who) = &job.who {
        row(Say::StartedBy, who.clone());
    }
    row(Say::AskedFor, shown_time(&job.created));
    for (name, value) in [(Say::BeganAt, &job.started), (Say::EndedAt, &job.ended)] {
        if let Some(value) = value {
            row(name, shown_time(value));
        }
    }
    if job.resumed > 0 {
        row(Say::WentOn, thousands(job.resumed.into()));
    }
    row(Say::FilesIn, format!("{}/", job.number));
    page.section(reader.say(Say::Facts), |page| page.table(&[], &rows));
}

/// What was asked, each with its name as programs write it.
pub(super) fn parameters(page: &mut Page, reader: &Reader, job: &Job) {
    let asked = serde_json::to_value(&job.request).unwrap_or_default();
    let rows: Vec<Vec<Cell>> = asked
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| {
            let empty = value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(|of| of.values().all(serde_json::Value::is_null));
            !(value.is_null() || empty || value.as_bool() == Some(false))
        })
        .map(|(name, value)| {
            let text = match value {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Array(values) => {
                    let texts = values.iter().filter_map(|value| value.as_str());
                    texts.take(20).collect::<Vec<_>>().join(" ")
                }
                value => value.to_string(),
            };
            vec![Cell::Code(name.clone()), Cell::Text(text)]
        })
        .collect();
    page.section(reader.say(Say::WasAsked), |page| page.table(&[], &rows));
}

pub(super) fn notes(page: &mut Page, reader: &Reader, job: &Job) {
    if job.progress.notes.is_empty() {
        return;
    }
    page.section(reader.say(Say::Notes), |page| {
        page.markup(html! {
            ul.notes { @for note in &job.progress.notes { li lang="en" { (note) } } }
        });
    });
}

/// The first rows and files that could not be taken, and why.
fn skipped(page: &mut Page, reader: &Reader, job: &Job) {
    let skipped = job.result.as_ref().and_then(|result| result["skipped_first"].as_array());
    let Some(skipped) = skipped.filter(|skipped| !skipped.is_empty()) else { return };
    page.section(reader.say(Say::SkippedFirst), |page| {
        page.markup(html! {
            ul.skipped {
                @for row in skipped {
                    li {
                        code {
                            (row["file"].as_str().unwrap_or_default())
                            @if let Some(row) = row["row"].as_u64() { ":" (row) }
                        }
                        " " span lang="en" { (row["why"].as_str().unwrap_or_default()) }
                    }
                }
            }
        });
    });
}

/// `/job`.
pub(crate) fn job_page(reader: &Reader, job: &Job, is_here: bool) -> Reply {
    let kind = kind_word(reader, job.request.kind());
    let title = reader.tell(Say::JobTitle, &[&job.number.to_string(), kind]);
    let mut page = page(reader, &title);
    page.heading(&title);
    page.lead(&job.request.about());
    // An instance that does not run it shows it as it was when the page was made.
    let watched: &[&Job] = if is_here { &[job] } else { &[] };
    live(&mut page, watched, |page| {
        match is_here {
            true => state_part(page, reader, job, false),
            false => page.markup(html! { p role="status" { (state_mark(reader, job)) } }),
        }
        live_progress(page, |page| came_of(page, reader, job));
    });
    parameters(&mut page, reader, job);
    reply(reader, "/jobs", page)
}

/// How far a job is and what came of it.
fn came_of(page: &mut Page, reader: &Reader, job: &Job) {
    progress_bar(page, reader, job);
    if job.request.is_crawl() {
        let number = job.number.to_string();
        let shown = link("/crawl", &[("number", &number)], reader.say(Say::ShowCrawl));
        page.markup(html! { p { (shown) } });
    } else if !job.progress.counts.is_empty() {
        let rows: Vec<Vec<Cell>> = job
            .progress
            .counts
            .iter()
            .map(|(name, count)| vec![count_word(reader, name).into(), (*count).into()])
            .collect();
        page.section(reader.say(Say::CameOf), |page| {
            let counts = |inside| html! { div.counts { (inside) } };
            page.within(counts, |page| page.table(&[], &rows));
        });
    }
    if let Some(durable) = job.durable.as_ref().filter(|_| job.state != JobState::Done) {
        let pieces = thousands(durable.pieces);
        let documents = thousands(durable.summary.documents);
        page.paragraph(&reader.tell(Say::DurableSoFar, &[&documents, &pieces]));
    }
    skipped(page, reader, job);
    notes(page, reader, job);
    facts(page, reader, job);
}

/// Jobs as a table.
pub(super) fn job_table(page: &mut Page, reader: &Reader, jobs: &[&Job]) {
    let rows: Vec<Vec<Cell>> = jobs
        .iter()
        .map(|job| {
            let path = if job.request.is_crawl() { "/crawl" } else { "/job" };
            let number = job.number.to_string();
            let named =
                html! { a.number href=(address(path, &[("number", &number)])) { (number) } };
            let far = match (job.progress.total, job.state) {
                (_, JobState::Done) => "100 %".to_owned(),
                (_, JobState::Failed) => "–".to_owned(),
                (Some(total), _) if total > 0 => {
                    format!("{} %", job.progress.done.min(total) * 100 / total)
                }
                _ => "–".to_owned(),
            };
            vec![
                named.into(),
                kind_word(reader, job.request.kind()).into(),
                state_mark(reader, job).into(),
                job.request.about().into(),
                Cell::Number(far),
                shown_time(&job.created).into(),
            ]
        })
        .collect();
    let columns = [
        Say::JobNumber,
        Say::JobKind,
        Say::JobState,
        Say::JobAbout,
        Say::JobProgress,
        Say::AskedFor,
    ]
    .map(|word| reader.say(word));
    page.table(&columns, &rows);
}

/// `/jobs`. Without inputs the jobs are those of another instance.
pub(crate) fn jobs_page(
    reader: &Reader,
    jobs: &[Job],
    next: Option<&str>,
    inputs: Option<&[String]>,
) -> Reply {
    let mut page = page(reader, reader.say(Say::Jobs));
    page.heading(reader.say(Say::Jobs));
    page.lead(reader.say(Say::JobsLead));
    let jobs: Vec<&Job> = jobs.iter().collect();
    let watched = if inputs.is_some() { &jobs[..] } else { &[] };
    live(&mut page, watched, |page| {
        live_list(page, |page| {
            if jobs.is_empty() {
                page.paragraph(reader.say(Say::NoJobsYet));
            } else {
                job_table(page, reader, &jobs);
            }
        });
    });
    next_link(&mut page, reader, "/jobs", &[], next);
    match inputs {
        Some(inputs) => {
            page.section(reader.say(Say::StartJob), |page| start_form(page, reader, inputs));
        }
        None => page.paragraph(reader.say(Say::JobsElsewhere)),
    }
    reply(reader, "/jobs", page)
}

fn start_form(page: &mut Page, reader: &Reader, inputs: &[String]) {
    page.markup(html! {
        form.start action="/jobs" method="post" {
            (form_mark(reader))
            label {
                (reader.say(Say::JobKind))
                select name="kind" {
                    @for kind in ["import", "dedup", "cluster"] {
                        option value=(kind) { (kind_word(reader, kind)) }
                    }
                }
            }
            label.long {
                (reader.say(Say::JobInputs))
                textarea name="inputs" rows="3" required {}
            }
            @for (name, label) in [("threshold", Say::JobThreshold), ("sweep", Say::JobSweep)] {
                label { (reader.say(label)) input type="text" name=(name); }
            }
            button { (reader.say(Say::StartJob)) }
        }
    });
    if inputs.is_empty() {
        page.paragraph(reader.say(Say::NoInputs));
    } else {
        page.paragraph(&reader.tell(Say::InputsAre, &[&inputs.join(", ")]));
    }
}
