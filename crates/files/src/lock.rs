//! Locks, each held by one process.
//!
//! A lock is a file lock of the operating system, released when the process ends, however it ends. [`take`] waits
//! for it for up to a second and [`wait`] for as long as it takes. Why [`take`] waits at all: between fork and exec, a
//! child process shares our open files and with them a lock that we have just released. A lock that is really held
//! is held for longer.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::private::make_private;

/// How long a lock is waited for, and how long between two attempts.
const PATIENCE: Duration = Duration::from_secs(1);
const BETWEEN: Duration = Duration::from_millis(5);

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    make_private(&mut options);
    options.open(path)
}

/// Takes the lock of this file, which is made for its owner only if it is not there; `None` if somebody
/// else holds it.
///
/// # Errors
///
/// Why the file cannot be opened or locked.
pub fn take(path: &Path) -> io::Result<Option<File>> {
    let file = open(path)?;
    let is_held = |error: &TryLockError| matches!(error, TryLockError::WouldBlock);
    match patiently(|| file.try_lock(), is_held) {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Takes the lock of this file, which is made for its owner only if it is not there, and waits for
/// whoever holds it: for work that is short and must be done by everybody in turn.
///
/// # Errors
///
/// Why the file cannot be opened or locked.
pub fn wait(path: &Path) -> io::Result<File> {
    let file = open(path)?;
    file.lock()?;
    Ok(file)
}

/// Tries again for a while as long as the error says that a lock is held.
///
/// # Errors
///
/// The last attempt's.
pub fn patiently<T, E>(
    mut attempt: impl FnMut() -> Result<T, E>,
    is_held: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(error) if is_held(&error) && started.elapsed() < PATIENCE => {
                std::thread::sleep(BETWEEN);
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = take(&path).unwrap().unwrap();
        let started = Instant::now();
        assert!(take(&path).unwrap().is_none());
        assert!(started.elapsed() >= PATIENCE, "it was waited for");
        drop(held);
        assert!(take(&path).unwrap().is_some());
    }

    #[test]
    fn one_that_is_given_back_is_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = take(&path).unwrap().unwrap();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(held);
        });
        assert!(take(&path).unwrap().is_some());
        other.join().unwrap();
    }

    #[test]
    fn everybody_who_waits_has_it_in_turn() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let held = wait(&path).unwrap();
                        let order = std::sync::atomic::Ordering::SeqCst;
                        assert_eq!(inside.fetch_add(1, order), 0);
                        inside.fetch_sub(1, order);
                        drop(held);
                    }
                });
            }
        });
    }

    #[test]
    fn what_is_no_lock_is_told_at_once() {
        let directory = tempfile::tempdir().unwrap();
        assert!(take(&directory.path().join("no such directory").join("lock")).is_err());
        let mut attempts = 0;
        let other = patiently(
            || {
                attempts += 1;
                Err::<(), _>("something else")
            },
            |error| *error == "held",
        );
        assert_eq!((other, attempts), (Err("something else"), 1));
    }
}
