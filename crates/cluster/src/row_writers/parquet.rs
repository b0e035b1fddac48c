//! Parquet: record batches without the dropped rows, so that columns unknown to us are preserved.
//!
//! The written file has the columns, types and compression of the read one; its pages are laid out
//! anew. The families of a run with a Parquet input are a Parquet file as well.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, UInt32Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use wonbon_documents::{Rows, TableLayout};

use super::{AddedFields, RowNumbers, RowVerdict, RowWriter, Selection, VERDICT_FIELDS, Written};
use crate::error::ClusterError;
use crate::output_file::OutputFile;

/// Writes the rows of a table.
pub(super) struct ParquetWriter {
    table: TableFile,
}

impl ParquetWriter {
    /// Creates a file that is laid out like another.
    pub(super) fn create(
        path: PathBuf,
        layout: &TableLayout,
        added: &AddedFields,
    ) -> Result<Self, ClusterError> {
        let mut schema = Arc::clone(&layout.schema);
        if let Some((&names, more)) = added.0.split_first_chunk() {
            let fields = schema.fields().iter().cloned();
            let more = more.iter().map(|&name| Arc::new(Field::new(name, DataType::Utf8, false)));
            let all: Vec<_> = fields.chain(VerdictColumns::fields(names)).chain(more).collect();
            schema = Arc::new(Schema::new_with_metadata(all, schema.metadata().clone()));
        }
        Ok(ParquetWriter { table: TableFile::create(path, schema, layout.compression)? })
    }
}

impl RowWriter for ParquetWriter {
    fn write(&mut self, rows: &Rows, documents: &RowNumbers, selection: Selection<'_>) -> Written {
        let Rows::Table(table) = rows else { return Ok(0) };
        let taken = |document: &Option<u32>| document.is_some_and(|one| selection.takes(one));
        let taken: Vec<bool> = documents.iter().map(taken).collect();
        let batch = self.with_texts(&table.batch, documents, selection)?;
        let rows = filter_record_batch(&batch, &BooleanArray::from(taken))
            .map_err(|error| failed(&self.table.path, error.into()))?;
        let written = rows.num_rows() as u64;
        if selection.annotate && written > 0 {
            let mut verdicts = VerdictColumns::default();
            for document in documents.iter().flatten() {
                verdicts.push(selection.verdict(*document)?);
            }
            let columns = rows.columns().iter().cloned().chain(verdicts.into_arrays()).collect();
            self.table.write_columns(columns)?;
        } else if written > 0 {
            self.table.write(&rows)?;
        }
        Ok(written)
    }

    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        self.table.finish()
    }
}

impl ParquetWriter {
    /// The rows with what is left of their texts.
    fn with_texts(
        &self,
        batch: &RecordBatch,
        documents: &[Option<u32>],
        selection: Selection<'_>,
    ) -> Result<RecordBatch, ClusterError> {
        let cut = |row: usize| documents[row].and_then(|document| selection.cut(document));
        let Some(passages) = (0..batch.num_rows()).find_map(cut).map(|(passages, _)| passages)
        else {
            return Ok(batch.clone());
        };
        let name = passages.text_field;
        let at = batch
            .schema()
            .index_of(name)
            .map_err(|_| passages.cannot_cut("a table without a column for texts"))?;
        let column = batch.column(at);
        let text = |row: usize, old: Option<&str>| {
            cut(row).map(|(_, cut)| cut.text.clone()).or_else(|| old.map(str::to_owned))
        };
        let texts: ArrayRef = match column.data_type() {
            DataType::Utf8 => {
                let old = column.as_string::<i32>().iter().enumerate();
                Arc::new(old.map(|(row, old)| text(row, old)).collect::<StringArray>())
            }
            DataType::LargeUtf8 => {
                let old = column.as_string::<i64>().iter().enumerate();
                Arc::new(old.map(|(row, old)| text(row, old)).collect::<LargeStringArray>())
            }
            DataType::Utf8View => {
                let old = column.as_string_view().iter().enumerate();
                Arc::new(old.map(|(row, old)| text(row, old)).collect::<StringViewArray>())
            }
            _ => return Err(passages.cannot_cut("a table whose texts are not strings")),
        };
        let mut columns = batch.columns().to_vec();
        columns[at] = texts;
        RecordBatch::try_new(batch.schema(), columns)
            .map_err(|error| failed(&self.table.path, error.into()))
    }
}

