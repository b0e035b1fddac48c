//! The tables of a store in a PostgreSQL that several processes share.
//!
//! Every process decides by itself, in turns: whoever wants to write locks one row, the head, catches up with what the others
//! did, decides its whole queue as the writer of a directory does, writes it in bulk and moves the head ([`writing`]). There is no
//! leader and nothing is forwarded; a process that dies in its turn is rolled back by the server. Verdicts are those that
//! one process would give.
//!
//! | module | has |
//! |---|---|
//! | [`address`] | addresses as people paste them, TLS |
//! | [`connection`] | sessions for threads without a runtime; statements that leave together |
//! | [`schema`] | the tables |
//! | [`known_turn`] | which turn a process has taken in, also for its next start |
//! | [`session`] | one state to read, or the working set of a turn |
//! | [`rows`] | rows of answers as what they stand for |
//! | [`reading`], [`writing`] | the questions; the turn |
//! | [`shared_text`] | what instances share beside documents |
//!
//! How current: a check reads the head first, one read for all who wait, so it is never older than an add that was
//! acknowledged anywhere. The index in memory, search and the index of shingles follow the outbox.
//!
//! Cost: a turn is two round trips, three when a document looks like another; 1.4 kB of text take about 1.9 kB of tables.

pub(crate) mod address;
mod connection;
pub(crate) mod known_turn;
mod reading;
mod rows;
mod schema;
mod session;
mod shared_text;
mod writing;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use crate::error::StoreError;
use crate::params::{StoreParams, random_bytes, random_identity};
use crate::tables::{Backend, Counters, Head, Reading};
use address::Address;
use connection::{Connection, Driver, Purpose, failed};
use known_turn::{KnownTurn, KnownTurnFile};
use schema::{EARLIEST_SERVER, MORE_SCHEMA, SCHEMA, TABLES_VERSION};
pub(crate) use session::Postgres;
pub use shared_text::{SharedRecords, SharedText};
use writing::is_race;

/// How often making the tables is tried beside others who make them too.
const TRIES: usize = 20;

/// A PostgreSQL with the tables of a store.
pub(crate) struct PostgresBackend {
    pub(crate) address: Address,
    driver: Driver,
    heads: Mutex<Heads>,
    read: Condvar,
    /// The last turn that this process has taken in, and the file that says so.
    known: Mutex<(Option<KnownTurn>, Option<KnownTurnFile>)>,
    /// How often turns that this process had taken in were gone.
    losses: AtomicU64,
    /// The session that reads the head.
    head_session: Mutex<Option<Connection>>,
    /// For sessions that it opens: the backend itself.
    me: std::sync::Weak<PostgresBackend>,
}

/// Reads of the head, one at a time: who comes while one is under way waits for the next.
#[derive(Default)]
struct Heads {
    begun: u64,
    done: u64,
    is_reading: bool,
    answer: Option<Result<Head, StoreError>>,
}

impl PostgresBackend {
    /// Connects; says what is wrong with the server before anything is changed.
    pub(crate) fn open(address: Address) -> Result<Arc<Self>, StoreError> {
        let driver = Driver::start().map_err(|source| StoreError::Io {
            doing: "start the threads of",
            path: address.to_string().into(),
            source,
        })?;
        let backend = Arc::new_cyclic(|me| PostgresBackend {
            address,
            driver,
            heads: Mutex::default(),
            known: Mutex::default(),
            losses: AtomicU64::new(0),
            read: Condvar::new(),
            head_session: Mutex::new(None),
            me: me.clone(),
        });
        let session = backend.session()?;
        let other = backend.connect(Purpose::Turns)?;
        let failed = |error: tokio_postgres::Error| failed(&error, &backend.address);
        if !session.connection().is_same_session().map_err(failed)? {
            return Err(backend.refused(
                "a pooler before it does not keep sessions; it has to be in session mode"
                    .to_owned(),
            ));
        }
        *backend.head_session.lock().expect("no one panics with it") = Some(other);
        let version =
            session.number("SELECT current_setting('server_version_num')::bigint", &[])?;
        if version.is_none_or(|version| version < EARLIEST_SERVER) {
            let what = format!("it is too old: {}, not 12 or later", version.unwrap_or_default());
            return Err(backend.refused(what));
        }
        Ok(backend)
    }

    fn connect(&self, purpose: Purpose) -> Result<Connection, StoreError> {
        Connection::open(&self.driver, &self.address, purpose)
    }

