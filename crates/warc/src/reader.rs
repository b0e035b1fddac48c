//! Reading records as a stream, and going on after damage.
//!
//! A file is a row of records, each plain or a gzip member; a member may hold more than one record,
//! as in files that were gzipped as a whole. Records are read one after the other; the block of a record
//! is a stream too, so that a record of any length takes no more memory than its reader gives it.
//!
//! A damaged record is reported once, with the place where it begins, and reading goes on at the next
//! record that can be found: the next gzip member that holds one, or, in a plain file, the next line
//! that begins one. A file that ends inside a record is reported as torn, and nothing comes after.
//!
//! Cost: a window of at most a megabyte (see [`crate::window`]) and a header; inflating is all the
//! work.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use wonbon_time::Timestamp;

use crate::digest::Digest;
use crate::error::{Damage, WarcError};
use crate::identifier::RecordId;
use crate::record::Kind;
use crate::window::Window;

/// How much is read at a time.
const CHUNK: usize = 1 << 16;

/// How much is looked at to see whether a record begins.
const LOOK_AHEAD: usize = 4096;

/// What is held in memory, and what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a record's header: 64 KiB.
    pub header_bytes: usize,
    /// Whether [`Found::read_block`] compares a block with the SHA-1 in its header: yes. It costs a
    /// few percent of inflating.
    pub check_digests: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { header_bytes: 1 << 16, check_digests: true }
    }
}

/// The header of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    version: &'static str,
    kind: Kind,
    content_length: u64,
    fields: Vec<(String, String)>,
}

impl Header {
    /// `WARC/1.0` or `WARC/1.1`.
    #[must_use]
    pub fn version(&self) -> &'static str {
        self.version
    }

    /// The record as it stands in a file, with this block; lines that were folded are not.
    #[must_use]
    pub fn with_block(&self, block: &[u8]) -> Vec<u8> {
        let mut record = self.version.to_owned();
        for (name, value) in &self.fields {
            for part in ["\r\n", name, ": ", value] {
                record.push_str(part);
            }
        }
        record.push_str("\r\n\r\n");
        [record.as_bytes(), block, b"\r\n\r\n"].concat()
    }

    /// What the record is.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// How long its block is.
    #[must_use]
    pub fn content_length(&self) -> u64 {
        self.content_length
    }

    /// All fields, in order.
    #[must_use]
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// The first field with this name, whatever its case.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    /// The address the record is about. WARC 1.0 shows it between `<` and `>`, and some writers do.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.field("WARC-Target-URI").map(plain_address)
    }

    /// When it came about.
    #[must_use]
    pub fn date(&self) -> Option<Timestamp> {
        Timestamp::parse_iso(self.field("WARC-Date")?).ok()
    }

    /// Its name, if that is a UUID.
    #[must_use]
    pub fn id(&self) -> Option<RecordId> {
        self.field("WARC-Record-ID")?.parse().ok()
    }

    /// The digest of its block, if that is a SHA-1.
    #[must_use]
    pub fn block_digest(&self) -> Option<Digest> {
        self.field("WARC-Block-Digest")?.parse().ok()
    }

    /// The digest of its payload, if that is a SHA-1.
    #[must_use]
    pub fn payload_digest(&self) -> Option<Digest> {
        self.field("WARC-Payload-Digest")?.parse().ok()
    }

    /// The name of the record it refers to, if that is a UUID.
    #[must_use]
    pub fn refers_to(&self) -> Option<RecordId> {
        self.field("WARC-Refers-To")?.parse().ok()
    }

    /// The address of the record it refers to.
    #[must_use]
    pub fn refers_to_target(&self) -> Option<&str> {
        self.field("WARC-Refers-To-Target-URI").map(plain_address)
    }

    /// The date of the record it refers to.
    #[must_use]
    pub fn refers_to_date(&self) -> Option<Timestamp> {
        Timestamp::parse_iso(self.field("WARC-Refers-To-Date")?).ok()
    }
}

fn plain_address(value: &str) -> &str {
    value.strip_prefix('<').and_then(|value| value.strip_suffix('>')).unwrap_or(value)
}

/// Where the bytes come from.
#[derive(Debug)]
enum Stream<R> {
    /// Between members, or in a plain record.
    Plain(Window<R>),
    /// Inside a gzip member.
    Member(BufReader<GzDecoder<Window<R>>>),
    /// Only while it is being changed.
    Changing,
}

/// The record that is being read.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Bytes of its block that were not read yet.
    remaining: u64,
}

