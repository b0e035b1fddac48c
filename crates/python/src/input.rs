//! Any Python object as a stream of Arrow arrays: tables and columns of other libraries, lists, and iterators of
//! either.
//!
//! | object | becomes |
//! |---|---|
//! | has `__arrow_c_stream__` or `__arrow_c_array__` | its arrays, nothing copied |
//! | a list or another iterable of `str`, `bytes` and `None` | arrays of a few megabytes each |
//! | an iterable of the above | all of them, one after another |
//! | a dictionary of columns | one batch |
//!
//! Tables of other libraries become one of these in `python/wonbon/_data.py`, which [`Arrays::of`] asks.
//!
//! Cost: an iterable is asked for its next item when the work needs it, so a generator of batches is never in
//! memory as a whole. A string of Python is copied once.

use std::sync::Arc;

use arrow_array::builder::{LargeBinaryBuilder, LargeStringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, Int64Array, RecordBatch, StructArray,
    TimestampMicrosecondArray,
};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDate, PyDateTime, PyDict, PyFloat, PyInt, PyIterator, PyList,
    PyString, PyTzInfo,
};

use crate::capsule::{self, Imported};
use crate::failure::Failure;
use crate::options::half_of_a_pair;
use crate::watched::attached;

/// Bytes of strings that become one array.
const ARRAY_BYTES: usize = 4 << 20;
/// Strings that become one array.
const ARRAY_ROWS: usize = 1 << 16;

/// Arrays, or batches as arrays of structs, from wherever they come.
pub(crate) struct Arrays {
    source: Source,
    /// Arrays that were taken to look at them.
    ahead: Option<ArrayRef>,
    /// Rows before the next array.
    rows: usize,
}

enum Source {
    Imported(Imported),
    /// Items of an iterator, and the arrays of the item that is being taken.
    Items {
        items: Py<PyIterator>,
        current: Option<Imported>,
        waiting: Option<Py<PyAny>>,
    },
    Ended,
}

impl Arrays {
    /// The arrays of an object. `what` names it in a sentence.
    pub(crate) fn of(given: &Bound<'_, PyAny>, what: &str) -> Result<Self, Failure> {
        let source = |source| Ok(Arrays { source, ahead: None, rows: 0 });
        // What other libraries have is known in Python; a list of texts needs nothing of it.
        let object = &if is_list_of_texts(given) {
            given.clone()
        } else {
            given.py().import("wonbon._data")?.call_method1("as_stream", (given,))?
        };
        if let Some(imported) = capsule::import(object)? {
            return source(Source::Imported(imported));
        }
        if let Ok(columns) = object.cast::<PyDict>() {
            let batch = batch_of_columns(columns)?;
            let array: ArrayRef = Arc::new(StructArray::from(batch));
            let field = Arc::new(Field::new("", array.data_type().clone(), false));
            return source(Source::Imported(Imported::Array(Some(array), field)));
        }
        let one_text = object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>();
        let items = if one_text { None } else { object.try_iter().ok() };
        let Some(items) = items else {
            return Err(Failure::request(format!(
                "{what} must be a column, a table or a list, not {}",
                name_of(given)
            )));
        };
        let source_of_items = Source::Items { items: items.unbind(), current: None, waiting: None };
        source(source_of_items)
    }

    /// The type of the arrays, as far as the first one tells; none if there is no array.
    pub(crate) fn peek(&mut self) -> Result<Option<FieldRef>, Failure> {
        if self.ahead.is_none() {
            if let Source::Imported(imported) = &self.source {
                return Ok(Some(imported.field()));
            }
            self.ahead = self.take().transpose()?;
        }
        let field = |array: &ArrayRef| Arc::new(Field::new("", array.data_type().clone(), true));
        Ok(self.ahead.as_ref().map(field))
    }

