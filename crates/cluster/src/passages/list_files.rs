//! The list of passages as a file: JSON lines, or Parquet if the corpus is.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::basic::{Compression, ZstdLevel};

use super::listing::{Passage, text_of};
use crate::columns::Column;
use crate::error::ClusterError;
use crate::output_file::OutputFile;
use crate::row_writers::TableFile;
use crate::strings::StringColumn;

/// Rows of the table that are collected before they are written.
const ROWS: usize = 4096;

/// Writes the passages in this order.
pub(super) fn write_list(
    path: PathBuf,
    is_table: bool,
    passages: &[Passage],
    ids: &StringColumn,
    texts: &Column<u8>,
) -> Result<(), ClusterError> {
    let mut ids = KnownIds { ids, known: HashMap::new() };
    if is_table {
        return write_table(path, passages, &mut ids, texts);
    }
    let mut file = OutputFile::create(path)?;
    let mut line = Vec::new();
    for passage in passages {
        line.clear();
        line.extend_from_slice(b"{\"text\":");
        write_json(&text_of(passage, texts)?, &mut line);
        write!(
            line,
            ",\"words\":{},\"bytes\":{},\"occurrences\":{},\"documents\":{},\"saved\":{},\"places\":",
            passage.words,
            passage.bytes(),
            passage.occurrences,
            passage.documents,
            passage.saved()
        )
        .expect("writing to memory does not fail");
        ids.write_places(passage, &mut line)?;
        line.extend_from_slice(b"}\n");
        file.write(&line)?;
    }
    file.finish()
}

fn write_json(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text)
        .expect("a string is JSON, and writing to memory does not fail");
}

/// Ids that were read: the documents of one passage often have others.
struct KnownIds<'a> {
    ids: &'a StringColumn,
    /// As JSON.
    known: HashMap<u32, Vec<u8>>,
}

/// So many ids are remembered, and then forgotten together.
const KNOWN: usize = 1 << 16;

impl KnownIds<'_> {
    /// The places of a passage as JSON: id, first byte, and the byte behind the last.
    fn write_places(&mut self, passage: &Passage, out: &mut Vec<u8>) -> Result<(), ClusterError> {
        out.push(b'[');
        for (number, &(document, [start, end])) in passage.places.iter().enumerate() {
            out.extend_from_slice(if number == 0 { b"{\"id\":" } else { b",{\"id\":" });
            if self.known.len() == KNOWN {
                self.known.clear();
            }
            let id = match self.known.entry(document) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let mut id = Vec::new();
                    write_json(&self.ids.get(document)?, &mut id);
                    place.insert(id)
                }
            };
            out.extend_from_slice(id);
            write!(out, ",\"start\":{start},\"end\":{end}}}")
                .expect("writing to memory does not fail");
        }
        out.push(b']');
        Ok(())
    }
}

fn write_table(
    path: PathBuf,
    passages: &[Passage],
    ids: &mut KnownIds<'_>,
    texts: &Column<u8>,
) -> Result<(), ClusterError> {
    let number = |name| Field::new(name, DataType::UInt64, false);
    let string = |name| Field::new(name, DataType::Utf8, false);
    let schema = Schema::new(vec![
        string("text"),
        number("words"),
        number("bytes"),
        number("occurrences"),
        number("documents"),
        number("saved"),
        string("places"),
    ]);
    let compression = Compression::ZSTD(ZstdLevel::default());
    let mut table = TableFile::create(path, Arc::new(schema), compression)?;
    for rows in passages.chunks(ROWS) {
        let numbers = |value: fn(&Passage) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(value)))
        };
        let shown = rows.iter().map(|row| text_of(row, texts));
        let places = rows.iter().map(|row| {
            let mut places = Vec::new();
            ids.write_places(row, &mut places)?;
            Ok(String::from_utf8_lossy(&places).into_owned())
        });
        table.write_columns(vec![
            Arc::new(StringArray::from(shown.collect::<Result<Vec<_>, ClusterError>>()?)),
            numbers(|row| row.words),
            numbers(Passage::bytes),
            numbers(|row| row.occurrences),
            numbers(|row| row.documents),
            numbers(Passage::saved),
            Arc::new(StringArray::from(places.collect::<Result<Vec<_>, ClusterError>>()?)),
        ])?;
    }
    table.finish()
}
