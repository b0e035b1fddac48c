//! From files to a store in memory: the lock, the index, what it missed.
//!
//! The index is a derived thing: it carries the number of the last change it has seen, and the
//! changes since bring it up. When the snapshot is missing, damaged, another store's or too old, the
//! features in the database build it anew.
//!
//! Cost: reading a snapshot and building its tables, about 1.3 microseconds an original.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use wonbon_index::{CopyIndex, IndexParams, MemoryIndex, Row};

use crate::database::Database;
use crate::document::Kind;
use crate::error::StoreError;

/// The files of a store.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) directory: PathBuf,
}

impl Places {
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
    pub(crate) fn take(places: &Places) -> Result<Self, StoreError> {
        let path = places.lock();
        match wonbon_lock::take(&path) {
            Ok(Some(file)) => Ok(WriteLock(file)),
            Ok(None) => Err(StoreError::InUse { path: places.directory.clone() }),
            Err(source) => Err(StoreError::Io { doing: "open", path, source }),
        }
    }
}

/// The index as it stands in the database.
pub(crate) struct LoadedIndex {
    pub(crate) index: MemoryIndex,
    /// The mark of the snapshot it came from; 0 when it was built from the features.
    pub(crate) snapshot_mark: u64,
    /// Why the snapshot was of no use, if it was there.
    pub(crate) rebuilt: Option<String>,
}

/// Reads the index as of the database's present state.
pub(crate) fn load_index(
    database: &Database,
    snapshot: &Path,
    params: IndexParams,
) -> Result<LoadedIndex, StoreError> {
    // One state of the database for all that is read.
    database.connection.execute_batch("BEGIN")?;
    let loaded = load_in_transaction(database, snapshot, params);
    database.connection.execute_batch("COMMIT")?;
    loaded
}

fn load_in_transaction(
    database: &Database,
    snapshot: &Path,
    params: IndexParams,
) -> Result<LoadedIndex, StoreError> {
    let (last, forgotten) = database.last_change()?;
    let mut rebuilt = None;
    if snapshot.exists() {
        match MemoryIndex::read_snapshot(snapshot, params) {
            Ok((mut index, mark)) if (forgotten..=last).contains(&mark) => {
                catch_up(database, &mut index, mark)?;
                return Ok(LoadedIndex { index, snapshot_mark: mark, rebuilt: None });
            }
            Ok((_, mark)) => {
                rebuilt = Some(format!(
                    "the snapshot is of change {mark}, the changes from {forgotten} to {last} are known"
                ));
            }
            Err(error) => rebuilt = Some(error.to_string()),
        }
    }
    let index = build_index(database, params)?;
    Ok(LoadedIndex { index, snapshot_mark: 0, rebuilt })
}

/// The index of all originals, from the features in the database.
pub(crate) fn build_index(
    database: &Database,
    params: IndexParams,
) -> Result<MemoryIndex, StoreError> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    database.for_each_original(|row, features| {
        rows.push(row);
        all.extend_from_slice(&features);
        Ok(())
    })?;
    Ok(MemoryIndex::build(params, rows, all)?)
}

fn catch_up(database: &Database, index: &mut MemoryIndex, mark: u64) -> Result<(), StoreError> {
    let (_, changed) = database.changes_after(mark, usize::MAX >> 1)?;
    if changed.is_empty() {
        return Ok(());
    }
    let changed: HashSet<Row> = changed.into_iter().collect();
    let outdated: Vec<(Row, Vec<u64>)> = index
        .originals()
        .filter(|(row, _)| changed.contains(row))
        .map(|(row, features)| (row, features.to_vec()))
        .collect();
    for (row, features) in outdated {
        index.remove(row, &features)?;
    }
    for row in changed {
        if let Some(record) = database.record(row)?
            && record.standing.kind == Kind::Original
        {
            index.insert(row, &record.features)?;
        }
    }
    Ok(())
}
