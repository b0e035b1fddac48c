//! Parquet: rows of a table written back without those that go.
//!
//! Record batches are filtered, so that columns nobody knows survive untouched. The written file has
//! the columns, types and compression of the read one; its pages are laid out anew.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::error::ClusterError;
use crate::writing::OutputFile;

/// Writes the rows that stay.
pub(crate) struct TableWriter {
    path: PathBuf,
    writer: ArrowWriter<OutputFile>,
    schema: SchemaRef,
}

/// The verdicts of some rows, to be added as columns.
#[derive(Debug, Default)]
pub(crate) struct VerdictColumns {
    pub(crate) families: Vec<Option<u32>>,
    pub(crate) originals: Vec<String>,
    pub(crate) resemblances: Vec<f64>,
    pub(crate) kinds: Vec<&'static str>,
}

impl VerdictColumns {
    fn fields(prefix: &str) -> [Field; 4] {
        [
            Field::new(format!("{prefix}family"), DataType::UInt32, true),
            Field::new(format!("{prefix}original"), DataType::Utf8, false),
            Field::new(format!("{prefix}resemblance"), DataType::Float64, false),
            Field::new(format!("{prefix}kind"), DataType::Utf8, false),
        ]
    }

    fn arrays(self) -> [ArrayRef; 4] {
        [
            Arc::new(UInt32Array::from(self.families)),
            Arc::new(StringArray::from(self.originals)),
            Arc::new(Float64Array::from(self.resemblances)),
            Arc::new(StringArray::from(self.kinds)),
        ]
    }
}

impl TableWriter {
    pub(crate) fn create(
        path: PathBuf,
        schema: &SchemaRef,
        compression: Compression,
        annotated: bool,
    ) -> Result<Self, ClusterError> {
        let schema = if annotated {
            let fields = schema.fields().iter().cloned();
            let all: Vec<_> =
                fields.chain(VerdictColumns::fields("wonbon_").map(Arc::new)).collect();
            Arc::new(Schema::new_with_metadata(all, schema.metadata().clone()))
        } else {
            Arc::clone(schema)
        };
        let file = OutputFile::create(path.clone())?;
        let properties = WriterProperties::builder().set_compression(compression).build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties))
            .map_err(|error| failed(&path, error))?;
        Ok(TableWriter { path, writer, schema })
    }

    /// The file of verdicts of a whole corpus.
    pub(crate) fn families(path: PathBuf) -> Result<Self, ClusterError> {
        let mut fields = vec![Field::new("id", DataType::Utf8, false)];
        fields.extend(VerdictColumns::fields(""));
        let zstd = Compression::ZSTD(ZstdLevel::default());
        Self::create(path, &Arc::new(Schema::new(fields)), zstd, false)
    }

    pub(crate) fn write_families(
        &mut self,
        ids: Vec<String>,
        verdicts: VerdictColumns,
    ) -> Result<(), ClusterError> {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(StringArray::from(ids))];
        columns.extend(verdicts.arrays());
        self.write(columns)
    }

    /// Writes those rows of a batch that are marked.
    pub(crate) fn write_kept(
        &mut self,
        batch: &RecordBatch,
        kept: Vec<bool>,
    ) -> Result<(), ClusterError> {
        let batch = filter_record_batch(batch, &BooleanArray::from(kept))
            .map_err(|error| failed(&self.path, error.into()))?;
        self.writer.write(&batch).map_err(|error| failed(&self.path, error))
    }

    /// Writes the rows of a batch that are marked, with their verdicts.
    pub(crate) fn write_annotated(
        &mut self,
        batch: &RecordBatch,
        documents: Vec<bool>,
        verdicts: VerdictColumns,
    ) -> Result<(), ClusterError> {
        let batch = filter_record_batch(batch, &BooleanArray::from(documents))
            .map_err(|error| failed(&self.path, error.into()))?;
        let columns = batch.columns().iter().cloned().chain(verdicts.arrays()).collect();
        self.write(columns)
    }

    fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), ClusterError> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .map_err(|error| failed(&self.path, error.into()))?;
        self.writer.write(&batch).map_err(|error| failed(&self.path, error))
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
