//! Pairs with their texts to exact resemblances.
//!
//! The rows of one earlier document come together: first itself, then everybody who is compared with it. So a
//! text is sketched once as the earlier one of its pairs, and once for each pair as the later one.
//!
//! Cost: two sets in memory.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use wonbon_sketch::Distinct;

use super::columns::{Bytes, longs, schema_of};
use super::pack::Unpacker;
use super::{Batches, Step};
use crate::deciding::FamilyConfig;
use crate::error::ClusterError;
use crate::sketching::{Sketcher, Sketches};

/// Takes `earlier`, `later` (less than 0 for the earlier document itself, which comes first) and `packed`.
/// Gives `later`, `earlier`, `resemblance`, `agreeing` (features that agree) and `similar`: whether the rule
/// makes one the copy of the other.
#[derive(Debug)]
pub struct Verify {
    config: FamilyConfig,
    sketcher: Sketcher,
    unpacker: Unpacker,
    earlier: Option<i64>,
    distinct: Distinct,
    set: Vec<u64>,
    features: Vec<u64>,
    schema: SchemaRef,
}

impl Verify {
    /// Compares by these parameters.
    ///
    /// # Errors
    ///
    /// If the rule is out of range.
    pub fn new(config: FamilyConfig) -> Result<Self, ClusterError> {
        let groups = config.rule.bands().bands;
        Ok(Verify {
            sketcher: Sketcher::new(&config.feature_maker()?, groups, config.shingle_words),
            unpacker: Unpacker::new()?,
            config,
            earlier: None,
            distinct: Distinct::default(),
            set: Vec::new(),
            features: Vec::new(),
            schema: schema_of(&[
                ("later", DataType::Int64),
                ("earlier", DataType::Int64),
                ("resemblance", DataType::Float64),
                ("agreeing", DataType::Int64),
                ("similar", DataType::Boolean),
            ]),
        })
    }
}

impl Step for Verify {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (earlier, later) = (longs(batch, "earlier")?, longs(batch, "later")?);
        let packed = Bytes::of(batch, "packed")?;
        let rule = self.config.rule;
        let (mut laters, mut earliers, mut agreements) = (Vec::new(), Vec::new(), Vec::new());
        let (mut resemblances, mut similar) = (Vec::new(), Vec::new());
        let mut sketches = Sketches::default();
        for row in 0..batch.num_rows() {
            let (one, other) = (earlier.value(row), later.value(row));
            let text = self.unpacker.text(packed.get(row));
            let text = text.ok_or(ClusterError::DocumentChanged { document: other.max(one) })?;
            sketches.elements.clear();
            sketches.features.clear();
            self.sketcher.add(text.as_bytes(), text, &mut sketches);
            if other < 0 {
                self.earlier = Some(one);
                self.set.clear();
                self.distinct.start(&self.set, sketches.elements.len());
                self.distinct.add(&sketches.elements, &mut self.set);
                self.features.clone_from(&sketches.features);
                continue;
            }
            if self.earlier != Some(one) {
                return Err(ClusterError::DocumentsLost { group: one, wanted: 1, found: 0 });
            }
            let shared = self.distinct.count_shared(&self.set, &sketches.elements);
            let united = self.set.len() + sketches.elements.len() - shared;
            let agreeing =
                self.features.iter().zip(&sketches.features).filter(|(a, b)| a == b).count();
            let resemblance = shared as f64 / united as f64;
            laters.push(other);
            earliers.push(one);
            agreements.push(agreeing as i64);
            resemblances.push(resemblance);
            similar.push(rule.makes_a_copy(resemblance, agreeing));
        }
        if laters.is_empty() {
            return Ok(());
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(laters)),
            Arc::new(Int64Array::from(earliers)),
            Arc::new(Float64Array::from(resemblances)),
            Arc::new(Int64Array::from(agreements)),
            Arc::new(BooleanArray::from(similar)),
        ];
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}
