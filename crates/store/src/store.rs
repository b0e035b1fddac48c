//! A store: the handle everyone holds.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, RwLock, mpsc};
use std::thread::JoinHandle;

use wonbon_index::{CopyIndex, MemoryIndex, Row};
use wonbon_sketch::ElementSet;

use crate::checkpoints::Checkpoints;
use crate::counts::{Counted, Counts};
use crate::database::{Database, Record};
use crate::decisions::LOCAL;
use crate::document::{Added, Expected, Kind, NewDocument, Order, StoredDocument, Verdict};
use crate::error::StoreError;
use crate::families::{Families, verdict};
use crate::following::{Bell, Derived, Follower, Wake};
use crate::judge::{Asked, Judge, ShingleCache};
use crate::opening::{LoadedIndex, Places, WriteLock, load_index};
use crate::params::{StoreParams, drawn_bytes};
use crate::prepare::{Names, Prepared, Preparer};
use crate::searching::SearchState;
use crate::seat::{Seat, ended};
use crate::shingling::{ShingleFollowing, ShingleState};
use crate::sweeps::Recognised;
use crate::writer::{Request, Writer, microseconds_now};

/// Reading connections that are kept when nobody uses them.
const MOST_IDLE_READERS: usize = 16;

/// Documents, the decision whether they copy an earlier one, and search, as one durable thing.
///
/// Clones are the same store; it may be used from many threads. Dropping the last one ends it
/// cleanly; [`Store::close`] does so too and says if something went wrong.
///
/// ```
/// use wonbon_store::{Kind, NewDocument, Store, StoreParams};
/// let directory = std::env::temp_dir().join(format!("wonbon-doc-{}", std::process::id()));
/// let store = Store::create(&directory, &StoreParams::default())?;
/// let text = "the ferry did not come that morning and the whole village stood waiting on the quay";
/// store.add(&NewDocument::text("a", Some(1), text))?;
/// let scrap = store.add(&NewDocument::text("b", Some(2), text))?;
/// assert_eq!(scrap.verdict.kind, Kind::Identical);
/// assert_eq!(scrap.verdict.original.as_deref(), Some("a"));
/// store.close()?;
/// # std::fs::remove_dir_all(directory).unwrap();
/// # Ok::<(), wonbon_store::StoreError>(())
/// ```
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("directory", &self.inner.places.directory)
            .finish_non_exhaustive()
    }
}

pub(crate) struct Inner {
    pub(crate) places: Places,
    pub(crate) params: StoreParams,
    pub(crate) identity: String,
    pub(crate) preparer: Preparer,
    pub(crate) index: Arc<RwLock<MemoryIndex>>,
    /// Why the index was not read from its snapshot, if one was there.
    pub(crate) rebuilt: Option<String>,
    pub(crate) search: Arc<SearchState>,
    pub(crate) shingles: Arc<ShingleState>,
    /// In a store that only reads: the index of shingles and the last change it has seen.
    pub(crate) reading_shingles: Mutex<Option<(ShingleFollowing, u64)>>,
    readers: Mutex<Vec<Database>>,
    counted: Mutex<Counted>,
    writing: Mutex<Option<Writing>>,
}

/// What only the writing process has.
struct Writing {
    seat: Seat,
    writer: JoinHandle<()>,
    checkpoints: JoinHandle<()>,
    search: Following,
    shingles: Following,
    _lock: WriteLock,
}

/// A thread that keeps something derived up.
struct Following {
    bell: Bell,
    thread: JoinHandle<()>,
}

/// An add that is queued; ask [`Pending::wait`] for what became of it.
#[derive(Debug)]
#[must_use = "the document is acknowledged only when this says so"]
pub struct Pending {
    answer: Receiver<Result<Added, StoreError>>,
    store: Store,
    /// None for a document that was recognised.
    shingles: Option<ElementSet>,
}

impl Pending {
    /// Waits until the document is durable, and tells what it is. The resemblance to its original
    /// is exact, under any rule; for a document that was recognised it is told only where the
    /// decision had needed it.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn wait(self) -> Result<Added, StoreError> {
        let mut added = self.answer.recv().map_err(|_| ended())??;
        if let Some(shingles) = &self.shingles {
            self.store.fill_resemblance(&mut added.verdict, shingles)?;
        }
        Ok(added)
    }
}

