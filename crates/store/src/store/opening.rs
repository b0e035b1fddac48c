//! Creates and opens stores: reads the parameters, loads the index, starts the threads.

use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};

use wonbon_files::{ReplacedFile, create_private_directory, remove_leftovers};

use super::{Following, Inner, Store, Writing};
use crate::checkpoints::Checkpoints;
use crate::database::Database;
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
use crate::writer::Writer;
use crate::writer_queue::WriterQueue;

impl Store {
    /// Makes a store in a directory, which is made too.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyThere`], [`StoreError::ForeignLog`], [`StoreError::Io`], or the database's.
    pub fn create(directory: &Path, params: &StoreParams) -> Result<Self, StoreError> {
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
        let database = Database::create(file.temporary(), params, &random_identity())?;
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

    /// Opens a store to read, also while another process writes to it. Later writes are visible to
    /// everything but [`Store::check`], which knows only the originals at the moment of opening.
    ///
    /// # Errors
    ///
    /// As [`Store::open`], without [`StoreError::InUse`]; [`StoreError::Replaced`] if the derived files
    /// have to be rebuilt first.
    pub fn open_read_only(directory: &Path) -> Result<Self, StoreError> {
        let files = StoreFiles { directory: directory.to_owned() };
        if !files.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        if !check_companions(&files)? {
            return Err(StoreError::Replaced { path: files.database() });
        }
        let database = Database::open_reader(&files.database())?;
        let (inner, _) = Inner::load(files, &database)?;
        inner.return_reader(database);
        inner.open_search_reader()?;
        Ok(Store { inner: Arc::new(inner), cancellation: None })
    }

    fn open_locked(files: StoreFiles, lock: WriteLock) -> Result<Self, StoreError> {
        let belongs = check_companions(&files)?;
        if !belongs {
            files.remove_derived()?;
        }
        let mut database = Database::open_writer(&files.database())?;
        let mut mark = DatabaseMark::new(files.clone());
        if !belongs {
            mark.renew(&database)?;
        }
        let (checkpoints, checkpointing) =
            Checkpoints::take(&mut database.connection, &files.database())?;
        let (inner, loaded) = Inner::load(files, &database)?;
        let families = Families::new(
            database,
            inner.index.clone(),
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
        let writer =
            Writer::new(families, mark, checkpoints, snapshot, loaded, stored, after_commit)?;
        let (queue, writer) = WriterQueue::new(writer);
        let start = |name: &str, run: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
            thread.map_err(|source| StoreError::Io {
                doing: "start the threads of",
                path: inner.files.directory.clone(),
                source,
            })
        };
        let search = inner.follower(inner.search_following(), &queue, &search_notifier)?;
        let shingles = inner.follower(inner.shingle_following(true), &queue, &shingle_notifier)?;
        let writer = start("wonbon-writer", Box::new(move || writer.run()))?;
        let checkpoints = start("wonbon-log", Box::new(move || checkpointing.run()))?;
        let search = start("wonbon-search", Box::new(move || search.run(&search_woken)))?;
        let shingles = start("wonbon-shingles", Box::new(move || shingles.run(&shingles_woken)))?;
        *inner.writing.lock().expect("no one panics with it") = Some(Writing {
            queue,
            writer,
            checkpoints,
            search: Following { notifier: search_notifier, thread: search },
            shingles: Following { notifier: shingle_notifier, thread: shingles },
            _lock: lock,
        });
        Ok(Store { inner: Arc::new(inner), cancellation: None })
    }
}

impl Inner {
    /// Loads the part of a store that is kept in memory; returns the mark of the snapshot too.
    fn load(files: StoreFiles, database: &Database) -> Result<(Self, u64), StoreError> {
        let params = database.params()?;
        let identity = database.identity()?;
        let snapshot = files.snapshot(&identity);
        let LoadedIndex { index, snapshot_mark, rebuilt, .. } =
            load_index(database, &snapshot, params.features().1)?;
        let preparer = Preparer::new(&params)?;
        let inner = Inner {
            files,
            params,
            identity,
            preparer,
            index: Arc::new(SharedIndex::new(index)),
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

    fn follower<D: Derived>(
        &self,
        derived: D,
        queue: &WriterQueue,
        notifier: &Notifier,
    ) -> Result<Follower<D>, StoreError> {
        let database = Database::open_reader(&self.files.database())?;
        Ok(Follower {
            derived,
            database,
            requests: queue.requests(),
            notified: notifier.notified(),
        })
    }
}
