//! Columns of record batches by name, with errors that name them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

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

/// The columns of `input` without one of them, and others behind.
pub(super) fn with_columns(input: &Schema, without: usize, more: &[(&str, DataType)]) -> SchemaRef {
    let kept = input.fields().iter().enumerate().filter(|(at, _)| *at != without);
    let mut fields: Vec<_> = kept.map(|(_, field)| Arc::clone(field)).collect();
    fields.extend(more.iter().map(|(name, kind)| Arc::new(Field::new(*name, kind.clone(), true))));
    Arc::new(Schema::new(fields))
}

/// The columns of a batch without one of them.
pub(super) fn kept_columns(batch: &RecordBatch, without: usize) -> Vec<ArrayRef> {
    let kept = batch.columns().iter().enumerate().filter(|(at, _)| *at != without);
    kept.map(|(_, column)| Arc::clone(column)).collect()
}

/// A schema of these columns.
pub(super) fn schema_of(columns: &[(&str, DataType)]) -> SchemaRef {
    let fields: Vec<Field> =
        columns.iter().map(|(name, kind)| Field::new(*name, kind.clone(), true)).collect();
    Arc::new(Schema::new(fields))
}
