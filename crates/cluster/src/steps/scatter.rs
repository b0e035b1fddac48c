//! Features to entries for buckets: one blob for each target partition instead of a row for each feature.
//!
//! An entry is 16 bytes: a hash of the feature with its number (of a prefix: of the shingle alone), and the
//! document's name. A partition gets
//! all entries whose hash falls into its range, so everybody with the same feature meets in one partition.
//! As rows, 18 entries a document would cost an engine five times the work.
//!
//! A hash that two features share by accident makes two groups one: later work is larger, not different.
//!
//! Cost: 16 bytes an entry until a blob is given out, at most [`MOST_BYTES`] for all.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Int64Builder};
use arrow_schema::{DataType, SchemaRef};
use wonbon_sketch::finalise;

use super::columns::{Bytes, longs, schema_of};
use super::{Batches, Step};
use crate::error::ClusterError;

/// Bytes of entries that are collected before blobs are given out.
const MOST_BYTES: usize = 32 << 20;

/// Bytes of an entry: the hash of a feature and the name of a document.
pub(super) const ENTRY: usize = 16;

/// The hash of an entry: of a feature with its number, which is 0 where features have none.
pub(super) fn entry_hash(value: u64, number: u64) -> u64 {
    finalise(value ^ finalise(number))
}

/// Takes `document` and `features`; gives `partition` and `entries`.
#[derive(Debug)]
pub struct Scatter {
    blobs: Vec<Vec<u8>>,
    bytes: usize,
    prefixes: bool,
    schema: SchemaRef,
}

impl Scatter {
    /// Scatters to so many partitions. `prefixes`: what stands for features has no numbers.
    ///
    /// # Errors
    ///
    /// If there are none.
    pub fn new(partitions: usize, prefixes: bool) -> Result<Self, ClusterError> {
        if !(1..=1 << 20).contains(&partitions) {
            return Err(ClusterError::BadParameter {
                what: "the number of partitions",
                wanted: "from 1 to 1048576",
                got: partitions.to_string(),
            });
        }
        let schema = schema_of(&[("partition", DataType::Int64), ("entries", DataType::Binary)]);
        Ok(Scatter { blobs: vec![Vec::new(); partitions], bytes: 0, prefixes, schema })
    }

    fn flush(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let (mut partitions, mut entries) = (Int64Builder::new(), BinaryBuilder::new());
        for (partition, blob) in self.blobs.iter_mut().enumerate().filter(|(_, b)| !b.is_empty()) {
            partitions.append_value(partition as i64);
            entries.append_value(&*blob);
            blob.clear();
        }
        self.bytes = 0;
        let columns: Vec<Arc<dyn arrow_array::Array>> =
            vec![Arc::new(partitions.finish()), Arc::new(entries.finish())];
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}

impl Step for Scatter {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (names, features) = (longs(batch, "document")?, Bytes::of(batch, "features")?);
        let partitions = self.blobs.len() as u128;
        for row in 0..batch.num_rows() {
            let (values, _) = features.get(row).as_chunks::<8>();
            let name = names.value(row).to_le_bytes();
            for (number, value) in (1_u64..).zip(values) {
                let number = if self.prefixes { 0 } else { number };
                let hash = entry_hash(u64::from_le_bytes(*value), number);
                let blob = &mut self.blobs[((u128::from(hash) * partitions) >> 64) as usize];
                blob.extend_from_slice(&hash.to_le_bytes());
                blob.extend_from_slice(&name);
                self.bytes += ENTRY;
            }
            if self.bytes >= MOST_BYTES {
                self.flush(out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        if self.bytes > 0 { self.flush(out) } else { Ok(()) }
    }
}
