//! The bytes of a WARC file: plain, or the inside of a gzip member.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

use crate::error::Damage;
use crate::window::Window;

/// Where the bytes come from.
#[derive(Debug)]
pub(super) enum Stream<R> {
    /// Between members, or in a plain record.
    Plain(Window<R>),
    /// Inside a gzip member.
    Member(BufReader<GzDecoder<Window<R>>>),
    /// Only while it is being changed.
    Changing,
}

impl<R: Read> Stream<R> {
    fn buffered(&mut self) -> &mut dyn BufRead {
        match self {
            Stream::Plain(window) => window,
            Stream::Member(member) => member,
            Stream::Changing => unreachable!("the stream is put back at once"),
        }
    }

    pub(super) fn is_member(&self) -> bool {
        matches!(self, Stream::Member(_))
    }

    /// Begins to inflate the gzip member that begins here.
    pub(super) fn enter_member(&mut self) {
        *self = match std::mem::replace(self, Stream::Changing) {
            Stream::Plain(window) => Stream::Member(BufReader::new(GzDecoder::new(window))),
            other => other,
        };
    }

    /// Continues behind the gzip member, or wherever inflating it stopped.
    pub(super) fn leave_member(&mut self) {
        *self = match std::mem::replace(self, Stream::Changing) {
            Stream::Member(member) => Stream::Plain(member.into_inner().into_inner()),
            other => other,
        };
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.buffered().read(out)
    }

    /// The next byte; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Fault> {
        Ok(self.buffered().fill_buf()?.first().copied())
    }

    pub(super) fn consume(&mut self, length: usize) {
        self.buffered().consume(length);
    }

    /// Reads to the end of a line, at most so many bytes.
    pub(super) fn read_line(&mut self, line: &mut Vec<u8>, most: usize) -> io::Result<usize> {
        self.buffered().take(most as u64).read_until(b'\n', line)
    }
}

/// Why reading stopped, before it is known where reading can continue.
#[derive(Debug)]
pub(super) enum Fault {
    /// The bytes end too early.
    Ends,
    /// The stream or the decompressor failed.
    Read(io::Error),
    Damage(Damage),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Fault::Read(error)
    }
}
