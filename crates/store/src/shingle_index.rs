//! The index of shingles kept up to date with the database: it finds candidates for questions about texts.
//!
//! It contains every document, copies included. The adding thread makes the sketch of a document while it
//! has the words at hand, and hands it over in memory ([`RecentValues`]); a document whose sketch is not
//! there is read from the database and sketched again.
//!
//! Questions see an applied change at once; files are written every few seconds and at the end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock, mpsc};
use std::time::Duration;

use wonbon_index::shingles::{Candidate, Found, ShingleIndex, ShingleReader, ShingleSketch};
use wonbon_index::{IndexError, Row};
use wonbon_text::shingles::SHINGLE_HASH_VERSION;
use wonbon_text::words::NORMAL_FORM_VERSION;

use crate::error::StoreError;
use crate::follower::{Derived, Wake};
use crate::prepare::{Prepared, Preparer};
use crate::recent_values::RecentValues;
use crate::store::{Follow, Inner, Store};
use crate::tables::Reading;
use crate::writer::Request;

/// Values that may wait in memory: 32 MB of them.
const MOST_RECENT_VALUES: usize = 4 << 20;

/// Pairs in memory after which they are written however little time has passed.
const MOST_WAITING: u64 = 8 << 20;

/// Documents sketched at a time when all are.
const BATCH: usize = 4096;

/// What everyone sees of the index of shingles.
pub(crate) struct ShingleState {
    pub(crate) reader: RwLock<Option<ShingleReader>>,
    /// Why the index was rebuilt, if it was.
    pub(crate) rebuilt: RwLock<Option<String>>,
    /// Sketches of documents that were just stored, by the names of their shingle sets.
    sketches: RecentValues<u64, ShingleSketch>,
    /// The last change that was taken in.
    seen: AtomicU64,
}

impl Default for ShingleState {
    fn default() -> Self {
        ShingleState {
            reader: RwLock::default(),
            rebuilt: RwLock::default(),
            sketches: RecentValues::new(MOST_RECENT_VALUES),
            seen: AtomicU64::new(0),
        }
    }
}

impl ShingleState {
    /// A document was stored.
    pub(crate) fn stored(&self, row: Row, prepared: &Prepared) {
        let sketch = prepared.sketch.clone();
        let weight = sketch.values.len() + 1;
        self.sketches.put(row, prepared.fingerprints.shingle_set, sketch, weight);
    }
}

/// The index of shingles as it follows the database.
pub(crate) struct ShingleFollowing {
    pub(crate) directory: PathBuf,
    pub(crate) identity: String,
    pub(crate) preparer: Preparer,
    pub(crate) state: Arc<ShingleState>,
    /// Once it is open.
    pub(crate) index: Option<ShingleIndex>,
    /// Whether it may write files; beside a process that writes the store, it may not.
    pub(crate) writes: bool,
}

impl ShingleFollowing {
    fn index(&mut self) -> &mut ShingleIndex {
        self.index.as_mut().expect("whoever follows has opened it")
    }

    fn sketch_of(&self, database: &dyn Reading, row: Row) -> Result<ShingleSketch, StoreError> {
        let Some(shingle_set) = database.shingle_set_name(row)? else {
            return Ok(ShingleSketch { shingles: 0, values: Vec::new() });
        };
        if let Some(sketch) = self.state.sketches.take(row, &shingle_set) {
            return Ok(sketch);
        }
        let (shingles, ..) = self.preparer.shingles(&database.text(row)?);
        Ok(self.preparer.sampler().sketch(&shingles))
    }

    fn put(&mut self, documents: Vec<(Row, ShingleSketch)>) -> Result<(), StoreError> {
        self.index().put(documents)?;
        let reader = self.index().reader();
        *self.state.reader.write().expect("no one panics with it") = Some(reader);
        Ok(())
    }
}

impl Derived for ShingleFollowing {
    const NAME: &'static str = "the index of shingles";
    const COMMIT_AFTER: [Duration; 2] = [Duration::from_secs(5); 2];
    const COMMIT_CHANGES: u64 = 200_000;
    const SEEN_WHEN_COMMITTED: bool = false;

    fn open(&mut self, after_damage: bool) -> Result<u64, StoreError> {
        let identity = format!(
            "store {}, normal form {NORMAL_FORM_VERSION}, shingle hash {SHINGLE_HASH_VERSION}, {} words",
            self.identity,
            self.preparer.shingle_words()
        );
        let seed = self.preparer.sampler().seed_fingerprint();
        let mut opened = ShingleIndex::open(&self.directory, &identity, seed)?;
        if after_damage {
            opened.index.forget();
        }
        if self.writes
            && let Err(why) = opened.index.reader().check()
        {
            opened.index.forget();
            opened.rebuilt = Some(why);
        }
        if let Some(why) = opened.rebuilt {
            *self.state.rebuilt.write().expect("no one panics with it") = Some(why.to_string());
        }
        let (mark, reader) = (opened.index.mark(), opened.index.reader());
        self.index = Some(opened.index);
        *self.state.reader.write().expect("no one panics with it") = Some(reader);
        Ok(mark)
    }

