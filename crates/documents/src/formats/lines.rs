//! A stream of lines in batches: the unit of work that threads share out.
//!
//! A line is a row: of a CSV file, where a quoted field may hold line breaks, it is a record, and the
//! header is no row.
//!
//! Why batches: handing single lines between threads costs more than sketching them, and a whole
//! file does not fit in memory. A batch is about [`BATCH_BYTES`] of whole lines; batches are
//! numbered, so results computed in any order can be put back in order.
//!
//! Cost: one copy of the input; a batch's memory is its lines, and only a single line longer than a
//! batch makes one larger, up to [`Limits::line_bytes`](crate::Limits::line_bytes). A longer line is
//! skipped: its row is an error, and the next line is read.

use std::io::ErrorKind;
use std::sync::Arc;

use serde_json::Value;

use super::csv::{Cutter, Header};
use super::json::{PADDING, RowParser};
use super::{FormatReader, FormatRows, Piece, RowOutcome, Rows, Visitor};
use crate::error::InputError;
use crate::inputs::InputFile;
use crate::open::{Source, SourceKind};
use crate::resolve::RowError;

/// About how many bytes of lines a batch holds: large enough that handing it over costs nothing,
/// small enough to stay in the second-level cache while it is worked on.
pub(crate) const BATCH_BYTES: usize = 512 << 10;

/// How far is looked for a first line that is an object.
const LOOK_BYTES: usize = 16 << 20;

/// Whole lines of one input.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    lines: Vec<Line>,
    /// The longest line that is kept.
    limit: usize,
    header: Option<Arc<Header>>,
}

/// A line, or a record that begins with it, without its break.
#[derive(Clone, Copy, Debug)]
struct Line {
    number: u64,
    start: usize,
    end: usize,
    /// Its bytes are a placeholder.
    is_too_long: bool,
}

impl Lines {
    /// Calls `each` with the number of every line, counted from one, its bytes without the line break,
    /// followed by at least [`PADDING`] readable bytes of no meaning, and its length; or that it was too
    /// long. Blank lines are skipped.
    pub(crate) fn for_each_padded(
        &mut self,
        mut each: impl FnMut(u64, Result<(&mut [u8], usize), RowError>),
    ) {
        for &Line { number, start, end, is_too_long } in &self.lines {
            if is_too_long {
                each(number, Err(RowError::RowTooLong { limit: self.limit }));
            } else if !self.bytes[start..end].iter().all(u8::is_ascii_whitespace) {
                each(number, Ok((&mut self.bytes[start..], end - start)));
            }
        }
    }

    fn is_blank(&self, line: &Line) -> bool {
        self.bytes[line.start..line.end].iter().all(u8::is_ascii_whitespace)
    }

    /// Calls `each` with the number of every line, counted from one, and the line without its break;
    /// `?` stands for one that was too long.
    pub fn for_each_line(&self, mut each: impl FnMut(u64, &[u8])) {
        for &Line { number, start, end, .. } in &self.lines {
            each(number, &self.bytes[start..end]);
        }
    }

    /// Forgets the lines; the memory of a usual batch is kept.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(4 * BATCH_BYTES);
        self.lines.clear();
        self.header = None;
    }

    /// What the fields are called, if the lines are records of a CSV file.
    #[must_use]
    pub fn header(&self) -> Option<&Arc<Header>> {
        self.header.as_ref()
    }

    /// The bytes of its lines.
    #[must_use]
    pub fn input_bytes(&self) -> usize {
        self.bytes.len().saturating_sub(PADDING)
    }
}

/// Cuts an input into batches.
#[derive(Debug)]
pub struct LineReader {
    source: Source,
    next_line: u64,
    done: bool,
    /// Of a CSV file: its header, once it was read.
    header: Option<Arc<Header>>,
}

