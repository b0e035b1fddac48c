//! The fast join: two ways to find partners, chosen for each size of probe.
//!
//! Both use *signatures*: a bit for each token, combined by exclusive or. Two signatures differ
//! in at most as many bits as the two sets differ in tokens, and how much two sets of given
//! sizes may differ is known, so one bit count rules most pairs out.
//!
//! - **Postings** (`postings.rs`): an inverted index over prefixes as in the paper, but flat,
//!   without tokens that nobody shares, and with a 64-bit signature of the rest of the record
//!   inside each posting. At the first token that two records share, everything before it is
//!   known to differ, so `i + j + differing bits` bounds the difference. Eight postings are
//!   tested at a time; a record is touched only after it passed. Each worker remembers which
//!   part of each list its probes still look at, so a probe sees its size window and no more.
//!   Long records have a wide signature too, tested before their tokens.
//! - **Columns** (`columns.rs`): for each probe, the signatures of *all* records in its size
//!   window, eight at a time, without an index. It sounds hopeless and is the fastest way
//!   known to us wherever lists are long compared with the window: long records, low
//!   thresholds, up to some hundred thousand records.
//!
//! `plan.rs` estimates the cost of both from list lengths and window sizes; `segments.rs` shares
//! out the probes among threads.
//!
//! Cost: 16 bytes a posting, 4 bytes a shared token and 8 more for each thread, one signature a
//! record for columns or long records; 4 bytes a record and thread; with several threads and no
//! memory limit up to half as many postings again, for windows between threads. Blocks of sizes are joined
//! one after the other when the index would exceed [`JoinParams::index_bytes`].
//! Guarantee: the same matches in the same order for any number of threads.

mod atomic_view;
mod columns;
mod plan;
mod postings;
mod probe;
mod scan;
mod segments;
mod shelf;
mod signature;
mod steps;

use std::sync::Mutex;

use crate::algorithm::{Algorithm, Counters, JoinParams, MatchSink};
use crate::bounds::Bounds;
use crate::collection::{Collection, Side};
use crate::error::JoinError;
use crate::parallel::{Delivery, Shares, deliver_in_order};
use crate::vector::Kernel;
use plan::{Conditions, Plan};
use probe::Worker;
use segments::{Beginning, Interleaved, Segments};
use shelf::{Shelf, ShelfBlock};

/// Which way `auto` looks for partners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// Whatever is estimated to be faster for each size.
    #[default]
    Fastest,
    /// Always by postings.
    Postings,
    /// Always by columns.
    Columns,
}

/// The algorithm people use.
#[derive(Debug, Clone, Copy, Default)]
pub struct Auto {
    /// How partners are looked for; anything but the default is for tests and measurements.
    pub way: Way,
}

/// Chooses for itself.
pub const AUTO: Auto = Auto { way: Way::Fastest };

impl Algorithm for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn join(
        &self,
        collection: &Collection,
        params: &JoinParams<'_>,
        sink: &mut dyn MatchSink,
        counters: &mut Counters,
    ) -> Result<(), JoinError> {
        let bounds = Bounds::of_distinct(collection, params.measure, params.threshold);
        let mut sides = vec![Side::Left];
        if collection.has_two_sides() {
            sides.push(Side::Right);
        }
        let mut blocks = Vec::new();
        let shelves: Vec<Shelf<'_>> =
            sides.into_iter().map(|side| Shelf::new(collection, side)).collect();
        for shelf in &shelves {
            for slots in shelf.blocks(&bounds, params.index_bytes, params.threads) {
                blocks.push(ShelfBlock::new(shelf, &bounds, slots));
            }
        }
        let total: u64 = blocks.iter().map(|block| u64::from(block.probe_count())).sum();
        params.progress.begin("join", total);
        let mut done = 0;
        let kernel = Kernel::detect();
        for block in &blocks {
            let chunks = block.probe_count().div_ceil(block.chunk());
            let threads = params.threads.clamp(1, chunks.max(1) as usize);
            let beginning = Beginning::new(block, &bounds);
            let conditions = Conditions {
                beginning: &beginning,
                threads,
                may_segment: threads == 1 || params.index_bytes == u64::MAX,
            };
            let mut plan = Plan::new(block, &bounds, self.way, &conditions);
            let postings = postings::Postings::build(block, &bounds, &mut plan, kernel);
            let columns = columns::Columns::build(block, &plan, threads, kernel);
            let rows = columns::Rows::build(block, &plan, threads, kernel);
            counters.postings += plan.postings_count;
            let counted = std::mem::take(&mut plan.counted);
            let shares: Box<dyn Shares + '_> = match &plan.segments {
                None => Box::new(Interleaved::new(block)),
                Some(segments) => Box::new(Segments::new(&beginning, plan.costs.clone(), segments)),
            };
            let shared = probe::Shared {
                block,
                bounds: &bounds,
                plan: &plan,
                counted: counted.into_iter().map(|part| Mutex::new(Some(part))).collect(),
                postings: &postings,
                columns: &columns,
                rows: &rows,
                kernel,
            };
            let delivery = Delivery { sink, progress: params.progress, done_before: done, total };
            let counted = deliver_in_order(
                block.probes().start,
                &*shares,
                threads,
                delivery,
                |thread| Worker::new(&shared, thread),
                Worker::probe_all,
                Worker::into_counters,
            )?;
            for part in counted {
                counters.add(part);
            }
            done += u64::from(block.probe_count());
        }
        Ok(())
    }
}
