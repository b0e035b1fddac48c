//! The link graph of a crawl as files, made from its log.
//!
//! `urls.txt` has an address a line, the line number from 0 is the page; `edges.tsv` has two page
//! numbers a line, in the order in which pages came; this is what `wonbon order` reads. `states.tsv` has
//! a line for each finished page, in that order: page, outcome, status, bytes, when it was
//! asked for (microseconds since 1970), and the page it leads to.
//!
//! Pages are all addresses that were let in, fetched or not. A redirect is a link. What a sitemap
//! names is no link: its pages are there, its edges are not. Each file appears whole or not at all.

use std::io::{BufWriter, Write};
use std::path::Path;

use wonbon_files::{ReplacedFile, sync_directory};

use crate::crawl::log_path;
use crate::error::CrawlError;
use crate::log;
use crate::records::{Outcome, Record};

/// How many pages and links were written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphSize {
    /// Pages.
    pub pages: u64,
    /// Links.
    pub links: u64,
}

/// Writes the link graph of the crawl in a directory into its folder `graph`.
///
/// # Errors
///
/// The log cannot be read, or the files cannot be written.
pub fn write(directory: &Path) -> Result<GraphSize, CrawlError> {
    let folder = directory.join("graph");
    std::fs::create_dir_all(&folder).map_err(|source| CrawlError::io("create", &folder, source))?;
    let mut urls = Lines::create(&folder.join("urls.txt"))?;
    let mut edges = Lines::create(&folder.join("edges.tsv"))?;
    let mut states = Lines::create(&folder.join("states.tsv"))?;
    let mut size = GraphSize::default();
    log::read(&log_path(directory), |record, _| {
        match record {
            Record::Seed(address) | Record::Known(address) => {
                size.pages += 1;
                urls.write(format_args!("{address}"))?;
            }
            Record::Done(done) => {
                for address in &done.new {
                    size.pages += 1;
                    urls.write(format_args!("{address}"))?;
                }
                if done.outcome != Outcome::Sitemap {
                    size.links += done.links.len() as u64;
                    for to in &done.links {
                        edges.write(format_args!("{}\t{to}", done.page))?;
                    }
                }
                let (name, target) = (done.outcome.name(), done.target);
                let target = target.map_or_else(String::new, |page| page.to_string());
                states.write(format_args!(
                    "{}\t{name}\t{}\t{}\t{}\t{target}",
                    done.page,
                    done.status,
                    done.bytes,
                    done.at.as_microseconds()
                ))?;
            }
            _ => {}
        }
        Ok(())
    })?;
    urls.finish()?;
    edges.finish()?;
    states.finish()?;
    // The folder may be new.
    sync_directory(directory)?;
    Ok(size)
}

/// A file of lines that is there whole or not at all.
struct Lines(BufWriter<ReplacedFile>);

impl Lines {
    fn create(path: &Path) -> Result<Self, CrawlError> {
        Ok(Lines(BufWriter::with_capacity(1 << 18, ReplacedFile::create(path)?)))
    }

    fn write(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), CrawlError> {
        let written = self.0.write_fmt(line).and_then(|()| self.0.write_all(b"\n"));
        written.map_err(|source| CrawlError::io("write", self.0.get_ref().target(), source))
    }

    fn finish(mut self) -> Result<(), CrawlError> {
        let flushed = self.0.flush();
        flushed.map_err(|source| CrawlError::io("write", self.0.get_ref().target(), source))?;
        let (file, _) = self.0.into_parts();
        Ok(file.commit()?)
    }
}
