//! `wonbon order generate`: a made-up web to try orderings on.

use std::path::PathBuf;

use wonbon_crawl::graph::generate::{Web, WebConfig};

use super::{Watching, new_folder, publish};
use crate::Outcome;
use crate::report;
use crate::watcher::Watcher;
use crate::wording::counted;

/// Makes a web of many sites from a seed: urls.txt and edges.tsv.
///
/// Sites have power-law sizes, a tree of pages below a front page, and a template of links that all
/// their pages repeat; external links lead to popular sites. The same flags give the same bytes.
#[derive(clap::Args)]
pub(super) struct Args {
    /// How many pages; ten million take about a minute.
    #[arg(long, value_name = "N", default_value_t = WebConfig::default().pages,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pages: u32,
    /// Everything follows from it.
    #[arg(long, value_name = "S", default_value_t = WebConfig::default().seed)]
    seed: u64,
    /// Sizes of sites: the share of sites with more than n pages is n^-E. Lower values make fewer and
    /// larger sites.
    #[arg(long, value_name = "E", default_value_t = WebConfig::default().size_exponent, value_parser = positive)]
    size_exponent: f64,
    /// No site has more than this share of all pages.
    #[arg(long, value_name = "SHARE", default_value_t = WebConfig::default().largest_site, value_parser = share)]
    largest_site: f64,
    /// The site of rank k is linked to in proportion to k^-E. Higher values gather the links on fewer
    /// sites.
    #[arg(long, value_name = "E", default_value_t = WebConfig::default().popularity_exponent, value_parser = positive)]
    popularity_exponent: f64,
    /// Most links in a site's template.
    #[arg(long, value_name = "N", default_value_t = WebConfig::default().template_links)]
    template_links: u32,
    /// Links of a page inside its site beside template and tree, on average.
    #[arg(long, value_name = "N", default_value_t = WebConfig::default().inner_links, value_parser = positive)]
    inner_links: f64,
    /// Links of an ordinary page to other sites, on average.
    #[arg(long, value_name = "N", default_value_t = WebConfig::default().external_links, value_parser = positive)]
    external_links: f64,
    /// The share of external links that lead to front pages.
    #[arg(long, value_name = "SHARE", default_value_t = WebConfig::default().to_front_pages, value_parser = share)]
    to_front_pages: f64,
    /// One site in so many is a directory, whose pages have ten times the external links.
    #[arg(long, value_name = "N", default_value_t = WebConfig::default().directories,
          value_parser = clap::value_parser!(u32).range(1..))]
    directories: u32,
    /// The folder for urls.txt and edges.tsv, which must not exist yet and appears when complete.
    #[arg(long, short, value_name = "OUT")]
    out: PathBuf,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number >= 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err("a number from 0 up".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a share from 0 to 1".to_owned()),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let folder = new_folder(&args.out)?;
    let web = Web::new(WebConfig {
        pages: args.pages,
        seed: args.seed,
        size_exponent: args.size_exponent,
        largest_site: args.largest_site,
        popularity_exponent: args.popularity_exponent,
        template_links: args.template_links,
        inner_links: args.inner_links,
        external_links: args.external_links,
        to_front_pages: args.to_front_pages,
        directories: args.directories,
    });
    let watcher = Watcher::new();
    folder.open_empty()?;
    let written = web.write(folder.path(), &Watching(&watcher));
    watcher.finish();
    let links = written?;
    publish(&folder)?;
    report::note(&format!(
        "{} of {} with {}",
        counted(args.pages.into(), "page", "pages"),
        counted(web.sites() as u64, "site", "sites"),
        counted(links, "link", "links")
    ));
    Ok(Outcome::Done)
}
