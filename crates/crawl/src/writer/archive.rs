//! The WARC files of a crawl.
//!
//! Files of about 1 GiB under `archive/`, one gzip member per record. Each exchange is kept as its
//! request and its response; for bodies that are not kept (other types, too large) a metadata record
//! says what arrived. A body that arrived before is written as a revisit record. The head is kept as
//! the server sent it, but the body is stored without its transfer coding: the field
//! `Transfer-Encoding` is renamed `X-Crawler-Transfer-Encoding`.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use wonbon_files::sync_directory;
use wonbon_time::Timestamp;
use wonbon_warc::{Digest, Record, RecordId, RefersTo, WarcError, Writer, lines};

use crate::error::CrawlError;
use crate::fetch::{Answer, Body};
use crate::records::{ArchivePlace, Commit, Done, Outcome};

use super::Exchange;

/// The next file begins when one is longer.
const FILE_BYTES: u64 = 1 << 30;
/// Gzip takes most of the time of keeping a page; higher levels save few bytes.
const LEVEL: u32 = 4;

/// The path of a file of the archive.
pub(crate) fn archive_path(directory: &Path, number: u32) -> PathBuf {
    directory.join("archive").join(format!("crawl-{number:05}.warc.gz"))
}

/// Writes exchanges.
pub(super) struct ArchiveWriter {
    directory: PathBuf,
    writer: Writer<File>,
    number: u32,
    seed: u64,
    ids: HashMap<[u8; 20], u128>,
}

impl ArchiveWriter {
    /// Opens the archive at a commit and cuts off what a crash left after it.
    pub(super) fn open(
        directory: &Path,
        seed: u64,
        commit: &Commit,
        ids: HashMap<[u8; 20], u128>,
    ) -> Result<Self, CrawlError> {
        let number = commit.file;
        // Files begun after the commit.
        let mut after = number + 1;
        while remove_if_there(&archive_path(directory, after))? {
            after += 1;
        }
        let path = archive_path(directory, number);
        let writer = if commit.archive == 0 {
            remove_if_there(&path)?;
            create_file(directory, number, seed)?
        } else {
            let writer = Writer::append(&path, commit.archive, file_seed(seed, number));
            writer.map_err(|source| archive_error("open", &path, source))?.level(LEVEL)
        };
        Ok(ArchiveWriter { directory: directory.to_owned(), writer, number, seed, ids })
    }

    /// The number of the file that is being written, and its length.
    pub(super) fn end(&self) -> (u32, u64) {
        (self.number, self.writer.offset())
    }

    /// Makes everything written durable.
    pub(super) fn sync(&mut self) -> Result<(), CrawlError> {
        let path = archive_path(&self.directory, self.number);
        self.writer.sync().map_err(|source| archive_error("write", &path, source))
    }

    /// Writes an exchange; returns the place of its response.
    pub(super) fn write(
        &mut self,
        done: Option<&Done>,
        exchange: &Exchange,
    ) -> Result<ArchivePlace, CrawlError> {
        if self.writer.offset() > FILE_BYTES {
            self.sync()?;
            self.number += 1;
            self.writer = create_file(&self.directory, self.number, self.seed)?;
        }
        let Exchange { address, answer, .. } = exchange;
        let date = answer.at;
        let head = archived_head(&answer.head);
        let about = about_missing(answer);
        let digest = done.and_then(|done| done.digest);
        let mut record = if let Some((digest, earlier)) = self.earlier_record(exchange) {
            Record::revisit(address, date, &head, Digest::from_bytes(digest), earlier)
        } else if let Some(about) = &about {
            Record::metadata(address, date, about)
        } else {
            let record = Record::response(address, date, &head, &answer.body);
            match digest {
                Some(digest) => record.payload_digest(Digest::from_bytes(digest)),
                None => record,
            }
        };
        if let Some(address) = answer.address {
            record = record.address(address);
        }
        if answer.is_two {
            record = record.protocol("h2");
        }
        if !exchange.charset.is_empty() {
            record = record.field("WARC-X-Charset", exchange.charset);
        }
        let path = archive_path(&self.directory, self.number);
        let failed = |source| archive_error("write", &path, source);
        let place = self.writer.write(&record).map_err(failed)?;
        if !answer.request.is_empty() {
            let request = Record::request(address, date, &answer.request, b"");
            self.writer.write(&request.concurrent_to(place.id)).map_err(failed)?;
        }
        let id = place.id.to_bits();
        if let (Some(Outcome::Kept), Some(digest)) = (done.map(|done| done.outcome), digest) {
            self.ids.entry(digest).or_insert(id);
        }
        Ok(ArchivePlace { file: self.number, offset: place.offset, length: place.length, id })
    }

