//! How many documents the store has.
//!
//! Counting scans every row, 20 ms for 100,000 documents, and monitoring asks every few seconds. So counts are cached until
//! something changes, and in large stores for some time after that.

use std::time::{Duration, Instant};

use wonbon_time::Timestamp;

use crate::error::StoreError;
use crate::tables::Reading;

/// From this many documents on, a count is cached for up to this many times as long as counting took.
const MANY: u64 = 20_000;
const OLD: u32 = 20;

/// What a store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All documents.
    pub documents: u64,
    /// Of them originals.
    pub originals: u64,
    /// Of them copies of any kind.
    pub copies: u64,
    /// Of them without words.
    pub empty: u64,
    /// Earlier versions that are kept.
    pub old_versions: u64,
    /// Sweeps that were added.
    pub sweeps: u64,
    /// The date of the latest.
    pub latest_sweep: Option<Timestamp>,
    /// Documents that are watched.
    pub watched: u64,
}

/// Documents that were counted, if they were.
#[derive(Default)]
pub(crate) struct Counted {
    last: Option<Last>,
}

struct Last {
    counts: Counts,
    /// The last change that was counted, when that was, and how long it took.
    change: u64,
    at: Instant,
    took: Duration,
}

impl Counted {
    /// The documents and old versions; [`Database::count_others`] counts the rest.
    pub(crate) fn counts(&mut self, database: &dyn Reading) -> Result<Counts, StoreError> {
        let change = database.last_change()?.0;
        if let Some(last) = self.last.as_ref().filter(|last| last.serves(change)) {
            return Ok(last.counts);
        }
        let at = Instant::now();
        let counts = database.count_documents()?;
        self.last = Some(Last { counts, change, at, took: at.elapsed() });
        Ok(counts)
    }
}

impl Last {
    /// Whether it serves when this is the last change.
    fn serves(&self, change: u64) -> bool {
        let is_young = self.counts.documents >= MANY && self.at.elapsed() < OLD * self.took;
        self.change == change || is_young
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_documents_are_not_counted_at_every_change() {
        let seconds = Duration::from_secs;
        let last = |documents, before| Last {
            counts: Counts { documents, ..Counts::default() },
            change: 7,
            at: Instant::now().checked_sub(before).unwrap(),
            took: seconds(1),
        };
        assert!(last(MANY, seconds(0)).serves(8));
        assert!(!last(MANY, seconds(21)).serves(8), "too old");
        assert!(!last(MANY - 1, seconds(0)).serves(8), "soon counted");
        assert!(last(1, seconds(1000)).serves(7), "nothing changed");
    }
}
