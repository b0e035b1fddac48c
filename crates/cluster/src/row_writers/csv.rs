//! CSV: the header as it was read, then the kept records; annotated records have four more fields.

use std::path::PathBuf;
use std::sync::Arc;

use wonbon_documents::{Header, Rows};

use super::{RowVerdict, RowWriter, Selection, VERDICT_FIELDS, for_each_selected_line};
use crate::error::ClusterError;
use crate::output_file::OutputFile;

/// Writes CSV records with the separator and the line breaks of the input.
pub(super) struct CsvWriter {
    file: OutputFile,
    header: Arc<Header>,
    record: Vec<u8>,
}

impl CsvWriter {
    /// Creates the file and writes its header.
    pub(super) fn create(
        path: PathBuf,
        header: Arc<Header>,
        annotate: bool,
    ) -> Result<Self, ClusterError> {
        let mut file = OutputFile::create(path)?;
        let mut record = header.record().to_vec();
        if annotate {
            VERDICT_FIELDS.iter().for_each(|name| header.push_field(name, &mut record));
        }
        record.extend_from_slice(header.line_break().as_bytes());
        file.write(&record)?;
        Ok(CsvWriter { file, header, record })
    }
}

impl RowWriter for CsvWriter {
    fn write(
        &mut self,
        rows: &Rows,
        documents: &[Option<u32>],
        selection: Selection<'_>,
    ) -> Result<u64, ClusterError> {
        for_each_selected_line(rows, documents, selection, |document, record| {
            if selection.annotate {
                self.record.clear();
                self.record.extend_from_slice(record);
                push_verdict(&self.header, &selection.verdict(document)?, &mut self.record);
                self.file.write(&self.record)?;
            } else {
                self.file.write(record)?;
            }
            self.file.write(self.header.line_break().as_bytes())
        })
    }

    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        self.file.finish()
    }
}

fn push_verdict(header: &Header, verdict: &RowVerdict, record: &mut Vec<u8>) {
    let family = verdict.family.map_or_else(String::new, |family| family.to_string());
    header.push_field(&family, record);
    header.push_field(&verdict.original, record);
    header.push_field(&verdict.resemblance.to_string(), record);
    header.push_field(verdict.kind.name(), record);
}
