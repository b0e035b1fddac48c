//! `wonbon restore`: a store made of a backup.

use std::io::Write;
use std::path::{Path, PathBuf};

use wonbon_store::{OldStore, Store, StoreError};

use super::explained;
use crate::Outcome;

/// Make a store of a backup, in the directory that --store names.
///
/// The copy is checked, every page, row and text, before it takes its place. A store that is there
/// already is never overwritten and never deleted. Index and search index are built when the restored
/// store is first opened.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory of the backup, as `wonbon backup` wrote it.
    #[arg(value_name = "BACKUP")]
    backup: PathBuf,
    /// Rename what is at --store to `DIR.before-restore` first, with everything in it.
    #[arg(long)]
    move_old_aside: bool,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let old = if args.move_old_aside { OldStore::MoveAside } else { OldStore::Refuse };
    let aside = Store::restore(&args.backup, directory, old).map_err(|error| match error {
        StoreError::AlreadyThere { .. } | StoreError::NotEmpty { .. } => {
            anyhow::anyhow!("{error} (--move-old-aside keeps what is there under another name)")
        }
        other => explained(other),
    })?;
    let mut stderr = anstream::stderr();
    // A closed standard error takes nothing from what was done.
    let _ = writeln!(stderr, "restored {} to {}", args.backup.display(), directory.display());
    if let Some(aside) = aside {
        let _ = writeln!(stderr, "what was there is in {}", aside.display());
    }
    Ok(Outcome::Done)
}