    /// The digest of a body that arrived before, and the record that holds it.
    fn earlier_record<'e>(&self, exchange: &'e Exchange) -> Option<([u8; 20], RefersTo<'e>)> {
        let earlier = exchange.earlier.as_ref()?;
        let digest = earlier.digest?;
        let id = earlier.id.or_else(|| self.ids.get(&digest).copied())?;
        let (target, date) = (earlier.address.as_str(), earlier.at);
        Some((digest, RefersTo { id: RecordId::from_bits(id), target, date }))
    }
}

/// Removes what a crash left after the last commit; returns whether there was something.
fn remove_if_there(path: &Path) -> Result<bool, CrawlError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(CrawlError::io("remove", path, source)),
    }
}

fn archive_error(doing: &'static str, path: &Path, source: WarcError) -> CrawlError {
    CrawlError::Archive { doing, path: path.to_owned(), source }
}

fn file_seed(seed: u64, number: u32) -> u64 {
    seed.wrapping_add(u64::from(number))
}

fn create_file(directory: &Path, number: u32, seed: u64) -> Result<Writer<File>, CrawlError> {
    let path = archive_path(directory, number);
    let failed = |source| archive_error("create", &path, source);
    let mut writer = Writer::create(&path, file_seed(seed, number)).map_err(failed)?.level(LEVEL);
    let software = concat!("wonbon/", env!("CARGO_PKG_VERSION"));
    let about = lines([
        ("software", software),
        ("format", "WARC File Format 1.1"),
        (
            "conformsTo",
            "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
        ),
    ]);
    let name = format!("crawl-{number:05}.warc.gz");
    writer.write(&Record::warcinfo(&name, Timestamp::now(), &about)).map_err(failed)?;
    // A commit may refer to the file from now on, so its name has to be durable.
    sync_directory(&directory.join("archive"))?;
    Ok(writer)
}

/// The lines of the metadata record for a body that is not kept.
fn about_missing(answer: &Answer) -> Option<Vec<u8>> {
    let why = match answer.whole {
        Body::Whole => return None,
        Body::TooLarge => "too-large",
        Body::OtherType => "other-type",
    };
    Some(lines([
        ("status", answer.status.to_string().as_str()),
        ("not-kept", why),
        ("content-type", answer.content_type().unwrap_or_default()),
        ("content-length", answer.field("content-length").unwrap_or_default()),
    ]))
}

/// The head for a body without transfer coding.
fn archived_head(head: &[u8]) -> Vec<u8> {
    const NAME: &[u8] = b"transfer-encoding:";
    let mut out = Vec::with_capacity(head.len() + 16);
    for line in head.split_inclusive(|&byte| byte == b'\n') {
        if line.len() >= NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME) {
            out.extend_from_slice(b"X-Crawler-");
        }
        out.extend_from_slice(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_transfer_coding_of_a_head_is_renamed() {
        let head =
            b"HTTP/1.1 200 OK\r\nTransfer-encoding: chunked\r\nX: transfer-encoding:\r\n\r\n";
        let kept = b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-encoding: chunked\r\nX: transfer-encoding:\r\n\r\n";
        assert_eq!(archived_head(head), kept);
    }
}
