//! Flush and close; counts and sizes; removal of derived files.

use std::path::Path;
use std::sync::{Arc, RwLock, mpsc};

use wonbon_index::{CopyIndex, MemoryIndex};

use super::Store;
use crate::counts::Counts;
use crate::error::StoreError;
use crate::store_files::{StoreFiles, WriteLock};
use crate::writer::Request;
use crate::writer_queue::writer_ended;

/// What a store takes on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskBytes {
    /// All that lasts.
    pub database: u64,
    /// The originals' features, to open quickly.
    pub snapshot: u64,
    /// The search index.
    pub search: u64,
    /// The index of shingles.
    pub shingles: u64,
}

impl Store {
    /// Removes what is derived from the database, the snapshot of the index, the search index and the
    /// index of shingles; the next opening builds them.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::InUse`], [`StoreError::Io`].
    pub fn forget_derived(directory: &Path) -> Result<(), StoreError> {
        Store::refuse_postgres(directory, "removing what is derived")?;
        let files = StoreFiles { directory: directory.to_owned() };
        if !files.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        let _lock = WriteLock::take(&files)?;
        files.remove_derived()
    }

    /// Waits until everything queued so far is stored and the snapshot of the index is written.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn flush(&self) -> Result<(), StoreError> {
        let (reply, answer) = mpsc::channel();
        self.writer_queue()?.enqueue(Request::Flush(reply))?;
        answer.recv().map_err(|_| writer_ended())?
    }

    /// Whether documents can be stored: says why not if the writer has stopped. It writes nothing and does not
    /// wait for the writer, so a store whose disk is full passes.
    ///
    /// # Errors
    ///
    /// [`StoreError::Stopped`], [`StoreError::ReadOnly`].
    pub fn check_writer(&self) -> Result<(), StoreError> {
        self.writer_queue()?.check()
    }

    /// Closes the store: stores everything queued and writes all derived files. Other clones of
    /// the handle can still read but no longer write.
    ///
    /// # Errors
    ///
    /// What went wrong at the end; nothing acknowledged is lost by it.
    pub fn close(self) -> Result<(), StoreError> {
        let flushed = match self.flush() {
            Err(StoreError::ReadOnly { .. }) => Ok(()),
            flushed => flushed,
        };
        self.inner.end();
        flushed
    }

    /// How many documents of which kind there are.
    ///
    /// From 20,000 documents on the count is cached for up to twenty times as long as counting took, half a second
    /// for some 100,000 documents.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn counts(&self) -> Result<Counts, StoreError> {
        self.reading(|database| {
            let mut counted = self.inner.counted.lock().expect("no one panics with it");
            let mut counts = counted.counts(database)?;
            drop(counted);
            database.count_others(&mut counts)?;
            Ok(counts)
        })
    }

    /// Bytes on disk: the database with its log, the snapshot of the index, the search index.
    #[must_use]
    pub fn disk_bytes(&self) -> DiskBytes {
        let files = &self.inner.files;
        DiskBytes {
            database: self.inner.backend.bytes(),
            snapshot: bytes_on_disk(&files.snapshot(&self.inner.identity)),
            search: bytes_on_disk(&files.search()),
            shingles: bytes_on_disk(&files.shingles()),
        }
    }

    /// Bytes of memory that the index takes.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        self.inner.index.read().memory_bytes()
    }

    /// The index of originals, for benchmarks.
    #[must_use]
    pub fn index(&self) -> Arc<RwLock<MemoryIndex>> {
        self.inner.index.memory().clone()
    }

    /// How many originals the index holds.
    #[must_use]
    pub fn index_len(&self) -> usize {
        self.inner.index.read().len()
    }
}

/// Bytes of a file, or of all files below a directory.
fn bytes_on_disk(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| bytes_on_disk(&entry.path())).sum()
}
