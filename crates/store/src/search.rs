//! Full-text search over originals: the follower that keeps the index up to date, and queries.
//!
//! The search index can always be built again from the database. An answer is never older than the
//! database: each hit is looked up there, and a hit that has become a copy or was deleted is left out,
//! whether or not the index knows about it yet.
//!
//! Cost: a commit writes and syncs about ten small files, and small segments cost more per document than
//! large ones. So a commit is made one second after a change, five seconds when more than a thousand
//! documents wait for it, or on request ([`Store::catch_up`]).

use std::path::PathBuf;
use std::sync::{Arc, RwLock, mpsc};
use std::time::Duration;

use wonbon_index::Row;
use wonbon_search::{
    Found, Page, Query, SearchConfig, SearchDocument, SearchError, SearchIndex, SearchReader,
    Snippet, Snippets,
};
use wonbon_text::words::NORMAL_FORM_VERSION;

use crate::document::{Added, StoredDocument};
use crate::error::StoreError;
use crate::follower::{Derived, Wake};
use crate::prepare::Prepared;
use crate::recent_values::RecentValues;
use crate::store::{Follow, Inner, Store};
use crate::tables::{Reading, Record};
use crate::writer::Request;
use wonbon_rule::{Fingerprints, Kind};

/// Bytes of texts that may wait in memory, and what one takes beside its bytes.
const MOST_RECENT_BYTES: usize = 32 << 20;
const WAITING_BYTES: usize = 128;

/// The characters of a snippet.
const SNIPPET_CHARACTERS: usize = 200;

/// Names what the search index is made from.
pub(crate) fn search_identity(identity: &str) -> String {
    format!("store {identity}, normal form {NORMAL_FORM_VERSION}")
}

/// What everyone sees of search.
pub(crate) struct SearchState {
    pub(crate) reader: RwLock<Option<SearchReader>>,
    /// Why the index was rebuilt, if it was.
    pub(crate) rebuilt: RwLock<Option<String>>,
    /// Texts of originals that were just stored.
    texts: RecentValues<Fingerprints, Arc<str>>,
}

impl Default for SearchState {
    fn default() -> Self {
        SearchState {
            reader: RwLock::default(),
            rebuilt: RwLock::default(),
            texts: RecentValues::new(MOST_RECENT_BYTES),
        }
    }
}

impl SearchState {
    /// A document was stored.
    pub(crate) fn stored(&self, added: &Added, prepared: &Prepared) {
        if let (Kind::Original, Some(text)) = (added.verdict.kind, &prepared.plain) {
            self.texts.put(
                added.row,
                prepared.fingerprints,
                text.clone(),
                text.len() + WAITING_BYTES,
            );
        }
    }
}

/// The search index as it follows the database.
pub(crate) struct SearchFollowing {
    pub(crate) directory: PathBuf,
    pub(crate) identity: String,
    pub(crate) state: Arc<SearchState>,
    /// Once it is open.
    pub(crate) index: Option<SearchIndex>,
}

impl SearchFollowing {
    fn index(&mut self) -> &mut SearchIndex {
        self.index.as_mut().expect("whoever follows has opened it")
    }

    fn put(&mut self, database: &dyn Reading, record: &Record) -> Result<(), StoreError> {
        let recent = self.state.texts.take(record.row, &record.fingerprints);
        let text = match recent {
            Some(text) => text,
            None => database.text(record.row)?.into(),
        };
        self.index().put(&SearchDocument {
            row: record.row.0,
            created: record.created,
            site: record.site.as_deref(),
            language: record.language.as_deref(),
            title: record.title.as_deref(),
            text: &text,
        })?;
        Ok(())
    }
}

impl Derived for SearchFollowing {
    const NAME: &'static str = "search";
    const COMMIT_AFTER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
    const COMMIT_CHANGES: u64 = 200_000;
    const SEEN_WHEN_COMMITTED: bool = true;

    /// What is damaged is wiped by the index itself.
    fn open(&mut self, _after_damage: bool) -> Result<u64, StoreError> {
        // The old one lets go of its files first.
        self.index = None;
        let config = SearchConfig::default();
        let opened = SearchIndex::open(&self.directory, &search_identity(&self.identity), &config)?;
        if let Some(why) = opened.rebuilt {
            *self.state.rebuilt.write().expect("no one panics with it") = Some(why.to_string());
        }
        *self.state.reader.write().expect("no one panics with it") = Some(opened.index.reader());
        self.index = Some(opened.index);
        Ok(opened.mark)
    }

    fn take_all(&mut self, database: &dyn Reading) -> Result<(), StoreError> {
        database.for_each_record(&mut |record| match record.standing.kind {
            Kind::Original => self.put(database, &record),
            _ => Ok(()),
        })
    }

    fn take(&mut self, database: &dyn Reading, rows: &[Row]) -> Result<(), StoreError> {
        for &row in rows {
            match database.record(row)? {
                Some(record) if record.standing.kind == Kind::Original => {
                    self.put(database, &record)?;
                }
                _ => {
                    self.index().remove(row.0)?;
                }
            }
        }
        Ok(())
    }

