//! The list of passages as a file: JSON lines, or Parquet if the corpus is.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use parquet::basic::{Compression, ZstdLevel};
use serde_json::json;

use super::listing::{Passage, places_json, text_of};
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
    if is_table {
        return write_table(path, passages, ids, texts);
    }
    let mut file = OutputFile::create(path)?;
    for passage in passages {
        let line = json!({
            "text": text_of(passage, texts)?,
            "words": passage.words,
            "bytes": passage.bytes(),
            "occurrences": passage.occurrences,
            "documents": passage.documents,
            "saved": passage.saved(),
            "places": places_json(passage, ids)?,
        });
        file.write(format!("{line}\n").as_bytes())?;
    }
    file.finish()
}

fn write_table(
    path: PathBuf,
    passages: &[Passage],
    ids: &StringColumn,
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
        let places = rows.iter().map(|row| Ok(places_json(row, ids)?.to_string()));
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
