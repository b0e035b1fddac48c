//! What all algorithms have in common: one trait, what they count, where matches go.

use std::fmt;
use std::ops::ControlFlow;

use wonbon_progress::{Progress, Unwatched};

use crate::collection::Collection;
use crate::error::JoinError;
use crate::measure::Measure;
use crate::threshold::Threshold;
use crate::{auto, papers};

/// What is asked of a join.
#[derive(Clone, Copy)]
pub struct JoinParams<'a> {
    /// How sets are compared.
    pub measure: Measure,
    /// The least value of a pair.
    pub threshold: Threshold,
    /// Threads for `auto`; the paper's algorithms use one. Never changes the result.
    pub threads: usize,
    /// Bytes that `auto` may use for its index, above which it joins one block of sizes after
    /// the other. Never changes the result.
    pub index_bytes: u64,
    /// Hears how far the join is and may stop it.
    pub progress: &'a dyn Progress,
}

impl<'a> JoinParams<'a> {
    /// Parameters with one thread, no memory limit and nobody watching.
    ///
    /// # Errors
    /// A threshold that the measure cannot have.
    pub fn new(measure: Measure, threshold: Threshold) -> Result<JoinParams<'a>, JoinError> {
        measure.check(threshold)?;
        Ok(Self { measure, threshold, threads: 1, index_bytes: u64::MAX, progress: &Unwatched })
    }

    /// The same with this many threads.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }
}

impl fmt::Debug for JoinParams<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinParams")
            .field("measure", &self.measure)
            .field("threshold", &self.threshold)
            .field("threads", &self.threads)
            .field("index_bytes", &self.index_bytes)
            .finish_non_exhaustive()
    }
}

/// What a join did, as in Table 2 of the paper.
///
/// A *comparison* is a posting that reached the step deciding whether its record becomes a
/// candidate: postings outside the size window or removed before that step do not count. In
/// `auto` a comparison is a signature looked at. A *candidate* is a pair whose tokens were
/// compared. A *result* is a pair of distinct sets that reaches the threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Postings (or signatures) looked at.
    pub comparisons: u64,
    /// Pairs verified.
    pub candidates: u64,
    /// Pairs of distinct sets found.
    pub results: u64,
    /// Postings in the index, all blocks together.
    pub postings: u64,
}

impl Counters {
    /// Adds what another part of the same join counted.
    pub fn add(&mut self, other: Counters) {
        self.comparisons += other.comparisons;
        self.candidates += other.candidates;
        self.results += other.results;
        self.postings += other.postings;
    }
}

/// Two records of a collection that reach the threshold; `indexed` comes before `probe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// The later record in the collection's order (the larger, or as large).
    pub probe: u32,
    /// The earlier record.
    pub indexed: u32,
    /// Tokens they share.
    pub overlap: u32,
}

/// Takes matches as they are found. The order is the same for any number of threads.
pub trait MatchSink: Send {
    /// Takes some matches; `Break` stops the join.
    fn accept(&mut self, matches: &[Match]) -> ControlFlow<()>;
}

impl MatchSink for Vec<Match> {
    fn accept(&mut self, matches: &[Match]) -> ControlFlow<()> {
        self.extend_from_slice(matches);
        ControlFlow::Continue(())
    }
}

/// One way to find all matches of a collection.
pub trait Algorithm: Sync {
    /// The name used in flags and tables.
    fn name(&self) -> &'static str;

    /// Finds every pair of distinct records that reaches the threshold, each once.
    ///
    /// # Errors
    /// [`JoinError::Stopped`] when the watcher or the sink asked for it.
    fn join(
        &self,
        collection: &Collection,
        params: &JoinParams<'_>,
        sink: &mut dyn MatchSink,
        counters: &mut Counters,
    ) -> Result<(), JoinError>;
}

/// Every algorithm: the fast one, then the paper's by age.
#[must_use]
pub fn algorithms() -> [&'static dyn Algorithm; 6] {
    [
        &auto::AUTO,
        &papers::AllPairs,
        &papers::PpJoin,
        &papers::PpJoinPlus,
        &papers::MpJoin,
        &papers::ApJoin,
    ]
}

/// The algorithm of this name.
#[must_use]
pub fn algorithm(name: &str) -> Option<&'static dyn Algorithm> {
    algorithms().into_iter().find(|algorithm| algorithm.name() == name)
}
