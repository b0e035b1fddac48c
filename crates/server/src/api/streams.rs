//! Streams of documents: lines in, verdicts out in the same order, each as soon as it is durable.
//!
//! Two halves work at the same time. One reads lines, makes them ready and hands them to the writer
//! while there is room; the other waits for them in order and writes what became of them. So many
//! documents share a commit, and a client that reads while it writes sees verdicts all along. For one that
//! does not, [`UNREAD`] bytes of verdicts are held, then the stream is read no further.
//!
//! When the service ends, lines that were read are acknowledged, and a last problem says from which line
//! on nothing was stored.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderValue};
use axum::http::request::Parts;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use tokio_util::io::ReaderStream;
use wonbon_app::answers;
use wonbon_app::intake::{IntakeName, ReadyDocument};

use super::documents::answer_to_add;
use crate::adding::OutcomeReceiver;
use crate::body_budget::{BodyRoom, client_ip};
use crate::document_request::{AddOptions, read_json};
use crate::problem::{Code, Problem};
use crate::request::{Incoming, too_large};
use crate::service::Service;

/// Bytes of verdicts that a client may leave unread: about 50,000 verdicts.
const UNREAD: usize = 8 << 20;

/// Lines that may wait for their answers.
const LINES: usize = 2048;

/// How long a stream that was refused is read on.
const LINGER: Duration = Duration::from_secs(2);

/// How long a stream that holds a part of a line waits for room for the rest. Streams that each hold a part
/// may be waiting for each other, and none of them sees meanwhile that its client has gone.
const HOLDING: Duration = Duration::from_secs(2);

/// Bytes that are read from the pipe at once.
const PIECE: usize = 64 << 10;

/// A line on its way.
enum Line {
    /// Handed over.
    Waiting(IntakeName, Instant, u64, OutcomeReceiver),
    /// Refused.
    Refused(u64, Problem),
}

/// Takes a stream of documents.
pub(crate) fn add_stream(
    service: Arc<Service>,
    parts: &Parts,
    body: Body,
    options: AddOptions,
) -> Response {
    let room = service.bodies.room(client_ip(&parts.extensions));
    let (verdicts, read) = tokio::io::duplex(UNREAD);
    let (lines, answered) = mpsc::channel(LINES);
    tokio::spawn(async move { read_lines(&service, body, room, options, lines).await });
    tokio::spawn(answer_lines(answered, verdicts));
    let mut response = Response::new(Body::from_stream(ReaderStream::with_capacity(read, PIECE)));
    let kind = HeaderValue::from_static("application/x-ndjson");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

async fn read_lines(
    service: &Arc<Service>,
    body: Body,
    mut room: BodyRoom,
    options: AddOptions,
    lines: mpsc::Sender<Line>,
) {
    let most = service.config.limits.body_bytes;
    let mut incoming = Incoming::new(service, body);
    let mut held = BytesMut::new();
    let mut number = 0;
    // A line that is too long is read to its end and not kept.
    let mut skipping = false;
    loop {
        let piece = tokio::select! {
            piece = incoming.next() => piece,
            () = service.ended() => {
                Err(Problem::new(Code::ShuttingDown, "nothing was stored from this line on"))
            }
        };
        let piece = match piece {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            Err(problem) => {
                // Whoever went away does not hear it.
                let _ = lines.send(Line::Refused(number + 1, problem)).await;
                drop(lines);
                linger(&mut incoming).await;
                return;
            }
        };
        let mut rest = &piece[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, behind) = (&rest[..end], &rest[end + 1..]);
            rest = behind;
            number += 1;
            if std::mem::take(&mut skipping) {
                continue;
            }
            let taken = if held.is_empty() {
                take_line(service, line, number, options, &lines).await
            } else {
                held.extend_from_slice(line);
                let line = std::mem::take(&mut held);
                let taken = take_line(service, &line, number, options, &lines).await;
                room.clear();
                taken
            };
            if taken.is_err() {
                return;
            }
        }
        if !skipping && !rest.is_empty() {
            // A stream waits for room as it waits for the writer: it is read no further.
            let longest = service.config.limits.body_time;
            let patience = if room.is_empty() { longest } else { longest.min(HOLDING) };
            match room.grow_within(rest.len(), patience).await {
                Ok(()) => held.extend_from_slice(rest),
                Err(problem) => {
                    held = BytesMut::new();
                    room.clear();
                    skipping = true;
                    if lines.send(Line::Refused(number + 1, problem)).await.is_err() {
                        return;
                    }
                }
            }
        }
        if held.len() > most {
            held = BytesMut::new();
            room.clear();
            skipping = true;
            if lines.send(Line::Refused(number + 1, too_large(most))).await.is_err() {
                return;
            }
        }
    }
    if !held.is_empty() {
        // Whoever went away does not hear it.
        let _ = take_line(service, &held, number + 1, options, &lines).await;
    }
}

