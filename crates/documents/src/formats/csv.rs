//! Records of a CSV file: fields by the names of the header, quoted ones with anything in them.
//!
//! The grammar is RFC 4180 as it is met in the wild: a field that begins with a quote goes on to the
//! next single quote, over line breaks and separators, and two quotes inside are one; a quote
//! elsewhere is a character like others; lines end in LF or CRLF, blank ones are skipped. The
//! separator is a comma, or what separates a header without commas: semicolon or tab.
//!
//! Why not a crate: a record has to be cut out of a stream as the bytes it is, because kept rows go
//! out as they came in, and its text has to be handed on without a copy. Both are a walk from quote
//! to quote; the tests compare it with the `csv` crate.
//!
//! Guarantee: a record with too many or too few fields, or whose fields are not UTF-8, is an error of
//! that record alone. A quote that is never closed takes everything up to the next one with it, as in
//! every CSV reader; the record is named by the line it begins on.
//!
//! Cost: one search from mark to mark to cut, one more to unescape in place.

use std::sync::Arc;

use crate::fields::FieldNames;
use crate::resolve::{RowError, Value, Values};

/// The first record: what the fields of the others are called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    names: Vec<String>,
    separator: u8,
    record: Vec<u8>,
    line_break: &'static str,
}

impl Header {
    /// Reads a header, without its line break; `crlf` tells which that was.
    pub(crate) fn read(record: &[u8], crlf: bool) -> Header {
        let separator = guess_separator(record);
        let mut unescaped = record.to_vec();
        let mut fields = Vec::new();
        // An open quote makes one name of the rest: no row will have so few fields, and each says so.
        split(&mut unescaped, separator, &mut fields);
        let names = fields
            .iter()
            .map(|&(start, end)| String::from_utf8_lossy(&unescaped[start..end]).into_owned())
            .collect();
        let line_break = if crlf { "\r\n" } else { "\n" };
        Header { names, separator, record: record.to_vec(), line_break }
    }

    /// The names of the fields, in order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The header as it stands in the file, without its line break.
    #[must_use]
    pub fn record(&self) -> &[u8] {
        &self.record
    }

    /// How lines end in this file.
    #[must_use]
    pub fn line_break(&self) -> &'static str {
        self.line_break
    }

    /// What separates fields.
    #[must_use]
    pub fn separator(&self) -> u8 {
        self.separator
    }

    /// A record with another value in one field; none if the record or the header does not have it. Fields that need no
    /// quotes are written without.
    #[must_use]
    pub fn with_field(&self, record: &[u8], name: &str, value: &str) -> Option<Vec<u8>> {
        let column = self.names.iter().position(|other| other == name)?;
        let (mut unescaped, mut fields) = (record.to_vec(), Vec::new());
        if !split(&mut unescaped, self.separator, &mut fields) || column >= fields.len() {
            return None;
        }
        let mut changed = Vec::with_capacity(record.len());
        for (number, &(start, end)) in fields.iter().enumerate() {
            if number > 0 {
                changed.push(self.separator);
            }
            let old = &unescaped[start..end];
            self.push_value(if number == column { value.as_bytes() } else { old }, &mut changed);
        }
        Some(changed)
    }

    /// Appends a separator and a field to a record, in quotes if it needs them.
    pub fn push_field(&self, value: &str, record: &mut Vec<u8>) {
        record.push(self.separator);
        self.push_value(value.as_bytes(), record);
    }

    fn push_value(&self, value: &[u8], record: &mut Vec<u8>) {
        let special = |byte: &u8| [self.separator, b'"', b'\n', b'\r'].contains(byte);
        if !value.iter().any(special) {
            return record.extend_from_slice(value);
        }
        record.push(b'"');
        for &byte in value {
            record.extend_from_slice(if byte == b'"' {
                b"\"\""
            } else {
                std::slice::from_ref(&byte)
            });
        }
        record.push(b'"');
    }
}

fn guess_separator(record: &[u8]) -> u8 {
    let is_there = |separator: &u8| memchr::memchr(*separator, record).is_some();
    [b',', b'\t', b';'].into_iter().find(is_there).unwrap_or(b',')
}