/// What is to be done before the next record.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// It begins here.
    Here,
    /// It has to be looked for behind this place: as a gzip member and, if that was none, as a line.
    Behind { offset: u64, in_member: bool },
    /// There is none.
    None,
}

/// Reads records.
#[derive(Debug)]
pub struct Reader<R> {
    stream: Stream<R>,
    limits: Limits,
    open: Option<Open>,
    next: Next,
    /// Where the member or plain record being read begins.
    offset: u64,
}

impl<R: Read> Reader<R> {
    /// Reads what a stream holds, from its beginning.
    pub fn new(inner: R) -> Self {
        Reader::with_limits(inner, Limits::default())
    }

    /// As [`new`](Self::new), with other limits.
    pub fn with_limits(inner: R, limits: Limits) -> Self {
        let stream = Stream::Plain(Window::new(inner));
        Reader { stream, limits, open: None, next: Next::Here, offset: 0 }
    }

    /// The next record; none at the end. What was not read of the record before is passed over.
    ///
    /// # Errors
    ///
    /// When the record (or the rest of the one before) is damaged or torn; the call after that
    /// goes on with the next record that is found. When the stream fails, nothing comes after.
    pub fn next_record(&mut self) -> Result<Option<Found<'_, R>>, WarcError> {
        self.pass_over()?;
        match self.next {
            Next::None => return Ok(None),
            Next::Behind { offset, in_member } => {
                // Whatever goes wrong from here on, this place is not looked at again.
                self.next = Next::None;
                let found = self.find_behind(offset, in_member);
                if !found.map_err(|source| WarcError::Io { doing: "read", source })? {
                    return Ok(None);
                }
                self.next = Next::Here;
            }
            Next::Here => {}
        }
        if !self.begin()? {
            self.next = Next::None;
            return Ok(None);
        }
        let header = self.read_header().map_err(|error| self.stop(error))?;
        self.open = Some(Open { remaining: header.content_length });
        Ok(Some(Found { offset: self.offset, header, ahead: Vec::new(), taken: 0, reader: self }))
    }

    /// Ends the record before.
    fn pass_over(&mut self) -> Result<(), WarcError> {
        let mut scratch = [0; 8192];
        while self.open.is_some() {
            self.read_some(&mut scratch)?;
        }
        Ok(())
    }

    /// Reads some of the block of the open record; 0 when it is over and its end was as it should
    /// be.
    fn read_some(&mut self, out: &mut [u8]) -> Result<usize, WarcError> {
        let Some(open) = &mut self.open else { return Ok(0) };
        if open.remaining == 0 {
            self.open = None;
            self.read_end().map_err(|error| self.stop(error))?;
            return Ok(0);
        }
        let most = usize::try_from(open.remaining).unwrap_or(usize::MAX).min(out.len());
        if most == 0 {
            return Ok(0);
        }
        let read = self.stream.read(&mut out[..most]);
        let error = match read {
            Ok(0) => Fault::Ends,
            Ok(read) => {
                open.remaining -= read as u64;
                return Ok(read);
            }
            Err(error) => Fault::Read(error),
        };
        self.open = None;
        Err(self.stop(error))
    }

    /// The two empty lines behind a block, and the checksum of a member that ends there.
    fn read_end(&mut self) -> Result<(), Fault> {
        for expected in *b"\r\n\r\n" {
            match self.stream.peek()? {
                Some(byte) if byte == expected => self.stream.consume(1),
                // A member may end without them: its own end is proof enough.
                None if expected == b'\r' && matches!(self.stream, Stream::Member(_)) => break,
                None => return Err(Fault::Ends),
                Some(_) => return Err(Fault::Damage(Damage::BadEnd)),
            }
        }
        if matches!(self.stream, Stream::Member(_)) {
            // Looking for more compares the checksum at the end of a member.
            self.stream.peek()?;
        }
        Ok(())
    }

    /// Goes to the beginning of a record, into the next member if there is one; no at the end.
    fn begin(&mut self) -> Result<bool, WarcError> {
        loop {
            let byte = self.stream.peek().map_err(|error| self.stop(error))?;
            match (byte, &mut self.stream) {
                (None, Stream::Member(_)) => self.leave_member(),
                (None, _) => return Ok(false),
                // Lines left over between records.
                (Some(b'\r' | b'\n'), stream) => stream.consume(1),
                (Some(_), Stream::Member(_)) => return Ok(true),
                (Some(byte), _) => {
                    let is_member = byte == 0x1f;
                    self.mark();
                    if !is_member {
                        return Ok(true);
                    }
                    self.enter_member();
                }
            }
        }
    }

    /// The record or member that begins here is the one that errors name.
    fn mark(&mut self) {
        if let Stream::Plain(window) = &mut self.stream {
            window.mark();
            self.offset = window.offset();
        }
    }

    fn enter_member(&mut self) {
        self.stream = match std::mem::replace(&mut self.stream, Stream::Changing) {
            Stream::Plain(window) => Stream::Member(BufReader::new(GzDecoder::new(window))),
            other => other,
        };
    }

    fn leave_member(&mut self) {
        self.stream = match std::mem::replace(&mut self.stream, Stream::Changing) {
            Stream::Member(member) => Stream::Plain(member.into_inner().into_inner()),
            other => other,
        };
    }

    /// Reads a header up to its empty line.
    fn read_header(&mut self) -> Result<Header, Fault> {
        let limit = self.limits.header_bytes;
        let mut left = limit;
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut line = Vec::new();
        let mut version = "WARC/1.1";
        for number in 1.. {
            line.clear();
            self.stream.read_line(&mut line, left)?;
            if !line.ends_with(b"\n") {
                if number == 1 && !b"WARC/1.".starts_with(&line[..line.len().min(7)]) {
                    return Err(Fault::Damage(Damage::NotARecord));
                }
                let is_long = line.len() >= left;
                return Err(if is_long {
                    Fault::Damage(Damage::LongHeader { limit })
                } else {
                    Fault::Ends
                });
            }
            left -= line.len();
            let text = line.trim_ascii_end();
            if number == 1 {
                version = match text {
                    b"WARC/1.0" => "WARC/1.0",
                    b"WARC/1.1" => "WARC/1.1",
                    _ => return Err(Fault::Damage(Damage::NotARecord)),
                };
                continue;
            }
            if text.is_empty() {
                break;
            }
            let text = String::from_utf8_lossy(text);
            if text.starts_with([' ', '\t']) {
                // A folded line goes on with the field before.
                let Some((_, value)) = fields.last_mut() else {
                    return Err(Fault::Damage(Damage::BadLine { line: number }));
                };
                value.push(' ');
                value.push_str(text.trim());
                continue;
            }
            let Some((name, value)) = text.split_once(':') else {
                return Err(Fault::Damage(Damage::BadLine { line: number }));
            };
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        header_of(version, fields).map_err(Fault::Damage)
    }

    /// Turns a fault into an error, and says where reading goes on.
    fn stop(&mut self, fault: Fault) -> WarcError {
        let offset = self.offset;
        let in_member = matches!(self.stream, Stream::Member(_));
        self.leave_member();
        let failed = matches!(&self.stream, Stream::Plain(window) if window.failed);
        let damage = match fault {
            Fault::Read(source) if failed => {
                self.next = Next::None;
                return WarcError::Io { doing: "read", source };
            }
            Fault::Ends | Fault::Read(_) if self.is_at_end() => None,
            Fault::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Fault::Read(_) => Some(Damage::Gzip),
            // A member that ends inside a record is damage, for the file goes on.
            Fault::Ends if in_member => Some(Damage::BadEnd),
            Fault::Ends => None,
            Fault::Damage(damage) => Some(damage),
        };
        match damage {
            None => {
                self.next = Next::None;
                WarcError::Torn { offset }
            }
            Some(damage) => {
                self.next = Next::Behind { offset, in_member };
                WarcError::Damaged { offset, damage }
            }
        }
    }

    fn is_at_end(&mut self) -> bool {
        matches!(self.stream.peek(), Ok(None))
    }

    /// Looks for the next record behind a place; no if there is none.
    fn find_behind(&mut self, offset: u64, in_member: bool) -> io::Result<bool> {
        const MEMBER: &[u8] = &[0x1f, 0x8b, 8];
        const LINE: &[u8] = b"\nWARC/1.";
        let Stream::Plain(window) = &mut self.stream else { return Ok(false) };
        window.rewind(offset + 1);
        loop {
            let ahead = window.ahead(LOOK_AHEAD)?;
            let begins = |at: &usize| {
                let ahead = &ahead[*at..];
                ahead.starts_with(MEMBER) || (!in_member && ahead.starts_with(LINE))
            };
            match (0..ahead.len()).find(begins) {
                None if ahead.len() < LOOK_AHEAD => return Ok(false),
                None => {
                    // What begins in the last bytes is seen when there is more.
                    let passed = ahead.len() + 1 - LINE.len();
                    window.consume(passed);
                    window.mark();
                    continue;
                }
                Some(at) => window.consume(at),
            }
            let ahead = window.ahead(LOOK_AHEAD)?;
            if !ahead.starts_with(MEMBER) {
                window.consume(1);
                return Ok(true);
            }
            let mut start = [0; 7];
            let is_whole = GzDecoder::new(ahead).read_exact(&mut start).is_ok();
            if is_whole && &start == b"WARC/1." {
                return Ok(true);
            }
            window.consume(1);
        }
    }
}

