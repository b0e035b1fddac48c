//! Documents with words that occurred before to all that is removed from them, in whole units.
//!
//! Cost: two walks over the words of each such document.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::{BinaryBuilder, Int64Builder};
use arrow_schema::{DataType, SchemaRef};

use super::super::columns::{Bytes, any, longs, schema_of};
use super::super::{Batches, Step};
use super::{LongLists, TEXT, bytes_of, ranges_of, scan_text, text_of, unpack_range};
use crate::error::ClusterError;
use crate::passages::{PassageUnit, Removed, Scan, UnitMarks};

/// Takes `document`, `text`, `removed` and `ranges` (lists of what [`PassageAgain`](super::PassageAgain) gives); gives
/// `document` and `removed`: ranges of bytes of the words, as eight bytes a number.
#[derive(Debug)]
pub struct PassageRemoved {
    unit: PassageUnit,
    all: Scan,
    left: Scan,
    schema: SchemaRef,
}

impl PassageRemoved {
    /// Removes in such units.
    #[must_use]
    pub fn new(unit: PassageUnit) -> Self {
        let columns = [("document", DataType::Int64), ("removed", DataType::Binary)];
        let schema = schema_of(&columns);
        PassageRemoved { unit, all: Scan::default(), left: Scan::default(), schema }
    }
}

impl Step for PassageRemoved {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (names, texts) = (longs(batch, "document")?, any(batch, TEXT)?);
        let (before, again) = (Bytes::of(batch, "removed")?, LongLists::of(batch, "ranges")?);
        let (mut documents, mut removed) = (Int64Builder::new(), BinaryBuilder::new());
        let mut offsets = Vec::new();
        for row in 0..batch.num_rows() {
            let document = names.value(row);
            let text = text_of(texts, row)?;
            scan_text(&mut self.all, &text, Some(self.unit), &[], &mut offsets);
            let gone = ranges_of(before.get(row));
            self.left.text.clone_from(&self.all.text);
            self.left.split(&gone, 0);
            let mut ranges = Vec::new();
            for (from, to) in again.get(row).into_iter().map(unpack_range) {
                if from >= to || to > self.left.words() {
                    return Err(ClusterError::DocumentChanged { document });
                }
                ranges.push((self.left.starts[from] as u64, self.left.ends[to - 1] as u64));
            }
            let mut together = Removed::default();
            together.add(ranges);
            let marks = UnitMarks::new(&offsets, self.unit);
            let wide = together.ranges().iter().map(|&range| marks.widen(&self.all, range));
            let mut all = Removed::default();
            all.add(gone.into_iter().chain(wide).collect());
            documents.append_value(document);
            removed.append_value(bytes_of(all.ranges()));
        }
        let columns: Vec<Arc<dyn arrow_array::Array>> =
            vec![Arc::new(documents.finish()), Arc::new(removed.finish())];
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}
