//! One byte budget for answers that wait to be read, a share of it for each client address.
//!
//! A client that asks for large answers and does not read them has the service keep each until the time for writing
//! is over ([`crate::Limits::write_time`]); thousands of requests at once would be gigabytes. So an answer's bytes are
//! counted from the moment it is made until they were handed to the system, and an answer that finds no room becomes
//! `busy`. Answers of unknown length are made piece by piece as their client reads; a piece waits for room.
//!
//! Not counted: answers and pieces up to [`SMALL`], which fit into the buffer of their connection. An answer larger than a
//! share counts as a share, so that it can be given at all, to one request of an address at a time.
//!
//! Cost: nothing for a small answer; for a large one a lock when it is made and when it is gone, and it is handed over in
//! pieces of [`PIECE`].

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};

use crate::body_budget::{BodyBudget, BodyRoom};
use crate::problem::{Code, Problem};

/// Bytes that the buffer of a connection holds anyway.
const SMALL: usize = 16 << 10;
/// Pieces in which an answer is handed to its connection, which takes the next when it has sent most of those before.
const PIECE: usize = 32 << 10;

/// Counts an answer's bytes until they are sent; refuses it if there is no room. A piece of a longer answer waits for
/// room for so long.
pub(crate) fn hold_answer(
    budget: &Arc<BodyBudget>,
    client: IpAddr,
    patience: Duration,
    answer: Response,
) -> Response {
    let bytes = answer.body().size_hint().exact();
    if bytes.is_some_and(|bytes| bytes <= SMALL as u64) {
        return answer;
    }
    let mut whole = None;
    if let Some(bytes) = bytes {
        let mut room = budget.room(client);
        if !room.take_at_most_a_share(usize::try_from(bytes).unwrap_or(usize::MAX)) {
            let detail = "as many bytes of answers as there is room for wait for their clients";
            return Problem::new(Code::Busy, detail).into_response();
        }
        whole = Some(room);
    }
    let (budget, rest) = (budget.clone(), Bytes::new());
    answer.map(|inner| {
        Body::new(HeldAnswer { inner, budget, client, patience, whole, rest, waiting: None })
    })
}

