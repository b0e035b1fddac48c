//! Reading records as a stream, and continuing after damage.
//!
//! A file is a sequence of records, each plain or a gzip member; a member may hold more than one
//! record, as in files that were gzipped as a whole. Records are read one after the other. The block of
//! a record is a stream too, so a record of any length takes no more memory than its reader gives it.
//!
//! A damaged record is reported once, with its offset, and reading continues at the next record that
//! can be found (`recovery`). A file that ends inside a record is reported as torn, and nothing comes
//! after.
//!
//! Cost: a window of at most a megabyte (see [`crate::window`]) and a header; nearly all the time is
//! spent inflating.

mod block;
mod header;
mod recovery;
mod stream;

use std::io::{self, Read};

pub use block::FoundRecord;
pub use header::Header;
use header::read_header;
use recovery::find_record;
use stream::{Fault, Stream};

use crate::error::{Damage, WarcError};
use crate::window::Window;

/// What is held in memory, and what is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a record's header: 64 KiB.
    pub header_bytes: usize,
    /// Whether [`FoundRecord::read_block`] compares a block with the SHA-1 in its header: yes. It
    /// costs a few percent of inflating.
    pub check_digests: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { header_bytes: 1 << 16, check_digests: true }
    }
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
    /// It has to be searched for behind this offset: as a gzip member, and in a plain file as a line.
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
    /// Reads a stream from its beginning.
    pub fn new(inner: R) -> Self {
        Reader::with_limits(inner, Limits::default())
    }

    /// As [`new`](Self::new), with other limits.
    pub fn with_limits(inner: R, limits: Limits) -> Self {
        let stream = Stream::Plain(Window::new(inner));
        Reader { stream, limits, open: None, next: Next::Here, offset: 0 }
    }

    /// The next record; `None` at the end. The unread rest of the record before is skipped.
    ///
    /// # Errors
    ///
    /// When the record (or the rest of the one before) is damaged or torn; the call after that
    /// continues with the next record that is found. When the stream fails, nothing comes after.
    pub fn next_record(&mut self) -> Result<Option<FoundRecord<'_, R>>, WarcError> {
        self.skip_rest()?;
        match self.next {
            Next::None => return Ok(None),
            Next::Behind { offset, in_member } => {
                // Whatever goes wrong from here on, this offset is not searched again.
                self.next = Next::None;
                let Stream::Plain(window) = &mut self.stream else { return Ok(None) };
                let found = find_record(window, offset, in_member);
                if !found.map_err(|source| WarcError::Io { doing: "read", source })? {
                    return Ok(None);
                }
                self.next = Next::Here;
            }
            Next::Here => {}
        }
        if !self.seek_record()? {
            self.next = Next::None;
            return Ok(None);
        }
        let header = read_header(&mut self.stream, self.limits.header_bytes);
        let header = header.map_err(|fault| self.stop(fault))?;
        self.open = Some(Open { remaining: header.content_length() });
        let (offset, ahead) = (self.offset, Vec::new());
        Ok(Some(FoundRecord { offset, header, ahead, taken: 0, reader: self }))
    }

    /// Skips the unread rest of the record before.
    fn skip_rest(&mut self) -> Result<(), WarcError> {
        let mut scratch = [0; 8192];
        while self.open.is_some() {
            self.read_some(&mut scratch)?;
        }
        Ok(())
    }

    /// Reads some of the block of the open record; 0 when it is over and its end is valid.
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
                None if expected == b'\r' && self.stream.is_member() => break,
                None => return Err(Fault::Ends),
                Some(_) => return Err(Fault::Damage(Damage::BadEnd)),
            }
        }
        if self.stream.is_member() {
            // Looking for more compares the checksum at the end of a member.
            self.stream.peek()?;
        }
        Ok(())
    }

    /// Moves to the beginning of a record, into the next member if there is one; no at the end.
    fn seek_record(&mut self) -> Result<bool, WarcError> {
        loop {
            let byte = self.stream.peek().map_err(|error| self.stop(error))?;
            match (byte, &mut self.stream) {
                (None, Stream::Member(_)) => self.stream.leave_member(),
                (None, _) => return Ok(false),
                // Empty lines between records.
                (Some(b'\r' | b'\n'), stream) => stream.consume(1),
                (Some(_), Stream::Member(_)) => return Ok(true),
                (Some(byte), _) => {
                    let is_member = byte == 0x1f;
                    self.mark();
                    if !is_member {
                        return Ok(true);
                    }
                    self.stream.enter_member();
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

    /// Turns a fault into an error, and decides where reading continues.
    fn stop(&mut self, fault: Fault) -> WarcError {
        let offset = self.offset;
        let in_member = self.stream.is_member();
        self.stream.leave_member();
        let failed = matches!(&self.stream, Stream::Plain(window) if window.failed);
        let damage = match fault {
            Fault::Read(source) if failed => {
                self.next = Next::None;
                return WarcError::Io { doing: "read", source };
            }
            Fault::Ends | Fault::Read(_) if self.is_at_end() => None,
            Fault::Read(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Fault::Read(_) => Some(Damage::Gzip),
            // A member that ends inside a record is damage, because the file continues.
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
}
