//! Files that are one document each: a kept file is copied.

use std::path::PathBuf;

use super::{RowWriter, Selection};
use crate::error::{ClusterError, io};
use crate::output_file::create_new;
use crate::reading::Item;

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
        item: &Item,
        documents: &[Option<u32>],
        selection: Selection<'_>,
    ) -> Result<u64, ClusterError> {
        let (Some(from), Some(&Some(document))) = (&item.document, documents.first()) else {
            return Ok(0);
        };
        if !selection.takes(document) {
            return Ok(0);
        }
        create_new(&self.to)?;
        std::fs::copy(from, &self.to).map_err(io("copy", from))?;
        Ok(1)
    }

    /// Copies are synced together when the results are published.
    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        Ok(())
    }
}
