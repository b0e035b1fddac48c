//! Arrow in and out: the C data interface in Python's capsules.
//!
//! Every table library of Python hands out its data as a capsule with one of three agreed names. So two
//! directions are enough for all of them: [`import`] takes the arrays of any object with
//! `__arrow_c_stream__` or `__arrow_c_array__`, [`export_stream`] and [`export_array`] make the capsules of our
//! own results. No table library has to be installed.
//!
//! Cost: nothing is copied; an imported array holds its producer's memory until it is dropped.
//!
//! Guarantee: a capsule is taken at most once (its content is replaced by an empty one, which the interface
//! calls released), and a text that is not UTF-8 is refused before anybody reads it ([`check`]). What cannot
//! be checked is the interface's contract: that pointers and lengths are what the producer says.
#![allow(unsafe_code, reason = "the C data interface is pointers; see the safety comments")]

use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, to_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{Array, ArrayReader, ArrayRef, RecordBatchReader, make_array};
use arrow_schema::{ArrowError, Field, FieldRef, Schema};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::failure::Failure;

const STREAM: &std::ffi::CStr = c"arrow_array_stream";
const ARRAY: &std::ffi::CStr = c"arrow_array";
const SCHEMA: &std::ffi::CStr = c"arrow_schema";

/// Arrays that another library hands over: batches of a table as arrays of structs, or a column.
pub(crate) enum Imported {
    /// As many as the producer has.
    Stream(ArrayStreamReader),
    /// One.
    Array(Option<ArrayRef>, FieldRef),
}

impl Imported {
    /// The name and type of the arrays.
    pub(crate) fn field(&self) -> FieldRef {
        match self {
            Imported::Stream(reader) => Arc::clone(reader.field()),
            Imported::Array(_, field) => Arc::clone(field),
        }
    }
}

impl Iterator for Imported {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Imported::Stream(reader) => reader.next(),
            Imported::Array(array, _) => array.take().map(Ok),
        }
    }
}

/// What an object exports; nothing if it knows neither of the two methods.
pub(crate) fn import(object: &Bound<'_, PyAny>) -> Result<Option<Imported>, Failure> {
    // A class has the methods too, but needs an object for them.
    if object.is_instance_of::<pyo3::types::PyType>() {
        return Ok(None);
    }
    if object.hasattr("__arrow_c_stream__")? {
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let pointer = pointer::<FFI_ArrowArrayStream>(&capsule, STREAM)?;
        // SAFETY: the name of the capsule says what it points to, and the capsule, which is borrowed, keeps
        // it alive; what is there is replaced by a released stream.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
        return Ok(Some(Imported::Stream(ArrayStreamReader::try_new(stream)?)));
    }
    if object.hasattr("__arrow_c_array__")? {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let capsules = capsules.cast::<PyTuple>().map_err(PyErr::from)?;
        let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
        let (schema, array) = (
            pointer::<FFI_ArrowSchema>(&schema, SCHEMA)?,
            pointer::<FFI_ArrowArray>(&array, ARRAY)?,
        );
        // SAFETY: as above, once for each of the two.
        let (schema, array) = unsafe {
            (FFI_ArrowSchema::from_raw(schema.as_ptr()), FFI_ArrowArray::from_raw(array.as_ptr()))
        };
        let field = Arc::new(Field::try_from(&schema)?);
        // SAFETY: the producer promises that the two describe one array.
        let data = unsafe { from_ffi(array, &schema) }?;
        return Ok(Some(Imported::Array(Some(make_array(data)), field)));
    }
    Ok(None)
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &std::ffi::CStr) -> PyResult<NonNull<T>> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.cast())
}

/// Whether an array of strings is what it says: offsets in order, UTF-8.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn check(array: &dyn Array) -> Result<(), ArrowError> {
    array.to_data().validate_full()
}

/// A capsule that hands over batches.
pub(crate) fn export_stream(
    py: Python<'_>,
    batches: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(batches), STREAM)
}

/// Two capsules that hand over an array: its schema and itself.
pub(crate) fn export_array<'py>(
    py: Python<'py>,
    array: &dyn Array,
) -> Result<Bound<'py, PyTuple>, Failure> {
    let (array, schema) = to_ffi(&array.to_data())?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    let array = PyCapsule::new_with_value(py, array, ARRAY)?;
    Ok(PyTuple::new(py, [schema, array])?)
}

/// A capsule with a schema.
pub(crate) fn export_schema<'py>(
    py: Python<'py>,
    schema: &Schema,
) -> Result<Bound<'py, PyCapsule>, Failure> {
    Ok(PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(schema)?, SCHEMA)?)
}
