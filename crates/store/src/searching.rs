//! Search over originals: the disposable index kept up with the database, and questions to it.
//!
//! One thread follows the outbox: it reads which documents changed, puts originals in, takes
//! everything else out, and commits with the number of the last change it has seen. Adds do not wait
//! for it. After a crash it goes on from its mark; when the index was damaged, wiped or belongs to
//! another store, it begins with all originals.
//!
//! An answer is never older than the database: every hit is looked up there, and one that has become
//! a copy or is gone is left out, whether the index knows it yet or not.
//!
//! Cost: a commit writes and syncs about ten small files, so one is made a second after a change at
//! the earliest, or when somebody asks ([`Store::catch_up`]).

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, RwLock, mpsc};
use std::time::{Duration, Instant};

use wonbon_search::{
    Hit, Page, Query, SearchConfig, SearchDocument, SearchError, SearchIndex, SearchReader,
    Snippet, snippet, title_snippet,
};
use wonbon_text::words::NORMAL_FORM_VERSION;

use crate::database::Database;
use crate::document::{Kind, StoredDocument};
use crate::error::StoreError;
use crate::store::{Inner, Store};
use crate::writer::Request;

/// Changes read from the outbox at a time.
const BATCH: usize = 4096;

/// How long a change may wait for a commit of the search index, at least.
const COMMIT_AFTER: Duration = Duration::from_secs(1);

/// Changes after which a commit is made however little time has passed.
const COMMIT_CHANGES: u64 = 200_000;

/// The characters of a snippet.
const SNIPPET_CHARACTERS: usize = 200;

/// Names what the search index is made from.
pub(crate) fn search_identity(identity: &str) -> String {
    format!("store {identity}, normal form {NORMAL_FORM_VERSION}")
}

/// What wakes the thread.
pub(crate) enum Wake {
    /// There are changes.
    Changed,
    /// Somebody waits until everything committed so far can be found.
    CatchUp(Sender<Result<(), StoreError>>),
}

/// What everyone sees of search.
#[derive(Default)]
pub(crate) struct SearchState {
    pub(crate) reader: RwLock<Option<SearchReader>>,
    /// Why the index began anew, if it did.
    pub(crate) rebuilt: RwLock<Option<String>>,
}

/// The thread that follows the outbox.
pub(crate) struct Follower {
    pub(crate) directory: PathBuf,
    pub(crate) identity: String,
    pub(crate) database: Database,
    pub(crate) requests: SyncSender<Request>,
    pub(crate) state: Arc<SearchState>,
}

/// The index and how far it is.
struct Following {
    index: SearchIndex,
    /// The last change that was put in, and the last that was committed.
    seen: u64,
    committed: u64,
    /// When the first change since the last commit was put in.
    since: Option<Instant>,
}