/// Where a walk over a record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    FieldStart,
    Plain,
    Quoted,
    /// Behind a quote inside a quoted field: the end of it, unless another quote follows.
    BehindQuote,
}

/// Tells at the end of every line whether the record continues after it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cutter {
    place: Place,
}

impl Cutter {
    /// Walks over the next bytes of the record.
    pub(crate) fn walk(&mut self, line: &[u8], separator: u8) {
        let mut at = 0;
        while at < line.len() {
            self.place = match self.place {
                Place::FieldStart if line[at] == b'"' => {
                    at += 1;
                    Place::Quoted
                }
                Place::FieldStart => Place::Plain,
                Place::Plain => match memchr::memchr(separator, &line[at..]) {
                    Some(length) => {
                        at += length + 1;
                        Place::FieldStart
                    }
                    None => break,
                },
                Place::Quoted => match memchr::memchr(b'"', &line[at..]) {
                    Some(length) => {
                        at += length + 1;
                        Place::BehindQuote
                    }
                    None => break,
                },
                Place::BehindQuote if line[at] == b'"' => {
                    at += 1;
                    Place::Quoted
                }
                Place::BehindQuote => Place::Plain,
            };
        }
    }

    /// Whether the record goes on behind the line that ends here.
    pub(crate) fn goes_on(&mut self) -> bool {
        let goes_on = self.place == Place::Quoted;
        if !goes_on {
            self.place = Place::FieldStart;
        }
        goes_on
    }
}

/// Unescapes the fields of a record in place and returns where each stands; `false` if its last quote
/// is not closed.
fn split(record: &mut [u8], separator: u8, fields: &mut Vec<(usize, usize)>) -> bool {
    fields.clear();
    let mut at = 0;
    loop {
        let (start, mut end) = (at, at);
        if record.get(at) == Some(&b'"') {
            at += 1;
            loop {
                let Some(length) = memchr::memchr(b'"', &record[at..]) else {
                    record.copy_within(at.., end);
                    fields.push((start, end + record.len() - at));
                    return false;
                };
                record.copy_within(at..at + length, end);
                end += length;
                at += length + 1;
                if record.get(at) != Some(&b'"') {
                    break;
                }
                record[end] = b'"';
                end += 1;
                at += 1;
            }
        }
        let length = memchr::memchr(separator, &record[at..]).unwrap_or(record.len() - at);
        if end < at {
            record.copy_within(at..at + length, end);
        }
        at += length;
        fields.push((start, end + length));
        if at == record.len() {
            return true;
        }
        at += 1;
    }
}

/// Which column means what in one file.
#[derive(Debug, Default)]
struct Columns {
    id: Option<usize>,
    url: Option<usize>,
    created: Option<usize>,
    published: Option<usize>,
    title: Option<usize>,
    site: Option<usize>,
    author: Option<usize>,
    language: Option<usize>,
    text: Option<usize>,
    html: Option<usize>,
    redirect: Option<usize>,
    ranking: Option<usize>,
}

/// Reads records into values, reusing its memory.
#[derive(Debug, Default)]
pub(crate) struct RecordParser {
    header: Option<Arc<Header>>,
    columns: Columns,
    fields: Vec<(usize, usize)>,
}

impl RecordParser {
    /// The records that follow belong to this header.
    pub(crate) fn start(
        &mut self,
        header: &Arc<Header>,
        names: &FieldNames,
        ranking: Option<&str>,
    ) {
        if self.header.as_ref().is_some_and(|known| Arc::ptr_eq(known, header)) {
            return;
        }
        let column = |name: &str| header.names.iter().position(|other| other == name);
        self.columns = Columns {
            id: column(&names.id),
            url: column(&names.url),
            created: column(&names.created),
            published: column(&names.published),
            title: column(&names.title),
            site: column(&names.site),
            author: column(&names.author),
            language: column(&names.language),
            text: column(&names.text),
            html: column(&names.html),
            redirect: column(&names.redirect),
            ranking: ranking.and_then(column),
        };
        self.header = Some(Arc::clone(header));
    }