    fn take_all(&mut self, database: &dyn Reading) -> Result<(), StoreError> {
        self.index().forget();
        let mut last = None;
        loop {
            let rows = database.rows_after(last, BATCH)?;
            let Some(&newest) = rows.last() else { return Ok(()) };
            self.take(database, &rows)?;
            last = Some(newest);
        }
    }

    fn take(&mut self, database: &dyn Reading, rows: &[Row]) -> Result<(), StoreError> {
        let sketch = |&row: &Row| Ok((row, self.sketch_of(database, row)?));
        let documents = rows.iter().map(sketch).collect::<Result<_, StoreError>>()?;
        self.put(documents)?;
        if self.writes && self.index().waiting() >= MOST_WAITING {
            // The mark stays: what is not marked as seen is only taken in again.
            let mark = self.index().mark();
            self.commit(mark)?;
        }
        Ok(())
    }

    fn has_taken(&self, seen: u64) {
        self.state.seen.store(seen, Ordering::Relaxed);
    }

    fn commit(&mut self, mark: u64) -> Result<(), StoreError> {
        self.index().write(mark)?;
        let reader = self.index().reader();
        *self.state.reader.write().expect("no one panics with it") = Some(reader);
        Ok(())
    }

    fn close(self) {}

    fn is_damage(error: &StoreError) -> bool {
        matches!(error, StoreError::Index(IndexError::DamagedShingles { .. }))
    }

    fn seen_request(mark: u64) -> Request {
        Request::ShinglesHaveSeen(mark)
    }
}

impl Store {
    /// The current index of shingles: everything stored so far is in it.
    ///
    /// # Errors
    ///
    /// [`StoreError::Behind`], or the database's.
    pub fn shingles(&self) -> Result<ShingleReader, StoreError> {
        self.inner.catch_up_shingles(false)?;
        let reader = self.inner.shingles.reader.read().expect("no one panics with it");
        Ok(reader.clone().unwrap_or_default())
    }

    /// The documents that share some of these values and pass `keep`. Damage that is found in the index
    /// causes a rebuild.
    pub(crate) fn candidates(
        &self,
        values: &[u64],
        least_shingles: usize,
        keep: impl Fn(&Found, &Candidate) -> bool,
    ) -> Result<Found, StoreError> {
        match self.shingles()?.candidates(values, least_shingles, &keep) {
            Err(IndexError::DamagedShingles { .. }) => {
                self.inner.catch_up_shingles(true)?;
                Ok(self.shingles()?.candidates(values, least_shingles, &keep)?)
            }
            found => Ok(found?),
        }
    }

    /// How many changes the index of shingles has not seen yet, in a store that writes.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn shingles_behind(&self) -> Result<u64, StoreError> {
        if self.inner.follows == Follow::Nothing {
            return Ok(0);
        }
        let last = self.reading(|database| database.last_change())?.0;
        Ok(last.saturating_sub(self.inner.shingles.seen.load(Ordering::Relaxed)))
    }

    /// Why the index of shingles was rebuilt when the store was opened, if it was.
    #[must_use]
    pub fn shingles_rebuilt(&self) -> Option<String> {
        self.inner.shingles.rebuilt.read().expect("no one panics with it").clone()
    }
}

impl Inner {
    /// What keeps the index of shingles up to date.
    pub(crate) fn shingle_following(&self, writes: bool) -> ShingleFollowing {
        ShingleFollowing {
            directory: self.files.shingles(),
            identity: self.identity.clone(),
            preparer: self.preparer.clone(),
            state: self.shingles.clone(),
            index: None,
            writes,
        }
    }

    /// Brings the index of shingles up to date with the database; rebuilds it if damage was found.
    fn catch_up_shingles(&self, after_damage: bool) -> Result<(), StoreError> {
        self.check_followed(ShingleFollowing::NAME)?;
        let (reply, answer) = mpsc::channel();
        let wake = if after_damage { Wake::Anew(reply) } else { Wake::CatchUp(reply) };
        if self.wake_shingles(wake) {
            let which = ShingleFollowing::NAME;
            let ended = |_| StoreError::Behind { which, what: "it has ended".to_owned() };
            return answer.recv().map_err(ended)?;
        }
        self.catch_up_shingles_in_memory(after_damage)
    }

    /// The same in a store that only reads: in memory.
    fn catch_up_shingles_in_memory(&self, after_damage: bool) -> Result<(), StoreError> {
        let mut reading = self.reading_shingles.lock().expect("no one panics with it");
        self.reading(|database| {
            if after_damage || reading.is_none() {
                let mut following = self.shingle_following(false);
                let mark = following.open(after_damage)?;
                *reading = Some((following, mark));
            }
            let (following, seen) = reading.as_mut().expect("it was just opened");
            let (last, forgotten) = database.last_change()?;
            if *seen < forgotten || *seen == 0 {
                following.take_all(database)?;
            } else {
                let (_, rows) = database.changes_after(*seen, usize::MAX >> 1)?;
                following.take(database, &rows)?;
            }
            *seen = last;
            Ok(())
        })
    }
}
