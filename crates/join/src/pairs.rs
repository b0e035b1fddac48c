//! From matches of distinct records to pairs of lines: equal sets are unfolded again, and the
//! best `n` pairs of each record can be kept.
//!
//! A record that stood on three lines and matches one that stood on two gives six pairs, and
//! its own three lines give three more (equal sets reach every threshold, except an overlap
//! larger than themselves).
//!
//! Cost: pairs go straight through to the sink; with `top`, at most `n` kept pairs a line.
//! Guarantee: pairs come in the same order for any number of threads; each pair comes once.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::algorithm::{Algorithm, Counters, JoinParams, Match, MatchSink};
use crate::collection::{Collection, Side};
use crate::error::JoinError;
use crate::measure::{Measure, PairSizes};

/// Two lines whose sets reach the threshold.
///
/// In a self join `left < right`; in a join of two files `left` is a line of the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// Line of the first file, or the earlier line.
    pub left: u32,
    /// Line of the second file, or the later line.
    pub right: u32,
    /// Tokens both have.
    pub overlap: u32,
    /// Size of the left set.
    pub left_size: u32,
    /// Size of the right set.
    pub right_size: u32,
}

impl Pair {
    /// The sizes as a measure wants them.
    #[must_use]
    pub fn sizes(&self, two_files: bool) -> PairSizes {
        if two_files || self.left_size <= self.right_size {
            PairSizes { reference: self.left_size, other: self.right_size }
        } else {
            PairSizes { reference: self.right_size, other: self.left_size }
        }
    }

    /// The value of the pair under a measure.
    #[must_use]
    pub fn value(&self, measure: Measure, two_files: bool) -> f64 {
        measure.value(self.overlap, self.sizes(two_files))
    }
}

/// Takes pairs as they are found.
pub trait PairSink: Send {
    /// Takes some pairs; `Break` stops the join.
    fn accept(&mut self, pairs: &[Pair]) -> ControlFlow<()>;
}

impl PairSink for Vec<Pair> {
    fn accept(&mut self, pairs: &[Pair]) -> ControlFlow<()> {
        self.extend_from_slice(pairs);
        ControlFlow::Continue(())
    }
}

/// Runs an algorithm and hands over pairs of lines; with `top`, only the best so many of each
/// line (of the first file, in a join of two files). Ties go to the earlier partner.
///
/// # Errors
/// [`JoinError::Stopped`] when the watcher or the sink asked for it.
pub fn join_pairs(
    algorithm: &dyn Algorithm,
    collection: &Collection,
    params: &JoinParams<'_>,
    top: Option<usize>,
    sink: &mut dyn PairSink,
) -> Result<Counters, JoinError> {
    let mut counters = Counters::default();
    let mut best = top.map(|count| BestPairs::new(count, params.measure, collection));
    let mut unfold = Unfold {
        collection,
        sink: match &mut best {
            Some(best) => best,
            None => &mut *sink,
        },
        pairs: Vec::new(),
    };
    unfold.equal_sets(params)?;
    algorithm.join(collection, params, &mut unfold, &mut counters)?;
    if let Some(best) = best {
        best.hand_over(sink)?;
    }
    Ok(counters)
}

struct Unfold<'a> {
    collection: &'a Collection,
    sink: &'a mut dyn PairSink,
    pairs: Vec<Pair>,
}

