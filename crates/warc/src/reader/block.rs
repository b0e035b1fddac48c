//! A record that was found: its header, and its block as a stream.

use std::io::{self, Read};

use super::Reader;
use super::header::Header;
use crate::digest::Digest;
use crate::error::{Damage, WarcError};

/// How much is read at a time.
const CHUNK: usize = 1 << 16;

/// A record that was found: its header, and its block as a stream.
#[derive(Debug)]
pub struct FoundRecord<'r, R> {
    pub(super) offset: u64,
    pub(super) header: Header,
    /// Bytes that were peeked and not read yet.
    pub(super) ahead: Vec<u8>,
    /// How many bytes of the block were read.
    pub(super) taken: u64,
    pub(super) reader: &'r mut Reader<R>,
}

impl<R: Read> FoundRecord<'_, R> {
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

    /// The next `length` bytes of its block, or all that is left, without reading past them.
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

    /// The whole block, or the rest of it if some was read.
    ///
    /// # Errors
    ///
    /// When it is longer than the limit (it is passed over then), torn, damaged, or does not match
    /// its digest.
    pub fn read_block(&mut self, limit: u64) -> Result<Vec<u8>, WarcError> {
        let length = self.header.content_length() - self.taken;
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

    /// Peeks at most so many further bytes.
    fn read_ahead(&mut self, most: usize) -> Result<usize, WarcError> {
        let length = self.ahead.len();
        self.ahead.resize(length + most.min(CHUNK), 0);
        let read = self.reader.read_some(&mut self.ahead[length..]);
        self.ahead.truncate(length + read.as_ref().copied().unwrap_or(0));
        read
    }
}

impl<R: Read> Read for FoundRecord<'_, R> {
    /// Reads some of the block. An error carries a [`WarcError`].
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