impl LineReader {
    /// Batches of the lines of `source`, or of its records if it is a CSV file.
    #[must_use]
    pub fn new(source: Source) -> Self {
        LineReader { source, next_line: 1, done: false, header: None }
    }

    /// The name of the input.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The header of a CSV file; none of other files and of one without a line.
    ///
    /// # Errors
    ///
    /// If the input cannot be read.
    pub fn header(&mut self) -> Result<Option<&Arc<Header>>, InputError> {
        if self.source.kind == SourceKind::Csv && self.header.is_none() {
            let mut bytes = Vec::new();
            while !self.done && self.header.is_none() {
                bytes.clear();
                let Some(line) = self.next_line(&mut bytes)? else { break };
                if line.is_too_long {
                    return Err(InputError::LineTooLong {
                        name: self.source.name.clone(),
                        line: line.number,
                        limit: self.source.limits.line_bytes(),
                    });
                }
                let record = &bytes[line.start..line.end];
                if !record.trim_ascii().is_empty() {
                    let crlf = bytes[line.end..].starts_with(b"\r");
                    self.header = Some(Arc::new(Header::read(record, crlf)));
                }
            }
        }
        Ok(self.header.as_ref())
    }

    /// Reads the next batch into `lines`, reusing its memory. `false` at the end of the input. The
    /// first batch of a CSV file may hold its header alone.
    ///
    /// # Errors
    ///
    /// If the input cannot be read on, or the header of a CSV file is too long. What was read of the
    /// batch before is kept in `lines`; after an error the input is at its end.
    pub fn next_lines(&mut self, lines: &mut Lines) -> Result<bool, InputError> {
        lines.clear();
        lines.limit = self.source.limits.line_bytes();
        let first = self.next_line == 1;
        let mut result = self.header().map(|header| lines.header = header.cloned());
        while result.is_ok() && !self.done && lines.bytes.len() < BATCH_BYTES {
            let whole = lines.bytes.len();
            match self.next_line(&mut lines.bytes) {
                Ok(Some(line)) => lines.lines.push(line),
                Ok(None) => {}
                Err(error) => {
                    lines.bytes.truncate(whole);
                    result = Err(error);
                }
            }
        }
        self.done |= result.is_err();
        lines.bytes.resize(lines.bytes.len() + PADDING, b'\n');
        result.map(|()| !lines.lines.is_empty() || (first && lines.header.is_some()))
    }

    /// Appends one line with its break, or one record; none at the end. Of a line that is too long only
    /// a placeholder is appended; the rest is skipped.
    fn next_line(&mut self, bytes: &mut Vec<u8>) -> Result<Option<Line>, InputError> {
        let (number, from) = (self.next_line, bytes.len());
        let limit = self.source.limits.line_bytes();
        let separator = match (self.source.kind, &self.header) {
            (SourceKind::Csv, Some(header)) => Some(header.separator()),
            // A quoted name in a header with another separator may not hold a line break.
            (SourceKind::Csv, None) => Some(b','),
            _ => None,
        };
        let (mut start, mut read_bytes, mut cutter) = (from, 0_u64, Cutter::default());
        let (mut is_too_long, mut is_inside_line) = (false, false);
        loop {
            let available = match self.source.reader().fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.source.broken(error)),
            };
            let (take, is_complete) = match memchr::memchr(b'\n', available) {
                Some(at) => (at + 1, true),
                None => (available.len(), false),
            };
            if take == 0 {
                self.done = true;
                self.next_line += u64::from(is_inside_line);
                break;
            }
            is_inside_line = !is_complete;
            let mark = if number == 1 && read_bytes == 0 { byte_order_mark(available) } else { 0 };
            start += mark;
            read_bytes += take as u64;
            if let Some(separator) = separator {
                cutter.walk(&available[mark..take], separator);
            }
            is_too_long |= bytes.len() - from + take > limit;
            if !is_too_long {
                bytes.extend_from_slice(&available[..take]);
            } else if bytes.len() > from {
                bytes.truncate(from);
                bytes.shrink_to(from + BATCH_BYTES);
            }
            self.source.reader().consume(take);
            if is_complete {
                self.next_line += 1;
                if separator.is_none() || !cutter.goes_on() {
                    break;
                }
            }
        }
        if is_too_long {
            // Not blank: whoever counts rows counts it.
            bytes.extend_from_slice(b"?\n");
            return Ok(Some(Line { number, start: from, end: from + 1, is_too_long }));
        }
        let mut end = bytes.len();
        if end == from {
            return Ok(None);
        }
        if bytes[end - 1] == b'\n' {
            end -= 1;
            if end > start && bytes[end - 1] == b'\r' {
                end -= 1;
            }
        }
        Ok(Some(Line { number, start, end, is_too_long }))
    }
}

