//! Parquet: the rows of a table, a row group at a time.
//!
//! To read documents only the columns that mean something are decoded; to write rows back all of them
//! are, so that columns nobody knows survive untouched. A row group that cannot be read is told with
//! its number and left out; the others are used.
//!
//! Cost: one row group's columns in memory while it is decoded. A Parquet file is read from its end,
//! so one inside gzip or zstd, or from standard input, is unpacked to a file without a name first.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
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
use parquet::file::metadata::ColumnChunkMetaData;
use wonbon_time::Timestamp;

use super::json::RowParser;
use super::{FormatReader, FormatRows, Piece, RowOutcome, Rows, Visitor};
use crate::binary::is_binary;
use crate::error::{InputError, io};
use crate::inputs::InputFile;
use crate::limits::Limits;
use crate::open::Source;
use crate::resolve::{Value, Values, resolve};

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1024;

/// How a file is laid out, so that another can be written like it.
#[derive(Clone, Debug)]
pub struct TableLayout {
    /// All columns of the file.
    pub schema: SchemaRef,
    /// How the first column is compressed, as far as it can be written.
    pub compression: Compression,
}

/// Rows of a Parquet file.
#[derive(Clone, Debug)]
pub struct TableRows {
    /// The number of the first row, counted from one.
    first: u64,
    /// The rows.
    pub batch: RecordBatch,
    /// How the file is laid out.
    pub layout: Arc<TableLayout>,
    /// Whether a null text is an empty document rather than no document: so every row of a table in
    /// memory is one, and answers stand beside the rows they are about.
    nulls_are_empty: bool,
    unnamed: Unnamed,
}

/// What a row is called that has neither id nor address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// By its file and row.
    FileAndRow,
    /// By its row: all rows of a table are dealt with together.
    Row,
    /// Nothing, and it is no document: the row of the next table would have the same name.
    Refused,
}

impl TableRows {
    /// Rows of a table that is in memory; the first is called by this number.
    pub(crate) fn in_memory(first: u64, batch: RecordBatch, unnamed: Unnamed) -> Self {
        let layout = TableLayout { schema: batch.schema(), compression: Compression::UNCOMPRESSED };
        TableRows { first, batch, layout: Arc::new(layout), nulls_are_empty: true, unnamed }
    }
}

/// Reads the rows of one file.
pub(crate) struct TableReader {
    file: File,
    metadata: ArrowReaderMetadata,
    layout: Arc<TableLayout>,
    columns: Option<Vec<String>>,
    limits: Limits,
    next_group: usize,
    open: Option<ParquetRecordBatchReader>,
    next_row: u64,
}

