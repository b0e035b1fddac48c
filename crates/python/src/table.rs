//! A result with columns: what every function over many documents returns.
//!
//! An Arrow table without a table library: `pyarrow.table(t)`, `polars.DataFrame(t)`, `duckdb` and pandas take it
//! through the capsule without a copy; without any of them, [`Table::to_pydict`] gives plain lists.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::capsule;
use crate::failure::Failure;

/// Named columns of equal length.
#[pyclass(frozen, module = "wonbon")]
#[derive(Clone)]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Table { schema, batches }
    }

    /// The pieces of a column.
    fn pieces<'a>(
        &'a self,
        name: &str,
    ) -> Result<impl Iterator<Item = &'a ArrayRef> + use<'a>, Failure> {
        let at = self.schema.index_of(name).map_err(|_| {
            let names: Vec<&str> =
                self.schema.fields().iter().map(|one| one.name().as_str()).collect();
            Failure::column(format!("there is no column `{name}`, only {}", names.join(", ")))
        })?;
        Ok(self.batches.iter().map(move |batch| batch.column(at)))
    }
}

#[pymethods]
impl Table {
    /// Hands the table to whoever reads Arrow.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to hand out the own schema whatever was asked for.
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        capsule::export_stream(py, Box::new(reader))
    }

    /// The names and types of the columns.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>, Failure> {
        capsule::export_schema(py, &self.schema)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A column as a list.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> Result<Bound<'py, PyList>, Failure> {
        let list = PyList::empty(py);
        for piece in self.pieces(name)? {
            for row in 0..piece.len() {
                list.append(value_of(py, piece, row)?)?;
            }
        }
        Ok(list)
    }

    /// All columns as lists.
    fn to_pydict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>, Failure> {
        let columns = PyDict::new(py);
        for name in self.column_names() {
            columns.set_item(&name, self.column(py, &name)?)?;
        }
        Ok(columns)
    }

    /// All rows as dictionaries.
    fn to_pylist<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyList>, Failure> {
        let rows = PyList::empty(py);
        for batch in &self.batches {
            for row in 0..batch.num_rows() {
                let told = PyDict::new(py);
                for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
                    told.set_item(field.name(), value_of(py, column, row)?)?;
                }
                rows.append(told)?;
            }
        }
        Ok(rows)
    }

    fn __repr__(&self) -> String {
        format!(
            "<wonbon.Table: {} rows, columns {}>",
            self.__len__(),
            self.column_names().join(", ")
        )
    }
}

/// A value as Python has it.
fn value_of<'py>(py: Python<'py>, array: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if array.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().value(row).into_pyobject(py)?.into_any(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(row).into_pyobject(py)?.into_any(),
        DataType::UInt32 => {
            array.as_primitive::<UInt32Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::UInt64 => {
            array.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Float64 => {
            array.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Boolean => array.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any(),
        other => unreachable!("no result has a column of {other}"),
    })
}
