//! A segment: the sorted pairs of some documents, immutable.
//!
//! Documents are numbered from 0 in the order of their rows. A posting is 64 bits: the 40 high bits of a
//! shingle's value, then the document's number in 24. Postings are sorted; the high bits of the posting
//! name its bucket, of which there is one for about 32 postings; in a bucket each posting is the
//! difference to the one before, in groups of seven bits.
//!
//! Bytes, little-endian:
//!
//! | bytes | are |
//! |---|---|
//! | 64 | header: the letters `wonbonSH`; version, bits of a bucket's number, 4 bytes each; documents, postings, bytes of postings, fingerprint of the seed, fingerprint of the tables, fingerprint of the header so far, 8 bytes each |
//! | 12 a document | row, shingles, values that are kept |
//! | – | postings |
//! | 4 a bucket, and 4 | where each bucket begins among the postings, and where the last ends |
//! | 8 | fingerprint of the postings |
//!
//! Header and tables are checked when a segment is opened, postings when somebody asks for it: what a
//! damaged posting could say is checked by its reader, and every answer is verified against the texts.

use std::fs::File;
use std::hash::Hasher;
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use wonbon_sketch::rabin::{RABIN_64, RabinHasher};

use super::mapped::SegmentBytes;
use super::sampler::ShingleSketch;
use crate::{IndexError, Row};

const MAGIC: &[u8; 8] = b"wonbonSH";
const VERSION: u32 = 1;
/// Postings up to so many bytes are checked whenever a segment is opened: those of 200,000 documents. Those of larger
/// ones are checked by whoever opens the index to write, in a thread of its own.
const CHECKED_AT_ONCE: usize = 32 << 20;

const HEADER_BYTES: usize = 64;
const DOCUMENT_BYTES: usize = 12;
const CHECKSUM_BYTES: usize = 8;

/// Bits of a document's number in a posting.
pub(super) const NUMBER_BITS: u32 = 24;
/// The most documents of a segment.
pub(super) const MOST_DOCUMENTS: usize = 1 << NUMBER_BITS;
/// The most postings of a segment: so many that every place among them fits in 32 bits.
pub(super) const MOST_POSTINGS: u64 = 1 << 28;

/// A document of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentDocument {
    pub(super) row: Row,
    /// Its different shingles; none for one that is deleted or empty.
    pub(super) shingles: u32,
    /// Its values that are kept.
    pub(super) values: u32,
}

/// The posting of a value in a document.
pub(super) fn posting(value: u64, number: u32) -> u64 {
    value >> NUMBER_BITS << NUMBER_BITS | u64::from(number)
}

/// The part of a value that postings keep.
fn key(value_or_posting: u64) -> u64 {
    value_or_posting >> NUMBER_BITS
}

fn number(posting: u64) -> u32 {
    (posting & ((1 << NUMBER_BITS) - 1)) as u32
}

/// Sorted pairs of documents and shingles.
#[derive(Debug)]
pub struct Segment {
    bytes: SegmentBytes,
    /// Its file; none while it is in memory.
    path: Option<PathBuf>,
    bucket_bits: u32,
    documents: usize,
    postings: u64,
    posting_bytes: usize,
}

impl Segment {
    /// The segment of these documents, in memory. Each row once; more than fit are refused.
    ///
    /// # Panics
    ///
    /// If there are more than 2^24 documents.
    pub(super) fn in_memory(mut sketches: Vec<(Row, ShingleSketch)>, seed: u64) -> Segment {
        assert!(sketches.len() <= MOST_DOCUMENTS, "a batch of {} documents", sketches.len());
        sketches.sort_unstable_by_key(|(row, _)| *row);
        let documents: Vec<SegmentDocument> = sketches
            .iter()
            .map(|(row, sketch)| SegmentDocument {
                row: *row,
                shingles: sketch.shingles,
                values: sketch.values.len() as u32,
            })
            .collect();
        let mut postings: Vec<u64> = Vec::new();
        for (number, (_, sketch)) in (0..).zip(&sketches) {
            postings.extend(sketch.values.iter().map(|&value| posting(value, number)));
        }
        postings.sort_unstable();
        let mut out =
            SegmentWriter::new(Cursor::new(Vec::new()), &documents, postings.len() as u64, seed)
                .expect("memory takes all bytes");
        for posting in postings {
            out.push(posting).expect("memory takes all bytes");
        }
        let bytes = out.finish().expect("memory takes all bytes").into_inner();
        Self::of_bytes(SegmentBytes::Owned(bytes), None, seed).expect("it was just written")
    }

