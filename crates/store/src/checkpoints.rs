//! Checkpoints: what the write-ahead log holds is copied into the database's file, beside the writer.
//!
//! SQLite would do it inside the commit that makes the log too long, and one client in some thousand
//! would wait for it, tens of milliseconds. So a thread with a connection of its own copies while commits
//! go on. The log can begin anew only at a moment when all of it is copied, and with commits going on
//! there is none; so once the thread has left but little, the writer copies that rest between two
//! commits.
//!
//! Somebody who reads keeps the log from beginning anew, and while documents keep coming in, the threads
//! that follow them read all the time. So when the log has become long all the same, the writer waits a
//! moment for whoever reads: those who come then read the database alone and are in nobody's way.
//!
//! The log is kept short on purpose: a commit that overwrites the file of the log is synced faster than
//! one that makes it longer (0.15 against 0.28 ms where this was measured), and it grows only once to
//! the length at which it begins anew.
//!
//! Guarantee: none is needed. A checkpoint that fails or is cut off loses nothing; the log stays, and the
//! next one tries again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rusqlite::Connection;

use crate::database::{BUSY_PATIENCE, Database};
use crate::error::StoreError;

/// Pages of 4 kB in the log at which it is copied: as many as some 1,600 documents of one client take, 32
/// MB. A quarter of it was copied so often that 8 and 64 clients added a ninth less.
const PAGES: i32 = 8192;

/// The log is long when it has so many.
const LONG: i32 = 2 * PAGES;

/// How long the writer waits for those who read a long log.
const PATIENCE: Duration = Duration::from_millis(100);

/// Pages that are left to the writer.
const REST: i64 = 64;

/// How often the thread goes after what was written meanwhile.
const PASSES: usize = 4;

/// What the writer and the thread know of each other.
#[derive(Debug)]
struct Shared {
    /// Pages in the log, and at how many the thread is woken.
    pages: AtomicI32,
    next: AtomicI32,
    /// The thread has left only a rest.
    rest: AtomicBool,
}

/// The writer's end.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    shared: Arc<Shared>,
}

/// What the thread runs.
pub(crate) struct CheckpointThread {
    database: Database,
    shared: Arc<Shared>,
    woken: Receiver<()>,
}

impl Checkpoints {
    /// Takes the checkpoints away from the connection that writes. The thread ends when that connection
    /// is closed.
    pub(crate) fn take(
        writer: &mut Connection,
        path: &Path,
    ) -> Result<(Self, CheckpointThread), StoreError> {
        let database = Database::open_checkpointer(path)?;
        let shared = Arc::new(Shared {
            pages: AtomicI32::new(0),
            next: AtomicI32::new(PAGES),
            rest: AtomicBool::new(false),
        });
        let (bell, woken) = sync_channel(1);
        let hook = {
            let shared = shared.clone();
            move |pages| shared.committed(pages, &bell)
        };
        // This replaces SQLite's own hook, which makes its checkpoints.
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            hook(pages);
            Ok(())
        }))?;
        let thread = CheckpointThread { database, shared: shared.clone(), woken };
        Ok((Checkpoints { shared }, thread))
    }

    /// Copies the rest, if the thread has left it to the writer; to be called between two commits.
    pub(crate) fn copy_rest(&self, writer: &Connection) {
        if self.shared.rest.swap(false, Ordering::Relaxed) {
            // What cannot be copied stays in the log.
            let _ = match self.shared.is_long() {
                true => checkpoint_waiting(writer),
                false => checkpoint(writer, "PASSIVE"),
            };
        }
    }
}

impl Shared {
    /// A commit has brought the log to so many pages.
    fn committed(&self, pages: i32, bell: &SyncSender<()>) {
        self.pages.store(pages, Ordering::Relaxed);
        if pages < PAGES {
            self.next.store(PAGES, Ordering::Relaxed);
        } else if pages >= self.next.load(Ordering::Relaxed) {
            // Whatever keeps the log from beginning anew, it is not tried too often.
            self.next.store(pages + pages / 2, Ordering::Relaxed);
            // A full bell rings already; a thread that has ended needs none.
            let _ = bell.try_send(());
        }
    }

    fn is_long(&self) -> bool {
        self.pages.load(Ordering::Relaxed) >= LONG
    }
}

impl CheckpointThread {
    /// Copies whenever it is woken, until the writer is gone.
    pub(crate) fn run(self) {
        while self.woken.recv().is_ok() {
            self.copy();
        }
    }

    fn copy(&self) {
        for _ in 0..PASSES {
            // What cannot be copied now stays in the log, and the thread is woken again.
            let Ok(left) = checkpoint(&self.database.connection, "PASSIVE") else { break };
            if left <= REST || self.shared.is_long() {
                self.shared.rest.store(true, Ordering::Relaxed);
                break;
            }
        }
    }
}

/// Waits a moment for those who read the log, then copies all of it; tells how many pages are left.
pub(crate) fn checkpoint_waiting(connection: &Connection) -> Result<i64, StoreError> {
    connection.busy_timeout(PATIENCE)?;
    let copied = checkpoint(connection, "RESTART");
    connection.busy_timeout(BUSY_PATIENCE)?;
    copied
}

