//! Documents to their fingerprints, sizes, features and places in keep order.
//!
//! Every column of the input but the text is passed on. Added are
//!
//! | column | is |
//! |---|---|
//! | `document` | the name: numbers from `first` on, in the order of this stream |
//! | `key` | what keep order is by ([`Keep::key`](crate::keep::Keep::key)), as a signed number of the same order |
//! | `bytes`, `normal` | fingerprints of the bytes and of the normal form |
//! | `set` | the fingerprint of the set of shingles, 16 bytes; empty for a document without words |
//! | `shingles` | how many different shingles |
//! | `features` | eight bytes a feature, little-endian; empty for a document without words |
//!
//! Under the exact engine a document has its *prefix* for features: its smallest shingles, so many that two
//! documents at the threshold share at least one of them. Bands miss one pair in a thousand, prefixes none; a
//! document has about (1 - threshold) entries a shingle then.
//!
//! Cost: one walk over the words of each text; memory for one batch.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use wonbon_rule::Rule;

use super::columns::Passed;
use super::rows::{DocumentRows, SketchColumns};
use super::{Batches, Step};
use crate::deciding::{Engine, FamilyConfig};
use crate::error::ClusterError;
use crate::sketching::{Sketcher, Sketches};

/// Sketches documents.
#[derive(Debug)]
pub struct Sketch {
    rows: DocumentRows,
    groups: usize,
    /// The threshold, where prefixes stand for features.
    exact: Option<f64>,
    sketcher: Sketcher,
    next: i64,
    passed: Passed,
}

impl Sketch {
    /// Sketches by these parameters; documents are named from `first` on.
    ///
    /// # Errors
    ///
    /// If the rule is out of range or a column is missing.
    pub fn new(
        config: &FamilyConfig,
        columns: SketchColumns,
        first: i64,
        input: &Schema,
    ) -> Result<Self, ClusterError> {
        let groups = config.rule.bands().bands;
        let words: NonZeroUsize = config.shingle_words;
        let long = DataType::Int64;
        let passed = Passed::without(
            input,
            &[&columns.text],
            &[
                ("document", long.clone()),
                ("key", long.clone()),
                ("bytes", long.clone()),
                ("normal", long.clone()),
                ("set", DataType::Binary),
                ("shingles", long),
                ("features", DataType::Binary),
            ],
        );
        Ok(Sketch {
            sketcher: Sketcher::new(&config.feature_maker()?, groups, words),
            exact: match config.rule {
                Rule::Threshold(threshold) if config.engine == Engine::Exact => Some(threshold),
                _ => None,
            },
            rows: DocumentRows::new(columns, config.keep.clone(), input)?,
            groups,
            next: first,
            passed,
        })
    }
}

/// The smallest elements of a set: so many that two sets at the threshold share one of theirs.
///
/// Two sets of resemblance t share at least t times the larger of their sizes, so all but that many of
/// either, and one more, hold the smallest shared element.
fn prefix(set: &mut [u64], threshold: f64) -> &[u64] {
    set.sort_unstable();
    // Rounding must not make a prefix too short.
    let shared = (threshold * set.len() as f64 - 1e-6).ceil().max(1.0) as usize;
    &set[..(set.len() + 1).saturating_sub(shared).min(set.len())]
}

impl Step for Sketch {
    fn schema(&self) -> SchemaRef {
        self.passed.schema()
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let mut sketches = Sketches::default();
        let mut keys = Vec::with_capacity(batch.num_rows());
        let mut features = BinaryBuilder::new();
        self.rows.for_each(batch, self.next, |text, key| {
            keys.push(key);
            self.sketcher.add(text.as_bytes(), text, &mut sketches);
            let values = match self.exact {
                Some(threshold) => prefix(&mut sketches.elements, threshold),
                None if sketches.elements.is_empty() => &[],
                None => &sketches.features[sketches.features.len() - self.groups..],
            };
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            features.append_value(bytes);
            sketches.elements.clear();
        })?;
        let names = Int64Array::from_iter_values(self.next..self.next + keys.len() as i64);
        self.next += keys.len() as i64;
        let numbers = |values: &[u64]| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(values.iter().map(|&value| value as i64)))
        };
        let mut sets = BinaryBuilder::new();
        for &set in &sketches.set {
            let bytes = set.to_be_bytes();
            sets.append_value(if set == 0 { &[][..] } else { &bytes[..] });
        }
        let shingles = sketches.shingles.iter().map(|&count| i64::from(count));
        let added: [ArrayRef; 7] = [
            Arc::new(names),
            Arc::new(Int64Array::from(keys)),
            numbers(&sketches.bytes),
            numbers(&sketches.normal),
            Arc::new(sets.finish()),
            Arc::new(Int64Array::from_iter_values(shingles)),
            Arc::new(features.finish()),
        ];
        out.push_back(self.passed.batch(batch, added)?);
        Ok(())
    }
}