/// The verdicts of a whole corpus as a table: an id and its verdict a row.
pub(crate) struct FamilyTable {
    table: TableFile,
    ids: Vec<String>,
    verdicts: VerdictColumns,
}

/// Rows of the table of families that are collected before they are written.
const FAMILY_ROWS: usize = 8192;

impl FamilyTable {
    pub(crate) fn create(path: PathBuf) -> Result<Self, ClusterError> {
        let names = VERDICT_FIELDS.map(|name| name.trim_start_matches("wonbon_"));
        let mut fields = vec![Arc::new(Field::new("id", DataType::Utf8, false))];
        fields.extend(VerdictColumns::fields(names));
        let schema = Arc::new(Schema::new(fields));
        let table = TableFile::create(path, schema, Compression::ZSTD(ZstdLevel::default()))?;
        Ok(FamilyTable { table, ids: Vec::new(), verdicts: VerdictColumns::default() })
    }

    pub(crate) fn push(&mut self, id: &str, verdict: RowVerdict) -> Result<(), ClusterError> {
        self.ids.push(id.to_owned());
        self.verdicts.push(RowVerdict { removed: None, ..verdict });
        if self.ids.len() == FAMILY_ROWS { self.write_collected() } else { Ok(()) }
    }

    fn write_collected(&mut self) -> Result<(), ClusterError> {
        let ids: ArrayRef = Arc::new(StringArray::from(std::mem::take(&mut self.ids)));
        let verdicts = std::mem::take(&mut self.verdicts);
        self.table.write_columns([ids].into_iter().chain(verdicts.into_arrays()).collect())
    }

    pub(crate) fn finish(mut self) -> Result<(), ClusterError> {
        self.write_collected()?;
        self.table.finish()
    }
}

/// The verdicts of some rows as columns.
#[derive(Debug, Default)]
struct VerdictColumns {
    families: Vec<Option<u32>>,
    originals: Vec<String>,
    resemblances: Vec<f64>,
    kinds: Vec<&'static str>,
    /// Of every row, or of none.
    removed: Vec<String>,
}

impl VerdictColumns {
    fn fields([family, original, resemblance, kind]: [&str; 4]) -> [Arc<Field>; 4] {
        [
            Arc::new(Field::new(family, DataType::UInt32, true)),
            Arc::new(Field::new(original, DataType::Utf8, false)),
            Arc::new(Field::new(resemblance, DataType::Float64, false)),
            Arc::new(Field::new(kind, DataType::Utf8, false)),
        ]
    }

    fn push(&mut self, verdict: RowVerdict) {
        self.families.push(verdict.family);
        self.originals.push(verdict.original);
        self.resemblances.push(verdict.resemblance);
        self.kinds.push(verdict.kind.name());
        self.removed.extend(verdict.removed);
    }

    fn into_arrays(self) -> Vec<ArrayRef> {
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(self.families)),
            Arc::new(StringArray::from(self.originals)),
            Arc::new(Float64Array::from(self.resemblances)),
            Arc::new(StringArray::from(self.kinds)),
        ];
        if !self.removed.is_empty() {
            columns.push(Arc::new(StringArray::from(self.removed)));
        }
        columns
    }
}

/// A Parquet file that is being written.
pub(crate) struct TableFile {
    path: PathBuf,
    writer: ArrowWriter<OutputFile>,
    schema: SchemaRef,
}

impl TableFile {
    pub(crate) fn create(
        path: PathBuf,
        schema: SchemaRef,
        compression: Compression,
    ) -> Result<Self, ClusterError> {
        let file = OutputFile::create(path.clone())?;
        let properties = WriterProperties::builder().set_compression(compression).build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
            .map_err(|error| failed(&path, error))?;
        Ok(TableFile { path, writer, schema })
    }

    pub(crate) fn write_columns(&mut self, columns: Vec<ArrayRef>) -> Result<(), ClusterError> {
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| failed(&self.path, error.into()))?;
        self.write(&rows)
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), ClusterError> {
        self.writer.write(rows).map_err(|error| failed(&self.path, error))
    }

    pub(crate) fn finish(self) -> Result<(), ClusterError> {
        self.writer.into_inner().map_err(|error| failed(&self.path, error))?.finish()
    }
}

fn failed(path: &Path, error: ParquetError) -> ClusterError {
    let source = match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => *source,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    };
    ClusterError::Io { doing: "write", path: path.to_owned(), source }
}