impl TableReader {
    /// Opens a file; only the named columns are read if names are given. The inner error is the
    /// file's, the outer one means that there is no room to unpack it.
    pub(crate) fn open(
        source: Source,
        path: &Path,
        unpack: &Path,
        columns: Option<&[&str]>,
    ) -> Result<Result<Self, String>, InputError> {
        let limits = source.limits;
        let file = if source.is_compressed() || path.as_os_str() == "-" {
            match unpack_source(source, unpack)? {
                Ok(file) => file,
                Err(broken) => return Ok(Err(broken)),
            }
        } else {
            match File::open(path) {
                Ok(file) => file,
                Err(error) => return Ok(Err(format!("could not be read: {error}"))),
            }
        };
        let metadata = match ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()) {
            Ok(metadata) => metadata,
            Err(error) => return Ok(Err(format!("is not whole: {}", in_words(&error)))),
        };
        let schema = Arc::clone(metadata.schema());
        let layout = Arc::new(TableLayout { schema, compression: compression(&metadata) });
        let columns = columns.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let (next_group, open, next_row) = (0, None, 1);
        Ok(Ok(TableReader { file, metadata, layout, columns, limits, next_group, open, next_row }))
    }

    /// The next rows with the number of the first, or what is wrong with a row group.
    fn next(&mut self) -> Option<Result<(u64, RecordBatch), String>> {
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
            if let Err(error) = self.check_size(group) {
                self.next_row += self.metadata.metadata().row_group(group).num_rows().max(0) as u64;
                return Some(Err(self.broken(&error)));
            }
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

    /// Refuses a row group whose columns would unpack to more than the limit, before anything is
    /// allocated for them.
    fn check_size(&self, group: usize) -> Result<(), String> {
        let wanted = |column: &&ColumnChunkMetaData| match &self.columns {
            None => true,
            Some(names) => {
                let root = column.column_path().parts().first();
                root.is_some_and(|root| names.contains(root))
            }
        };
        let columns = self.metadata.metadata().row_group(group).columns();
        let mut bytes: u64 = 0;
        for column in columns.iter().filter(wanted) {
            let size = u64::try_from(column.uncompressed_size())
                .map_err(|_| "a column has a negative size".to_owned())?;
            bytes = bytes.saturating_add(size);
        }
        let limit = self.limits.row_group_bytes;
        if bytes > limit {
            return Err(format!("it unpacks to {bytes} bytes, more than {limit}"));
        }
        Ok(())
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

/// How the first column is compressed; what cannot be written becomes Snappy.
fn compression(metadata: &ArrowReaderMetadata) -> Compression {
    let groups = metadata.metadata().row_groups();
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

/// Decompresses a source to a file without a name.
fn unpack_source(mut source: Source, folder: &Path) -> Result<Result<File, String>, InputError> {
    let mut file = tempfile::tempfile_in(folder).map_err(io("unpack to", folder))?;
    loop {
        let piece = match source.reader().fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(source.broken(error).without_name())),
        };
        if piece.is_empty() {
            return Ok(Ok(file));
        }
        let length = piece.len();
        file.write_all(piece).map_err(io("unpack to", folder))?;
        source.reader().consume(length);
    }
}

impl FormatReader for TableReader {
    fn next_into(&mut self, piece: &mut Piece) -> bool {
        match self.next() {
            None => return false,
            Some(Ok((first, batch))) => {
                let layout = Arc::clone(&self.layout);
                let (nulls_are_empty, unnamed) = (false, Unnamed::FileAndRow);
                piece.rows =
                    Rows::Table(TableRows { first, batch, layout, nulls_are_empty, unnamed });
            }
            Some(Err(broken)) => {
                piece.rows = Rows::Nothing;
                piece.broken = Some(broken);
            }
        }
        true
    }

    fn field_names(&mut self) -> Option<Vec<String>> {
        let fields = self.layout.schema.fields();
        Some(fields.iter().map(|field| field.name().clone()).collect())
    }
}

impl FormatRows for TableRows {
    fn count(&self) -> usize {
        self.batch.num_rows()
    }

    fn bytes(&self) -> u64 {
        if self.nulls_are_empty {
            return bytes_of_rows(&self.batch);
        }
        self.batch.get_array_memory_size() as u64
    }

    fn for_each_document(
        &mut self,
        file: &InputFile,
        parser: &mut RowParser,
        each: &mut Visitor<'_>,
    ) {
        let names = parser.names();
        let column = |name: &str| self.batch.column_by_name(name).map(AsRef::as_ref);
        let (ids, urls) = (column(&names.id), column(&names.url));
        let (created, published) = (column(&names.created), column(&names.published));
        let (titles, sites) = (column(&names.title), column(&names.site));
        let (authors, languages) = (column(&names.author), column(&names.language));
        let (texts, pages) = (column(&names.text), column(&names.html));
        let redirects = column(&names.redirect);
        let ranking = parser.ranking().and_then(column);
        for (row, number) in (0..self.batch.num_rows()).zip(self.first..) {
            let values = Values {
                id: value_in(ids, row),
                url: value_in(urls, row),
                created: value_in(created, row),
                published: value_in(published, row),
                title: value_in(titles, row),
                site: value_in(sites, row),
                author: value_in(authors, row),
                language: value_in(languages, row),
                text: match value_in(texts, row) {
                    Value::Missing if self.nulls_are_empty => Value::from(""),
                    text => text,
                },
                html: value_in(pages, row),
                redirect: value_in(redirects, row),
                ranking: value_in(ranking, row),
            };
            let place = || match self.unnamed {
                Unnamed::FileAndRow => Some(file.row_name(number)),
                Unnamed::Row => Some(number.to_string()),
                Unnamed::Refused => None,
            };
            let outcome = match resolve(values, names, place) {
                Ok(document) => RowOutcome::Document(document),
                Err(error) => RowOutcome::Refused(error.to_string()),
            };
            each(Some(number), outcome);
        }
    }
}

/// Bytes of the rows of a batch, which may be a few of many that share their memory.
pub(crate) fn bytes_of_rows(batch: &RecordBatch) -> u64 {
    // The lowest four bytes of a view are the length of its string; Arrow counts all buffers that views of the
    // column point to, also for a few of its rows.
    let of_views =
        |views: &[u128]| views.iter().map(|&view| 16 + view as u32 as usize).sum::<usize>();
    let bytes = |column: &Arc<dyn Array>| match column.data_type() {
        DataType::Utf8View => of_views(column.as_string_view().views()),
        DataType::BinaryView => of_views(column.as_binary_view().views()),
        _ => column.to_data().get_slice_memory_size().unwrap_or(0),
    };
    batch.columns().iter().map(|column| bytes(column) as u64).sum()
}

/// The value at a row of a column that may not be there.
fn value_in(column: Option<&dyn Array>, row: usize) -> Value<'_> {
    column.map_or(Value::Missing, |array| column_value(array, row))
}

