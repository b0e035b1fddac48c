//! `wonbon rebuild`: rebuilds everything that is derived from the database, or decides the whole store again.

use std::io::Write;
use std::path::Path;

use wonbon_documents::Progress;
use wonbon_store::{RebuildConfig, RebuildProgress, Rule, SeedSource, Store};

use super::explained;
use crate::Outcome;
use crate::batch::thousands;
use crate::watcher::Watcher;
use crate::wording::counted;

/// Build the indexes anew from the database, or decide the whole store anew.
///
/// With --rule or --seed, decide the whole store anew from its texts: every document is judged again by the
/// new rule, what people decided stays. The old verdicts are in force until the new ones are complete; after
/// a kill the same command continues. Nothing else may have the store open.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What shall make a copy from now on: `threshold=0.8` or `2of6`.
    #[arg(long, value_name = "RULE")]
    rule: Option<Rule>,
    /// Where the features' permutations shall come from: `secret`, or a number.
    #[arg(long, value_name = "SEED")]
    seed: Option<SeedSource>,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    if args.rule.is_some() || args.seed.is_some() {
        decide_anew(args, directory)?;
    }
    Store::forget_derived(directory).map_err(explained)?;
    let store = Store::open(directory).map_err(explained)?;
    store.catch_up().map_err(explained)?;
    store.shingles().map_err(explained)?;
    let counts = store.counts()?;
    store.close().map_err(explained)?;
    // A closed standard error takes nothing from the answer.
    let _ = writeln!(
        anstream::stderr(),
        "built the index and the search index of {}, the index of shingles of {}",
        counted(counts.originals, "original", "originals"),
        counted(counts.documents, "document", "documents")
    );
    Ok(Outcome::Done)
}

fn decide_anew(args: &Args, directory: &Path) -> anyhow::Result<()> {
    let config = RebuildConfig { rule: args.rule, seed: args.seed.clone() };
    let watcher = Watcher::new();
    let mut phase = None;
    let report = |at: RebuildProgress| {
        if phase != Some(at.phase) {
            phase = Some(at.phase);
            watcher.begin(at.phase.name(), at.documents);
        }
        watcher.advance(at.done);
        !watcher.stop_asked()
    };
    let rebuilt = Store::rebuild_with(directory, &config, report).map_err(explained)?;
    watcher.finish();
    let _ = writeln!(
        anstream::stderr(),
        "decided {} anew by {}, seed {}: {}, {} changed",
        counted(rebuilt.documents, "document", "documents"),
        rebuilt.params.rule,
        rebuilt.params.seed,
        counted(rebuilt.originals, "original", "originals"),
        thousands(rebuilt.changed)
    );
    Ok(())
}
