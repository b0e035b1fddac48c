//! Contexts of one seed after another, each in keep order, to the words that occurred before.
//!
//! A window is looked up by its hash and compared by its words with the windows that were first; so a collision costs a
//! comparison and never changes the result.
//!
//! Cost: the different contexts of one seed in memory.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use super::super::columns::{Bytes, flags, longs, schema_of};
use super::super::{Batches, Step};
use super::{pack_range, plan_of};
use crate::error::ClusterError;
use crate::passages::{Scan, WindowPlan};

/// Takes `seed`, `document`, `other`, `word` and `context`; gives `document` and `range`: which of the words that are
/// left occurred before.
#[derive(Debug)]
pub struct PassageAgain {
    plan: WindowPlan,
    /// Only what occurs in another corpus counts.
    of_others_only: bool,
    seed: Option<i64>,
    scan: Scan,
    /// Contexts that had a window for the first time.
    contexts: Vec<u8>,
    /// By the hashes of windows.
    firsts: HashMap<u64, Vec<First>>,
    schema: SchemaRef,
}

/// Where a window was first.
#[derive(Debug)]
struct First {
    /// Its words among the contexts.
    bytes: Range<usize>,
    document: i64,
    word: u64,
    is_other: bool,
}

/// A context as its row has it.
struct Context {
    document: i64,
    word: u64,
    is_other: bool,
}

impl PassageAgain {
    /// Windows of so many words; `of_others_only`: only those that occur in another corpus.
    ///
    /// # Errors
    ///
    /// If passages cannot have so many words.
    pub fn new(words: usize, of_others_only: bool) -> Result<Self, ClusterError> {
        Ok(PassageAgain {
            plan: plan_of(words)?,
            of_others_only,
            seed: None,
            scan: Scan::default(),
            contexts: Vec::new(),
            firsts: HashMap::new(),
            schema: schema_of(&[("document", DataType::Int64), ("range", DataType::Int64)]),
        })
    }

    /// Calls `each` with the words of the context that was scanned which occurred before.
    fn look(&mut self, context: &Context, mut each: impl FnMut(u64, u64)) {
        let length = self.plan.words;
        let hashes = self.scan.window_hashes(self.plan).to_vec();
        let mut base = None;
        let mut last: Option<(u64, u64)> = None;
        for (window, hash) in hashes.into_iter().enumerate() {
            let scan = &self.scan;
            let bytes = scan.starts[window]..scan.ends[window + length - 1];
            let firsts = self.firsts.entry(hash).or_default();
            let words = &scan.text[bytes.clone()];
            let word = context.word + window as u64;
            let Some(first) = firsts.iter().find(|one| self.contexts[one.bytes.clone()] == *words)
            else {
                let base = *base.get_or_insert(self.contexts.len());
                firsts.push(First {
                    bytes: base + bytes.start..base + bytes.end,
                    document: context.document,
                    word,
                    is_other: context.is_other,
                });
                if self.contexts.len() == base {
                    self.contexts.extend_from_slice(&scan.text);
                }
                continue;
            };
            if context.is_other || (self.of_others_only && !first.is_other) {
                continue;
            }
            // The words of the first occurrence stay, where the two overlap.
            let is_same = first.document == context.document;
            let kept = if is_same { first.word + length as u64 } else { 0 };
            let range = (word.max(kept), word + length as u64);
            match &mut last {
                Some(last) if range.0 <= last.1 => last.1 = range.1,
                _ => {
                    if let Some((from, to)) = last.replace(range) {
                        each(from, to);
                    }
                }
            }
        }
        if let Some((from, to)) = last {
            each(from, to);
        }
    }
}

impl Step for PassageAgain {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (seeds, names) = (longs(batch, "seed")?, longs(batch, "document")?);
        let (words, contexts) = (longs(batch, "word")?, Bytes::of(batch, "context")?);
        let other = flags(batch, "other")?;
        let (mut documents, mut ranges) = (Vec::new(), Vec::new());
        for row in 0..batch.num_rows() {
            if self.seed.replace(seeds.value(row)) != Some(seeds.value(row)) {
                self.contexts.clear();
                self.firsts.clear();
            }
            self.scan.text.clear();
            self.scan.text.extend_from_slice(contexts.get(row));
            self.scan.text.push(b'\n');
            self.scan.split(&[], 0);
            let context = Context {
                document: names.value(row),
                word: words.value(row) as u64,
                is_other: other.value(row),
            };
            self.look(&context, |from, to| {
                documents.push(context.document);
                ranges.push(pack_range(from, to));
            });
        }
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(documents)), Arc::new(Int64Array::from(ranges))];
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}
