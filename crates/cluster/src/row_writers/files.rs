//! Files that are one document each: a kept file is copied. One from which passages are removed is written anew, in UTF-8.

use std::path::PathBuf;

use wonbon_documents::Rows;

use super::{RowNumbers, RowWriter, Selection, Written};
use crate::error::{ClusterError, io};
use crate::output_file::{OutputFile, create_new};

/// Copies one file if its document is kept.
pub(super) struct FileCopier {
    to: PathBuf,
}

impl FileCopier {
    pub(super) fn new(to: PathBuf) -> Self {
        FileCopier { to }
    }
}

impl RowWriter for FileCopier {
    fn write(&mut self, rows: &Rows, documents: &RowNumbers, selection: Selection<'_>) -> Written {
        let (Rows::File(file), Some(&Some(document))) = (rows, documents.first()) else {
            return Ok(0);
        };
        if !selection.takes(document) {
            return Ok(0);
        }
        if let Some((_, cut)) = selection.cut(document) {
            let mut copy = OutputFile::create(self.to.clone())?;
            copy.write(cut.text.as_bytes())?;
            copy.finish()?;
            return Ok(1);
        }
        create_new(&self.to)?;
        std::fs::copy(file.path(), &self.to).map_err(io("copy", file.path()))?;
        Ok(1)
    }

    /// Copies are synced together when the results are published.
    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        Ok(())
    }
}
