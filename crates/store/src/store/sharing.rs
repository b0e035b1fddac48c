//! Opens a store in a PostgreSQL that several processes share.
//!
//! The tables are there; what is derived from them (the snapshot of the index, search, the index of shingles) each process
//! keeps in a folder of its own on this machine and can be built again. It is named by the store's identity, with a number for
//! the second process on the machine and so on, and lies below the folder that the address or `WONBON_DERIVED` names, or
//! below the user's cache.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use wonbon_files::create_private_directory;

use super::opening::Helper;
use super::{Inner, Store};
use crate::error::StoreError;
use crate::params::StoreParams;
use crate::shared_index::SharedIndex;
use crate::store_files::{StoreFiles, WriteLock};
use crate::tables::postgres::address::{Address, is_address};
use crate::tables::postgres::known_turn::KnownTurnFile;
use crate::tables::postgres::{PostgresBackend, SharedRecords};
use crate::tables::{Backend as _, Counters, Reading};
use crate::writer::Request;
use crate::writer_queue::{WriterQueue, writer_ended};

/// What a process keeps beside the index in memory that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Follow {
    /// Search, and the index of shingles for questions.
    #[default]
    All,
    /// Neither: a process on a store in PostgreSQL that adds, checks and reads, and leaves searches and questions to others.
    Nothing,
}

/// Where one of several processes on a store is.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedState {
    /// The identity of the store's history.
    pub history: String,
    /// The last change that this process has taken in.
    pub change: u64,
    /// How many changes it has not taken in yet.
    pub behind: u64,
    /// Turns that this process made a second, since the state was asked for before, at least a second ago.
    pub turns_per_second: f64,
    /// How often it read everything again because the history was another than it had seen, or it was away too long.
    pub begun_anew: u64,
    /// How often changes that it had seen turned out to be lost, as after a failover to a standby that was behind.
    pub losses: u64,
    /// Requests that wait for the writer of this process.
    pub queued: u64,
    /// Whether it keeps search and the index of shingles.
    pub follows: bool,
}

/// When turns were counted the last time, how many there were, and how many a second before that.
#[derive(Debug)]
pub(super) struct TurnRate {
    counted: Instant,
    turns: u64,
    a_second: f64,
}

impl Default for TurnRate {
    fn default() -> Self {
        TurnRate { counted: Instant::now(), turns: 0, a_second: 0.0 }
    }
}

impl TurnRate {
    fn count(&mut self, turns: u64) -> f64 {
        let elapsed = self.counted.elapsed();
        if elapsed >= Duration::from_secs(1) {
            self.a_second = turns.saturating_sub(self.turns) as f64 / elapsed.as_secs_f64();
            (self.counted, self.turns) = (Instant::now(), turns);
        }
        self.a_second
    }
}

/// How often it is asked how far the others are. Checks do not wait for this; search and the memory of the others do.
const LOOK_AFTER: Duration = Duration::from_millis(50);

/// How many processes on one machine find a directory for what they derive.
const MOST_PROCESSES: u32 = 64;

impl Store {
    /// Whether this names a store in a PostgreSQL and not a directory.
    #[must_use]
    pub fn is_in_postgres(place: &Path) -> bool {
        is_address(place)
    }

    /// Where the store is, as it may be shown: a directory, or an address without its password.
    #[must_use]
    pub fn shown_place(place: &Path) -> String {
        match is_address(place) {
            true => match Address::parse(&place.to_string_lossy()) {
                Ok(address) => address.to_string(),
                Err(_) => "a PostgreSQL".to_owned(),
            },
            false => place.display().to_string(),
        }
    }

