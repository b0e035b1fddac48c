//! Files that are there whole or not at all, and locks on directories.
//!
//! Whoever reads a file that [`replace`] or [`ReplacedFile`] wrote sees what was there before or all
//! that is new, whenever the process or the machine stops. [`publish_file`] and [`publish_directory`] do
//! the same for what was written under another name by somebody else, SQLite say. Each is durable
//! when it returns: the bytes are on the disk, and so is the name.
//!
//! ```
//! use wonbon_files::{ReplacedFile, replace};
//! use std::io::Write as _;
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("list");
//! replace(&path, b"one\n")?;
//! let mut file = ReplacedFile::create(&path)?;
//! file.write_all(b"two\n")?;
//! assert_eq!(std::fs::read(&path)?, b"one\n");
//! file.commit()?;
//! assert_eq!(std::fs::read(&path)?, b"two\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Cost: two syncs for each file, some milliseconds on a disk.
//!
//! Not here: locks within a process, and what files hold.

pub mod lock;
mod replace;

use std::path::PathBuf;

pub use replace::{
    ReplacedFile, publish_directory, publish_file, remove_leftovers, replace, sync_directory,
};

/// Why a file could not be written or put into its place.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} {}", path.display())]
pub struct FileError {
    /// What was being done: `write`.
    pub doing: &'static str,
    /// To what.
    pub path: PathBuf,
    /// Why not.
    pub source: std::io::Error,
}
