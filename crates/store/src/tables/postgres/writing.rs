//! Turns in PostgreSQL.
//!
//! ```text
//! flight 1   BEGIN; lock the head; read it; the changes since `seen`; the documents of the wanted keys
//! decide     everything above, on the working set
//! flight 2   the working set as arrays; the turn's name; the head, if it is still where it was; COMMIT
//! ```
//!
//! Why this is right: every turn holds the head from before its first read to its commit, so turns are one after another, and each
//! statement after the lock sees exactly the state that the turn before left (read committed takes a snapshot for each
//! statement). Lock and read must be two statements: in one the snapshot is taken before the wait for the lock.
//!
//! A commit whose answer was lost is in doubt. The turn's name, which nobody else has, tells: a new session locks the head, which
//! waits until the old session has ended, and looks for the name.

use std::time::{Duration, Instant};

use tokio_postgres::error::SqlState;
use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::connection::{Flight, Value, is_lost};
use super::known_turn::{KnownTurn, KnownTurnFile};
use super::rows::ROW_CHANGES;
use super::schema::{TABLES_VERSION, digest};
use super::session::{COLUMNS, Postgres, Transaction, Work};
use crate::decisions::{Decision, DecisionEntry};
use crate::error::StoreError;
use crate::params::random_bytes;
use crate::questions::OldVersion;
use crate::sweeps::Sighting;
use crate::tables::fingerprints::{redirect_fingerprint, sighting_fingerprint};
use crate::tables::{Counters, KnownRedirect, News, Record, RowChange, Turn, Writing};

/// How many changes stay in the outbox, some 200 MB: a process that was away for longer begins anew.
const KEPT_CHANGES: u64 = 2_000_000;

/// How long a commit in doubt is asked about.
const DOUBT_PATIENCE: Duration = Duration::from_secs(20);

const HEAD: &str = "SELECT tables, change, forgotten, next_row, clock, nonce, \
    (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM head WHERE one = 1";

/// A turn that is cut off in the midst lets go of the head after five seconds.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; \
    SET LOCAL idle_in_transaction_session_timeout = '5s'";

const MOVE_HEAD: &str = "UPDATE head SET change = $1, next_row = $2, clock = $3, nonce = $4 \
    WHERE one = 1 AND change = $5";

/// The head as it was read.
struct HeadRow {
    counters: Counters,
    forgotten: u64,
    nonce: Vec<u8>,
    now: Timestamp,
}

impl HeadRow {
    fn turn(&self) -> KnownTurn {
        KnownTurn { change: self.counters.last_change, name: self.nonce.clone() }
    }
}

/// What fails in a flight whose answers are read.
enum TurnError {
    Postgres(tokio_postgres::Error),
    Store(StoreError),
}

impl From<tokio_postgres::Error> for TurnError {
    fn from(error: tokio_postgres::Error) -> Self {
        TurnError::Postgres(error)
    }
}

impl From<StoreError> for TurnError {
    fn from(error: StoreError) -> Self {
        TurnError::Store(error)
    }
}

impl Postgres {
    fn turn_failed(&self, error: TurnError) -> StoreError {
        match error {
            TurnError::Postgres(error) => self.failed(&error),
            TurnError::Store(error) => error,
        }
    }

    fn read_head(&self, rows: &[tokio_postgres::Row]) -> Result<HeadRow, StoreError> {
        let head = rows.first().ok_or_else(|| self.damage("it has no head".to_owned()))?;
        let tables: i64 = self.get(head, 0)?;
        if tables != TABLES_VERSION {
            return Err(StoreError::NewerTables {
                path: self.backend.address.to_string().into(),
                stored: tables as i32,
                known: TABLES_VERSION as i32,
            });
        }
        let next_row = u32::try_from(self.get::<i64>(head, 3)?)
            .map_err(|_| self.damage("it has given all numbers of documents".to_owned()))?;
        Ok(HeadRow {
            counters: Counters {
                last_change: self.get::<i64>(head, 1)? as u64,
                next_row,
                clock: self.time(head, 4)?,
            },
            forgotten: self.get::<i64>(head, 2)? as u64,
            nonce: self.get(head, 5)?,
            now: self.time(head, 6)?,
        })
    }

