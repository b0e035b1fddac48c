//! Groups of candidates, each in keep order, to copies and their originals.
//!
//! A group goes through [`by_walking`] as a whole corpus does, or through the exact join where a run over
//! files would take it. Nothing outside a group shares a feature with anybody in it, so what comes out is
//! what a run over all documents gives.
//!
//! Cost: the sets of one group, in memory up to the limit and in a file without a name beyond it; the
//! comparisons of the local run. A text is unpacked, sketched and forgotten.

use std::num::NonZeroUsize;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use wonbon_documents::Unwatched;

use super::columns::{Bytes, flags, longs, schema_of};
use super::pack::Unpacker;
use super::{Batches, Step};
use crate::deciding::FamilyConfig;
use crate::error::ClusterError;
use crate::exact::exact_pairs;
use crate::families::{FamilyParams, PairSink, VerifiedPair, by_walking, from_pairs};
use crate::sets::SetsBuilder;
use crate::sketching::{Sketcher, Sketches};
use crate::walk::Buckets;

/// How a walk goes, beside what decides families.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WalkParams {
    /// Whether the groups are small enough, all together, for the exact join
    /// ([`FamilyConfig::exact_threshold`]).
    pub exact: Option<f64>,
    /// Whether every verified pair is given too.
    pub pairs: bool,
}

/// Takes `group`, `members` (how many documents the group has), `document`, `other` (of another corpus), `set`
/// and `packed`, one group after another, the documents of other corpora first and then in keep order. Gives `document`, `original`, `resemblance` and
/// `assigned`: true for a copy and its original, false for a verified pair, the later one first.
#[derive(Debug)]
pub struct Walk {
    config: FamilyConfig,
    params: WalkParams,
    groups: usize,
    sketcher: Sketcher,
    unpacker: Unpacker,
    /// The group that is being collected, and how many members it has.
    group: Option<(i64, i64)>,
    names: Vec<i64>,
    others: u32,
    sets: SetsBuilder,
    features: Vec<u64>,
    schema: SchemaRef,
}

/// What is said of pairs of documents, column by column.
#[derive(Default)]
struct Answers {
    documents: Vec<i64>,
    originals: Vec<i64>,
    resemblances: Vec<f64>,
    assigned: Vec<bool>,
}

impl Answers {
    fn push(&mut self, document: i64, original: i64, resemblance: f64, assigned: bool) {
        self.documents.push(document);
        self.originals.push(original);
        self.resemblances.push(resemblance);
        self.assigned.push(assigned);
    }
}

impl Walk {
    /// Walks by these parameters.
    ///
    /// # Errors
    ///
    /// If the rule is out of range.
    pub fn new(config: FamilyConfig, params: WalkParams) -> Result<Self, ClusterError> {
        let groups = config.rule.bands().bands;
        let long = DataType::Int64;
        Ok(Walk {
            sketcher: Sketcher::new(&config.feature_maker()?, groups, config.shingle_words),
            unpacker: Unpacker::new()?,
            sets: SetsBuilder::new(config.memory),
            config,
            params,
            groups,
            group: None,
            names: Vec::new(),
            others: 0,
            features: Vec::new(),
            schema: schema_of(&[
                ("document", long.clone()),
                ("original", long),
                ("resemblance", DataType::Float64),
                ("assigned", DataType::Boolean),
            ]),
        })
    }

    /// Decides the group that is complete.
    fn decide(&mut self, answers: &mut Answers) -> Result<(), ClusterError> {
        let names = std::mem::take(&mut self.names);
        if let Some((group, members)) = self.group.take()
            && members != names.len() as i64
        {
            return Err(ClusterError::DocumentsLost { group, wanted: members, found: names.len() });
        }
        let features = std::mem::take(&mut self.features);
        let sets = self.sets.finish()?;
        let count = sets.len();
        let params = FamilyParams {
            rule: self.config.rule,
            kind: self.config.family,
            others: std::mem::take(&mut self.others),
            threads: NonZeroUsize::MIN,
            progress: &Unwatched,
        };
        let mut pairs: Vec<VerifiedPair> = Vec::new();
        let sink = self.params.pairs.then_some(&mut pairs as &mut dyn PairSink);
        let families = if let Some(threshold) = self.params.exact {
            let memory = self.config.memory;
            let met = exact_pairs(&sets, count, threshold, params.threads, memory, &Unwatched)?;
            from_pairs(&sets, count, &met, params, sink)?
        } else {
            let buckets = Buckets::in_memory(&features, self.groups);
            by_walking(&sets, &buckets, count, params, sink)?
        };
        for (number, assignment) in families.verdicts.copies() {
            let original = names[assignment.original as usize];
            answers.push(names[number as usize], original, assignment.resemblance, true);
        }
        for VerifiedPair { one, other, resemblance } in pairs {
            answers.push(names[one as usize], names[other as usize], resemblance, false);
        }
        Ok(())
    }

    fn give(&self, answers: &mut Answers, out: &mut Batches) -> Result<(), ClusterError> {
        let Answers { documents, originals, resemblances, assigned } = std::mem::take(answers);
        if documents.is_empty() {
            return Ok(());
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(documents)),
            Arc::new(Int64Array::from(originals)),
            Arc::new(Float64Array::from(resemblances)),
            Arc::new(BooleanArray::from(assigned)),
        ];
        out.push_back(RecordBatch::try_new(self.schema(), columns)?);
        Ok(())
    }
}

impl Step for Walk {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn take(&mut self, batch: &RecordBatch, out: &mut Batches) -> Result<(), ClusterError> {
        let (groups, names) = (longs(batch, "group")?, longs(batch, "document")?);
        let members = longs(batch, "members")?;
        let (sets, packed) = (Bytes::of(batch, "set")?, Bytes::of(batch, "packed")?);
        let other = flags(batch, "other")?;
        let mut answers = Answers::default();
        let mut sketches = Sketches::default();
        for row in 0..batch.num_rows() {
            let (group, name) = (groups.value(row), names.value(row));
            if self.group.is_none_or(|(current, _)| current != group) {
                self.decide(&mut answers)?;
                self.group = Some((group, members.value(row)));
            }
            let changed = || ClusterError::DocumentChanged { document: name };
            let text = self.unpacker.text(packed.get(row)).ok_or_else(changed)?;
            self.sketcher.add(text.as_bytes(), text, &mut sketches);
            let set = sketches.set.pop().unwrap_or_default();
            if set == 0 || set.to_be_bytes() != sets.get(row) {
                return Err(changed());
            }
            if other.is_valid(row) && other.value(row) {
                self.others += 1;
            }
            self.names.push(name);
            self.sets.push(&sketches.elements)?;
            self.features.append(&mut sketches.features);
            sketches.elements.clear();
            sketches.bytes.clear();
            sketches.normal.clear();
            sketches.shingles.clear();
        }
        self.give(&mut answers, out)
    }

    fn finish(&mut self, out: &mut Batches) -> Result<(), ClusterError> {
        let mut answers = Answers::default();
        self.decide(&mut answers)?;
        self.give(&mut answers, out)
    }
}