    fn take(&mut self) -> Option<Result<ArrayRef, Failure>> {
        let taken = match &mut self.source {
            Source::Ended => None,
            Source::Imported(imported) => imported.next().map(|array| array.map_err(Failure::from)),
            Source::Items { items, current, waiting } => {
                if let Some(array) = current.as_mut().and_then(Iterator::next) {
                    Some(array.map_err(Failure::from))
                } else {
                    *current = None;
                    let first_row = self.rows;
                    let result =
                        attached(|py| next_of_items(&items.bind(py).clone(), waiting, first_row))
                            .unwrap_or(Err(Failure::Stopped));
                    match result {
                        Ok(Next::Array(array)) => Some(Ok(array)),
                        Ok(Next::Imported(imported)) => {
                            *current = Some(imported);
                            return self.take();
                        }
                        Ok(Next::Nothing) => None,
                        Err(error) => Some(Err(error)),
                    }
                }
            }
        };
        match &taken {
            Some(Ok(array)) => self.rows += array.len(),
            Some(Err(_)) | None => self.source = Source::Ended,
        }
        taken
    }
}

impl Iterator for Arrays {
    type Item = Result<ArrayRef, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.ahead.take().map(Ok).or_else(|| self.take())
    }
}

enum Next {
    Array(ArrayRef),
    Imported(Imported),
    Nothing,
}

/// The next array of an iterator: of strings as many as make an array, of anything else one item.
fn next_of_items(
    items: &Bound<'_, PyIterator>,
    waiting: &mut Option<Py<PyAny>>,
    first_row: usize,
) -> Result<Next, Failure> {
    let py = items.py();
    let mut items = items.clone();
    let mut strings = Strings::new(first_row);
    loop {
        let item = match waiting.take() {
            Some(item) => item.into_bound(py),
            None => match items.next().transpose()? {
                Some(item) => item,
                None => break,
            },
        };
        if strings.push(&item)? {
            if strings.is_full() {
                break;
            }
            continue;
        }
        if !strings.is_empty() {
            *waiting = Some(item.unbind());
            break;
        }
        if let Some(imported) = capsule::import(&item)? {
            return Ok(Next::Imported(imported));
        }
        let Ok(columns) = item.cast::<PyDict>() else {
            return Err(Failure::request(format!(
                "item {first_row} is neither a text nor a table but {}",
                name_of(&item)
            )));
        };
        return Ok(Next::Array(Arc::new(StructArray::from(batch_of_columns(columns)?))));
    }
    Ok(strings.finish().map_or(Next::Nothing, Next::Array))
}

fn is_list_of_texts(object: &Bound<'_, PyAny>) -> bool {
    let first = object.cast::<PyList>().ok().and_then(|list| list.get_item(0).ok());
    first.is_some_and(|first| first.is_instance_of::<PyString>())
}

/// What a person calls an object: its type.
pub(crate) fn name_of(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}

/// Strings on their way to an array: of text, or of bytes once one of them is no text.
struct Strings {
    texts: LargeStringBuilder,
    bytes: Option<LargeBinaryBuilder>,
    length: usize,
    rows: usize,
    first_row: usize,
}

impl Strings {
    fn new(first_row: usize) -> Self {
        let texts = LargeStringBuilder::new();
        Strings { texts, bytes: None, length: 0, rows: 0, first_row }
    }

    /// Takes an item if it is a string, bytes or None.
    fn push(&mut self, item: &Bound<'_, PyAny>) -> Result<bool, Failure> {
        if let Ok(text) = item.cast::<PyString>() {
            let row = self.first_row + self.rows;
            let wrong = || half_of_a_pair(&format!("text {row}"));
            // The interpreter keeps the UTF-8 of a text beside it once it was asked for in place, unless the text is
            // ASCII: a list of texts would grow to twice its size and stay so.
            if text.call_method0(intern!(text.py(), "isascii"))?.is_truthy()? {
                self.push_text(text.to_str().map_err(|_| wrong())?);
            } else {
                let bytes = text.encode_utf8().map_err(|_| wrong())?;
                self.push_text(std::str::from_utf8(bytes.as_bytes()).map_err(|_| wrong())?);
            }
        } else if let Ok(content) = item.cast::<PyBytes>() {
            self.push_bytes(content.as_bytes());
        } else if let Ok(content) = item.cast::<PyByteArray>() {
            self.push_bytes(&content.to_vec());
        } else if is_missing(item) {
            match &mut self.bytes {
                Some(bytes) => bytes.append_null(),
                None => self.texts.append_null(),
            }
        } else {
            return Ok(false);
        }
        self.rows += 1;
        Ok(true)
    }

