//! Documents to the hashes of their seeds.
//!
//! Every column of the input but the text and what was removed is passed on. Added is `features`: eight bytes a seed,
//! little-endian, as [`Scatter`](super::super::Scatter) takes them. Documents without a name get one, and their key, as
//! [`Sketch`](super::super::Sketch) gives them.
//!
//! Cost: one walk over the words of each text; memory for one batch.

use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::super::columns::{Bytes, Passed};
use super::super::rows::{DocumentRows, SketchColumns};
use super::super::{Batches, Step};
use super::{plan_of, scan_text};
use crate::error::ClusterError;
use crate::keep::Keep;
use crate::passages::{Scan, WindowPlan};

/// Finds seeds.
#[derive(Debug)]
pub struct PassageSeeds {
    plan: WindowPlan,
    rows: DocumentRows,
    /// The next name, unless documents have names.
    next: Option<i64>,
    scan: Scan,
    passed: Passed,
}

impl PassageSeeds {
    /// Seeds of windows of so many words. Documents are named from `first` on, unless there is a column `document`.
    ///
    /// # Errors
    ///
    /// If passages cannot have so many words, or a column is missing.
    pub fn new(
        words: usize,
        keep: Keep,
        columns: SketchColumns,
        first: i64,
        input: &Schema,
    ) -> Result<Self, ClusterError> {
        let next = input.index_of("document").is_err().then_some(first);
        let names = next.map(|_| ["document", "key"]).into_iter().flatten();
        let longs = names.map(|name| (name, DataType::Int64));
        let added: Vec<_> = longs.chain([("features", DataType::Binary)]).collect();
        Ok(PassageSeeds {
            plan: plan_of(words)?,
            passed: Passed::without(input, &[&columns.text, "removed"], &added),
            rows: DocumentRows::new(columns, keep, input)?,
            next,
            scan: Scan::default(),
        })
    }
}

impl Step for PassageSeeds {
    fn schema(&self) -> SchemaRef {
        self.passed.schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let removed = Bytes::of(batch, "removed").ok();
        let (mut seeds, mut keys, mut offsets) = (BinaryBuilder::new(), Vec::new(), Vec::new());
        let mut hashes = Vec::new();
        self.rows.for_each(batch, self.next.unwrap_or(0), |text, key| {
            let removed = removed.as_ref().map_or(&[][..], |removed| removed.get(keys.len()));
            keys.push(key);
            scan_text(&mut self.scan, text, None, removed, &mut offsets);
            hashes.clear();
            self.scan.for_each_seed(self.plan, false, |_, hash| {
                hashes.extend_from_slice(&hash.to_le_bytes());
            });
            seeds.append_value(&hashes);
        })?;
        let mut added: Vec<ArrayRef> = Vec::new();
        if let Some(next) = &mut self.next {
            let names = Int64Array::from_iter_values(*next..*next + keys.len() as i64);
            *next += keys.len() as i64;
            added.extend([Arc::new(names) as ArrayRef, Arc::new(Int64Array::from(keys))]);
        }
        added.push(Arc::new(seeds.finish()));
        out.push_back(self.passed.batch(batch, added)?);
        Ok(())
    }
}
