//! Writing records, one gzip member each.
//!
//! A member per record costs some 2 % of size and lets a reader begin at any record. Each record
//! is made whole in memory and written at once; the caller learns where it stands, writes that into
//! its log, and after a crash opens the file at the end of the last record its log knows: what lies
//! behind is thrown away.

use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use wonbon_time::Timestamp;

use crate::digest::Digest;
use crate::error::WarcError;
use crate::identifier::RecordId;
use crate::record::{REVISIT_PROFILE, Record, RecordKind};

/// How well is compressed unless said: of 400 pages of 27 kB, level 1 packs 3,900 a second to 32 %,
/// level 3 2,400 to 27.2 %, level 6 1,400 to 26.7 % (one core of a busy machine, 2026-11-16).
const LEVEL: u32 = 3;

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where its gzip member begins.
    pub offset: u64,
    /// How long the member is.
    pub length: u64,
    /// The name of the record.
    pub id: RecordId,
}

/// Writes records.
#[derive(Debug)]
pub struct Writer<W> {
    inner: W,
    /// Where the next record begins.
    offset: u64,
    /// Makes names of records differ between files.
    seed: u64,
    level: Compression,
    /// A write failed: what is in the file is not known.
    failed: bool,
}

impl Writer<File> {
    /// Makes a file that does not exist yet. `seed` makes the names of its records its own: give
    /// every file of a crawl another one.
    ///
    /// # Errors
    ///
    /// When the file exists or cannot be made.
    pub fn create(path: &Path, seed: u64) -> Result<Self, WarcError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|source| file_error("create", path, source))?;
        Ok(Writer::new(file, seed))
    }

    /// Opens a file to go on at `at`, the end of its last record; what lies behind is thrown away.
    ///
    /// # Errors
    ///
    /// When the file is shorter than that, or cannot be opened or cut.
    pub fn append(path: &Path, at: u64, seed: u64) -> Result<Self, WarcError> {
        let opened = OpenOptions::new().write(true).open(path);
        let mut file = opened.map_err(|source| file_error("open", path, source))?;
        let length = file.metadata().map_err(|source| file_error("look at", path, source))?.len();
        if length < at {
            return Err(WarcError::Shorter { path: path.to_owned(), length, at });
        }
        file.set_len(at).map_err(|source| file_error("cut", path, source))?;
        file.seek(SeekFrom::Start(at)).map_err(|source| file_error("open", path, source))?;
        Ok(Writer { offset: at, ..Writer::new(file, seed) })
    }

    /// Waits until everything written is on the disk.
    ///
    /// # Errors
    ///
    /// When the system cannot say so.
    pub fn sync(&mut self) -> Result<(), WarcError> {
        self.inner.sync_data().map_err(|source| {
            self.failed = true;
            WarcError::Io { doing: "sync", source }
        })
    }
}

fn file_error(doing: &'static str, path: &Path, source: std::io::Error) -> WarcError {
    WarcError::File { doing, path: path.to_owned(), source }
}

impl<W: Write> Writer<W> {
    /// Writes to anything, from its beginning.
    pub fn new(inner: W, seed: u64) -> Self {
        Writer { inner, offset: 0, seed, level: Compression::new(LEVEL), failed: false }
    }

    /// Compresses faster or better: 1 to 9, 3 unless said.
    #[must_use]
    pub fn level(mut self, level: u32) -> Self {
        self.level = Compression::new(level.clamp(1, 9));
        self
    }

