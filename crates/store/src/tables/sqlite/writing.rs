//! SQLite as something that is written: a turn is a transaction, and every write goes through at once.

use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::Sqlite;
use crate::checkpoints::{CheckpointThread, Checkpoints};
use crate::database_mark::DatabaseMark;
use crate::decisions::DecisionEntry;
use crate::error::StoreError;
use crate::questions::OldVersion;
use crate::store_files::StoreFiles;
use crate::sweeps::Sighting;
use crate::tables::{Counters, KnownRedirect, News, Record, Turn, Writing};

/// What the writer of a store has beside its connection.
#[derive(Debug)]
pub(super) struct WriterState {
    mark: DatabaseMark,
    checkpoints: Checkpoints,
    /// As the last turn left them; none when they have to be read.
    counters: Option<Counters>,
}

impl Sqlite {
    /// Makes this connection the one that writes a store, and takes the checkpoints away from it.
    pub(crate) fn become_writer(
        mut self,
        files: &StoreFiles,
        mark: DatabaseMark,
    ) -> Result<(Self, CheckpointThread), StoreError> {
        let (checkpoints, thread) = Checkpoints::take(&mut self.connection, &files.database())?;
        self.writer = Some(WriterState { mark, checkpoints, counters: None });
        Ok((self, thread))
    }

    /// What continues from the turns before.
    pub(crate) fn counters(&self) -> Result<Counters, StoreError> {
        Ok(Counters {
            last_change: self.last_change()?.0,
            next_row: self.next_row()?,
            clock: self.clock()?,
        })
    }
}

impl Writing for Sqlite {
    fn begin_turn(&mut self, _seen: u64, _keys: &[&str]) -> Result<Turn, StoreError> {
        // Taken out, because renewing the mark reads and writes the database.
        if let Some(mut writer) = self.writer.take() {
            let renewed = writer.mark.renew(self);
            self.writer = Some(writer);
            renewed?;
        }
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let known = self.writer.as_ref().and_then(|writer| writer.counters);
        let counters = match known {
            Some(counters) => counters,
            None => self.counters()?,
        };
        Ok(Turn { counters, now: Timestamp::now(), news: News::Changes(Vec::new()) })
    }

    fn end_turn(&mut self, counters: Counters) -> Result<(), StoreError> {
        self.connection.execute_batch("COMMIT")?;
        if let Some(writer) = &mut self.writer {
            writer.counters = Some(counters);
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<(), StoreError> {
        if let Some(writer) = &mut self.writer {
            writer.counters = None;
        }
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    fn tidy(&self) {
        if let Some(writer) = &self.writer {
            writer.checkpoints.copy_rest(&self.connection);
        }
    }

    fn close(&mut self) {
        // What a clean end leaves undone is done at the next opening.
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }

    fn insert(&self, record: &Record, text: &[u8]) -> Result<(), StoreError> {
        Sqlite::insert(self, record, text)
    }

    fn update(&self, record: &Record) -> Result<(), StoreError> {
        Sqlite::update(self, record)
    }

    fn update_standing(&self, record: &Record) -> Result<(), StoreError> {
        Sqlite::update_standing(self, record)
    }

    fn delete(&self, record: &Record) -> Result<(), StoreError> {
        Sqlite::delete(self, record)
    }

    fn replace_text(&self, old: &Record, text: &[u8], resemblance: f64) -> Result<(), StoreError> {
        Sqlite::replace_text(self, old, text, resemblance)
    }

    fn put_version(&self, row: Row, version: &OldVersion, text: &[u8]) -> Result<(), StoreError> {
        Sqlite::put_version(self, row, version, text)
    }

    fn note_change(
        &self,
        change: u64,
        row: Row,
        _before: Option<&[u64]>,
    ) -> Result<(), StoreError> {
        Sqlite::note_change(self, change, row)
    }

    fn forget_changes(&self, up_to: u64, clock: Timestamp) -> Result<(), StoreError> {
        Sqlite::forget_changes(self, up_to, clock)
    }

    fn put_sweep(&self, sweep: Timestamp) -> Result<(), StoreError> {
        Sqlite::put_sweep(self, sweep)
    }

    fn put_site_sweep(&self, site: &str, sweep: Timestamp) -> Result<(), StoreError> {
        Sqlite::put_site_sweep(self, site, sweep)
    }

    fn put_sighting(&self, row: Row, sighting: &Sighting) -> Result<(), StoreError> {
        Sqlite::put_sighting(self, row, sighting)
    }

    fn remove_sighting(&self, row: Row, first: Timestamp) -> Result<(), StoreError> {
        Sqlite::remove_sighting(self, row, first)
    }

    fn put_redirect(&self, redirect: &KnownRedirect) -> Result<(), StoreError> {
        Sqlite::put_redirect(self, redirect)
    }

    fn put_watched(&self, row: Row, since: Timestamp) -> Result<(), StoreError> {
        Sqlite::put_watched(self, row, since)
    }

    fn remove_watched(&self, row: Row) -> Result<bool, StoreError> {
        Sqlite::remove_watched(self, row)
    }

    fn log_decision(&self, entry: &DecisionEntry) -> Result<(), StoreError> {
        Sqlite::log_decision(self, entry)
    }
}
