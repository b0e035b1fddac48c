//! Decisions: the forms on the pages of documents and families, and `/decisions`, the log.
//!
//! A form returns to its own page, which then shows the recorded entry and an Undo button. The button names
//! that entry, so it never undoes a decision that somebody else made in between.

use maud::{Markup, html};
use wonbon_pages::{Cell, Page};
use wonbon_store::{Decision, DecisionChange, DecisionEntry, Kind, StoredDocument};

use super::frame::{address, page, reply};
use super::pieces::{document_link, form_mark, kind_mark, link, next_link, time};
use crate::inquiry::Inquiry;
use crate::messages::Say;
use crate::problem::Problem;
use crate::view::{Reader, Reply};

/// The pages that a form leads back to.
const DOCUMENT: &str = "document";
const FAMILY: &str = "family";

/// Where a person goes from a decision: back to the page with its form, which tells of the entry.
pub(crate) fn back_from_decision(back: &str, key: &str, entry: Option<u64>) -> String {
    let path = if back == FAMILY { "/family" } else { "/document" };
    let entry = entry.map(|entry| entry.to_string());
    let mut question = vec![("key", key)];
    question.extend(entry.as_deref().map(|entry| ("decided", entry)));
    address(path, &question)
}

fn decision_word(reader: &Reader, decision: Option<Decision>) -> &'static str {
    match decision {
        Some(Decision::Original) => reader.say(Say::DecisionOriginal),
        Some(Decision::NotACopy) => reader.say(Say::DecisionNotACopy),
        None => "–",
    }
}

/// The mark of a decision in effect; empty if there is none.
pub(super) fn decision_mark(reader: &Reader, decision: Option<Decision>) -> Markup {
    html! { @if decision.is_some() { span.kind.decided { (decision_word(reader, decision)) } } }
}

/// The same for lists, where it stands beside what the document is: what was done, not what it made of it.
pub(super) fn decided_mark(reader: &Reader, decision: Option<Decision>) -> Markup {
    let word = decision.map(|decision| match decision {
        Decision::Original => Say::WasMadeTheOriginal,
        Decision::NotACopy => Say::WasDecidedNotACopy,
    });
    html! { @if let Some(word) = word { span.kind.decided { (reader.say(word)) } } }
}

/// What a document in a list is, and what was decided of it.
pub(super) fn standing_marks(reader: &Reader, kind: Kind, decision: Option<Decision>) -> Markup {
    html! {
        (kind_mark(reader, kind))
        @if decision.is_some() { " " (decided_mark(reader, decision)) }
    }
}

/// A form about a document.
fn form(reader: &Reader, action: &str, key: &str, back: &str, fields: &Markup) -> Markup {
    html! {
        form.decide action=(action) method="post" {
            (form_mark(reader))
            input type="hidden" name="key" value=(key);
            input type="hidden" name="back" value=(back);
            (fields)
        }
    }
}

fn undo_form(reader: &Reader, key: &str, entry: u64, back: &str) -> Markup {
    let fields = html! {
        input type="hidden" name="entry" value=(entry);
        button.quiet { (reader.say(Say::TakeBack)) }
    };
    form(reader, "/decisions/undo", key, back, &fields)
}

/// The buttons for what is not in effect.
fn buttons(reader: &Reader, document: &StoredDocument) -> Markup {
    let decisions =
        [(Decision::Original, Say::MakeThisTheOriginal), (Decision::NotACopy, Say::ThisIsNotACopy)];
    html! {
        @for (decision, word) in decisions {
            @if document.decision != Some(decision) {
                button.quiet name="decision" value=(decision.name()) { (reader.say(word)) }
            }
        }
    }
}

/// The last decision about a document that can be taken back.
fn in_effect(
    service: &Inquiry,
    document: &StoredDocument,
) -> Result<Option<DecisionEntry>, Problem> {
    if document.decision.is_none() {
        return Ok(None);
    }
    Ok(service.store.decision_in_effect(&document.key)?)
}

/// After a decision: what was recorded, and the way back.
pub(super) fn notice(
    page: &mut Page,
    service: &Inquiry,
    reader: &Reader,
    decided: Option<u64>,
    back: &str,
) -> Result<(), Problem> {
    let Some(number) = decided else { return Ok(()) };
    let before = number.checked_add(1);
    let entry = service.store.decisions(None, before, 1)?.pop();
    let Some(entry) = entry.filter(|entry| entry.entry == number) else { return Ok(()) };
    let document = service.store.get(&entry.key)?;
    // What came after it is told by the page itself.
    if document.is_none_or(|document| document.decision_entry != number) {
        return Ok(());
    }
    let log = link("/decisions", &[], &reader.tell(Say::RecordedAs, &[&number.to_string()]));
    page.markup(html! {
        div.notice role="status" {
            p { b { (describe_entry(reader, &entry)) } " " (document_link(&entry.key, "")) " " small { (log) } }
            @if entry.change == DecisionChange::Decided {
                (undo_form(reader, &entry.key, number, back))
            }
        }
    });
    Ok(())
}

