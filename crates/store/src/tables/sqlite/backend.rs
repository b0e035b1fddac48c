//! Opens the tables of a directory.

use super::Sqlite;
use crate::database_mark::length;
use crate::error::StoreError;
use crate::store_files::StoreFiles;
use crate::tables::{Backend, Head, Reading};

/// The database of a directory.
pub(crate) struct SqliteBackend {
    pub(crate) files: StoreFiles,
}

impl Backend for SqliteBackend {
    fn reader(&self) -> Result<Box<dyn Reading>, StoreError> {
        Ok(Box::new(Sqlite::open_reader(&self.files.database())?))
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn head(&self) -> Result<Head, StoreError> {
        Ok(Head { change: self.reader()?.last_change()?.0, is_expected: true })
    }

    fn place(&self) -> String {
        self.files.directory.display().to_string()
    }

    fn bytes(&self) -> u64 {
        length(&self.files.database()) + length(&self.files.log())
    }
}
