//! The writing side: one per store, one thread that makes segments.
//!
//! Documents are handed to the engine's thread and become postings in memory; a commit writes them out,
//! syncs, and then replaces one small file that names all segments and carries the mark. A process that
//! dies at any moment leaves the last commit and files that the next one clears away. Segments are merged
//! in the background, so that a search asks few of them.
//!
//! Cost: a commit writes and syncs about ten small files whatever it holds: commit every second or every
//! hundred thousand documents rather than every document. When nothing comes, [`SearchIndex::rest`] lets
//! segments be merged that a search would otherwise ask one by one (`merging`). Memory: `memory_bytes` for postings, a bit per
//! row. Opening reads every file once for its checksum.
//!
//! Guarantee: after a commit returned, its documents and its mark are on disk together or, if the
//! directory was damaged since, neither is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::{Directory, INDEX_WRITER_LOCK, MmapDirectory};
use tantivy::indexer::IndexWriterOptions;
use tantivy::store::Compressor;
use tantivy::{Index, IndexSettings, IndexWriter, Term};

use crate::directory::{META, index_files, wipe};
use crate::document::SearchDocument;
use crate::error::{SearchError, guarded};
use crate::merging::{Merging, small_beside_the_rest};
use crate::payload::Payload;
use crate::reader::{Checked, SearchReader, Shared, tokenizers};
use crate::row_set::RowSet;
use crate::schema::schema;

/// What a person may set; none of it changes what is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchConfig {
    /// Memory for postings before they are written out, clamped to 16 MB and 4 GB a thread. More makes
    /// fewer segments and less merging, less keeps a small machine free.
    pub memory_bytes: usize,
    /// Threads that make postings. One leaves the other cores to the rest.
    pub threads: usize,
    /// Whether opening compares every file with its checksum: some 3 GB/s from the page cache. Without,
    /// damage shows when it is met, perhaps as a wrong answer.
    pub verify_checksums: bool,
}

impl Default for SearchConfig {
    fn default() -> Self {
        SearchConfig { memory_bytes: 64 << 20, threads: 1, verify_checksums: true }
    }
}

/// An index that was opened for writing.
pub struct Opened {
    /// The index.
    pub index: SearchIndex,
    /// Up to where it has come; put in again what follows.
    pub mark: u64,
    /// Why it begins at mark 0 although there was an index.
    pub rebuilt: Option<Rebuilt>,
}

/// Why an index was wiped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rebuilt {
    /// It was an index of something else.
    OtherIdentity {
        /// Of what.
        found: String,
    },
    /// It was damaged.
    Damaged {
        /// What was noticed.
        what: String,
    },
}

impl std::fmt::Display for Rebuilt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rebuilt::OtherIdentity { found } => write!(f, "it was an index of \"{found}\""),
            Rebuilt::Damaged { what } => write!(f, "it was damaged: {what}"),
        }
    }
}

/// The writing side of the index.
pub struct SearchIndex {
    dir: PathBuf,
    writer: IndexWriter,
    merging: Merging,
    rows: RowSet,
    shared: Arc<Shared>,
    poisoned: bool,
}

