//! A buffered stream that remembers its last bytes, so that a reader can go back.
//!
//! Damage to a gzip member is often noticed only inside the next member. The bytes since the beginning
//! of the damaged member are still here, so the next one can be found. Memory: at most twice [`KEPT`]
//! and a chunk.
//!
//! Time: each damaged member is gone back over once, so all ways back together are hardly longer than
//! the file. Members that are written into each other could make a reader go back over the same bytes
//! thousands of times; so ways back end when they are [`WAYS_BACK`] times as long as the way here.

use std::io::{self, BufRead, Read};

/// How many bytes are remembered at most.
pub(crate) const KEPT: usize = 1 << 20;
const CHUNK: usize = 1 << 16;
/// How many times the bytes so far may be gone back over, beyond the first [`KEPT`].
const WAYS_BACK: u64 = 4;

#[derive(Debug)]
pub(crate) struct Window<R> {
    inner: R,
    buffer: Vec<u8>,
    /// The offset in the file of the first byte of the buffer.
    start: u64,
    /// The next byte to be read.
    position: usize,
    /// Bytes from here on are remembered.
    mark: usize,
    /// How many bytes were gone back.
    rewound: u64,
    /// The stream itself failed, which is no damage of its content.
    pub(crate) failed: bool,
}

impl<R> Window<R> {
    pub(crate) fn new(inner: R) -> Self {
        Window {
            inner,
            buffer: Vec::new(),
            start: 0,
            position: 0,
            mark: 0,
            rewound: 0,
            failed: false,
        }
    }

    /// The offset in the file of the next byte.
    pub(crate) fn offset(&self) -> u64 {
        self.start + self.position as u64
    }

    /// Remembers bytes from here on.
    pub(crate) fn mark(&mut self) {
        self.mark = self.position;
    }

    /// Goes back to an offset, or as near to it as is remembered and the way back may be long.
    pub(crate) fn rewind(&mut self, offset: u64) {
        let back = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let target = self.position.min(back.max(self.mark));
        let rewound = self.rewound + (self.position - target) as u64;
        if rewound <= KEPT as u64 + WAYS_BACK * self.offset() {
            self.position = target;
            self.rewound = rewound;
        }
        self.mark = self.position;
    }
}

impl<R: Read> Window<R> {
    /// The bytes ahead: at least `least` of them, or all that are left.
    pub(crate) fn ahead(&mut self, least: usize) -> io::Result<&[u8]> {
        while self.buffer.len() - self.position < least && self.more()? > 0 {}
        Ok(&self.buffer[self.position..])
    }

    /// Reads a further chunk; drops bytes that are neither ahead nor remembered.
    fn more(&mut self) -> io::Result<usize> {
        let forget = self.mark.max(self.position.saturating_sub(KEPT));
        // Moving the bytes that stay costs no more than reading the dropped ones did.
        if forget >= CHUNK.max(self.buffer.len() - forget) {
            self.buffer.drain(..forget);
            self.start += forget as u64;
            self.position -= forget;
            self.mark = 0;
        }
        let length = self.buffer.len();
        self.buffer.resize(length + CHUNK, 0);
        let read = loop {
            match self.inner.read(&mut self.buffer[length..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failed = true;
                    self.buffer.truncate(length);
                    return Err(error);
                }
                Ok(read) => break read,
            }
        };
        self.buffer.truncate(length + read);
        Ok(read)
    }
}

impl<R: Read> Read for Window<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let ahead = self.fill_buf()?;
        let length = ahead.len().min(out.len());
        out[..length].copy_from_slice(&ahead[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: Read> BufRead for Window<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.ahead(1)
    }

    fn consume(&mut self, length: usize) {
        self.position += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_back_ends_when_it_was_often_enough() {
        let bytes = vec![0; 3 << 20];
        let mut window = Window::new(&bytes[..]);
        let mut read = 0_u64;
        for begin in 0..1000 {
            // As a reader does that finds each member damaged only after half a megabyte.
            let passed = window.ahead(KEPT / 2).unwrap().len().min(KEPT / 2);
            window.consume(passed);
            read += passed as u64;
            window.rewind(begin + 1);
        }
        assert_eq!(window.offset(), bytes.len() as u64, "the end is reached");
        assert!(read <= KEPT as u64 + (1 + WAYS_BACK) * bytes.len() as u64, "{read}");
    }

    #[test]
    fn one_way_back_is_as_long_as_what_is_remembered() {
        let bytes = vec![0; 2 * KEPT];
        let mut window = Window::new(&bytes[..]);
        window.ahead(KEPT).unwrap();
        window.consume(KEPT);
        window.rewind(1);
        assert_eq!(window.offset(), 1);
    }
}
