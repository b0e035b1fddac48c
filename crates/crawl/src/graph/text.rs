//! Graphs in two text files: `urls.txt` and `edges.tsv`.
//!
//! The links are parsed as they stream in, by hand: a hundred million take seconds and nothing but
//! the graph. Lines sorted by page go straight to their place; if a line is out of order, the rest is
//! only counted and the file is read once more, so that the memory is the same.

use std::path::{Path, PathBuf};

use wonbon_documents::{Source, open};

use super::site::Sites;
use super::{Builder, Graph, GraphError, MOST_PAGES, Read, Reading, Wanted, Watch};

pub(super) fn read(
    directory: &Path,
    reading: &Reading,
    watch: &dyn Watch,
) -> Result<Read, GraphError> {
    let urls = find(directory, "urls.txt")?;
    let edges = find(directory, "edges.tsv")?;
    let mut wanted = Wanted::new(&reading.wanted);
    let (sites, site_count) = read_addresses(&urls, reading, &mut wanted, watch)?;
    let (graph, left_out) = read_links(&edges, sites, site_count, watch)?;
    let found = wanted.finish(graph.pages());
    Ok(Read { graph, found, has_addresses: true, left_out })
}

/// Whether a directory has addresses.
pub(super) fn is_there(directory: &Path) -> bool {
    find(directory, "urls.txt").is_ok()
}

fn find(directory: &Path, file: &'static str) -> Result<PathBuf, GraphError> {
    ["", ".gz", ".zst"]
        .into_iter()
        .map(|ending| directory.join(format!("{file}{ending}")))
        .find(|path| path.is_file())
        .ok_or_else(|| GraphError::Missing { path: directory.to_owned(), file })
}

/// The site of every address of a file, and how many sites.
pub(super) fn read_addresses(
    path: &Path,
    reading: &Reading,
    wanted: &mut Wanted<'_>,
    watch: &dyn Watch,
) -> Result<(Vec<u32>, u32), GraphError> {
    let mut source = open(path)?;
    watch.begin("addresses", 0);
    let mut numbers = Sites::new(reading.site);
    let mut sites = Vec::new();
    let file = source.name.clone();
    lines(&mut source, |line, address| {
        let address = address.trim_ascii();
        let bad = || GraphError::NotAnAddress { file: file.clone(), line };
        let site = numbers.number(address).ok_or_else(bad)?;
        if sites.len() as u64 == u64::from(MOST_PAGES) {
            return Err(GraphError::TooManyPages { file: file.clone(), limit: MOST_PAGES });
        }
        wanted.see(sites.len() as u32, address);
        sites.push(site);
        Ok(())
    })?;
    sites.shrink_to_fit();
    Ok((sites, numbers.count()))
}

fn read_links(
    path: &Path,
    sites: Vec<u32>,
    site_count: u32,
    watch: &dyn Watch,
) -> Result<(Graph, u64), GraphError> {
    let pages = sites.len();
    watch.begin("links", 0);
    let mut builder = Builder::new(pages);
    let mut sorted = true;
    let mut last = 0;
    let mut counts = vec![0_u32; pages];
    each_link(path, pages, |page, target| {
        sorted &= page >= last;
        last = page;
        counts[page as usize] += 1;
        if sorted {
            builder.push(page, target);
        } else {
            // They have to be read again; nothing is kept of the first time but the counts.
            builder.targets = Vec::new();
        }
    })?;
    if sorted {
        drop(counts);
        return Ok(builder.finish(sites, site_count));
    }
    drop(builder);
    watch.begin("links again", 0);
    let mut next = 0_u64;
    let mut starts = vec![0_u64; pages];
    for (start, count) in starts.iter_mut().zip(&counts) {
        *start = next;
        next += u64::from(*count);
    }
    let mut targets = vec![0_u32; next as usize];
    let mut places = starts.clone();
    each_link(path, pages, |page, target| {
        let place = &mut places[page as usize];
        targets[*place as usize] = target;
        *place += 1;
    })?;
    drop(places);
    let mut builder = Builder::new(pages);
    for page in 0..pages {
        let start = starts[page] as usize;
        for &target in &targets[start..start + counts[page] as usize] {
            builder.push(page as u32, target);
        }
    }
    drop(targets);
    Ok(builder.finish(sites, site_count))
}

fn each_link(path: &Path, pages: usize, mut link: impl FnMut(u32, u32)) -> Result<(), GraphError> {
    let mut source = open(path)?;
    let file = source.name.clone();
    lines(&mut source, |line, text| {
        if text.is_empty() || text[0] == b'#' {
            return Ok(());
        }
        let Some((page, target)) = two_numbers(text) else {
            return Err(GraphError::NotALink { file: file.clone(), line });
        };
        let highest = page.max(target);
        if highest >= pages as u64 {
            let pages = pages as u64;
            return Err(GraphError::NoSuchPage { file: file.clone(), line, page: highest, pages });
        }
        link(page as u32, target as u32);
        Ok(())
    })
}

/// Two numbers with a tab or spaces between them.
fn two_numbers(text: &[u8]) -> Option<(u64, u64)> {
    let (first, rest) = number(text)?;
    let spaces = rest.iter().take_while(|byte| matches!(byte, b'\t' | b' ')).count();
    if spaces == 0 {
        return None;
    }
    let (second, rest) = number(&rest[spaces..])?;
    rest.iter().all(u8::is_ascii_whitespace).then_some((first, second))
}

fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0_u64;
    let mut digits = 0;
    while let Some(&digit @ b'0'..=b'9') = text.get(digits) {
        value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        digits += 1;
    }
    (1..=12).contains(&digits).then(|| (value, &text[digits..]))
}

/// Calls with every line and its number, without the end of the line.
fn lines(
    source: &mut Source,
    mut each: impl FnMut(u64, &[u8]) -> Result<(), GraphError>,
) -> Result<(), GraphError> {
    let mut carried: Vec<u8> = Vec::new();
    let mut line = 0;
    loop {
        let piece = match source.reader().fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(source.broken(error).into()),
        };
        let length = piece.len();
        if length == 0 {
            break;
        }
        let mut rest = piece;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            line += 1;
            if carried.is_empty() {
                each(line, &rest[..end])?;
            } else {
                carried.extend_from_slice(&rest[..end]);
                each(line, &carried)?;
                carried.clear();
            }
            rest = &rest[end + 1..];
        }
        carried.extend_from_slice(rest);
        source.reader().consume(length);
    }
    if !carried.is_empty() {
        each(line + 1, &carried)?;
    }
    Ok(())
}
