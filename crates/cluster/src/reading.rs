//! Documents as the columns of a corpus: their keys in keep order, their ids, and what a sketcher makes
//! of them.

use std::num::NonZeroUsize;

use wonbon_documents::{
    Dates, Document, Inputs, PieceOutput, Progress, Reading, Skipped, for_each_document,
};

use crate::error::ClusterError;
use crate::keep::Keep;

/// What was made of one piece of the input.
#[derive(Debug, Default)]
pub(crate) struct PieceColumns<O> {
    /// Which file.
    pub(crate) file: usize,
    /// For each row, whether it is a document: 1 or 0.
    pub(crate) rows: Vec<u8>,
    /// The keys of the documents, by which they are put in order.
    pub(crate) keys: Vec<u64>,
    /// The ids of the documents, one after another.
    pub(crate) ids: Vec<u8>,
    /// Where each id ends.
    pub(crate) id_ends: Vec<u64>,
    /// What is no document.
    pub(crate) skipped: Vec<Skipped>,
    /// Bytes read, decompressed.
    pub(crate) input_bytes: u64,
    /// Bytes of core text.
    pub(crate) text_bytes: u64,
    /// What the visitor made of the documents.
    pub(crate) output: O,
}

impl<O> PieceColumns<O> {
    /// Notes one document; what is made of its text is the caller's.
    pub(crate) fn push(&mut self, id: &str, key: u64, text: &str) {
        self.keys.push(key);
        self.ids.extend_from_slice(id.as_bytes());
        self.id_ends.push(self.ids.len() as u64);
        self.text_bytes += text.len() as u64;
    }
}

/// How the documents of a corpus are read.
#[derive(Clone, Copy)]
pub(crate) struct CorpusReading<'a> {
    pub(crate) inputs: &'a Inputs,
    pub(crate) keep: &'a Keep,
    pub(crate) dates: Dates,
    pub(crate) threads: NonZeroUsize,
    /// Pieces that were finished by an earlier run.
    pub(crate) skip_pieces: u64,
    pub(crate) progress: &'a dyn Progress,
}

/// Reads every document with several threads, and hands what was made of each piece to `write`, in
/// order. Addresses that only lead elsewhere are no documents.
pub(crate) fn read_documents<S, O: Default + Send>(
    reading: CorpusReading<'_>,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &Document<'_>, &mut O) + Sync,
    mut write: impl FnMut(PieceColumns<O>) -> Result<(), ClusterError> + Send,
) -> Result<(), ClusterError> {
    let CorpusReading { inputs, keep, dates, threads, skip_pieces, progress } = reading;
    let ranking = keep.field();
    let reading =
        Reading { skip_pieces, redirects: false, ranking, ..Reading::new(inputs, threads, progress) };
    for_each_document(
        &reading,
        state,
        |state, document, columns: &mut PieceColumns<O>| {
            document.extract();
            let text = document.text();
            let key = keep.key(document.deciding_date(dates), &document.ranking, text.len());
            columns.push(&document.id, key, text);
            visit(state, document, &mut columns.output);
        },
        |PieceOutput { file, is_document, output: columns, skipped, bytes, .. }| {
            let rows = is_document.into_iter().map(u8::from).collect();
            write(PieceColumns { file, rows, skipped, input_bytes: bytes, ..columns })
        },
    )
}
