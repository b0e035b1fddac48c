//! A stream that records the head of the answer it carries.
//!
//! The archive keeps the bytes of the head, in the server's spelling and order, but HTTP libraries
//! give parsed fields. The bytes are therefore recorded as they pass, up to the empty line. Interim
//! answers (1xx) are skipped.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Heads are recorded up to this length; the HTTP library refuses longer ones anyway.
const MOST_HEAD_BYTES: usize = 256 << 10;

/// The head that is being recorded.
#[derive(Debug, Default)]
pub(super) struct HeadRecorder {
    head: Vec<u8>,
    /// The head is whole, or too long.
    ended: bool,
}

impl HeadRecorder {
    /// Starts again, before a request.
    pub(super) fn restart(&mut self) {
        self.head.clear();
        self.ended = false;
    }

    /// Takes the head if it is whole.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        (self.ended && self.head.ends_with(b"\n")).then(|| std::mem::take(&mut self.head))
    }

    fn record(&mut self, bytes: &[u8]) {
        if self.ended {
            return;
        }
        let before = self.head.len().saturating_sub(3);
        self.head.extend_from_slice(bytes);
        let Some(end) = end_of_head(&self.head, before) else {
            if self.head.len() > MOST_HEAD_BYTES {
                self.ended = true;
                self.head.clear();
            }
            return;
        };
        let is_interim = self.head.get(8..10) == Some(b" 1");
        let rest = self.head.split_off(end);
        if is_interim {
            // The bytes after it may be the head itself.
            self.head.clear();
            self.record(&rest);
        } else {
            self.ended = true;
        }
    }
}

/// Where the empty line ends, searched from `from` on.
fn end_of_head(bytes: &[u8], from: usize) -> Option<usize> {
    (from..bytes.len()).find_map(|at| {
        let rest = &bytes[at..];
        if rest.starts_with(b"\r\n\r\n") {
            Some(at + 4)
        } else if rest.starts_with(b"\n\n") {
            Some(at + 2)
        } else {
            None
        }
    })
}

/// A stream whose answer heads are recorded.
#[derive(Debug)]
pub(super) struct RecordedStream<S> {
    pub(super) stream: S,
    pub(super) head: Arc<Mutex<HeadRecorder>>,
}

impl<S: AsyncRead + Unpin> AsyncRead for RecordedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buffer);
        if matches!(polled, Poll::Ready(Ok(()))) {
            let mut head = self.head.lock().expect("nobody panics while recording");
            head.record(&buffer.filled()[before..]);
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for RecordedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_is_recorded_however_it_is_cut() {
        let head = b"HTTP/1.1 200 OK\r\nServer: A\r\nX-y:  b\r\n\r\n";
        let interim = b"HTTP/1.1 103 Early Hints\r\nLink: c\r\n\r\n";
        for before in [&b""[..], &interim[..]] {
            let sent = [before, &head[..], b"body\r\n\r\nmore"].concat();
            for size in 1..sent.len() {
                let mut recorder = HeadRecorder::default();
                sent.chunks(size).for_each(|piece| recorder.record(piece));
                assert_eq!(recorder.take().as_deref(), Some(&head[..]), "pieces of {size}");
            }
        }
    }

    #[test]
    fn a_head_without_end_is_none() {
        let mut recorder = HeadRecorder::default();
        recorder.record(b"HTTP/1.1 200 OK\r\n");
        assert_eq!(recorder.take(), None);
        recorder.record(&vec![b'a'; MOST_HEAD_BYTES]);
        recorder.record(b"\r\n\r\n");
        assert_eq!(recorder.take(), None);
    }
}
