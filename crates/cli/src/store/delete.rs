//! `wonbon delete`: documents out of a store.

use std::path::Path;

use wonbon_store::Store;

use super::explained;
use crate::{Outcome, report};

/// Remove documents with all their versions.
///
/// Copies of a removed original are decided again; the earliest becomes an original, unless another
/// original is like it. Exit code 1 if a key was not there.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Keys of the documents: ids or URLs.
    #[arg(required = true, value_name = "KEY")]
    keys: Vec<String>,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let store = Store::open(directory).map_err(explained)?;
    let mut outcome = Outcome::Done;
    for key in &args.keys {
        if !store.delete(key).map_err(explained)? {
            report::refused(&anyhow::anyhow!("there is no document `{key}`"));
            outcome = Outcome::Refused;
        }
    }
    store.close().map_err(explained)?;
    Ok(outcome)
}