/// The value at a row of an Arrow column, as a row of a table has it.
#[must_use]
pub fn column_value(array: &dyn Array, row: usize) -> Value<'_> {
    if array.is_null(row) {
        return Value::Missing;
    }
    macro_rules! whole {
        ($kind:ty) => {
            Value::Integer(array.as_primitive::<$kind>().value(row).into())
        };
    }
    macro_rules! time {
        ($kind:ty, $from:expr) => {
            Value::Time($from(array.as_primitive::<$kind>().value(row)))
        };
    }
    let text = |text| Value::Text(Cow::Borrowed(text));
    match array.data_type() {
        DataType::Utf8 => text(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row)),
        DataType::Utf8View => text(array.as_string_view().value(row)),
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
        DataType::Float32 => number(array.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => number(array.as_primitive::<Float64Type>().value(row)),
        DataType::Date32 => {
            time!(Date32Type, |days| Timestamp::from_seconds(i64::from(days) * 86_400))
        }
        DataType::Date64 => time!(Date64Type, Timestamp::from_milliseconds),
        DataType::Timestamp(TimeUnit::Second, _) => {
            time!(TimestampSecondType, Timestamp::from_seconds)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            time!(TimestampMillisecondType, Timestamp::from_milliseconds)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            time!(TimestampMicrosecondType, Timestamp::from_microseconds)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            time!(TimestampNanosecondType, |nanoseconds: i64| {
                Timestamp::from_microseconds(nanoseconds.div_euclid(1000))
            })
        }
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            match column_value(dictionary.keys(), row) {
                Value::Integer(key) => column_value(dictionary.values().as_ref(), key as usize),
                _ => Value::Missing,
            }
        }
        DataType::Null => Value::Missing,
        _ => Value::Other,
    }
}

/// What is no number stands for a missing one: tables of floats have no other way to say it.
fn number(number: f64) -> Value<'static> {
    if number.is_nan() { Value::Missing } else { Value::Float(number) }
}

/// Bytes in any character set.
fn decoded(bytes: &[u8]) -> Value<'_> {
    if is_binary(bytes) {
        return Value::Binary;
    }
    Value::Text(wonbon_text::decode::decode(bytes, None).text)
}
