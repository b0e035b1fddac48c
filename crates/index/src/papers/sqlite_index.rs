//! An index of the papers: its trees and the file they are in.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;

use super::file::{IndexFile, Sum};
use super::trees::{TreeError, Trees};
use super::{FEATURES, Six};
use crate::{CopyIndex, IndexError, IndexParams, Match, Row};

/// z: the papers' two agreeing features.
const AGREEING: usize = 2;

/// One of the papers' indexes, in an SQLite file: [`B6D1`](super::B6D1), [`R15D2`](super::R15D2) or
/// [`R1D3`](super::R1D3).
#[derive(Debug)]
pub struct SqliteIndex<T: Trees> {
    trees: T,
    file: IndexFile,
}

impl<T: Trees> SqliteIndex<T> {
    /// The papers' name of this index.
    pub const NAME: &'static str = T::NAME;

    /// Opens the index in this file; if there is no file, or an empty one, makes an empty index.
    /// Looks at the head of the file only: [`SqliteIndex::verify`] reads it all.
    ///
    /// # Errors
    ///
    /// [`IndexError::OnlyTwoOfSix`] for other params, [`IndexError::Foreign`] if the file is
    /// something else, [`IndexError::DamagedFile`] if it contradicts itself or loading it was broken
    /// off, [`IndexError::Sqlite`] or [`IndexError::Io`] if it cannot be read or another program has
    /// it open.
    pub fn open(path: &Path, params: IndexParams) -> Result<Self, IndexError> {
        check_params(T::NAME, params)?;
        let trees = T::new();
        Ok(SqliteIndex { file: IndexFile::open(path, &trees)?, trees })
    }

    /// An empty index that is gone when it is dropped: in memory, and when it outgrows its cache in
    /// a file without a name.
    ///
    /// # Errors
    ///
    /// [`IndexError::OnlyTwoOfSix`] for other params, [`IndexError::Sqlite`].
    pub fn temporary(params: IndexParams) -> Result<Self, IndexError> {
        check_params(T::NAME, params)?;
        let trees = T::new();
        Ok(SqliteIndex { file: IndexFile::temporary(&trees)?, trees })
    }

    /// How much memory SQLite may use for pages; 64 MiB unless told otherwise. Changes nothing but
    /// speed: a page access counts whether the page is in memory or not.
    ///
    /// # Errors
    ///
    /// [`IndexError::Sqlite`].
    pub fn set_cache_bytes(&mut self, bytes: u64) -> Result<(), IndexError> {
        let set = self.file.set_cache_bytes(bytes);
        set.map_err(|error| self.file.failure("set the cache of", error.into()))
    }

