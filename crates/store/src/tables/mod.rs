//! The tables of a store: everything that is durable, behind three traits.
//!
//! [`Reading`] asks, [`Writing`] changes in turns, [`Backend`] opens both. [`sqlite`] keeps the tables in a directory,
//! [`postgres`] in a PostgreSQL that several processes share. Everything above decides by the same code on either: the
//! rules live in `families`, `judge` and `writer`, and nothing here knows them.
//!
//! Why turns: whether a document is a copy depends on originals that are found only while deciding, so decisions have to be
//! serial. A turn begins by learning what others changed since this process last looked ([`News`]), and nothing else
//! changes until it ends. In a directory one process writes, and there is never news.
//!
//! Why calls for many rows ([`Reading::originals`], [`Writing::fetch`]): a statement costs microseconds in SQLite and a
//! round trip in PostgreSQL.

mod decided;
mod fingerprints;
pub(crate) mod postgres;
mod record;
pub(crate) mod sqlite;

use std::collections::HashMap;

use wonbon_index::Row;
use wonbon_progress::Cancellation;
use wonbon_rule::Kind;
use wonbon_time::Timestamp;

use crate::counts::Counts;
use crate::decisions::{Decision, DecisionEntry};
use crate::document::Order;
use crate::error::StoreError;
use crate::params::StoreParams;
use crate::questions::OldVersion;
use crate::sweeps::{Place, Redirect, Sighting, swept_site};
pub(crate) use decided::find_disagreements;
pub(crate) use record::{Record, Standing};
pub(crate) use sqlite::{
    BUSY_PATIENCE, Sqlite, SqliteBackend, is_of_store, open_immutable, vacuum_into,
};

/// What continues from one turn to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counters {
    /// The number of the last change.
    pub(crate) last_change: u64,
    /// The number of the next new document. Numbers are never given twice.
    pub(crate) next_row: u32,
    /// The latest time that was given to anything. Times never step back.
    pub(crate) clock: Timestamp,
}

impl Counters {
    /// A time after every time given before; the present, if that is later.
    pub(crate) fn tick(&mut self, now: Timestamp) -> Timestamp {
        let next = Timestamp::from_microseconds(self.clock.as_microseconds().saturating_add(1));
        self.clock = next.max(now);
        self.clock
    }
}

/// How a turn begins.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) counters: Counters,
    /// The present, by the clock of the tables.
    pub(crate) now: Timestamp,
    pub(crate) news: News,
}

/// What other processes did since this one last looked.
#[derive(Debug)]
pub(crate) enum News {
    /// These changes, in order.
    Changes(Vec<RowChange>),
    /// It cannot be told: everything derived has to be made anew.
    Unknown,
}

/// A change of a document, with what an index of originals needs to follow it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowChange {
    pub(crate) change: u64,
    pub(crate) row: Row,
    /// The features of the document before, if it was an original; only where several processes write.
    pub(crate) before: Option<Vec<u64>>,
    /// What the document is now (not: right after this change), if it is there.
    pub(crate) present: Option<Present>,
}

/// What a document is, as far as indexes ask.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Present {
    pub(crate) kind: Kind,
    pub(crate) created: Timestamp,
    pub(crate) features: Vec<u64>,
}

/// An original with all that is shown of it: its row, its text and how many copies it has.
pub(crate) type Whole = (Record, String, u64);

/// Calls for every document, one after another.
pub(crate) type ForEach<'a, T> = &'a mut dyn FnMut(T) -> Result<(), StoreError>;

/// The last change, by any process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) change: u64,
    /// Whether it can follow what this process has taken in. If not, turns may have been lost: the writer has to look.
    pub(crate) is_expected: bool,
}

/// Where what lasts is kept.
pub(crate) trait Backend: Send + Sync {
    /// A connection that reads.
    fn reader(&self) -> Result<Box<dyn Reading>, StoreError>;
    /// Whether other processes may write too. Then the handle has to follow them, and a check asks how far they are.
    fn is_shared(&self) -> bool;
    /// The head at a moment after the call began.
    fn head(&self) -> Result<Head, StoreError>;
    /// Texts that processes share, if several may write.
    fn records(&self, _prefix: &str) -> Result<Option<postgres::SharedRecords>, StoreError> {
        Ok(None)
    }
    /// How often changes that this process had seen turned out to be gone.
    fn losses(&self) -> u64 {
        0
    }
    /// Where that is, as it may be shown.
    fn place(&self) -> String;
    /// Bytes that the tables take.
    fn bytes(&self) -> u64;
}

