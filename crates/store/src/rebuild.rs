//! `wonbon rebuild --rule`: decides a whole store again, by another rule or another seed.
//!
//! The work happens in a copy of the database beside it, so the old verdicts are in force, and readable,
//! until the new ones are complete:
//!
//! 1. *copy*: the current state of the database (`rebuild.sqlite`), with the new parameters and a new identity;
//! 2. *features*: every text is shingled again and gets the features and fingerprints of the new parameters;
//! 3. *decide*: documents are judged from the earliest to the latest; decisions by people stay in effect;
//! 4. *publish*: the copy is renamed to the database's name. The derived files belong to the old identity, so they
//!    are rebuilt when the store is next opened.
//!
//! Steps 2 and 3 commit every [`GROUP`] documents together with their progress: after a kill the same call continues from
//! there. If the store was written to in between, or another rule is asked for, the copy is out of date and the work
//! starts over.
//!
//! Cost: about that of adding all documents, on one thread; twice the disk of the database; 24 bytes a
//! document in memory beside the index. The store cannot be written to meanwhile.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use wonbon_files::publish_file;
use wonbon_index::{CopyIndex, MemoryIndex, Row};
use wonbon_rule::{Kind, Rule};

use crate::database_mark::{check_companions, length};
use crate::document::Order;
use crate::error::StoreError;
use crate::judge::{Asked, Judge, MOST_CANDIDATES, ShingleCache};
use crate::params::{MadeBy, SeedSource, StoreParams, random_identity};
use crate::prepare::Preparer;
use crate::store::Store;
use crate::store_files::{StoreFiles, WriteLock};
use crate::tables::{Sqlite, Standing};

/// Documents of one commit.
const GROUP: usize = 2000;

/// How long it waits for other processes that have the database open.
const PUBLISH_PATIENCE: Duration = Duration::from_secs(2);

/// Entries of the copy's `meta` while it is worked on: what it is a copy of, and how far it is.
const SOURCE: &str = "rebuild source";
const PHASE: &str = "rebuild phase";
const POSITION: &str = "rebuild position";

/// The rule and seed by which a store shall decide; a value that is not given stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RebuildConfig {
    /// What makes a copy.
    pub rule: Option<Rule>,
    /// Where the permutations come from.
    pub seed: Option<SeedSource>,
}

/// What a step works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebuildPhase {
    /// The database is copied.
    Copy,
    /// Features are made again.
    Features,
    /// Documents are judged again.
    Decide,
}

impl RebuildPhase {
    /// The name people read.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RebuildPhase::Copy => "copy",
            RebuildPhase::Features => "features",
            RebuildPhase::Decide => "decide",
        }
    }
}

/// How far a rebuild is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildProgress {
    /// The step.
    pub phase: RebuildPhase,
    /// Documents done in it.
    pub done: u64,
    /// Documents in all.
    pub documents: u64,
}

/// What a rebuild did.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebuilt {
    /// By what the store decides now.
    pub params: StoreParams,
    /// Documents.
    pub documents: u64,
    /// Of them originals.
    pub originals: u64,
    /// Documents that have another kind or another original than before.
    pub changed: u64,
    /// Whether it continued what an earlier call had begun.
    pub continued: bool,
}

impl Store {
    /// Decides a store again. `progress` hears how far it is after every commit and returns whether to go
    /// on; the same call continues after a stop or a kill.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::InUse`] if anybody has the store open when it is done,
    /// [`StoreError::Interrupted`] if `progress` asked to stop, or the database's. The store is as it was.
    pub fn rebuild_with(
        directory: &Path,
        config: &RebuildConfig,
        mut progress: impl FnMut(RebuildProgress) -> bool,
    ) -> Result<Rebuilt, StoreError> {
        Store::refuse_postgres(directory, "deciding anew by another rule")?;
        let files = StoreFiles { directory: directory.to_owned() };
        if !files.database().exists() {
            return Err(StoreError::NoStore { path: directory.to_owned() });
        }
        let lock = WriteLock::take(&files)?;
        check_companions(&files)?;
        let source = Sqlite::open_writer(&files.database())?;
        let (copy, continued) = open_copy(&files, &source, config, &mut progress)?;
        let rebuild = Rebuild::new(&copy)?;
        rebuild.make_features(&mut progress)?;
        let changed = rebuild.decide(&source, &mut progress)?;
        let counts = copy.count_documents()?;
        let params = rebuild.params.clone();
        publish(&files, source, copy)?;
        drop(lock);
        Ok(Rebuilt {
            params,
            documents: counts.documents,
            originals: counts.originals,
            changed,
            continued,
        })
    }
}

fn copy_path(files: &StoreFiles) -> PathBuf {
    files.directory.join("rebuild.sqlite")
}