    /// The values of one record.
    pub(crate) fn values<'a>(&mut self, record: &'a mut [u8]) -> Result<Values<'a>, RowError> {
        let Some(header) = &self.header else { return Err(RowError::NotAnObject) };
        if !split(record, header.separator, &mut self.fields) {
            return Err(RowError::UnclosedQuote);
        }
        let (got, wanted) = (self.fields.len(), header.names.len());
        if got != wanted {
            return Err(RowError::FieldCount { got, wanted });
        }
        let record: &'a [u8] = record;
        let value = |column: Option<usize>| -> Value<'a> {
            let Some(column) = column else { return Value::Missing };
            let (start, end) = self.fields[column];
            std::str::from_utf8(&record[start..end]).map_or(Value::NotUtf8, Value::from)
        };
        let columns = &self.columns;
        Ok(Values {
            id: value(columns.id),
            url: value(columns.url),
            created: value(columns.created),
            published: value(columns.published),
            title: value(columns.title),
            site: value(columns.site),
            author: value(columns.author),
            language: value(columns.language),
            text: value(columns.text),
            html: value(columns.html),
            redirect: value(columns.redirect),
            ranking: value(columns.ranking),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::formats::json::RowParser;
    use crate::formats::lines::{BATCH_BYTES, LineReader, Lines};
    use crate::{Content, Source, SourceKind};

    /// All whole records by the cutter and the splitter, with the line each begins on.
    fn records(bytes: &[u8]) -> Vec<(u64, Vec<Vec<u8>>)> {
        let mut batches = batches(bytes);
        let (mut batch, mut found, mut fields) = (Lines::default(), Vec::new(), Vec::new());
        while batches.next_lines(&mut batch).unwrap() {
            let separator = batch.header().unwrap().separator();
            batch.for_each_line(|number, record| {
                let mut record = record.to_vec();
                if record.iter().all(u8::is_ascii_whitespace) {
                    return;
                }
                if !split(&mut record, separator, &mut fields) {
                    return;
                }
                let values = fields.iter().map(|&(start, end)| record[start..end].to_vec());
                found.push((number, values.collect()));
            });
        }
        found
    }

    fn batches(bytes: &[u8]) -> LineReader {
        let reader = Cursor::new(bytes.to_vec());
        LineReader::new(Source::from_reader(reader, "test", Some(SourceKind::Csv)).unwrap())
    }

    #[test]
    fn one_field_is_replaced_and_the_others_keep_their_values() {
        let header = Header::read(b"id,text,note", false);
        let changed =
            header.with_field(b"1,\"a, \"\"b\"\"\",\"x,y\"", "text", "two\nlines").unwrap();
        assert_eq!(changed, b"1,\"two\nlines\",\"x,y\"");
        assert_eq!(header.with_field(b"1,a,b", "title", "t"), None);
    }

    /// The line of a row, and its id and content or what is wrong with it.
    type Told = (u64, Result<(Option<String>, String), RowError>);

    fn rows(bytes: &[u8]) -> Vec<Told> {
        let (mut batches, mut batch) = (batches(bytes), Lines::default());
        let mut parser = RowParser::new(FieldNames::default());
        let mut rows = Vec::new();
        while batches.next_lines(&mut batch).unwrap() {
            parser.for_each_row(&mut batch, &|_| Some(String::new()), |number, row| {
                let row = row.map(|row| {
                    let id = (!row.id.is_empty()).then(|| row.id.into_owned());
                    match row.content {
                        Content::Text(text) | Content::Page(text) => (id, text.into_owned()),
                        other => panic!("{other:?}"),
                    }
                });
                rows.push((number, row));
            });
        }
        rows
    }

    #[test]
    fn quoted_fields_hold_line_breaks_separators_and_quotes() {
        let found =
            rows(b"\xEF\xBB\xBFid,text\r\n1,\"a\n, \"\"b\"\"\"\r\n\r\n2,5\" disk\r\n3,\"\"\n");
        let row = |id: &str, text: &str| Ok((Some(id.to_owned()), text.to_owned()));
        assert_eq!(
            found,
            [(2, row("1", "a\n, \"b\"")), (5, row("2", "5\" disk")), (6, row("3", ""))]
        );
    }

    #[test]
    fn a_bad_record_is_refused_and_the_rest_is_read() {
        let found = rows(b"text,id\na\nb,1,2\n\xFF,3\nc,4\n\"d,5\n");
        assert_eq!(found[0], (2, Err(RowError::FieldCount { got: 1, wanted: 2 })));
        assert_eq!(found[1], (3, Err(RowError::FieldCount { got: 3, wanted: 2 })));
        assert_eq!(found[2], (4, Err(RowError::NotUtf8 { field: "text".to_owned() })));
        assert_eq!(found[3], (5, Ok((Some("4".to_owned()), "c".to_owned()))));
        assert_eq!(found[4], (6, Err(RowError::UnclosedQuote)));
    }

    #[test]
    fn the_header_tells_the_separator_and_a_page_serves_where_there_is_no_text() {
        for separator in [",", ";", "\t"] {
            let text = "id,text,html\n,,<p>\n".replace(',', separator);
            assert_eq!(rows(text.as_bytes()), [(2, Ok((None, "<p>".to_owned())))]);
        }
        let found = rows(b"a,b\n1,2\n");
        assert!(matches!(found[0], (2, Err(RowError::NoContent { .. }))));
    }

    #[test]
    fn a_record_longer_than_a_batch_stays_whole() {
        let long = "x\n".repeat(BATCH_BYTES);
        let found = records(format!("text\n\"{long}\"\nlast\n").as_bytes());
        assert_eq!(found[0], (2, vec![long.into_bytes()]));
        assert_eq!(found[1].1, [b"last".to_vec()]);
    }

    #[test]
    fn an_added_field_is_read_back() {
        let header = Header::read(b"a;b", false);
        for value in ["", "plain", "with;mark", "say \"x\"", "two\nlines"] {
            let mut record = b"1;2".to_vec();
            header.push_field(value, &mut record);
            let mut fields = Vec::new();
            assert!(split(&mut record, b';', &mut fields));
            let (start, end) = fields[2];
            assert_eq!(&record[start..end], value.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn records_are_those_of_the_csv_crate(text in "[ab,\"\n]{0,60}") {
            let text = format!("h,i\n{text}");
            let mut reader = csv::ReaderBuilder::new()
                .flexible(true)
                .terminator(csv::Terminator::Any(b'\n'))
                .from_reader(text.as_bytes());
            // A quote that is not closed is an error here, and only the last record can have one.
            let closed = records(format!("{text}\n").as_bytes());
            let mut expected: Vec<Vec<Vec<u8>>> = reader
                .byte_records()
                .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                .collect();
            prop_assert!(expected.len() <= closed.len() + 1);
            expected.truncate(closed.len());
            let found: Vec<Vec<Vec<u8>>> =
                records(text.as_bytes()).into_iter().map(|(_, fields)| fields).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn what_the_csv_crate_writes_is_read_back(
            values in prop::collection::vec((any::<String>(), any::<String>()), 1..20),
            crlf in any::<bool>(),
        ) {
            let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
            let mut writer = csv::WriterBuilder::new()
                .quote_style(csv::QuoteStyle::Always)
                .terminator(terminator)
                .from_writer(Vec::new());
            writer.write_record(["id", "text"]).unwrap();
            values.iter().for_each(|(id, text)| writer.write_record([id, text]).unwrap());
            let found = rows(&writer.into_inner().unwrap());
            prop_assert_eq!(found.len(), values.len());
            for ((_, row), (id, text)) in found.into_iter().zip(values) {
                let id = (!id.is_empty()).then_some(id);
                prop_assert_eq!(row, Ok((id, text)));
            }
        }

        #[test]
        fn no_input_makes_it_panic(input in prop::collection::vec(any::<u8>(), 0..400)) {
            rows(&input);
        }
    }
}
