//! The paths of the files of a store, and the lock that its one writing process holds.

use std::fs::File;
use std::path::PathBuf;

use crate::error::StoreError;

/// The files of a store.
#[derive(Debug, Clone)]
pub(crate) struct StoreFiles {
    pub(crate) directory: PathBuf,
}

impl StoreFiles {
    pub(crate) fn database(&self) -> PathBuf {
        self.directory.join("documents.sqlite")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.directory.join("lock")
    }

    /// The name holds the store's identity, so that another store's snapshot is never taken for it.
    pub(crate) fn snapshot(&self, identity: &str) -> PathBuf {
        self.directory.join(format!("index-{identity}.snapshot"))
    }

    pub(crate) fn search(&self) -> PathBuf {
        self.directory.join("search")
    }

    pub(crate) fn shingles(&self) -> PathBuf {
        self.directory.join("shingles")
    }
}

/// Held as long as a process may write; the system lets go of it when the process ends.
#[derive(Debug)]
pub(crate) struct WriteLock(#[expect(dead_code, reason = "held, not used")] File);

impl WriteLock {
    pub(crate) fn take(files: &StoreFiles) -> Result<Self, StoreError> {
        let path = files.lock();
        match wonbon_files::lock::take(&path) {
            Ok(Some(file)) => Ok(WriteLock(file)),
            Ok(None) => Err(StoreError::InUse { path: files.directory.clone() }),
            Err(source) => Err(StoreError::Io { doing: "open", path, source }),
        }
    }
}