/// What is read, all of one state between [`Reading::begin`] and [`Reading::end`].
pub(crate) trait Reading: Send {
    /// From here on everything is read from one state.
    fn begin(&self) -> Result<(), StoreError>;
    /// Lets go of that state.
    fn end(&self) -> Result<(), StoreError>;
    /// Interrupts what is read from here on once `cancellation` says so. By default nothing is: a question
    /// asks by itself between two of its steps.
    fn cancel_when(&self, _cancellation: Option<Cancellation>) {}
    /// The error that says that what is stored is not as it was written.
    fn damaged(&self, what: String) -> StoreError;
    /// The time that a document without one would get if it were added now, where other processes may have given later ones
    /// than this process knows, or its clock may be another than the tables'.
    fn present(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }
    /// An entry of `meta`.
    fn meta(&self, name: &str) -> Result<Option<String>, StoreError>;
    /// What the database finds wrong with itself; nothing if all is well.
    fn integrity(&self) -> Result<Vec<String>, StoreError>;

    /// Whether [`Reading::fetch`] saves anything.
    fn fetches_ahead(&self) -> bool {
        false
    }
    /// Reads these documents ahead for the rest of a turn or of a state, with their texts if asked for.
    fn fetch(&self, _rows: &[Row], _with_texts: bool) -> Result<(), StoreError> {
        Ok(())
    }
    /// The document of this number.
    fn record(&self, row: Row) -> Result<Option<Record>, StoreError>;
    /// The place of a document in the order in which documents are judged.
    fn order(&self, row: Row) -> Result<Option<Order>, StoreError> {
        Ok(self.record(row)?.map(|record| record.order()))
    }
    /// The document of this key.
    fn record_by_key(&self, key: &str) -> Result<Option<Record>, StoreError>;
    /// The document at this address, which is another than its key; of several the latest stored.
    fn record_by_address(&self, url: &str) -> Result<Option<Record>, StoreError>;
    /// Those of these documents that are originals.
    fn originals(&self, rows: &[Row]) -> Result<HashMap<Row, Whole>, StoreError>;
    /// The copies of an original, the earliest first.
    fn family(&self, original: Row) -> Result<Vec<Row>, StoreError>;
    /// The places of the copies of an original in the order in which documents are judged.
    fn family_orders(&self, original: Row) -> Result<Vec<Order>, StoreError> {
        let orders = self.family(original)?.into_iter().map(|row| self.order(row));
        orders.filter_map(Result::transpose).collect()
    }
    /// How many copies an original has.
    fn copies(&self, original: Row) -> Result<u64, StoreError>;
    /// The name of a document's shingle set; none if there is no such document.
    fn shingle_set_name(&self, row: Row) -> Result<Option<u64>, StoreError>;
    /// Up to `most` documents after one, in the order of their numbers.
    fn rows_after(&self, row: Option<Row>, most: usize) -> Result<Vec<Row>, StoreError>;
    /// Up to `most` documents before one, the latest first.
    fn rows_before(&self, row: Option<Row>, most: usize) -> Result<Vec<Row>, StoreError>;
    /// The latest creation of a copy.
    fn latest_copy(&self) -> Result<Option<Timestamp>, StoreError>;
    /// Calls `each` with number and features of every original, in the order of their numbers.
    fn for_each_original(&self, each: ForEach<'_, (Row, Vec<u64>)>) -> Result<(), StoreError>;
    /// Calls `each` with number and features of every copy whose shingles are not its original's.
    fn for_each_differing_copy(&self, each: ForEach<'_, (Row, Vec<u64>)>)
    -> Result<(), StoreError>;
    /// Calls `each` with every document, in the order of their numbers.
    fn for_each_record(&self, each: ForEach<'_, Record>) -> Result<(), StoreError>;
    /// How many documents of which kind there are, and how many old versions. Looks at every row.
    fn count_documents(&self) -> Result<Counts, StoreError>;
    /// How many sweeps there are, and how many documents are watched.
    fn count_others(&self, counts: &mut Counts) -> Result<(), StoreError>;
    /// Every original that has copies, and how many.
    fn family_sizes(&self) -> Result<Vec<(Row, u64)>, StoreError>;
    /// On how many sites a family stands, and when its last copy was created.
    fn family_spread(&self, original: Row) -> Result<(u64, Timestamp), StoreError>;

    /// The core text of a document.
    fn text(&self, row: Row) -> Result<String, StoreError>;
    /// How many texts there are.
    fn count_texts(&self) -> Result<u64, StoreError>;
    /// The versions of a document before the present one, the first one first.
    fn versions(&self, row: Row) -> Result<Vec<OldVersion>, StoreError>;
    /// How much a version resembles the next, if that was computed when the next was stored.
    fn version_resemblance(&self, row: Row, version: u32) -> Result<Option<f64>, StoreError>;
    /// The core text of a version before the present one.
    fn version_text(&self, row: Row, version: u32) -> Result<String, StoreError>;
    /// Documents with old versions.
    fn rows_with_versions(&self) -> Result<Vec<Row>, StoreError>;
    /// Documents with old versions that no sweep saw.
    fn rows_with_versions_and_no_sightings(&self) -> Result<Vec<Row>, StoreError>;

    /// The number of the last change, and of the last that was forgotten.
    fn last_change(&self) -> Result<(u64, u64), StoreError>;
    /// Up to `most` changes after one: the number of the last of them, and which documents.
    fn changes_after(&self, change: u64, most: usize) -> Result<(u64, Vec<Row>), StoreError>;
    /// All changes after one, with what they changed.
    fn row_changes_after(&self, change: u64) -> Result<Vec<RowChange>, StoreError>;

    /// The latest sweep.
    fn latest_sweep(&self) -> Result<Option<Timestamp>, StoreError>;
    /// All sweeps, in order.
    fn sweeps(&self) -> Result<Vec<Timestamp>, StoreError>;
    /// The latest sweep of a site before one.
    fn site_sweep_before(
        &self,
        site: &str,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;
    /// The first sweep of a site after one.
    fn site_sweep_after(
        &self,
        site: Option<&str>,
        sweep: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;
    /// Calls `each` with every site and a sweep that saw it, by site and date.
    fn for_each_site_sweep(&self, each: ForEach<'_, (String, Timestamp)>)
    -> Result<(), StoreError>;
    /// When a document was seen, the earliest run first.
    fn sightings(&self, row: Row) -> Result<Vec<Sighting>, StoreError>;
    /// The last run.
    fn latest_sighting(&self, row: Row) -> Result<Option<Sighting>, StoreError>;
    /// Calls `each` with every run of sightings, in the order of documents and dates.
    fn for_each_sighting(&self, each: ForEach<'_, (Row, Sighting)>) -> Result<(), StoreError>;
    /// Where an address led, the earliest sweep first.
    fn redirects(&self, key: &str) -> Result<Vec<(Timestamp, String)>, StoreError>;
    /// Calls `each` with every redirect, and whether it is as it was written.
    fn for_each_redirect(&self, each: ForEach<'_, (KnownRedirect, bool)>)
    -> Result<(), StoreError>;
    /// Documents that are watched and since when, in the order of their numbers.
    fn watched(&self) -> Result<Vec<(Row, Timestamp)>, StoreError>;

    /// The number of the last entry of the log of decisions; 0 if there is none.
    fn last_decision(&self) -> Result<u64, StoreError>;
    /// Calls `each` with entries of the log, the latest first, as long as it wants more.
    fn for_each_decision(
        &self,
        key: Option<&str>,
        before: Option<u64>,
        most: usize,
        each: &mut dyn FnMut(DecisionEntry) -> bool,
    ) -> Result<(), StoreError>;
    /// Calls `each` with key, decision and last entry of every document that the log knows.
    fn for_each_decided(
        &self,
        each: &mut dyn FnMut(String, Option<Decision>, u64),
    ) -> Result<(), StoreError>;
}

/// Where an address led in a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownRedirect {
    pub(crate) key: String,
    pub(crate) sweep: Timestamp,
    pub(crate) target: String,
}

/// A turn: what is decided and written together.
pub(crate) trait Writing: Reading {
    /// Begins a turn for a process that has seen the changes up to `seen`; these keys will be asked for.
    fn begin_turn(&mut self, seen: u64, keys: &[&str]) -> Result<Turn, StoreError>;
    /// Makes everything since the beginning of the turn durable.
    fn end_turn(&mut self, counters: Counters) -> Result<(), StoreError>;
    /// Undoes everything since the beginning of the turn.
    fn take_back(&mut self) -> Result<(), StoreError>;
    /// Of changes up to `seen`, which this process needs no more, those that may be forgotten.
    fn forgettable(&self, seen: u64, _last: u64) -> u64 {
        seen
    }
    /// What others did since `seen`, without a turn of one's own; none where nobody else writes.
    fn look(&mut self, _seen: u64) -> Result<Option<Turn>, StoreError> {
        Ok(None)
    }
    /// After [`News::Unknown`] everything in memory was read again.
    fn has_begun_anew(&self) {}
    /// Something to do between two turns, that a client need not wait for.
    fn tidy(&self) {}
    /// The last call.
    fn close(&mut self) {}

    /// Stores a new document.
    fn insert(&self, record: &Record, text: &[u8]) -> Result<(), StoreError>;
    /// Writes a known document's row again.
    fn update(&self, record: &Record) -> Result<(), StoreError>;
    /// Writes a known document's row again, of which nothing but the standing changed.
    fn update_standing(&self, record: &Record) -> Result<(), StoreError> {
        self.update(record)
    }
    /// Removes a document, its versions, and what sweeps know of it.
    fn delete(&self, record: &Record) -> Result<(), StoreError>;
    /// Stores the current text of a document as an old version and replaces it by another text, with the resemblance of
    /// the two.
    fn replace_text(&self, old: &Record, text: &[u8], resemblance: f64) -> Result<(), StoreError>;
    /// Stores a version before the present one.
    fn put_version(&self, row: Row, version: &OldVersion, text: &[u8]) -> Result<(), StoreError>;
    /// Writes what waits to be written in this turn, and lets go of it.
    fn write_out(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Notes that a document changed; `before` as in [`RowChange`].
    fn note_change(&self, change: u64, row: Row, before: Option<&[u64]>) -> Result<(), StoreError>;
    /// Forgets the changes up to one.
    fn forget_changes(&self, up_to: u64, clock: Timestamp) -> Result<(), StoreError>;
    /// Notes a sweep, if it is not known.
    fn put_sweep(&self, sweep: Timestamp) -> Result<(), StoreError>;
    /// Notes that a sweep saw a site.
    fn put_site_sweep(&self, site: &str, sweep: Timestamp) -> Result<(), StoreError>;
    /// Stores a run of sightings in place of one that began at the same time.
    fn put_sighting(&self, row: Row, sighting: &Sighting) -> Result<(), StoreError>;
    /// Removes the run that began then.
    fn remove_sighting(&self, row: Row, first: Timestamp) -> Result<(), StoreError>;
    /// Stores where an address led in a sweep.
    fn put_redirect(&self, redirect: &KnownRedirect) -> Result<(), StoreError>;
    /// Watches a document, if it is not watched.
    fn put_watched(&self, row: Row, since: Timestamp) -> Result<(), StoreError>;
    /// Stops watching a document; returns whether it was watched.
    fn remove_watched(&self, row: Row) -> Result<bool, StoreError>;
    /// Appends to the log of decisions.
    fn log_decision(&self, entry: &DecisionEntry) -> Result<(), StoreError>;
}

/// What follows from the calls above.
impl dyn Reading + '_ {
    /// The parameters the store was made with.
    pub(crate) fn params(&self) -> Result<StoreParams, StoreError> {
        StoreParams::from_values(|name| self.meta(name).ok().flatten(), |what| self.damaged(what))
    }

    /// The identity of this store.
    pub(crate) fn identity(&self) -> Result<String, StoreError> {
        self.meta("identity")?
            .ok_or_else(|| self.damaged("it does not say what its identity is".to_owned()))
    }

    /// The document a person means: by its key, or else by its address.
    pub(crate) fn named(&self, name: &str) -> Result<Option<Record>, StoreError> {
        match self.record_by_key(name)? {
            Some(record) => Ok(Some(record)),
            None => self.record_by_address(name),
        }
    }

    /// The key of a document.
    pub(crate) fn key(&self, row: Row) -> Result<String, StoreError> {
        self.record(row)?
            .map(|record| record.key)
            .ok_or_else(|| self.damaged(format!("the original {} is missing", row.0)))
    }

    /// When and where a document was seen.
    pub(crate) fn place(&self, record: &Record) -> Result<Place, StoreError> {
        let sightings = self.sightings(record.row)?;
        let seen = sightings.first().zip(sightings.last());
        let gone = match seen {
            Some((_, latest)) => self.site_sweep_after(record.site.as_deref(), latest.last)?,
            None => None,
        };
        let (first, last) =
            seen.map_or((record.created, record.stored), |(first, last)| (first.first, last.last));
        Ok(Place {
            key: record.key.clone(),
            site: record.site.clone(),
            title: record.title.clone(),
            first,
            last,
            gone,
            swept: seen.is_some(),
            versions: record.version,
        })
    }
}

impl dyn Writing + '_ {
    /// Why a sweep cannot be continued or begun, if so.
    pub(crate) fn sweep_too_early(
        &self,
        sweep: Timestamp,
    ) -> Result<Option<StoreError>, StoreError> {
        let latest = self.latest_sweep()?.filter(|latest| sweep < *latest);
        Ok(latest.map(|latest| StoreError::SweepTooEarly { sweep, latest }))
    }

    /// Notes that a document was seen as what it is now, by a sweep that is not too early.
    pub(crate) fn see(&self, record: &Record, sweep: Timestamp) -> Result<(), StoreError> {
        let site = swept_site(record.site.as_deref());
        self.put_sweep(sweep)?;
        self.put_site_sweep(site, sweep)?;
        let (row, version) = (record.row, record.version);
        let before = self.site_sweep_before(site, sweep)?;
        let mut run = self.latest_sighting(row)?;
        if let Some(known) = run.filter(|run| run.last == sweep) {
            if known.version == version {
                return Ok(());
            }
            // Seen twice by this sweep, and changed in between: what it saw last counts.
            self.remove_sighting(row, known.first)?;
            if known.first < sweep {
                let last = before.map_or(known.first, |before| before.max(known.first));
                self.put_sighting(row, &Sighting { last, ..known })?;
            }
            run = self.latest_sighting(row)?;
        }
        match run {
            Some(run) if Some(run.last) == before && run.version == version => {
                self.put_sighting(row, &Sighting { last: sweep, ..run })
            }
            _ => self.put_sighting(row, &Sighting { first: sweep, last: sweep, version }),
        }
    }

    /// Notes a redirect that a sweep saw, which is not too early; returns whether it was new.
    pub(crate) fn add_redirect(&self, redirect: &Redirect) -> Result<bool, StoreError> {
        let Redirect { key, target, sweep, site } = redirect;
        let site = site.clone().or_else(|| wonbon_text::site::site_of_address(key));
        self.put_sweep(*sweep)?;
        self.put_site_sweep(swept_site(site.as_deref()), *sweep)?;
        let known = self.redirects(key)?;
        if known.last().is_some_and(|known| *known == (*sweep, target.clone())) {
            return Ok(false);
        }
        let (key, target) = (key.clone(), target.clone());
        self.put_redirect(&KnownRedirect { key, sweep: *sweep, target })?;
        Ok(true)
    }

    /// Watches a document or stops doing so; returns whether there is one, or it was watched.
    pub(crate) fn watch(&self, key: &str, watch: bool, now: Timestamp) -> Result<bool, StoreError> {
        let reading: &dyn Reading = self;
        let Some(record) = reading.named(key)? else { return Ok(false) };
        if watch {
            self.put_watched(record.row, now)?;
            return Ok(true);
        }
        self.remove_watched(record.row)
    }
}
