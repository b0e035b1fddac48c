//! Every document of the inputs, with several threads, in order.
//!
//! Files are cut into *pieces* (a batch of lines, a row group's rows, some records, a file that is one
//! document). A second walk sees the same pieces with the same rows, so the n-th row is the same row
//! however often the inputs are read, and a run that was killed skips the pieces it has finished. A
//! row that is no document keeps its number and is reported with its reason.
//!
//! Cost: one thread cuts and decompresses; parsing, decoding and everything the visitor does run on
//! all of them. Skipping compressed input still decompresses it.

use std::num::NonZeroUsize;

use crate::document::{Content, Document};
use crate::error::InputError;
use crate::formats::json::RowParser;
use crate::formats::{Piece, Pieces, RowOutcome};
use crate::inputs::{Inputs, Skipped};
use crate::ordered::for_each_ordered;
use wonbon_progress::Progress;

/// How documents are read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// Which files.
    pub inputs: &'a Inputs,
    /// Threads that read.
    pub threads: NonZeroUsize,
    /// Progress and cancellation.
    pub progress: &'a dyn Progress,
    /// Pieces that an earlier run has finished.
    pub skip_pieces: u64,
    /// Whether the visitor takes redirects; otherwise they are no documents.
    pub redirects: bool,
    /// A field whose value is handed out with each document as [`Document::ranking`].
    pub ranking: Option<&'a str>,
}

impl<'a> Reading<'a> {
    /// Everything from the start, for a visitor who takes redirects.
    #[must_use]
    pub fn new(inputs: &'a Inputs, threads: NonZeroUsize, progress: &'a dyn Progress) -> Self {
        Reading { inputs, threads, progress, skip_pieces: 0, redirects: true, ranking: None }
    }
}

/// What was made of a piece of the input.
#[derive(Debug, Default)]
pub struct PieceOutput<O> {
    /// Which file it is of.
    pub file: usize,
    /// For each of its rows, whether it is a document.
    pub is_document: Vec<bool>,
    /// What the visitor made of its documents.
    pub output: O,
    /// What was no document.
    pub skipped: Vec<Skipped>,
    /// Bytes read, decompressed.
    pub bytes: u64,
    /// Records of web archives that are no documents and were not expected to be.
    pub passed_over: u64,
}

/// Reads every document. `visit` sees one document after another of a piece and collects what it makes
/// of them; `write` gets that, piece after piece in the order of the input. Pages are not extracted:
/// the visitor calls [`Document::extract`] if it wants their text.
///
/// # Errors
///
/// The first of `write`; [`InputError::Stopped`] if the watcher asks for it; [`InputError::BadRow`] if
/// the inputs are strict; [`InputError::Io`] if there is no room to unpack a Parquet file. What else
/// cannot be read is told in [`PieceOutput::skipped`].
pub fn for_each_document<S, O: Default + Send, E: From<InputError> + Send>(
    reading: &Reading<'_>,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &mut Document<'_>, &mut O) + Sync,
    write: impl FnMut(PieceOutput<O>) -> Result<(), E> + Send,
) -> Result<(), E> {
    let Reading { inputs, ranking, .. } = *reading;
    let columns = inputs.fields.all().into_iter().chain(ranking).collect();
    let mut pieces = Pieces::of_columns(inputs, columns);
    for_each_in_pieces(reading, |piece| Ok(pieces.next_into(piece)?), state, visit, write)
}

/// Reads every document of the pieces that `next` gives; it says `false` at the end. As
/// [`for_each_document`] otherwise.
pub(crate) fn for_each_in_pieces<S, O: Default + Send, E: From<InputError> + Send>(
    reading: &Reading<'_>,
    mut next: impl FnMut(&mut Piece) -> Result<bool, E> + Send,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &mut Document<'_>, &mut O) + Sync,
    mut write: impl FnMut(PieceOutput<O>) -> Result<(), E> + Send,
) -> Result<(), E> {
    let Reading { inputs, progress, ranking, .. } = *reading;
    let mut to_skip = reading.skip_pieces;
    let read = |piece: &mut Piece| -> Result<bool, E> {
        if progress.stop_asked() {
            return Err(InputError::Stopped.into());
        }
        while to_skip > 0 {
            to_skip -= 1;
            if !next(piece)? {
                return Ok(false);
            }
        }
        next(piece)
    };
    for_each_ordered(
        reading.threads,
        read,
        || (RowParser::new(inputs.fields.clone()).with_ranking(ranking), state()),
        |(parser, state), piece| {
            visit_piece(reading, piece, parser, |document, output| visit(state, document, output))
        },
        |made| {
            if inputs.strict
                && let Some(Skipped { file, row, why }) = made.skipped.first().cloned()
            {
                return Err(InputError::BadRow { file, row: row.unwrap_or(0), why }.into());
            }
            write(made)
        },
    )
}

fn visit_piece<O: Default>(
    reading: &Reading<'_>,
    piece: &mut Piece,
    parser: &mut RowParser,
    mut visit: impl FnMut(&mut Document<'_>, &mut O),
) -> PieceOutput<O> {
    let file = &reading.inputs.files[piece.file];
    let path = || file.path.display().to_string();
    let mut made = PieceOutput::<O> {
        file: piece.file,
        passed_over: piece.passed_over,
        ..PieceOutput::default()
    };
    piece.rows.for_each_document(file, parser, &mut |row, outcome| {
        let why = match outcome {
            RowOutcome::Document(mut document) => {
                let why = match &document.content {
                    Content::Redirect(_) if document.archived && !reading.redirects => {
                        made.passed_over += 1;
                        None
                    }
                    Content::Redirect(to) if !reading.redirects => {
                        Some(format!("only leads to {to}"))
                    }
                    content => {
                        made.is_document.push(!matches!(content, Content::Redirect(_)));
                        visit(&mut document, &mut made.output);
                        return;
                    }
                };
                made.is_document.push(false);
                why
            }
            RowOutcome::PassedOver => {
                made.is_document.push(false);
                made.passed_over += 1;
                None
            }
            RowOutcome::Refused(why) => {
                made.is_document.push(false);
                Some(why)
            }
        };
        if let Some(why) = why {
            made.skipped.push(Skipped { file: path(), row, why });
        }
    });
    if let Some(why) = piece.broken.take() {
        made.skipped.push(Skipped { file: path(), row: None, why });
    }
    made.bytes = piece.rows.bytes();
    made
}