impl SearchIndex {
    /// Opens or makes the index in a directory.
    ///
    /// `identity` names what it is an index of (the store, versions of what it is made from). An index of
    /// another identity or a damaged one is wiped and begins at mark 0. Files that no index makes are
    /// left alone.
    ///
    /// # Errors
    /// When somebody else is writing to it, or the directory cannot be read or written.
    pub fn open(dir: &Path, identity: &str, config: &SearchConfig) -> Result<Opened, SearchError> {
        let io = |error| SearchError::io("open", dir, error);
        let engine = |error| SearchError::engine("open", dir, error);
        std::fs::create_dir_all(dir).map_err(io)?;
        let directory = MmapDirectory::open(dir).map_err(|error| engine(error.into()))?;
        // Held while it is looked at and wiped; a reader needs no lock, another writer does.
        let lock = patiently(|| {
            let lock = directory.acquire_lock(&INDEX_WRITER_LOCK);
            lock.map_err(|error| engine(error.into()))
        })?;
        let (checked, rebuilt) = match check(dir, identity, config.verify_checksums) {
            Ok(checked) => (checked, None),
            Err(SearchError::Damaged { what, .. }) => (None, Some(Rebuilt::Damaged { what })),
            Err(SearchError::OtherIdentity { found, .. }) => {
                (None, Some(Rebuilt::OtherIdentity { found }))
            }
            Err(error) => return Err(error),
        };
        let (writer, checked) = match checked {
            Some(checked) => {
                drop(lock);
                (patiently(|| writer(&checked.index, config).map_err(engine))?, checked)
            }
            None => {
                let index = create(dir)?;
                drop(lock);
                let mut writer = patiently(|| writer(&index, config).map_err(engine))?;
                // From the first moment on the index says of what it is one.
                let payload = Payload { mark: 0, documents: 0, identity: identity.to_owned() };
                commit(&mut writer, &payload).map_err(engine)?;
                let checked = Checked::new(dir, index, identity, false)?;
                (writer, checked.expect("it was just committed"))
            }
        };
        let mut rows = RowSet::default();
        for &row in &checked.rows {
            rows.insert(row);
        }
        let mark = checked.payload.mark;
        let shared = Arc::new(checked.share(dir, None)?);
        let merging = Merging::default();
        writer.set_merge_policy(Box::new(merging.clone()));
        let dir = dir.to_owned();
        let index = SearchIndex { dir, writer, merging, rows, shared, poisoned: false };
        Ok(Opened { index, mark, rebuilt })
    }

    /// Puts a document in; it replaces what stood under its row. Seen after the next commit.
    ///
    /// # Errors
    /// When a write failed, now or before.
    pub fn put(&mut self, document: &SearchDocument<'_>) -> Result<(), SearchError> {
        self.check_poison()?;
        self.merging.set_resting(false);
        if !self.rows.insert(document.row) {
            self.delete(document.row);
        }
        let added = self.writer.add_document(document.to_tantivy(&self.shared.fields));
        added.map(drop).map_err(|error| self.poison("write", error))
    }

    /// Takes the document under a row out, if there is one; returns whether there was. Seen after the next
    /// commit.
    ///
    /// # Errors
    /// When a write failed before.
    pub fn remove(&mut self, row: u32) -> Result<bool, SearchError> {
        self.check_poison()?;
        let there = self.rows.remove(row);
        if there {
            self.delete(row);
        }
        Ok(there)
    }

    /// Makes everything since the last commit durable, together with the mark, and lets readers see it.
    ///
    /// # Errors
    /// When it cannot be written; the index then has to be opened again.
    pub fn commit(&mut self, mark: u64) -> Result<(), SearchError> {
        self.check_poison()?;
        let identity = self.shared.identity.clone();
        let payload = Payload { mark, documents: self.rows.length(), identity };
        let committed = commit(&mut self.writer, &payload);
        committed.map_err(|error| self.poison("commit", error))?;
        self.show(mark)
    }

