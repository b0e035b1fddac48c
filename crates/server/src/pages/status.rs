//! `/status`: what the store holds and how much room it takes.

use maud::html;
use wonbon_app::answers::Status;
use wonbon_pages::{Card, Cell, bytes, thousands};

use super::frame::{page, reply};
use crate::inquiry::Inquiry;
use crate::messages::Say;
use crate::view::{Reader, Reply};

/// `/status`.
pub(crate) fn status_page(service: &Inquiry, reader: &Reader, status: &Status) -> Reply {
    let mut page = page(reader, reader.say(Say::Status));
    page.heading(reader.say(Say::Status));
    page.lead(
        &reader
            .tell(Say::DecidesBy, &[&status.rule, &status.shingle_words.to_string(), &status.seed]),
    );
    let share = |part: u64| match status.documents {
        0 => String::new(),
        all => format!("{:.1} %", part as f64 * 100.0 / all as f64),
    };
    let cards: Vec<Card> = [
        (Say::Documents, status.documents, String::new()),
        (Say::Originals, status.originals, share(status.originals)),
        (Say::CopiesCount, status.copies, share(status.copies)),
        (Say::WithoutWordsCount, status.empty, share(status.empty)),
        (Say::OldVersions, status.old_versions, String::new()),
        (Say::SweepsCount, status.sweeps, status.latest_sweep.clone().unwrap_or_default()),
        (Say::WatchedCount, status.watched, String::new()),
    ]
    .into_iter()
    .map(|(name, number, note)| Card {
        number: thousands(number),
        name: reader.say(name).to_owned(),
        note,
    })
    .collect();
    page.cards(&cards);
    page.section(reader.say(Say::Takes), |page| {
        let each = |bytes: u64| match status.documents {
            0 => String::new(),
            all => thousands((bytes as f64 / all as f64).round() as u64),
        };
        let rows: Vec<Vec<Cell>> = [
            (Say::PartDatabase, status.database_bytes),
            (Say::PartSnapshot, status.snapshot_bytes),
            (Say::PartSearch, status.search_bytes),
            (Say::PartShingles, status.shingles_bytes),
            (Say::PartMemory, status.index_memory_bytes),
        ]
        .into_iter()
        .map(|(name, count)| {
            vec![reader.say(name).into(), Cell::Number(bytes(count)), Cell::Number(each(count))]
        })
        .collect();
        let columns = [Say::Part, Say::Size, Say::BytesEach].map(|word| reader.say(word));
        page.table(&columns, &rows);
    });
    page.section(reader.say(Say::Service), |page| {
        let behind = match status.search_behind {
            0 => reader.say(Say::UpToDate).to_owned(),
            changes => reader.tell(Say::ChangesBehind, &[&thousands(changes)]),
        };
        let waiting = service.metrics.waiting.get();
        let rows: Vec<Vec<Cell>> = [
            (Say::Search, behind),
            (Say::OpenedIn, format!("{:.2} s", status.open_seconds)),
            (Say::Queue, thousands(waiting.max(0).unsigned_abs())),
            (Say::VersionOfProgram, env!("CARGO_PKG_VERSION").to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| vec![reader.say(name).into(), Cell::Text(value)])
        .collect();
        page.table(&[], &rows);
        page.markup(html! { p { a href="/metrics" { "/metrics" } } });
    });
    reply(reader, "/status", page)
}
