//! Documents with what is removed to what is left of their texts.
//!
//! Cost: two walks over the words of each document that is cut.

use std::sync::Arc;

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::super::columns::{Bytes, Passed, any, place};
use super::super::{Batches, Step};
use super::{TEXT, ranges_of, text_of};
use crate::error::ClusterError;
use crate::passages::{PassageUnit, cut};

/// What is not passed on.
const TAKEN: [&str; 2] = [TEXT, "removed"];

/// Takes `text`, `removed` and any other columns; gives the others, `text` (what is left), `removed` (the bytes of the
/// text that are gone, as JSON) and `words_left` (null where nothing is removed).
#[derive(Debug)]
pub struct PassageCut {
    unit: PassageUnit,
    passed: Passed,
}

impl PassageCut {
    /// Cuts in such units.
    ///
    /// # Errors
    ///
    /// If a column is missing.
    pub fn new(unit: PassageUnit, input: &Schema) -> Result<Self, ClusterError> {
        for name in TAKEN {
            place(input, name)?;
        }
        let (text, long) = (DataType::Utf8, DataType::Int64);
        let added = [(TEXT, text.clone()), ("removed", text), ("words_left", long)];
        Ok(PassageCut { unit, passed: Passed::without(input, &TAKEN, &added) })
    }
}

impl Step for PassageCut {
    fn schema(&self) -> SchemaRef {
        self.passed.schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (texts, removed) = (any(batch, TEXT)?, Bytes::of(batch, "removed")?);
        let (mut left, mut gone) = (StringBuilder::new(), StringBuilder::new());
        let mut words_left = Int64Builder::new();
        for row in 0..batch.num_rows() {
            let text = text_of(texts, row)?;
            let ranges: Vec<[u64; 2]> =
                ranges_of(removed.get(row)).into_iter().map(|(from, to)| [from, to]).collect();
            if ranges.is_empty() {
                left.append_value(text);
                gone.append_value("[]");
                words_left.append_null();
                continue;
            }
            let cut = cut(&text, &ranges, self.unit)
                .ok_or(ClusterError::DocumentChanged { document: row as i64 })?;
            let mut words = 0;
            wonbon_text::words::for_each_word(&cut.text, |_| words += 1);
            let bytes: Vec<[usize; 2]> =
                cut.removed.iter().map(|range| [range.start, range.end]).collect();
            left.append_value(cut.text);
            gone.append_value(serde_json::to_string(&bytes).expect("numbers are JSON"));
            words_left.append_value(words);
        }
        let added: [ArrayRef; 3] =
            [Arc::new(left.finish()), Arc::new(gone.finish()), Arc::new(words_left.finish())];
        out.push_back(self.passed.batch(batch, added)?);
        Ok(())
    }
}