impl Store {
    /// Makes a store in a directory, which is made too.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyThere`], [`StoreError::Io`], or the database's.
    pub fn create(directory: &Path, params: &StoreParams) -> Result<Self, StoreError> {
        let places = Places { directory: directory.to_owned() };
        let io = |source| StoreError::Io { doing: "make", path: directory.to_owned(), source };
        std::fs::create_dir_all(directory).map_err(io)?;
        let lock = WriteLock::take(&places)?;
        if places.database().exists() {
            return Err(StoreError::AlreadyThere { path: directory.to_owned() });
        }
        params.feature_maker()?;
        // Under its own name only when it is whole.
        let partial = directory.join("documents.partial");
        for leftover in ["documents.partial", "documents.partial-wal", "documents.partial-shm"] {
            let _ = std::fs::remove_file(directory.join(leftover));
        }
        let identity =
            format!("{:016x}", u64::from_le_bytes(*drawn_bytes().first_chunk().expect("16")));
        let database = Database::create(&partial, params, &identity)?;
        database.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        drop(database);
        std::fs::rename(&partial, places.database()).map_err(io)?;
        std::fs::File::open(directory).and_then(|directory| directory.sync_all()).map_err(io)?;
        Self::open_locked(places, lock)
    }

    /// Opens a store to read and write. One process at a time can.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::InUse`], [`StoreError::Damaged`],
    /// [`StoreError::ParamsMismatch`] if this program would decide otherwise than the store did.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let places = Places { directory: directory.to_owned() };
        if !places.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        let lock = WriteLock::take(&places)?;
        Self::open_locked(places, lock)
    }

    /// Opens a store, or makes it if there is none. Parameters that are asked for must be the
    /// store's.
    ///
    /// # Errors
    ///
    /// As [`Store::open`] and [`Store::create`].
    pub fn open_or_create(
        directory: &Path,
        asked: Option<&StoreParams>,
    ) -> Result<Self, StoreError> {
        match Self::open(directory) {
            Err(StoreError::NoStore { .. }) => {
                Self::create(directory, asked.unwrap_or(&StoreParams::default()))
            }
            Ok(store) => {
                if let Some(asked) = asked {
                    store.params().check_asked(asked)?;
                }
                Ok(store)
            }
            Err(error) => Err(error),
        }
    }

    /// Opens a store to read, beside whoever writes to it. What is written afterwards is seen by
    /// everything but [`Store::check`], which knows the originals of this moment.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], without [`StoreError::InUse`].
    pub fn open_read_only(directory: &Path) -> Result<Self, StoreError> {
        let places = Places { directory: directory.to_owned() };
        if !places.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        let database = Database::open_reader(&places.database())?;
        let (inner, _) = Inner::load(places, &database)?;
        inner.give_back(database);
        inner.open_search_reader()?;
        Ok(Store { inner: Arc::new(inner) })
    }

    fn open_locked(places: Places, lock: WriteLock) -> Result<Self, StoreError> {
        let mut database = Database::open_writer(&places.database())?;
        let (checkpoints, checkpointing) =
            Checkpoints::take(&mut database.connection, &places.database())?;
        let (inner, loaded) = Inner::load(places, &database)?;
        let families = Families::new(
            database,
            inner.index.clone(),
            inner.params.rule,
            inner.preparer.clone(),
        )?;
        let (search_wakes, search_woken) = mpsc::channel();
        let (shingle_wakes, shingles_woken) = mpsc::channel();
        let snapshot = inner.places.snapshot(&inner.identity);
        let (search_bell, shingle_bell) = (Bell::new(search_wakes), Bell::new(shingle_wakes));
        let bells = [search_bell.clone(), shingle_bell.clone()];
        let after_commit = Box::new(move || bells.iter().for_each(Bell::ring));
        let (search_state, shingle_state) = (inner.search.clone(), inner.shingles.clone());
        let stored = Box::new(move |added: &Added, prepared: &Prepared| {
            search_state.stored(added, prepared);
            shingle_state.stored(added.row, prepared);
        });
        let writer = Writer::new(families, checkpoints, snapshot, loaded, stored, after_commit)?;
        let (seat, writer) = Seat::new(writer);
        let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
            thread.map_err(|source| StoreError::Io {
                doing: "start the threads of",
                path: inner.places.directory.clone(),
                source,
            })
        };
        let search = inner.follower(inner.search_following(), &seat, &search_bell)?;
        let shingles = inner.follower(inner.shingle_following(true), &seat, &shingle_bell)?;
        let writer = start("wonbon-writer", Box::new(move || writer.run()))?;
        let checkpoints = start("wonbon-log", Box::new(move || checkpointing.run()))?;
        let search = start("wonbon-search", Box::new(move || search.run(&search_woken)))?;
        let shingles = start("wonbon-shingles", Box::new(move || shingles.run(&shingles_woken)))?;
        *inner.writing.lock().expect("no one panics with it") = Some(Writing {
            seat,
            writer,
            checkpoints,
            search: Following { bell: search_bell, thread: search },
            shingles: Following { bell: shingle_bell, thread: shingles },
            _lock: lock,
        });
        Ok(Store { inner: Arc::new(inner) })
    }

    /// Where it is.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.inner.places.directory
    }

    /// How it decides.
    #[must_use]
    pub fn params(&self) -> &StoreParams {
        &self.inner.params
    }

    /// Why the index had to be built anew when the store was opened, although a snapshot was there.
    #[must_use]
    pub fn index_rebuilt(&self) -> Option<&str> {
        self.inner.rebuilt.as_deref()
    }

    /// Makes a document ready: everything that does not depend on others, in this thread.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadKey`], [`StoreError::TooLong`].
    pub fn prepare(&self, document: &NewDocument<'_>) -> Result<Prepared, StoreError> {
        self.inner.preparer.prepare(document)
    }

    /// Queues a document. Documents are decided in the order in which they are queued.
    ///
    /// # Errors
    ///
    /// [`StoreError::ReadOnly`], [`StoreError::Stopped`].
    pub fn submit(&self, prepared: Prepared) -> Result<Pending, StoreError> {
        let (request, pending) = self.request_to_add(prepared);
        self.seat()?.leave(request)?;
        Ok(pending)
    }

    fn request_to_add(&self, prepared: Prepared) -> (Request, Pending) {
        let (reply, answer) = mpsc::channel();
        let shingles = Some(prepared.shingles.clone());
        let pending = Pending { answer, store: self.clone(), shingles };
        (Request::Add(Box::new(prepared), reply), pending)
    }

    /// Queues that a recognised document was seen: as [`Store::submit`], without its cost.
    ///
    /// # Errors
    ///
    /// As [`Store::submit`]; [`Pending::wait`] answers [`StoreError::NotRecognised`] when the
    /// document has changed in between.
    pub fn submit_recognised(&self, recognised: Recognised) -> Result<Pending, StoreError> {
        let (reply, answer) = mpsc::channel();
        self.seat()?.leave(Request::See(Box::new(recognised), reply))?;
        Ok(Pending { answer, store: self.clone(), shingles: None })
    }

    /// Stores a document and tells what it is, once that is durable. One that carries a sweep and is
    /// stored as it is already is recognised by its fingerprint and only seen.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn add(&self, document: &NewDocument<'_>) -> Result<Added, StoreError> {
        if document.sweep.is_some()
            && let Some(recognised) = self.recognise(document)?
        {
            match self.submit_recognised(recognised)?.wait() {
                Err(StoreError::NotRecognised { .. }) => {}
                answered => return answered,
            }
        }
        let (request, pending) = self.request_to_add(self.prepare(document)?);
        self.seat()?.serve(request)?;
        pending.wait()
    }

    /// What would be said of a document if it were added; nothing is stored.
    ///
    /// # Errors
    ///
    /// As [`Store::prepare`], or the database's.
    pub fn check(&self, document: &NewDocument<'_>) -> Result<Verdict, StoreError> {
        let examined = self.inner.preparer.examine(document)?;
        // Most documents agree with no original, and then nothing else matters.
        let index = self.inner.index.read().expect("no one panics with it");
        if index.matches(&examined.features)?.is_empty() {
            let kind = if examined.features.is_empty() { Kind::Empty } else { Kind::Original };
            return Ok(Verdict::alone(kind));
        }
        drop(index);
        let shingles = Arc::new(ElementSet::new(examined.shingles));
        self.reading(|database| {
            let known = database.record_by_key(&document.key)?;
            let row = known.as_ref().map_or(Row(u32::MAX), |known| known.row);
            let decision = known.as_ref().and_then(|known| known.decision);
            let created = document.created.or(known.map(|known| known.created));
            let asked = Asked {
                order: Order::new(decision, created.unwrap_or_else(microseconds_now), row),
                decision,
                names: Names::of(document, examined.text_name, &shingles),
                features: &examined.features,
                shingles: Some(&shingles),
            };
            let judge = Judge {
                database,
                index: &self.inner.index,
                rule: self.inner.params.rule,
                preparer: &self.inner.preparer,
            };
            let judgement = judge.judge(&asked, &mut ShingleCache::default())?;
            let mut verdict = verdict(database, &judgement.standing)?;
            self.inner.fill_resemblance(database, &mut verdict, &shingles)?;
            Ok(verdict)
        })
    }

    /// Removes a document with all its versions; tells whether it was there. Its copies, if it was
    /// an original, are judged again.
    ///
    /// # Errors
    ///
    /// Why it was not removed.
    pub fn delete(&self, key: &str) -> Result<bool, StoreError> {
        self.delete_as(key, None, LOCAL)
    }

    /// As [`Store::delete`], if this is true when it is its turn.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotAsExpected`], or why it was not removed.
    pub fn delete_if(&self, key: &str, expected: Expected) -> Result<bool, StoreError> {
        self.delete_as(key, Some(expected), LOCAL)
    }

    /// As [`Store::delete`], if what is expected is true when it is its turn. `who` it is goes into the
    /// log of decisions, if the removal ends one.
    ///
    /// # Errors
    ///
    /// [`StoreError::NotAsExpected`], or why it was not removed.
    pub fn delete_as(
        &self,
        key: &str,
        expected: Option<Expected>,
        who: &str,
    ) -> Result<bool, StoreError> {
        let (key, who) = (key.to_owned(), who.to_owned());
        self.told(|reply| Request::Delete { key, expected, who, reply })
    }

    /// Asks the writer something and waits until its answer is durable.
    pub(crate) fn told(
        &self,
        request: impl FnOnce(Sender<Result<bool, StoreError>>) -> Request,
    ) -> Result<bool, StoreError> {
        let (reply, answer) = mpsc::channel();
        self.seat()?.serve(request(reply))?;
        answer.recv().map_err(|_| ended())?
    }

    /// A stored document.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn get(&self, key: &str) -> Result<Option<StoredDocument>, StoreError> {
        self.reading(|database| {
            let record = database.record_by_key(key)?;
            record.map(|record| self.inner.stored_document(database, record)).transpose()
        })
    }

    /// Original and copies of the family a document belongs to, the original first.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn family(&self, key: &str) -> Result<Vec<StoredDocument>, StoreError> {
        self.reading(|database| {
            let Some(record) = database.record_by_key(key)? else { return Ok(Vec::new()) };
            let original = record.standing.original.unwrap_or(record.row);
            let rows = std::iter::once(original).chain(database.family(original)?);
            let mut family = Vec::new();
            for row in rows {
                if let Some(record) = database.record(row)? {
                    family.push(self.inner.stored_document(database, record)?);
                }
            }
            Ok(family)
        })
    }

    /// Calls `each` with every document, in the order in which they were first stored, as of one
    /// moment.
    ///
    /// # Errors
    ///
    /// The database's, or the first of `each`.
    pub fn for_each<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(StoredDocument) -> Result<(), E>,
    ) -> Result<(), E> {
        self.reading(|database| {
            let mut ended = Ok(());
            let read = database.for_each_record(|record| {
                let document = self.inner.stored_document(database, record)?;
                ended = each(document);
                if ended.is_err() {
                    return Err(StoreError::Stopped { what: "the reader stopped".to_owned() });
                }
                Ok(())
            });
            ended?;
            read.map_err(E::from)
        })
    }

    /// Writes a copy of everything that lasts to another directory, as of one moment, while others
    /// read and write. The copy is a store; what is derived is built when it is opened.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyThere`], [`StoreError::DiskFull`] and the like; nothing is left behind.
    pub fn backup(&self, directory: &Path) -> Result<(), StoreError> {
        let copy = Places { directory: directory.to_owned() };
        let io = |source| StoreError::Io { doing: "write", path: directory.to_owned(), source };
        if copy.database().exists() {
            return Err(StoreError::AlreadyThere { path: directory.to_owned() });
        }
        std::fs::create_dir_all(directory).map_err(io)?;
        let partial = directory.join("documents.partial");
        // What a backup that was killed left behind.
        let _ = std::fs::remove_file(&partial);
        let database = Database::open_writer(&self.inner.places.database())?;
        let written = database.copy_to(&partial).and_then(|()| {
            std::fs::File::open(&partial).and_then(|file| file.sync_all()).map_err(io)?;
            std::fs::rename(&partial, copy.database()).map_err(io)?;
            std::fs::File::open(directory).and_then(|folder| folder.sync_all()).map_err(io)
        });
        if written.is_err() {
            let _ = std::fs::remove_file(&partial);
        }
        written
    }

    /// Removes what is derived from the database, the snapshot of the index, the search index and the
    /// index of shingles; the next opening builds them.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::InUse`], [`StoreError::Io`].
    pub fn forget_derived(directory: &Path) -> Result<(), StoreError> {
        let places = Places { directory: directory.to_owned() };
        if !places.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        let _lock = WriteLock::take(&places)?;
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| StoreError::Io { doing: "remove", path, source }
        };
        for entry in std::fs::read_dir(directory).map_err(io(directory))? {
            let path = entry.map_err(io(directory))?.path();
            if path.extension().is_some_and(|extension| extension == "snapshot") {
                std::fs::remove_file(&path).map_err(io(&path))?;
            }
        }
        for derived in [places.search(), places.shingles()] {
            if derived.exists() {
                std::fs::remove_dir_all(&derived).map_err(io(&derived))?;
            }
        }
        Ok(())
    }

    /// Everything queued so far is stored, the snapshot of the index is written.
    ///
    /// # Errors
    ///
    /// Why not.
    pub fn flush(&self) -> Result<(), StoreError> {
        let (reply, answer) = mpsc::channel();
        self.seat()?.leave(Request::Flush(reply))?;
        answer.recv().map_err(|_| ended())?
    }

    /// Ends the store: everything queued is stored, everything derived is written. Other clones of
    /// the handle can read, and write no more.
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

    /// Where requests to the writer go.
    pub(crate) fn seat(&self) -> Result<Seat, StoreError> {
        match &*self.inner.writing.lock().expect("no one panics with it") {
            Some(writing) => Ok(writing.seat.clone()),
            None => Err(StoreError::ReadOnly { path: self.inner.places.directory.clone() }),
        }
    }

    /// Runs a question on one state of the database.
    pub(crate) fn reading<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&Database) -> Result<T, E>,
    ) -> Result<T, E> {
        self.inner.reading(question)
    }

    fn fill_resemblance(
        &self,
        verdict: &mut Verdict,
        shingles: &ElementSet,
    ) -> Result<(), StoreError> {
        if verdict.original.is_none() || verdict.resemblance.is_some() {
            return Ok(());
        }
        self.reading(|database| self.inner.fill_resemblance(database, verdict, shingles))
    }
}

