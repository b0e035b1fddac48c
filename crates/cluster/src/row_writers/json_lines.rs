//! JSON lines: a kept line as it was read; an annotated one with four more fields at its end.

use std::io::Write;
use std::path::PathBuf;

use wonbon_documents::with_json_field;

use super::lines::{LineFormat, LineWriter};
use super::{REMOVED_FIELD, RowVerdict, VERDICT_FIELDS};
use crate::error::ClusterError;
use crate::output_file::OutputFile;

/// An object a line.
pub(super) struct JsonLines;

/// Creates the file.
pub(super) fn create(path: PathBuf) -> Result<LineWriter<JsonLines>, ClusterError> {
    Ok(LineWriter::new(OutputFile::create(path)?, JsonLines))
}

impl LineFormat for JsonLines {
    fn line_break(&self) -> &[u8] {
        b"\n"
    }

    fn annotate(&self, object: &[u8], verdict: &RowVerdict, out: &mut Vec<u8>) {
        let RowVerdict { family, original, resemblance, kind, removed } = verdict;
        let end = object.iter().rposition(|&byte| byte == b'}').unwrap_or(object.len());
        out.extend_from_slice(object[..end].trim_ascii_end());
        let family = family.map_or_else(|| "null".to_owned(), |family| family.to_string());
        let original = serde_json::to_string(original).expect("a string is JSON");
        let [family_name, original_name, resemblance_name, kind_name] = VERDICT_FIELDS;
        write!(
            out,
            ",\"{family_name}\":{family},\"{original_name}\":{original},\
             \"{resemblance_name}\":{resemblance},\"{kind_name}\":\"{kind}\""
        )
        .expect("writing to memory does not fail");
        if let Some(removed) = removed {
            write!(out, ",\"{REMOVED_FIELD}\":{removed}").expect("writing to memory does not fail");
        }
        out.push(b'}');
    }

    fn with_text(&self, object: &[u8], field: &str, text: &str) -> Option<Vec<u8>> {
        with_json_field(object, field, text)
    }
}
