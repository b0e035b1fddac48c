//! `wonbon copy`: a store from a directory to PostgreSQL, or back.

use std::io::Write as _;
use std::path::PathBuf;

use wonbon_store::Store;

use super::explained;
use crate::Outcome;
use crate::batch::thousands;

/// Copy a store from one place to another: from a directory to PostgreSQL, or back.
///
/// The copy is a store of its own with the same documents, verdicts, versions, sweeps and decisions. It is of one moment,
/// also while others write to the store that is copied. A copy that is cut off leaves nothing.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The store: a directory, or postgres://USER@HOST/DATABASE.
    #[arg(value_name = "FROM")]
    from: PathBuf,
    /// Where the copy is to be; there must be no store.
    #[arg(value_name = "TO")]
    to: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let counts = Store::copy(&args.from, &args.to, |_| true).map_err(explained)?;
    // A closed standard error takes nothing from the answer.
    let _ = writeln!(
        anstream::stderr(),
        "copied {} documents from {} to {}",
        thousands(counts.documents),
        Store::shown_place(&args.from),
        Store::shown_place(&args.to)
    );
    Ok(Outcome::Done)
}
