//! Columns of texts and pages: what stands in a row, whatever the column's type is.
//!
//! Cost: a type is looked at once for each row; strings are borrowed from the column. Every string is checked for
//! UTF-8 once, [`BYTES_AT_ONCE`] at a time: an array may be a whole table, and nobody hears a request to stop
//! while it is checked.

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
    /// A column of strings; `name` stands in the sentence about another, and rows are counted from `first`.
    fn new(array: ArrayRef, name: &str, wanted: Wanted, first: usize) -> Result<Self, Failure> {
        check(&array, name, first)?;
        let kind = array.data_type().clone();
        let column =
            Column::of(array).filter(|column| wanted == Wanted::Pages || !column.is_bytes());
        column.ok_or_else(|| {
            let what = if wanted == Wanted::Texts { "texts" } else { "texts or bytes" };
            Failure::column(format!("{name} must hold {what}, not {}", name_of(&kind)))
        })
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

/// The lengths of strings, read off where they end: the strings may still be damaged. None of other types.
fn lengths(array: &dyn Array) -> Option<Box<dyn Iterator<Item = usize> + '_>> {
    fn between<T: Copy + Into<i64>>(ends: &[T]) -> Box<dyn Iterator<Item = usize> + '_> {
        Box::new(ends.windows(2).map(|ends| {
            let (start, end): (i64, i64) = (ends[0].into(), ends[1].into());
            usize::try_from(end.wrapping_sub(start)).unwrap_or(0)
        }))
    }
    fn of_views(views: &[u128]) -> Box<dyn Iterator<Item = usize> + '_> {
        // The lowest four bytes of a view are the length.
        Box::new(views.iter().map(|&view| view as u32 as usize))
    }
    Some(match array.data_type() {
        DataType::Utf8 => between(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => between(array.as_string::<i64>().value_offsets()),
        DataType::Binary => between(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => between(array.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => of_views(array.as_string_view().views()),
        DataType::BinaryView => of_views(array.as_binary_view().views()),
        _ => return None,
    })
}

/// Bytes of strings that are checked at a time.
const BYTES_AT_ONCE: usize = 4 << 20;

/// How many of the first rows of a column are checked at a time. A dictionary is one piece: its values are checked
/// as a whole.
pub(crate) fn rows_at_once(array: &dyn Array) -> usize {
    let Some(lengths) = lengths(array) else { return array.len() };
    let sums = lengths.scan(0, |sum, length| {
        *sum += length;
        Some(*sum)
    });
    sums.take_while(|&sum| sum <= BYTES_AT_ONCE).count().max(1).min(array.len())
}

/// Whether a column is what it says: no string longer than a document may be, and all of them UTF-8. `name` stands in
/// the sentence about another, and rows are counted from `first`.
pub(crate) fn check(array: &ArrayRef, name: &str, first: usize) -> Result<(), Failure> {
    // The lengths first: a string of gigabytes is not looked at.
    let too_long = |(_, length): &(usize, usize)| *length > MAX_DOCUMENT_BYTES;
    let mut found = lengths(array).and_then(|lengths| lengths.enumerate().find(too_long));
    if found.is_none() {
        capsule::check(array)
            .map_err(|error| Failure::column(format!("{name} is damaged: {error}")))?;
        if matches!(array.data_type(), DataType::Dictionary(_, _))
            && let Some(column) = Column::of(ArrayRef::clone(array))
        {
            let lengths = (0..column.len()).map(|row| column.get(row).len());
            found = lengths.enumerate().find(too_long);
        }
    }
    found.map_or(Ok(()), |(row, bytes)| {
        let row = first + row;
        Err(Failure::column(format!(
            "{name} has {bytes} bytes in row {row}, more than the {MAX_DOCUMENT_BYTES} a document may have"
        )))
    })
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
    /// What was not checked yet of the current array.
    rest: Option<ArrayRef>,
    /// Rows that were checked.
    checked: usize,
    column: Option<Column>,
    next: usize,
}

impl ColumnPieces {
    pub(crate) fn new(arrays: Arrays, name: &str, wanted: Wanted) -> Self {
        let name = name.to_owned();
        ColumnPieces { arrays, name, wanted, rest: None, checked: 0, column: None, next: 0 }
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
            let array = match self.rest.take() {
                Some(rest) => rest,
                None => {
                    let Some(array) = self.arrays.next().transpose()? else { return Ok(false) };
                    match array.data_type() {
                        DataType::Struct(fields) if fields.len() == 1 => {
                            array.as_struct().column(0).clone()
                        }
                        _ => array,
                    }
                }
            };
            let rows = rows_at_once(&array);
            if rows < array.len() {
                self.rest = Some(array.slice(rows, array.len() - rows));
            }
            let column = Column::new(array.slice(0, rows), &self.name, self.wanted, self.checked)?;
            self.checked += rows;
            self.column = Some(column);
            self.next = 0;
        }
    }
}
