//! Checkpoints: what the write-ahead log holds is copied into the database's file, beside the writer.
//!
//! SQLite would do it inside the commit that makes the log too long, and one client in some thousand
//! would wait for it, tens of milliseconds. So a thread with a connection of its own copies while commits
//! go on. The log can begin anew only at a moment when all of it is copied, and with commits going on
//! there is none; so once the thread has left but little, the writer copies that rest between two
//! commits.
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

use rusqlite::Connection;

use crate::database::Database;
use crate::error::StoreError;

/// Pages of 4 kB in the log at which it is copied: as many as some four hundred documents of one client
/// take.
const PAGES: i32 = 2048;

/// When something keeps the log from beginning anew, mostly somebody who still reads what it was, it is
/// tried again after so many pages more.
const PAGES_AGAIN: i32 = PAGES / 4;

/// Pages that are left to the writer.
const REST: i64 = 64;

/// How often the thread goes after what was written meanwhile.
const PASSES: usize = 4;

/// What the writer and the thread know of each other.
#[derive(Debug)]
struct Shared {
    /// Pages in the log at which the thread is woken.
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
        let shared = Arc::new(Shared { next: AtomicI32::new(PAGES), rest: AtomicBool::new(false) });
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

    /// Copies the rest, if there is only that; to be called between two commits.
    pub(crate) fn copy_rest(&self, writer: &Connection) {
        if self.shared.rest.swap(false, Ordering::Relaxed) {
            // What cannot be copied stays in the log.
            let _ = checkpoint(writer);
        }
    }
}

impl Shared {
    /// A commit has brought the log to so many pages.
    fn committed(&self, pages: i32, bell: &SyncSender<()>) {
        if pages < PAGES {
            self.next.store(PAGES, Ordering::Relaxed);
        } else if pages >= self.next.load(Ordering::Relaxed) {
            self.next.store(pages + PAGES_AGAIN, Ordering::Relaxed);
            // A full bell rings already; a thread that has ended needs none.
            let _ = bell.try_send(());
        }
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
            let Ok(left) = checkpoint(&self.database.connection) else { break };
            if left <= REST {
                self.shared.rest.store(true, Ordering::Relaxed);
                break;
            }
        }
    }
}

/// Copies what nobody who reads stands in the way of; tells how many pages are left.
fn checkpoint(connection: &Connection) -> Result<i64, StoreError> {
    let left = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
        let (log, copied): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(log - copied)
    })?;
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::StoreParams;

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
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("documents.sqlite");
        let mut writer = Database::create(&path, &StoreParams::default(), "it").unwrap().connection;
        writer.execute_batch("PRAGMA synchronous = OFF; CREATE TABLE pages (bytes)").unwrap();
        let (checkpoints, thread) = Checkpoints::take(&mut writer, &path).unwrap();
        let insert = "INSERT INTO pages (bytes) VALUES (zeroblob(5000))";
        let reader = Database::open_reader(&path).unwrap().connection;
        // A commit that comes while the thread copies; here somebody reads what was before it.
        let leave_a_rest = || {
            reader.execute_batch("BEGIN; SELECT count(*) FROM pages").unwrap();
            writer.execute_batch(insert).unwrap();
            thread.copy();
            reader.execute_batch("COMMIT").unwrap();
        };
        assert!(commit_until_woken(&writer, &thread).is_some());
        leave_a_rest();

        // With the rest in it the log goes on, and the thread is woken again before long.
        let longest = log_bytes(&path);
        writer.execute_batch(insert).unwrap();
        assert!(log_bytes(&path) > longest);
        let commits = commit_until_woken(&writer, &thread).unwrap();
        assert!(commits < PAGES_AGAIN as usize, "{commits}");

        // Without it, the log's file is written from its beginning.
        leave_a_rest();
        checkpoints.copy_rest(&writer);
        let longest = log_bytes(&path);
        for _ in 0..PAGES / 8 {
            writer.execute_batch(insert).unwrap();
        }
        assert_eq!(log_bytes(&path), longest);
        assert!(thread.woken.try_recv().is_err());
    }

    #[test]
    fn a_reader_in_the_way_does_not_stop_anybody() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("documents.sqlite");
        let mut writer = Database::create(&path, &StoreParams::default(), "it").unwrap().connection;
        writer.execute_batch("PRAGMA synchronous = OFF; CREATE TABLE pages (bytes)").unwrap();
        let (checkpoints, thread) = Checkpoints::take(&mut writer, &path).unwrap();
        let reader = Database::open_reader(&path).unwrap().connection;
        reader.execute_batch("BEGIN").unwrap();
        let seen = |reader: &Connection| -> i64 {
            reader.query_row("SELECT count(*) FROM pages", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(seen(&reader), 0);
        let commits = commit_until_woken(&writer, &thread).unwrap();
        thread.copy();
        checkpoints.copy_rest(&writer);
        assert_eq!(seen(&reader), 0);
        let again = commit_until_woken(&writer, &thread).unwrap();
        reader.execute_batch("COMMIT").unwrap();
        assert_eq!(seen(&reader), (commits + again) as i64);
    }
}