impl FormatReader for LineReader {
    fn next_into(&mut self, piece: &mut Piece) -> bool {
        // The memory of the lines goes from piece to piece.
        if !matches!(piece.rows, Rows::Lines(_)) {
            piece.rows = Rows::Lines(Lines::default());
        }
        let Rows::Lines(lines) = &mut piece.rows else { unreachable!("they were just made") };
        self.next_lines(lines).unwrap_or_else(|error| {
            piece.broken = Some(error.without_name());
            true
        })
    }

    fn field_names(&mut self) -> Option<Vec<String>> {
        if self.source.kind == SourceKind::Csv {
            return self.header().ok()?.map(|header| header.names().to_vec());
        }
        let (mut line, mut looked) = (Vec::new(), 0);
        while looked < LOOK_BYTES {
            line.clear();
            let Line { start, end, .. } = self.next_line(&mut line).ok()??;
            looked += line.len();
            if let Ok(Value::Object(row)) = serde_json::from_slice(line[start..end].trim_ascii()) {
                return Some(row.keys().cloned().collect());
            }
        }
        None
    }
}

impl FormatRows for Lines {
    fn count(&self) -> usize {
        self.lines.iter().filter(|line| !self.is_blank(line)).count()
    }

    fn bytes(&self) -> u64 {
        self.input_bytes() as u64
    }

    fn for_each_document(
        &mut self,
        file: &InputFile,
        parser: &mut RowParser,
        each: &mut Visitor<'_>,
    ) {
        let place = |number| Some(file.row_name(number));
        parser.for_each_row(self, &place, |number, row| {
            each(
                Some(number),
                match row {
                    Ok(document) => RowOutcome::Document(document),
                    Err(error) => RowOutcome::Refused(error.to_string()),
                },
            );
        });
    }
}