/// Why reading stopped, before it is known where.
#[derive(Debug)]
enum Fault {
    /// The bytes end too early.
    Ends,
    /// The stream or the decompressor said so.
    Read(io::Error),
    Damage(Damage),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Read(error)
    }
}

impl<R: Read> Stream<R> {
    fn buffered(&mut self) -> &mut dyn BufRead {
        match self {
            Stream::Plain(window) => window,
            Stream::Member(member) => member,
            Stream::Changing => unreachable!("the stream is put back at once"),
        }
    }

    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.buffered().read(out)
    }

    /// The next byte; none at the end.
    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        Ok(self.buffered().fill_buf()?.first().copied())
    }

    fn consume(&mut self, length: usize) {
        self.buffered().consume(length);
    }

    /// Reads to the end of a line, at most so many bytes.
    fn read_line(&mut self, line: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        self.buffered().take(most as u64).read_until(b'\n', line)
    }
}

fn header_of(version: &'static str, fields: Vec<(String, String)>) -> Result<Header, Damage> {
    let field = |name: &'static str| {
        let field = fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str()).ok_or(Damage::Field { field: name })
    };
    let kind = Kind::of_name(&field("WARC-Type")?.to_ascii_lowercase());
    let length = field("Content-Length")?;
    let content_length = length.parse().ok().filter(|_| !length.starts_with('+'));
    let content_length = content_length.ok_or(Damage::Field { field: "Content-Length" })?;
    Ok(Header { version, kind, content_length, fields })
}

