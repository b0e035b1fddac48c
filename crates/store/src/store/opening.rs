//! Creates and opens stores: reads the parameters, loads the index, starts the threads.

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};

use wonbon_files::{ReplacedFile, create_private_directory, remove_leftovers};

use super::{Follow, Following, Inner, Store, Writing};
use crate::database_mark::{DatabaseMark, check_companions, refuse_left_over_logs};
use crate::document::Added;
use crate::error::StoreError;
use crate::families::Families;
use crate::follower::{Derived, Follower, Notifier};
use crate::index_loading::{LoadedIndex, load_index};
use crate::params::{StoreParams, random_identity};
use crate::prepare::{Prepared, Preparer};
use crate::shared_index::SharedIndex;
use crate::store_files::{StoreFiles, WriteLock};
use crate::tables::{self, Backend, Counters, Reading, Sqlite, SqliteBackend};
use crate::writer::Writer;
use crate::writer_queue::WriterQueue;

impl Store {
    /// Makes a store in a directory, which is made too, or in the PostgreSQL of an address (`postgres://…`), here as
    /// wherever a store is named.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyThere`], [`StoreError::ForeignLog`], [`StoreError::Io`], or the database's.
    pub fn create(directory: &Path, params: &StoreParams) -> Result<Self, StoreError> {
        if Self::is_in_postgres(directory) {
            return match Self::open_shared(directory, Some(params), Follow::All)? {
                (store, true) => Ok(store),
                (_, false) => {
                    let path = Self::shown_place(directory).into();
                    Err(StoreError::AlreadyThere { path })
                }
            };
        }
        let files = StoreFiles { directory: directory.to_owned() };
        create_private_directory(directory)?;
        let lock = WriteLock::take(&files)?;
        if files.database().exists() {
            return Err(StoreError::AlreadyThere { path: directory.to_owned() });
        }
        refuse_left_over_logs(&files)?;
        params.feature_maker()?;
        // Under its own name only when it is whole.
        remove_leftovers(&files.database());
        let file = ReplacedFile::create_private(&files.database())?;
        let database = Sqlite::create(file.temporary(), params, &random_identity())?;
        database.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        drop(database);
        file.commit_new()?;
        Self::open_locked(files, lock)
    }

    /// Opens a store to read and write. One process at a time can.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::InUse`], [`StoreError::Damaged`], [`StoreError::ForeignLog`],
    /// [`StoreError::ParamsMismatch`] if this program would decide otherwise than the store did.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        if Self::is_in_postgres(directory) {
            return Ok(Self::open_shared(directory, None, Follow::All)?.0);
        }
        let files = StoreFiles { directory: directory.to_owned() };
        if !files.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        let lock = WriteLock::take(&files)?;
        Self::open_locked(files, lock)
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
        Self::open_or_create_following(directory, asked, Follow::All)
    }

    /// As [`Store::open_or_create`]; a process on a store in PostgreSQL may leave what it would derive to others.
    ///
    /// # Errors
    ///
    /// As [`Store::open_or_create`], and [`StoreError::MustFollow`] for a store in a directory that is to follow nothing.
    pub fn open_or_create_following(
        directory: &Path,
        asked: Option<&StoreParams>,
        follows: Follow,
    ) -> Result<Self, StoreError> {
        let new = asked.cloned().unwrap_or_default();
        let opened = match Self::is_in_postgres(directory) {
            // Another process may make it at the same moment.
            true => Self::open_shared(directory, Some(&new), follows).map(|(store, _)| store),
            false if follows == Follow::Nothing => Err(StoreError::MustFollow),
            false => Self::open(directory),
        };
        match opened {
            Err(StoreError::NoStore { .. }) => Self::create(directory, &new),
            Ok(store) => {
                if let Some(asked) = asked {
                    store.params().check_asked(asked)?;
                }
                Ok(store)
            }
            Err(error) => Err(error),
        }
    }

    /// Opens a store to read, also while another process writes to it. Later writes are visible to
    /// everything but [`Store::check`], which knows only the originals at the moment of opening.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], without [`StoreError::InUse`]; [`StoreError::Replaced`] if the derived files
    /// have to be rebuilt first.
    pub fn open_read_only(directory: &Path) -> Result<Self, StoreError> {
        if Self::is_in_postgres(directory) {
            // Others may write beside it: it follows them as one that writes does.
            return Self::open(directory);
        }
        let files = StoreFiles { directory: directory.to_owned() };
        if !files.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        if !check_companions(&files)? {
            return Err(StoreError::Replaced { path: files.database() });
        }
        let backend = Arc::new(SqliteBackend { files: files.clone() });
        let database = backend.reader()?;
        let (inner, _) = Inner::load(files, backend, &*database, u64::MAX)?;
        inner.return_reader(database);
        inner.open_search_reader()?;
        Ok(Store { inner: Arc::new(inner), cancellation: None })
    }

    fn open_locked(files: StoreFiles, lock: WriteLock) -> Result<Self, StoreError> {
        let belongs = check_companions(&files)?;
        if !belongs {
            files.remove_derived()?;
        }
        let database = Sqlite::open_writer(&files.database())?;
        let mut mark = DatabaseMark::new(files.clone());
        if !belongs {
            mark.renew(&database)?;
        }
        let (database, checkpointing) = database.become_writer(&files, mark)?;
        let backend = Arc::new(SqliteBackend { files: files.clone() });
        let (inner, snapshot_mark) = Inner::load(files, backend, &database, u64::MAX)?;
        let counters = database.counters()?;
        let run = Box::new(move || checkpointing.run());
        let helper = Helper { name: "wonbon-log", run, stop: None };
        inner.start(Box::new(database), counters, snapshot_mark, |_| helper, lock)
    }
}

