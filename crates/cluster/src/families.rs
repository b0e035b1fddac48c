//! Families: an original and its copies.
//!
//! **Star** (the default): a document is a copy of the original it resembles most, if their resemblance reaches the
//! threshold; otherwise it is an original. A store decides the same when the documents are added one at a time in keep
//! order. Star families prevent chains of similar documents, such as licences (A resembles B, B resembles C), from taking
//! in half a corpus. Ties go to the earliest original.
//!
//! **Linked**: connected components of all pairs. The original is the first document in keep order, and the resemblance
//! of a copy to it may be far below the threshold.
//!
//! Under a rule of features a copy belongs to the original it agrees with in most features; ties go
//! to the earliest. The reported resemblance is exact nevertheless, and at least the floor of the rule.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

use wonbon_documents::Progress;
use wonbon_rule::Rule;

use crate::assignments::{Assignment, Assignments, AssignmentsBuilder};
use crate::columns::{Column, ColumnWriter, Mark};
use crate::error::ClusterError;
use crate::sets::Sets;
use crate::union_find::UnionFind;
use crate::walk::{Buckets, Comparer, Met, Walk};

/// How copies are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FamilyKind {
    /// Every copy reaches the threshold to its original.
    #[default]
    Star,
    /// Connected components.
    Linked,
}

impl fmt::Display for FamilyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FamilyKind::Star => "star",
            FamilyKind::Linked => "linked",
        })
    }
}

/// The text names no kind of family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write star or linked")]
pub struct NotAFamilyKind;

impl FromStr for FamilyKind {
    type Err = NotAFamilyKind;

    fn from_str(text: &str) -> Result<Self, NotAFamilyKind> {
        match text {
            "star" => Ok(FamilyKind::Star),
            "linked" => Ok(FamilyKind::Linked),
            _ => Err(NotAFamilyKind),
        }
    }
}

/// Two representatives at or above the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifiedPair {
    /// The later one.
    pub one: u32,
    /// The earlier one.
    pub other: u32,
    /// Their exact resemblance.
    pub resemblance: f64,
}

/// Takes verified pairs as they are found.
pub trait PairSink {
    /// Takes a pair.
    ///
    /// # Errors
    ///
    /// If it cannot be kept.
    fn push(&mut self, pair: VerifiedPair) -> Result<(), ClusterError>;
}

impl PairSink for Vec<VerifiedPair> {
    fn push(&mut self, pair: VerifiedPair) -> Result<(), ClusterError> {
        Vec::push(self, pair);
        Ok(())
    }
}

/// Notes pairs in a file as they are found.
#[derive(Debug)]
pub struct PairWriter(ColumnWriter<u64>);

impl PairWriter {
    /// Starts a file of pairs.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn create(path: &Path) -> Result<Self, ClusterError> {
        Ok(PairWriter(ColumnWriter::open(path.to_owned(), Mark::default())?))
    }

    /// Everything reaches the system.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<(), ClusterError> {
        self.0.flush().map(|_| ())
    }

    /// Calls `each` with every pair of a file, in order.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or the first error of `each`.
    pub fn read(
        path: &Path,
        mut each: impl FnMut(VerifiedPair) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        let mut numbers = 0;
        Column::<u64>::open(path.to_owned())?.for_each(|place, value| {
            if place % 2 == 0 {
                numbers = value;
                return Ok(());
            }
            let (one, other) = ((numbers >> 32) as u32, numbers as u32);
            each(VerifiedPair { one, other, resemblance: f64::from_bits(value) })
        })
    }
}

impl PairSink for PairWriter {
    fn push(&mut self, pair: VerifiedPair) -> Result<(), ClusterError> {
        let numbers = u64::from(pair.one) << 32 | u64::from(pair.other);
        self.0.extend(&[numbers, pair.resemblance.to_bits()])
    }
}

/// How families are found.
#[derive(Clone, Copy)]
pub struct FamilyParams<'a> {
    /// What makes a copy.
    pub rule: Rule,
    /// How copies are put together.
    pub kind: FamilyKind,
    /// The first so many representatives are never copies.
    pub others: u32,
    /// Threads.
    pub threads: NonZeroUsize,
    /// Progress and cancellation.
    pub progress: &'a dyn Progress,
}

/// What is being decided.
struct Deciding<'a> {
    verdicts: AssignmentsBuilder,
    components: Option<UnionFind>,
    pairs: Option<&'a mut dyn PairSink>,
    others: u32,
    rule: Rule,
}