impl Follower {
    /// Follows until nobody can wake it any more.
    pub(crate) fn run(self, wakes: &Receiver<Wake>) {
        let mut following = self.open();
        loop {
            let wait = match &following {
                Ok(following) => {
                    following.since.map(|since| COMMIT_AFTER.saturating_sub(since.elapsed()))
                }
                Err(_) => None,
            };
            let wake = match wait {
                None => wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(wait) => wakes.recv_timeout(wait),
            };
            let mut waiting = Vec::new();
            match wake {
                Ok(Wake::CatchUp(reply)) => waiting.push(reply),
                Ok(Wake::Changed) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Ok(more) = wakes.try_recv() {
                if let Wake::CatchUp(reply) = more {
                    waiting.push(reply);
                }
            }
            if following.is_err() && !waiting.is_empty() {
                following = self.open();
            }
            let caught_up = match &mut following {
                Ok(following) => self.follow(following, !waiting.is_empty()),
                Err(error) => Err(again(error)),
            };
            for reply in waiting {
                // Nobody waits any more: nothing to tell.
                let _ = reply.send(caught_up.as_ref().copied().map_err(again));
            }
            if let Err(error) = caught_up {
                // A damaged or failed index is opened again, which wipes what is damaged.
                following = match error {
                    StoreError::Search(_) => self.open(),
                    other => Err(other),
                };
            }
        }
        if let Ok(mut following) = following {
            // What is not committed now is put in again at the next opening.
            let _ = self.follow(&mut following, true);
            let _ = following.index.close();
        }
    }

    fn open(&self) -> Result<Following, StoreError> {
        let config = SearchConfig::default();
        let opened = SearchIndex::open(&self.directory, &search_identity(&self.identity), &config)?;
        if let Some(why) = opened.rebuilt {
            *self.state.rebuilt.write().expect("no one panics with it") = Some(why.to_string());
        }
        let mut following = Following {
            index: opened.index,
            seen: opened.mark,
            committed: opened.mark,
            since: None,
        };
        let forgotten = self.database.last_change()?.1;
        if following.seen < forgotten || opened.mark == 0 {
            self.begin_anew(&mut following)?;
        }
        *self.state.reader.write().expect("no one panics with it") = Some(following.index.reader());
        self.follow(&mut following, false)?;
        self.tell_writer(following.committed);
        Ok(following)
    }

    fn tell_writer(&self, mark: u64) {
        // A full queue means that more is coming; the writer hears of a later mark.
        let _ = self.requests.try_send(Request::SearchHasSeen(mark));
    }

    /// Puts in every original, as of one state of the database.
    fn begin_anew(&self, following: &mut Following) -> Result<(), StoreError> {
        self.database.connection.execute_batch("BEGIN")?;
        let put = (|| {
            let last = self.database.last_change()?.0;
            self.database.for_each_record(|record| {
                if record.standing.kind == Kind::Original {
                    self.put(following, &record)?;
                }
                Ok(())
            })?;
            Ok::<u64, StoreError>(last)
        })();
        self.database.connection.execute_batch("COMMIT")?;
        following.seen = put?;
        following.index.commit(following.seen)?;
        following.committed = following.seen;
        Ok(())
    }

    fn put(
        &self,
        following: &mut Following,
        record: &crate::database::Record,
    ) -> Result<(), StoreError> {
        let text = self.database.text(record.row)?;
        following.index.put(&SearchDocument {
            row: record.row.0,
            created: record.created,
            site: record.site.as_deref(),
            language: record.language.as_deref(),
            title: record.title.as_deref(),
            text: &text,
        })?;
        Ok(())
    }

    /// Takes in what changed; commits when it is time, or now.
    fn follow(&self, following: &mut Following, commit_now: bool) -> Result<(), StoreError> {
        loop {
            self.database.connection.execute_batch("BEGIN")?;
            let taken = self.take_changes(following);
            self.database.connection.execute_batch("COMMIT")?;
            if !taken? {
                break;
            }
        }
        let pending = following.seen - following.committed;
        let waited = following.since.is_some_and(|since| since.elapsed() >= COMMIT_AFTER);
        if pending > 0 && (commit_now || waited || pending >= COMMIT_CHANGES) {
            following.index.commit(following.seen)?;
            following.committed = following.seen;
            following.since = None;
            self.tell_writer(following.committed);
        }
        Ok(())
    }

    /// Takes in one batch of changes; tells whether there were any.
    fn take_changes(&self, following: &mut Following) -> Result<bool, StoreError> {
        let (last, rows) = self.database.changes_after(following.seen, BATCH)?;
        for &row in &rows {
            match self.database.record(row)? {
                Some(record) if record.standing.kind == Kind::Original => {
                    self.put(following, &record)?;
                }
                _ => {
                    following.index.remove(row.0)?;
                }
            }
        }
        following.seen = last;
        if !rows.is_empty() {
            following.since.get_or_insert_with(Instant::now);
        }
        Ok(!rows.is_empty())
    }
}

/// The same failure, told to everyone who waits.
fn again(error: &StoreError) -> StoreError {
    StoreError::SearchStopped { what: error.to_string() }
}

/// A page of results.
#[derive(Debug, Clone)]
pub struct SearchResults {
    /// How many originals match, whatever the page.
    pub total: u64,
    /// The page, best first.
    pub results: Vec<SearchResult>,
}

/// An original that was found.
#[derive(Debug, Clone)]
pub struct SearchResult {
    /// The document, with the exact number of its copies.
    pub document: StoredDocument,
    /// How well it matches; comparable within one answer only.
    pub score: f32,
    /// Its title with what matches marked.
    pub title: Option<Snippet>,
    /// The part of its text that shows why it was found.
    pub snippet: Snippet,
}

impl Store {
    /// Finds originals.
    ///
    /// # Errors
    ///
    /// [`StoreError::Search`] when the page lies too deep or the index is damaged, or the database's.
    pub fn search(&self, query: &Query, page: Page) -> Result<SearchResults, StoreError> {
        let reader = self.inner.search.reader.read().expect("no one panics with it").clone();
        let Some(reader) = reader else {
            return Ok(SearchResults { total: 0, results: Vec::new() });
        };
        self.reading(|database| {
            let mut results = Vec::new();
            let mut offset = page.offset;
            let mut left_out = 0;
            loop {
                let wanted = page.limit - results.len();
                let found = reader.search(query, Page { offset, limit: wanted })?;
                offset += found.hits.len();
                for hit in &found.hits {
                    match self.inner.result(database, query, *hit)? {
                        Some(result) => results.push(result),
                        None => left_out += 1,
                    }
                }
                if results.len() == page.limit || found.hits.len() < wanted {
                    let total = found.total.saturating_sub(left_out);
                    return Ok(SearchResults { total, results });
                }
            }
        })
    }

