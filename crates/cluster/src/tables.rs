//! Parquet: rows of a table, read a row group at a time.
//!
//! Only the columns that mean something to a run are read the first time; the second time all of
//! them are. A row group that cannot be read is told with its number and left out; the others are
//! used.
//!
//! Cost: one row group's columns in memory while it is decoded. A file inside gzip or zstd has to be
//! unpacked first, because a Parquet file is read from its end (`reading`).

use std::borrow::Cow;
use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1024;

/// Reads the rows of one file.
pub(crate) struct TableReader {
    file: File,
    metadata: ArrowReaderMetadata,
    columns: Option<Vec<String>>,
    next_group: usize,
    open: Option<ParquetRecordBatchReader>,
    next_row: u64,
}

impl std::fmt::Debug for TableReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TableReader").field("next_row", &self.next_row).finish_non_exhaustive()
    }
}

impl TableReader {
    /// Opens a file; only the named columns are read if names are given.
    pub(crate) fn open(file: File, columns: Option<&[&str]>) -> Result<Self, String> {
        let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
            .map_err(|error| format!("is not whole: {}", in_words(&error)))?;
        let columns = columns.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        Ok(TableReader { file, metadata, columns, next_group: 0, open: None, next_row: 1 })
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(self.metadata.schema())
    }

    /// How the first column is compressed.
    pub(crate) fn compression(&self) -> Compression {
        let groups = self.metadata.metadata().row_groups();
        match groups.first().and_then(|group| group.columns().first()) {
            Some(column) => match column.compression() {
                // The level is not in the file; the others are written as they are read.
                Compression::ZSTD(_) => Compression::ZSTD(ZstdLevel::default()),
                other @ (Compression::SNAPPY | Compression::UNCOMPRESSED) => other,
                _ => Compression::SNAPPY,
            },
            None => Compression::SNAPPY,
        }
    }

    /// The next rows with the number of the first, or what is wrong with a row group.
    pub(crate) fn next(&mut self) -> Option<Result<(u64, RecordBatch), String>> {
        loop {
            if let Some(reader) = &mut self.open {
                match reader.next() {
                    Some(Ok(batch)) => {
                        let first = self.next_row;
                        self.next_row += batch.num_rows() as u64;
                        return Some(Ok((first, batch)));
                    }
                    Some(Err(error)) => {
                        self.open = None;
                        return Some(Err(self.broken(&error.to_string())));
                    }
                    None => self.open = None,
                }
            }
            if self.next_group == self.metadata.metadata().num_row_groups() {
                return None;
            }
            self.next_group += 1;
            let group = self.next_group - 1;
            let reader =
                self.file.try_clone().map_err(|error| error.to_string()).and_then(|file| {
                    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                        file,
                        self.metadata.clone(),
                    );
                    let mask = match &self.columns {
                        None => ProjectionMask::all(),
                        Some(names) => {
                            let root = builder.parquet_schema().root_schema();
                            let wanted: Vec<usize> = root
                                .get_fields()
                                .iter()
                                .enumerate()
                                .filter(|(_, field)| names.iter().any(|name| name == field.name()))
                                .map(|(at, _)| at)
                                .collect();
                            ProjectionMask::roots(builder.parquet_schema(), wanted)
                        }
                    };
                    builder
                        .with_projection(mask)
                        .with_row_groups(vec![group])
                        .with_batch_size(BATCH_ROWS)
                        .build()
                        .map_err(|error| in_words(&error))
                });
            match reader {
                Ok(reader) => self.open = Some(reader),
                Err(error) => return Some(Err(self.broken(&error))),
            }
        }
    }

    fn broken(&self, error: &str) -> String {
        format!("row group {} cannot be read: {error}", self.next_group)
    }
}

fn in_words(error: &ParquetError) -> String {
    match error {
        ParquetError::General(text) | ParquetError::EOF(text) => text.clone(),
        error => error.to_string(),
    }
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Nothing,
    Text(Cow<'a, str>),
    Whole(i128),
    Number(f64),
}

/// The value at a row of a column; types that mean nothing here are nothing.
pub(crate) fn cell(array: &dyn Array, row: usize) -> Cell<'_> {
    if array.is_null(row) {
        return Cell::Nothing;
    }
    macro_rules! whole {
        ($kind:ty) => {
            Cell::Whole(i128::from(array.as_primitive::<$kind>().value(row)))
        };
    }
    macro_rules! seconds {
        ($kind:ty, $unit:expr) => {
            Cell::Number(array.as_primitive::<$kind>().value(row) as f64 / $unit)
        };
    }
    match array.data_type() {
        DataType::Utf8 => Cell::Text(array.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Cell::Text(array.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Cell::Text(array.as_string_view().value(row).into()),
        DataType::Binary => decoded(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => decoded(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => decoded(array.as_binary_view().value(row)),
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Float32 => {
            Cell::Number(f64::from(array.as_primitive::<Float32Type>().value(row)))
        }
        DataType::Float64 => Cell::Number(array.as_primitive::<Float64Type>().value(row)),
        DataType::Date32 => {
            Cell::Number(f64::from(array.as_primitive::<Date32Type>().value(row)) * 86_400.0)
        }
        DataType::Timestamp(TimeUnit::Second, _) => seconds!(TimestampSecondType, 1.0),
        DataType::Timestamp(TimeUnit::Millisecond, _) => seconds!(TimestampMillisecondType, 1e3),
        DataType::Timestamp(TimeUnit::Microsecond, _) => seconds!(TimestampMicrosecondType, 1e6),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => seconds!(TimestampNanosecondType, 1e9),
        DataType::Dictionary(keys, _) if **keys == DataType::Int32 => {
            let dictionary = array.as_dictionary::<Int32Type>();
            match dictionary.key(row) {
                Some(key) => cell(dictionary.values().as_ref(), key),
                None => Cell::Nothing,
            }
        }
        _ => Cell::Nothing,
    }
}

/// Bytes in any character set.
fn decoded(bytes: &[u8]) -> Cell<'_> {
    Cell::Text(wonbon_text::decode::decode(bytes, None).text)
}