/// The bytes of an answer, and the room they take until the last of them is gone.
struct Held {
    bytes: Bytes,
    _room: BodyRoom,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn held(bytes: Bytes, room: BodyRoom) -> Bytes {
    Bytes::from_owner(Held { bytes, _room: room })
}

/// An answer whose bytes are counted.
struct HeldAnswer {
    inner: Body,
    budget: Arc<BodyBudget>,
    client: IpAddr,
    patience: Duration,
    /// The room of all of it, if its length is known.
    whole: Option<BodyRoom>,
    /// What was not handed over yet.
    rest: Bytes,
    /// A piece that waits for room; none comes of it if there is none in time.
    waiting: Option<Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>>,
}

impl HeldAnswer {
    /// Takes room for a piece, or waits for it.
    fn hold(&mut self, bytes: Bytes) {
        if let Some(room) = self.whole.take() {
            self.rest = held(bytes, room);
            return;
        }
        let mut room = self.budget.room(self.client);
        if room.take_at_most_a_share(bytes.len()) {
            self.rest = held(bytes, room);
            return;
        }
        let patience = self.patience;
        self.waiting = Some(Box::pin(async move {
            let taken = room.take_at_most_a_share_within(bytes.len(), patience).await;
            taken.then(|| held(bytes, room))
        }));
    }
}

impl HttpBody for HeldAnswer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            if !self.rest.is_empty() {
                let length = self.rest.len().min(PIECE);
                return Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))));
            }
            if let Some(waiting) = &mut self.waiting {
                let piece = ready!(waiting.as_mut().poll(context));
                self.waiting = None;
                match piece {
                    Some(piece) => self.rest = piece,
                    None => {
                        let error = "there was no room for more of an answer in time";
                        return Poll::Ready(Some(Err(axum::Error::new(error))));
                    }
                }
                continue;
            }
            let Some(frame) = ready!(Pin::new(&mut self.inner).poll_frame(context)) else {
                return Poll::Ready(None);
            };
            match frame.map(Frame::into_data) {
                Ok(Ok(bytes)) if bytes.len() > SMALL => self.hold(bytes),
                Ok(Ok(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Ok(Err(frame)) => return Poll::Ready(Some(Ok(frame))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.waiting.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.inner.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let (Some(upper), None) = (inner.upper(), &self.waiting) {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::stream;
    use http_body_util::BodyExt;

    use super::*;

    const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const TWO: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));
    const PATIENCE: Duration = Duration::from_secs(600);

    fn answer(bytes: usize) -> Response {
        (0..bytes).map(|at| at as u8).collect::<Vec<u8>>().into_response()
    }

    #[tokio::test]
    async fn an_answer_takes_room_until_its_last_byte_is_gone_and_comes_whole() {
        let budget = BodyBudget::new(300 << 10, 200 << 10);
        let hold = |client, bytes| hold_answer(&budget, client, PATIENCE, answer(bytes));
        assert_eq!(hold(ONE, SMALL).status(), 200);
        assert_eq!(budget.counts(), (0, 0), "small ones are not counted");
        let first = hold(ONE, 150 << 10);
        assert_eq!(first.body().size_hint().exact(), Some(150 << 10));
        assert_eq!(hold(ONE, 51 << 10).status(), 503, "beyond the share");
        let other = hold(TWO, 150 << 10);
        assert_eq!(other.status(), 200);
        assert_eq!(hold(TWO, 50 << 10).status(), 503, "beyond the total");
        assert_eq!(budget.counts().0, 300 << 10);
        drop(other);
        assert_eq!(budget.counts().0, 150 << 10);

        let mut body = first.into_body();
        let mut pieces: Vec<Bytes> = Vec::new();
        while let Some(frame) = body.frame().await {
            pieces.push(frame.unwrap().into_data().unwrap());
        }
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE));
        assert_eq!(pieces.concat(), (0..150 << 10).map(|at| at as u8).collect::<Vec<u8>>());
        drop(body);
        let last = pieces.pop();
        drop(pieces);
        assert_eq!(budget.counts().0, 150 << 10, "a piece of it is not sent");
        drop(last);
        assert_eq!(budget.counts().0, 0);
    }

    #[tokio::test]
    async fn an_answer_larger_than_a_share_is_given_to_who_holds_nothing() {
        let budget = BodyBudget::new(200 << 10, 100 << 10);
        let hold = |client, bytes| hold_answer(&budget, client, PATIENCE, answer(bytes));
        let large = hold(ONE, 1 << 20);
        assert_eq!((large.status().as_u16(), budget.counts().0), (200, 100 << 10));
        assert_eq!(hold(ONE, 1 << 20).status(), 503);
        assert_eq!(hold(TWO, 1 << 20).status(), 200);
        assert_eq!(large.into_body().collect().await.unwrap().to_bytes().len(), 1 << 20);
        assert_eq!(budget.counts().0, 0);
    }

    #[tokio::test]
    async fn a_piece_of_unknown_length_waits_for_room_or_ends_the_answer() {
        let budget = BodyBudget::new(100 << 10, 100 << 10);
        let pieces = || {
            let piece = Bytes::from(vec![7; 80 << 10]);
            let pieces = stream::iter([Ok::<_, std::io::Error>(piece)]);
            Response::new(Body::from_stream(pieces))
        };
        let full = hold_answer(&budget, ONE, PATIENCE, answer(50 << 10));
        let impatient = hold_answer(&budget, TWO, Duration::ZERO, pieces());
        assert!(impatient.into_body().collect().await.is_err());
        let patient = hold_answer(&budget, TWO, PATIENCE, pieces());
        let read = async { patient.into_body().collect().await.unwrap().to_bytes().len() };
        let (read, ()) = tokio::join!(read, async { drop(full) });
        assert_eq!(read, 80 << 10);
        assert_eq!(budget.counts().0, 0);
    }
}
