//! Rows of a stream as documents: what a row means is decided by [`resolve`], as for files and tables.
//!
//! A null text is an empty document, as in a table. A row that is no document, because its time is none or its text is too
//! long, ends the stream with the sentence with which `dedup` refuses the row.
//!
//! Cost: nothing is copied.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use wonbon_documents::{FieldNames, RowError, Value, Values, column_value, resolve};

use super::columns::{any, flags, place};
use crate::error::ClusterError;
use crate::keep::Keep;

/// Which columns of the input mean what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SketchColumns {
    /// The text.
    pub text: String,
    /// What decides which document of a family is kept, if a column does.
    pub order: Option<String>,
    /// Whether a document belongs to another corpus, if there is one: its key is then 0.
    pub other: Option<String>,
}

/// Reads the rows of a stream.
#[derive(Debug)]
pub(super) struct DocumentRows {
    columns: SketchColumns,
    keep: Keep,
    names: FieldNames,
}

/// The column by which a row that is no document is named, if there is one.
const ID: &str = "id";

impl DocumentRows {
    /// Rows of these columns.
    ///
    /// # Errors
    ///
    /// If a column is missing.
    pub(super) fn new(
        columns: SketchColumns,
        keep: Keep,
        input: &Schema,
    ) -> Result<Self, ClusterError> {
        for name in [&columns.text].into_iter().chain(&columns.order).chain(&columns.other) {
            place(input, name)?;
        }
        let usual = FieldNames::default();
        let names = FieldNames {
            text: columns.text.clone(),
            created: columns.order.clone().unwrap_or(usual.created),
            ..usual
        };
        Ok(DocumentRows { columns, keep, names })
    }

    /// Calls `each` with the text of every row and its key: its place in keep order as a signed number of the same order. A
    /// row that has no id is called by its number, counted from `first`.
    pub(super) fn for_each(
        &self,
        batch: &RecordBatch,
        first: i64,
        mut each: impl FnMut(&str, i64),
    ) -> Result<(), ClusterError> {
        let texts = any(batch, &self.columns.text)?;
        let order = self.columns.order.as_deref().map(|name| any(batch, name)).transpose()?;
        let other = self.columns.other.as_deref().map(|name| flags(batch, name)).transpose()?;
        for row in 0..batch.num_rows() {
            let text = match column_value(texts, row) {
                Value::Missing => "".into(),
                text => text,
            };
            let order = order.map_or(Value::Missing, |array| column_value(array, row));
            let (created, ranking) = match self.keep {
                Keep::Earliest => (order, Value::Missing),
                _ => (Value::Missing, order),
            };
            let values = Values { text, created, ranking, ..Values::default() };
            let document = resolve(values, &self.names, || Some(String::new()))
                .map_err(|why| refused(batch, row, first, why))?;
            let text = document.text();
            let key = match other.is_some_and(|other| other.value(row)) {
                true => 0,
                false => self.keep.key(document.created, &document.ranking, text.len()),
            };
            each(text, (key ^ 1 << 63) as i64);
        }
        Ok(())
    }
}

fn refused(batch: &RecordBatch, row: usize, first: i64, why: RowError) -> ClusterError {
    let id = batch.column_by_name(ID).map_or(Value::Missing, |array| column_value(array, row));
    let name = match id {
        Value::Text(id) => id.into_owned(),
        Value::Integer(id) => id.to_string(),
        _ => (first + row as i64).to_string(),
    };
    ClusterError::BadDocument { name, why }
}
