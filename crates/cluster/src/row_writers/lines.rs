//! Rows that are lines: a kept line as it was read, an annotated one as its format has it.

use wonbon_documents::Rows;

use super::{RowNumbers, RowVerdict, RowWriter, Selection, Written};
use crate::error::ClusterError;
use crate::output_file::OutputFile;

/// What formats of lines differ in.
pub(super) trait LineFormat {
    /// What ends a line.
    fn line_break(&self) -> &[u8];

    /// Appends a line to `out` with its verdict behind its own fields.
    fn annotate(&self, line: &[u8], verdict: &RowVerdict, out: &mut Vec<u8>);

    /// The line with another text; none if it has no place for one.
    fn with_text(&self, line: &[u8], field: &str, text: &str) -> Option<Vec<u8>>;
}

/// Writes lines of a format.
pub(super) struct LineWriter<F> {
    file: OutputFile,
    format: F,
    annotated: Vec<u8>,
}

impl<F: LineFormat> LineWriter<F> {
    /// Goes on behind what the file holds.
    pub(super) fn new(file: OutputFile, format: F) -> Self {
        LineWriter { file, format, annotated: Vec::new() }
    }

    fn write_line(
        &mut self,
        document: u32,
        line: &[u8],
        selection: Selection<'_>,
    ) -> Result<(), ClusterError> {
        if selection.annotate {
            self.annotated.clear();
            self.format.annotate(line, &selection.verdict(document)?, &mut self.annotated);
            self.file.write(&self.annotated)?;
        } else if let Some((passages, cut)) = selection.cut(document) {
            let changed = self.format.with_text(line, passages.text_field, &cut.text);
            let what = "a table without a column for texts";
            self.file.write(&changed.ok_or_else(|| passages.cannot_cut(what))?)?;
        } else {
            self.file.write(line)?;
        }
        self.file.write(self.format.line_break())
    }
}

impl<F: LineFormat> RowWriter for LineWriter<F> {
    fn write(&mut self, rows: &Rows, documents: &RowNumbers, selection: Selection<'_>) -> Written {
        let Rows::Lines(lines) = rows else { return Ok(0) };
        let mut documents = documents.iter();
        let mut result = Ok(0);
        lines.for_each_line(|_, line| {
            if line.iter().all(u8::is_ascii_whitespace) {
                return;
            }
            let Some(Some(document)) = documents.next() else { return };
            if let Ok(count) = result
                && selection.takes(*document)
            {
                result = self.write_line(*document, line, selection).map(|()| count + 1);
            }
        });
        result
    }

    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        self.file.finish()
    }
}
