//! Tables of Python objects as batches with the columns that matter, checked.
//!
//! Why only those: a table may carry columns of anything (embeddings, pictures) that nobody has to look at, and
//! whose bytes say nothing about how much text there is.
//!
//! Cost: a batch has some megabytes of text, however large the arrays are that come; nothing is copied.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, FieldRef, Schema};
use pyo3::prelude::*;
use wonbon_documents::{ChosenFields, FieldNames};

use crate::columns;
use crate::failure::Failure;
use crate::input::{Arrays, as_batch};

/// The batches of a table.
pub(crate) struct Batches {
    arrays: Arrays,
    fields: FieldNames,
    ranking: Option<String>,
    /// What was not handed out yet of the current array: a table may come as one array of gigabytes.
    rest: Option<ArrayRef>,
    /// Rows that were handed out.
    rows: usize,
}

/// A column that is named in a request, and what for.
struct Named<'a> {
    argument: &'static str,
    column: Option<&'a str>,
}

impl Batches {
    /// The batches of an object. Columns that nobody names are guessed as the program guesses fields.
    /// `redirects`: whether a row may say where its address leads instead of what stands there.
    pub(crate) fn of(
        data: &Bound<'_, PyAny>,
        what: &str,
        chosen: &ChosenFields,
        ranking: Option<&str>,
        redirects: bool,
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
        let mut fields = chosen.names_among(&names);
        if !redirects {
            fields.redirect.clear();
        }
        let contents = [&fields.text, &fields.html, &fields.redirect];
        let has_content = contents.iter().any(|name| names.contains(name));
        if is_table && !names.is_empty() && !has_content {
            return Err(Failure::column(format!(
                "there is neither a column `{}` nor a column `{}`, only {}; say `text=`",
                fields.text,
                fields.html,
                list(&names)
            )));
        }
        Ok(Batches { arrays, fields, ranking: ranking.map(str::to_owned), rest: None, rows: 0 })
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
        Ok(Batches { arrays, fields: fields.clone(), ranking: None, rest: None, rows: 0 })
    }

    /// Which column means what.
    pub(crate) fn fields(&self) -> &FieldNames {
        &self.fields
    }

    /// Whether a column of this name is read.
    fn reads(&self, name: &str) -> bool {
        self.fields.all().into_iter().chain(self.ranking.as_deref()).any(|wanted| wanted == name)
    }

    /// The columns of an array that are read, with their names.
    fn columns_of(&self, array: &ArrayRef) -> Result<Vec<(FieldRef, ArrayRef)>, Failure> {
        if !matches!(array.data_type(), DataType::Struct(_)) {
            let field = Field::new(&self.fields.text, array.data_type().clone(), true);
            return Ok(vec![(Arc::new(field), Arc::clone(array))]);
        }
        let batch = as_batch(array)?;
        let schema = batch.schema();
        let columns = schema.fields().iter().cloned().zip(batch.columns().iter().cloned());
        Ok(columns.filter(|(field, _)| self.reads(field.name())).collect())
    }

    /// The first rows of an array, checked; the others wait.
    fn cut(&mut self, array: &ArrayRef) -> Result<RecordBatch, Failure> {
        let columns = self.columns_of(array)?;
        let rows = columns.iter().map(|(_, column)| columns::rows_at_once(column)).min();
        let rows = rows.unwrap_or(array.len());
        if rows < array.len() {
            self.rest = Some(array.slice(rows, array.len() - rows));
        }
        let first = self.rows;
        self.rows += rows;
        if columns.is_empty() {
            // A batch has as many rows as its columns: rows without any of them are texts of nothing.
            let field = Field::new(&self.fields.text, DataType::Null, true);
            let nothing = new_null_array(&DataType::Null, rows);
            return Ok(RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![nothing])?);
        }
        let (fields, columns): (Vec<_>, Vec<_>) =
            columns.into_iter().map(|(field, column)| (field, column.slice(0, rows))).unzip();
        for (field, column) in fields.iter().zip(&columns) {
            columns::check(column, &format!("column `{}`", field.name()), first)?;
        }
        Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let array = match self.rest.take() {
            Some(rest) => Ok(rest),
            None => self.arrays.next()?,
        };
        Some(array.and_then(|array| self.cut(&array)))
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