    /// Adds many originals at once, several times faster than one by one: B-trees in the order of
    /// their keys, without journal. `features` are those of row after row. If the program ends
    /// while this lasts, the file is refused afterwards, with what it held before.
    ///
    /// # Errors
    ///
    /// [`IndexError::WrongLength`] and [`IndexError::RowTaken`], with nothing done; otherwise
    /// [`IndexError::Sqlite`] or [`IndexError::DamagedFile`], and the index is lost.
    pub fn load(&mut self, rows: &[Row], features: &[u64]) -> Result<(), IndexError> {
        self.file.check_usable()?;
        let (sixes, rest) = features.as_chunks::<FEATURES>();
        if sixes.len() != rows.len() || !rest.is_empty() {
            let want = rows.len() * FEATURES;
            return Err(IndexError::WrongLength { want, got: features.len() });
        }
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|two| two[0] == two[1]) {
            return Err(IndexError::RowTaken { row: twice[0] });
        }
        if !self.is_empty() {
            let taken = self.file.reading(|_| {
                for &row in &sorted {
                    if self.file.stored(row)?.is_some() {
                        return Ok(Some(row));
                    }
                }
                Ok(None)
            });
            if let Some(row) = taken.map_err(|error| self.file.failure("read", error))? {
                return Err(IndexError::RowTaken { row });
            }
        }
        let mut originals: Vec<(Row, Six)> =
            rows.iter().copied().zip(sixes.iter().copied()).collect();
        let loaded = self.file.load(&self.trees, &mut originals);
        loaded.map_err(|error| self.file.failure("load", error))
    }

    /// Reads everything: SQLite's own check of its pages and R*-trees, every entry of every tree
    /// against the features of its row, and these against their sum. Takes 52 bytes of memory an
    /// original.
    ///
    /// # Errors
    ///
    /// [`IndexError::DamagedFile`] at the first contradiction, [`IndexError::Sqlite`].
    pub fn verify(&self) -> Result<(), IndexError> {
        self.file.check_usable()?;
        let verified = self.file.reading(|connection| {
            let found: String =
                connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            if found != "ok" {
                return Err(TreeError::Damaged("SQLite's own check found an error"));
            }
            let (mut originals, mut sum) = (Vec::new(), Sum::default());
            self.file.for_each_original(|row, features| {
                sum = sum.plus(row, &features);
                originals.push((row, features));
            })?;
            if sum != self.file.sum {
                return Err(TreeError::Damaged("its originals do not sum up to what it says"));
            }
            let mut entries = 0;
            self.trees.for_each_entry(connection, &mut |row, belongs| {
                entries += 1;
                match originals.binary_search_by_key(&row, |(row, _)| *row) {
                    Ok(at) if belongs(&originals[at].1) => Ok(()),
                    _ => Err(TreeError::Damaged("a tree has an entry that no original has")),
                }
            })?;
            if entries == T::ENTRIES * sum.originals {
                Ok(())
            } else {
                Err(TreeError::Damaged("an original is not in all trees"))
            }
        });
        verified.map_err(|error| self.file.failure("verify", error))
    }

    /// The part of [`CopyIndex::page_accesses`] that went into comparing what the trees had found
    /// with whole features: the papers' indexes did no such thing.
    #[must_use]
    pub fn comparison_page_accesses(&self) -> u64 {
        self.file.comparison_page_accesses()
    }

    /// Calls `each` with originals that agree in two places, each as often as the trees come upon
    /// it, until it says to stop.
    fn search(
        &self,
        features: &[u64],
        mut each: impl FnMut(Match) -> ControlFlow<()>,
    ) -> Result<(), IndexError> {
        self.file.check_usable()?;
        if features.is_empty() {
            return Ok(());
        }
        let features = six(features)?;
        let searched = self.file.reading(|connection| {
            self.trees.search(connection, features, &mut |row| {
                let found = self.file.compare(row, features)?;
                Ok(if found.agreeing >= AGREEING { each(found) } else { ControlFlow::Continue(()) })
            })
        });
        searched.map_err(|error| self.file.failure("search", error))
    }
}

impl<T: Trees> CopyIndex for SqliteIndex<T> {
    fn params(&self) -> IndexParams {
        IndexParams { features: FEATURES, agreeing: AGREEING }
    }

    fn matches(&self, features: &[u64]) -> Result<Vec<Match>, IndexError> {
        let mut matches = BTreeSet::new();
        self.search(features, |found| {
            matches.insert(found);
            ControlFlow::Continue(())
        })?;
        Ok(matches.into_iter().collect())
    }

    fn first_match(&self, features: &[u64]) -> Result<Option<Match>, IndexError> {
        let mut first = None;
        self.search(features, |found| {
            first = Some(found);
            ControlFlow::Break(())
        })?;
        Ok(first)
    }

    fn insert(&mut self, row: Row, features: &[u64]) -> Result<(), IndexError> {
        self.file.check_usable()?;
        let features = six(features)?;
        let stored = self.file.stored(row).map_err(|error| self.file.failure("read", error))?;
        if stored.is_some() {
            return Err(IndexError::RowTaken { row });
        }
        let inserted = self.file.insert(&self.trees, row, features);
        inserted.map_err(|error| self.file.failure("write", error))
    }

    fn remove(&mut self, row: Row, features: &[u64]) -> Result<bool, IndexError> {
        self.file.check_usable()?;
        let features = six(features)?;
        let stored = self.file.stored(row).map_err(|error| self.file.failure("read", error))?;
        if stored.as_ref() != Some(features) {
            return Ok(false);
        }
        let removed = self.file.remove(&self.trees, row, features);
        removed.map_err(|error| self.file.failure("write", error))?;
        Ok(true)
    }

    fn len(&self) -> usize {
        self.file.sum.originals as usize
    }

    fn page_accesses(&self) -> u64 {
        self.file.page_accesses()
    }
}

fn check_params(index: &'static str, params: IndexParams) -> Result<(), IndexError> {
    match params {
        IndexParams { features: FEATURES, agreeing: AGREEING } => Ok(()),
        _ => Err(IndexError::OnlyTwoOfSix { index, params }),
    }
}

fn six(features: &[u64]) -> Result<&Six, IndexError> {
    features.try_into().map_err(|_| IndexError::WrongLength { want: FEATURES, got: features.len() })
}
