//! The reading side: any number of readers, in this process or another, on the last commit they know.
//!
//! A reader holds a snapshot: the segments of one commit with its mark. Readers from
//! [`SearchIndex::reader`](crate::SearchIndex::reader) get the next one when a commit ends. A reader that
//! was opened on its own asks, at every search, whether the file that names the commit was replaced:
//! one `stat`, a microsecond or two.
//!
//! Guarantee: one search sees one commit. Nothing a reader does is seen by the writer.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use tantivy::index::SegmentId;
use tantivy::tokenizer::{RawTokenizer, TokenizerManager};
use tantivy::{Index, IndexMeta, IndexReader, ReloadPolicy, Searcher, SegmentReader};

use crate::compile::{compile, tells_its_cost};
use crate::directory::{META, ReadOnlyDirectory, index_files, verify_checksums};
use crate::error::{SearchError, guarded};
use crate::payload::Payload;
use crate::query::Query;
use crate::schema::{Fields, ROW, schema};
use crate::tokenizer::{WORDS, WordTokenizer};
use crate::top::{Columns, Top};

/// Pages end here: `offset + limit` may not exceed it.
pub const DEPTH_MAX: usize = 10_000;

/// How long a query may take unless it is said.
pub const QUERY_TIME: Duration = Duration::from_secs(10);

/// How often a reader looks again when files vanish under it: each time a whole commit has passed.
const ATTEMPTS: usize = 20;

/// Which results are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// How many of the best are left out.
    pub offset: usize,
    /// How many follow at most.
    pub limit: usize,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// How many documents match, whatever the page.
    pub total: u64,
    /// The page, best first: by score, then the newer, then the smaller row.
    pub hits: Vec<Hit>,
}

/// A document that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The store's number of the document.
    pub row: u32,
    /// How well it matches; 0 if the query asks for no words. Comparable within one answer only.
    pub score: f32,
}

/// One commit.
pub(crate) struct Snapshot {
    searcher: Searcher,
    mark: u64,
    /// Of every segment.
    columns: Vec<Columns>,
}

impl Snapshot {
    fn new(dir: &Path, searcher: Searcher, mark: u64) -> Result<Arc<Snapshot>, SearchError> {
        let columns = guarded("read", dir, || {
            let columns = searcher.segment_readers().iter().map(Columns::of);
            let columns: tantivy::Result<_> = columns.collect();
            columns.map_err(|error| SearchError::engine("read", dir, error))
        })?;
        Ok(Arc::new(Snapshot { searcher, mark, columns }))
    }

    /// Which segments it has.
    pub(crate) fn segments(&self) -> Vec<SegmentId> {
        self.searcher.segment_readers().iter().map(SegmentReader::segment_id).collect()
    }
}

pub(crate) struct Shared {
    pub dir: PathBuf,
    pub identity: String,
    pub fields: Fields,
    pub reader: IndexReader,
    pub index: Index,
    pub snapshot: RwLock<Arc<Snapshot>>,
    /// For a reader on its own: which file named the commit that it knows.
    followed: Option<Mutex<Stamp>>,
}

/// Searches. Cheap to clone; clones see the same commits.
#[derive(Clone)]
pub struct SearchReader {
    pub(crate) shared: Arc<Shared>,
}

impl SearchReader {
    /// Opens the index in a directory for reading alone, takes no lock and writes nothing. `None` if there
    /// is none yet. Reads every file once, to compare it with its checksum.
    ///
    /// # Errors
    /// When it is an index of something else, is damaged, or cannot be read.
    pub fn open(dir: &Path, identity: &str) -> Result<Option<SearchReader>, SearchError> {
        if !dir.join(META).try_exists().map_err(|error| SearchError::io("open", dir, error))? {
            return Ok(None);
        }
        // What vanishes while it is being opened belonged to a commit that has passed.
        let mut attempt = 0;
        loop {
            attempt += 1;
            let before = Stamp::of(dir);
            match Self::open_once(dir, identity) {
                Err(SearchError::Damaged { .. })
                    if attempt < ATTEMPTS
                        && before.as_ref().ok() != Stamp::of(dir).as_ref().ok() => {}
                result => return result,
            }
        }
    }

    fn open_once(dir: &Path, identity: &str) -> Result<Option<SearchReader>, SearchError> {
        let stamp = Stamp::of(dir).map_err(|error| SearchError::io("open", dir, error))?;
        guarded("open", dir, || {
            let engine = |error| SearchError::engine("open", dir, error);
            let index =
                Index::open(ReadOnlyDirectory::open(dir).map_err(engine)?).map_err(engine)?;
            let Some(checked) = Checked::new(dir, index, identity, true)? else { return Ok(None) };
            let shared = checked.share(dir, Some(Mutex::new(stamp)))?;
            Ok(Some(SearchReader { shared: Arc::new(shared) }))
        })
    }

    /// Up to where the commit it knows has come.
    #[must_use]
    pub fn mark(&self) -> u64 {
        self.snapshot().mark
    }

