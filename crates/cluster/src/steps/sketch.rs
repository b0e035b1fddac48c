//! Documents to their fingerprints, sizes, features and places in keep order.
//!
//! Every column of the input but the text is passed on. Added are
//!
//! | column | is |
//! |---|---|
//! | `document` | the name: numbers from `first` on, in the order of this stream |
//! | `key` | what keep order is by ([`Keep::key`]), as a signed number of the same order |
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
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use wonbon_documents::{Value, column_value, time_value};
use wonbon_rule::Rule;

use super::columns::{any, flags, kept_columns, place, with_columns};
use super::{Batches, Step};
use crate::deciding::{Engine, FamilyConfig};
use crate::error::ClusterError;
use crate::keep::Keep;
use crate::sketching::{Sketcher, Sketches};

/// Which columns of the input mean what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SketchColumns {
    /// The text.
    pub text: String,
    /// What decides which document of a family is kept, if a column does.
    pub order: Option<String>,
    /// Whether a document belongs to another corpus, if there is one: its key is then 0.
    pub other: Option<String>,
}

/// Sketches documents.
#[derive(Debug)]
pub struct Sketch {
    columns: SketchColumns,
    keep: Keep,
    groups: usize,
    /// The threshold, where prefixes stand for features.
    exact: Option<f64>,
    sketcher: Sketcher,
    next: i64,
    text_at: usize,
    schema: SchemaRef,
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
        let text_at = place(input, &columns.text)?;
        for name in columns.order.iter().chain(&columns.other) {
            place(input, name)?;
        }
        let groups = config.rule.bands().bands;
        let words: NonZeroUsize = config.shingle_words;
        let long = DataType::Int64;
        let schema = with_columns(
            input,
            text_at,
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
            keep: config.keep.clone(),
            exact: match config.rule {
                Rule::Threshold(threshold) if config.engine == Engine::Exact => Some(threshold),
                _ => None,
            },
            columns,
            groups,
            next: first,
            text_at,
            schema,
        })
    }
}

/// The place of a row in keep order.
pub(super) fn key_of(keep: &Keep, order: Option<&dyn Array>, row: usize, text_bytes: usize) -> u64 {
    let ranking = order.map_or(Value::Missing, |array| column_value(array, row));
    let created = match keep {
        Keep::Earliest => time_value(ranking.clone()).ok().flatten(),
        _ => None,
    };
    keep.key(created, &ranking, text_bytes)
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
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let texts = batch.column(self.text_at).as_ref();
        let order = self.columns.order.as_deref().map(|name| any(batch, name)).transpose()?;
        let other = self.columns.other.as_deref().map(|name| flags(batch, name)).transpose()?;
        let mut sketches = Sketches::default();
        let mut keys = Vec::with_capacity(batch.num_rows());
        let mut features = BinaryBuilder::new();
        for row in 0..batch.num_rows() {
            let value = column_value(texts, row);
            let text = match &value {
                Value::Text(text) => text.as_ref(),
                Value::Missing => "",
                _ => {
                    let column = self.columns.text.clone();
                    return Err(ClusterError::NoColumn { column, wanted: "text" });
                }
            };
            let is_other = other.is_some_and(|other| other.value(row));
            let key = if is_other { 0 } else { key_of(&self.keep, order, row, text.len()) };
            keys.push((key ^ 1 << 63) as i64);
            self.sketcher.add(text.as_bytes(), text, &mut sketches);
            let values = match self.exact {
                Some(threshold) => prefix(&mut sketches.elements, threshold),
                None if sketches.elements.is_empty() => &[],
                None => &sketches.features[sketches.features.len() - self.groups..],
            };
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            features.append_value(bytes);
            sketches.elements.clear();
        }
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
        let mut columns = kept_columns(batch, self.text_at);
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
        columns.extend(added);
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}