    /// A segment that was written to memory.
    pub(super) fn of_memory(bytes: Vec<u8>, seed: u64) -> Segment {
        Self::of_bytes(SegmentBytes::Owned(bytes), None, seed).expect("it was just written")
    }

    /// Opens a file. Header and tables are checked, and the postings of a file that is read in
    /// milliseconds: a flipped bit among them would hide documents, and nobody would know.
    pub(super) fn open(path: &Path, seed: u64) -> Result<Segment, IndexError> {
        let io = |source| IndexError::Io { doing: "open", path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        let bytes = SegmentBytes::map(&file).map_err(io)?;
        let segment = Self::of_bytes(bytes, Some(path.to_owned()), seed)
            .map_err(|what| IndexError::DamagedShingles { path: path.to_owned(), what })?;
        if segment.posting_bytes <= CHECKED_AT_ONCE {
            segment.check()?;
        }
        Ok(segment)
    }

    fn of_bytes(
        bytes: SegmentBytes,
        path: Option<PathBuf>,
        seed: u64,
    ) -> Result<Segment, &'static str> {
        let header = bytes.get(..HEADER_BYTES).ok_or("it is too short")?;
        if !header.starts_with(MAGIC) {
            return Err("it is no segment of shingles");
        }
        if number_8(header, 56) != RABIN_64.fingerprint(&header[..56]) {
            return Err("its header is not what was written");
        }
        if number_4(header, 8) != VERSION {
            return Err("it has a version that this program does not know");
        }
        if number_8(header, 40) != seed {
            return Err("it was made with another seed");
        }
        let bucket_bits = number_4(header, 12);
        let small = |number: u64| usize::try_from(number).map_err(|_| "it is too large");
        let documents = small(number_8(header, 16))?;
        let postings = number_8(header, 24);
        let posting_bytes = small(number_8(header, 32))?;
        if bucket_bits > 32 || documents > MOST_DOCUMENTS || posting_bytes > u32::MAX as usize {
            return Err("its header is not what was written");
        }
        let buckets_bytes = ((1usize << bucket_bits) + 1) * 4;
        let length = HEADER_BYTES
            + documents * DOCUMENT_BYTES
            + posting_bytes
            + buckets_bytes
            + CHECKSUM_BYTES;
        if bytes.len() != length {
            return Err("its length is not what its header says");
        }
        let table = number_8(header, 48);
        let segment = Segment { bytes, path, bucket_bits, documents, postings, posting_bytes };
        let mut hash = RabinHasher::new(&RABIN_64);
        hash.write(segment.document_bytes());
        hash.write(segment.bucket_bytes());
        if hash.finish() != table {
            return Err("its tables are not what was written");
        }
        Ok(segment)
    }

    /// Checks the postings too.
    pub(super) fn check(&self) -> Result<(), IndexError> {
        let written = number_8(&self.bytes, self.bytes.len() - CHECKSUM_BYTES);
        if RABIN_64.fingerprint(self.posting_slice()) != written {
            return Err(self.damaged("its postings are not what was written"));
        }
        Ok(())
    }

    pub(super) fn damaged(&self, what: &'static str) -> IndexError {
        IndexError::DamagedShingles { path: self.path.clone().unwrap_or_default(), what }
    }

    /// How many documents it holds, deleted ones included.
    #[must_use]
    pub fn documents(&self) -> usize {
        self.documents
    }

    /// How many postings it holds.
    #[must_use]
    pub fn postings(&self) -> u64 {
        self.postings
    }

