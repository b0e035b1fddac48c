//! `wonbon status`: what a store holds and takes.

use std::path::Path;
use std::time::Instant;

use wonbon_app::answers::Status;

use super::open_to_read;
use crate::Outcome;
use crate::batch::thousands;
use crate::output::Output;

/// Show what a store holds, how it decides, and what it takes on disk and in memory.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print it as one line of JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let store = open_to_read(directory)?;
    let open_seconds = started.elapsed().as_secs_f64();
    let status = Status::of(&store, open_seconds)?;
    let mut output = Output::new();
    if args.json {
        output.json_line(&status)?;
    } else {
        output.bytes(table(&status).as_bytes())?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn table(status: &Status) -> String {
    let share = |count: u64| match status.documents {
        0 => String::new(),
        all => format!("{:.1} %", count as f64 * 100.0 / all as f64),
    };
    let each = |bytes: u64| match status.documents {
        0 => String::new(),
        all => format!("{:.0} bytes a document", bytes as f64 / all as f64),
    };
    let mut lines = vec![
        format!("store            {}", status.store),
        format!(
            "decides by       {}, shingles of {} words, seed {}",
            status.rule, status.shingle_words, status.seed
        ),
        format!("dates            {}", status.dates),
        String::new(),
    ];
    for (what, count, note) in [
        ("documents", status.documents, String::new()),
        ("originals", status.originals, share(status.originals)),
        ("copies", status.copies, share(status.copies)),
        ("empty", status.empty, share(status.empty)),
        ("old versions", status.old_versions, String::new()),
    ] {
        lines.push(format!("{what:<16} {:>14}  {note}", thousands(count)));
    }
    if let Some(latest) = &status.latest_sweep {
        lines.push(format!("{:<16} {:>14}  latest {latest}", "sweeps", thousands(status.sweeps)));
    }
    if status.watched > 0 {
        lines.push(format!("{:<16} {:>14}", "watched", thousands(status.watched)));
    }
    lines.push(String::new());
    for (what, bytes) in [
        ("database", status.database_bytes),
        ("index snapshot", status.snapshot_bytes),
        ("search index", status.search_bytes),
        ("shingle index", status.shingles_bytes),
        ("index in memory", status.index_memory_bytes),
    ] {
        lines.push(format!("{what:<16} {:>14}  {}", megabytes(bytes), each(bytes)));
    }
    lines.push(String::new());
    let behind = match status.search_behind {
        0 => "up to date".to_owned(),
        changes => format!("{} changes behind", thousands(changes)),
    };
    lines.push(format!("search           {behind}"));
    lines.push(format!("opened in        {:.2} s", status.open_seconds));
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
