//! `wonbon rebuild`: rebuilds everything that is derived from the database.

use std::io::Write;
use std::path::Path;

use wonbon_store::Store;

use super::explained;
use crate::Outcome;
use crate::batch::thousands;

/// Build everything derived anew from the database: the index, the search index, the index of shingles.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    Store::forget_derived(directory).map_err(explained)?;
    let store = Store::open(directory).map_err(explained)?;
    store.catch_up().map_err(explained)?;
    store.shingles().map_err(explained)?;
    let counts = store.counts()?;
    store.close().map_err(explained)?;
    // A closed standard error takes nothing from the answer.
    let _ = writeln!(
        anstream::stderr(),
        "built the index and the search index of {} originals, the index of shingles of {} documents",
        thousands(counts.originals),
        thousands(counts.documents)
    );
    Ok(Outcome::Done)
}