/// Copies the log in one of SQLite's ways, of which PASSIVE waits for nobody; tells how many pages are
/// left.
fn checkpoint(connection: &Connection, way: &str) -> Result<i64, StoreError> {
    let sql = format!("PRAGMA wal_checkpoint({way})");
    let left = connection.query_row(&sql, [], |row| {
        let (log, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(log - copied)
    })?;
    Ok(left)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::params::StoreParams;

    struct Begun {
        path: PathBuf,
        writer: Connection,
        checkpoints: Checkpoints,
        thread: CheckpointThread,
        _directory: tempfile::TempDir,
    }

    /// A database with a table to fill.
    fn begun() -> Begun {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("documents.sqlite");
        let mut writer = Database::create(&path, &StoreParams::default(), "it").unwrap().connection;
        writer.execute_batch("PRAGMA synchronous = OFF; CREATE TABLE pages (bytes)").unwrap();
        let (checkpoints, thread) = Checkpoints::take(&mut writer, &path).unwrap();
        Begun { path, writer, checkpoints, thread, _directory: directory }
    }

    /// Commits a page or more at a time until the thread is woken; tells how many commits that took.
    fn commit_until_woken(writer: &Connection, thread: &CheckpointThread) -> Option<usize> {
        (1..=3 * PAGES as usize).find(|_| {
            let insert = "INSERT INTO pages (bytes) VALUES (zeroblob(5000))";
            writer.execute(insert, []).unwrap();
            thread.woken.try_recv().is_ok()
        })
    }

    fn log_bytes(path: &Path) -> u64 {
        std::fs::metadata(path.with_extension("sqlite-wal")).unwrap().len()
    }

    #[test]
    fn the_log_begins_anew_when_its_rest_is_copied() {
        let Begun { path, writer, checkpoints, thread, .. } = &begun();
        let insert = "INSERT INTO pages (bytes) VALUES (zeroblob(5000))";
        let reader = Database::open_reader(path).unwrap().connection;
        // A commit that comes while the thread copies; here somebody reads what was before it.
        let leave_a_rest = || {
            reader.execute_batch("BEGIN; SELECT count(*) FROM pages").unwrap();
            writer.execute_batch(insert).unwrap();
            thread.copy();
            reader.execute_batch("COMMIT").unwrap();
        };
        assert!(commit_until_woken(writer, thread).is_some());
        leave_a_rest();

        // With the rest in it the log goes on, and the thread is woken again before long.
        let longest = log_bytes(path);
        writer.execute_batch(insert).unwrap();
        assert!(log_bytes(path) > longest);
        let commits = commit_until_woken(writer, thread).unwrap();
        assert!(commits < PAGES as usize, "{commits}");

        // Without it, the log's file is written from its beginning.
        leave_a_rest();
        checkpoints.copy_rest(writer);
        let longest = log_bytes(path);
        for _ in 0..PAGES / 8 {
            writer.execute_batch(insert).unwrap();
        }
        assert_eq!(log_bytes(path), longest);
        assert!(thread.woken.try_recv().is_err());
    }

    #[test]
    fn a_reader_in_the_way_does_not_stop_anybody() {
        let Begun { path, writer, checkpoints, thread, .. } = &begun();
        let reader = Database::open_reader(path).unwrap().connection;
        reader.execute_batch("BEGIN").unwrap();
        let seen = |reader: &Connection| -> i64 {
            reader.query_row("SELECT count(*) FROM pages", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(seen(&reader), 0);
        let commits = commit_until_woken(writer, thread).unwrap();
        thread.copy();
        checkpoints.copy_rest(writer);
        assert_eq!(seen(&reader), 0);
        let again = commit_until_woken(writer, thread).unwrap();
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(seen(&reader), (commits + again) as i64);
    }

    #[test]
    fn a_long_log_begins_anew_although_somebody_always_reads() {
        let Begun { path, writer, checkpoints, thread, .. } = &begun();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // Two who read again and again: hardly a moment without one of them.
            for _ in 0..2 {
                let done = &done;
                scope.spawn(move || {
                    let reader = Database::open_reader(path).unwrap().connection;
                    while !done.load(Ordering::Relaxed) {
                        reader.execute_batch("BEGIN; SELECT count(*) FROM pages").unwrap();
                        std::thread::sleep(Duration::from_millis(3));
                        reader.execute_batch("COMMIT").unwrap();
                    }
                });
            }
            let mut longest = 0;
            for _ in 0..4 * LONG {
                writer.execute_batch("INSERT INTO pages (bytes) VALUES (zeroblob(5000))").unwrap();
                if thread.woken.try_recv().is_ok() {
                    thread.copy();
                }
                checkpoints.copy_rest(writer);
                longest = longest.max(checkpoints.shared.pages.load(Ordering::Relaxed));
            }
            done.store(true, Ordering::Relaxed);
            assert!(longest < 2 * LONG, "{longest}");
        });
    }
}
