//! From input files to a corpus: documents are read and sketched by several threads, and a run that
//! was killed continues after its last note.

use std::num::NonZeroUsize;
use std::path::Path;

use serde_json::Value;

use super::{Corpus, CorpusWriter};
use crate::error::ClusterError;
use crate::keep::Keep;
use crate::progress::Progress;
use crate::reading::{Inputs, Reading, Visited, read_documents};
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
    pub(crate) feature_count: usize,
    /// Bytes of input between two notes.
    pub(crate) part_bytes: u64,
    pub(crate) threads: NonZeroUsize,
    pub(crate) progress: &'a dyn Progress,
}

impl CorpusSource<'_> {
    /// Reads the inputs into the corpus in `folder`. `before` is called before the first document is
    /// read; `state` is made once for each thread; `sketch` sketches one document.
    pub(crate) fn read<S>(
        self,
        folder: &Path,
        plan: &Value,
        before: impl FnOnce(&mut CorpusWriter) -> Result<(), ClusterError>,
        state: impl Fn() -> S + Sync,
        sketch: impl Fn(&mut S, &Visited<'_>, &mut Sketches) + Sync,
    ) -> Result<Corpus, ClusterError> {
        let mut writer = CorpusWriter::open(folder, self.feature_count, plan, self.part_bytes)?;
        let at = writer.at();
        if at.complete {
            self.progress.say(READ_BEFORE);
            drop(writer);
            return Corpus::open(folder);
        }
        if at.items > 0 {
            self.progress.say(&format!(
                "an earlier run was stopped after {} documents; this one goes on from there",
                at.documents
            ));
        } else if at.documents == 0 {
            before(&mut writer)?;
        }
        let reading = Reading {
            inputs: self.inputs,
            keep: self.keep,
            threads: self.threads,
            skip_items: writer.at().items,
            progress: self.progress,
            redirects: false,
            known: None,
        };
        read_documents(reading, state, sketch, |rows| {
            writer.append(&rows, rows.file < self.other_files)?;
            self.progress.advance(writer.at().input_bytes);
            Ok(())
        })?;
        writer.finish()
    }
}