impl Inner {
    /// Reads what a store has in memory; tells the mark of the snapshot too.
    fn load(places: Places, database: &Database) -> Result<(Self, u64), StoreError> {
        let params = database.params()?;
        let identity = database.identity()?;
        let snapshot = places.snapshot(&identity);
        let LoadedIndex { index, snapshot_mark, rebuilt, .. } =
            load_index(database, &snapshot, params.features().1)?;
        let preparer = Preparer::new(&params)?;
        let inner = Inner {
            places,
            params,
            identity,
            preparer,
            index: Arc::new(RwLock::new(index)),
            rebuilt,
            search: Arc::default(),
            shingles: Arc::default(),
            reading_shingles: Mutex::new(None),
            readers: Mutex::new(Vec::new()),
            counted: Mutex::default(),
            writing: Mutex::new(None),
        };
        Ok((inner, snapshot_mark))
    }

    pub(crate) fn reading<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&Database) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = self.readers.lock().expect("no one panics with it").pop();
        let database = match idle {
            Some(database) => database,
            None => Database::open_reader(&self.places.database())?,
        };
        database.run("BEGIN")?;
        let answer = question(&database);
        database.run("COMMIT")?;
        self.give_back(database);
        answer
    }

    fn give_back(&self, database: Database) {
        let mut readers = self.readers.lock().expect("no one panics with it");
        if readers.len() < MOST_IDLE_READERS {
            readers.push(database);
        }
    }

    pub(crate) fn stored_document(
        &self,
        database: &Database,
        record: Record,
    ) -> Result<StoredDocument, StoreError> {
        let text = database.text(record.row)?;
        let copies = database.copies(record.row)?;
        self.whole_document(database, record, text, copies)
    }

    /// As [`Inner::stored_document`], with what was read already.
    pub(crate) fn whole_document(
        &self,
        database: &Database,
        record: Record,
        text: String,
        copies: u64,
    ) -> Result<StoredDocument, StoreError> {
        let mut verdict = verdict(database, &record.standing)?;
        if verdict.original.is_some() && verdict.resemblance.is_none() {
            let (shingles, ..) = self.preparer.shingles(&text);
            self.fill_resemblance(database, &mut verdict, &shingles)?;
        }
        Ok(StoredDocument {
            row: record.row,
            key: record.key,
            created: record.created,
            stored: record.stored,
            version: record.version,
            url: record.url,
            site: record.site,
            author: record.author,
            title: record.title,
            language: record.language,
            text,
            words: record.words,
            verdict,
            copies,
            decision: record.decision,
            decision_entry: record.decision_entry,
        })
    }

    fn fill_resemblance(
        &self,
        database: &Database,
        verdict: &mut Verdict,
        shingles: &ElementSet,
    ) -> Result<(), StoreError> {
        if let (Some(original), None) = (&verdict.original, verdict.resemblance) {
            verdict.resemblance = match verdict.kind {
                Kind::Copy => match database.record_by_key(original)? {
                    Some(record) => {
                        let text = database.text(record.row)?;
                        Some(shingles.resemblance(&self.preparer.shingles(&text).0))
                    }
                    // Deleted since it was said.
                    None => None,
                },
                _ => Some(1.0),
            };
        }
        Ok(())
    }

    /// Ends the writer and waits for it.
    fn end(&self) {
        let writing = self.writing.lock().expect("no one panics with it").take();
        if let Some(Writing { seat, writer, checkpoints, search, shingles, _lock }) = writing {
            // The writer wakes the followers, and they tell the writer how far they are: all end when
            // the store lets go of them. A thread that panicked has told its clients.
            for following in [&search, &shingles] {
                let (reply, committed) = mpsc::channel();
                if following.bell.wake(Wake::Commit(reply)) {
                    let _ = committed.recv();
                }
            }
            let _ = seat.leave(Request::End);
            let _ = writer.join();
            drop(seat);
            let _ = checkpoints.join();
            for Following { bell, thread } in [search, shingles] {
                drop(bell);
                let _ = thread.join();
            }
        }
    }

    fn follower<D: Derived>(
        &self,
        derived: D,
        seat: &Seat,
        bell: &Bell,
    ) -> Result<Follower<D>, StoreError> {
        let database = Database::open_reader(&self.places.database())?;
        Ok(Follower { derived, database, requests: seat.requests(), rung: bell.rung() })
    }

    /// Wakes the search thread; tells whether there is one.
    pub(crate) fn wake_search(&self, wake: Wake) -> bool {
        match &*self.writing.lock().expect("no one panics with it") {
            Some(writing) => writing.search.bell.wake(wake),
            None => false,
        }
    }

    /// Wakes the thread of the index of shingles; tells whether there is one.
    pub(crate) fn wake_shingles(&self, wake: Wake) -> bool {
        match &*self.writing.lock().expect("no one panics with it") {
            Some(writing) => writing.shingles.bell.wake(wake),
            None => false,
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end();
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
    /// How many documents of which kind there are.
    ///
    /// A store of 20,000 documents and more that keeps changing is not counted each time: what is said of it is
    /// old by at most twenty times what counting takes, half a second for some 100,000 documents.
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
        let places = &self.inner.places;
        let database = places.database();
        DiskBytes {
            database: bytes_on_disk(&database)
                + bytes_on_disk(&database.with_extension("sqlite-wal")),
            snapshot: bytes_on_disk(&places.snapshot(&self.inner.identity)),
            search: bytes_on_disk(&places.search()),
            shingles: bytes_on_disk(&places.shingles()),
        }
    }

    /// Bytes of memory that the index takes.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        self.inner.index.read().expect("no one panics with it").memory_bytes()
    }

    /// The index of originals, for whoever measures it.
    #[must_use]
    pub fn index(&self) -> Arc<RwLock<MemoryIndex>> {
        self.inner.index.clone()
    }

    /// How many originals the index holds.
    #[must_use]
    pub fn index_len(&self) -> usize {
        self.inner.index.read().expect("no one panics with it").len()
    }
}
