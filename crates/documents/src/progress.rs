//! Watching a long run: which phase it is in, how far, and whether it should stop.

/// Watches a run. Calls come from one thread at a time, several times a second.
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
    /// Whether to stop. What is finished stays, and the same run goes on from there.
    fn stop_asked(&self) -> bool {
        false
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Progress for Unwatched {}