    fn refused(&self, what: String) -> StoreError {
        StoreError::Refused { place: self.address.to_string(), what }
    }

    pub(crate) fn session(self: &Arc<Self>) -> Result<Postgres, StoreError> {
        Postgres::open(self.clone(), Purpose::Turns)
    }

    /// Whether there are tables of a store, and of which version.
    pub(crate) fn tables(self: &Arc<Self>) -> Result<Option<i64>, StoreError> {
        let session = self.session()?;
        let name = format!("\"{}\".head", self.address.schema);
        let rows = session.query("SELECT to_regclass($1) IS NOT NULL", &[&name])?;
        let exists = rows.first().map(|row| session.get(row, 0)).transpose()?.unwrap_or(false);
        match exists {
            true => session.number("SELECT tables FROM head WHERE one = 1", &[]),
            false => Ok(None),
        }
    }

    /// Refuses tables of a later program.
    pub(crate) fn check_tables(&self, tables: i64) -> Result<(), StoreError> {
        match tables > TABLES_VERSION {
            true => Err(StoreError::NewerTables {
                path: self.address.to_string().into(),
                stored: tables as i32,
                known: TABLES_VERSION as i32,
            }),
            false => Ok(()),
        }
    }

    /// Makes the tables of a new store; returns whether somebody else was first. Safe beside others who do the same.
    pub(crate) fn create(self: &Arc<Self>, params: &StoreParams) -> Result<bool, StoreError> {
        let connection = self.connect(Purpose::Turns)?;
        for attempt in 1.. {
            match self.try_create(&connection, params) {
                Ok(made) => return Ok(!made),
                Err(error) => {
                    // What was begun is taken back; the error of that is the one that counts.
                    let _ = connection.run("ROLLBACK");
                    if !is_race(&error) || attempt == TRIES {
                        return Err(failed(&error, &self.address));
                    }
                    std::thread::sleep(std::time::Duration::from_millis(10 * attempt as u64));
                }
            }
        }
        Ok(true)
    }

    fn try_create(
        &self,
        connection: &Connection,
        params: &StoreParams,
    ) -> Result<bool, tokio_postgres::Error> {
        connection.run("BEGIN")?;
        connection.run(&format!("CREATE SCHEMA IF NOT EXISTS \"{}\"", self.address.schema))?;
        for sql in SCHEMA.iter().chain(&MORE_SCHEMA) {
            connection.run(sql)?;
        }
        let head = "INSERT INTO head (one, tables, change, forgotten, next_row, clock, nonce) \
                    VALUES (1, $1, 0, 0, 1, 0, $2) ON CONFLICT DO NOTHING RETURNING 1";
        let nonce = random_bytes().to_vec();
        let made = !connection.query(head, &[&TABLES_VERSION, &nonce])?.is_empty();
        if made {
            let identity = random_identity();
            let values = params.to_values();
            let mut all: Vec<(&str, &str)> =
                values.iter().map(|(name, value)| (*name, value.as_str())).collect();
            // What instances of a service sign with, so that each takes what another gave out.
            let secret = [random_identity(), random_identity(), random_identity()].concat();
            all.extend([("identity", identity.as_str()), ("secret", secret.as_str())]);
            for (name, value) in all {
                let sql = "INSERT INTO meta (name, value) VALUES ($1, $2)";
                connection.query(sql, &[&name, &value])?;
            }
        }
        connection.run("COMMIT")?;
        Ok(made)
    }

    /// Removes the tables of a copy that was not completed, and the schema if nothing else is in it.
    pub(crate) fn remove(&self) -> Result<(), StoreError> {
        let tables = "DROP TABLE IF EXISTS head, turns, meta, documents, texts, versions, changes, \
                      sweeps, site_sweeps, sightings, redirects, watched, decisions";
        let connection = self.connect(Purpose::Turns)?;
        let failed = |error: tokio_postgres::Error| failed(&error, &self.address);
        connection.run("BEGIN").map_err(failed)?;
        let sql = "SELECT 1 FROM head WHERE one = 1 AND change = 0 FOR UPDATE";
        // Another process may have found the new tables and stored something.
        if connection.query(sql, &[]).map_err(failed)?.is_empty() {
            return connection.run("ROLLBACK").map_err(failed);
        }
        connection.run(tables).map_err(failed)?;
        connection.run("COMMIT").map_err(failed)?;
        // Somebody else's tables may be in the schema.
        let _ = connection.run(&format!("DROP SCHEMA IF EXISTS \"{}\"", self.address.schema));
        Ok(())
    }

