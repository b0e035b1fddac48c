//! Work on ranges by several threads, results in the order of the ranges.
//!
//! Threads take the next range from a counter; whoever finishes a range hands over all results
//! that are next in order. So the sink sees the same sequence whatever the thread count, and
//! no thread waits for another except for the moment of handing over.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::algorithm::{Match, MatchSink, Progress};
use crate::error::JoinError;

/// Where results go and who watches.
pub(crate) struct Delivery<'a> {
    pub sink: &'a mut dyn MatchSink,
    pub progress: &'a dyn Progress,
    pub done_before: u64,
    pub total: u64,
}

struct Waiting<'a> {
    next: u32,
    finished: BTreeMap<u32, Vec<Match>>,
    delivery: Delivery<'a>,
}

impl Waiting<'_> {
    fn finish(&mut self, chunk: u32, matches: Vec<Match>, chunk_size: u32) -> ControlFlow<()> {
        self.finished.insert(chunk, matches);
        while let Some(matches) = self.finished.remove(&self.next) {
            self.next += 1;
            if !matches.is_empty() {
                self.delivery.sink.accept(&matches)?;
            }
        }
        let done = self.delivery.done_before + u64::from(self.next) * u64::from(chunk_size);
        self.delivery.progress.advance(done.min(self.delivery.total), self.delivery.total);
        if self.delivery.progress.stop_asked() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Cuts `range` into chunks, works on them with `threads` threads and delivers in order; gives
/// back what `end` makes of each thread's worker.
pub(crate) fn deliver_in_order<W, C: Send>(
    range: Range<u32>,
    chunk_size: u32,
    threads: usize,
    delivery: Delivery<'_>,
    start: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, Range<u32>, &mut Vec<Match>) + Sync,
    end: impl Fn(W) -> C + Sync,
) -> Result<Vec<C>, JoinError> {
    let chunks = (range.end - range.start).div_ceil(chunk_size);
    let taken = AtomicU32::new(0);
    let stopped = AtomicBool::new(false);
    let waiting = Mutex::new(Waiting { next: 0, finished: BTreeMap::new(), delivery });
    let run = || {
        let mut worker = start();
        while !stopped.load(Ordering::Relaxed) {
            let chunk = taken.fetch_add(1, Ordering::Relaxed);
            if chunk >= chunks {
                break;
            }
            let first = range.start + chunk * chunk_size;
            let records = first..first.saturating_add(chunk_size).min(range.end);
            let mut matches = Vec::new();
            work(&mut worker, records, &mut matches);
            let mut waiting = waiting.lock().expect("no thread panics while handing over");
            if waiting.finish(chunk, matches, chunk_size).is_break() {
                stopped.store(true, Ordering::Relaxed);
            }
        }
        end(worker)
    };
    let ends = on_threads(threads.min(chunks.max(1) as usize), |_| run());
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