    /// Its bytes, in memory or on disk.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it holds no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents == 0
    }

    /// Whether it takes the process's own memory.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.bytes.in_memory()
    }

    /// The bytes, to write them to a file.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    fn document_bytes(&self) -> &[u8] {
        &self.bytes[HEADER_BYTES..HEADER_BYTES + self.documents * DOCUMENT_BYTES]
    }

    fn posting_slice(&self) -> &[u8] {
        let start = HEADER_BYTES + self.documents * DOCUMENT_BYTES;
        &self.bytes[start..start + self.posting_bytes]
    }

    fn bucket_bytes(&self) -> &[u8] {
        let start = HEADER_BYTES + self.documents * DOCUMENT_BYTES + self.posting_bytes;
        &self.bytes[start..self.bytes.len() - CHECKSUM_BYTES]
    }

    pub(super) fn document(&self, number: u32) -> SegmentDocument {
        let at = &self.document_bytes()[number as usize * DOCUMENT_BYTES..];
        SegmentDocument {
            row: Row(number_4(at, 0)),
            shingles: number_4(at, 4),
            values: number_4(at, 8),
        }
    }

    /// The document of a row.
    pub(super) fn find(&self, row: Row) -> Option<(u32, SegmentDocument)> {
        let (mut low, mut high) = (0, self.documents as u32);
        // Where documents only come, a newer segment has higher rows than all older ones.
        if high == 0 || row < self.document(0).row || row > self.document(high - 1).row {
            return None;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            match self.document(middle).row.cmp(&row) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some((middle, self.document(middle))),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn bucket(&self, bucket: usize) -> std::ops::Range<usize> {
        let table = self.bucket_bytes();
        number_4(table, bucket * 4) as usize..number_4(table, bucket * 4 + 4) as usize
    }

    fn bucket_of(&self, value: u64) -> usize {
        // A shift by all bits would be none.
        value.checked_shr(64 - self.bucket_bits).unwrap_or(0) as usize
    }

    fn bucket_start(&self, bucket: usize) -> u64 {
        (bucket as u64).checked_shl(64 - self.bucket_bits).unwrap_or(0)
    }

    /// How many bytes more than usual a look-up of this value reads, at most: what is in its bucket beyond
    /// what buckets have whose values are all rare.
    pub(super) fn cost(&self, value: u64) -> usize {
        self.bucket(self.bucket_of(value)).len().saturating_sub(USUAL_BYTES)
    }

    /// Calls `each` with the number of every document that has this value.
    pub(super) fn for_each_document_with(
        &self,
        value: u64,
        mut each: impl FnMut(u32),
    ) -> Result<(), IndexError> {
        let bucket = self.bucket_of(value);
        let bytes = self.posting_slice().get(self.bucket(bucket));
        let mut rest = bytes.ok_or_else(|| self.damaged("a bucket is not where it should be"))?;
        let wanted = key(value);
        let mut at = self.bucket_start(bucket);
        while !rest.is_empty() {
            let step = read_number(&mut rest);
            at = step
                .and_then(|step| at.checked_add(step))
                .ok_or_else(|| self.damaged("a posting is not what was written"))?;
            if key(at) < wanted {
                continue;
            }
            if key(at) > wanted {
                break;
            }
            if number(at) as usize >= self.documents {
                return Err(self.damaged("a posting is of no document"));
            }
            each(number(at));
        }
        Ok(())
    }

    /// All postings in order.
    pub(super) fn all(&self) -> Postings<'_> {
        Postings { segment: self, bucket: 0, rest: &[], at: 0 }
    }
}

/// The postings of a segment in order.
pub(super) struct Postings<'a> {
    segment: &'a Segment,
    /// The next bucket.
    bucket: usize,
    rest: &'a [u8],
    at: u64,
}

impl Postings<'_> {
    /// The next posting: key and document.
    pub(super) fn next(&mut self) -> Result<Option<(u64, u32)>, IndexError> {
        while self.rest.is_empty() {
            if self.bucket == 1 << self.segment.bucket_bits {
                return Ok(None);
            }
            let bytes = self.segment.posting_slice().get(self.segment.bucket(self.bucket));
            self.rest =
                bytes.ok_or_else(|| self.segment.damaged("a bucket is not where it should be"))?;
            self.at = self.segment.bucket_start(self.bucket);
            self.bucket += 1;
        }
        self.at = read_number(&mut self.rest)
            .and_then(|step| self.at.checked_add(step))
            .ok_or_else(|| self.segment.damaged("a posting is not what was written"))?;
        if number(self.at) as usize >= self.segment.documents {
            return Err(self.segment.damaged("a posting is of no document"));
        }
        Ok(Some((key(self.at) << NUMBER_BITS, number(self.at))))
    }
}

