//! A folder that appears under its name only when everything in it is complete.
//!
//! Results for `OUT` are written to `OUT.partial`, which is renamed to `OUT` at the end. Our partial
//! folders contain a mark file ([`MARK`]). A folder of that name without the mark belongs to
//! somebody else: it is refused by name, and nothing in it is changed.
//!
//! Cost: syncing calls fsync on every file and directory below the folder, or syncs the whole file
//! system once if there are very many files.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::FileError;
use crate::private::create_private_directory;
use crate::replace::{failed, sync_directory, sync_parents};

/// The file that marks a partial folder as ours.
pub const MARK: &str = ".wonbon-partial";

const MARK_TEXT: &str = "Unfinished results of wonbon. The command that writes them continues here \
                         or begins again; if it will not be run again, this folder can be removed.\n";

/// Above this number of files one `syncfs` is cheaper than an fsync for each of them.
#[cfg(target_os = "linux")]
const MANY_FILES: usize = 1000;
#[cfg(not(target_os = "linux"))]
const MANY_FILES: usize = usize::MAX;

/// Why a partial folder could not be used. Exhaustive, so that whoever has an error type of their own
/// turns every case into one of theirs.
#[derive(Debug, thiserror::Error)]
pub enum PartialFolderError {
    /// The folder that shall be written exists.
    #[error("{path} exists already; it is not overwritten")]
    OutputExists {
        /// The folder.
        path: PathBuf,
    },
    /// A folder or file of somebody else has the name of the partial folder.
    #[error("{path} is not an unfinished result of wonbon; it is left alone")]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The folder `OUT.partial` of an output `OUT`.
#[derive(Clone, Debug)]
pub struct PartialFolder {
    output: PathBuf,
    path: PathBuf,
    is_private: bool,
    output_may_exist: bool,
}

impl PartialFolder {
    /// The partial folder of `output`; nothing is touched yet.
    #[must_use]
    pub fn of(output: &Path) -> Self {
        let mut name = output.as_os_str().to_owned();
        name.push(".partial");
        PartialFolder {
            output: output.to_owned(),
            path: name.into(),
            is_private: false,
            output_may_exist: false,
        }
    }

    /// The same folder, created for its owner only.
    #[must_use]
    pub fn private(self) -> Self {
        PartialFolder { is_private: true, ..self }
    }

    /// The same folder for an output that exists and is moved away before
    /// [`publish`](Self::publish).
    #[must_use]
    pub fn beside_output(self) -> Self {
        PartialFolder { output_may_exist: true, ..self }
    }

    /// Where unfinished results are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the output can be written: it does not exist or is an empty folder, and what has
    /// the name of the partial folder is ours or empty.
    ///
    /// # Errors
    ///
    /// [`PartialFolderError::OutputExists`] or [`PartialFolderError::NotOurs`].
    pub fn check(&self) -> Result<(), PartialFolderError> {
        let is_taken = is_there(&self.output) && !is_empty_folder(&self.output);
        if is_taken && !self.output_may_exist {
            return Err(PartialFolderError::OutputExists { path: self.output.clone() });
        }
        if is_there(&self.path) && !self.is_ours() && !is_empty_folder(&self.path) {
            return Err(PartialFolderError::NotOurs { path: self.path.clone() });
        }
        Ok(())
    }

    /// Opens the partial folder with everything that is in it, or creates it.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check), or if the folder cannot be created.
    pub fn open(&self) -> Result<(), PartialFolderError> {
        self.check()?;
        if self.is_ours() {
            return Ok(());
        }
        match self.is_private {
            true => create_private_directory(&self.path)?,
            false => std::fs::create_dir_all(&self.path).map_err(failed("make", &self.path))?,
        }
        let mark = self.path.join(MARK);
        Ok(std::fs::write(&mark, MARK_TEXT).map_err(failed("write", &mark))?)
    }

    /// Creates the partial folder without anything that an earlier run left in it.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_empty(&self) -> Result<(), PartialFolderError> {
        self.check()?;
        if is_there(&self.path) {
            // The mark goes last: what a kill leaves of the folder must still be ours.
            for entry in std::fs::read_dir(&self.path).map_err(failed("read", &self.path))? {
                let path = entry.map_err(failed("read", &self.path))?.path();
                if path.file_name().is_none_or(|name| name != MARK) {
                    remove(&path)?;
                }
            }
        }
        self.open()
    }