/// The parameters that are asked for, given those that are there.
fn asked_params(present: &StoreParams, config: &RebuildConfig) -> StoreParams {
    StoreParams {
        rule: config.rule.unwrap_or(present.rule),
        seed: config.seed.clone().unwrap_or_else(|| present.seed.clone()),
        made_by: MadeBy::Current,
        ..present.clone()
    }
}

/// The copy of an earlier call if it is of this state and for these parameters, or a new one. The second
/// answer is whether it is an earlier one.
fn open_copy(
    files: &StoreFiles,
    source: &Sqlite,
    config: &RebuildConfig,
    progress: &mut impl FnMut(RebuildProgress) -> bool,
) -> Result<(Sqlite, bool), StoreError> {
    let path = copy_path(files);
    let asked = asked_params(&source.params()?, config);
    let state = format!("{} {}", source.identity()?, source.last_change()?.0);
    if path.exists()
        && let Ok(copy) = Sqlite::open_writer(&path)
        && copy.meta(SOURCE)?.as_ref() == Some(&state)
    {
        let there = copy.params()?;
        // A secret that was asked for was drawn by the call that began.
        let drawn = |seed: &Option<SeedSource>| matches!(seed, Some(SeedSource::Secret(_)));
        let same_seed =
            there.seed == asked.seed || (drawn(&config.seed) && drawn(&Some(there.seed.clone())));
        if same_seed && there == (StoreParams { seed: there.seed.clone(), ..asked.clone() }) {
            return Ok((copy, true));
        }
    }
    progress(RebuildProgress { phase: RebuildPhase::Copy, done: 0, documents: 0 });
    remove_copy(files)?;
    let partial = files.directory.join(format!("rebuild-{}.partial", random_identity()));
    let copied = source.copy_to(&partial).and_then(|()| {
        // The copy is of one moment, and under the lock that moment is now.
        let copy = Sqlite::open_writer(&partial)?;
        copy.connection.execute_batch("BEGIN IMMEDIATE")?;
        for (name, value) in asked.to_values() {
            copy.set_meta(name, &value)?;
        }
        copy.set_meta("identity", &random_identity())?;
        copy.set_meta(SOURCE, &state)?;
        copy.set_meta(PHASE, RebuildPhase::Features.name())?;
        copy.set_meta(POSITION, "0")?;
        copy.connection.execute_batch("COMMIT")?;
        copy.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
        drop(copy);
        publish_file(&partial, &path).map_err(|error| StoreError::Io {
            doing: "write",
            path: path.clone(),
            source: error.source,
        })
    });
    if let Err(error) = copied {
        let _ = std::fs::remove_file(&partial);
        return Err(error);
    }
    Ok((Sqlite::open_writer(&path)?, false))
}

/// Removes a copy that is out of date: nothing in it is anybody's but ours.
fn remove_copy(files: &StoreFiles) -> Result<(), StoreError> {
    for suffix in ["", "-wal", "-shm"] {
        let path = files.directory.join(format!("rebuild.sqlite{suffix}"));
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::Io { doing: "remove", path, source: error });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Steps 2 and 3 on the copy.
struct Rebuild<'a> {
    copy: &'a Sqlite,
    params: StoreParams,
    preparer: Preparer,
    documents: u64,
}

impl<'a> Rebuild<'a> {
    fn new(copy: &'a Sqlite) -> Result<Self, StoreError> {
        let params = copy.params()?;
        let preparer = Preparer::new(&params)?;
        let documents = copy.count_documents()?.documents;
        Ok(Rebuild { copy, params, preparer, documents })
    }

    /// How far a phase is: none if it is done.
    fn position(&self, phase: RebuildPhase) -> Result<Option<u64>, StoreError> {
        if self.copy.meta(PHASE)?.as_deref() != Some(phase.name()) {
            return Ok(None);
        }
        let position = self.copy.meta(POSITION)?.and_then(|text| text.parse().ok());
        position.map(Some).ok_or_else(|| {
            self.copy.damaged("it does not say how far its rebuilding is".to_owned())
        })
    }

    /// Ends a transaction with how far the phase is, and says so.
    fn commit(
        &self,
        phase: RebuildPhase,
        position: u64,
        done: u64,
        progress: &mut impl FnMut(RebuildProgress) -> bool,
    ) -> Result<(), StoreError> {
        self.copy.set_meta(PHASE, phase.name())?;
        self.copy.set_meta(POSITION, &position.to_string())?;
        self.copy.connection.execute_batch("COMMIT")?;
        if progress(RebuildProgress { phase, done, documents: self.documents }) {
            return Ok(());
        }
        Err(StoreError::Interrupted)
    }

