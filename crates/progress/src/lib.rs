//! Progress and cancellation of long work: one trait for joins, readers, batch runs, jobs and commands.
//!
//! Whoever works calls [`Progress::begin`] when a phase starts, [`Progress::advance`] a few times a second,
//! and asks [`Progress::stop_asked`] at every place where it could stop. Whoever waits implements the
//! trait: a progress bar, a job's record, or [`Unwatched`]. A deadline is one more reason to stop
//! ([`WithDeadline`]), so work that can be stopped can be given a deadline. [`Cancellation`] is a reason to
//! stop that can be handed to another thread: a deadline and a flag.
//!
//! A crate of its own, because a join, which uses no other crate, needs it as much as a job does.
//!
//! Cost: a virtual call; a deadline reads the clock, some 30 nanoseconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Watches long work and may stop it. Calls may come from any thread, one at a time.
pub trait Progress: Sync {
    /// A phase begins; `total` is in its own unit, 0 where it is not known.
    fn begin(&self, phase: &'static str, total: u64) {
        let _ = (phase, total);
    }

    /// So much of the phase is done.
    fn advance(&self, done: u64) {
        let _ = done;
    }

    /// Something a person should know.
    fn say(&self, sentence: &str) {
        let _ = sentence;
    }

    /// Whether to stop. What is finished stays; work that can be resumed goes on from there.
    fn stop_asked(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {}

/// Passes on whether to stop, and nothing else: for a step inside a phase that counts in other units.
#[derive(Clone, Copy)]
pub struct StopOnly<'a>(pub &'a dyn Progress);

impl Progress for StopOnly<'_> {
    fn stop_asked(&self) -> bool {
        self.0.stop_asked()
    }
}

/// Stops when a deadline has passed, or when whoever watches says so.
#[derive(Clone, Copy)]
pub struct WithDeadline<'a> {
    progress: &'a dyn Progress,
    deadline: Option<Instant>,
}

impl<'a> WithDeadline<'a> {
    /// A deadline some time from now; none if there is no limit, or it is too far away for the clock.
    #[must_use]
    pub fn after(progress: &'a dyn Progress, limit: Option<Duration>) -> Self {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        WithDeadline { progress, deadline }
    }

    /// Whether the deadline has passed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Progress for WithDeadline<'_> {
    fn begin(&self, phase: &'static str, total: u64) {
        self.progress.begin(phase, total);
    }

    fn advance(&self, done: u64) {
        self.progress.advance(done);
    }

    fn say(&self, sentence: &str) {
        self.progress.say(sentence);
    }

    fn stop_asked(&self) -> bool {
        self.is_over() || self.progress.stop_asked()
    }
}

/// Stops work whose result nobody waits for any more: a deadline, and a flag that clones share.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    deadline: Option<Instant>,
    cancelled: Arc<AtomicBool>,
}

impl Cancellation {
    /// A deadline some time from now; none if it is too far away for the clock.
    #[must_use]
    pub fn after(limit: Duration) -> Self {
        let deadline = Instant::now().checked_add(limit);
        Cancellation { deadline, ..Cancellation::default() }
    }

    /// Sets the flag.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set or the deadline has passed.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Progress for Cancellation {
    fn stop_asked(&self) -> bool {
        self.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Stopped;

    impl Progress for Stopped {
        fn stop_asked(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_deadline_is_one_more_reason_to_stop() {
        assert!(!WithDeadline::after(&Unwatched, None).stop_asked());
        assert!(!WithDeadline::after(&Unwatched, Some(Duration::MAX)).stop_asked());
        assert!(WithDeadline::after(&Unwatched, Some(Duration::ZERO)).stop_asked());
        let stopped = WithDeadline::after(&Stopped, None);
        assert!(stopped.stop_asked() && !stopped.is_over());
        assert!(StopOnly(&Stopped).stop_asked() && !StopOnly(&Unwatched).stop_asked());
    }

    #[test]
    fn a_cancellation_is_seen_by_its_clones() {
        assert!(!Cancellation::after(Duration::MAX).is_cancelled());
        assert!(Cancellation::after(Duration::ZERO).stop_asked());
        let (one, other) = (Cancellation::default(), Cancellation::default());
        let clone = one.clone();
        one.cancel();
        assert!(clone.is_cancelled() && !other.is_cancelled());
    }
}
