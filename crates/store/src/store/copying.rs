//! Copies a store from a directory to a PostgreSQL, or back, or between two of a kind.
//!
//! What lasts is read from one state and written in one turn, so a copy that is cut off leaves nothing. Documents keep
//! their numbers, times, features and verdicts: nothing is decided anew. The copy is a store of its own, with an identity
//! of its own; what is derived is built when it is opened.
//!
//! Cost: every text is decompressed, which checks it, and compressed again; memory for a thousand documents.

use std::path::Path;

use wonbon_files::{ReplacedFile, create_private_directory, remove_leftovers};
use wonbon_index::Row;
use wonbon_time::Timestamp;

use super::Store;
use crate::counts::Counts;
use crate::database_mark::{check_companions, refuse_left_over_logs};
use crate::error::StoreError;
use crate::params::random_identity;
use crate::prepare::compress;
use crate::store_files::{StoreFiles, WriteLock};
use crate::tables::postgres::PostgresBackend;
use crate::tables::postgres::address::{Address, is_address};
use crate::tables::{Backend as _, Counters, Reading, Sqlite, Writing};

/// Documents that are written together.
const GROUP: u64 = 1000;

impl Store {
    /// Copies a store to a place where none is. `progress` hears how many documents are copied, and says whether to go on.
    /// Returns what the copy holds.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::AlreadyThere`], [`StoreError::Interrupted`] if `progress` asked to stop, or
    /// either database's. Then nothing was copied.
    pub fn copy(
        from: &Path,
        to: &Path,
        mut progress: impl FnMut(u64) -> bool,
    ) -> Result<Counts, StoreError> {
        let source = open_source(from)?;
        copy_tables(&*source, to, &mut progress)
    }

    /// The same with the tables of an open store.
    pub(super) fn copy_from_here(&self, to: &Path) -> Result<(), StoreError> {
        let source = self.inner.backend.reader()?;
        copy_tables(&*source, to, &mut |_| true).map(drop)
    }
}

fn open_source(from: &Path) -> Result<Box<dyn Reading>, StoreError> {
    if is_address(from) {
        let backend = PostgresBackend::open(Address::parse(&from.to_string_lossy())?)?;
        return match backend.tables()? {
            Some(tables) => {
                backend.check_tables(tables)?;
                backend.reader()
            }
            None => Err(StoreError::NoStore { path: backend.address.to_string().into() }),
        };
    }
    let files = StoreFiles { directory: from.to_owned() };
    if !files.database().exists() {
        return Err(StoreError::NoStore { path: from.to_owned() });
    }
    check_companions(&files)?;
    Ok(Box::new(Sqlite::open_reader(&files.database())?))
}

fn copy_tables(
    source: &dyn Reading,
    to: &Path,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Counts, StoreError> {
    let params = source.params()?;
    if is_address(to) {
        let backend = PostgresBackend::open(Address::parse(&to.to_string_lossy())?)?;
        let taken = || StoreError::AlreadyThere { path: backend.address.to_string().into() };
        if backend.tables()?.is_some() || backend.create(&params)? {
            return Err(taken());
        }
        let copied = fill(source, &mut backend.session()?, progress);
        if copied.is_err() {
            // The tables are empty: the turn was taken back.
            backend.remove()?;
        }
        return copied;
    }
    let files = StoreFiles { directory: to.to_owned() };
    create_private_directory(to)?;
    let _lock = WriteLock::take(&files)?;
    if files.database().exists() {
        return Err(StoreError::AlreadyThere { path: to.to_owned() });
    }
    refuse_left_over_logs(&files)?;
    remove_leftovers(&files.database());
    let file = ReplacedFile::create_private(&files.database())?;
    let mut database = Sqlite::create(file.temporary(), &params, &random_identity())?;
    let counts = fill(source, &mut database, progress)?;
    database.close();
    drop(database);
    file.commit_new()?;
    Ok(counts)
}

/// Writes everything in one turn, and counts what was written.
fn fill(
    source: &dyn Reading,
    target: &mut dyn Writing,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Counts, StoreError> {
    source.begin()?;
    let copied = target.begin_turn(0, &[]).and_then(|turn| {
        if turn.counters.last_change > 0 {
            let what = "somebody else stored documents there at this moment".to_owned();
            return Err(StoreError::Busy { what });
        }
        let counters = put_all(source, target, progress)?;
        let mut expected = source.count_documents()?;
        source.count_others(&mut expected)?;
        target.end_turn(counters)?;
        let mut counts = target.count_documents()?;
        target.count_others(&mut counts)?;
        match (counts == expected) && target.count_texts()? == expected.documents {
            true => Ok(counts),
            false => Err(target.damaged(format!("it holds {counts:?}, not {expected:?}"))),
        }
    });
    source.end()?;
    if copied.is_err() {
        target.take_back()?;
    }
    copied
}

fn put_all(
    source: &dyn Reading,
    target: &dyn Writing,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<Counters, StoreError> {
    let mut counters =
        Counters { last_change: 0, next_row: 1, clock: Timestamp::from_microseconds(0) };
    source.for_each_record(&mut |record| {
        target.insert(&record, &compress(&source.text(record.row)?)?)?;
        counters.last_change += 1;
        target.note_change(counters.last_change, record.row, None)?;
        counters.next_row = counters.next_row.max(record.row.0.saturating_add(1));
        counters.clock = counters.clock.max(record.stored);
        if counters.last_change.is_multiple_of(GROUP) {
            target.write_out()?;
            if !progress(counters.last_change) {
                return Err(StoreError::Interrupted);
            }
        }
        Ok(())
    })?;
    for row in source.rows_with_versions()? {
        put_versions(source, target, row)?;
    }
    for sweep in source.sweeps()? {
        target.put_sweep(sweep)?;
    }
    source.for_each_site_sweep(&mut |(site, sweep)| target.put_site_sweep(&site, sweep))?;
    source.for_each_sighting(&mut |(row, sighting)| target.put_sighting(row, &sighting))?;
    source.for_each_redirect(&mut |(redirect, whole)| match whole {
        true => target.put_redirect(&redirect),
        false => {
            let key = redirect.key;
            Err(source.damaged(format!("the redirect of `{key}` is not as it was written")))
        }
    })?;
    for (row, since) in source.watched()? {
        target.put_watched(row, since)?;
    }
    let mut decisions = Vec::new();
    source.for_each_decision(None, None, usize::MAX, &mut |entry| {
        decisions.push(entry);
        true
    })?;
    for entry in decisions.iter().rev() {
        target.log_decision(entry)?;
        counters.clock = counters.clock.max(entry.time);
    }
    target.write_out()?;
    progress(counters.last_change);
    Ok(counters)
}

fn put_versions(source: &dyn Reading, target: &dyn Writing, row: Row) -> Result<(), StoreError> {
    for version in source.versions(row)? {
        let text = compress(&source.version_text(row, version.version)?)?;
        target.put_version(row, &version, &text)?;
    }
    Ok(())
}