    /// Where this process is, if several may write to the store at once.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn shared_state(&self) -> Result<Option<SharedState>, StoreError> {
        if !self.inner.backend.is_shared() {
            return Ok(None);
        }
        let index = &self.inner.index;
        let change = index.applied();
        let mut rate = self.inner.turn_rate.lock().expect("no one panics with it");
        Ok(Some(SharedState {
            history: self.inner.identity.clone(),
            change,
            behind: self.inner.backend.head()?.change.saturating_sub(change),
            turns_per_second: rate.count(index.turns()),
            begun_anew: index.begun_anew(),
            losses: self.inner.backend.losses(),
            queued: self.writer_queue()?.waiting(),
            follows: self.inner.follows == Follow::All,
        }))
    }

    /// Whether several processes may write to it at once.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.inner.backend.is_shared()
    }

    /// A secret for a purpose that all processes on a shared store have; none for a store of one process.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn shared_secret(&self, purpose: &str) -> Result<Option<[u8; 32]>, StoreError> {
        if !self.inner.backend.is_shared() {
            return Ok(None);
        }
        let secret = self.reading(|database| {
            let missing = || database.damaged("it has no secret".to_owned());
            database.meta("secret")?.ok_or_else(missing)
        })?;
        Ok(Some(Sha256::digest(format!("{purpose} {secret}")).into()))
    }

    /// Texts for a purpose that all processes on a shared store read; none for a store of one process.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn shared_records(&self, purpose: &str) -> Result<Option<SharedRecords>, StoreError> {
        self.inner.backend.records(purpose)
    }

    /// Takes in what other processes did until now.
    pub(crate) fn follow_others(&self) -> Result<(), StoreError> {
        if !self.inner.backend.is_shared() {
            return Ok(());
        }
        let (reply, followed) = mpsc::channel();
        self.writer_queue()?.enqueue(Request::Follow(reply))?;
        followed.recv().map_err(|_| writer_ended())?
    }

    /// Refuses what is done with a directory only.
    pub(crate) fn refuse_postgres(place: &Path, what: &'static str) -> Result<(), StoreError> {
        match is_address(place) {
            true => Err(StoreError::NotADirectory { what }),
            false => Ok(()),
        }
    }

    /// Opens a store in a PostgreSQL; if there is none, makes one with the given parameters. Several processes may do
    /// so at once. The second answer is whether it was made by this call.
    pub(super) fn open_shared(
        place: &Path,
        new: Option<&StoreParams>,
        follows: Follow,
    ) -> Result<(Self, bool), StoreError> {
        let address = Address::parse(&place.to_string_lossy())?;
        let backend = PostgresBackend::open(address)?;
        let mut is_new = false;
        match (backend.tables()?, new) {
            (Some(tables), _) => backend.check_tables(tables)?,
            (None, Some(params)) => {
                params.feature_maker()?;
                is_new = !backend.create(params)?;
            }
            (None, None) => {
                return Err(StoreError::NoStore { path: backend.address.to_string().into() });
            }
        }
        let reader = backend.reader()?;
        let reading: &dyn Reading = &*reader;
        let (files, lock) =
            derived_files(backend.address.derived.as_deref(), &reading.identity()?)?;
        let mut session = backend.session()?;
        let (turn_file, turn) = KnownTurnFile::open(&files.directory)?;
        let trusted = match turn {
            Some(turn) if session.has_turn(&turn)? => turn.change,
            // Of a history that is not the store's any more, or that cannot be told.
            _ => {
                files.remove_derived()?;
                u64::MAX
            }
        };
        let (mut inner, snapshot_mark) = Inner::load(files, backend.clone(), reading, trusted)?;
        inner.follows = follows;
        session.follow_from(session.turn_at(inner.index.applied())?, turn_file);
        inner.return_reader(reader);
        // The index is of one state, the counters are of a later one: what lies between is followed.
        let counters = Counters { last_change: inner.index.applied(), ..backend.counters()? };
        let index = inner.index.clone();
        let helper = move |queue: &WriterQueue| watcher(backend, index, queue.clone());
        let store = inner.start(Box::new(session), counters, snapshot_mark, helper, lock)?;
        Ok((store, is_new))
    }
}

/// A directory for what this process derives, and the lock on it.
fn derived_files(
    named: Option<&Path>,
    identity: &str,
) -> Result<(StoreFiles, WriteLock), StoreError> {
    let cache = std::env::var_os("XDG_CACHE_HOME").filter(|name| !name.is_empty());
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let usual = || {
        let cache = cache.map(PathBuf::from).or_else(home).unwrap_or_else(std::env::temp_dir);
        cache.join("wonbon")
    };
    let base = named.map_or_else(usual, Path::to_owned);
    let mut number = 1;
    loop {
        let name = match number {
            1 => identity.to_owned(),
            _ => format!("{identity}-{number}"),
        };
        match take(base.join(name)) {
            Err(StoreError::InUse { .. }) if number < MOST_PROCESSES => number += 1,
            taken => return taken,
        }
    }
}

fn take(directory: PathBuf) -> Result<(StoreFiles, WriteLock), StoreError> {
    create_private_directory(&directory)?;
    let files = StoreFiles { directory };
    let lock = WriteLock::take(&files)?;
    Ok((files, lock))
}

/// The thread that lets the writer follow the others, also while nobody writes here.
fn watcher(backend: Arc<PostgresBackend>, index: Arc<SharedIndex>, queue: WriterQueue) -> Helper {
    let ended = Arc::new((Mutex::new(false), Condvar::new()));
    let watched = ended.clone();
    let run = Box::new(move || {
        loop {
            let (is_ended, rung) = &*watched;
            let guard = is_ended.lock().expect("no one panics with it");
            let (guard, _) = rung
                .wait_timeout_while(guard, LOOK_AFTER, |is_ended| !*is_ended)
                .expect("no one panics with it");
            if *guard {
                return;
            }
            drop(guard);
            // A server that does not answer is asked again.
            if backend.head().is_ok_and(|head| head.change != index.applied() || !head.is_expected)
            {
                let (reply, followed) = mpsc::channel();
                if queue.enqueue(Request::Follow(reply)).is_err() {
                    return;
                }
                // What kept the writer from following keeps it only until the next look.
                let _ = followed.recv();
            }
        }
    });
    let stop = Box::new(move || {
        let (is_ended, rung) = &*ended;
        *is_ended.lock().expect("no one panics with it") = true;
        rung.notify_all();
    });
    Helper { name: "wonbon-head", run, stop: Some(stop) }
}