    /// Nothing comes for the time being, and everything was committed with this mark: segments that are
    /// small beside the rest are merged in the background, and readers get what was merged. Tells
    /// whether it is worth being called again a little later.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn rest(&mut self, mark: u64) -> Result<bool, SearchError> {
        self.check_poison()?;
        let known = self.shared.snapshot().segments();
        let engine = |error| SearchError::engine("read", &self.dir, error);
        let segments = self.shared.index.searchable_segment_metas().map_err(engine)?;
        let merged = segments.iter().any(|segment| !known.contains(&segment.id()));
        if merged {
            self.show(mark)?;
        }
        let to_do = !small_beside_the_rest(&segments).is_empty();
        if to_do && !self.merging.is_resting() {
            self.merging.set_resting(true);
            // The engine looks for what to merge when it commits, and whenever a merge ends.
            self.commit(mark)?;
        }
        Ok(to_do)
    }

    /// Lets readers see the last commit, and what was merged.
    fn show(&self, mark: u64) -> Result<(), SearchError> {
        let Shared { dir, reader, .. } = &*self.shared;
        guarded("read", dir, || {
            reader.reload().map_err(|error| SearchError::engine("read", dir, error))
        })?;
        self.shared.set(reader.searcher(), mark)
    }

    /// A reader of this index; it sees every commit from when it returned.
    #[must_use]
    pub fn reader(&self) -> SearchReader {
        SearchReader { shared: Arc::clone(&self.shared) }
    }

    /// How many documents there are, those since the last commit included.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.rows.length()
    }

    /// Waits for merges under way and closes the index. Merges that are not waited for are given up when the
    /// index is dropped, and begin again another time.
    ///
    /// # Errors
    /// When a merge failed; the last commit stands.
    pub fn close(self) -> Result<(), SearchError> {
        let SearchIndex { dir, writer, .. } = self;
        writer.wait_merging_threads().map_err(|error| SearchError::engine("merge", &dir, error))
    }

    fn delete(&self, row: u32) {
        self.writer.delete_term(Term::from_field_u64(self.shared.fields.row, u64::from(row)));
    }

    fn check_poison(&self) -> Result<(), SearchError> {
        if self.poisoned { Err(SearchError::Poisoned { path: self.dir.clone() }) } else { Ok(()) }
    }

    fn poison(&mut self, doing: &'static str, error: tantivy::TantivyError) -> SearchError {
        self.poisoned = true;
        SearchError::engine(doing, &self.dir, error)
    }
}

/// Looks at what is there; `None` if nothing was ever committed.
fn check(dir: &Path, identity: &str, checksums: bool) -> Result<Option<Checked>, SearchError> {
    let io = |error| SearchError::io("open", dir, error);
    guarded("open", dir, || {
        if !dir.join(META).try_exists().map_err(io)? {
            if index_files(dir).map_err(io)?.is_empty() {
                return Ok(None);
            }
            let what = format!("{META} is missing");
            return Err(SearchError::Damaged { path: dir.to_owned(), what });
        }
        let index = Index::open_in_dir(dir);
        let index = index.map_err(|error| SearchError::engine("open", dir, error))?;
        Checked::new(dir, index, identity, checksums)
    })
}

/// Wipes what is there and makes an empty index, without a commit.
fn create(dir: &Path) -> Result<Index, SearchError> {
    let engine = |error| SearchError::engine("make", dir, error);
    wipe(dir).map_err(|error| SearchError::io("wipe", dir, error))?;
    let directory = MmapDirectory::open(dir).map_err(|error| engine(error.into()))?;
    let settings = IndexSettings {
        docstore_compression: Compressor::None,
        // Nothing is stored, so nothing is worth a thread.
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    };
    let builder = Index::builder().schema(schema().0).settings(settings).tokenizers(tokenizers());
    builder.open_or_create(directory).map_err(engine)
}

fn writer(index: &Index, config: &SearchConfig) -> tantivy::Result<IndexWriter> {
    let threads = config.threads.clamp(1, 8);
    let options = IndexWriterOptions::builder()
        .num_worker_threads(threads)
        .memory_budget_per_thread((config.memory_bytes / threads).clamp(16 << 20, 4_000 << 20))
        .num_merge_threads(1)
        .build();
    index.writer_with_options(options)
}

/// Tries again for a while when the lock is held.
fn patiently<T>(attempt: impl FnMut() -> Result<T, SearchError>) -> Result<T, SearchError> {
    wonbon_files::lock::patiently(attempt, |error| matches!(error, SearchError::Busy { .. }))
}

fn commit(writer: &mut IndexWriter, payload: &Payload) -> tantivy::Result<()> {
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&payload.to_text());
    commit.commit().map(drop)
}
