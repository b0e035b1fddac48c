//! Files that are one document each: a kept file is copied.

use std::path::PathBuf;

use wonbon_documents::Rows;

use super::{RowWriter, Selection};
use crate::error::{ClusterError, io};
use crate::output_file::create_new;

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
    fn write(
        &mut self,
        rows: &Rows,
        documents: &[Option<u32>],
        selection: Selection<'_>,
    ) -> Result<u64, ClusterError> {
        let (Rows::File(file), Some(&Some(document))) = (rows, documents.first()) else {
            return Ok(0);
        };
        if !selection.takes(document) {
            return Ok(0);
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