/// Reads on for a while and forgets it: a connection that is closed with something unread is reset, and
/// the client might lose verdicts that are on their way to it.
async fn linger(incoming: &mut Incoming) {
    let rest = async { while let Ok(Some(_)) = incoming.next().await {} };
    // A client that goes on sending has had its time.
    let _ = tokio::time::timeout(LINGER, rest).await;
}

/// The client went away.
struct Gone;

async fn take_line(
    service: &Arc<Service>,
    line: &[u8],
    number: u64,
    options: AddOptions,
    lines: &mpsc::Sender<Line>,
) -> Result<(), Gone> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(());
    }
    if line.len() > service.config.limits.body_bytes {
        let problem = too_large(service.config.limits.body_bytes);
        return lines.send(Line::Refused(number, problem)).await.map_err(|_| Gone);
    }
    let since = Instant::now();
    let room = service.adding.wait_for_room(line.len()).await;
    let ready = if line.len() <= PIECE {
        prepare_line(service, line, options)
    } else {
        let line = Bytes::copy_from_slice(line);
        service.answer(move |service| prepare_line(service, &line, options)).await
    };
    let handed = ready.and_then(|ready| {
        let (name, receiver) = service.adding.submit(ready, since, room)?;
        Ok(Line::Waiting(name, since, number, receiver))
    });
    let line = handed.unwrap_or_else(|problem| {
        service.metrics.refused();
        Line::Refused(number, problem)
    });
    lines.send(line).await.map_err(|_| Gone)
}

fn prepare_line(
    service: &Service,
    line: &[u8],
    options: AddOptions,
) -> Result<ReadyDocument, Problem> {
    read_json(line, None, |document| Ok(options.intake(&service.store).prepare(document)?))
}

async fn answer_lines(mut lines: mpsc::Receiver<Line>, mut verdicts: DuplexStream) {
    let started = Instant::now();
    let mut summary = answers::AddSummary::default();
    while let Some(line) = lines.recv().await {
        let answer = match line {
            Line::Refused(number, problem) => Err((number, problem)),
            Line::Waiting(name, since, number, receiver) => match receiver.wait().await {
                Ok(outcome) => {
                    summary.count(&outcome);
                    Ok(answer_to_add(&name, &outcome, since))
                }
                Err(problem) => Err((number, problem)),
            },
        };
        let mut written = answer.unwrap_or_else(|(number, problem)| {
            summary.refused += 1;
            serde_json::to_vec(&problem.json(Some(number))).expect("it is made of text")
        });
        written.push(b'\n');
        // The rest is stored whether somebody hears of it or not.
        if verdicts.write_all(&written).await.is_err() {
            return;
        }
    }
    summary.seconds = started.elapsed().as_secs_f64();
    let last = serde_json::json!({ "summary": summary });
    let _ = verdicts.write_all(format!("{last}\n").as_bytes()).await;
    tracing::debug!(documents = summary.documents, refused = summary.refused, "a stream ended");
}