    /// Goes to the last commit, if the reader was opened on its own and there is a newer one; returns whether
    /// there was. [`search`](Self::search) does this by itself.
    ///
    /// # Errors
    /// When the newer commit cannot be read, or is of something else. The reader keeps the one it knows.
    pub fn refresh(&self) -> Result<bool, SearchError> {
        let Shared { dir, identity, followed, reader, index, .. } = &*self.shared;
        let Some(followed) = followed else { return Ok(false) };
        let mut followed = followed.lock().unwrap_or_else(PoisonError::into_inner);
        let engine = |error| SearchError::engine("read", dir, error);
        for attempt in 1.. {
            let stamp = Stamp::of(dir).map_err(|error| SearchError::io("read", dir, error))?;
            if *followed == stamp {
                return Ok(false);
            }
            let opened = guarded("read", dir, || {
                let before = read_payload(dir, &index.load_metas().map_err(engine)?, identity)?;
                reader.reload().map_err(engine)?;
                let after = read_payload(dir, &index.load_metas().map_err(engine)?, identity)?;
                Ok((before, after))
            });
            match opened {
                // Merges replace the file too and leave the payload as it is.
                Ok((Some(before), Some(after))) if before == after => {
                    *followed = stamp;
                    self.shared.set(reader.searcher(), after.mark)?;
                    return Ok(true);
                }
                Ok((_, Some(_))) | Err(SearchError::Damaged { .. }) if attempt < ATTEMPTS => {}
                Err(error) => return Err(error),
                Ok(_) => {
                    let what =
                        "commits follow each other faster than they can be opened".to_owned();
                    return Err(SearchError::Damaged { path: dir.clone(), what });
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Finds what matches.
    ///
    /// # Errors
    /// When the page lies too deep, or the index cannot be read.
    pub fn search(&self, query: &Query, page: Page) -> Result<Found, SearchError> {
        self.search_within(query, page, QUERY_TIME)
    }

    /// As [`search`](Self::search), for a query that may take this long.
    ///
    /// # Errors
    /// [`SearchError::TooSlow`], or as `search`.
    pub fn search_within(
        &self,
        query: &Query,
        page: Page,
        most: Duration,
    ) -> Result<Found, SearchError> {
        self.limited(query, page, most, u64::MAX)?.ok_or(SearchError::TooSlow { most })
    }

    /// As [`search`](Self::search), if it is brief: if no more than about so many documents are to be looked at,
    /// where one in which a phrase may stand counts as twenty and more. `None` if not, or if that cannot
    /// be told: a query of dates or a single character. That takes some ten microseconds.
    ///
    /// # Errors
    /// As `search`.
    pub fn search_briefly(
        &self,
        query: &Query,
        page: Page,
        most_documents: u64,
    ) -> Result<Option<Found>, SearchError> {
        match tells_its_cost(query) {
            true => self.limited(query, page, QUERY_TIME, most_documents),
            false => Ok(None),
        }
    }

    /// What matches; `None` if it was given up.
    fn limited(
        &self,
        query: &Query,
        page: Page,
        most_time: Duration,
        most_documents: u64,
    ) -> Result<Option<Found>, SearchError> {
        let Page { offset, limit } = page;
        let depth = offset.saturating_add(limit);
        if depth > DEPTH_MAX {
            return Err(SearchError::TooDeep { offset, end: depth });
        }
        self.refresh()?;
        let Shared { dir, fields, .. } = &*self.shared;
        let snapshot = self.snapshot();
        let top = Top {
            depth,
            ranked: query.is_ranked(),
            deadline: Instant::now() + most_time,
            most_documents,
            documents: AtomicU64::new(0),
            columns: &snapshot.columns,
        };
        guarded("search", dir, || match snapshot.searcher.search(&*compile(query, fields), &top) {
            Ok((total, best)) => {
                let hits = best.into_iter().skip(offset);
                let hits = hits.map(|hit| Hit { row: hit.row, score: hit.score }).collect();
                Ok(Some(Found { total, hits }))
            }
            Err(_) if top.is_over() => Ok(None),
            Err(error) => Err(SearchError::engine("search", dir, error)),
        })
    }

    /// How many documents there are.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.snapshot().searcher.num_docs()
    }

    /// The rows of all documents, ascending.
    ///
    /// # Errors
    /// When the index cannot be read.
    pub fn rows(&self) -> Result<Vec<u32>, SearchError> {
        let snapshot = self.snapshot();
        let mut rows =
            guarded("read", &self.shared.dir, || rows(&self.shared.dir, &snapshot.searcher))?;
        rows.sort_unstable();
        Ok(rows)
    }

    /// What the files take on disk, those of a commit or merge under way included.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn disk_bytes(&self) -> Result<u64, SearchError> {
        let dir = &self.shared.dir;
        let files = index_files(dir).map_err(|error| SearchError::io("measure", dir, error))?;
        // A file may be gone since it was listed.
        Ok(files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.len()).sum())
    }

    /// Reads every file of the last commit and compares it with its checksum.
    ///
    /// # Errors
    /// When one differs or cannot be read.
    pub fn verify(&self) -> Result<(), SearchError> {
        self.refresh()?;
        let Shared { dir, index, .. } = &*self.shared;
        guarded("verify", dir, || {
            let meta =
                index.load_metas().map_err(|error| SearchError::engine("verify", dir, error))?;
            verify_checksums(dir, index, &meta)
        })
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot()
    }
}

impl Shared {
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, searcher: Searcher, mark: u64) -> Result<(), SearchError> {
        let snapshot = Snapshot::new(&self.dir, searcher, mark)?;
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = snapshot;
        Ok(())
    }
}

