//! One session with a store in PostgreSQL: statements, the state that they read, and what a turn has not written yet.
//!
//! Reading: `BEGIN` leaves together with the first statement, in REPEATABLE READ, so one state costs no round trip more. A
//! connection that turns out to be cut at that moment is opened anew.
//!
//! Writing: a turn has a *working set*. What was read or written in the turn is answered from it; inserts, updates and changes
//! wait there and leave together, as arrays, at the end of the turn or before a statement that has to see them. So a turn
//! of a thousand documents is a handful of statements, and everything above may ask and write one document at a time.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio_postgres::Row as SqlRow;
use wonbon_index::Row;
use wonbon_rule::{Fingerprints, Kind};
use wonbon_time::Timestamp;

use super::PostgresBackend;
use super::connection::{Connection, Flight, Purpose, Value, failed, is_lost};
use super::known_turn::KnownTurn;
use super::schema::digest;
use crate::decisions::Decision;
use crate::error::StoreError;
use crate::tables::record::{Record, Standing, features_from_bytes, features_to_bytes};

/// The columns of `documents` in the order in which they are read and written.
pub(super) const COLUMNS: &str = "d.\"row\", d.key, d.created, d.stored, d.version, d.url, d.site, \
    d.author, d.title, d.language, d.words, d.content_name, d.text_name, d.shingle_set_name, \
    d.features, d.kind, d.original, d.features_equal, d.resemblance, d.fingerprint, d.decision, \
    d.decision_entry, d.published";

/// How far the transaction of a session is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Transaction {
    /// Every statement stands alone.
    None,
    /// It begins with the next statement.
    Due,
    Begun,
}

/// How many documents are remembered that were only read: a scan does not need them again.
const MOST_KNOWN: usize = 20_000;

/// What a turn knows and has not written yet, or what was read from a state.
#[derive(Default)]
pub(super) struct Work {
    /// Documents as they are in the turn; none where there is none.
    records: HashMap<Row, Option<Record>>,
    keys: HashMap<String, Option<Row>>,
    /// Texts, compressed.
    texts: HashMap<Row, Vec<u8>>,
    inserted: BTreeSet<Row>,
    updated: BTreeSet<Row>,
    changes: Vec<(u64, Row, Option<Vec<u64>>)>,
}

impl Work {
    fn is_written(&self) -> bool {
        self.inserted.is_empty() && self.updated.is_empty() && self.changes.is_empty()
    }

    pub(super) fn know(&mut self, record: Record) {
        self.keys.insert(record.key.clone(), Some(record.row));
        self.records.insert(record.row, Some(record));
    }

    pub(super) fn know_absent(&mut self, row: Row) {
        self.records.entry(row).or_insert(None);
    }

    pub(super) fn know_no_key(&mut self, key: &str) {
        self.keys.entry(key.to_owned()).or_insert(None);
    }

    pub(super) fn know_text(&mut self, row: Row, text: Vec<u8>) {
        self.texts.entry(row).or_insert(text);
    }

    pub(super) fn knows(&self, row: Row) -> bool {
        self.records.contains_key(&row)
    }

    pub(super) fn knows_text(&self, row: Row) -> bool {
        self.texts.contains_key(&row)
    }

    pub(super) fn insert(&mut self, record: &Record, text: &[u8]) {
        self.know(record.clone());
        self.texts.insert(record.row, text.to_vec());
        self.inserted.insert(record.row);
    }

    pub(super) fn update(&mut self, record: &Record) {
        self.know(record.clone());
        if !self.inserted.contains(&record.row) {
            self.updated.insert(record.row);
        }
    }

    pub(super) fn note_change(&mut self, change: u64, row: Row, before: Option<&[u64]>) {
        self.changes.push((change, row, before.map(<[u64]>::to_vec)));
    }

    /// A document was deleted.
    pub(super) fn remove(&mut self, record: &Record) {
        self.records.insert(record.row, None);
        self.keys.insert(record.key.clone(), None);
        self.texts.remove(&record.row);
    }

    pub(super) fn put_text(&mut self, row: Row, text: &[u8]) {
        self.texts.insert(row, text.to_vec());
    }
}

/// A session.
pub(crate) struct Postgres {
    pub(super) backend: Arc<PostgresBackend>,
    pub(super) connection: RefCell<Arc<Connection>>,
    pub(super) transaction: Cell<Transaction>,
    purpose: Purpose,
    /// In a turn, or while one state is read.
    pub(super) work: RefCell<Option<Work>>,
    /// The last turn that this session has taken in.
    pub(super) known: RefCell<Option<KnownTurn>>,
    /// The turn up to which everything has to be read again, if it has to and was not yet.
    pub(super) unread: RefCell<Option<KnownTurn>>,
    /// Whether what it takes in is what the process has taken in.
    pub(super) is_following: bool,
    /// The name of the present turn, and the last change before it.
    pub(super) nonce: Vec<u8>,
    pub(super) before: u64,
}

