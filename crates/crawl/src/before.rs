//! The sweep before: what a page was then.
//!
//! A crawl over pages that were crawled before asks for them conditionally. What is needed for that
//! (the server's name for the version, its date, and when the page is unchanged its links) stands in
//! the log of the crawl before, which is read once for the addresses and then page by page.
//!
//! Cost: the addresses of the crawl before, and 8 bytes a page, in memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::addresses::{Addresses, SiteKind};
use crate::crawl::log_path;
use crate::error::CrawlError;
use crate::log;
use crate::records::{Done, Record};

/// The log of the crawl before.
#[derive(Debug)]
pub(crate) struct Before {
    path: PathBuf,
    addresses: Addresses,
    /// Where the record of a page stands, 0 without one.
    places: Vec<u64>,
    file: Mutex<File>,
}

/// A page as it was.
#[derive(Debug, Default)]
pub(crate) struct OldPage {
    pub(crate) at: i64,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    pub(crate) digest: Option<[u8; 20]>,
    pub(crate) id: Option<u128>,
    pub(crate) links: Vec<String>,
}

impl Before {
    /// Reads the log of the crawl in a directory.
    pub(crate) fn open(directory: &Path) -> Result<Self, CrawlError> {
        let path = log_path(directory);
        if !path.is_file() {
            return Err(CrawlError::NoCrawl { path: directory.to_owned() });
        }
        let mut addresses = Addresses::new(SiteKind::Host);
        let mut places = Vec::new();
        log::read(&path, |record, at| {
            match record {
                Record::Seed(address) | Record::Known(address) => {
                    addresses.insert(&address);
                }
                Record::Done(done) => {
                    for address in &done.new {
                        addresses.insert(address);
                    }
                    places.resize(addresses.len(), 0);
                    if let Some(place) = places.get_mut(done.page as usize)
                        && done.outcome.is_page()
                    {
                        *place = at;
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        let file = File::open(&path).map_err(|source| CrawlError::io("read", &path, source))?;
        Ok(Before { path, addresses, places, file: Mutex::new(file) })
    }

    fn done(&self, address: &str) -> Result<Option<Done>, CrawlError> {
        let page = self.addresses.get(address);
        let place = page.and_then(|page| self.places.get(page as usize).copied());
        let Some(at) = place.filter(|&at| at > 0) else { return Ok(None) };
        let mut file = self.file.lock().expect("nobody panics while reading");
        match log::read_at(&mut file, at) {
            Ok(Record::Done(done)) => Ok(Some(*done)),
            Ok(_) => Err(CrawlError::Damaged { path: self.path.clone(), at }),
            Err(source) => Err(CrawlError::io("read", &self.path, source)),
        }
    }

    /// What the server called the version that is known, and its date.
    pub(crate) fn validators(
        &self,
        address: &str,
    ) -> Result<(Option<String>, Option<String>), CrawlError> {
        let done = self.done(address)?;
        Ok(done.map_or((None, None), |done| (done.etag, done.last_modified)))
    }

    /// A page as it was; of one that is not known, nothing.
    pub(crate) fn page(&self, address: &str) -> Result<OldPage, CrawlError> {
        let Some(done) = self.done(address)? else { return Ok(OldPage::default()) };
        let known = |page: &u32| (*page as usize) < self.addresses.len();
        Ok(OldPage {
            at: done.at,
            etag: done.etag,
            last_modified: done.last_modified,
            digest: done.digest,
            id: done.place.map(|place| place.id),
            links: done
                .links
                .iter()
                .filter(|page| known(page))
                .map(|&page| self.addresses.address(page))
                .collect(),
        })
    }
}
