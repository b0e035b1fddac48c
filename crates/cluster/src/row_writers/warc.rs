//! WARC: kept records as they were read, each in a gzip member of its own if the file is compressed.

use std::path::PathBuf;

use wonbon_documents::Rows;

use super::{RowNumbers, RowWriter, Selection, Written};
use crate::error::ClusterError;
use crate::output_file::OutputFile;

/// Writes records of a web archive.
pub(super) struct WarcWriter {
    file: OutputFile,
    gzip: bool,
}

impl WarcWriter {
    pub(super) fn create(path: PathBuf) -> Result<Self, ClusterError> {
        let gzip = path.extension().is_some_and(|ending| ending == "gz");
        // Records of a gzip archive are compressed one by one.
        let file = if gzip { OutputFile::create_as_is(path) } else { OutputFile::create(path) };
        Ok(WarcWriter { file: file?, gzip })
    }
}

impl RowWriter for WarcWriter {
    fn write(&mut self, rows: &Rows, documents: &RowNumbers, selection: Selection<'_>) -> Written {
        let mut written = 0;
        let Rows::Archive(rows) = rows else { return Ok(0) };
        for (record, document) in rows.records.iter().zip(documents) {
            if document.is_some_and(|document| selection.takes(document)) {
                self.file.write(&record.to_bytes(self.gzip))?;
                written += 1;
            }
        }
        Ok(written)
    }

    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        self.file.finish()
    }
}