/// An index that was found in order.
pub(crate) struct Checked {
    pub index: Index,
    pub payload: Payload,
    pub reader: IndexReader,
    pub rows: Vec<u32>,
}

impl Checked {
    /// Looks whether the index is whole and of what is wanted; `None` if it was never begun.
    pub(crate) fn new(
        dir: &Path,
        mut index: Index,
        identity: &str,
        checksums: bool,
    ) -> Result<Option<Checked>, SearchError> {
        let engine = |error| SearchError::engine("open", dir, error);
        let damaged =
            |what: &str| SearchError::Damaged { path: dir.to_owned(), what: what.to_owned() };
        let meta = index.load_metas().map_err(engine)?;
        let Some(payload) = read_payload(dir, &meta, identity)? else {
            return Ok(None);
        };
        if index.schema() != schema().0 {
            return Err(damaged("it has other fields"));
        }
        if checksums {
            verify_checksums(dir, &index, &meta)?;
        }
        index.set_tokenizers(tokenizers());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual);
        let reader: IndexReader = reader.try_into().map_err(engine)?;
        let searcher = reader.searcher();
        for segment in searcher.segment_readers() {
            let column = segment.fast_fields().u64(ROW).map_err(engine)?;
            if column.num_docs() != segment.max_doc() {
                return Err(damaged("the number of documents of a segment is wrong"));
            }
        }
        let rows = rows(dir, &searcher)?;
        if rows.len() as u64 != payload.documents {
            return Err(damaged("the number of documents is not what was committed"));
        }
        Ok(Some(Checked { index, payload, reader, rows }))
    }

    pub(crate) fn share(
        self,
        dir: &Path,
        followed: Option<Mutex<Stamp>>,
    ) -> Result<Shared, SearchError> {
        let Checked { index, payload, reader, .. } = self;
        let snapshot = Snapshot::new(dir, reader.searcher(), payload.mark)?;
        Ok(Shared {
            dir: dir.to_owned(),
            identity: payload.identity,
            fields: schema().1,
            reader,
            index,
            snapshot: RwLock::new(snapshot),
            followed,
        })
    }
}

/// The payload of a commit, if it is of what is wanted; `None` if there was no commit yet.
fn read_payload(
    dir: &Path,
    meta: &IndexMeta,
    identity: &str,
) -> Result<Option<Payload>, SearchError> {
    let path = || dir.to_owned();
    let Some(text) = &meta.payload else {
        if meta.segments.is_empty() && meta.opstamp == 0 {
            return Ok(None);
        }
        return Err(SearchError::Damaged { path: path(), what: "its mark is missing".to_owned() });
    };
    let Some(payload) = Payload::from_text(text) else {
        let what = "its mark is damaged or of another version".to_owned();
        return Err(SearchError::Damaged { path: path(), what });
    };
    if payload.identity != identity {
        let (wanted, found) = (identity.to_owned(), payload.identity);
        return Err(SearchError::OtherIdentity { path: path(), wanted, found });
    }
    Ok(Some(payload))
}

fn rows(dir: &Path, searcher: &Searcher) -> Result<Vec<u32>, SearchError> {
    let mut rows = Vec::with_capacity(searcher.num_docs() as usize);
    for segment in searcher.segment_readers() {
        let column = segment.fast_fields().u64(ROW);
        let column = column.map_err(|error| SearchError::engine("read", dir, error))?;
        let column = column.first_or_default_col(0);
        rows.extend(segment.doc_ids_alive().map(|document| column.get_val(document) as u32));
    }
    Ok(rows)
}

pub(crate) fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::new();
    tokenizers.register(WORDS, WordTokenizer::default());
    tokenizers.register("raw", RawTokenizer::default());
    // Asked for, never used: fields that are no text have this name too.
    tokenizers.register("default", RawTokenizer::default());
    tokenizers
}

/// Tells one file of that name from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: SystemTime,
    bytes: u64,
    #[cfg(unix)]
    inode: u64,
}

impl Stamp {
    fn of(dir: &Path) -> io::Result<Stamp> {
        let file = fs::metadata(dir.join(META))?;
        Ok(Stamp {
            modified: file.modified()?,
            bytes: file.len(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(&file),
        })
    }
}
