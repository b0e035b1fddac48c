//! `wonbon robots`: whether a robots.txt lets a crawler fetch addresses, and by which line.

use std::fs;
use std::io::{self, Read as _};

use anyhow::{Context, bail};
use serde::Serialize;
use url::Url;
use wonbon_crawl::canonical::Rules;
use wonbon_crawl::plan::Params;
use wonbon_crawl::robots::{self, Decision, Robots};
use wonbon_crawl::scope::path_and_query;

use super::network::NetworkArgs;
use crate::Outcome;
use crate::output::Output;

/// Say whether a robots.txt lets a crawler fetch addresses, and by which line.
///
/// The answer is that of RFC 9309, which `wonbon crawl` heeds: the longest matching rule of the
/// crawler's group decides, and of two equal ones the one that allows. A file that the server does not
/// have (4xx) allows everything, one that it fails to send (5xx) nothing. The exit code is 1 if one of
/// the addresses may not be fetched.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The robots.txt: a file, `-` for standard input, or its address; of an address without a path,
    /// /robots.txt is fetched.
    #[arg(value_name = "FILE|URL")]
    robots: String,
    /// Addresses to ask about, or paths with their query.
    #[arg(required = true, value_name = "ADDRESS")]
    addresses: Vec<String>,
    /// The product token of the crawler, up to the first slash or space.
    #[arg(long, value_name = "TOKEN", default_value = "wonbon")]
    agent: String,
    #[command(flatten)]
    network: NetworkArgs,
    /// One line of JSON an address: url, allowed, line.
    #[arg(long)]
    json: bool,
}

/// What is printed of an address with `--json`.
#[derive(Serialize)]
struct Line<'a> {
    url: &'a str,
    allowed: bool,
    line: Option<u32>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let source = robots_address(&args.robots)?;
    let robots = match &source {
        Some(url) => {
            let params = Params::default();
            let network = args.network.open(&params.agent, params.limits)?;
            robots::fetch(&network, url, &args.agent)?
        }
        None => Robots::parse(&read(&args.robots)?, &args.agent),
    };
    let mut output = Output::new();
    let mut outcome = Outcome::Done;
    for text in &args.addresses {
        let address = parse_address(text, source.as_ref())?;
        let Decision { allowed, line } = robots.decide(path_and_query(&address));
        if !allowed {
            outcome = Outcome::Refused;
        }
        if args.json {
            output.json_line(&Line { url: text, allowed, line })?;
            continue;
        }
        let answer = if allowed { "allowed" } else { "disallowed" };
        let reason = line.map_or_else(|| "no rule".to_owned(), |line| format!("line {line}"));
        output.bytes(format!("{answer}\t{reason}\t{text}\n").as_bytes())?;
    }
    output.finish()?;
    Ok(outcome)
}

/// The address of a robots.txt, if the text is one.
fn robots_address(text: &str) -> anyhow::Result<Option<Url>> {
    if !text.starts_with("http://") && !text.starts_with("https://") {
        return Ok(None);
    }
    let mut url = Url::parse(text).with_context(|| format!("`{text}` is no address"))?;
    if url.path() == "/" && url.query().is_none() {
        url.set_path("/robots.txt");
    }
    Ok(Some(url))
}

fn read(name: &str) -> anyhow::Result<Vec<u8>> {
    if name != "-" {
        return fs::read(name).with_context(|| format!("could not read {name}"));
    }
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).context("could not read standard input")?;
    Ok(bytes)
}

/// The address to ask about. A path belongs to the site of the robots.txt.
fn parse_address(text: &str, source: Option<&Url>) -> anyhow::Result<Url> {
    let is_path = text.starts_with('/');
    let nowhere = Url::parse("http://site.invalid/").expect("this is an address");
    let base = is_path.then(|| source.unwrap_or(&nowhere));
    let Ok(address) = Rules::keep_parameters().canonical(base, text) else {
        bail!("`{text}` is neither an http or https address nor a path");
    };
    if let Some(source) = source.filter(|source| source.origin() != address.origin()) {
        bail!("{text} is of another site: {source} says nothing about it");
    }
    Ok(address)
}
