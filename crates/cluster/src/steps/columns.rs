//! Columns of record batches by name, with errors that name them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take;

use crate::error::ClusterError;

/// Where a column is.
pub(super) fn place(schema: &Schema, name: &str) -> Result<usize, ClusterError> {
    let missing = || ClusterError::NoColumn { column: name.to_owned(), wanted: "any type" };
    schema.index_of(name).map_err(|_| missing())
}

/// A column of any type.
pub(super) fn any<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a dyn Array, ClusterError> {
    Ok(batch.column(place(batch.schema_ref(), name)?).as_ref())
}

/// A column of 64-bit integers.
pub(super) fn longs<'a>(
    batch: &'a RecordBatch,
    name: &str,
) -> Result<&'a Int64Array, ClusterError> {
    any(batch, name)?.as_primitive_opt::<Int64Type>().ok_or_else(|| ClusterError::NoColumn {
        column: name.to_owned(),
        wanted: "64-bit integers",
    })
}

/// A column of truth values.
pub(super) fn flags<'a>(
    batch: &'a RecordBatch,
    name: &str,
) -> Result<&'a BooleanArray, ClusterError> {
    any(batch, name)?
        .as_boolean_opt()
        .ok_or_else(|| ClusterError::NoColumn { column: name.to_owned(), wanted: "truth values" })
}

/// A column of bytes.
pub(super) struct Bytes<'a>(&'a dyn Array);

impl<'a> Bytes<'a> {
    pub(super) fn of(batch: &'a RecordBatch, name: &str) -> Result<Self, ClusterError> {
        let array = any(batch, name)?;
        match array.data_type() {
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Ok(Bytes(array)),
            _ => Err(ClusterError::NoColumn { column: name.to_owned(), wanted: "bytes" }),
        }
    }

    /// The bytes of a row; none for a null.
    pub(super) fn get(&self, row: usize) -> &'a [u8] {
        if self.0.is_null(row) {
            return &[];
        }
        match self.0.data_type() {
            DataType::Binary => self.0.as_binary::<i32>().value(row),
            DataType::LargeBinary => self.0.as_binary::<i64>().value(row),
            _ => self.0.as_binary_view().value(row),
        }
    }
}

/// The columns that a step passes on, with those that it adds behind them.
#[derive(Debug)]
pub(super) struct Passed {
    kept: Vec<usize>,
    schema: SchemaRef,
}

impl Passed {
    /// All columns of `input` but those `taken`.
    pub(super) fn without(input: &Schema, taken: &[&str], added: &[(&str, DataType)]) -> Self {
        let is_kept = |at: &usize| !taken.contains(&input.field(*at).name().as_str());
        let kept: Vec<usize> = (0..input.fields().len()).filter(is_kept).collect();
        let mut fields: Vec<_> = kept.iter().map(|&at| Arc::clone(&input.fields()[at])).collect();
        fields.extend(schema_of(added).fields().iter().cloned());
        Passed { kept, schema: Arc::new(Schema::new(fields)) }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The rows of a batch with the added columns.
    pub(super) fn batch(
        &self,
        batch: &RecordBatch,
        added: impl IntoIterator<Item = ArrayRef>,
    ) -> Result<RecordBatch, ClusterError> {
        let kept = self.kept.iter().map(|&at| Arc::clone(batch.column(at)));
        Ok(RecordBatch::try_new(self.schema(), kept.chain(added).collect())?)
    }

    /// Some rows of a batch, in the order of `rows`, with the added columns.
    pub(super) fn batch_of_rows(
        &self,
        batch: &RecordBatch,
        rows: &UInt32Array,
        added: impl IntoIterator<Item = ArrayRef>,
    ) -> Result<RecordBatch, ClusterError> {
        let kept = self.kept.iter().map(|&at| take(batch.column(at), rows, None));
        let mut columns = kept.collect::<Result<Vec<_>, _>>()?;
        columns.extend(added);
        Ok(RecordBatch::try_new(self.schema(), columns)?)
    }
}

/// A schema of these columns.
pub(super) fn schema_of(columns: &[(&str, DataType)]) -> SchemaRef {
    let fields: Vec<Field> =
        columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect();
    Arc::new(Schema::new(fields))
}
