//! `wonbon cluster`: the 1997 paper's clustering of a whole collection, and its look-ups.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Context;
use clap::Subcommand;
use serde_json::json;
use wonbon_app::requests::{CLUSTER_THRESHOLD, ClusterRequest};
use wonbon_cluster::clustering::{
    ClusterConfig, ClusterMethod, ClusterSummary, Clusters, Lookups, Policy, cluster, cluster_again,
};
use wonbon_cluster::progress::PhaseTime;
use wonbon_sketch::Width;

use crate::batch::{
    CorpusOptions, DateOptions, RunOptions, STANDARD_ERROR, end_run, tell_fields, thousands,
};
use crate::options::threshold;
use crate::output::Output;
use crate::watcher::Watcher;
use crate::wording::counted;
use crate::{Outcome, report};

/// Cluster a whole collection by its sketches, as Broder et al. did the web in 1997.
///
/// INPUT as in `dedup`. OUT is a folder that must not exist yet; it appears when complete:
/// `clusters.jsonl` (one cluster a line), `common-shingles.tsv` (shingles that were ignored),
/// `lookups/` (URL to document, document to cluster, cluster to documents, document to URL),
/// `again/` (for other thresholds) and `summary.json`. The work in progress is in
/// OUT.partial; the same command continues a killed run from the last finished part.
///
/// Resemblance is estimated from samples of one shingle in 25: good for finding related documents of
/// some length, not for short ones. `dedup` verifies exactly.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    corpus: CorpusOptions,
    #[command(flatten)]
    dates: DateOptions,
    /// Words in a shingle.
    #[arg(long, value_name = "W", default_value = "10")]
    shingle: NonZeroUsize,
    /// One in so many shingles is kept.
    #[arg(long, value_name = "M", default_value_t = 25)]
    modulus: u64,
    /// Bits of a kept shingle.
    #[arg(long, value_name = "BITS", default_value = "40", value_parser = ["40", "64"])]
    bits: String,
    /// Ignore shingles that more documents than this have.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    common: u32,
    #[command(flatten)]
    last: LastPhase,
    /// Cluster by super-shingles, runs of so many kept shingles, beside it.
    #[arg(long, value_name = "RUN")]
    super_shingles: Option<u32>,
    /// End at the first row that is no document, instead of skipping and naming it.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    run: RunOptions,
}

#[derive(Subcommand)]
enum Command {
    /// Say which documents are in the cluster of a URL (or of an id, for documents without one).
    Lookup {
        /// The OUT of `wonbon cluster`.
        folder: PathBuf,
        /// The URL.
        url: String,
        /// One line of JSON.
        #[arg(long)]
        json: bool,
    },
    /// Form the clusters again at another threshold or policy, without redoing the rest.
    Again {
        /// The OUT of `wonbon cluster`.
        folder: PathBuf,
        #[command(flatten)]
        last: LastPhase,
        /// One line of JSON.
        #[arg(long)]
        json: bool,
    },
}

/// When documents belong together.
#[derive(clap::Args, Clone, Copy)]
struct LastPhase {
    /// The least value of a pair: above 0, up to 1.
    #[arg(long, value_name = "R", default_value_t = CLUSTER_THRESHOLD, value_parser = threshold)]
    threshold: f64,
    /// What must reach it: resemblance (of the two), containment (of either in the other), or
    /// containment-of-earlier (of the earlier document in the later one).
    #[arg(long, value_name = "POLICY", default_value_t)]
    policy: Policy,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    match &args.command {
        Some(Command::Lookup { folder, url, json }) => lookup(folder, url, *json),
        Some(Command::Again { folder, last, json }) => {
            let clusters = cluster_again(folder, last.threshold, last.policy)?;
            if *json {
                let mut output = Output::new();
                output.json_line(&clusters)?;
                output.finish()?;
            } else {
                say(&mut anstream::stderr().lock(), "", clusters).context(STANDARD_ERROR)?;
            }
            Ok(Outcome::Done)
        }
        None => whole(args),
    }
}

fn whole(args: &Args) -> anyhow::Result<Outcome> {
    let corpus = &args.corpus;
    let request = ClusterRequest {
        threshold: Some(args.last.threshold),
        policy: Some(args.last.policy),
        dates: Some(args.dates.dates),
        ..ClusterRequest::default()
    };
    let planned = request.config(corpus.resources(&args.run)?)?;
    let config = ClusterConfig {
        method: ClusterMethod {
            shingle_words: args.shingle,
            modulus: args.modulus,
            width: if args.bits == "64" { Width::Bits64 } else { Width::Bits40 },
            common: args.common,
            ..planned.method
        },
        super_shingles: args.super_shingles,
        strict: args.strict,
        limits: corpus.limits(),
        ..planned
    };
    let watcher = Watcher::new();
    let summary = cluster(&config, &watcher).map_err(|error| corpus.explain(error))?;
    watcher.finish();
    let skipped = (summary.skipped, &summary.skipped_first[..]);
    end_run(args.run.json, &summary, || print_summary(&summary, &config), skipped)
}

fn lookup(folder: &std::path::Path, url: &str, as_json: bool) -> anyhow::Result<Outcome> {
    let lookups = Lookups::open(folder)?;
    let documents = lookups.documents_of_url(url)?;
    let Some(&document) = documents.first() else {
        report::refused(&anyhow::anyhow!("{url} is in no row of this collection"));
        return Ok(Outcome::Refused);
    };
    let cluster = lookups.cluster_of(document)?;
    let members = match cluster {
        Some(cluster) => lookups.documents_of(cluster)?,
        None => vec![document],
    };
    let urls = members.iter().map(|&member| lookups.url(member)).collect::<Result<Vec<_>, _>>()?;
    let mut output = Output::new();
    if as_json {
        output.json_line(&json!({"url": url, "cluster": cluster, "documents": urls}))?;
    } else {
        for url in urls {
            output.bytes(format!("{url}\n").as_bytes())?;
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn say(out: &mut impl Write, what: &str, clusters: Clusters) -> io::Result<()> {
    writeln!(
        out,
        "{}{what} with {} in all; {} of equal documents only",
        counted(clusters.clusters, "cluster", "clusters"),
        counted(clusters.documents, "document", "documents"),
        thousands(clusters.of_equal_documents)
    )
}

fn print_summary(summary: &ClusterSummary, config: &ClusterConfig) -> io::Result<()> {
    let mut out = anstream::stderr().lock();
    tell_fields(&mut out, &config.fields)?;
    writeln!(
        out,
        "{}, {} of them equal to another; {}, {} too common; {}",
        counted(summary.documents, "document", "documents"),
        thousands(summary.duplicates),
        counted(summary.shingles, "sampled shingle", "sampled shingles"),
        thousands(summary.common_shingles),
        counted(summary.pairs, "pair", "pairs")
    )?;
    say(&mut out, "", summary.clusters)?;
    if let Some(clusters) = summary.by_super_shingles {
        say(&mut out, " by super-shingles", clusters)?;
    }
    writeln!(out, "{:<16} {:>9} {:>9} {:>8}", "phase", "seconds", "CPU", "MB")?;
    for PhaseTime { phase, seconds, cpu_seconds, peak_bytes } in &summary.phases {
        let megabytes = peak_bytes / 1_000_000;
        writeln!(out, "{phase:<16} {seconds:>9.2} {cpu_seconds:>9.2} {megabytes:>8}")?;
    }
    Ok(())
}
