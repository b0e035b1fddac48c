//! The previous sweep: validators and bodies of pages that were crawled before.
//!
//! A crawl over pages of an earlier crawl requests them conditionally. A page that the server reports
//! as unchanged is read from the archive of the previous sweep, so its links, its text and the verdict
//! of the sink are those it would have if it had been sent. A page that was unchanged then, too, is in
//! the archive of the sweep before that one, and so on: earlier sweeps must be kept as long as their
//! pages exist.
//!
//! Cost: the addresses of the crawl before in memory, 8 bytes a page, some 50 for each page with a
//! body of its own.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use wonbon_time::Timestamp;
use wonbon_warc::{Reader, WarcError, http};

use crate::addresses::Addresses;
use crate::crawl::{beginning_of, log_path};
use crate::error::CrawlError;
use crate::graph::SiteRule;
use crate::log;
use crate::records::{ArchivePlace, Done, Outcome, Record};
use crate::writer::archive_path;

/// The crawl before.
#[derive(Debug)]
pub(crate) struct PreviousSweep {
    directory: PathBuf,
    addresses: Addresses,
    /// Where the record of a page stands in the log, 0 without one.
    places: Vec<u64>,
    /// Where bodies stand in the archive.
    bodies: HashMap<[u8; 20], ArchivePlace>,
    file: Mutex<File>,
    /// The crawl before that one.
    before: Option<PathBuf>,
    earlier: OnceLock<Option<Box<PreviousSweep>>>,
}

/// A page as it was.
#[derive(Debug)]
pub(crate) struct OldPage {
    /// When it was asked for.
    pub(crate) at: Timestamp,
    pub(crate) digest: [u8; 20],
    /// What the server called it, and its date, as last heard.
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// The number of the name of the record with its body.
    pub(crate) id: u128,
    /// Its fields.
    pub(crate) fields: Vec<(String, String)>,
    /// Its body, with its content coding.
    pub(crate) body: Vec<u8>,
}

impl PreviousSweep {
    /// Reads the log of the crawl in a directory.
    pub(crate) fn open(directory: &Path) -> Result<Self, CrawlError> {
        let before = beginning_of(directory)?.before;
        let path = log_path(directory);
        let mut addresses = Addresses::new(SiteRule::Host);
        let mut places = Vec::new();
        let mut bodies = HashMap::new();
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
                    if let (Outcome::Kept, Some(digest), Some(place)) =
                        (done.outcome, done.digest, done.place)
                    {
                        bodies.entry(digest).or_insert(place);
                    }
                }
                _ => {}
            }
            Ok(())
        })?;
        let file = File::open(&path).map_err(|source| CrawlError::io("read", &path, source))?;
        Ok(PreviousSweep {
            directory: directory.to_owned(),
            addresses,
            places,
            bodies,
            file: Mutex::new(file),
            before,
            earlier: OnceLock::new(),
        })
    }

    fn done(&self, address: &str) -> Option<Done> {
        let page = self.addresses.get(address)?;
        let at = self.places.get(page as usize).copied().filter(|&at| at > 0)?;
        let mut file = self.file.lock().expect("nobody panics while reading");
        match log::read_at(&mut file, at) {
            Ok(Record::Done(done)) => Some(*done),
            _ => None,
        }
    }

    /// The crawl before this one, if it can be read.
    fn earlier(&self) -> Option<&PreviousSweep> {
        let open = || Some(Box::new(PreviousSweep::open(self.before.as_deref()?).ok()?));
        self.earlier.get_or_init(open).as_deref()
    }

    /// What the server called the version that is known, and its date.
    pub(crate) fn validators(&self, address: &str) -> (Option<String>, Option<String>) {
        self.done(address).map_or((None, None), |done| (done.etag, done.last_modified))
    }

    /// A page as it was, if its body can be had.
    pub(crate) fn page(&self, address: &str) -> Option<OldPage> {
        let done = self.done(address)?;
        if done.outcome == Outcome::NotModified {
            let page = self.earlier()?.page(address)?;
            let etag = done.etag.or(page.etag);
            let last_modified = done.last_modified.or(page.last_modified);
            return Some(OldPage { etag, last_modified, ..page });
        }
        let digest = done.digest?;
        let place = self.bodies.get(&digest)?;
        let (fields, body) = self.body(place).ok()?;
        let (etag, last_modified) = (done.etag, done.last_modified);
        Some(OldPage { at: done.at, digest, etag, last_modified, id: place.id, fields, body })
    }

    #[allow(clippy::type_complexity, reason = "fields and body, used once")]
    fn body(&self, place: &ArchivePlace) -> Result<(Vec<(String, String)>, Vec<u8>), WarcError> {
        let failed = |source| WarcError::Io { doing: "read", source };
        let path = archive_path(&self.directory, place.file);
        let mut input = File::open(path).map_err(failed)?;
        input.seek(SeekFrom::Start(place.offset)).map_err(failed)?;
        let torn = WarcError::Torn { offset: place.offset };
        let mut reader = Reader::new(BufReader::new(input));
        let Some(mut found) = reader.next_record()? else { return Err(torn) };
        let mut block = found.read_block(1 << 30)?;
        let Ok(head) = http::Head::parse(&block) else { return Err(torn) };
        Ok((head.headers, block.split_off(head.body_at)))
    }
}
