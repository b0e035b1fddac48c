//! CSV: the header as it was read, then the kept records; annotated records have four more fields.

use std::path::PathBuf;
use std::sync::Arc;

use wonbon_documents::Header;

use super::lines::{LineFormat, LineWriter};
use super::{AddedFields, RowVerdict};
use crate::error::ClusterError;
use crate::output_file::OutputFile;

/// Records with the separator and the line breaks of the input.
pub(super) struct Csv {
    header: Arc<Header>,
}

/// Creates the file and writes its header.
pub(super) fn create(
    path: PathBuf,
    header: Arc<Header>,
    fields: &AddedFields,
) -> Result<LineWriter<Csv>, ClusterError> {
    let mut file = OutputFile::create(path)?;
    let mut record = header.record().to_vec();
    fields.0.iter().for_each(|name| header.push_field(name, &mut record));
    record.extend_from_slice(header.line_break().as_bytes());
    file.write(&record)?;
    Ok(LineWriter::new(file, Csv { header }))
}

impl LineFormat for Csv {
    fn line_break(&self) -> &[u8] {
        self.header.line_break().as_bytes()
    }

    fn annotate(&self, record: &[u8], verdict: &RowVerdict, out: &mut Vec<u8>) {
        out.extend_from_slice(record);
        let family = verdict.family.map_or_else(String::new, |family| family.to_string());
        self.header.push_field(&family, out);
        self.header.push_field(&verdict.original, out);
        self.header.push_field(&verdict.resemblance.to_string(), out);
        self.header.push_field(verdict.kind.name(), out);
        if let Some(removed) = &verdict.removed {
            self.header.push_field(removed, out);
        }
    }

    fn with_text(&self, record: &[u8], field: &str, text: &str) -> Option<Vec<u8>> {
        self.header.with_field(record, field, text)
    }
}
