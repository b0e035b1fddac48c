//! What a round of peeling decides: one stream in keep order.
//!
//! A document that is similar to an original found in this round is a copy. One that is marked, or similar to
//! an undecided one, waits for the next round. Everybody else is an original: nobody before it in its buckets
//! is like it. Copies influence nobody.
//!
//! Why in one stream: keep order is often the order of time, and a page edited a thousand times, each version
//! like its neighbours only, would need five hundred parallel rounds.
//!
//! Cost: 16 bytes an original or undecided document of the group in memory.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use super::columns::{flags, longs, schema_of};
use super::{Batches, Step};
use crate::error::ClusterError;

/// Nobody before it is like it.
const ORIGINAL: i64 = 0;
/// Like an original before it.
const COPY: i64 = 1;
/// For the next round.
const UNDECIDED: i64 = 2;

/// Takes `later`, `earlier` and `marked`, in order of `later`: a row with both the same for every undecided
/// document, and one for each pair of similar ones. Gives `document` and `state`: 0 original, 1 copy,
/// 2 undecided.
#[derive(Debug)]
pub struct Settle {
    /// Those that are no copies.
    states: HashMap<i64, i64>,
    /// The document whose rows are coming, and its state so far.
    current: Option<(i64, i64)>,
    schema: SchemaRef,
}

impl Default for Settle {
    fn default() -> Self {
        let schema = schema_of(&[("document", DataType::Int64), ("state", DataType::Int64)]);
        Settle { states: HashMap::new(), current: None, schema }
    }
}

impl Settle {
    fn close(&mut self, settled: &mut Vec<(i64, i64)>) {
        if let Some((document, state)) = self.current.take() {
            settled.push((document, state));
            if state != COPY {
                self.states.insert(document, state);
            }
        }
    }

    fn give(&self, settled: &[(i64, i64)], out: &mut Batches) -> Result<(), ClusterError> {
        if settled.is_empty() {
            return Ok(());
        }
        let column = |value: fn(&(i64, i64)) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(settled.iter().map(value)))
        };
        out.push_back(RecordBatch::try_new(
            self.schema(),
            vec![column(|one| one.0), column(|one| one.1)],
        )?);
        Ok(())
    }
}

impl Step for Settle {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (later, earlier) = (longs(batch, "later")?, longs(batch, "earlier")?);
        let marked = flags(batch, "marked")?;
        let mut settled = Vec::new();
        for row in 0..batch.num_rows() {
            let (one, other) = (later.value(row), earlier.value(row));
            if self.current.is_none_or(|(current, _)| current != one) {
                self.close(&mut settled);
                self.current = Some((one, ORIGINAL));
            }
            let Some((_, state)) = &mut self.current else { continue };
            let found = if one == other {
                let is_marked = marked.is_valid(row) && marked.value(row);
                if is_marked { UNDECIDED } else { ORIGINAL }
            } else {
                match self.states.get(&other) {
                    Some(&ORIGINAL) => COPY,
                    Some(_) => UNDECIDED,
                    None => ORIGINAL,
                }
            };
            *state = match (*state, found) {
                (COPY, _) | (_, COPY) => COPY,
                (UNDECIDED, _) | (_, UNDECIDED) => UNDECIDED,
                _ => ORIGINAL,
            };
        }
        self.give(&settled, out)
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let mut settled = Vec::new();
        self.close(&mut settled);
        self.give(&settled, out)
    }
}
