//! Web archives (WARC) as rows.
//!
//! A response with status 200 whose type is text for readers is a document: its key is the address,
//! it was created when it was fetched. One with status 3xx and a `Location` leads elsewhere. A revisit
//! is the document of the record that has its body, seen again: that record is looked up by the digest
//! of the payload, or without one by its name, among the responses read before, in this file or an earlier one of
//! the same run, and read a second time. All other records (requests, metadata, images, errors,
//! revisits of what is not here) are skipped and counted.
//!
//! One thread reads the records in order and only inflates them; all threads work on heads, content codings,
//! charsets and core text. A damaged record is reported with its offset, and reading continues after it.
//!
//! Cost: a batch of blocks; of each response some 50 bytes to be found again.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::Compression;
use flate2::write::GzEncoder;
use wonbon_warc::http::{End, Head};
use wonbon_warc::{FoundRecord, Header, Reader, RecordId, RecordKind, WarcError};

use super::json::RowParser;
use super::{FormatReader, FormatRows, Piece, RowOutcome, Rows, Visitor};
use crate::binary::{is_binary, is_document_type};
use crate::document::{Content, Document};
use crate::inputs::InputFile;
use crate::open::Source;
use crate::resolve::RowError;

/// About how many bytes of blocks are handed over at a time.
const BATCH_BYTES: usize = 1 << 20;

/// How much of a block is read to see what it is.
const HEAD_BYTES: usize = 64 << 10;

/// The field that says when a record was fetched.
const DATE: &str = "WARC-Date";

/// A record that may be a row.
#[derive(Debug)]
pub struct ArchiveRecord {
    /// The address it is about.
    target: String,
    header: Header,
    /// Head and body; of a revisit the head alone.
    block: Vec<u8>,
    /// Where the body of a revisit is.
    body_at: Option<Place>,
    /// The most bytes of a body, packed and unpacked.
    limit: usize,
}

/// Where a record can be read again.
#[derive(Clone, Debug)]
struct Place {
    path: Arc<PathBuf>,
    offset: u64,
}

/// What a record holds.
enum Held {
    /// The body with its codings undone.
    Page {
        /// The body.
        bytes: Vec<u8>,
        /// What the header says of it.
        content_type: Option<String>,
    },
    /// Where the address leads, absolute.
    Redirect(String),
}

/// Records of an archive that may be documents.
#[derive(Debug, Default)]
pub struct ArchiveRows {
    /// The records.
    pub records: Vec<ArchiveRecord>,
    /// Bytes of the blocks.
    bytes: u64,
}

/// Responses read before, by the digest of their payload and by their name.
#[derive(Debug, Default)]
pub(crate) struct KnownRecords {
    places: HashMap<u128, Place>,
}

impl KnownRecords {
    fn remember(&mut self, header: &Header, place: &Place) {
        let by_name = header.id().map(RecordId::to_bits);
        for key in by_digest(header).into_iter().chain(by_name) {
            self.places.entry(key).or_insert_with(|| place.clone());
        }
    }

    /// The record whose payload a revisit repeats.
    fn of_revisit(&self, header: &Header) -> Option<Place> {
        // A record of the right name and another payload is not what was seen again.
        let key = by_digest(header).or_else(|| header.refers_to().map(RecordId::to_bits))?;
        self.places.get(&key).cloned()
    }
}

/// The beginning of the digest of a payload.
fn by_digest(header: &Header) -> Option<u128> {
    let digest = header.payload_digest()?;
    let start = digest.as_bytes().first_chunk::<16>().expect("a SHA-1 has twenty bytes");
    Some(u128::from_be_bytes(*start))
}

/// Reads an archive batch by batch.
pub(crate) struct ArchiveReader {
    reader: Reader<Box<dyn Read + Send>>,
    /// Where its records can be read again, unless it is unpacked on the way.
    path: Option<Arc<PathBuf>>,
    /// The most bytes of one document.
    limit: usize,
    /// Where the record before began: a second record there is inside the same gzip member.
    last_offset: Option<u64>,
    /// Responses of this and earlier archives.
    known: Arc<Mutex<KnownRecords>>,
}