fn byte_order_mark(line: &[u8]) -> usize {
    if line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::limits::Limits;

    fn lines(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let source = Source::from_reader(Cursor::new(bytes.to_vec()), "test", None).unwrap();
        let mut batches = LineReader::new(source);
        let mut batch = Lines::default();
        let mut lines = Vec::new();
        while batches.next_lines(&mut batch).unwrap() {
            batch.for_each_line(|number, line| lines.push((number, line.to_vec())));
        }
        lines
    }

    #[test]
    fn the_last_line_needs_no_break() {
        assert_eq!(lines(b"a\nb"), [(1, b"a".to_vec()), (2, b"b".to_vec())]);
        assert_eq!(lines(b"a\r\n\nb\n").len(), 3);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(
            lines(b"\xEF\xBB\xBF{}\n\xEF\xBB\xBF"),
            [(1, b"{}".to_vec()), (2, b"\xEF\xBB\xBF".to_vec())]
        );
    }

    #[test]
    fn a_line_longer_than_a_batch_stays_whole() {
        let long = vec![b'x'; 3 * BATCH_BYTES];
        let text = [&b"a\n"[..], &long, b"\nb\n"].concat();
        let lines = lines(&text);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[1], (2, long));
        assert_eq!(lines[2], (3, b"b".to_vec()));
    }

    /// A line of so many bytes between two others, made while it is read.
    struct LongLine {
        at: u64,
        long: u64,
    }

    impl std::io::Read for LongLine {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let (before, after) = (b"{\"id\":1}\n", b"\n{\"id\":3}\n");
            let (first, last) = (before.len() as u64, before.len() as u64 + self.long);
            let source: &[u8] = match self.at {
                at if at < first => &before[at as usize..],
                at if at < last => {
                    let length = buffer.len().min((last - at) as usize);
                    buffer[..length].fill(b'x');
                    self.at += length as u64;
                    return Ok(length);
                }
                at => &after[((at - last) as usize).min(after.len())..],
            };
            let length = source.len().min(buffer.len());
            buffer[..length].copy_from_slice(&source[..length]);
            self.at += length as u64;
            Ok(length)
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_not_kept() {
        let limits = Limits { document_bytes: 1 << 20, ..Limits::default() };
        for (kind, long) in [(SourceKind::JsonLines, 1 << 30), (SourceKind::Csv, 50 << 20)] {
            let reader = LongLine { at: 0, long };
            let source = Source::within(reader, "test", Some(kind), limits).unwrap();
            let mut reader = LineReader::new(source);
            let (mut batch, mut rows, mut most) = (Lines::default(), Vec::new(), 0);
            while reader.next_lines(&mut batch).unwrap() {
                most = most.max(batch.bytes.capacity());
                batch.for_each_padded(|number, line| {
                    rows.push((number, line.map_err(|error| error.to_string()).map(|line| line.1)));
                });
                batch.clear();
                most = most.max(batch.bytes.capacity());
            }
            let told = format!("is longer than the {} bytes that a row may have", 2097152);
            let first = (1, Ok(8));
            let rest = [(2, Err(told)), (3, Ok(8))];
            let expected: Vec<_> = match kind {
                SourceKind::Csv => rest.to_vec(),
                _ => std::iter::once(first).chain(rest).collect(),
            };
            assert_eq!(rows, expected);
            assert!(most <= 2 * limits.line_bytes() + BATCH_BYTES, "{most} bytes were held");
        }
    }

    #[test]
    fn a_quoted_record_that_is_too_long_is_passed_over_to_its_end() {
        let limits = Limits { document_bytes: 1 << 10, ..Limits::default() };
        let field = "line, with a \"\"quote\"\"\n".repeat(10_000);
        let text = format!("id,text\n1,one\n2,\"{field}\"\n3,three\n");
        let source =
            Source::within(Cursor::new(text.into_bytes()), "test", Some(SourceKind::Csv), limits);
        let mut reader = LineReader::new(source.unwrap());
        let (mut batch, mut rows) = (Lines::default(), Vec::new());
        while reader.next_lines(&mut batch).unwrap() {
            batch.for_each_padded(|number, line| {
                rows.push((number, line.map(|(bytes, length)| bytes[..length].to_vec()).ok()));
            });
        }
        let last = (10_004, Some(b"3,three".to_vec()));
        assert_eq!(rows, [(2, Some(b"1,one".to_vec())), (3, None), last]);
    }

    proptest! {
        #[test]
        fn batches_hold_the_lines_of_the_input(
            expected in prop::collection::vec("[a-z]{0,40}", 0..50),
            repeat in 1_usize..2000,
        ) {
            let expected: Vec<String> =
                expected.iter().cycle().take(expected.len() * repeat.min(200)).cloned().collect();
            let text: String = expected.iter().map(|line| format!("{line}\n")).collect();
            let got = lines(text.as_bytes());
            prop_assert_eq!(got.len(), expected.len());
            for (at, ((number, line), expected)) in got.iter().zip(&expected).enumerate() {
                prop_assert_eq!(*number, at as u64 + 1);
                prop_assert_eq!(line.as_slice(), expected.as_bytes());
            }
        }
    }
}