impl Unfold<'_> {
    /// Pairs among the lines of one record, where equal sets can pair at all.
    fn equal_sets(&mut self, params: &JoinParams<'_>) -> Result<(), JoinError> {
        if self.collection.has_two_sides() {
            return Ok(());
        }
        for group in self.collection.repeats().chunk_by(|one, two| one.0 == two.0) {
            let record = group[0].0;
            let size = self.collection.size(record);
            let sizes = PairSizes { reference: size, other: size };
            if params.measure.required_overlap(params.threshold, sizes) > size {
                continue;
            }
            let first = self.collection.line(record);
            let lines = std::iter::once(first).chain(group.iter().map(|&(_, line)| line));
            for (at, left) in lines.enumerate() {
                for &(_, right) in &group[at..] {
                    self.pairs.push(Pair {
                        left,
                        right,
                        overlap: size,
                        left_size: size,
                        right_size: size,
                    });
                }
                if self.flush().is_break() {
                    return Err(JoinError::Stopped);
                }
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> ControlFlow<()> {
        let flow = self.sink.accept(&self.pairs);
        self.pairs.clear();
        flow
    }

    fn unfold(&mut self, found: Match) {
        let Match { probe, indexed, overlap } = found;
        let collection = self.collection;
        let lines = |record: u32| {
            std::iter::once(collection.line(record))
                .chain(collection.repeats_of(record).iter().map(|&(_, line)| line))
        };
        let (probe_size, indexed_size) = (collection.size(probe), collection.size(indexed));
        let two_sides = collection.has_two_sides();
        for probe_line in lines(probe) {
            for indexed_line in lines(indexed) {
                let probe_is_left = if two_sides {
                    collection.side(probe) == Side::Left
                } else {
                    probe_line < indexed_line
                };
                let (left, left_size, right, right_size) = if probe_is_left {
                    (probe_line, probe_size, indexed_line, indexed_size)
                } else {
                    (indexed_line, indexed_size, probe_line, probe_size)
                };
                self.pairs.push(Pair { left, right, overlap, left_size, right_size });
            }
        }
    }
}

impl MatchSink for Unfold<'_> {
    fn accept(&mut self, matches: &[Match]) -> ControlFlow<()> {
        for &found in matches {
            self.unfold(found);
            if self.pairs.len() >= 4096 {
                self.flush()?;
            }
        }
        self.flush()
    }
}

/// The best pairs of each line seen so far.
struct BestPairs {
    count: usize,
    measure: Measure,
    two_files: bool,
    of_line: BTreeMap<u32, Vec<Pair>>,
}

impl BestPairs {
    fn new(count: usize, measure: Measure, collection: &Collection) -> Self {
        Self { count, measure, two_files: collection.has_two_sides(), of_line: BTreeMap::new() }
    }

    fn offer(&mut self, line: u32, pair: Pair) {
        let (measure, two_files) = (self.measure, self.two_files);
        let partner = |pair: &Pair| if pair.left == line { pair.right } else { pair.left };
        let order = |one: &Pair, two: &Pair| -> Ordering {
            let (one_value, two_value) =
                ((one.overlap, one.sizes(two_files)), (two.overlap, two.sizes(two_files)));
            measure.compare(two_value, one_value).then(partner(one).cmp(&partner(two)))
        };
        let kept = self.of_line.entry(line).or_default();
        let at = kept.partition_point(|other| order(other, &pair) == Ordering::Less);
        if at < self.count {
            kept.truncate(self.count - 1);
            kept.insert(at, pair);
        }
    }

    /// Each kept pair once: from its left line, or from its right line if the left dropped it.
    fn hand_over(self, sink: &mut dyn PairSink) -> Result<(), JoinError> {
        for (&line, kept) in &self.of_line {
            let once: Vec<Pair> = kept
                .iter()
                .filter(|pair| {
                    self.two_files
                        || pair.left == line
                        || !self.of_line.get(&pair.left).is_some_and(|left| left.contains(pair))
                })
                .copied()
                .collect();
            if sink.accept(&once).is_break() {
                return Err(JoinError::Stopped);
            }
        }
        Ok(())
    }
}

impl PairSink for BestPairs {
    fn accept(&mut self, pairs: &[Pair]) -> ControlFlow<()> {
        for &pair in pairs {
            self.offer(pair.left, pair);
            if !self.two_files {
                self.offer(pair.right, pair);
            }
        }
        ControlFlow::Continue(())
    }
}