    fn commit(&mut self, mark: u64) -> Result<(), StoreError> {
        Ok(self.index().commit(mark)?)
    }

    fn rest(&mut self, mark: u64) -> Result<bool, StoreError> {
        Ok(self.index().rest(mark)?)
    }

    fn close(self) {
        if let Some(index) = self.index {
            // What is not committed is put in again at the next opening.
            let _ = index.close();
        }
    }

    fn is_damage(error: &StoreError) -> bool {
        matches!(error, StoreError::Search(_))
    }

    fn seen_request(mark: u64) -> Request {
        Request::SearchHasSeen(mark)
    }
}

/// A page of results.
#[derive(Debug, Clone, Default)]
pub struct SearchResults {
    /// How many originals match, on all pages.
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
        let found = self.found(query, page, |reader, page| reader.search(query, page).map(Some))?;
        Ok(found.unwrap_or_default())
    }

    /// As [`search`](Self::search), if the query is estimated to visit no more than about this many originals; `None` if it
    /// would visit more, or if this cannot be estimated in advance.
    ///
    /// # Errors
    ///
    /// As `search`.
    pub fn search_briefly(
        &self,
        query: &Query,
        page: Page,
        most_originals: u64,
    ) -> Result<Option<SearchResults>, StoreError> {
        self.found(query, page, |reader, page| reader.search_briefly(query, page, most_originals))
    }

    /// What is found in whatever way.
    fn found(
        &self,
        query: &Query,
        page: Page,
        find: impl Fn(&SearchReader, Page) -> Result<Option<Found>, SearchError>,
    ) -> Result<Option<SearchResults>, StoreError> {
        let reader = self.inner.search.reader.read().expect("no one panics with it").clone();
        let Some(reader) = reader else {
            self.check_followed(SearchFollowing::NAME)?;
            return Ok(Some(SearchResults::default()));
        };
        self.reading(|database| {
            let snippets = Snippets::new(query, SNIPPET_CHARACTERS);
            let mut results = Vec::new();
            let mut offset = page.offset;
            let mut left_out = 0;
            loop {
                let wanted = page.limit - results.len();
                let Some(found) = find(&reader, Page { offset, limit: wanted })? else {
                    return Ok(None);
                };
                offset += found.hits.len();
                let rows: Vec<Row> = found.hits.iter().map(|hit| Row(hit.row)).collect();
                let mut originals = database.originals(&rows)?;
                for hit in &found.hits {
                    let Some((record, text, copies)) = originals.remove(&Row(hit.row)) else {
                        left_out += 1;
                        continue;
                    };
                    let document = self.inner.whole_document(database, record, text, copies)?;
                    results.push(SearchResult {
                        score: hit.score,
                        title: document.title.as_deref().map(|title| snippets.of_title(title)),
                        snippet: snippets.of_text(&document.text),
                        document,
                    });
                }
                if results.len() == page.limit || found.hits.len() < wanted {
                    let total = found.total.saturating_sub(left_out);
                    return Ok(Some(SearchResults { total, results }));
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
        self.check_followed(SearchFollowing::NAME)?;
        let (reply, answer) = mpsc::channel();
        if !self.inner.wake_search(Wake::CatchUp(reply)) {
            return Err(StoreError::ReadOnly { path: self.inner.files.directory.clone() });
        }
        let ended =
            || StoreError::Behind { which: SearchFollowing::NAME, what: "it has ended".to_owned() };
        answer.recv().map_err(|_| ended())?
    }

    /// Why the search index was rebuilt when the store was opened, if it was.
    #[must_use]
    pub fn search_rebuilt(&self) -> Option<String> {
        self.inner.search.rebuilt.read().expect("no one panics with it").clone()
    }

    /// How many changes the search index has not seen yet; 0 in a process that does not keep it.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn search_behind(&self) -> Result<u64, StoreError> {
        if self.inner.follows == Follow::Nothing {
            return Ok(0);
        }
        let last = self.reading(|database| database.last_change())?.0;
        let reader = self.inner.search.reader.read().expect("no one panics with it");
        Ok(last - reader.as_ref().map_or(0, SearchReader::mark).min(last))
    }
}

impl Inner {
    /// What keeps search up.
    pub(crate) fn search_following(&self) -> SearchFollowing {
        SearchFollowing {
            directory: self.files.search(),
            identity: self.identity.clone(),
            state: self.search.clone(),
            index: None,
        }
    }

    /// Opens search for a store that only reads.
    pub(crate) fn open_search_reader(&self) -> Result<(), StoreError> {
        let identity = search_identity(&self.identity);
        let reader = match SearchReader::open(&self.files.search(), &identity) {
            // A reader changes nothing: the writing process will rebuild the index.
            Err(SearchError::Damaged { .. } | SearchError::OtherIdentity { .. }) => None,
            opened => opened?,
        };
        *self.search.reader.write().expect("no one panics with it") = reader;
        Ok(())
    }
}
