//! The time of each phase of a long run, and how often progress is reported.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wonbon_documents::Progress;

use crate::error::ClusterError;

/// What one phase took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseTime {
    /// Its name.
    pub phase: String,
    /// Seconds on the wall.
    pub seconds: f64,
    /// Seconds of all processors, this process only.
    pub cpu_seconds: f64,
    /// The largest resident set so far, in bytes.
    pub peak_bytes: u64,
}

/// Times phases one after another.
#[derive(Debug)]
pub(crate) struct PhaseClock {
    phases: Mutex<Vec<PhaseTime>>,
}

impl PhaseClock {
    pub(crate) fn new() -> Self {
        PhaseClock { phases: Mutex::new(Vec::new()) }
    }

    /// Times one phase, unless it shall not even begin.
    pub(crate) fn time<T>(
        &self,
        phase: &'static str,
        total: u64,
        progress: &dyn Progress,
        work: impl FnOnce() -> Result<T, ClusterError>,
    ) -> Result<T, ClusterError> {
        self.time_failing(phase, total, progress, work)
    }

    /// The same of work that fails in ways of its caller.
    pub(crate) fn time_failing<T, E: From<ClusterError>>(
        &self,
        phase: &'static str,
        total: u64,
        progress: &dyn Progress,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if progress.stop_asked() {
            return Err(ClusterError::Stopped.into());
        }
        progress.begin(phase, total);
        let (start, cpu) = (Instant::now(), cpu_time());
        let result = work()?;
        let time = PhaseTime {
            phase: phase.to_owned(),
            seconds: start.elapsed().as_secs_f64(),
            cpu_seconds: cpu_time().saturating_sub(cpu).as_secs_f64(),
            peak_bytes: peak_bytes(),
        };
        self.phases.lock().expect("no phase panics while it is noted").push(time);
        Ok(result)
    }

    pub(crate) fn finish(self) -> Vec<PhaseTime> {
        self.phases.into_inner().expect("no phase panics while it is noted")
    }
}

/// Counts the steps of a loop, and asks now and then whether to stop.
pub(crate) struct Steps<'a> {
    progress: &'a dyn Progress,
    done: u64,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(progress: &'a dyn Progress) -> Self {
        Steps { progress, done: 0 }
    }

    /// One more step is done.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), ClusterError> {
        self.done += 1;
        if self.done.is_multiple_of(1 << 14) {
            self.progress.advance(self.done);
            if self.progress.stop_asked() {
                return Err(ClusterError::Stopped);
            }
        }
        Ok(())
    }
}

/// User and system time of this process, from the system's own account; zero where there is none.
fn cpu_time() -> Duration {
    let ticks = || -> Option<u64> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let after_name = stat.rsplit_once(')')?.1;
        let mut fields = after_name.split_whitespace().skip(11);
        Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
    };
    // Linux counts in hundredths of a second on every architecture it is built for.
    Duration::from_millis(ticks().unwrap_or(0) * 10)
}

/// The largest resident set of this process, in bytes; zero where the system does not say.
#[must_use]
pub fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes * 1024)
}
