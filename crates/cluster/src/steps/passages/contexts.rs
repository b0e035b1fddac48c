//! Documents with their hot seeds to contexts: the words of all windows that keep such a seed.
//!
//! Cost: one walk over the words of each document that has one.

use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, Int64Builder};
use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::super::columns::{Bytes, Passed, any, place};
use super::super::scatter::entry_hash;
use super::super::{Batches, Step};
use super::{LongLists, TEXT, plan_of, scan_text, text_of};
use crate::error::ClusterError;
use crate::passages::{Scan, WindowPlan};

/// What is not passed on.
const TAKEN: [&str; 3] = [TEXT, "removed", "seeds"];

/// Takes `text`, `removed`, `seeds` (a list of hashes as [`PassageHot`](super::PassageHot) gives them) and any other
/// columns; gives the others, `seed`, `word` (which of the words that are left the context begins with) and `context`.
#[derive(Debug)]
pub struct PassageContexts {
    plan: WindowPlan,
    scan: Scan,
    passed: Passed,
}

/// Windows from `first` to `last` keep the seed that begins at word `seed`.
struct Context {
    hash: i64,
    seed: usize,
    first: usize,
    last: usize,
}

impl PassageContexts {
    /// Contexts of windows of so many words.
    ///
    /// # Errors
    ///
    /// If passages cannot have so many words, or a column is missing.
    pub fn new(words: usize, input: &Schema) -> Result<Self, ClusterError> {
        for name in TAKEN {
            place(input, name)?;
        }
        let (long, bytes) = (DataType::Int64, DataType::Binary);
        let added = [("seed", long.clone()), ("word", long), ("context", bytes)];
        let passed = Passed::without(input, &TAKEN, &added);
        Ok(PassageContexts { plan: plan_of(words)?, scan: Scan::default(), passed })
    }

    /// The contexts of the document that was scanned.
    fn contexts(&mut self, hot: &[i64]) -> Vec<Context> {
        let mut contexts: Vec<Context> = Vec::new();
        self.scan.for_each_window(self.plan, |_, window, seed, hash| match contexts.last_mut() {
            Some(context) if context.seed == seed => context.last = window,
            _ => {
                let hash = entry_hash(hash, 0) as i64;
                if hot.binary_search(&hash).is_ok() {
                    contexts.push(Context { hash, seed, first: window, last: window });
                }
            }
        });
        contexts
    }
}

impl Step for PassageContexts {
    fn schema(&self) -> SchemaRef {
        self.passed.schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (texts, removed) = (any(batch, TEXT)?, Bytes::of(batch, "removed")?);
        let seeds = LongLists::of(batch, "seeds")?;
        let (mut hashes, mut words) = (Int64Builder::new(), Int64Builder::new());
        let (mut contexts, mut rows) = (BinaryBuilder::new(), Vec::new());
        let (mut offsets, mut bytes) = (Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            let mut hot = seeds.get(row);
            hot.sort_unstable();
            let text = text_of(texts, row)?;
            scan_text(&mut self.scan, &text, None, removed.get(row), &mut offsets);
            for Context { hash, first, last, .. } in self.contexts(&hot) {
                self.scan.join(first..last + self.plan.words, &mut bytes);
                hashes.append_value(hash);
                words.append_value(first as i64);
                contexts.append_value(&bytes);
                rows.push(row as u32);
            }
        }
        let rows = UInt32Array::from(rows);
        let added: [ArrayRef; 3] =
            [Arc::new(hashes.finish()), Arc::new(words.finish()), Arc::new(contexts.finish())];
        out.push_back(self.passed.batch_of_rows(batch, &rows, added)?);
        Ok(())
    }
}
