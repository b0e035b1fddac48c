//! Columns of texts and pages: what stands in a row, whatever the column's type is.
//!
//! Cost: a type is looked at once for each row; strings are borrowed from the column. A column is checked for
//! UTF-8 once, when it comes in.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use wonbon_documents::MAX_DOCUMENT_BYTES;

use crate::capsule;
use crate::failure::Failure;
use crate::input::Arrays;

/// What a row of a column holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cell<'a> {
    /// Null.
    Nothing,
    /// A text.
    Text(&'a str),
    /// Bytes in a charset that has to be found out.
    Bytes(&'a [u8]),
}

impl<'a> Cell<'a> {
    fn len(self) -> usize {
        match self {
            Cell::Nothing => 0,
            Cell::Text(text) => text.len(),
            Cell::Bytes(bytes) => bytes.len(),
        }
    }

    /// A text; an empty one for null. None for bytes.
    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Cell::Nothing => Some(""),
            Cell::Text(text) => Some(text),
            Cell::Bytes(_) => None,
        }
    }
}

/// What a column may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Texts.
    Texts,
    /// Texts, or bytes in any charset.
    Pages,
}

/// A piece of a column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    array: ArrayRef,
    /// For each row the place of its value, if the column is a dictionary.
    keys: Option<Arc<[usize]>>,
    values: ArrayRef,
}

impl Column {
    /// A column of strings; `name` stands in the sentence about another.
    pub(crate) fn new(array: ArrayRef, name: &str, wanted: Wanted) -> Result<Self, Failure> {
        capsule::check(&array)
            .map_err(|error| Failure::column(format!("{name} is damaged: {error}")))?;
        let kind = array.data_type().clone();
        let column =
            Column::of(array).filter(|column| wanted == Wanted::Pages || !column.is_bytes());
        let Some(column) = column else {
            let what = if wanted == Wanted::Texts { "texts" } else { "texts or bytes" };
            return Err(Failure::column(format!(
                "{name} must hold {what}, not {}",
                name_of(&kind)
            )));
        };
        match column.first_too_long() {
            None => Ok(column),
            Some((row, bytes)) => Err(Failure::column(format!(
                "{name} has {bytes} bytes in row {row}, more than the {MAX_DOCUMENT_BYTES} a document may have"
            ))),
        }
    }

    /// A column of strings that were checked; none of anything else.
    fn of(array: ArrayRef) -> Option<Self> {
        let (keys, values) = match array.data_type() {
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary();
                let values = dictionary.values().clone();
                // Keys of a dictionary without values are all null, and nobody looks at them.
                let keys = if values.is_empty() {
                    vec![0; array.len()]
                } else {
                    dictionary.normalized_keys()
                };
                (Some(keys.into()), values)
            }
            _ => (None, array.clone()),
        };
        let column = Column { array, keys, values };
        let is_text = matches!(
            column.values.data_type(),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null
        );
        (is_text || column.is_bytes()).then_some(column)
    }

    fn is_bytes(&self) -> bool {
        matches!(
            self.values.data_type(),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView
        )
    }

    /// The first row that is longer than a document may be, and how long it is.
    fn first_too_long(&self) -> Option<(usize, usize)> {
        let lengths = (0..self.len()).map(|row| self.get(row).len());
        lengths.enumerate().find(|(_, length)| *length > MAX_DOCUMENT_BYTES)
    }

    /// How many rows it has.
    pub(crate) fn len(&self) -> usize {
        self.array.len()
    }

    /// What a row holds.
    pub(crate) fn get(&self, row: usize) -> Cell<'_> {
        if self.array.is_null(row) {
            return Cell::Nothing;
        }
        let at = self.keys.as_ref().map_or(row, |keys| keys[row]);
        if self.values.is_null(at) {
            return Cell::Nothing;
        }
        match self.values.data_type() {
            DataType::Utf8 => Cell::Text(self.values.as_string::<i32>().value(at)),
            DataType::LargeUtf8 => Cell::Text(self.values.as_string::<i64>().value(at)),
            DataType::Utf8View => Cell::Text(self.values.as_string_view().value(at)),
            DataType::Binary => Cell::Bytes(self.values.as_binary::<i32>().value(at)),
            DataType::LargeBinary => Cell::Bytes(self.values.as_binary::<i64>().value(at)),
            DataType::BinaryView => Cell::Bytes(self.values.as_binary_view().value(at)),
            _ => Cell::Nothing,
        }
    }
}

/// The first row of a column of strings that is longer than a document may be, and how long it is.
pub(crate) fn first_too_long(array: &ArrayRef) -> Option<(usize, usize)> {
    Column::of(ArrayRef::clone(array))?.first_too_long()
}

/// The type of a column in a word.
fn name_of(kind: &DataType) -> String {
    match kind {
        DataType::Struct(columns) => format!("a table of {} columns", columns.len()),
        other => other.to_string(),
    }
}

/// Some rows of a column: what one thread takes at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    column: Option<Column>,
    range: std::ops::Range<usize>,
}

impl Rows {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    /// What a row holds, counted from the first of these.
    pub(crate) fn get(&self, row: usize) -> Cell<'_> {
        self.column.as_ref().map_or(Cell::Nothing, |column| column.get(self.range.start + row))
    }

    /// What the rows hold, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Cell<'_>> {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// Bytes that a thread takes at a time.
const BYTES_AT_A_TIME: usize = 256 << 10;

/// Cuts the arrays of a column into rows for one thread at a time.
pub(crate) struct ColumnPieces {
    arrays: Arrays,
    name: String,
    wanted: Wanted,
    column: Option<Column>,
    next: usize,
}

impl ColumnPieces {
    pub(crate) fn new(arrays: Arrays, name: &str, wanted: Wanted) -> Self {
        ColumnPieces { arrays, name: name.to_owned(), wanted, column: None, next: 0 }
    }

    /// The next rows; `false` at the end.
    pub(crate) fn next_into(&mut self, rows: &mut Rows) -> Result<bool, Failure> {
        loop {
            if let Some(column) = &self.column
                && self.next < column.len()
            {
                let (start, mut bytes) = (self.next, 0);
                while self.next < column.len() && bytes < BYTES_AT_A_TIME {
                    bytes += column.get(self.next).len() + 8;
                    self.next += 1;
                }
                *rows = Rows { column: Some(column.clone()), range: start..self.next };
                return Ok(true);
            }
            let Some(array) = self.arrays.next().transpose()? else { return Ok(false) };
            let array = match array.data_type() {
                DataType::Struct(fields) if fields.len() == 1 => {
                    array.as_struct().column(0).clone()
                }
                _ => array,
            };
            self.column = Some(Column::new(array, &self.name, self.wanted)?);
            self.next = 0;
        }
    }
}
