//! From input files to a corpus: documents are read and sketched by several threads, and a run that
//! was killed continues after its last note.

use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::Value;
use wonbon_documents::{
    Dates, Document, Inputs, PieceOutput, Progress, Reading, for_each_document,
};

use super::{Corpus, CorpusWriter, PieceColumns};
use crate::error::ClusterError;
use crate::keep::Keep;
use crate::sketching::Sketches;

/// What is said when nothing has to be read.
const READ_BEFORE: &str = "all documents were read by an earlier run";

/// What becomes a corpus, and how.
#[derive(Clone, Copy)]
pub(crate) struct CorpusSource<'a> {
    pub(crate) inputs: &'a Inputs,
    /// The first so many files belong to other corpora.
    pub(crate) other_files: usize,
    pub(crate) keep: &'a Keep,
    /// Which dates count for [`Keep::Earliest`].
    pub(crate) dates: Dates,
    pub(crate) feature_count: usize,
    /// Bytes of input between two notes.
    pub(crate) part_bytes: u64,
    pub(crate) threads: NonZeroUsize,
    pub(crate) progress: &'a dyn Progress,
}

impl CorpusSource<'_> {
    /// Reads the inputs into the corpus in `folder`. `before` is called before the first document is
    /// read; `state` is made once for each thread; `sketch` sketches one document. Addresses that only
    /// lead elsewhere are no documents.
    pub(crate) fn read<S>(
        self,
        folder: &Path,
        plan: &Value,
        before: impl FnOnce(&mut CorpusWriter) -> Result<(), ClusterError>,
        state: impl Fn() -> S + Sync,
        sketch: impl Fn(&mut S, &Document<'_>, &mut Sketches) + Sync,
    ) -> Result<Corpus, ClusterError> {
        let CorpusSource { inputs, keep, dates, threads, progress, .. } = self;
        let mut writer = CorpusWriter::open(folder, self.feature_count, plan, self.part_bytes)?;
        let at = writer.at();
        if at.complete {
            progress.say(READ_BEFORE);
            drop(writer);
            return Corpus::open(folder);
        }
        if at.items > 0 {
            progress.say(&format!(
                "an earlier run was stopped after {} documents; this one goes on from there",
                at.documents
            ));
        } else if at.documents == 0 {
            before(&mut writer)?;
        }
        let reading = Reading {
            skip_pieces: writer.at().items,
            redirects: false,
            ranking: keep.field(),
            ..Reading::new(inputs, threads, progress)
        };
        for_each_document(
            &reading,
            state,
            |state, document, columns: &mut PieceColumns| {
                note_document(document, keep, dates, columns);
                sketch(state, document, &mut columns.sketches);
            },
            |PieceOutput { file, is_document, output, skipped, bytes, .. }| {
                let rows = is_document.into_iter().map(u8::from).collect();
                let columns = PieceColumns { rows, skipped, input_bytes: bytes, ..output };
                writer.append(&columns, file < self.other_files)?;
                progress.advance(writer.at().input_bytes);
                Ok::<(), ClusterError>(())
            },
        )?;
        writer.finish()
    }
}

/// Extracts a document and notes its id, its length and its place in keep order; its sketch is the caller's.
pub(crate) fn note_document(
    document: &mut Document<'_>,
    keep: &Keep,
    dates: Dates,
    columns: &mut PieceColumns,
) {
    document.extract();
    let text = document.text();
    let key = keep.key(document.deciding_date(dates), &document.ranking, text.len());
    columns.push(&document.id, key, text);
}