/// Documents as arrays, one for each column.
#[derive(Default)]
struct Columns<'a> {
    rows: Vec<i64>,
    key_names: Vec<Vec<u8>>,
    url_names: Vec<Option<Vec<u8>>>,
    keys: Vec<&'a str>,
    numbers: [Vec<i64>; 8],
    texts: [Vec<Option<&'a str>>; 5],
    contents: Vec<&'a [u8]>,
    features: Vec<Vec<u8>>,
    originals: Vec<Option<i64>>,
    features_equal: Vec<Option<i64>>,
    resemblances: Vec<Option<f64>>,
    decisions: Vec<Option<i64>>,
    decision_entries: Vec<Option<i64>>,
    published: Vec<Option<i64>>,
}

impl<'a> Columns<'a> {
    fn push(&mut self, record: &'a Record) {
        let Standing { kind, original, features_equal, resemblance } = record.standing;
        self.rows.push(i64::from(record.row.0));
        self.key_names.push(digest(&record.key));
        let other = record.url.as_deref().filter(|url| *url != record.key);
        self.url_names.push(other.map(digest));
        self.keys.push(&record.key);
        let numbers = [
            record.created.as_microseconds(),
            record.stored.as_microseconds(),
            i64::from(record.version),
            record.words as i64,
            record.fingerprints.text as i64,
            record.fingerprints.shingle_set as i64,
            kind.number(),
            record.fingerprint(),
        ];
        for (column, number) in self.numbers.iter_mut().zip(numbers) {
            column.push(number);
        }
        let Record { url, site, author, title, language, .. } = record;
        for (column, text) in self.texts.iter_mut().zip([url, site, author, title, language]) {
            column.push(text.as_deref());
        }
        self.contents.push(&record.fingerprints.content);
        self.features.push(features_to_bytes(record.row, &record.features));
        self.originals.push(original.map(|original| i64::from(original.0)));
        self.features_equal.push(features_equal.map(|count| count as i64));
        self.resemblances.push(resemblance);
        self.decisions.push(Decision::number(record.decision));
        let entry = (record.decision_entry > 0).then_some(record.decision_entry as i64);
        self.decision_entries.push(entry);
        self.published.push(record.published.map(Timestamp::as_microseconds));
    }