    fn push_text(&mut self, text: &str) {
        self.length += text.len();
        match &mut self.bytes {
            Some(bytes) => bytes.append_value(text),
            None => self.texts.append_value(text),
        }
    }

    fn push_bytes(&mut self, content: &[u8]) {
        self.length += content.len();
        let texts = &mut self.texts;
        let bytes = self.bytes.get_or_insert_with(|| {
            let mut bytes = LargeBinaryBuilder::new();
            texts.finish().iter().for_each(|text| bytes.append_option(text));
            bytes
        });
        bytes.append_value(content);
    }

    fn is_full(&self) -> bool {
        self.rows >= ARRAY_ROWS || self.length >= ARRAY_BYTES
    }

    fn is_empty(&self) -> bool {
        self.rows == 0
    }

    fn finish(mut self) -> Option<ArrayRef> {
        if self.is_empty() {
            return None;
        }
        Some(match self.bytes {
            Some(mut bytes) => Arc::new(bytes.finish()),
            None => Arc::new(self.texts.finish()),
        })
    }
}

/// A batch of a dictionary of lists: texts, bytes, whole numbers, numbers or times, and None.
pub(crate) fn batch_of_columns(columns: &Bound<'_, PyDict>) -> Result<RecordBatch, Failure> {
    let mut arrays: Vec<(String, ArrayRef)> = Vec::new();
    for (name, values) in columns {
        let name: String = name
            .extract()
            .map_err(|_| Failure::column("the names of columns must be texts".to_owned()))?;
        let array = match capsule::import(&values)? {
            Some(mut imported) => match (imported.next().transpose()?, imported.next()) {
                (Some(array), None) => array,
                _ => return Err(Failure::column(format!("column `{name}` comes in pieces"))),
            },
            None => array_of_list(&name, &values)?,
        };
        if let Some((first, one)) = arrays.first()
            && one.len() != array.len()
        {
            let (rows, wanted) = (array.len(), one.len());
            return Err(Failure::column(format!(
                "column `{name}` has {rows} rows where `{first}` has {wanted}"
            )));
        }
        arrays.push((name, array));
    }
    let field =
        |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(arrays.iter().map(field).collect::<Vec<_>>()));
    let columns = arrays.into_iter().map(|(_, array)| array).collect();
    Ok(RecordBatch::try_new(schema, columns)?)
}

