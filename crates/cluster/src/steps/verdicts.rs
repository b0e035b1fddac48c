//! Documents that somebody else represents, or is the original of, to their kinds.
//!
//! A row is a document with the fingerprints of its own and of its representative, the earliest document
//! with the same set of shingles (itself, for most), and with the original of that representative, if it is
//! a copy. The same function decides here and in a run over files ([`kind_of`]).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Schema, SchemaRef};

use super::columns::{Passed, longs};
use super::{Batches, Step};
use crate::error::ClusterError;
use crate::verdicts::kind_of;

/// Takes `bytes`, `normal`, `first_bytes`, `first_normal` (of the representative), `represented` (whether it
/// is somebody else), `copied` (whether the representative is a copy) and others; gives all with `kind`.
#[derive(Debug)]
pub struct Verdicts {
    passed: Passed,
}

impl Verdicts {
    /// Kinds for rows of these columns.
    #[must_use]
    pub fn new(input: &Schema) -> Self {
        Verdicts { passed: Passed::without(input, &[], &[("kind", DataType::Utf8)]) }
    }
}

impl Step for Verdicts {
    fn schema(&self) -> SchemaRef {
        self.passed.schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (bytes, first_bytes) = (longs(batch, "bytes")?, longs(batch, "first_bytes")?);
        let (normal, first_normal) = (longs(batch, "normal")?, longs(batch, "first_normal")?);
        let flag = |name: &str| super::columns::flags(batch, name);
        let (represented, copied) = (flag("represented")?, flag("copied")?);
        let is = |flags: &BooleanArray, row: usize| flags.is_valid(row) && flags.value(row);
        let kinds = (0..batch.num_rows()).map(|row| {
            kind_of(
                is(represented, row),
                is(copied, row),
                bytes.value(row) == first_bytes.value(row),
                || normal.value(row) == first_normal.value(row),
            )
            .name()
        });
        let kinds: ArrayRef = Arc::new(StringArray::from_iter_values(kinds));
        out.push_back(self.passed.batch(batch, [kinds])?);
        Ok(())
    }
}