    /// Waits until everything stored so far can be found.
    ///
    /// # Errors
    ///
    /// What keeps search from catching up.
    pub fn catch_up(&self) -> Result<(), StoreError> {
        let (reply, answer) = mpsc::channel();
        if !self.inner.wake_search(Wake::CatchUp(reply)) {
            return Err(StoreError::ReadOnly { path: self.inner.places.directory.clone() });
        }
        let ended = || StoreError::SearchStopped { what: "it has ended".to_owned() };
        answer.recv().map_err(|_| ended())?
    }

    /// Why the search index began anew when the store was opened, if it did.
    #[must_use]
    pub fn search_rebuilt(&self) -> Option<String> {
        self.inner.search.rebuilt.read().expect("no one panics with it").clone()
    }

    /// How many changes the search index has not seen yet.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn search_behind(&self) -> Result<u64, StoreError> {
        let last = self.reading(Database::last_change)?.0;
        let reader = self.inner.search.reader.read().expect("no one panics with it");
        Ok(last - reader.as_ref().map_or(0, SearchReader::mark).min(last))
    }
}

impl Inner {
    fn result(
        &self,
        database: &Database,
        query: &Query,
        hit: Hit,
    ) -> Result<Option<SearchResult>, StoreError> {
        let record = database.record(wonbon_index::Row(hit.row))?;
        let Some(record) = record.filter(|record| record.standing.kind == Kind::Original) else {
            return Ok(None);
        };
        let document = self.stored_document(database, record)?;
        Ok(Some(SearchResult {
            score: hit.score,
            title: document
                .title
                .as_deref()
                .map(|title| title_snippet(title, query, SNIPPET_CHARACTERS)),
            snippet: snippet(&document.text, query, SNIPPET_CHARACTERS),
            document,
        }))
    }

    /// Opens search for a store that only reads.
    pub(crate) fn open_search_reader(&self) -> Result<(), StoreError> {
        let identity = search_identity(&self.identity);
        let reader = match SearchReader::open(&self.places.search(), &identity) {
            // A reader changes nothing: whoever writes will begin anew.
            Err(SearchError::Damaged { .. } | SearchError::OtherIdentity { .. }) => None,
            opened => opened?,
        };
        *self.search.reader.write().expect("no one panics with it") = reader;
        Ok(())
    }
}
