//! Documents to the hashes of their seeds.
//!
//! Every column of the input but the text and what was removed is passed on. Added is `features`: eight bytes a seed,
//! little-endian, as [`Scatter`](super::super::Scatter) takes them. Documents without a name get one, and their key, as
//! [`Sketch`](super::super::Sketch) gives them.
//!
//! Cost: one walk over the words of each text; memory for one batch.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use wonbon_documents::Value;

use super::super::Step;
use super::super::columns::{Bytes, any, flags, place};
use super::super::sketch::{SketchColumns, key_of};
use super::{plan_of, scan_text, text_of};
use crate::error::ClusterError;
use crate::keep::Keep;
use crate::passages::{Scan, WindowPlan};

/// Finds seeds.
#[derive(Debug)]
pub struct PassageSeeds {
    plan: WindowPlan,
    columns: SketchColumns,
    keep: Keep,
    /// The next name, unless documents have names.
    next: Option<i64>,
    kept: Vec<usize>,
    scan: Scan,
    schema: SchemaRef,
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
        for name in [&columns.text].into_iter().chain(&columns.order).chain(&columns.other) {
            place(input, name)?;
        }
        let next = input.index_of("document").is_err().then_some(first);
        let is_kept = |name: &str| name != columns.text && name != "removed";
        let kept: Vec<usize> =
            (0..input.fields().len()).filter(|&at| is_kept(input.field(at).name())).collect();
        let mut fields: Vec<_> = kept.iter().map(|&at| Arc::clone(&input.fields()[at])).collect();
        let names = next.map(|_| ["document", "key"]).into_iter().flatten();
        let longs = names.map(|name| (name, DataType::Int64));
        let added = longs.chain([("features", DataType::Binary)]);
        fields.extend(
            super::super::columns::schema_of(&added.collect::<Vec<_>>()).fields().iter().cloned(),
        );
        Ok(PassageSeeds {
            plan: plan_of(words)?,
            columns,
            keep,
            next,
            kept,
            scan: Scan::default(),
            schema: Arc::new(Schema::new(fields)),
        })
    }
}

impl Step for PassageSeeds {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(
        &mut self,
        batch: &RecordBatch,
        out: &mut VecDeque<RecordBatch>,
    ) -> Result<(), ClusterError> {
        let texts = any(batch, &self.columns.text)?;
        let removed = Bytes::of(batch, "removed").ok();
        let order = self.columns.order.as_deref().map(|name| any(batch, name)).transpose()?;
        let other = self.columns.other.as_deref().map(|name| flags(batch, name)).transpose()?;
        let (mut seeds, mut keys, mut offsets) = (BinaryBuilder::new(), Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            let text = text_of(texts, row, &self.columns.text)?;
            if let (Some(_), Value::Text(text)) = (self.next, &text) {
                let is_other = other.is_some_and(|other| other.value(row));
                let key = if is_other { 0 } else { key_of(&self.keep, order, row, text.len()) };
                keys.push((key ^ 1 << 63) as i64);
            }
            let removed = removed.as_ref().map_or(&[][..], |removed| removed.get(row));
            scan_text(&mut self.scan, &text, None, removed, &mut offsets);
            let mut hashes = Vec::new();
            self.scan.for_each_seed(self.plan, false, |_, hash| {
                hashes.extend_from_slice(&hash.to_le_bytes());
            });
            seeds.append_value(&hashes);
        }
        let mut columns: Vec<ArrayRef> =
            self.kept.iter().map(|&at| Arc::clone(batch.column(at))).collect();
        if let Some(next) = &mut self.next {
            let names = Int64Array::from_iter_values(*next..*next + keys.len() as i64);
            *next += keys.len() as i64;
            columns.extend([Arc::new(names) as ArrayRef, Arc::new(Int64Array::from(keys))]);
        }
        columns.push(Arc::new(seeds.finish()));
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}
