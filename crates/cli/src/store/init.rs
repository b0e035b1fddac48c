//! `wonbon init`: a new store, with what decides in it.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;

use wonbon_store::{Rule, SeedSource, Store, StoreParams};
use wonbon_text::shingles::DEFAULT_SHINGLE_WORDS;
use wonbon_time::Dates;

use super::explained;
use crate::Outcome;
use crate::options::shingle_words;

/// Make a store.
///
/// These choices decide what is a copy in the store. They are kept in it, and other values are refused
/// later; `wonbon rebuild` decides a store anew. `wonbon add` makes a store with the defaults if there is
/// none.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What makes a copy: `threshold=0.8` (exact resemblance of at least 0.8) or `2of6` (the papers'
    /// rule: at least 2 of 6 features agree; verified to resemble by at least 0.5, or another floor as in
    /// `2of6,floor=0.3`).
    #[arg(long, value_name = "RULE", default_value_t = Rule::default())]
    rule: Rule,
    /// Words in a shingle.
    #[arg(long, value_name = "W", default_value_t = DEFAULT_SHINGLE_WORDS, value_parser = shingle_words)]
    shingle: NonZeroUsize,
    /// Where the features' permutations come from: `secret`, drawn now and kept in the store, so that
    /// nobody can tell which words to change to slip past; or a number, which gives the same features to
    /// everyone (`wonbon dedup` uses 0).
    #[arg(long, value_name = "SEED", default_value = "secret")]
    seed: SeedSource,
    /// Which dates decide who is the original in this store, unless an add says otherwise: `created`,
    /// or `claimed` to take the date that a page claims of itself where there is no creation time.
    #[arg(long, value_name = "DATES", default_value_t)]
    dates: Dates,
}

pub(crate) fn run(args: &Args, directory: &Path) -> anyhow::Result<Outcome> {
    let params = StoreParams {
        rule: args.rule,
        shingle_words: args.shingle,
        seed: args.seed.clone(),
        dates: args.dates,
        ..StoreParams::default()
    };
    let store = Store::create(directory, &params).map_err(explained)?;
    let (features, index) = params.features();
    store.close()?;
    // A closed standard error takes nothing from the answer.
    let _ = writeln!(
        anstream::stderr(),
        "made {}: copies by {}, shingles of {} words, seed {}, dates {}; {} features of {} min-values, {} must agree",
        Store::shown_place(directory),
        params.rule,
        params.shingle_words,
        params.seed,
        params.dates,
        features.groups,
        features.group_size,
        index.agreeing
    );
    Ok(Outcome::Done)
}
