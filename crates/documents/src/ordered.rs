//! Work shared out among threads, results in the order of the input.
//!
//! Each thread takes the next item from the reader, works on it alone, and hands its result to the
//! writer when all earlier ones have been written: the output is the same bytes whatever the number
//! of threads. With one thread nothing is spawned and nothing is locked.
//!
//! Cost: a lock taken twice per item, so items should be batches. A thread that is ahead by more
//! than [`AHEAD`] items for each thread waits, which bounds the results kept in memory.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, PoisonError};

/// How many finished items each thread may have waiting for an earlier one.
pub const AHEAD: usize = 4;

/// Reads items, works on each with one of several threads, and writes the results in order.
///
/// `read` fills an item (whose memory is reused) and returns `false` at the end; `state` makes what
/// each thread keeps from item to item.
///
/// # Errors
///
/// The first error of `read` or `write`; results before it have been written.
pub fn for_each_ordered<Item, State, Output, E>(
    threads: NonZeroUsize,
    mut read: impl FnMut(&mut Item) -> Result<bool, E> + Send,
    state: impl Fn() -> State + Sync,
    work: impl Fn(&mut State, &mut Item) -> Output + Sync,
    mut write: impl FnMut(Output) -> Result<(), E> + Send,
) -> Result<(), E>
where
    Item: Default,
    Output: Send,
    E: Send,
{
    if threads.get() == 1 {
        let (mut state, mut item) = (state(), Item::default());
        while read(&mut item)? {
            write(work(&mut state, &mut item))?;
        }
        return Ok(());
    }
    let reading = Mutex::new((0_u64, Some(read)));
    let writing =
        Mutex::new(Writing { next: 0, waiting: BTreeMap::new(), write, failed: None, lost: false });
    let written = Condvar::new();
    let ahead = (AHEAD * threads.get()) as u64;
    std::thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(|| {
                let (mut state, mut item) = (state(), Item::default());
                loop {
                    let number = {
                        let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
                        let (next, read) = &mut *reading;
                        match read.as_mut().map(|read| read(&mut item)) {
                            Some(Ok(true)) => {}
                            Some(Err(error)) => {
                                *read = None;
                                let mut writing =
                                    writing.lock().unwrap_or_else(PoisonError::into_inner);
                                writing.failed.get_or_insert(error);
                                return;
                            }
                            Some(Ok(false)) | None => {
                                *read = None;
                                return;
                            }
                        }
                        *next += 1;
                        *next - 1
                    };
                    let unfinished = Unfinished { writing: &writing, written: &written };
                    let output = work(&mut state, &mut item);
                    std::mem::forget(unfinished);
                    let mut writing = writing.lock().unwrap_or_else(PoisonError::into_inner);
                    writing.waiting.insert(number, output);
                    writing.write_in_order();
                    written.notify_all();
                    while !writing.ended() && number > writing.next + ahead {
                        writing = written.wait(writing).unwrap_or_else(PoisonError::into_inner);
                    }
                    if writing.ended() {
                        return;
                    }
                }
            });
        }
    });
    let mut writing = writing.into_inner().unwrap_or_else(PoisonError::into_inner);
    writing.failed.take().map_or(Ok(()), Err)
}

struct Writing<Output, Write, E> {
    next: u64,
    waiting: BTreeMap<u64, Output>,
    write: Write,
    failed: Option<E>,
    /// A thread panicked: its result will never come.
    lost: bool,
}

impl<Output, Write, E> Writing<Output, Write, E> {
    fn ended(&self) -> bool {
        self.failed.is_some() || self.lost
    }
}

/// Dropped only when the work on an item panics: wakes who would wait for its result for ever. The
/// scope then passes the panic on.
struct Unfinished<'a, Output, Write, E> {
    writing: &'a Mutex<Writing<Output, Write, E>>,
    written: &'a Condvar,
}

impl<Output, Write, E> Drop for Unfinished<'_, Output, Write, E> {
    fn drop(&mut self) {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner).lost = true;
        self.written.notify_all();
    }
}

impl<Output, Write: FnMut(Output) -> Result<(), E>, E> Writing<Output, Write, E> {
    fn write_in_order(&mut self) {
        while self.failed.is_none()
            && let Some(output) = self.waiting.remove(&self.next)
        {
            self.next += 1;
            if let Err(error) = (self.write)(output) {
                self.failed = Some(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn squares(threads: usize, count: u64, fail_at: Option<u64>) -> (Vec<u64>, Result<(), u64>) {
        let mut next = 0;
        let mut written = Vec::new();
        let result = for_each_ordered(
            NonZeroUsize::new(threads).unwrap(),
            |item: &mut u64| {
                *item = next;
                next += 1;
                Ok(*item < count)
            },
            || (),
            |(), item| {
                // Uneven work, so that threads finish out of order.
                (0..(*item * 7919 % 13) * 1000).fold(0_u64, |a, b| std::hint::black_box(a ^ b));
                *item * *item
            },
            |output| {
                if Some(written.len() as u64) == fail_at {
                    return Err(written.len() as u64);
                }
                written.push(output);
                Ok(())
            },
        );
        (written, result)
    }

    #[test]
    fn a_panic_in_the_work_is_passed_on_and_nobody_waits_for_ever() {
        let mut next = 0;
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for_each_ordered(
                NonZeroUsize::new(3).unwrap(),
                |item: &mut u64| {
                    next += 1;
                    *item = next;
                    Ok::<bool, ()>(next < 1000)
                },
                || (),
                |(), item| assert_ne!(*item, 5, "the fifth item is broken"),
                |()| Ok(()),
            )
        }));
        assert!(outcome.is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn results_come_in_the_order_of_the_input(threads in 1_usize..6, count in 0_u64..300) {
            let (written, result) = squares(threads, count, None);
            prop_assert_eq!(result, Ok(()));
            prop_assert_eq!(written, (0..count).map(|n| n * n).collect::<Vec<_>>());
        }

        #[test]
        fn a_failed_write_ends_the_work_and_is_told(threads in 1_usize..6, fail_at in 0_u64..100) {
            let (written, result) = squares(threads, 1000, Some(fail_at));
            prop_assert_eq!(result, Err(fail_at));
            prop_assert_eq!(written.len() as u64, fail_at);
        }
    }
}