impl Deciding<'_> {
    /// Takes the findings for one representative; returns whether it is an original so far.
    fn take(&mut self, who: u32, met: &[Met]) -> Result<bool, ClusterError> {
        if let Some(pairs) = &mut self.pairs {
            for met in met {
                let (other, resemblance) = (met.other, met.resemblance());
                pairs.push(VerifiedPair { one: who, other, resemblance })?;
            }
        }
        if let Some(components) = &mut self.components {
            met.iter().for_each(|met| {
                components.join(who, met.other);
            });
            return Ok(false);
        }
        let better = |one: &Met, other: &Met| match self.rule {
            Rule::Threshold(_) => one.resembles_more(other),
            Rule::Features { .. } => one.agreeing > other.agreeing,
        };
        // Earlier ones come first, so that only a better one takes the place.
        let mut best: Option<&Met> = None;
        for met in met {
            let is_original = self.verdicts.is_original(met.other);
            if is_original && best.is_none_or(|best| better(met, best)) {
                best = Some(met);
            }
        }
        if let Some(best) = best.filter(|_| who >= self.others) {
            let resemblance = best.resemblance();
            self.verdicts.assign(who, Assignment { original: best.other, resemblance });
            return Ok(false);
        }
        Ok(true)
    }
}

/// What was found and what it cost.
#[derive(Debug)]
pub struct Families {
    /// Which original each representative belongs to.
    pub verdicts: Assignments,
    /// Pairs whose sets were compared.
    pub compared: u64,
}

/// Finds families by walking over buckets. Every verified pair goes to `pairs`, if there is one.
///
/// # Errors
///
/// If sets cannot be read, or the watcher asked to stop.
pub fn by_walking(
    sets: &Sets,
    buckets: &Buckets,
    count: u32,
    params: FamilyParams<'_>,
    pairs: Option<&mut dyn PairSink>,
) -> Result<Families, ClusterError> {
    let FamilyParams { rule, kind, others, threads, progress } = params;
    let all_pairs = pairs.is_some();
    let linked = kind == FamilyKind::Linked;
    let mut deciding = Deciding {
        verdicts: AssignmentsBuilder::new(count),
        components: linked.then(|| UnionFind::new(count)),
        pairs,
        others,
        rule,
    };
    let walk = Walk { sets, buckets, rule, others, threads, progress };
    let compared = walk.run(
        &mut deciding,
        |deciding, who, other| match &mut deciding.components {
            // Two that hang together already need no further proof.
            Some(components) if !all_pairs => components.root(who) != components.root(other),
            _ => true,
        },
        |deciding, who, met| Ok(deciding.take(who, met)? || all_pairs || linked),
    )?;
    finish(sets, count, deciding, compared)
}

/// Finds families from pairs that are known, in any order.
///
/// # Errors
///
/// If sets cannot be read.
pub fn from_pairs(
    sets: &Sets,
    count: u32,
    met: &[(u32, Met)],
    params: FamilyParams<'_>,
    pairs: Option<&mut dyn PairSink>,
) -> Result<Families, ClusterError> {
    let FamilyParams { rule, kind, others, .. } = params;
    let mut deciding = Deciding {
        verdicts: AssignmentsBuilder::new(count),
        components: (kind == FamilyKind::Linked).then(|| UnionFind::new(count)),
        pairs,
        others,
        rule,
    };
    let mut sorted: Vec<(u32, Met)> = met.to_vec();
    sorted.sort_unstable_by_key(|(who, met)| (*who, met.other));
    let mut found = Vec::new();
    for group in sorted.chunk_by(|one, other| one.0 == other.0) {
        found.clear();
        found.extend(group.iter().map(|(_, met)| *met));
        deciding.take(group[0].0, &found)?;
    }
    finish(sets, count, deciding, met.len() as u64)
}

fn finish(
    sets: &Sets,
    count: u32,
    mut deciding: Deciding<'_>,
    compared: u64,
) -> Result<Families, ClusterError> {
    if let Some(mut components) = deciding.components.take() {
        let mut comparer = Comparer::default();
        let mut by_root: Vec<(u32, u32)> = (deciding.others..count)
            .map(|who| (components.root(who), who))
            .filter(|(root, who)| root != who)
            .collect();
        by_root.sort_unstable();
        let mut copies = Vec::with_capacity(by_root.len());
        for (original, who) in by_root {
            let resemblance = comparer.compare(sets, original, who)?.resemblance();
            copies.push((who, Assignment { original, resemblance }));
        }
        copies.sort_unstable_by_key(|&(who, _)| who);
        copies.into_iter().for_each(|(who, to)| deciding.verdicts.assign(who, to));
    }
    Ok(Families { verdicts: deciding.verdicts.finish(), compared })
}