    /// What continues from the turns before, for a process that opens the store.
    pub(super) fn counters(&self) -> Result<Counters, StoreError> {
        Ok(self.read_head(&self.query(HEAD, &[])?)?.counters)
    }

    /// One flight: the head, locked if this is a turn, with everything that follows from it.
    fn read_turn(
        &self,
        begin: &str,
        lock: &str,
        seen: u64,
        keys: &[&str],
    ) -> Result<(HeadRow, News), TurnError> {
        let connection = self.connection();
        let head_sql = format!("{HEAD}{lock}");
        let keys_sql = format!("SELECT {COLUMNS} FROM documents d WHERE d.key_name = ANY($1)");
        let statements = [
            connection.statement(&head_sql)?,
            connection.statement(ROW_CHANGES)?,
            connection.statement("SELECT 1 FROM turns WHERE nonce = $1")?,
            connection.statement(&keys_sql)?,
        ];
        let seen_number = seen as i64;
        let names: Vec<Vec<u8>> = keys.iter().map(|key| digest(key)).collect();
        let known = self.known.borrow().as_ref().map(|turn| turn.name.clone()).unwrap_or_default();
        let seen_value: [Value<'_>; 1] = [&seen_number];
        let name_value: [Value<'_>; 1] = [&names];
        let known_value: [Value<'_>; 1] = [&known];
        let mut flight = Flight::default();
        flight.plain(&connection, begin);
        flight.prepared(&connection, &statements[0], &[]);
        flight.prepared(&connection, &statements[1], &seen_value);
        flight.prepared(&connection, &statements[2], &known_value);
        if !keys.is_empty() {
            flight.prepared(&connection, &statements[3], &name_value);
        }
        let answers = connection.fly(flight)?;
        let head = self.read_head(&answers[1])?;
        let changes = answers[2]
            .iter()
            .map(|found| self.read_change(found))
            .collect::<Result<Vec<_>, StoreError>>()?;
        if let Some(found) = answers.get(4) {
            let mut work = Work::default();
            for row in found {
                work.know(self.read_record(row)?);
            }
            for key in keys {
                work.know_no_key(key);
            }
            *self.work.borrow_mut() = Some(work);
        }
        let news = self.news(seen, &head, !answers[3].is_empty(), changes);
        match news {
            News::Changes(_) => self.take_in(head.turn()),
            // Until everything was read again, the turn that is known is the one before.
            News::Unknown => *self.unread.borrow_mut() = Some(head.turn()),
        }
        Ok((head, news))
    }

    /// From here on this is the last turn that is known.
    fn take_in(&self, turn: KnownTurn) {
        *self.unread.borrow_mut() = None;
        if self.is_following {
            self.backend.note_turn(&turn);
        }
        *self.known.borrow_mut() = Some(turn);
    }

    /// For the session of the writer of a process: what it takes in is noted for the process and, in the file, for the next
    /// one. The turn is the one that the process has taken in so far.
    pub(crate) fn follow_from(&mut self, turn: Option<KnownTurn>, file: KnownTurnFile) {
        self.backend.follow_in(file);
        self.is_following = true;
        if let Some(turn) = turn {
            self.take_in(turn);
        }
    }

    /// Whether a turn is part of the store's history, and not so old that its name was forgotten.
    pub(crate) fn has_turn(&self, turn: &KnownTurn) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM turns WHERE nonce = $1 AND change = $2";
        Ok(!self.query(sql, &[&turn.name, &(turn.change as i64)])?.is_empty())
    }

    /// A turn that ended with a change.
    pub(crate) fn turn_at(&self, change: u64) -> Result<Option<KnownTurn>, StoreError> {
        let sql = "SELECT nonce FROM turns WHERE change = $1 LIMIT 1";
        let rows = self.query(sql, &[&(change as i64)])?;
        let name = rows.first().map(|row| self.get(row, 0)).transpose()?;
        Ok(name.map(|name| KnownTurn { change, name }))
    }

    /// What others did since a change, if that is known: the outbox goes back far enough, and the history is still the one
    /// that this process has seen. (A standby that took over may have lost the last turns.)
    fn news(&self, seen: u64, head: &HeadRow, knows_turn: bool, changes: Vec<RowChange>) -> News {
        let last = head.counters.last_change;
        let complete = head.forgotten <= seen && seen + changes.len() as u64 == last;
        let has_history = match &*self.known.borrow() {
            // The head of a new store was made by no turn.
            Some(known) if known.change > 0 => knows_turn,
            _ => seen <= last,
        };
        // What was to be read again and was not is still to be read.
        let is_unread = self.unread.borrow().is_some();
        if !has_history && head.forgotten < seen && !is_unread && self.is_following {
            self.backend.note_loss(seen, last);
        }
        match complete && has_history && !is_unread {
            true => News::Changes(changes),
            false => News::Unknown,
        }
    }

    fn try_begin(&self, seen: u64, keys: &[&str]) -> Result<Turn, TurnError> {
        *self.work.borrow_mut() = Some(Work::default());
        self.transaction.set(Transaction::Begun);
        let (head, news) = self.read_turn(BEGIN, " FOR UPDATE", seen, keys)?;
        Ok(Turn { counters: head.counters, now: head.now, news })
    }

    /// Whether the turn of this name was committed, though its answer was lost.
    fn settle(&self) -> Result<bool, StoreError> {
        let begun = Instant::now();
        loop {
            match self.look_for_turn() {
                Err(StoreError::Unreachable { .. } | StoreError::Busy { .. })
                    if begun.elapsed() < DOUBT_PATIENCE =>
                {
                    std::thread::sleep(Duration::from_millis(50));
                }
                found => return found,
            }
        }
    }

    fn look_for_turn(&self) -> Result<bool, StoreError> {
        self.reconnect()?;
        let connection = self.connection();
        let failed = |error: tokio_postgres::Error| self.failed(&error);
        let lock = connection.statement(&format!("{HEAD} FOR UPDATE")).map_err(failed)?;
        let look =
            connection.statement("SELECT change FROM turns WHERE nonce = $1").map_err(failed)?;
        // What is said to be stored is as durable as any commit: this one comes after it.
        let touch = connection
            .statement("UPDATE head SET change = change WHERE one = 1")
            .map_err(failed)?;
        let values: [Value<'_>; 1] = [&self.nonce];
        let mut flight = Flight::default();
        flight.plain(&connection, BEGIN);
        flight.prepared(&connection, &lock, &[]);
        flight.prepared(&connection, &look, &values);
        flight.prepared(&connection, &touch, &[]);
        flight.plain(&connection, "COMMIT");
        let answers = connection.fly(flight).map_err(failed)?;
        Ok(!answers[2].is_empty())
    }

    fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<(), StoreError> {
        self.query(sql, values).map(drop)
    }
}

impl Writing for Postgres {
    fn begin_turn(&mut self, seen: u64, keys: &[&str]) -> Result<Turn, StoreError> {
        if self.connection().is_closed() {
            self.reconnect()?;
        }
        self.nonce = random_bytes().to_vec();
        let keys: Vec<&str> = keys.iter().copied().filter(|key| !key.contains('\0')).collect();
        let turn = match self.try_begin(seen, &keys) {
            // Nothing was done yet: an idle connection may have been cut long ago.
            Err(TurnError::Postgres(error)) if is_lost(&error) => {
                self.reconnect()?;
                self.try_begin(seen, &keys)
            }
            turn => turn,
        };
        let turn = turn.map_err(|error| self.turn_failed(error))?;
        self.before = turn.counters.last_change;
        Ok(turn)
    }

    fn end_turn(&mut self, counters: Counters) -> Result<(), StoreError> {
        let (change, before) = (counters.last_change as i64, self.before as i64);
        let (next_row, clock) = (i64::from(counters.next_row), counters.clock.as_microseconds());
        let turn: [Value<'_>; 2] = [&self.nonce, &change];
        let head: [Value<'_>; 5] = [&change, &next_row, &clock, &self.nonce, &before];
        let sql = "INSERT INTO turns (nonce, change) VALUES ($1, $2)";
        let written = self.flush_and(&[Some((sql, &turn[..])), Some((MOVE_HEAD, &head[..])), None]);
        let settled = match written {
            Ok(()) => Ok(()),
            // The answer was lost, perhaps behind the commit.
            Err(error) if is_lost(&error) => match self.settle() {
                Ok(true) => Ok(()),
                Ok(false) => Err(StoreError::Busy { what: "the connection was cut".to_owned() }),
                Err(error) => Err(StoreError::InDoubt { what: error.to_string() }),
            },
            Err(error) => Err(self.failed(&error)),
        };
        if settled.is_ok() {
            self.transaction.set(Transaction::None);
            *self.work.borrow_mut() = None;
            self.take_in(KnownTurn { change: counters.last_change, name: self.nonce.clone() });
        }
        settled
    }

    fn take_back(&mut self) -> Result<(), StoreError> {
        *self.work.borrow_mut() = None;
        self.transaction.set(Transaction::None);
        let connection = self.connection();
        // The server takes back what a session that ended has begun.
        if !connection.is_closed() && connection.run("ROLLBACK").is_err() {
            // It is opened anew when it is needed.
            let _ = self.reconnect();
        }
        Ok(())
    }

    fn forgettable(&self, _seen: u64, last: u64) -> u64 {
        last.saturating_sub(KEPT_CHANGES)
    }

    fn look(&mut self, seen: u64) -> Result<Option<Turn>, StoreError> {
        if self.connection().is_closed() {
            self.reconnect()?;
        }
        let read = self.read_turn("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "", seen, &[]);
        let ended = self.connection().run("COMMIT").map_err(|error| self.failed(&error));
        let (head, news) = read.map_err(|error| self.turn_failed(error))?;
        ended?;
        Ok(Some(Turn { counters: head.counters, now: head.now, news }))
    }

    fn has_begun_anew(&self) {
        let turn = self.unread.borrow_mut().take();
        if let Some(turn) = turn {
            self.take_in(turn);
        }
    }

    fn insert(&self, record: &Record, text: &[u8]) -> Result<(), StoreError> {
        if let Some(work) = self.work.borrow_mut().as_mut() {
            work.insert(record, text);
        }
        Ok(())
    }

    fn update(&self, record: &Record) -> Result<(), StoreError> {
        if let Some(work) = self.work.borrow_mut().as_mut() {
            work.update(record);
        }
        Ok(())
    }

    fn delete(&self, record: &Record) -> Result<(), StoreError> {
        let row = i64::from(record.row.0);
        for sql in [
            "DELETE FROM documents WHERE \"row\" = $1",
            "DELETE FROM texts WHERE \"row\" = $1",
            "DELETE FROM versions WHERE \"row\" = $1",
            "DELETE FROM sightings WHERE \"row\" = $1",
            "DELETE FROM watched WHERE \"row\" = $1",
        ] {
            self.execute(sql, &[&row])?;
        }
        for sql in [
            "DELETE FROM redirects WHERE key_name = $1 AND key = $2",
            "DELETE FROM redirects WHERE target_name = $1 AND target = $2",
        ] {
            for address in [Some(&record.key), record.url.as_ref()].into_iter().flatten() {
                self.execute(sql, &[&digest(address), &address])?;
            }
        }
        if let Some(work) = self.work.borrow_mut().as_mut() {
            work.remove(record);
        }
        Ok(())
    }

    fn replace_text(&self, old: &Record, text: &[u8], resemblance: f64) -> Result<(), StoreError> {
        let sql = "INSERT INTO versions (\"row\", version, created, stored, title, words, \
            resemblance, text) SELECT $1, $2, $3, $4, $5, $6, $7, text FROM texts \
            WHERE \"row\" = $1";
        let row = i64::from(old.row.0);
        self.execute(
            sql,
            &[
                &row,
                &i64::from(old.version),
                &old.created.as_microseconds(),
                &old.stored.as_microseconds(),
                &old.title,
                &(old.words as i64),
                &resemblance,
            ],
        )?;
        self.execute("UPDATE texts SET text = $2 WHERE \"row\" = $1", &[&row, &text])?;
        if let Some(work) = self.work.borrow_mut().as_mut() {
            work.put_text(old.row, text);
        }
        Ok(())
    }

    fn put_version(&self, row: Row, version: &OldVersion, text: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO versions (\"row\", version, created, stored, title, words, \
            resemblance, text) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        self.execute(
            sql,
            &[
                &i64::from(row.0),
                &i64::from(version.version),
                &version.created.as_microseconds(),
                &version.stored.as_microseconds(),
                &version.title,
                &version.words.map(|words| words as i64),
                &version.resemblance,
                &text,
            ],
        )
    }

    fn write_out(&self) -> Result<(), StoreError> {
        self.flush()?;
        if let Some(work) = self.work.borrow_mut().as_mut() {
            *work = Work::default();
        }
        Ok(())
    }

    fn note_change(&self, change: u64, row: Row, before: Option<&[u64]>) -> Result<(), StoreError> {
        if let Some(work) = self.work.borrow_mut().as_mut() {
            work.note_change(change, row, before);
        }
        Ok(())
    }

    fn forget_changes(&self, up_to: u64, _clock: Timestamp) -> Result<(), StoreError> {
        let up_to = up_to as i64;
        self.execute("DELETE FROM changes WHERE change <= $1", &[&up_to])?;
        self.execute("DELETE FROM turns WHERE change <= $1", &[&up_to])?;
        self.execute("UPDATE head SET forgotten = greatest(forgotten, $1) WHERE one = 1", &[&up_to])
    }

    fn put_sweep(&self, sweep: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO sweeps (sweep) VALUES ($1) ON CONFLICT DO NOTHING";
        self.execute(sql, &[&sweep.as_microseconds()])
    }

    fn put_site_sweep(&self, site: &str, sweep: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO site_sweeps (site_name, sweep, site) VALUES ($1, $2, $3) \
                   ON CONFLICT DO NOTHING";
        self.execute(sql, &[&digest(site), &sweep.as_microseconds(), &site])
    }

    fn put_sighting(&self, row: Row, sighting: &Sighting) -> Result<(), StoreError> {
        let sql = "INSERT INTO sightings (\"row\", first, last, version, fingerprint) \
                   VALUES ($1, $2, $3, $4, $5) ON CONFLICT (\"row\", first) DO UPDATE \
                   SET last = excluded.last, version = excluded.version, \
                   fingerprint = excluded.fingerprint";
        let Sighting { first, last, version } = *sighting;
        self.execute(
            sql,
            &[
                &i64::from(row.0),
                &first.as_microseconds(),
                &last.as_microseconds(),
                &i64::from(version),
                &sighting_fingerprint(row, sighting),
            ],
        )
    }

    fn remove_sighting(&self, row: Row, first: Timestamp) -> Result<(), StoreError> {
        let sql = "DELETE FROM sightings WHERE \"row\" = $1 AND first = $2";
        self.execute(sql, &[&i64::from(row.0), &first.as_microseconds()])
    }

    fn put_redirect(&self, redirect: &KnownRedirect) -> Result<(), StoreError> {
        let KnownRedirect { key, sweep, target } = redirect;
        let sql = "INSERT INTO redirects (key_name, sweep, target_name, key, target, fingerprint) \
                   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key_name, sweep) DO UPDATE \
                   SET target_name = excluded.target_name, target = excluded.target, \
                   fingerprint = excluded.fingerprint";
        self.execute(
            sql,
            &[
                &digest(key),
                &sweep.as_microseconds(),
                &digest(target),
                key,
                target,
                &redirect_fingerprint(key, *sweep, target),
            ],
        )
    }

    fn put_watched(&self, row: Row, since: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO watched (\"row\", since) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.execute(sql, &[&i64::from(row.0), &since.as_microseconds()])
    }

    fn remove_watched(&self, row: Row) -> Result<bool, StoreError> {
        let sql = "DELETE FROM watched WHERE \"row\" = $1 RETURNING 1";
        Ok(!self.query(sql, &[&i64::from(row.0)])?.is_empty())
    }

    fn log_decision(&self, entry: &DecisionEntry) -> Result<(), StoreError> {
        let sql = "INSERT INTO decisions (entry, time, who, what, key_name, key, effect_before, \
            effect_after, undoes, reason, fingerprint) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        self.execute(
            sql,
            &[
                &(entry.entry as i64),
                &entry.time.as_microseconds(),
                &entry.who,
                &(entry.change as i64),
                &digest(&entry.key),
                &entry.key,
                &Decision::number(entry.before),
                &Decision::number(entry.after),
                &entry.undoes.map(|entry| entry as i64),
                &entry.reason,
                &entry.fingerprint(),
            ],
        )
    }
}

/// The states of a server that tell that something failed which may work when it is tried again.
pub(super) fn is_race(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| {
        [
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_OBJECT,
            SqlState::DUPLICATE_SCHEMA,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
        ]
        .contains(code)
    })
}
