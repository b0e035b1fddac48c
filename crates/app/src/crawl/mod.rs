//! A crawl into a store: its pages become documents, and what it came to is written beside its log.

mod sink;

use std::path::Path;

use wonbon_crawl::CrawlError;
use wonbon_crawl::plan::Plan;
use wonbon_crawl::progress::Summary;
use wonbon_crawl::report::{Gathered, gather, page_of};

pub use sink::StoreSink;

/// Writes what is made from the log of a crawl that has ended or was stopped: the link graph, the counts
/// (`stats.json`) and the report (`report.html`); tells what was gathered.
///
/// # Errors
///
/// The log cannot be read, or the files cannot be written.
pub fn write_results(
    directory: &Path,
    plan: &Plan,
    summary: &Summary,
) -> Result<Gathered, CrawlError> {
    wonbon_crawl::link_graph::write(directory)?;
    let gathered = gather(directory, plan)?;
    let stats = serde_json::to_vec_pretty(summary).expect("counts have text for keys");
    let report = page_of(&gathered, plan, summary).into_bytes();
    for (name, bytes) in [("stats.json", stats), ("report.html", report)] {
        wonbon_files::replace(&directory.join(name), &bytes)?;
    }
    Ok(gathered)
}
