//! Tables of Python objects as batches with the columns that matter, checked.
//!
//! Why only those: a table may carry columns of anything (embeddings, pictures) that nobody has to look at, and
//! whose bytes say nothing about how much text there is.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use wonbon_documents::{ChosenFields, FieldNames, MAX_DOCUMENT_BYTES};

use crate::capsule;
use crate::failure::Failure;
use crate::input::{Arrays, as_batch};

/// The batches of a table.
pub(crate) struct Batches {
    arrays: Arrays,
    fields: FieldNames,
    ranking: Option<String>,
}

/// A column that is named in a request, and what for.
struct Named<'a> {
    argument: &'static str,
    column: Option<&'a str>,
}

impl Batches {
    /// The batches of an object. Columns that nobody names are guessed as the program guesses fields.
    pub(crate) fn of(
        data: &Bound<'_, PyAny>,
        what: &str,
        chosen: &ChosenFields,
        ranking: Option<&str>,
    ) -> Result<Self, Failure> {
        let mut arrays = Arrays::of(data, what)?;
        let (mut names, mut is_table) = (Vec::new(), true);
        if let Some(field) = arrays.peek()? {
            match field.data_type() {
                DataType::Struct(columns) => {
                    names = columns.iter().map(|column| column.name().clone()).collect();
                }
                _ => is_table = false,
            }
        }
        if is_table && !names.is_empty() {
            let named = [
                ("text", chosen.text.as_deref()),
                ("html", chosen.html.as_deref()),
                ("id", chosen.id.as_deref()),
                ("url", chosen.url.as_deref()),
                ("order", chosen.created.as_deref()),
                ("keep", ranking),
            ]
            .map(|(argument, column)| Named { argument, column });
            check_columns(&named, &names)?;
        }
        let fields = FieldNames { redirect: String::new(), ..chosen.names_among(&names) };
        let has = |name: &String| names.contains(name);
        if is_table && !names.is_empty() && !has(&fields.text) && !has(&fields.html) {
            return Err(Failure::column(format!(
                "there is neither a column `{}` nor a column `{}`, only {}; say `text=`",
                fields.text,
                fields.html,
                list(&names)
            )));
        }
        Ok(Batches { arrays, fields, ranking: ranking.map(str::to_owned) })
    }

    /// The batches of another table, read by the same names.
    pub(crate) fn by(
        data: &Bound<'_, PyAny>,
        what: &str,
        fields: &FieldNames,
    ) -> Result<Self, Failure> {
        let mut arrays = Arrays::of(data, what)?;
        if let Some(field) = arrays.peek()?
            && let DataType::Struct(columns) = field.data_type()
            && !columns.iter().any(|one| [&fields.text, &fields.html].contains(&one.name()))
        {
            return Err(Failure::column(format!(
                "{what} has neither a column `{}` nor a column `{}`",
                fields.text, fields.html
            )));
        }
        Ok(Batches { arrays, fields: fields.clone(), ranking: None })
    }

    /// Which column means what.
    pub(crate) fn fields(&self) -> &FieldNames {
        &self.fields
    }

    fn batch_of(&self, array: &ArrayRef) -> Result<RecordBatch, Failure> {
        let text = &self.fields.text;
        if !matches!(array.data_type(), DataType::Struct(_)) {
            let field = Field::new(text, array.data_type().clone(), true);
            let column = checked(text, array)?;
            return Ok(RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column])?);
        }
        let batch = as_batch(array)?;
        let wanted: Vec<&str> =
            self.fields.all().into_iter().chain(self.ranking.as_deref()).collect();
        let schema = batch.schema();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            if wanted.contains(&field.name().as_str()) {
                columns.push(checked(field.name(), column)?);
                fields.push(Arc::clone(field));
            }
        }
        if columns.is_empty() {
            // A batch has as many rows as its columns: rows without any of them are texts of nothing.
            fields.push(Arc::new(Field::new(text, DataType::Null, true)));
            columns.push(new_null_array(&DataType::Null, batch.num_rows()));
        }
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = self.arrays.next()?;
        Some(array.and_then(|array| self.batch_of(&array)))
    }
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn check_columns(named: &[Named<'_>], names: &[String]) -> Result<(), Failure> {
    for Named { argument, column } in named {
        if let Some(column) = column
            && !names.iter().any(|name| name == column)
        {
            return Err(Failure::column(format!(
                "there is no column `{column}` for `{argument}`, only {}",
                list(names)
            )));
        }
    }
    Ok(())
}

/// A column whose strings are what they say, and no longer than a document may be.
fn checked(name: &str, column: &ArrayRef) -> Result<ArrayRef, Failure> {
    capsule::check(column)
        .map_err(|error| Failure::column(format!("column `{name}` is damaged: {error}")))?;
    let size = column.to_data().get_slice_memory_size().unwrap_or(usize::MAX);
    if size > MAX_DOCUMENT_BYTES
        && let Some((row, bytes)) = crate::columns::first_too_long(column)
    {
        return Err(Failure::column(format!(
            "column `{name}` has {bytes} bytes in row {row}, more than the {MAX_DOCUMENT_BYTES} a document may have"
        )));
    }
    Ok(Arc::clone(column))
}
