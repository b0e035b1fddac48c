//! Backups, and stores made of them.
//!
//! Both write a copy of one state of the database: `VACUUM INTO` a temporary file, which gets its name
//! when it is complete and durable. The copy is a store of its own, with an identity of its own.
//!
//! A restored store is built in `DIR.partial`, checked there, and renamed to `DIR`. An existing `DIR` is first renamed to
//! `DIR.before-restore`, with its logs and all other files; nothing is deleted. A kill between the two renames leaves the
//! old store under that name and no `DIR`; the same command completes the restore.
//!
//! Cost: the whole database is read and written once, and a restored one read once more.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use wonbon_files::{
    PartialFolder, PartialFolderError, ReplacedFile, create_private_directory, remove_leftovers,
    rename,
};

use super::Store;
use crate::database_mark::{check_companions, refuse_left_over_logs, separate};
use crate::error::StoreError;
use crate::store_files::{StoreFiles, WriteLock};
use crate::tables::{
    BUSY_PATIENCE, Sqlite, find_disagreements, is_of_store, open_immutable, vacuum_into,
};

/// What happens to an existing store in the directory to which a backup is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OldStore {
    /// It stays, and nothing is restored.
    Refuse,
    /// It is renamed to a name of its own beside it.
    MoveAside,
}

impl Store {
    /// Writes a copy of one state of the database to another directory, while others read and write.
    /// The copy is a store; its derived files are built when it is opened.
    ///
    /// # Errors
    ///
    /// [`StoreError::AlreadyThere`]; [`StoreError::InUse`] if another backup is being written there;
    /// [`StoreError::DiskFull`] and the like.
    pub fn backup(&self, directory: &Path) -> Result<(), StoreError> {
        if self.inner.backend.is_shared() {
            return self.copy_from_here(directory);
        }
        Store::refuse_postgres(directory, "a backup")?;
        let database = Sqlite::open_writer(&self.inner.files.database())?;
        copy_database(&database.connection, &StoreFiles { directory: directory.to_owned() })
    }

    /// Makes a store in `directory` from a backup, or from any store that nobody writes to. Returns the path to which
    /// an existing store was moved, if there was one.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoStore`], [`StoreError::ForeignLog`], [`StoreError::Damaged`] or
    /// [`StoreError::ParamsMismatch`] if the backup cannot be used; [`StoreError::AlreadyThere`],
    /// [`StoreError::NotEmpty`] or [`StoreError::InUse`] if the place is taken; [`StoreError::Io`] and the
    /// like. Then everything is as it was.
    pub fn restore(
        backup: &Path,
        directory: &Path,
        old: OldStore,
    ) -> Result<Option<PathBuf>, StoreError> {
        Store::refuse_postgres(backup, "a backup")?;
        Store::refuse_postgres(directory, "a restore")?;
        let source = StoreFiles { directory: backup.to_owned() };
        if !source.database().exists() {
            return Err(StoreError::NoStore { path: backup.to_owned() });
        }
        let target = StoreFiles { directory: directory.to_owned() };
        let is_taken = is_taken(directory)?;
        if is_taken && old == OldStore::Refuse {
            let path = directory.to_owned();
            return Err(match target.database().exists() {
                true => StoreError::AlreadyThere { path },
                false => StoreError::NotEmpty { path },
            });
        }
        // Held to the end: nobody begins to write to what is being moved or read.
        let _target_lock = is_taken.then(|| WriteLock::take(&target)).transpose()?;
        let _source_lock = lock_if_possible(&source)?;
        check_companions(&source)?;

        let partial = PartialFolder::of(directory).private();
        let partial = if is_taken { partial.beside_output() } else { partial };
        // What a restore that was killed left is written again.
        partial.open_empty().map_err(of_folder)?;
        let copy = StoreFiles { directory: partial.path().to_owned() };
        copy_database(&open_source(&source)?, &copy)?;
        check_copy(&copy)?;
        partial.sync(None).map_err(of_folder)?;
        let aside = is_taken.then(|| move_aside(directory)).transpose()?;
        partial.publish().map_err(of_folder)?;
        Ok(aside)
    }
}