/// What is decided of a document, and the form to decide otherwise.
pub(super) fn section(
    page: &mut Page,
    service: &Inquiry,
    reader: &Reader,
    document: &StoredDocument,
) -> Result<(), Problem> {
    let entry = in_effect(service, document)?;
    let log = (document.decision_entry > 0)
        .then(|| link("/decisions", &[("key", &document.key)], reader.say(Say::DecisionsOfThis)));
    if document.verdict.kind == Kind::Empty && entry.is_none() {
        return Ok(());
    }
    page.section(reader.say(Say::Decision), |page| {
        match &entry {
            Some(entry) => page.markup(html! {
                div.decision {
                    p {
                        (decision_mark(reader, document.decision)) " "
                        (reader.tell(Say::DecidedBy, &[&entry.who, &time(entry.time)]))
                        @if let Some(reason) = &entry.reason { br; q dir="auto" { (reason) } }
                    }
                    (undo_form(reader, &document.key, entry.entry, DOCUMENT))
                }
            }),
            None => page.paragraph(reader.say(Say::NothingDecided)),
        }
        let fields = html! {
            label.f-text {
                (reader.say(Say::ReasonIfAny))
                input type="text" name="reason" maxlength="1000";
            }
            (buttons(reader, document))
        };
        page.markup(html! {
            @if document.verdict.kind != Kind::Empty {
                (form(reader, "/decisions", &document.key, DOCUMENT, &fields))
            }
            @if let Some(log) = &log { p { (log) } }
        });
    });
    Ok(())
}

/// What can be decided of a member, in a family's table.
pub(super) fn member_cell(
    service: &Inquiry,
    reader: &Reader,
    document: &StoredDocument,
) -> Result<Cell, Problem> {
    let entry = in_effect(service, document)?;
    let cell = html! {
        div.decision {
            (decision_mark(reader, document.decision))
            @if let Some(entry) = &entry {
                (undo_form(reader, &document.key, entry.entry, FAMILY))
            }
            @if document.verdict.kind != Kind::Empty {
                (form(reader, "/decisions", &document.key, FAMILY, &buttons(reader, document)))
            }
        }
    };
    Ok(cell.into())
}

/// Words that do not break within.
fn unbroken(words: &str) -> Cell {
    html! { span.keep { (words) } }.into()
}

/// What an entry tells, in a few words.
fn describe_entry(reader: &Reader, entry: &DecisionEntry) -> String {
    match (entry.change, entry.after) {
        (DecisionChange::Decided, Some(Decision::Original)) => {
            reader.say(Say::WasMadeTheOriginal).to_owned()
        }
        (DecisionChange::Decided, _) => reader.say(Say::WasDecidedNotACopy).to_owned(),
        (DecisionChange::Undone, _) => {
            let undone = entry.undoes.unwrap_or_default().to_string();
            reader.tell(Say::WasTakenBack, &[&undone])
        }
        (DecisionChange::Removed, _) => reader.say(Say::EndedWithItsDocument).to_owned(),
    }
}

/// `/decisions`.
pub(crate) fn decisions_page(
    reader: &Reader,
    key: Option<&str>,
    entries: &[DecisionEntry],
    next: Option<&str>,
) -> Reply {
    let mut page = page(reader, reader.say(Say::Decisions));
    page.heading(reader.say(Say::Decisions));
    page.lead(reader.say(Say::DecisionsLead));
    if let Some(key) = key {
        let all = link("/decisions", &[], reader.say(Say::AllDecisions));
        page.markup(html! { p { (document_link(key, "")) " · " (all) } });
    }
    if entries.is_empty() {
        page.paragraph(reader.say(Say::NoDecisionsYet));
        return reply(reader, "/decisions", page);
    }
    let rows: Vec<Vec<Cell>> = entries
        .iter()
        .map(|entry| {
            let reason = entry.reason.as_deref().unwrap_or_default();
            vec![
                Cell::Number(entry.entry.to_string()),
                time(entry.time).into(),
                unbroken(&entry.who),
                describe_entry(reader, entry).into(),
                document_link(&entry.key, "").into(),
                unbroken(decision_word(reader, entry.before)),
                unbroken(decision_word(reader, entry.after)),
                html! { span dir="auto" { (reason) } }.into(),
            ]
        })
        .collect();
    let columns = [
        Say::EntryNumber,
        Say::When,
        Say::Who,
        Say::WhatHappened,
        Say::Document,
        Say::Before,
        Say::After,
        Say::Reason,
    ]
    .map(|word| reader.say(word));
    page.table(&columns, &rows);
    let question: Vec<(&str, &str)> = key.map(|key| ("key", key)).into_iter().collect();
    next_link(&mut page, reader, "/decisions", &question, next);
    reply(reader, "/decisions", page)
}