    /// What continues from the turns before.
    pub(crate) fn counters(self: &Arc<Self>) -> Result<Counters, StoreError> {
        self.session()?.counters()
    }

    /// Notes what the writer takes in from now on in this file too.
    fn follow_in(&self, file: KnownTurnFile) {
        self.known.lock().expect("no one panics with it").1 = Some(file);
    }

    /// The writer has taken in this turn.
    fn note_turn(&self, turn: &KnownTurn) {
        let mut known = self.known.lock().expect("no one panics with it");
        if let Some(file) = &known.1 {
            file.write(turn);
        }
        known.0 = Some(turn.clone());
    }

    /// The history that this process has seen up to a change is not the store's, whose last change is another.
    fn note_loss(&self, seen: u64, last: u64) {
        self.losses.fetch_add(1, Ordering::Relaxed);
        tracing::error!(
            store = %self.address,
            seen,
            last,
            "the store has lost changes that this instance had seen, as after a failover to a standby that was behind; \
             everything that is derived from it is built anew"
        );
        // What is derived and durable is of the lost history until it was built anew, which the next start does again.
        if let Some(file) = self.known.lock().expect("no one panics with it").1.take() {
            file.forget();
        }
    }

    fn read_head(&self) -> Result<Head, StoreError> {
        let mut session = self.head_session.lock().expect("no one panics with it");
        let known = self.known.lock().expect("no one panics with it").0.clone();
        let sql = "SELECT change, nonce FROM head WHERE one = 1";
        // An idle session may have been cut long ago; it is not put back, and a new one is asked.
        let idle = session.take().filter(|open| !open.is_closed());
        let found = idle.and_then(|open| open.query(sql, &[]).ok().map(|rows| (open, rows)));
        let (open, rows) = match found {
            Some(found) => found,
            None => {
                let open = self.connect(Purpose::Turns)?;
                let rows = open.query(sql, &[]).map_err(|error| failed(&error, &self.address))?;
                (open, rows)
            }
        };
        *session = Some(open);
        let head = rows.first().and_then(|row| {
            let change = row.try_get::<_, i64>(0).ok()? as u64;
            Some((change, row.try_get::<_, Vec<u8>>(1).ok()?))
        });
        let (change, name) =
            head.ok_or_else(|| self.refused("there is no store any more".to_owned()))?;
        let is_expected = known.is_none_or(|known| {
            change > known.change || (change == known.change && name == known.name)
        });
        Ok(Head { change, is_expected })
    }
}

impl Backend for PostgresBackend {
    fn reader(&self) -> Result<Box<dyn Reading>, StoreError> {
        let me = self.me.upgrade().expect("whoever asks holds it");
        Ok(Box::new(Postgres::open(me, Purpose::Reading)?))
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn records(&self, prefix: &str) -> Result<Option<SharedRecords>, StoreError> {
        let me = self.me.upgrade().expect("whoever asks holds it");
        SharedRecords::new(&me, prefix).map(Some)
    }

    fn losses(&self) -> u64 {
        self.losses.load(Ordering::Relaxed)
    }

    fn head(&self) -> Result<Head, StoreError> {
        let mut heads = self.heads.lock().expect("no one panics with it");
        // The first read that begins from now on.
        let wanted = heads.begun + 1;
        loop {
            if heads.done >= wanted {
                match &heads.answer {
                    Some(Ok(head)) => return Ok(*head),
                    Some(Err(error)) => return Err(error.again()),
                    None => {}
                }
            }
            if heads.is_reading {
                heads = self.read.wait(heads).expect("no one panics with it");
                continue;
            }
            heads.is_reading = true;
            heads.begun += 1;
            let number = heads.begun;
            drop(heads);
            let answer = self.read_head();
            heads = self.heads.lock().expect("no one panics with it");
            heads.is_reading = false;
            heads.done = number;
            heads.answer = Some(answer);
            self.read.notify_all();
        }
    }

    fn place(&self) -> String {
        self.address.to_string()
    }

    fn bytes(&self) -> u64 {
        let sql = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c \
                   JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = $1 AND c.relkind = 'r'";
        let me = self.me.upgrade().expect("whoever asks holds it");
        let bytes = me.session().and_then(|session| session.number(sql, &[&self.address.schema]));
        bytes.ok().flatten().unwrap_or_default() as u64
    }
}
