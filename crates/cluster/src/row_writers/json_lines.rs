//! JSON lines: a kept line as it was read; an annotated one with four more fields at its end.

use std::io::Write;
use std::path::PathBuf;

use super::{RowVerdict, RowWriter, Selection, VERDICT_FIELDS, for_each_selected_line};
use crate::error::ClusterError;
use crate::output_file::OutputFile;
use crate::reading::Item;

/// Writes JSON lines.
pub(super) struct JsonLinesWriter {
    file: OutputFile,
    line: Vec<u8>,
}

impl JsonLinesWriter {
    pub(super) fn create(path: PathBuf) -> Result<Self, ClusterError> {
        Ok(JsonLinesWriter { file: OutputFile::create(path)?, line: Vec::new() })
    }
}

impl RowWriter for JsonLinesWriter {
    fn write(
        &mut self,
        item: &Item,
        documents: &[Option<u32>],
        selection: Selection<'_>,
    ) -> Result<u64, ClusterError> {
        for_each_selected_line(item, documents, selection, |document, line| {
            if selection.annotate {
                self.line.clear();
                annotate(line, &selection.verdict(document)?, &mut self.line);
                self.file.write(&self.line)?;
            } else {
                self.file.write(line)?;
            }
            self.file.write(b"\n")
        })
    }

    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        self.file.finish()
    }
}

/// Appends an object to `out` with its verdict behind its own fields.
fn annotate(object: &[u8], verdict: &RowVerdict, out: &mut Vec<u8>) {
    let RowVerdict { family, original, resemblance, kind } = verdict;
    let end = object.iter().rposition(|&byte| byte == b'}').unwrap_or(object.len());
    out.extend_from_slice(object[..end].trim_ascii_end());
    let family = family.map_or_else(|| "null".to_owned(), |family| family.to_string());
    let original = serde_json::to_string(original).expect("a string is JSON");
    let [family_name, original_name, resemblance_name, kind_name] = VERDICT_FIELDS;
    write!(
        out,
        ",\"{family_name}\":{family},\"{original_name}\":{original},\
         \"{resemblance_name}\":{resemblance},\"{kind_name}\":\"{kind}\"}}"
    )
    .expect("writing to memory does not fail");
}