/// Writes a segment: documents first, then postings in order.
pub(super) struct SegmentWriter<W: Write + Seek> {
    out: W,
    bucket_bits: u32,
    documents: usize,
    seed: u64,
    tables: RabinHasher,
    hash: RabinHasher,
    /// Where buckets begin, as far as they have begun.
    buckets: Vec<u32>,
    postings: u64,
    bytes: usize,
    last: u64,
    waiting: Vec<u8>,
}

impl<W: Write + Seek> SegmentWriter<W> {
    /// `postings` is how many there will be, about.
    pub(super) fn new(
        mut out: W,
        documents: &[SegmentDocument],
        postings: u64,
        seed: u64,
    ) -> std::io::Result<Self> {
        let bucket_bits = (postings / 32).checked_ilog2().unwrap_or(0).min(28);
        out.write_all(&[0; HEADER_BYTES])?;
        let mut bytes = Vec::with_capacity(documents.len() * DOCUMENT_BYTES);
        for document in documents {
            for number in [document.row.0, document.shingles, document.values] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        out.write_all(&bytes)?;
        let mut tables = RabinHasher::new(&RABIN_64);
        tables.write(&bytes);
        Ok(SegmentWriter {
            out,
            bucket_bits,
            documents: documents.len(),
            seed,
            tables,
            hash: RabinHasher::new(&RABIN_64),
            buckets: vec![0],
            postings: 0,
            bytes: 0,
            last: 0,
            waiting: Vec::with_capacity(WAITING_BYTES + 16),
        })
    }

    pub(super) fn push(&mut self, posting: u64) -> std::io::Result<()> {
        let bucket = posting.checked_shr(64 - self.bucket_bits).unwrap_or(0) as usize;
        while self.buckets.len() <= bucket {
            self.buckets.push((self.bytes + self.waiting.len()) as u32);
            self.last =
                ((self.buckets.len() - 1) as u64).checked_shl(64 - self.bucket_bits).unwrap_or(0);
        }
        let mut step = posting - self.last;
        while step >= 0x80 {
            self.waiting.push(step as u8 | 0x80);
            step >>= 7;
        }
        self.waiting.push(step as u8);
        self.last = posting;
        self.postings += 1;
        if self.waiting.len() >= WAITING_BYTES {
            self.write_waiting()?;
        }
        Ok(())
    }

    fn write_waiting(&mut self) -> std::io::Result<()> {
        self.hash.write(&self.waiting);
        self.out.write_all(&self.waiting)?;
        self.bytes += self.waiting.len();
        self.waiting.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> std::io::Result<W> {
        self.write_waiting()?;
        self.buckets.resize((1 << self.bucket_bits) + 1, self.bytes as u32);
        let table: Vec<u8> = self.buckets.iter().flat_map(|start| start.to_le_bytes()).collect();
        self.tables.write(&table);
        self.out.write_all(&table)?;
        self.out.write_all(&self.hash.finish().to_le_bytes())?;

        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&self.bucket_bits.to_le_bytes());
        for number in [
            self.documents as u64,
            self.postings,
            self.bytes as u64,
            self.seed,
            self.tables.finish(),
        ] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        let fingerprint = RABIN_64.fingerprint(&header);
        header.extend_from_slice(&fingerprint.to_le_bytes());
        self.out.seek(SeekFrom::Start(0))?;
        self.out.write_all(&header)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A bucket of rare values has fewer bytes: on average 32 to 64 postings of 6.
const USUAL_BYTES: usize = 1024;

/// Postings are handed over in pieces of this many bytes.
const WAITING_BYTES: usize = 1 << 16;

fn number_4(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("the length was checked"))
}

fn number_8(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("the length was checked"))
}

/// A number in groups of seven bits; `None` if there is none.
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for (place, &byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            *bytes = &bytes[place + 1..];
            return Some(number);
        }
    }
    None
}