/// Whether there is anything in a directory, or something else than a directory.
fn is_taken(directory: &Path) -> Result<bool, StoreError> {
    match std::fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(StoreError::Io { doing: "read", path: directory.to_owned(), source }),
    }
}

/// Keeps others from writing to a backup while it is read. One on a medium that cannot be written to
/// needs no lock.
fn lock_if_possible(files: &StoreFiles) -> Result<Option<WriteLock>, StoreError> {
    match WriteLock::take(files) {
        Err(StoreError::Io { .. }) => Ok(None),
        taken => taken.map(Some),
    }
}

/// A connection to the database of a backup, with tables of any version. SQLite writes nothing
/// beside one that has no log.
fn open_source(files: &StoreFiles) -> Result<Connection, StoreError> {
    let path = files.database();
    let has_log = std::fs::metadata(files.log()).is_ok_and(|log| log.len() > 0);
    let connection = if has_log {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(BUSY_PATIENCE)?;
        connection
    } else {
        open_immutable(&path)?
    };
    match is_of_store(&connection) {
        Ok(true) => Ok(connection),
        Ok(false) => Err(StoreError::Damaged { path, what: "it is no store".to_owned() }),
        Err(error) => Err(StoreError::Damaged { path, what: error.to_string() }),
    }
}

/// Writes the state of a database to the directory of another store. One that was cut off leaves only
/// what the next one removes.
fn copy_database(from: &Connection, to: &StoreFiles) -> Result<(), StoreError> {
    let already_there = || StoreError::AlreadyThere { path: to.directory.clone() };
    create_private_directory(&to.directory)?;
    let target = to.database();
    if target.exists() {
        return Err(already_there());
    }
    // Another backup of the same name, in this process or another, waits or is refused.
    let _lock = WriteLock::take(to)?;
    if target.exists() {
        return Err(already_there());
    }
    refuse_left_over_logs(to)?;
    remove_leftovers(&target);
    let file = ReplacedFile::create_private(&target)?;
    vacuum_into(from, file.temporary())?;
    {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let copy = Connection::open_with_flags(file.temporary(), flags)?;
        separate(&copy)?;
        copy.pragma_update(None, "journal_mode", "WAL")?;
        // The last connection takes the log with it.
        copy.close().map_err(|(_, error)| error)?;
    }
    Ok(file.commit_new()?)
}

/// Reads everything in a copy once: its pages, and every row and text with its checksum. Tables of an
/// earlier version are brought to this one.
fn check_copy(copy: &StoreFiles) -> Result<(), StoreError> {
    let database = Sqlite::open_writer(&copy.database())?;
    if let Some(what) = database.integrity()?.into_iter().next() {
        return Err(database.damaged(what));
    }
    database.params()?;
    database.identity()?;
    let mut documents = 0;
    database.for_each_record(&mut |record| {
        documents += 1;
        database.text(record.row).map(drop)
    })?;
    let texts = database.count_texts()?;
    if texts != documents {
        return Err(database.damaged(format!("{documents} documents have {texts} texts")));
    }
    for row in database.rows_with_versions()? {
        for version in database.versions(row)? {
            database.version_text(row, version.version)?;
        }
    }
    match find_disagreements(&database)?.into_iter().next() {
        Some(what) => Err(database.damaged(what)),
        None => Ok(()),
    }
}

/// Renames a directory to a free name, and returns it.
fn move_aside(directory: &Path) -> Result<PathBuf, StoreError> {
    let mut number = 1;
    loop {
        let mut name = directory.as_os_str().to_owned();
        name.push(".before-restore");
        if number > 1 {
            name.push(format!("-{number}"));
        }
        let aside = PathBuf::from(name);
        // Reserves the name: a rename replaces an empty directory, never a full one.
        match std::fs::create_dir(&aside) {
            Ok(()) => {
                rename(directory, &aside)?;
                return Ok(aside);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(StoreError::Io { doing: "make", path: aside, source }),
        }
    }
}

fn of_folder(error: PartialFolderError) -> StoreError {
    match error {
        PartialFolderError::OutputExists { path } | PartialFolderError::NotOurs { path } => {
            StoreError::NotEmpty { path }
        }
        PartialFolderError::File(error) => error.into(),
    }
}