    /// As the statements below take them.
    fn values(&self) -> Vec<Value<'_>> {
        let mut values: Vec<Value<'_>> =
            vec![&self.rows, &self.key_names, &self.url_names, &self.keys];
        values.extend(self.numbers.iter().map(|column| column as Value<'_>));
        values.extend(self.texts.iter().map(|column| column as Value<'_>));
        let rest: [Value<'_>; 8] = [
            &self.contents,
            &self.features,
            &self.originals,
            &self.features_equal,
            &self.resemblances,
            &self.decisions,
            &self.decision_entries,
            &self.published,
        ];
        values.extend(rest);
        values
    }
}

const UNNESTED: &str = "unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::text[], $5::bigint[], \
    $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], \
    $12::bigint[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[], \
    $18::bytea[], $19::bytea[], $20::bigint[], $21::bigint[], $22::float8[], $23::bigint[], \
    $24::bigint[], $25::bigint[])";

const NAMES: &str = "\"row\", key_name, url_name, key, created, stored, version, words, text_name, \
    shingle_set_name, kind, fingerprint, url, site, author, title, language, content_name, features, \
    original, features_equal, resemblance, decision, decision_entry, published";

const INSERT_TEXTS: &str = "INSERT INTO texts (\"row\", text) \
    SELECT * FROM unnest($1::bigint[], $2::bytea[])";

const INSERT_CHANGES: &str = "INSERT INTO changes (change, \"row\", before) \
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])";

fn insert_documents() -> String {
    format!("INSERT INTO documents ({NAMES}) SELECT * FROM {UNNESTED}")
}

fn update_documents() -> String {
    let columns: Vec<&str> = NAMES.split(", ").collect();
    let set: Vec<String> = columns[1..].iter().map(|name| format!("{name} = u.{name}")).collect();
    format!(
        "UPDATE documents d SET {} FROM {UNNESTED} AS u ({NAMES}) WHERE d.\"row\" = u.\"row\"",
        set.join(", ")
    )
}

impl Postgres {
    pub(super) fn open(
        backend: Arc<PostgresBackend>,
        purpose: Purpose,
    ) -> Result<Self, StoreError> {
        let connection = RefCell::new(Arc::new(backend.connect(purpose)?));
        Ok(Postgres {
            backend,
            connection,
            purpose,
            transaction: Cell::new(Transaction::None),
            work: RefCell::new(None),
            known: RefCell::new(None),
            unread: RefCell::new(None),
            is_following: false,
            nonce: Vec::new(),
            before: 0,
        })
    }

    pub(super) fn failed(&self, error: &tokio_postgres::Error) -> StoreError {
        failed(error, &self.backend.address)
    }

    /// Opens the connection anew.
    pub(super) fn reconnect(&self) -> Result<(), StoreError> {
        *self.connection.borrow_mut() = Arc::new(self.backend.connect(self.purpose)?);
        Ok(())
    }

    pub(super) fn connection(&self) -> Arc<Connection> {
        self.connection.borrow().clone()
    }

    /// Runs a statement; first writes what it has to see.
    pub(super) fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<SqlRow>, StoreError> {
        self.flush()?;
        self.query_unflushed(sql, values)
    }

    /// Runs a statement that need not see what is not written yet.
    pub(super) fn query_unflushed(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<SqlRow>, StoreError> {
        let before = self.transaction.get();
        match self.try_query(sql, values) {
            // Nothing was read from this state yet, or the statement stands alone.
            Err(error) if before != Transaction::Begun && is_lost(&error) => {
                self.reconnect()?;
                self.transaction.set(before);
                self.try_query(sql, values)
            }
            answer => answer,
        }
        .map_err(|error| self.failed(&error))
    }

    fn try_query(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Vec<SqlRow>, tokio_postgres::Error> {
        let connection = self.connection();
        let statement = connection.statement(sql)?;
        let mut flight = Flight::default();
        if self.transaction.get() == Transaction::Due {
            flight.plain(&connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
            self.transaction.set(Transaction::Begun);
        }
        flight.prepared(&connection, &statement, values);
        Ok(connection.fly(flight)?.pop().unwrap_or_default())
    }

    /// The first number of the first row.
    pub(super) fn number(
        &self,
        sql: &str,
        values: &[Value<'_>],
    ) -> Result<Option<i64>, StoreError> {
        let rows = self.query(sql, values)?;
        rows.first().map_or(Ok(None), |row| self.get(row, 0))
    }

    /// A column.
    pub(super) fn get<'r, T: tokio_postgres::types::FromSql<'r>>(
        &self,
        row: &'r SqlRow,
        column: usize,
    ) -> Result<T, StoreError> {
        row.try_get(column).map_err(|error| self.damage(error.to_string()))
    }

    pub(super) fn damage(&self, what: String) -> StoreError {
        StoreError::Damaged { path: self.backend.address.to_string().into(), what }
    }

    pub(super) fn damaged_row(&self, row: Row) -> StoreError {
        self.damage(format!("document {} is not as it was written", row.0))
    }

    pub(super) fn row_number(&self, row: &SqlRow, column: usize) -> Result<Row, StoreError> {
        let number: i64 = self.get(row, column)?;
        u32::try_from(number)
            .map(Row)
            .map_err(|_| self.damage("a document has no proper number".to_owned()))
    }

    pub(super) fn time(&self, row: &SqlRow, column: usize) -> Result<Timestamp, StoreError> {
        Ok(Timestamp::from_microseconds(self.get(row, column)?))
    }

    pub(super) fn optional_time(
        &self,
        row: &SqlRow,
        column: usize,
    ) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.get::<Option<i64>>(row, column)?.map(Timestamp::from_microseconds))
    }

    /// The document in these columns.
    pub(super) fn read_record(&self, row: &SqlRow) -> Result<Record, StoreError> {
        let number = self.row_number(row, 0)?;
        let damaged = || self.damaged_row(number);
        let features_equal: Option<i64> = self.get(row, 17)?;
        let original: Option<i64> = self.get(row, 16)?;
        let record = Record {
            row: number,
            key: self.get(row, 1)?,
            created: self.time(row, 2)?,
            stored: self.time(row, 3)?,
            version: u32::try_from(self.get::<i64>(row, 4)?).map_err(|_| damaged())?,
            url: self.get(row, 5)?,
            site: self.get(row, 6)?,
            author: self.get(row, 7)?,
            title: self.get(row, 8)?,
            language: self.get(row, 9)?,
            words: self.get::<i64>(row, 10)? as u64,
            fingerprints: Fingerprints {
                content: self.get::<&[u8]>(row, 11)?.try_into().map_err(|_| damaged())?,
                text: self.get::<i64>(row, 12)? as u64,
                shingle_set: self.get::<i64>(row, 13)? as u64,
            },
            features: features_from_bytes(number, self.get(row, 14)?).ok_or_else(damaged)?,
            standing: Standing {
                kind: Kind::from_number(self.get(row, 15)?).ok_or_else(damaged)?,
                original: original
                    .map(|original| u32::try_from(original).map(Row).map_err(|_| damaged()))
                    .transpose()?,
                features_equal: features_equal.map(|count| count as usize),
                resemblance: self.get(row, 18)?,
            },
            decision: Decision::from_number(self.get(row, 20)?).ok_or_else(damaged)?,
            decision_entry: self.get::<Option<i64>>(row, 21)?.map_or(0, i64::unsigned_abs),
            published: self.optional_time(row, 22)?,
        };
        if record.fingerprint() != self.get::<i64>(row, 19)? {
            return Err(damaged());
        }
        Ok(record)
    }

    /// What the turn knows of a document.
    pub(super) fn known_record(&self, row: Row) -> Option<Option<Record>> {
        self.work.borrow().as_ref()?.records.get(&row).cloned()
    }

    pub(super) fn known_key(&self, key: &str) -> Option<Option<Record>> {
        let work = self.work.borrow();
        let work = work.as_ref()?;
        match work.keys.get(key)? {
            Some(row) => work.records.get(row).cloned(),
            None => Some(None),
        }
    }

    pub(super) fn known_text(&self, row: Row) -> Option<Vec<u8>> {
        self.work.borrow().as_ref()?.texts.get(&row).cloned()
    }

    /// Remembers what was read, for the rest of a turn.
    pub(super) fn remember(&self, row: Option<Row>, key: Option<&str>, found: Option<&Record>) {
        if let Some(work) = self.work.borrow_mut().as_mut() {
            if work.records.len() >= MOST_KNOWN {
                return;
            }
            match (found, row, key) {
                (Some(record), ..) => work.know(record.clone()),
                (None, Some(row), _) => work.know_absent(row),
                (None, None, Some(key)) => work.know_no_key(key),
                (None, None, None) => {}
            }
        }
    }

    /// Writes what the turn has not written yet.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        if self.work.borrow().as_ref().is_none_or(Work::is_written) {
            return Ok(());
        }
        self.flush_and(&[]).map_err(|error| self.failed(&error))?;
        self.note_flushed();
        Ok(())
    }

    /// The same, together with these statements; the last is COMMIT if it is `None`.
    pub(super) fn flush_and(
        &self,
        more: &[Option<(&str, &[Value<'_>])>],
    ) -> Result<(), tokio_postgres::Error> {
        let connection = self.connection();
        let work = self.work.borrow();
        let none = Work::default();
        let work = work.as_ref().unwrap_or(&none);
        let gather = |rows: &BTreeSet<Row>| -> Vec<Row> { rows.iter().copied().collect() };
        let (inserted, updated) = (gather(&work.inserted), gather(&work.updated));
        let columns = |rows: &[Row]| {
            let mut columns = Columns::default();
            for record in rows.iter().filter_map(|row| work.records.get(row)?.as_ref()) {
                columns.push(record);
            }
            columns
        };
        let new = columns(&inserted);
        let changed = columns(&updated);
        let texts: Vec<&[u8]> = new
            .rows
            .iter()
            .map(|&row| work.texts.get(&Row(row as u32)).map_or(&[][..], Vec::as_slice))
            .collect();
        let change_numbers: Vec<i64> = work.changes.iter().map(|change| change.0 as i64).collect();
        let change_rows: Vec<i64> =
            work.changes.iter().map(|change| i64::from(change.1.0)).collect();
        let befores: Vec<Option<Vec<u8>>> = work
            .changes
            .iter()
            .map(|(_, row, before)| {
                before.as_ref().map(|features| features_to_bytes(*row, features))
            })
            .collect();
        let new_values = new.values();
        let changed_values = changed.values();
        let text_values: [Value<'_>; 2] = [&new.rows, &texts];
        let change_values: [Value<'_>; 3] = [&change_numbers, &change_rows, &befores];
        let mut statements = Vec::new();
        if !new.rows.is_empty() {
            statements.push((connection.statement(&insert_documents())?, &new_values[..]));
            statements.push((connection.statement(INSERT_TEXTS)?, &text_values[..]));
        }
        if !changed.rows.is_empty() {
            statements.push((connection.statement(&update_documents())?, &changed_values[..]));
        }
        if !change_numbers.is_empty() {
            statements.push((connection.statement(INSERT_CHANGES)?, &change_values[..]));
        }
        for (sql, values) in more.iter().flatten() {
            statements.push((connection.statement(sql)?, *values));
        }
        let mut flight = Flight::default();
        for (statement, values) in &statements {
            flight.prepared(&connection, statement, values);
        }
        if more.iter().any(Option::is_none) {
            flight.plain(&connection, "COMMIT");
        }
        connection.fly(flight)?;
        Ok(())
    }

    /// What was waiting is written.
    pub(super) fn note_flushed(&self) {
        if let Some(work) = self.work.borrow_mut().as_mut() {
            work.inserted.clear();
            work.updated.clear();
            work.changes.clear();
        }
    }
}