    fn make_features(
        &self,
        progress: &mut impl FnMut(RebuildProgress) -> bool,
    ) -> Result<(), StoreError> {
        let Some(position) = self.position(RebuildPhase::Features)? else { return Ok(()) };
        // The position is the number after the last row done.
        let mut last = u32::try_from(position).ok().and_then(|next| next.checked_sub(1)).map(Row);
        let mut done = 0;
        loop {
            let rows = self.copy.rows_after(last, GROUP)?;
            let Some(&end) = rows.last() else { break };
            self.copy.connection.execute_batch("BEGIN IMMEDIATE")?;
            for &row in &rows {
                let Some(mut record) = self.copy.record(row)? else { continue };
                let (shingles, words, text) = self.preparer.shingles(&self.copy.text(row)?);
                record.features = self.preparer.features(&shingles);
                record.words = words;
                record.fingerprints.text = text;
                record.fingerprints.shingle_set = self.preparer.fingerprint_set(&shingles);
                self.copy.update(&record)?;
            }
            done += rows.len() as u64;
            last = Some(end);
            self.commit(RebuildPhase::Features, u64::from(end.0) + 1, done, progress)?;
        }
        self.copy.connection.execute_batch("BEGIN IMMEDIATE")?;
        self.commit(RebuildPhase::Decide, 0, 0, progress)
    }

    /// Judges all documents in order; returns how many have another standing than in `source`.
    fn decide(
        &self,
        source: &Sqlite,
        progress: &mut impl FnMut(RebuildProgress) -> bool,
    ) -> Result<u64, StoreError> {
        let mut orders: Vec<Order> = Vec::with_capacity(self.documents as usize);
        self.copy.for_each_record(&mut |record| {
            orders.push(record.order());
            Ok(())
        })?;
        orders.sort_unstable();
        let decided = match self.position(RebuildPhase::Decide)? {
            Some(position) => position.min(orders.len() as u64) as usize,
            None => orders.len(),
        };
        let mut index = MemoryIndex::new(self.params.features().1)?;
        for order in &orders[..decided] {
            if let Some(record) = self.copy.record(order.row)?
                && record.standing.kind == Kind::Original
            {
                index.insert(order.row, &record.features)?;
            }
        }
        let judge = Judge { database: self.copy, rule: self.params.rule, preparer: &self.preparer };
        let mut shingles = ShingleCache::default();
        let mut done = decided;
        for group in orders[decided..].chunks(GROUP) {
            self.copy.connection.execute_batch("BEGIN IMMEDIATE")?;
            for order in group {
                let Some(mut record) = self.copy.record(order.row)? else { continue };
                let asked = Asked::stored(&record);
                let candidates = index.closest(asked.features, MOST_CANDIDATES)?;
                record.standing = judge.judge(candidates, &asked, &mut shingles)?.standing;
                self.copy.update(&record)?;
                if record.standing.kind == Kind::Original {
                    index.insert(order.row, &record.features)?;
                }
            }
            done += group.len();
            self.commit(RebuildPhase::Decide, done as u64, done as u64, progress)?;
        }
        let mut changed = 0;
        for order in &orders {
            let place = |database: &Sqlite| -> Result<Option<(Kind, Option<Row>)>, StoreError> {
                let standing = database.record(order.row)?.map(|record| record.standing);
                Ok(standing.map(|Standing { kind, original, .. }| (kind, original)))
            };
            changed += u64::from(place(self.copy)? != place(source)?);
        }
        Ok(changed)
    }
}

/// Gives the copy the database's name.
fn publish(files: &StoreFiles, source: Sqlite, copy: Sqlite) -> Result<(), StoreError> {
    copy.connection.execute_batch("BEGIN IMMEDIATE")?;
    for name in [SOURCE, PHASE, POSITION] {
        copy.remove_meta(name)?;
    }
    copy.connection.execute_batch("COMMIT")?;
    copy.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?;
    drop(copy);
    drop(source);
    fold_in_log(files)?;
    let (from, to) = (copy_path(files), files.database());
    publish_file(&from, &to).map_err(|error| StoreError::Io {
        doing: "write",
        path: to.clone(),
        source: error.source,
    })
}

/// Writes the log of the database into it and removes the log, so that the database can be replaced as
/// one file. Refuses while anybody else has the database open, who would go on with the log of another
/// database.
///
/// The database stays in WAL mode: leaving it would write a rollback journal, and a kill in between would
/// leave a journal that no store of ours has.
fn fold_in_log(files: &StoreFiles) -> Result<(), StoreError> {
    let in_use = || StoreError::InUse { path: files.directory.clone() };
    let connection = Connection::open(files.database())?;
    connection.busy_timeout(PUBLISH_PATIENCE)?;
    // Before the first access this takes the database for this connection alone.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    let folded: i64 = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .map_err(|_| in_use())?;
    connection.close().map_err(|(_, error)| error)?;
    if folded != 0 || length(&files.log()) > 0 {
        return Err(in_use());
    }
    Ok(())
}
