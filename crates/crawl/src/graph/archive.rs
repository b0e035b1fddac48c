//! Graphs out of WARC files: the archived pages and the links between them.
//!
//! Pages are the addresses that a response or revisit record answers, in canonical form, numbered as
//! they come; what was not archived is no page. A redirect is a link. Links are taken from pages of
//! HTML; of several responses for an address the last counts, and a revisit changes nothing. The files
//! are read twice: for the addresses, then for the links.
//!
//! Cost: that of taking links out of all pages; the addresses in memory while reading.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use url::Url;
use wonbon_text::decode::decode;
use wonbon_text::links::links;
use wonbon_warc::{Reader, RecordKind, http};

use super::site::Sites;
use super::{Builder, GraphError, Read, Reading, Wanted, Watch};
use crate::canonical::Rules;

/// The longest record that is looked at, and the longest page.
const MOST_RECORD_BYTES: u64 = 64 << 20;
const MOST_PAGE_BYTES: usize = 64 << 20;

/// The WARC files in a directory, by name.
pub(super) fn files(directory: &Path) -> Vec<PathBuf> {
    let is_archive = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
        path.is_file()
            && name.is_some_and(|name| name.ends_with(".warc") || name.ends_with(".warc.gz"))
    };
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_archive).collect();
    files.sort();
    files
}

pub(super) fn read(
    files: &[PathBuf],
    reading: &Reading,
    watch: &dyn Watch,
) -> Result<Read, GraphError> {
    let rules = Rules::default();
    let mut pages: HashMap<String, u32> = HashMap::new();
    let mut wanted = Wanted::new(&reading.wanted);
    let mut numbers = Sites::new(reading.site);
    let mut sites = Vec::new();
    watch.begin("addresses", files.len() as u64);
    for (done, path) in files.iter().enumerate() {
        each_record(path, &rules, |address, _| {
            if !pages.contains_key(address.as_str()) {
                let page = sites.len() as u32;
                pages.insert(address.to_string(), page);
                wanted.see(page, address.as_str().as_bytes());
                let site = numbers.number(address.as_str().as_bytes());
                sites.push(site.expect("a canonical address has a host"));
            }
            Ok(())
        })?;
        watch.done(done as u64 + 1);
    }
    let mut linked: Vec<Vec<u32>> = vec![Vec::new(); sites.len()];
    watch.begin("links", files.len() as u64);
    for (done, path) in files.iter().enumerate() {
        each_record(path, &rules, |address, block| {
            let Some(block) = block()? else {
                return Ok(());
            };
            let page = pages[address.as_str()] as usize;
            let targets = targets_of(&block, address, &rules);
            linked[page] =
                targets.iter().filter_map(|target| pages.get(target.as_str()).copied()).collect();
            Ok(())
        })?;
        watch.done(done as u64 + 1);
    }
    let mut builder = Builder::new(sites.len());
    for (page, targets) in linked.iter().enumerate() {
        for &target in targets {
            builder.push(page as u32, target);
        }
    }
    let (graph, left_out) = builder.finish(sites, numbers.count());
    let found = wanted.finish(graph.pages());
    Ok(Read { graph, found, has_addresses: true, left_out })
}

/// Calls with the address of every record that answers one, and a way to read its response.
fn each_record(
    path: &Path,
    rules: &Rules,
    mut each: impl FnMut(
        &Url,
        &mut dyn FnMut() -> Result<Option<Vec<u8>>, GraphError>,
    ) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let failed = |source| GraphError::Archive { path: path.to_owned(), source };
    let file = File::open(path)
        .map_err(|source| failed(wonbon_warc::WarcError::Io { doing: "open", source }))?;
    let mut reader = Reader::new(BufReader::with_capacity(1 << 18, file));
    while let Some(mut found) = reader.next_record().map_err(failed)? {
        let kind = found.header().kind().clone();
        if !matches!(kind, RecordKind::Response | RecordKind::Revisit) {
            continue;
        }
        let target = found.header().target();
        let Some(address) = target.and_then(|target| rules.canonical(None, target).ok()) else {
            continue;
        };
        each(&address, &mut || match kind {
            RecordKind::Response => found.read_block(MOST_RECORD_BYTES).map(Some).map_err(failed),
            _ => Ok(None),
        })?;
    }
    Ok(())
}

/// Where a response leads, in canonical form. A response that cannot be read leads nowhere.
fn targets_of(block: &[u8], address: &Url, rules: &Rules) -> Vec<String> {
    let Ok(head) = http::Head::parse(block) else {
        return Vec::new();
    };
    let canonical =
        |reference: &str| rules.canonical(Some(address), reference).ok().map(String::from);
    if (300..400).contains(&head.status) {
        return head.header("location").and_then(canonical).into_iter().collect();
    }
    let kind = head.header("content-type").unwrap_or_default();
    let Ok(body) = head.body(block, MOST_PAGE_BYTES) else {
        return Vec::new();
    };
    if !kind.to_ascii_lowercase().contains("html") {
        return Vec::new();
    }
    let html = decode(&body.bytes, Some(kind)).text;
    let links = links(&html, Some(address.as_str()));
    links.iter().filter_map(|link| canonical(&link.url)).collect()
}
