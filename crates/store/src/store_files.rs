//! The paths of the files of a store, and the lock that its one writing process holds.

use std::fs::File;
use std::path::{Path, PathBuf};

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

    /// SQLite's write-ahead log.
    pub(crate) fn log(&self) -> PathBuf {
        self.directory.join("documents.sqlite-wal")
    }

    /// SQLite's rollback journal, which a store does not use.
    pub(crate) fn journal(&self) -> PathBuf {
        self.directory.join("documents.sqlite-journal")
    }

    /// The marks of the database that everything else belongs to.
    pub(crate) fn mark(&self) -> PathBuf {
        self.directory.join("mark")
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

    /// Removes the snapshot of the index, the search index and the index of shingles.
    pub(crate) fn remove_derived(&self) -> Result<(), StoreError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Io { doing: "remove", path, source }
        };
        for entry in std::fs::read_dir(&self.directory).map_err(io(&self.directory))? {
            let path = entry.map_err(io(&self.directory))?.path();
            if path.extension().is_some_and(|extension| extension == "snapshot") {
                std::fs::remove_file(&path).map_err(io(&path))?;
            }
        }
        for derived in [self.search(), self.shingles()] {
            if derived.exists() {
                std::fs::remove_dir_all(&derived).map_err(io(&derived))?;
            }
        }
        Ok(())
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
