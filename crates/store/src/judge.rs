//! The decision: compares one document with the originals.
//!
//! Among the originals created before the document that the rule accepts, its original is the one most like it: the one
//! with the highest resemblance or, under a rule of features, with the most agreeing features. Ties go to the earliest.
//! Originals created after the document that the rule accepts are returned too: they lose their place if this document
//! becomes an original. A document about which a person decided is an original in any case (see `decisions`), and documents
//! decided to be the original come before all others.
//!
//! Batch deduplication decides in the same way, so that store and batch agree on every document.
//!
//! Cost: one query of the index, 3 to 6 microseconds; for every candidate a row, and its text, which is shingled again
//! unless its shingles are cached. At most [`MOST_CANDIDATES`] are verified, and of long texts fewer:
//! [`MOST_WORDS`].

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use wonbon_index::{Closest, Row};
use wonbon_sketch::ElementSet;

use crate::decisions::Decision;
use crate::document::Order;
use crate::error::StoreError;
use crate::prepare::Preparer;
use crate::tables::{Reading, Record, Standing};
use wonbon_rule::{Fingerprints, Kind, Rule};

/// How many originals one document is compared with at most, those that agree with it in most features
/// first. Honest documents have a few candidates; pages made from one template have thousands, and
/// verifying 256 of 2 kB takes about 4 ms.
pub(crate) const MOST_CANDIDATES: usize = 256;

/// How many words are read to verify candidates, about 600 kB of text or 5 ms, once
/// [`LEAST_CANDIDATES`] were verified: pages of one template may be long, too.
const MOST_WORDS: u64 = 100_000;

/// How many candidates are verified however long they are. A copy agrees with its original in nearly all
/// features, so it is among the first.
const LEAST_CANDIDATES: usize = 16;

/// What is asked about: a document, stored or not.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) order: Order,
    /// What was decided of it.
    pub(crate) decision: Option<Decision>,
    pub(crate) fingerprints: Fingerprints,
    pub(crate) features: &'a [u64],
    /// The shingles if they are in memory; otherwise they are read from the store.
    pub(crate) shingles: Option<&'a Arc<ElementSet>>,
}

impl<'a> Asked<'a> {
    pub(crate) fn stored(record: &'a Record) -> Self {
        Asked {
            order: record.order(),
            decision: record.decision,
            fingerprints: record.fingerprints,
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
    /// Whether candidates were left unverified.
    pub(crate) stopped_early: bool,
}

/// What the decision needs of a store.
pub(crate) struct Judge<'a> {
    pub(crate) database: &'a dyn Reading,
    pub(crate) rule: Rule,
    pub(crate) preparer: &'a Preparer,
}

/// How alike two documents are, by what the rule looks at.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Likeness(f64);

impl Judge<'_> {
    /// Judges a document by the originals that agree with it most.
    pub(crate) fn judge(
        &self,
        candidates: Closest,
        asked: &Asked<'_>,
        shingles: &mut ShingleCache,
    ) -> Result<Judgement, StoreError> {
        let mut judgement = Judgement {
            standing: Standing::alone(Kind::Original),
            later: Vec::new(),
            rivals: Vec::new(),
            stopped_early: !candidates.complete,
        };
        if asked.features.is_empty() {
            judgement.standing = Standing::alone(Kind::Empty);
            return Ok(judgement);
        }
        let mut best: Option<(Likeness, Reverse<Order>)> = None;
        let mut own = asked.shingles.cloned();
        let (mut verified, mut words_read) = (0, 0);
        for found in candidates.matches {
            if found.row == asked.order.row {
                continue;
            }
            // Not there any more in the state that is read.
            let Some(original) = self.database.record(found.row)? else { continue };
            if original.standing.kind != Kind::Original {
                continue;
            }
            // The index may also have what it was before an edit that is under way.
            let same = original.features.iter().zip(asked.features).filter(|(one, two)| one == two);
            if same.count() != found.agreeing {
                continue;
            }
            let order = original.order();
            if asked.decision.is_some() && order < asked.order {
                continue;
            }
            let resemblance = if original.fingerprints.shingle_set == asked.fingerprints.shingle_set
            {
                Some(1.0)
            } else if self.rule.least_resemblance() > 0.0 {
                if verified >= LEAST_CANDIDATES && words_read + original.words > MOST_WORDS {
                    judgement.stopped_early = true;
                    continue;
                }
                verified += 1;
                words_read += original.words;
                match shingles.known(found.row, asked.fingerprints.shingle_set) {
                    Some(known) => Some(known),
                    None => {
                        let own = match &own {
                            Some(own) => own,
                            None => own.insert(shingles.of(self, asked.order.row)?),
                        };
                        Some(own.resemblance(&*shingles.of(self, found.row)?))
                    }
                }
            } else {
                None
            };
            if !self.rule.makes_a_copy(resemblance.unwrap_or(0.0), found.agreeing) {
                continue;
            }
            let (likeness, most) = match self.rule {
                Rule::Threshold(_) => (Likeness(resemblance.unwrap_or(0.0)), Likeness(1.0)),
                Rule::Features { .. } => {
                    (Likeness(found.agreeing as f64), Likeness(asked.features.len() as f64))
                }
            };
            if order > asked.order {
                if original.decision.is_some() && likeness >= most {
                    judgement.rivals.push(found.row);
                }
                judgement.later.push(order);
                continue;
            }
            if best.is_none_or(|best| (likeness, Reverse(order)) > best) {
                best = Some((likeness, Reverse(order)));
                judgement.standing = Standing {
                    kind: Kind::of_copy(&asked.fingerprints, &original.fingerprints),
                    original: Some(found.row),
                    features_equal: Some(found.agreeing),
                    resemblance,
                };
            }
        }
        Ok(judgement)
    }

    /// The shingle set of a stored document.
    pub(crate) fn stored_shingles(&self, row: Row) -> Result<ElementSet, StoreError> {
        Ok(self.preparer.shingles(&self.database.text(row)?).0)
    }
}

/// The resemblances of one document to others, by the fingerprints of their shingle sets.
pub(crate) type KnownResemblances = HashMap<u64, f64>;

/// A cache of recently used shingle sets, bounded by its number of shingles.
#[derive(Debug, Default)]
pub(crate) struct ShingleCache {
    sets: HashMap<Row, Arc<ElementSet>>,
    shingles: usize,
    /// What was compared with a document before it is decided.
    known: Option<(Row, Arc<KnownResemblances>)>,
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

    /// Uses what was compared with a document, instead of reading texts.
    pub(crate) fn know(&mut self, known: Option<(Row, Arc<KnownResemblances>)>) {
        self.known = known;
    }

    /// The resemblance of a document to the set of this fingerprint, if it was computed before.
    fn known(&self, row: Row, set: u64) -> Option<f64> {
        let (of, known) = self.known.as_ref()?;
        (*of == row).then(|| known.get(&set).copied()).flatten()
    }

    /// Remembers a set. When there are too many, all are forgotten: what is asked for again comes
    /// back at once.
    pub(crate) fn put(&mut self, row: Row, set: Arc<ElementSet>) {
        if self.shingles + set.len() > MOST_CACHED_SHINGLES {
            self.sets.clear();
            self.shingles = 0;
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
        self.known = None;
    }
}