    /// Where the next record begins: the length of the file.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// What is written to.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// What was written to.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Writes a record, with one call to what is written to.
    ///
    /// # Errors
    ///
    /// When a field cannot be written as it is, or writing fails; after a failed write nothing more
    /// is written.
    pub fn write(&mut self, record: &Record<'_>) -> Result<Place, WarcError> {
        if self.failed {
            let source = std::io::Error::other("an earlier write failed");
            return Err(WarcError::Io { doing: "write", source });
        }
        let (header, id) = self.header(record)?;
        let io = |source| WarcError::Io { doing: "write", source };
        let mut member = GzBuilder::new().write(Vec::new(), self.level);
        for part in [header.as_slice(), record.head, record.payload, b"\r\n\r\n"] {
            member.write_all(part).map_err(io)?;
        }
        let member = member.finish().map_err(io)?;
        self.inner.write_all(&member).map_err(|source| {
            self.failed = true;
            WarcError::Io { doing: "write", source }
        })?;
        let place = Place { offset: self.offset, length: member.len() as u64, id };
        self.offset += place.length;
        Ok(place)
    }

    /// The header with its empty line, and the name of the record.
    fn header(&self, record: &Record<'_>) -> Result<(Vec<u8>, RecordId), WarcError> {
        let block_digest = Digest::of_parts(&[record.head, record.payload]);
        let date = write_date(record.date);
        let id = RecordId::of_parts(&[
            b"wonbon warc record",
            &self.seed.to_le_bytes(),
            &self.offset.to_le_bytes(),
            record.kind.as_str().as_bytes(),
            b"\n",
            record.target.unwrap_or_default().as_bytes(),
            b"\n",
            date.as_bytes(),
            block_digest.as_bytes(),
        ]);
        let mut header = Fields { text: String::with_capacity(640) };
        header.text.push_str("WARC/1.1\r\n");
        header.add("WARC-Type", record.kind.as_str())?;
        header.add("WARC-Record-ID", &id.to_string())?;
        header.add("WARC-Date", &date)?;
        if let Some(target) = record.target {
            header.add("WARC-Target-URI", target)?;
        }
        if let Some(address) = record.address {
            header.add("WARC-IP-Address", &address.to_string())?;
        }
        if let Some(id) = record.concurrent_to {
            header.add("WARC-Concurrent-To", &id.to_string())?;
        }
        if record.kind == RecordKind::Revisit {
            header.add("WARC-Profile", REVISIT_PROFILE)?;
        }
        if let Some(earlier) = &record.refers_to {
            header.add("WARC-Refers-To", &earlier.id.to_string())?;
            header.add("WARC-Refers-To-Target-URI", earlier.target)?;
            header.add("WARC-Refers-To-Date", &write_date(earlier.date))?;
        }
        if let Some(why) = record.truncated {
            header.add("WARC-Truncated", why)?;
        }
        if let Some(protocol) = record.protocol {
            header.add("WARC-Protocol", protocol)?;
        }
        for &(name, value) in &record.fields {
            header.add(name, value)?;
        }
        header.add("WARC-Block-Digest", &block_digest.to_string())?;
        let computed = || (record.kind == RecordKind::Response).then(|| Digest::of(record.payload));
        if let Some(digest) = record.payload_digest.or_else(computed) {
            header.add("WARC-Payload-Digest", &digest.to_string())?;
        }
        header.add("Content-Type", record.content_type)?;
        let length = record.head.len() as u64 + record.payload.len() as u64;
        header.add("Content-Length", &length.to_string())?;
        header.text.push_str("\r\n");
        Ok((header.text.into_bytes(), id))
    }
}

/// A date as WARC writes it: to the millisecond, as WARC 1.0 does where it is a whole second.
fn write_date(date: Timestamp) -> String {
    let text = format!("{date:.3}");
    match text.strip_suffix(".000Z") {
        Some(whole) => format!("{whole}Z"),
        None => text,
    }
}

/// The lines of a header.
struct Fields {
    text: String,
}

impl Fields {
    fn add(&mut self, name: &str, value: &str) -> Result<(), WarcError> {
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let good_name = !name.is_empty() && name.bytes().all(is_token);
        if !good_name || value.chars().any(|c| matches!(c, '\r' | '\n' | '\0')) {
            return Err(WarcError::BadField { field: name.to_owned(), value: value.to_owned() });
        }
        for part in [name, ": ", value, "\r\n"] {
            self.text.push_str(part);
        }
        Ok(())
    }
}