/// The array of a list. What it holds is told by its first value.
fn array_of_list(name: &str, values: &Bound<'_, PyAny>) -> Result<ArrayRef, Failure> {
    let wrong = |row: usize, value: &Bound<'_, PyAny>| {
        let kind = name_of(value);
        Failure::column(format!(
            "column `{name}` holds {kind} in row {row}, which fits nothing before it"
        ))
    };
    let values = values
        .cast::<PyList>()
        .map_err(|_| Failure::column(format!("column `{name}` is no list")))?;
    let first = values.iter().find(|value| !is_missing(value));
    let is_string = |value: &Bound<'_, PyAny>| {
        value.is_instance_of::<PyString>()
            || value.is_instance_of::<PyBytes>()
            || value.is_instance_of::<PyByteArray>()
    };
    let Some(first) = first.filter(|first| !is_string(first)) else {
        let mut strings = Strings::new(0);
        for (row, value) in values.iter().enumerate() {
            if !strings.push(&value)? {
                return Err(wrong(row, &value));
            }
        }
        return Ok(strings
            .finish()
            .unwrap_or_else(|| Arc::new(LargeStringBuilder::new().finish())));
    };
    let of_no_kind = |first: &Bound<'_, PyAny>| {
        let row = values.iter().position(|value| !is_missing(&value)).unwrap_or(0);
        let kind = name_of(first);
        Failure::column(format!(
            "column `{name}` holds {kind} in row {row}, not texts, bytes, numbers, times or days"
        ))
    };
    if first.is_instance_of::<PyBool>() {
        return Err(of_no_kind(&first));
    }
    let numbers = |value: &Bound<'_, PyAny>| value.extract::<f64>();
    let floats =
        values.iter().any(|value| value.is_instance_of::<PyFloat>() && !is_missing(&value));
    if first.is_instance_of::<PyDateTime>() {
        return Ok(Arc::new(
            collect(values, wrong, microseconds)?
                .into_iter()
                .collect::<TimestampMicrosecondArray>()
                .with_timezone("UTC"),
        ));
    }
    if first.is_instance_of::<PyDate>() {
        let days = |value: &Bound<'_, PyAny>| {
            let days: i32 = value.call_method0("toordinal")?.extract()?;
            Ok(days - DAYS_TO_1970)
        };
        return Ok(Arc::new(collect(values, wrong, days)?.into_iter().collect::<Date32Array>()));
    }
    if first.is_instance_of::<PyFloat>() || floats {
        return Ok(Arc::new(
            collect(values, wrong, numbers)?.into_iter().collect::<Float64Array>(),
        ));
    }
    // Whole numbers of Python, and those of numpy.
    if first.hasattr("__index__")? {
        let whole = |value: &Bound<'_, PyAny>| value.extract::<i64>();
        return Ok(Arc::new(collect(values, wrong, whole)?.into_iter().collect::<Int64Array>()));
    }
    Err(of_no_kind(&first))
}

/// The ordinal of 1970-01-01 in Python's calendar.
const DAYS_TO_1970: i32 = 719_163;

/// A time as microseconds since 1970. One without a zone is UTC, as in a table of Arrow, whatever zone this machine is in.
fn microseconds(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = value.py();
    let aware = if value.getattr(intern!(py, "tzinfo"))?.is_none() {
        let zone = PyDict::new(py);
        zone.set_item("tzinfo", PyTzInfo::utc(py)?)?;
        value.call_method("replace", (), Some(&zone))?
    } else {
        value.clone()
    };
    Ok((aware.call_method0("timestamp")?.extract::<f64>()? * 1e6).round() as i64)
}

/// Whether a value stands for nothing: None, and what table libraries put in its place (NaN, NaT, NA).
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    if let Ok(number) = value.cast::<PyFloat>() {
        return number.value().is_nan();
    }
    let has_value = value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>();
    value.is_none() || (!has_value && matches!(name_of(value).as_str(), "NaTType" | "NAType"))
}

fn collect<T>(
    values: &Bound<'_, PyList>,
    wrong: impl Fn(usize, &Bound<'_, PyAny>) -> Failure,
    convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> Result<Vec<Option<T>>, Failure> {
    let convert_one = |(row, value): (usize, Bound<'_, PyAny>)| {
        if is_missing(&value) {
            return Ok(None);
        }
        if value.is_instance_of::<PyBool>() {
            return Err(wrong(row, &value));
        }
        convert(&value).map(Some).map_err(|_| wrong(row, &value))
    };
    values.iter().enumerate().map(convert_one).collect()
}

/// An array of structs as a batch.
pub(crate) fn as_batch(array: &ArrayRef) -> Result<RecordBatch, Failure> {
    match array.data_type() {
        DataType::Struct(_) if array.null_count() == 0 => {
            Ok(RecordBatch::from(array.as_struct().clone()))
        }
        DataType::Struct(_) => Err(Failure::request("a table must not have rows that are null")),
        other => Err(Failure::request(format!(
            "a table with columns is wanted, not a column of {other}"
        ))),
    }
}
