//! Parquet: record batches without the dropped rows, so that columns unknown to us are preserved.
//!
//! The written file has the columns, types and compression of the read one; its pages are laid out
//! anew. The families of a run with a Parquet input are a Parquet file as well.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use wonbon_documents::{Rows, TableLayout};

use super::{RowVerdict, RowWriter, Selection, VERDICT_FIELDS};
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
        annotate: bool,
    ) -> Result<Self, ClusterError> {
        let mut schema = Arc::clone(&layout.schema);
        if annotate {
            let fields = schema.fields().iter().cloned();
            let all: Vec<_> = fields.chain(VerdictColumns::fields(VERDICT_FIELDS)).collect();
            schema = Arc::new(Schema::new_with_metadata(all, schema.metadata().clone()));
        }
        Ok(ParquetWriter { table: TableFile::create(path, schema, layout.compression)? })
    }
}

impl RowWriter for ParquetWriter {
    fn write(
        &mut self,
        rows: &Rows,
        documents: &[Option<u32>],
        selection: Selection<'_>,
    ) -> Result<u64, ClusterError> {
        let Rows::Table(table) = rows else { return Ok(0) };
        let taken = |document: &Option<u32>| document.is_some_and(|one| selection.takes(one));
        let taken: Vec<bool> = documents.iter().map(taken).collect();
        let rows = filter_record_batch(&table.batch, &BooleanArray::from(taken))
            .map_err(|error| failed(&self.table.path, error.into()))?;
        let written = rows.num_rows() as u64;
        if selection.annotate {
            let mut verdicts = VerdictColumns::default();
            for document in documents.iter().flatten() {
                verdicts.push(selection.verdict(*document)?);
            }
            let columns = rows.columns().iter().cloned().chain(verdicts.into_arrays()).collect();
            self.table.write_columns(columns)?;
        } else {
            self.table.write(&rows)?;
        }
        Ok(written)
    }

    fn finish(self: Box<Self>) -> Result<(), ClusterError> {
        self.table.finish()
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
        self.verdicts.push(verdict);
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
    }

    fn into_arrays(self) -> [ArrayRef; 4] {
        [
            Arc::new(UInt32Array::from(self.families)),
            Arc::new(StringArray::from(self.originals)),
            Arc::new(Float64Array::from(self.resemblances)),
            Arc::new(StringArray::from(self.kinds)),
        ]
    }
}

/// A Parquet file that is being written.
struct TableFile {
    path: PathBuf,
    writer: ArrowWriter<OutputFile>,
    schema: SchemaRef,
}

impl TableFile {
    fn create(
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

    fn write_columns(&mut self, columns: Vec<ArrayRef>) -> Result<(), ClusterError> {
        let rows = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| failed(&self.path, error.into()))?;
        self.write(&rows)
    }

    fn write(&mut self, rows: &RecordBatch) -> Result<(), ClusterError> {
        self.writer.write(rows).map_err(|error| failed(&self.path, error))
    }

    fn finish(self) -> Result<(), ClusterError> {
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
