//! Long work beside the interpreter: it runs on a thread of its own while the calling thread waits for
//! Ctrl-C and reports progress.
//!
//! Why not on the calling thread: only the main thread hears signals, and only when it asks. So it asks, ten
//! times as often as a person could notice ([`POLL`]), and a callback of the caller is called there too,
//! never from a thread that the caller does not know. The interpreter is free meanwhile: other threads run.
//!
//! Cost: one thread (some 30 µs), which ends before the call returns. Nothing outlives a call, so a process can
//! fork afterwards.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyBool;
use wonbon_progress::Progress;

use crate::failure::Failure;

/// How often signals are looked at.
const POLL: Duration = Duration::from_millis(20);

/// What the work has told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Told {
    phase: &'static str,
    done: u64,
    total: u64,
}

/// Stands between the work and the thread that waits for it.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    told: Mutex<Told>,
    stop: AtomicBool,
}

impl Watched {
    fn told(&self) -> Told {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Watched {
    fn begin(&self, phase: &'static str, total: u64) {
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Told { phase, done: 0, total };
    }

    fn advance(&self, done: u64) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).done = done;
    }

    fn stop_asked(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Whether the interpreter is about to end, and how many threads want it or have it.
static ENDING: AtomicBool = AtomicBool::new(false);
static ATTACHED: AtomicUsize = AtomicUsize::new(0);

/// Does something with the interpreter in a thread that does not have it; nothing if it is about to end, because a
/// thread that waits for an interpreter that has ended is torn down in the middle of our code.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    ATTACHED.fetch_add(1, Ordering::SeqCst);
    let done = (!ENDING.load(Ordering::SeqCst)).then(|| Python::attach(work));
    ATTACHED.fetch_sub(1, Ordering::SeqCst);
    done
}

/// This process was forked: no thread of its parent is here.
#[pyfunction]
pub(crate) fn forked() {
    ATTACHED.store(0, Ordering::SeqCst);
}

/// From now on nobody of ours asks for the interpreter. Called when it is about to end.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) {
    ENDING.store(true, Ordering::SeqCst);
    py.detach(|| {
        while ATTACHED.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Does long work without the interpreter. `callback` is called with the phase, what is done and the total
/// (0 where it is not known) whenever they have changed; True stands for the bar of `wonbon._progress`.
///
/// # Errors
///
/// The work's; or what a signal or the callback raised, once the work has stopped for it.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watched) -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let watched = Watched::default();
    let callback = callback.filter(|callback| !callback.is_none());
    let bar = match callback.map(|callback| callback.cast::<PyBool>()) {
        Some(Ok(wanted)) if wanted.is_true() => {
            Some(py.import("wonbon._progress")?.getattr("Bar")?.call0()?.unbind())
        }
        _ => None,
    };
    let own = callback.filter(|callback| !callback.is_instance_of::<PyBool>());
    let own = own.map(|own| own.clone().unbind());
    let (sender, ended) = channel();
    let (watched, callback) = (&watched, bar.as_ref().or(own.as_ref()));
    let result = py.detach(move || {
        let result = std::thread::scope(|scope| {
            scope.spawn(move || {
                // Nobody receives only if the caller panicked.
                let _ = sender.send(work(watched));
            });
            let mut raised = None;
            let mut last = Told::default();
            loop {
                match ended.recv_timeout(POLL) {
                    Ok(result) => {
                        return raised.map_or(result, |error| Err(Failure::Python(error)));
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(Failure::request(
                            "the work ended in a panic; this is a defect",
                        ));
                    }
                    Err(RecvTimeoutError::Timeout) if raised.is_none() => {
                        let told = watched.told();
                        let heard = attached(|py| {
                            py.check_signals()?;
                            match callback {
                                Some(callback) if told != last => callback
                                    .call1(py, (told.phase, told.done, told.total))
                                    .map(|_| ()),
                                _ => Ok(()),
                            }
                        });
                        last = told;
                        if let Some(Err(error)) = heard {
                            watched.stop.store(true, Ordering::Relaxed);
                            raised = Some(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
            }
        });
        // The process ends while this thread works: there is nowhere to return to.
        while ENDING.load(Ordering::SeqCst) {
            std::thread::park();
        }
        result
    });
    if let Some(bar) = bar {
        bar.call_method1(py, "close", (result.is_ok(),))?;
    }
    result
}
