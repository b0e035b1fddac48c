//! A line on the terminal that says how far a join is and how long it may still take.

use std::io::{IsTerminal, Write, stderr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use wonbon_join::Progress;

/// Draws on standard error when it is a terminal, after the first second.
pub struct Bar {
    started: Instant,
    drawn: Mutex<Option<Instant>>,
    is_terminal: bool,
}

const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(200);
const WIDTH: usize = 30;

impl Bar {
    /// A bar that has not been drawn.
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
            drawn: Mutex::new(None),
            is_terminal: stderr().is_terminal(),
        }
    }

    /// Removes the bar from the terminal.
    pub fn clear(&self) {
        if self.drawn.lock().is_ok_and(|drawn| drawn.is_some()) {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

impl Progress for Bar {
    fn advance(&self, done: u64, total: u64) {
        let elapsed = self.started.elapsed();
        if !self.is_terminal || elapsed < PATIENCE || done == 0 {
            return;
        }
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        if drawn.is_some_and(|last| last.elapsed() < BETWEEN) {
            return;
        }
        *drawn = Some(Instant::now());
        let share = (done as f64 / total.max(1) as f64).min(1.0);
        let left = elapsed.as_secs_f64() * (1.0 - share) / share.max(1e-9);
        let filled = (share * WIDTH as f64) as usize;
        let _ = write!(
            stderr(),
            "\r\x1b[Kjoining [{}{}] {:3.0} %, about {left:.0} s left",
            "#".repeat(filled),
            ".".repeat(WIDTH - filled),
            share * 100.0,
        );
    }
}
