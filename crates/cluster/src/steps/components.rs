//! Pairs to what hangs together: union-find in one stream.
//!
//! A group has the name of its least member. Whatever pairs span a bucket and in whatever order they come,
//! the groups are the same.
//!
//! Cost: 16 bytes a pair and 12 a candidate in memory.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};

use super::columns::{longs, schema_of};
use super::{Batches, ROWS, Step};
use crate::error::ClusterError;
use crate::union_find::UnionFind;

/// Takes `one` and `other`; gives `document`, `group` and `members` for everybody who is in a pair.
#[derive(Debug)]
pub struct Components {
    pairs: Vec<(i64, i64)>,
    schema: SchemaRef,
}

impl Default for Components {
    fn default() -> Self {
        let long = DataType::Int64;
        let columns = [("document", long.clone()), ("group", long.clone()), ("members", long)];
        Components { pairs: Vec::new(), schema: schema_of(&columns) }
    }
}

impl Step for Components {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, _: &mut Batches) -> Result<(), ClusterError> {
        let (one, other) = (longs(batch, "one")?, longs(batch, "other")?);
        self.pairs.extend(one.values().iter().copied().zip(other.values().iter().copied()));
        Ok(())
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let pairs = std::mem::take(&mut self.pairs);
        let mut names: Vec<i64> = pairs.iter().flat_map(|&(one, other)| [one, other]).collect();
        names.sort_unstable();
        names.dedup();
        let most = u64::from(u32::MAX) - 1;
        let count = u32::try_from(names.len())
            .ok()
            .filter(|&count| u64::from(count) <= most)
            .ok_or(ClusterError::TooMany { most })?;
        let number = |name: i64| {
            names.binary_search(&name).expect("every name of a pair is in the list") as u32
        };
        let mut found = UnionFind::new(count);
        for &(one, other) in &pairs {
            found.join(number(one), number(other));
        }
        drop(pairs);
        let mut members = vec![0_i64; names.len()];
        for at in 0..count {
            members[found.root(at) as usize] += 1;
        }
        for start in (0..count).step_by(ROWS) {
            let part = start..count.min(start + ROWS as u32);
            let roots: Vec<usize> = part.clone().map(|at| found.root(at) as usize).collect();
            let column = |values: &mut dyn Iterator<Item = i64>| -> ArrayRef {
                Arc::new(Int64Array::from_iter_values(values))
            };
            let columns = vec![
                column(&mut part.map(|at| names[at as usize])),
                column(&mut roots.iter().map(|&root| names[root])),
                column(&mut roots.iter().map(|&root| members[root])),
            ];
            out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        }
        Ok(())
    }
}
