//! Files and folders that are there whole or not at all, private files, and locks.
//!
//! Whoever reads a file that [`replace`] or [`ReplacedFile`] wrote sees what was there before or all
//! that is new, whenever the process or the machine stops. [`publish_file`], [`rename`] and
//! [`move_file`] do the same for what was written under another name by somebody else, SQLite say, and
//! [`PartialFolder`] for a folder of results. Each is durable when it returns: the bytes are on the disk,
//! and so is the name. No other crate renames files.
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
mod partial_folder;
mod private;
mod replace;

use std::path::PathBuf;

pub use partial_folder::{MARK, PartialFolder, PartialFolderError};
pub use private::{
    create_directory_durably, create_new_private_directory, create_private_directory,
    create_private_file,
};
pub use replace::{
    ReplacedFile, move_file, publish_file, remove_leftovers, rename, replace, sync_directory,
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
