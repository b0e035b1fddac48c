//! Texts, compressed: what moves between machines is texts of candidates, and little else.
//!
//! Why texts and not sets of shingles: a set takes eight bytes a different shingle and does not compress,
//! about as much as the text; the text compresses to a third, and the walk makes the set again in less time
//! than moving it takes.
//!
//! Cost: one zstd frame of level 1 a text.

use std::fmt;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use wonbon_documents::{MAX_DOCUMENT_BYTES, Value, column_value};
use zstd::bulk::{Compressor, Decompressor};

use super::columns::{Passed, any, place};
use super::{Batches, Step};
use crate::error::ClusterError;

const LEVEL: i32 = 1;

/// Takes a column of texts and any others; gives the others and `packed`.
pub struct Pack {
    compressor: Compressor<'static>,
    text: String,
    passed: Passed,
}

impl fmt::Debug for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pack").field("text", &self.text).finish_non_exhaustive()
    }
}

impl Pack {
    /// Compresses the column `text`.
    ///
    /// # Errors
    ///
    /// If there is no such column, or no memory for the compressor.
    pub fn new(text: &str, input: &Schema) -> Result<Self, ClusterError> {
        place(input, text)?;
        let passed = Passed::without(input, &[text], &[("packed", DataType::Binary)]);
        let compressor = Compressor::new(LEVEL).map_err(|_| no_memory())?;
        Ok(Pack { compressor, text: text.to_owned(), passed })
    }
}

impl Step for Pack {
    fn schema(&self) -> SchemaRef {
        self.passed.schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let texts = any(batch, &self.text)?;
        let mut packed = BinaryBuilder::new();
        for row in 0..batch.num_rows() {
            let value = column_value(texts, row);
            let text = match &value {
                Value::Text(text) => text.as_bytes(),
                Value::Missing => &[],
                _ => {
                    let column = self.text.clone();
                    return Err(ClusterError::NoColumn { column, wanted: "text" });
                }
            };
            packed.append_value(self.compressor.compress(text).map_err(|_| no_memory())?);
        }
        let packed: ArrayRef = Arc::new(packed.finish());
        out.push_back(self.passed.batch(batch, [packed])?);
        Ok(())
    }
}

fn no_memory() -> ClusterError {
    ClusterError::TooLittleMemory { what: "compressing a text", needed: 1, given: 0 }
}

/// Undoes what [`Pack`] did, one text at a time.
pub(super) struct Unpacker {
    decompressor: Decompressor<'static>,
    text: Vec<u8>,
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacker").finish_non_exhaustive()
    }
}

impl Unpacker {
    pub(super) fn new() -> Result<Self, ClusterError> {
        let decompressor = Decompressor::new().map_err(|_| no_memory())?;
        Ok(Unpacker { decompressor, text: Vec::new() })
    }

    /// The text that was packed; `None` if these bytes are not what was written.
    pub(super) fn text(&mut self, packed: &[u8]) -> Option<&str> {
        let size = zstd::zstd_safe::get_frame_content_size(packed).ok()??;
        let size = usize::try_from(size).ok().filter(|&size| size <= MAX_DOCUMENT_BYTES)?;
        self.text.clear();
        self.text.reserve(size);
        self.decompressor.decompress_to_buffer(packed, &mut self.text).ok()?;
        std::str::from_utf8(&self.text).ok()
    }
}
