//! `wonbon backup`: a copy of a store while it is in use.

use std::path::{Path, PathBuf};

use super::{explained, open_to_read};
use crate::Outcome;

/// Write a copy of the store to another directory while others read and write.
///
/// The copy is of one moment. The copy is a store: `wonbon --store DIR status` shows it. Index and search index are built when it
/// is first opened.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The directory of the copy; there must be no store in it.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = open_to_read(directory)?;
    store.backup(&args.directory).map_err(explained)?;
    Ok(Outcome::Done)
}