    /// Removes a file or folder of an earlier run from the partial folder, if it is there.
    ///
    /// # Errors
    ///
    /// If it cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), PartialFolderError> {
        let path = self.path.join(name);
        if is_there(&path) { Ok(remove(&path)?) } else { Ok(()) }
    }

    /// Syncs everything in the partial folder to the disk, but for the folder `except`.
    ///
    /// # Errors
    ///
    /// If a file cannot be synced.
    pub fn sync(&self, except: Option<&str>) -> Result<(), PartialFolderError> {
        Ok(sync_tree(&self.path, except.map(|name| self.path.join(name)).as_deref())?)
    }

    /// Gives the folder, whose contents are synced, its final name.
    ///
    /// # Errors
    ///
    /// If the folder cannot be renamed.
    pub fn publish(&self) -> Result<(), PartialFolderError> {
        if is_empty_folder(&self.output) {
            std::fs::remove_dir(&self.output).map_err(failed("replace", &self.output))?;
        }
        std::fs::rename(&self.path, &self.output).map_err(failed("write", &self.output))?;
        // The mark goes after the rename: before it, a kill would leave results that nobody owns. It goes
        // at once, before anything is synced, so that a kill hardly ever leaves it in the results.
        let mark = self.output.join(MARK);
        std::fs::remove_file(&mark).map_err(failed("remove", &mark))?;
        sync_directory(&self.output)?;
        Ok(sync_parents(&self.path, &self.output)?)
    }

    fn is_ours(&self) -> bool {
        self.path.join(MARK).is_file()
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn remove(path: &Path) -> Result<(), FileError> {
    let is_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
        .map_err(failed("remove", path))
}

/// Syncs a file or a directory.
fn sync(path: &Path) -> Result<(), FileError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed("sync", path))
}

/// Syncs a folder with everything below it, but for one folder.
fn sync_tree(top: &Path, except: Option<&Path>) -> Result<(), FileError> {
    let (mut folders, mut files) = (vec![top.to_owned()], Vec::new());
    let mut at = 0;
    while let Some(folder) = folders.get(at).cloned() {
        at += 1;
        for entry in std::fs::read_dir(&folder).map_err(failed("read", &folder))? {
            let entry = entry.map_err(failed("read", &folder))?;
            let kind = entry.file_type().map_err(failed("read", &folder))?;
            if except.is_some_and(|except| entry.path() == except) {
                continue;
            }
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
        if files.len() > MANY_FILES {
            return sync_file_system(top);
        }
    }
    files.iter().chain(&folders).try_for_each(|path| sync(path))
}

/// Syncs the file system that a folder is on.
#[cfg(target_os = "linux")]
fn sync_file_system(folder: &Path) -> Result<(), FileError> {
    File::open(folder)
        .and_then(|folder| Ok(rustix::fs::syncfs(&folder)?))
        .map_err(failed("sync", folder))
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(folder: &Path) -> Result<(), FileError> {
    sync(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, PartialFolder) {
        let top = tempfile::tempdir().unwrap();
        let partial = PartialFolder::of(&top.path().join("out"));
        (top, partial)
    }

    #[test]
    fn a_published_folder_has_its_files_and_no_mark() {
        for files in [1, MANY_FILES.min(1000) + 1] {
            let (top, partial) = folder();
            partial.open().unwrap();
            std::fs::create_dir(partial.path().join("deep")).unwrap();
            for number in 0..files {
                std::fs::write(partial.path().join(format!("deep/{number}")), "x").unwrap();
            }
            partial.open().unwrap();
            partial.sync(None).unwrap();
            partial.publish().unwrap();
            let names = |path: &Path| std::fs::read_dir(path).unwrap().count();
            assert_eq!(names(top.path()), 1);
            assert_eq!(names(&top.path().join("out")), 1);
            assert_eq!(names(&top.path().join("out/deep")), files);
            let error = partial.open().unwrap_err();
            assert!(matches!(error, PartialFolderError::OutputExists { .. }), "{error}");
        }
    }

    #[test]
    fn a_folder_or_file_of_somebody_else_is_left_alone() {
        let (_top, partial) = folder();
        std::fs::create_dir(partial.path()).unwrap();
        std::fs::write(partial.path().join("thesis.txt"), "years of work").unwrap();
        for refused in [partial.check(), partial.open(), partial.open_empty()] {
            let error = refused.unwrap_err();
            assert!(error.to_string().contains("out.partial is not"), "{error}");
        }
        assert_eq!(std::fs::read_dir(partial.path()).unwrap().count(), 1);
        std::fs::remove_dir_all(partial.path()).unwrap();
        std::fs::write(partial.path(), "a file").unwrap();
        assert!(matches!(partial.open(), Err(PartialFolderError::NotOurs { .. })));
    }

    #[test]
    fn an_empty_folder_is_used_and_our_own_can_be_emptied() {
        let (top, partial) = folder();
        std::fs::create_dir(partial.path()).unwrap();
        std::fs::create_dir(top.path().join("out")).unwrap();
        partial.open().unwrap();
        std::fs::create_dir_all(partial.path().join("work/deep")).unwrap();
        std::fs::write(partial.path().join("file"), "x").unwrap();
        partial.remove("file").unwrap();
        partial.remove("file").unwrap();
        assert!(partial.path().join("work").exists());
        partial.open_empty().unwrap();
        assert_eq!(std::fs::read_dir(partial.path()).unwrap().count(), 1);
        partial.publish().unwrap();
        assert_eq!(std::fs::read_dir(top.path().join("out")).unwrap().count(), 0);
    }
}
