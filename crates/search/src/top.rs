//! The best of all that match, in an order that never changes between pages.
//!
//! Why not the collector that comes with tantivy: it breaks ties by where a document happens to lie, and
//! skips documents that cannot reach the page, which changes how sums of scores are rounded. Here every
//! match is scored the same way and counted, so a page is a cut out of one order and the total is exact.
//!
//! Cost: every match is scored once; memory for as many candidates as the page is deep. The clock is
//! looked at every few thousand matches, so that no query takes much longer than it may; what a query
//! will cost, as the engine tells it, is looked at before each segment.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::ColumnValues;
use tantivy::query::Weight;
use tantivy::{DocId, DocSet, Score, SegmentOrdinal, SegmentReader, TERMINATED, TantivyError};

use crate::schema::{CREATED, ROW};

/// A match; the greater comes first: by score, then the newer, then the smaller row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub score: f32,
    pub created: i64,
    pub row: u32,
}

impl Candidate {
    fn key(&self) -> (i64, Reverse<u32>) {
        (self.created, Reverse(self.row))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.key().cmp(&other.key()))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// What of a segment's documents decides between equal scores, opened once for all queries.
#[derive(Clone)]
pub(crate) struct Columns {
    rows: Arc<dyn ColumnValues<u64>>,
    created: Arc<dyn ColumnValues<i64>>,
}

impl Columns {
    pub(crate) fn of(segment: &SegmentReader) -> tantivy::Result<Columns> {
        let columns = segment.fast_fields();
        Ok(Columns {
            rows: columns.u64(ROW)?.first_or_default_col(0),
            created: columns.i64(CREATED)?.first_or_default_col(0),
        })
    }
}

/// Collects the best `depth` matches, best first, and counts all.
pub(crate) struct Top<'a> {
    pub depth: usize,
    pub ranked: bool,
    /// When it gives up.
    pub deadline: Instant,
    /// How many documents it looks at before it gives up, as the engine counts them beforehand.
    pub most_documents: u64,
    /// How many it was to look at so far.
    pub documents: AtomicU64,
    /// Those of every segment.
    pub columns: &'a [Columns],
}

/// Matches between two looks at the clock.
const MATCHES_A_LOOK: usize = 4096;

impl Top<'_> {
    /// Whether it gives up.
    pub(crate) fn is_over(&self) -> bool {
        self.documents.load(Relaxed) > self.most_documents || Instant::now() >= self.deadline
    }

    fn go_on(&self) -> tantivy::Result<()> {
        match self.is_over() {
            false => Ok(()),
            // Whoever asked looks whether it is over, not at this.
            true => Err(TantivyError::InternalError("a query was given up".to_owned())),
        }
    }
}

pub(crate) struct SegmentTop {
    depth: usize,
    total: u64,
    /// The worst of the best is on top.
    best: BinaryHeap<Reverse<Candidate>>,
    columns: Columns,
}

impl Collector for Top<'_> {
    type Fruit = (u64, Vec<Candidate>);
    type Child = SegmentTop;

    fn for_segment(
        &self,
        ordinal: SegmentOrdinal,
        _: &SegmentReader,
    ) -> tantivy::Result<SegmentTop> {
        let columns = self.columns[ordinal as usize].clone();
        Ok(SegmentTop { depth: self.depth, total: 0, best: BinaryHeap::new(), columns })
    }

    fn requires_scoring(&self) -> bool {
        self.ranked
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        ordinal: SegmentOrdinal,
        segment: &SegmentReader,
    ) -> tantivy::Result<Self::Fruit> {
        let mut top = self.for_segment(ordinal, segment)?;
        let mut scorer = weight.scorer(segment, 1.0)?;
        self.documents.fetch_add(scorer.cost(), Relaxed);
        self.go_on()?;
        let alive = segment.alive_bitset();
        let mut seen = 0;
        let mut document = scorer.doc();
        while document != TERMINATED {
            if alive.is_none_or(|alive| alive.is_alive(document)) {
                top.collect(document, if self.ranked { scorer.score() } else { 0.0 });
            }
            seen += 1;
            if seen % MATCHES_A_LOOK == 0 {
                self.go_on()?;
            }
            document = scorer.advance();
        }
        Ok(top.harvest())
    }

    fn merge_fruits(&self, segments: Vec<(u64, Vec<Candidate>)>) -> tantivy::Result<Self::Fruit> {
        let total = segments.iter().map(|(total, _)| total).sum();
        let mut best: Vec<Candidate> = segments.into_iter().flat_map(|(_, best)| best).collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        best.truncate(self.depth);
        Ok((total, best))
    }
}

impl SegmentCollector for SegmentTop {
    type Fruit = (u64, Vec<Candidate>);

    fn collect(&mut self, document: DocId, score: Score) {
        self.total += 1;
        if self.depth == 0 {
            return;
        }
        let full = self.best.len() == self.depth;
        if full && self.best.peek().is_some_and(|Reverse(worst)| score < worst.score) {
            return;
        }
        let Columns { rows, created } = &self.columns;
        let (row, created) = (rows.get_val(document) as u32, created.get_val(document));
        let candidate = Candidate { score, created, row };
        if !full {
            self.best.push(Reverse(candidate));
        } else if let Some(mut worst) = self.best.peek_mut()
            && candidate > worst.0
        {
            *worst = Reverse(candidate);
        }
    }

    fn harvest(self) -> Self::Fruit {
        (self.total, self.best.into_iter().map(|Reverse(candidate)| candidate).collect())
    }
}
