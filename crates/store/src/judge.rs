//! One document against the originals: the decision itself.
//!
//! Of the originals created before the document that the rule accepts, the one most like it is its
//! original: the highest resemblance, or under a rule of features the most that agree; ties go to the
//! earliest. Originals created after it that the rule accepts are told too: they lose their place if
//! this document becomes an original. A document that a person decided about is an original in any case
//! (see `decisions`); whoever was decided to be the original stands before all who were not.
//!
//! Batch deduplication decides alike, so that the two roads agree document for document.
//!
//! Cost: one question to the index, 3 to 6 microseconds; a row read for every match; under a
//! threshold also the match's text, shingled again unless it was asked for lately.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use wonbon_index::{CopyIndex, MemoryIndex, Row};
use wonbon_sketch::ElementSet;

use crate::database::{Database, Record, Standing};
use crate::decisions::Decision;
use crate::document::{Kind, Order};
use crate::error::StoreError;
use crate::prepare::{Names, Preparer};
use crate::rule::Rule;

/// What is asked about: a document, stored or not.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) order: Order,
    /// What was decided of it.
    pub(crate) decision: Option<Decision>,
    pub(crate) names: Names,
    pub(crate) features: &'a [u64],
    /// The shingles, where they are at hand; otherwise they are read from the store.
    pub(crate) shingles: Option<&'a Arc<ElementSet>>,
}

impl<'a> Asked<'a> {
    pub(crate) fn stored(record: &'a Record) -> Self {
        Asked {
            order: record.order(),
            decision: record.decision,
            names: record.names,
            features: &record.features,
            shingles: None,
        }
    }
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) standing: Standing,
    /// Originals after it that the rule accepts.
    pub(crate) later: Vec<Order>,
    /// Of them those that stay originals whatever stands before them, and are no more like their own
    /// copies with the same shingles than this document is.
    pub(crate) rivals: Vec<Row>,
}

/// What the decision needs of a store.
pub(crate) struct Judge<'a> {
    pub(crate) database: &'a Database,
    pub(crate) index: &'a RwLock<MemoryIndex>,
    pub(crate) rule: Rule,
    pub(crate) preparer: &'a Preparer,
}

/// How alike two documents are, by what the rule looks at.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Likeness(f64);

impl Judge<'_> {
    /// Judges a document.
    pub(crate) fn judge(
        &self,
        asked: &Asked<'_>,
        shingles: &mut ShingleCache,
    ) -> Result<Judgement, StoreError> {
        if asked.features.is_empty() {
            let standing = Standing::alone(Kind::Empty);
            return Ok(Judgement { standing, later: Vec::new(), rivals: Vec::new() });
        }
        let matches = self.index.read().expect("no one panics with it").matches(asked.features)?;
        let mut best: Option<(Likeness, Reverse<Order>, Standing)> = None;
        let (mut later, mut rivals) = (Vec::new(), Vec::new());
        let mut own = asked.shingles.cloned();
        for found in matches {
            if found.row == asked.order.row {
                continue;
            }
            // Not there: its commit is under way, or was taken back. It is no original yet.
            let Some(original) = self.database.record(found.row)? else { continue };
            if original.standing.kind != Kind::Original {
                continue;
            }
            let order = original.order();
            if asked.decision.is_some() && order < asked.order {
                continue;
            }
            let (likeness, resemblance) = match self.rule {
                Rule::Features(_) => (Likeness(found.agreeing as f64), None),
                Rule::Threshold(threshold) => {
                    let same = original.names.shingle_set == asked.names.shingle_set;
                    let resemblance = if same {
                        1.0
                    } else {
                        let own = match &own {
                            Some(own) => own,
                            None => own.insert(shingles.of(self, asked.order.row)?),
                        };
                        own.resemblance(&*shingles.of(self, found.row)?)
                    };
                    if resemblance < threshold {
                        continue;
                    }
                    (Likeness(resemblance), Some(resemblance))
                }
            };
            if order > asked.order {
                let most = match self.rule {
                    Rule::Features(_) => asked.features.len() as f64,
                    Rule::Threshold(_) => 1.0,
                };
                if original.decision.is_some() && likeness >= Likeness(most) {
                    rivals.push(found.row);
                }
                later.push(order);
                continue;
            }
            if best.as_ref().is_none_or(|(known, by, _)| (likeness, Reverse(order)) > (*known, *by))
            {
                let standing = Standing {
                    kind: kind_of_copy(asked.names, original.names),
                    original: Some(found.row),
                    features_equal: Some(found.agreeing),
                    resemblance,
                };
                best = Some((likeness, Reverse(order), standing));
            }
        }
        let standing = best.map_or(Standing::alone(Kind::Original), |(_, _, standing)| standing);
        Ok(Judgement { standing, later, rivals })
    }

    /// The shingle set of a stored document.
    pub(crate) fn stored_shingles(&self, row: Row) -> Result<ElementSet, StoreError> {
        Ok(self.preparer.shingles(&self.database.text(row)?).0)
    }
}

fn kind_of_copy(names: Names, original: Names) -> Kind {
    if names.content == original.content {
        Kind::Identical
    } else if names.text == original.text {
        Kind::SameText
    } else if names.shingle_set == original.shingle_set {
        Kind::SameShingles
    } else {
        Kind::Copy
    }
}

/// Shingle sets asked for lately, up to a number of shingles.
#[derive(Debug, Default)]
pub(crate) struct ShingleCache {
    sets: HashMap<Row, Arc<ElementSet>>,
    shingles: usize,
}

/// 32 MB of shingles.
const MOST_CACHED_SHINGLES: usize = 4 << 20;

impl ShingleCache {
    fn of(&mut self, judge: &Judge<'_>, row: Row) -> Result<Arc<ElementSet>, StoreError> {
        if let Some(set) = self.sets.get(&row) {
            return Ok(set.clone());
        }
        let set = Arc::new(judge.stored_shingles(row)?);
        self.put(row, set.clone());
        Ok(set)
    }

    /// Remembers a set. When there are too many, all are forgotten: what is asked for again comes
    /// back at once.
    pub(crate) fn put(&mut self, row: Row, set: Arc<ElementSet>) {
        if self.shingles + set.len() > MOST_CACHED_SHINGLES {
            self.clear();
        }
        self.shingles += set.len();
        self.sets.insert(row, set);
    }

    /// Forgets what a document was.
    pub(crate) fn remove(&mut self, row: Row) {
        if let Some(set) = self.sets.remove(&row) {
            self.shingles -= set.len();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.sets.clear();
        self.shingles = 0;
    }
}
