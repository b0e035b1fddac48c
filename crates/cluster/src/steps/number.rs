//! Rows and their places in this stream.
//!
//! An engine that has sorted its rows knows which partition comes before which; with the number of rows of
//! each, places become numbers over all.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::columns::Passed;
use super::{Batches, Step};
use crate::error::ClusterError;

/// Takes any columns; gives them with `part`, the same for the whole stream, and `place`, from 0 on.
#[derive(Debug)]
pub struct Number {
    part: i64,
    next: i64,
    passed: Passed,
}

impl Number {
    /// Numbers the rows of a part.
    #[must_use]
    pub fn new(part: i64, input: &Schema) -> Self {
        let added = [("part", DataType::Int64), ("place", DataType::Int64)];
        Number { part, next: 0, passed: Passed::without(input, &[], &added) }
    }
}

impl Step for Number {
    fn schema(&self) -> SchemaRef {
        self.passed.schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let rows = batch.num_rows();
        let end = self.next + rows as i64;
        let parts = Int64Array::from(vec![self.part; rows]);
        let places = Int64Array::from_iter_values(self.next..end);
        self.next = end;
        let added: [ArrayRef; 2] = [Arc::new(parts), Arc::new(places)];
        out.push_back(self.passed.batch(batch, added)?);
        Ok(())
    }
}
