//! Entries of a partition to the seeds that occur at several places.
//!
//! Cost: the entries of the partition in memory, sorted in place. Choose partitions by bytes.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use super::super::columns::schema_of;
use super::super::pairs::read_entries;
use super::super::{Batches, ROWS, Step};
use crate::error::ClusterError;

/// Takes `entries`; gives `document` and `seed`, the hash as the entry has it, each pair once.
#[derive(Debug)]
pub struct PassageHot {
    entries: Vec<(u64, i64)>,
    next: Option<usize>,
    schema: SchemaRef,
}

impl Default for PassageHot {
    fn default() -> Self {
        let schema = schema_of(&[("document", DataType::Int64), ("seed", DataType::Int64)]);
        PassageHot { entries: Vec::new(), next: None, schema }
    }
}

impl Step for PassageHot {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, _: &mut Batches) -> Result<(), ClusterError> {
        read_entries(batch, &mut self.entries)
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let mut at = self.next.unwrap_or_else(|| {
            self.entries.sort_unstable();
            0
        });
        let (mut documents, mut seeds) = (Vec::new(), Vec::new());
        while at < self.entries.len() && documents.len() < ROWS {
            let rest = &self.entries[at..];
            let same = rest.partition_point(|entry| entry.0 == rest[0].0);
            if same > 1 {
                for one in rest[..same].chunk_by(|one, other| one.1 == other.1) {
                    documents.push(one[0].1);
                    seeds.push(one[0].0 as i64);
                }
            }
            at += same;
        }
        self.next = Some(at);
        if documents.is_empty() {
            return Ok(());
        }
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int64Array::from(documents)), Arc::new(Int64Array::from(seeds))];
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}