/// A record that was found: its header, and its block as a stream.
#[derive(Debug)]
pub struct Found<'r, R> {
    offset: u64,
    header: Header,
    /// What was looked at and not taken yet.
    ahead: Vec<u8>,
    /// How many bytes of the block were taken.
    taken: u64,
    reader: &'r mut Reader<R>,
}

impl<R: Read> Found<'_, R> {
    /// Its header.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where it begins; for one of several records in a gzip member, where the member begins.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `length` bytes of its block, or all that is left, without taking them.
    ///
    /// # Errors
    ///
    /// When it is torn or damaged before.
    pub fn peek(&mut self, length: usize) -> Result<&[u8], WarcError> {
        while self.ahead.len() < length {
            if self.read_ahead(length - self.ahead.len())? == 0 {
                break;
            }
        }
        Ok(&self.ahead[..self.ahead.len().min(length)])
    }

    /// The whole block, or what is left of it if some was taken.
    ///
    /// # Errors
    ///
    /// When it is longer than the limit (it is passed over then), torn, damaged, or does not match
    /// its digest.
    pub fn read_block(&mut self, limit: u64) -> Result<Vec<u8>, WarcError> {
        let length = self.header.content_length - self.taken;
        if length > limit {
            return Err(WarcError::TooLong { offset: self.offset, length, limit });
        }
        // What the header states is believed only as far as bytes come.
        while self.read_ahead(CHUNK)? > 0 {}
        let block = std::mem::take(&mut self.ahead);
        let is_checked = self.taken == 0 && self.reader.limits.check_digests;
        let stated = self.header.block_digest().filter(|_| is_checked);
        self.taken += block.len() as u64;
        if stated.is_some_and(|digest| digest != Digest::of(&block)) {
            return Err(WarcError::Damaged { offset: self.offset, damage: Damage::Digest });
        }
        Ok(block)
    }

    /// Reads at most so many bytes behind those that were looked at.
    fn read_ahead(&mut self, most: usize) -> Result<usize, WarcError> {
        let length = self.ahead.len();
        self.ahead.resize(length + most.min(CHUNK), 0);
        let read = self.reader.read_some(&mut self.ahead[length..]);
        self.ahead.truncate(length + read.as_ref().copied().unwrap_or(0));
        read
    }
}

impl<R: Read> Read for Found<'_, R> {
    /// Takes some of the block. An error carries a [`WarcError`].
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = if self.ahead.is_empty() && !out.is_empty() {
            self.reader.read_some(out).map_err(io::Error::other)?
        } else {
            let length = self.ahead.len().min(out.len());
            out[..length].copy_from_slice(&self.ahead[..length]);
            self.ahead.drain(..length);
            length
        };
        self.taken += read as u64;
        Ok(read)
    }
}
