//! Work on ranges by several threads, with results in the order of the ranges.
//!
//! [`Shares`] assigns the ranges. A thread that finishes a range hands over all results that are next in order. So the sink
//! sees the same sequence whatever the thread count, and threads wait for each other only while results are handed over.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use wonbon_progress::Progress;

use crate::algorithm::{Match, MatchSink};
use crate::error::JoinError;

/// Some of the work.
pub(crate) struct Share {
    pub records: Range<u32>,
    /// The larger range that the thread will work on in turn, unless others take from its end.
    pub segment: Range<u32>,
}

/// Assigns ranges to threads.
pub(crate) trait Shares: Sync {
    /// What the thread should do next; nothing if it is done.
    fn next(&self, thread: usize) -> Option<Share>;
}

/// Where results go and who watches.
pub(crate) struct Delivery<'a> {
    pub sink: &'a mut dyn MatchSink,
    pub progress: &'a dyn Progress,
    pub done_before: u64,
    pub total: u64,
}

struct Waiting<'a> {
    /// Everything before this record is handed over.
    next: u32,
    /// Finished ranges that others come before: where they end and their matches.
    finished: BTreeMap<u32, (u32, Vec<Match>)>,
    done: u64,
    delivery: Delivery<'a>,
}

impl Waiting<'_> {
    fn finish(&mut self, records: &Range<u32>, matches: &[Match]) -> ControlFlow<()> {
        if records.start == self.next {
            self.hand_over(records.end, matches)?;
            while let Some((end, matches)) = self.finished.remove(&self.next) {
                self.hand_over(end, &matches)?;
            }
        } else {
            self.finished.insert(records.start, (records.end, matches.to_vec()));
        }
        self.done += u64::from(records.end - records.start);
        let Delivery { progress, done_before, total, .. } = self.delivery;
        progress.advance((done_before + self.done).min(total));
        if progress.stop_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn hand_over(&mut self, end: u32, matches: &[Match]) -> ControlFlow<()> {
        self.next = end;
        if matches.is_empty() {
            ControlFlow::Continue(())
        } else {
            self.delivery.sink.accept(matches)
        }
    }
}

/// Works on what `shares` gives out, records from `first` on, and delivers in order; gives back
/// what `end` makes of each thread's worker.
pub(crate) fn deliver_in_order<W, C: Send>(
    first: u32,
    shares: &dyn Shares,
    threads: usize,
    delivery: Delivery<'_>,
    start: impl Fn(usize) -> W + Sync,
    work: impl Fn(&mut W, Share, &mut Vec<Match>) + Sync,
    end: impl Fn(W) -> C + Sync,
) -> Result<Vec<C>, JoinError> {
    let stopped = AtomicBool::new(false);
    let waiting = Mutex::new(Waiting { next: first, finished: BTreeMap::new(), done: 0, delivery });
    let ends = on_threads(threads, |thread| {
        let mut worker = start(thread);
        let mut matches = Vec::new();
        while !stopped.load(Ordering::Relaxed) {
            let Some(share) = shares.next(thread) else { break };
            let records = share.records.clone();
            matches.clear();
            work(&mut worker, share, &mut matches);
            let mut waiting = waiting.lock().expect("no thread panics while handing over");
            if waiting.finish(&records, &matches).is_break() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
        end(worker)
    });
    if stopped.into_inner() { Err(JoinError::Stopped) } else { Ok(ends) }
}

/// Runs `work` once on each of so many threads, the last on the current one.
pub(crate) fn on_threads<C: Send>(threads: usize, work: impl Fn(usize) -> C + Sync) -> Vec<C> {
    if threads <= 1 {
        return vec![work(0)];
    }
    std::thread::scope(|scope| {
        let work = &work;
        let handles: Vec<_> =
            (1..threads).map(|number| scope.spawn(move || work(number))).collect();
        let mut ends = vec![work(0)];
        for handle in handles {
            match handle.join() {
                Ok(end) => ends.push(end),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        ends
    })
}

/// The `number`-th of `parts` nearly equal pieces of a range.
pub(crate) fn piece(range: &Range<u32>, number: usize, parts: usize) -> Range<u32> {
    let length = u64::from(range.end - range.start);
    let cut = |at: usize| range.start + (length * at as u64 / parts as u64) as u32;
    cut(number)..cut(number + 1)
}
