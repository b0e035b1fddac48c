//! Entries of a partition to pairs that span every bucket: each member with the least name in it.
//!
//! The pairs only say who hangs together, so a bucket of n members needs n - 1 of them and not n squared.
//! Nothing is compared here.
//!
//! Cost: the entries of the partition in memory, sorted in place. Choose partitions by bytes.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use super::columns::{Bytes, schema_of};
use super::{Batches, ROWS, Step};
use crate::error::ClusterError;

/// Takes `entries`; gives `one`, `other` and `members`: two names, and how many documents the largest bucket
/// has in which this pair was found.
#[derive(Debug)]
pub struct Pairs {
    /// (hash of a feature, name).
    entries: Vec<(u64, i64)>,
    schema: SchemaRef,
}

impl Default for Pairs {
    fn default() -> Self {
        let long = DataType::Int64;
        let columns = [("one", long.clone()), ("other", long.clone()), ("members", long)];
        Pairs { entries: Vec::new(), schema: schema_of(&columns) }
    }
}

/// Appends the entries of blobs: hashes of features with names.
pub(super) fn read_entries(
    batch: &RecordBatch,
    entries: &mut Vec<(u64, i64)>,
) -> Result<(), ClusterError> {
    let blobs = Bytes::of(batch, "entries")?;
    for row in 0..batch.num_rows() {
        let (words, _) = blobs.get(row).as_chunks::<8>();
        let (pairs, rest) = words.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(ClusterError::NoColumn {
                column: "entries".to_owned(),
                wanted: "entries of 16 bytes",
            });
        }
        entries.extend(
            pairs.iter().map(|[hash, name]| (u64::from_le_bytes(*hash), i64::from_le_bytes(*name))),
        );
    }
    Ok(())
}

impl Step for Pairs {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, _: &mut Batches) -> Result<(), ClusterError> {
        read_entries(batch, &mut self.entries)?;
        Ok(())
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable();
        let mut pairs: Vec<(i64, i64, i64)> = Vec::new();
        for bucket in entries.chunk_by(|one, other| one.0 == other.0) {
            let members = bucket.len() as i64;
            let others = bucket[1..].iter().filter(|other| other.1 != bucket[0].1);
            pairs.extend(others.map(|other| (bucket[0].1, other.1, -members)));
        }
        drop(entries);
        // The largest bucket of a pair comes first.
        pairs.sort_unstable();
        pairs.dedup_by_key(|pair| (pair.0, pair.1));
        for part in pairs.chunks(ROWS) {
            let column = |value: fn(&(i64, i64, i64)) -> i64| -> ArrayRef {
                Arc::new(Int64Array::from_iter_values(part.iter().map(value)))
            };
            let columns = vec![column(|p| p.0), column(|p| p.1), column(|p| -p.2)];
            out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        }
        Ok(())
    }
}
