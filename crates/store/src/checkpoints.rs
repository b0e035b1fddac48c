//! Checkpoints of SQLite's write-ahead log (WAL), by a thread beside the writer.
//!
//! SQLite would checkpoint inside the commit that makes the WAL too long, and one client in some thousand would wait tens of
//! milliseconds. Instead a thread with its own connection copies pages of the WAL into the database while commits continue.
//! SQLite can restart the WAL from its beginning only when all pages are copied, which never happens while commits continue.
//! So when few pages are left, the writer copies them between two commits.
//!
//! A reader also prevents the restart, and while documents are being added the followers read all the time. So when the WAL
//! has become long nevertheless, the writer waits a moment until the current readers are done. Readers that start then use
//! the database alone and do not block the restart.
//!
//! The WAL is kept short on purpose. A commit that overwrites the file is synced faster than one that extends it (0.15
//! against 0.28 ms where this was measured), and the file is extended only until it has reached the length at which it
//! restarts.
//!
//! Guarantee: none is needed. A checkpoint that fails or is interrupted loses nothing: the pages stay in the WAL, and the
//! next checkpoint copies them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use rusqlite::Connection;

use crate::error::StoreError;
use crate::tables::{BUSY_PATIENCE, Sqlite};

/// Pages of 4 kB in the WAL at which it is checkpointed: about 1,600 documents of one client, 32 MB. With a quarter
/// of this, checkpoints were so frequent that 8 and 64 clients added a ninth less.
const PAGES: i32 = 8192;

/// The WAL is long when it has this many pages.
const LONG: i32 = 2 * PAGES;

/// How long the writer waits for readers of a long WAL.
const PATIENCE: Duration = Duration::from_millis(100);

/// The number of last pages that the thread leaves to the writer.
const REST: i64 = 64;

/// How often the thread copies again what was written in the meantime.
const PASSES: usize = 4;

/// The state shared by the writer and the thread.
#[derive(Debug)]
struct Shared {
    /// Pages in the log, and at how many the thread is woken.
    pages: AtomicI32,
    next: AtomicI32,
    /// The thread has left only a few pages.
    rest: AtomicBool,
}

/// The writer's end.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    shared: Arc<Shared>,
}

/// What the thread runs.
pub(crate) struct CheckpointThread {
    database: Sqlite,
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
        let database = Sqlite::open_checkpointer(path)?;
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

    /// Copies the remaining pages, if the thread has left them to the writer; to be called between two commits.
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

/// Waits a moment for readers of the WAL, then copies all of it; returns how many pages are left.
pub(crate) fn checkpoint_waiting(connection: &Connection) -> Result<i64, StoreError> {
    connection.busy_timeout(PATIENCE)?;
    let copied = checkpoint(connection, "RESTART");
    connection.busy_timeout(BUSY_PATIENCE)?;
    copied
}

/// Runs a checkpoint in one of SQLite's modes, of which PASSIVE waits for nobody; returns how many pages are left.
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
        let mut writer = Sqlite::create(&path, &StoreParams::default(), "it").unwrap().connection;
        writer.execute_batch("PRAGMA synchronous = OFF; CREATE TABLE pages (bytes)").unwrap();
        let (checkpoints, thread) = Checkpoints::take(&mut writer, &path).unwrap();
        Begun { path, writer, checkpoints, thread, _directory: directory }
    }

    /// Commits a page or more at a time until the thread is woken; returns how many commits that took.
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
        let reader = Sqlite::open_reader(path).unwrap().connection;
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
        let reader = Sqlite::open_reader(path).unwrap().connection;
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
            // Two read in turn, and each begins before the other ends: there is no moment without a reader.
            scope.spawn(|| {
                let [one, other] = [(), ()].map(|()| Sqlite::open_reader(path).unwrap().connection);
                let begin = "BEGIN; SELECT count(*) FROM pages LIMIT 1";
                one.execute_batch(begin).unwrap();
                while !done.load(Ordering::Relaxed) {
                    for (reading, next) in [(&one, &other), (&other, &one)] {
                        next.execute_batch(begin).unwrap();
                        reading.execute_batch("COMMIT").unwrap();
                    }
                }
            });
            // A reader that has no processor for longer than the writer waits puts the restart off, so the log may
            // become longer than it would on an idle machine; what counts is that it restarts.
            let mut longest = 0;
            let restarted = (0..32 * LONG).any(|_| {
                writer.execute_batch("INSERT INTO pages (bytes) VALUES (zeroblob(5000))").unwrap();
                if thread.woken.try_recv().is_ok() {
                    thread.copy();
                }
                checkpoints.copy_rest(writer);
                let pages = checkpoints.shared.pages.load(Ordering::Relaxed);
                longest = longest.max(pages);
                pages < longest
            });
            done.store(true, Ordering::Relaxed);
            assert!(restarted, "{longest} pages");
        });
    }
}
