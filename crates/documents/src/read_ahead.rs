//! Decompresses on a separate thread, a few buffers ahead of the reader.
//!
//! Why: the thread that cuts lines holds the lock that all others wait for, and it would spend most of that time
//! decompressing. The thread starts after the first buffer, because often only the beginning of a file is read.
//!
//! Cost: [`BUFFERS`] times [`BUFFER_BYTES`] of memory, and a thread while the file is read. It ends with its file, or
//! at its next buffer once nobody reads any more.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};

/// How many buffers may be filled and not read.
const BUFFERS: usize = 4;

/// The size of a buffer.
const BUFFER_BYTES: usize = 256 << 10;

/// Reads ahead.
pub(crate) struct ReadAhead<R> {
    source: Source<R>,
    buffer: Vec<u8>,
    /// How much of the buffer was read.
    at: usize,
}

enum Source<R> {
    /// Nothing was read.
    New(R),
    /// The first buffer was read.
    Begun(R),
    /// A thread reads.
    Thread {
        filled: Receiver<io::Result<Vec<u8>>>,
        empty: Sender<Vec<u8>>,
    },
    /// This comes next, and then the end.
    Failed(io::Error),
    Ended,
}

impl<R: Read + Send + 'static> ReadAhead<R> {
    /// Reads `reader` ahead.
    pub(crate) fn new(reader: R) -> Self {
        ReadAhead { source: Source::New(reader), buffer: Vec::new(), at: 0 }
    }

    /// Takes the next buffer; an empty one at the end.
    fn next_buffer(&mut self) -> io::Result<()> {
        self.at = 0;
        let mut buffer = std::mem::take(&mut self.buffer);
        self.source = match std::mem::replace(&mut self.source, Source::Ended) {
            Source::New(mut reader) => match fill(&mut reader, &mut buffer) {
                Ok(true) => Source::Begun(reader),
                Ok(false) => Source::Ended,
                Err(error) if buffer.is_empty() => return Err(error),
                Err(error) => Source::Failed(error),
            },
            Source::Begun(reader) => {
                let (filled, empty) = start(reader)?;
                buffer = receive(&filled)?;
                Source::Thread { filled, empty }
            }
            Source::Thread { filled, empty } => {
                // A thread that has ended takes no buffer back.
                let _ = empty.send(buffer);
                buffer = receive(&filled)?;
                Source::Thread { filled, empty }
            }
            Source::Failed(error) => return Err(error),
            Source::Ended => {
                buffer.clear();
                Source::Ended
            }
        };
        self.buffer = buffer;
        Ok(())
    }
}

/// The next buffer of a thread; an empty one when it has ended.
fn receive(filled: &Receiver<io::Result<Vec<u8>>>) -> io::Result<Vec<u8>> {
    filled.recv().unwrap_or_else(|_| Ok(Vec::new()))
}

/// Fills a buffer. Says `false` at the end; before an error something may have been read.
fn fill(reader: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<bool> {
    buffer.resize(BUFFER_BYTES, 0);
    let mut length = 0;
    let outcome = loop {
        match reader.read(&mut buffer[length..]) {
            Ok(0) => break Ok(length == BUFFER_BYTES),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    buffer.truncate(length);
    outcome
}

type Link = (Receiver<io::Result<Vec<u8>>>, Sender<Vec<u8>>);

fn start<R: Read + Send + 'static>(mut reader: R) -> io::Result<Link> {
    let (filled, from_thread) = sync_channel::<io::Result<Vec<u8>>>(BUFFERS);
    let (empty, to_thread) = channel::<Vec<u8>>();
    let work = move || {
        loop {
            let mut buffer = to_thread.try_recv().unwrap_or_default();
            let outcome = fill(&mut reader, &mut buffer);
            if !buffer.is_empty() && filled.send(Ok(buffer)).is_err() {
                return;
            }
            match outcome {
                Ok(true) => {}
                Ok(false) => return,
                // Nobody may be there to hear it.
                Err(error) => return drop(filled.send(Err(error))),
            }
        }
    };
    std::thread::Builder::new().name("decompress".to_owned()).spawn(work)?;
    Ok((from_thread, empty))
}

impl<R: Read + Send + 'static> Read for ReadAhead<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let length = available.len().min(to.len());
        to[..length].copy_from_slice(&available[..length]);
        self.consume(length);
        Ok(length)
    }
}

impl<R: Read + Send + 'static> BufRead for ReadAhead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() {
            self.next_buffer()?;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.buffer.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives so many bytes, a few at a time, then fails or ends.
    struct Bytes {
        given: usize,
        length: usize,
        step: usize,
        fails: bool,
    }

    fn byte(at: usize) -> u8 {
        (at * 31 % 251) as u8
    }

    impl Read for Bytes {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let length = (self.length - self.given).min(to.len()).min(self.step);
            if length == 0 && self.fails && !to.is_empty() {
                self.fails = false;
                return Err(io::Error::from_raw_os_error(5));
            }
            (0..length).for_each(|at| to[at] = byte(self.given + at));
            self.given += length;
            Ok(length)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn what_is_read_ahead_is_what_is_there_and_then_the_error(
            length in prop_oneof![0..2000_usize, 0..9 * BUFFER_BYTES],
            step in 1000_usize..500_000,
            fails in any::<bool>(),
        ) {
            let mut reader = ReadAhead::new(Bytes { given: 0, length, step, fails });
            let mut read = Vec::new();
            let outcome = reader.read_to_end(&mut read);
            prop_assert_eq!(read.len(), length);
            prop_assert!(read.iter().enumerate().all(|(at, &here)| here == byte(at)));
            prop_assert_eq!(outcome.err().and_then(|error| error.raw_os_error()), fails.then_some(5));
            prop_assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0, "the end stays the end");
        }
    }

    #[test]
    fn whoever_stops_reading_stops_the_thread() {
        let (gone, is_gone) = channel::<()>();
        struct Endless(#[expect(dead_code, reason = "dropped with the thread")] Sender<()>);
        impl Read for Endless {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                Ok(to.len())
            }
        }
        let mut reader = ReadAhead::new(Endless(gone));
        reader.read_exact(&mut vec![0; 3 * BUFFER_BYTES]).unwrap();
        drop(reader);
        assert!(is_gone.recv().is_err());
    }
}