impl ArchiveReader {
    /// Opens an archive. Gzip is undone record by record, so that their places are known; other
    /// compression was undone by `source`.
    pub(crate) fn open(
        source: Source,
        path: &Path,
        known: Arc<Mutex<KnownRecords>>,
    ) -> std::io::Result<Self> {
        let limit = source.limits.document_bytes;
        let (reader, path): (Box<dyn Read + Send>, _) = match open_plain(path)? {
            Some(file) => (Box::new(file), Some(Arc::new(path.to_owned()))),
            None => (Box::new(Unpacked(source)), None),
        };
        Ok(ArchiveReader { reader: Reader::new(reader), path, limit, last_offset: None, known })
    }
}

/// An archive whose records can be read at their places: not standard input, and plain or gzip.
fn open_plain(path: &Path) -> std::io::Result<Option<File>> {
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let mut start = [0; 2];
    if file.read_exact(&mut start).is_err() || !matches!(&start, b"\x1f\x8b" | b"WA") {
        return Ok(None);
    }
    file.rewind()?;
    Ok(Some(file))
}

impl FormatReader for ArchiveReader {
    /// After damage the archive may go on.
    fn next_into(&mut self, piece: &mut Piece) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut rows = ArchiveRows::default();
        while rows.bytes < BATCH_BYTES as u64 && piece.passed_over < 10_000 {
            let error = match self.reader.next_record() {
                Ok(None) if rows.records.is_empty() && piece.passed_over == 0 => return false,
                Ok(None) => break,
                Ok(Some(mut found)) => {
                    let inside_a_member =
                        self.last_offset.replace(found.offset()) == Some(found.offset());
                    let place = self.path.clone().filter(|_| !inside_a_member);
                    let place = place.map(|path| Place { path, offset: found.offset() });
                    match record_of(&mut found, place, &mut known, self.limit) {
                        Ok(Some(record)) => {
                            rows.bytes += record.block.len() as u64;
                            rows.records.push(record);
                            continue;
                        }
                        Ok(None) => {
                            piece.passed_over += 1;
                            continue;
                        }
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            piece.broken = Some(in_words(&error));
            break;
        }
        piece.rows = Rows::Archive(rows);
        true
    }

    fn field_names(&mut self) -> Option<Vec<String>> {
        None
    }
}

impl FormatRows for ArchiveRows {
    fn count(&self) -> usize {
        self.records.len()
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn for_each_document(
        &mut self,
        _file: &InputFile,
        _parser: &mut RowParser,
        each: &mut Visitor<'_>,
    ) {
        for (record, number) in self.records.iter().zip(1..) {
            let outcome = match record.document() {
                Ok(Some(document)) => RowOutcome::Document(document),
                Ok(None) => RowOutcome::PassedOver,
                Err(why) => RowOutcome::Refused(why.to_string()),
            };
            each(Some(number), outcome);
        }
    }
}

/// A source as a stream of bytes.
struct Unpacked(Source);

impl Read for Unpacked {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let ahead = self.0.reader().fill_buf()?;
        let length = ahead.len().min(out.len());
        out[..length].copy_from_slice(&ahead[..length]);
        self.0.reader().consume(length);
        Ok(length)
    }
}

/// What is wrong, to stand behind the name of the file.
fn in_words(error: &WarcError) -> String {
    match error {
        WarcError::Torn { offset } => {
            format!("is torn: it ends inside the record at byte {offset}")
        }
        WarcError::Damaged { offset, damage } => {
            format!("has a damaged record at byte {offset}: {damage}")
        }
        WarcError::TooLong { offset, length, .. } => {
            format!("has a record of {length} bytes at byte {offset}, which is too long")
        }
        error => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            format!("could not be read{}", cause.unwrap_or_default())
        }
    }
}

/// The record as one that may be a row; none if it is to be skipped.
fn record_of<R: Read>(
    found: &mut FoundRecord<'_, R>,
    place: Option<Place>,
    known: &mut KnownRecords,
    limit: usize,
) -> Result<Option<ArchiveRecord>, WarcError> {
    let header = found.header().clone();
    let Some(target) = header.target() else { return Ok(None) };
    let is_page = target.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http"));
    let target = target.to_owned();
    let body_at = match header.kind() {
        RecordKind::Response if is_page => {
            if !Head::parse(found.peek(HEAD_BYTES)?).is_ok_and(|head| is_wanted(&head)) {
                return Ok(None);
            }
            None
        }
        RecordKind::Revisit if is_page => match known.of_revisit(&header) {
            Some(place) => Some(place),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    let block = found.read_block(most_of_a_block(limit))?;
    if let (Some(place), None) = (place, &body_at) {
        known.remember(&header, &place);
    }
    Ok(Some(ArchiveRecord { target, header, block, body_at, limit }))
}

/// The longest block that is read, for documents of up to so many bytes.
fn most_of_a_block(limit: usize) -> u64 {
    limit.saturating_add(HEAD_BYTES) as u64
}

/// Whether an answer is a document or leads to another.
fn is_wanted(head: &Head) -> bool {
    match head.status {
        200 => is_document_type(head.header("content-type")),
        301 | 302 | 303 | 307 | 308 => head.header("location").is_some(),
        _ => false,
    }
}

impl ArchiveRecord {
    /// The document that it holds, or where its address leads; none if that is nothing for a reader,
    /// or is not there any more.
    ///
    /// # Errors
    ///
    /// [`RowError::NotATime`] if its date has another form than archives write, as for a time in a row;
    /// [`RowError::RowTooLong`] if its body unpacks to more bytes than a document may have.
    pub fn document(&self) -> Result<Option<Document<'_>>, RowError> {
        let content = match self.held()? {
            None => return Ok(None),
            Some(Held::Page { bytes, .. }) if is_binary(&bytes) => return Ok(None),
            Some(Held::Page { bytes, content_type }) => {
                Content::Bytes { bytes: bytes.into(), charset: content_type.map(Into::into) }
            }
            Some(Held::Redirect(to)) => Content::Redirect(to.into()),
        };
        let created = match (self.header.date(), self.header.field(DATE)) {
            (None, Some(value)) => return Err(RowError::not_a_time(DATE, value)),
            (date, _) => date,
        };
        Ok(Some(Document {
            url: Some(self.target.as_str().into()),
            created,
            archived: true,
            ..Document::new(self.target.as_str(), content)
        }))
    }

    fn held(&self) -> Result<Option<Held>, RowError> {
        match &self.body_at {
            None => held_by(&self.block, &self.target, self.limit),
            // What is not there any more is no document.
            Some(place) => match self.block_at(place) {
                Some(block) => held_by(&block, &self.target, self.limit),
                None => Ok(None),
            },
        }
    }

    fn block_at(&self, place: &Place) -> Option<Vec<u8>> {
        let mut file = File::open(place.path.as_ref()).ok()?;
        file.seek(SeekFrom::Start(place.offset)).ok()?;
        let mut reader = Reader::new(file);
        reader.next_record().ok()??.read_block(most_of_a_block(self.limit)).ok()
    }

    /// The record as it stands in an archive, a gzip member of its own if so wished.
    #[must_use]
    pub fn to_bytes(&self, gzip: bool) -> Vec<u8> {
        let record = self.header.with_block(&self.block);
        if !gzip {
            return record;
        }
        let mut member = GzEncoder::new(Vec::new(), Compression::default());
        member
            .write_all(&record)
            .and_then(|()| member.finish())
            .expect("memory takes all that is written to it")
    }
}

fn held_by(block: &[u8], target: &str, limit: usize) -> Result<Option<Held>, RowError> {
    let Ok(head) = Head::parse(block) else { return Ok(None) };
    if head.status != 200 {
        return Ok(redirect_of(&head, target));
    }
    let Ok(body) = head.body(block, limit) else { return Ok(None) };
    match body.end {
        End::Limit => return Err(RowError::RowTooLong { limit }),
        End::Damaged if body.bytes.is_empty() => return Ok(None),
        _ => {}
    }
    let content_type = head.header("content-type").map(str::to_owned);
    Ok(Some(Held::Page { bytes: body.bytes.into_owned(), content_type }))
}

fn redirect_of(head: &Head, target: &str) -> Option<Held> {
    let base = url::Url::parse(target).ok()?;
    let mut to = base.join(head.header("location")?).ok()?;
    to.set_fragment(None);
    (to.as_str() != target).then(|| Held::Redirect(to.into()))
}
