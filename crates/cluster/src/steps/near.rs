//! Entries of a partition to pairs of later and earlier members, as far as a round needs them.
//!
//! A round of peeling pairs every member of a bucket with the first few before it. A member that stands
//! further back is *marked*: it has not met everybody before it, and not everybody after it has met it. So an
//! original that is not marked has been met by all later ones and can leave with its copies.
//!
//! Names must be places in keep order here. Cost: the entries of the partition in memory; pairs leave a batch
//! at a time.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use super::columns::schema_of;
use super::pairs::read_entries;
use super::{Batches, ROWS, Step};
use crate::error::ClusterError;

/// Which members of a bucket are paired.
#[derive(Clone, Debug)]
enum Which {
    /// Each with the first so many before it.
    First(usize),
    /// Each that is no original with every original before it: the originals, ascending.
    Originals,
}

/// Takes `entries`; gives `later`, `earlier` and `marked`. A marked member has a row of its own, in which
/// both are the same.
#[derive(Debug)]
pub struct Near {
    which: Which,
    entries: Vec<(u64, i64)>,
    /// Where the next bucket starts, once all entries are there and sorted.
    next: Option<usize>,
    schema: SchemaRef,
}

/// The bit of a name that says that it is an original's.
const ORIGINAL: i64 = 1;

impl Near {
    /// Pairs every member with the first `prefix` before it.
    #[must_use]
    pub fn first(prefix: usize) -> Self {
        Near::new(Which::First(prefix))
    }

    /// Pairs every copy with all originals before it. Names are twice the places here, and one more for an
    /// original; they come out as places.
    #[must_use]
    pub fn originals() -> Self {
        Near::new(Which::Originals)
    }

    fn new(which: Which) -> Self {
        let schema = schema_of(&[
            ("later", DataType::Int64),
            ("earlier", DataType::Int64),
            ("marked", DataType::Boolean),
        ]);
        Near { which, entries: Vec::new(), next: None, schema }
    }

    fn pair(&self, bucket: &[(u64, i64)], rows: &mut Vec<(i64, i64, bool)>) {
        match self.which {
            Which::First(prefix) => {
                for (at, &(_, later)) in bucket.iter().enumerate() {
                    let met = &bucket[..at.min(prefix)];
                    rows.extend(met.iter().map(|&(_, earlier)| (later, earlier, false)));
                    if at >= prefix {
                        rows.push((later, later, true));
                    }
                }
            }
            Which::Originals => {
                let mut originals = Vec::new();
                for &(_, name) in bucket {
                    let place = name >> 1;
                    if name & ORIGINAL == ORIGINAL {
                        originals.push(place);
                    } else {
                        rows.extend(originals.iter().map(|&original| (place, original, false)));
                    }
                }
            }
        }
    }
}

impl Step for Near {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, _: &mut Batches) -> Result<(), ClusterError> {
        read_entries(batch, &mut self.entries)
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let mut at = self.next.unwrap_or_else(|| {
            self.entries.sort_unstable();
            // A document with two equal features is in their bucket once.
            self.entries.dedup();
            0
        });
        let mut rows: Vec<(i64, i64, bool)> = Vec::new();
        while at < self.entries.len() && rows.len() < ROWS {
            let rest = &self.entries[at..];
            let end = rest.iter().position(|entry| entry.0 != rest[0].0).unwrap_or(rest.len());
            self.pair(&rest[..end], &mut rows);
            at += end;
        }
        self.next = Some(at);
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_unstable();
        rows.dedup();
        let longs = |value: fn(&(i64, i64, bool)) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(rows.iter().map(value)))
        };
        let marked: Vec<bool> = rows.iter().map(|row| row.2).collect();
        let columns =
            vec![longs(|row| row.0), longs(|row| row.1), Arc::new(BooleanArray::from(marked))];
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}
