//! Pages from WARC files, as if they were the web.
//!
//! The files are read once to learn where each address stands; a fetch then reads its record. Of
//! several records of an address the last counts. A revisit record is the head it has and the body of
//! the record it refers to, if that is in the files too. What is not there was not archived, which
//! the crawl counts as no answer.
//!
//! Cost: the addresses and about 60 bytes for each in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::net::IpAddr;
use std::path::PathBuf;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use wonbon_time::Timestamp;
use wonbon_warc::{Reader, RecordId, RecordKind, WarcError, http};

use super::{Answer, Answering, Ask, Body, FetchError, Fetcher, is_text_type};
use crate::canonical::Rules;
use crate::error::CrawlError;

/// The longest record that is looked at.
const MOST_RECORD_BYTES: u64 = 64 << 20;

#[derive(Clone, Copy, Debug)]
struct Spot {
    file: u32,
    offset: u64,
    /// The record that holds the body, if it is another.
    body: Option<RecordId>,
}

/// WARC files that stand for the web.
#[derive(Debug)]
pub struct Archive {
    files: Vec<PathBuf>,
    spots: HashMap<String, Spot>,
    bodies: HashMap<RecordId, (u32, u64)>,
    most_bytes: usize,
}

impl Archive {
    /// Reads where everything stands. Bodies larger than `most_bytes` are answered as too large.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or is cut or damaged.
    pub fn open(files: &[PathBuf], most_bytes: usize) -> Result<Self, CrawlError> {
        let mut archive = Archive {
            files: files.to_vec(),
            spots: HashMap::new(),
            bodies: HashMap::new(),
            most_bytes,
        };
        let rules = Rules::default();
        for (number, path) in files.iter().enumerate() {
            let file = File::open(path).map_err(|source| CrawlError::io("read", path, source))?;
            let failed = |source| CrawlError::Archive { doing: "read", path: path.clone(), source };
            let mut reader = Reader::new(BufReader::with_capacity(1 << 18, file));
            while let Some(found) = reader.next_record().map_err(failed)? {
                let (header, file, offset) = (found.header(), number as u32, found.offset());
                let Some(url) = header.target().and_then(|text| rules.canonical(None, text).ok())
                else {
                    continue;
                };
                let body = match header.kind() {
                    RecordKind::Response => None,
                    RecordKind::Revisit => header.refers_to(),
                    _ => continue,
                };
                if let (RecordKind::Response, Some(id)) = (header.kind(), header.id()) {
                    archive.bodies.insert(id, (file, offset));
                }
                archive.spots.insert(url.into(), Spot { file, offset, body });
            }
        }
        Ok(archive)
    }

    /// The addresses that were archived.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        self.spots.keys().map(String::as_str)
    }

    fn block(&self, file: u32, offset: u64) -> Result<(Vec<u8>, Timestamp), WarcError> {
        let failed = |source| WarcError::Io { doing: "read", source };
        let mut input = File::open(&self.files[file as usize]).map_err(failed)?;
        input.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut reader = Reader::new(BufReader::new(input));
        let Some(mut found) = reader.next_record()? else {
            return Err(WarcError::Torn { offset });
        };
        let at = found.header().date().unwrap_or_default();
        Ok((found.read_block(MOST_RECORD_BYTES)?, at))
    }

    fn answer(&self, ask: &Ask) -> Result<Answer, FetchError> {
        let spot = *self.spots.get(ask.url.as_str()).ok_or(FetchError::NotArchived)?;
        let broken = |why: &dyn std::error::Error| FetchError::Broken { why: why.to_string() };
        let (block, at) = self.block(spot.file, spot.offset).map_err(|why| broken(&why))?;
        let head = http::Head::parse(&block).map_err(|why| broken(&why))?;
        let bytes = block[..head.body_at].to_vec();
        let mut fields = HeaderMap::new();
        for (name, value) in &head.headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                fields.append(name, value);
            }
        }
        let mut answer = Answer {
            status: head.status,
            request: Vec::new(),
            head: plain_head(&bytes),
            fields,
            body: Vec::new(),
            whole: Body::Whole,
            at,
            took: 0,
            address: None,
            is_two: false,
            room: None,
        };
        if !ask.any_type && !is_text_type(answer.content_type()) {
            answer.whole = Body::OtherType;
            return Ok(answer);
        }
        let elsewhere = match spot.body {
            Some(id) => {
                let &(file, offset) = self.bodies.get(&id).ok_or(FetchError::NotArchived)?;
                Some(self.block(file, offset).map_err(|why| broken(&why))?.0)
            }
            None => None,
        };
        let block = elsewhere.as_deref().unwrap_or(&block);
        let head = http::Head::parse(block).map_err(|why| broken(&why))?;
        let body = head.body(block, self.most_bytes).map_err(|why| broken(&why))?;
        if body.end == http::End::Limit {
            answer.whole = Body::TooLarge;
        } else {
            answer.body = body.bytes.into_owned();
        }
        for name in ["content-encoding", "transfer-encoding"] {
            answer.fields.remove(name);
        }
        Ok(answer)
    }
}

impl Fetcher for Archive {
    fn resolve<'a>(&'a self, _: &'a str) -> Answering<'a, Result<Vec<IpAddr>, FetchError>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn fetch(&self, ask: Ask) -> Answering<'_, Result<Answer, FetchError>> {
        Box::pin(async move { self.answer(&ask) })
    }

    fn is_live(&self) -> bool {
        false
    }
}

/// The head for a body without codings.
fn plain_head(head: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(head.len() + 32);
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        let named =
            |name: &[u8]| line.len() > name.len() && line[..name.len()].eq_ignore_ascii_case(name);
        if named(b"content-encoding:") || named(b"transfer-encoding:") {
            out.extend_from_slice(b"X-Crawler-");
        }
        out.extend_from_slice(line);
    }
    out
}