/// A thread beside the writer.
pub(super) struct Helper {
    pub(super) name: &'static str,
    pub(super) run: Box<dyn FnOnce() + Send>,
    /// What ends it, where dropping the writer does not.
    pub(super) stop: Option<Box<dyn FnOnce() + Send>>,
}

impl Inner {
    /// Starts the threads of a store that writes.
    pub(super) fn start(
        self,
        database: Box<dyn tables::Writing>,
        counters: Counters,
        snapshot_mark: u64,
        helper: impl FnOnce(&WriterQueue) -> Helper,
        lock: WriteLock,
    ) -> Result<Store, StoreError> {
        let mut inner = self;
        inner.follows_changes = true;
        inner.index.note_clock(counters.clock);
        let families = Families::new(
            database,
            inner.index.clone(),
            counters,
            inner.params.rule,
            inner.preparer.clone(),
        )?;
        let (search_wakes, search_woken) = mpsc::channel();
        let (shingle_wakes, shingles_woken) = mpsc::channel();
        let snapshot = inner.files.snapshot(&inner.identity);
        let (search_notifier, shingle_notifier) =
            (Notifier::new(search_wakes), Notifier::new(shingle_wakes));
        let notifiers = [search_notifier.clone(), shingle_notifier.clone()];
        let after_commit = Box::new(move || notifiers.iter().for_each(Notifier::notify));
        let (search_state, shingle_state) = (inner.search.clone(), inner.shingles.clone());
        let stored = Box::new(move |added: &Added, prepared: &Prepared| {
            search_state.stored(added, prepared);
            shingle_state.stored(added.row, prepared);
        });
        let writer = Writer::new(families, snapshot, snapshot_mark, stored, after_commit)?;
        let (queue, writer) = WriterQueue::new(writer);
        let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
            thread.map_err(|source| StoreError::Io {
                doing: "start the threads of",
                path: inner.files.directory.clone(),
                source,
            })
        };
        let followers = match inner.follows {
            Follow::Nothing => None,
            Follow::All => Some((
                inner.follower(inner.search_following(), &queue, &search_notifier)?,
                inner.follower(inner.shingle_following(true), &queue, &shingle_notifier)?,
            )),
        };
        let writer = start("wonbon-writer", Box::new(move || writer.run()))?;
        let Helper { name, run, stop: stop_helper } = helper(&queue);
        let helper = start(name, run)?;
        let (mut search, mut shingles) = (None, None);
        if let Some((following, other)) = followers {
            let thread = start("wonbon-search", Box::new(move || following.run(&search_woken)))?;
            search = Some(Following { notifier: search_notifier, thread });
            let thread = start("wonbon-shingles", Box::new(move || other.run(&shingles_woken)))?;
            shingles = Some(Following { notifier: shingle_notifier, thread });
        }
        *inner.writing.lock().expect("no one panics with it") =
            Some(Writing { queue, writer, helper, stop_helper, search, shingles, _lock: lock });
        Ok(Store { inner: Arc::new(inner), cancellation: None })
    }

    /// Loads the part of a store that is kept in memory; returns the mark of the snapshot too. What is derived is used up to
    /// the change `trusted`.
    pub(super) fn load(
        files: StoreFiles,
        backend: Arc<dyn Backend>,
        database: &dyn Reading,
        trusted: u64,
    ) -> Result<(Self, u64), StoreError> {
        let params = database.params()?;
        let identity = database.identity()?;
        let snapshot = files.snapshot(&identity);
        let LoadedIndex { index, applied, snapshot_mark, rebuilt } =
            load_index(database, &snapshot, trusted, params.features().1)?;
        let preparer = Preparer::new(&params)?;
        let inner = Inner {
            files,
            params,
            identity,
            preparer,
            backend,
            index: Arc::new(SharedIndex::new(index, applied)),
            follows_changes: false,
            rebuilt,
            search: Arc::default(),
            shingles: Arc::default(),
            reading_shingles: Mutex::new(None),
            readers: Mutex::new(Vec::new()),
            counted: Mutex::default(),
            turn_rate: Mutex::default(),
            follows: Follow::All,
            trusted,
            writing: Mutex::new(None),
        };
        Ok((inner, snapshot_mark))
    }

    fn follower<D: Derived>(
        &self,
        derived: D,
        queue: &WriterQueue,
        notifier: &Notifier,
    ) -> Result<Follower<D>, StoreError> {
        let database = self.backend.reader()?;
        Ok(Follower {
            derived,
            database,
            requests: queue.requests(),
            notified: notifier.notified(),
            index: self.index.clone(),
            begun_anew: self.index.begun_anew(),
            trusted: self.trusted,
        })
    }
}
