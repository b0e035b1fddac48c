//! Replacing files, and giving finished ones their names.
//!
//! What is new is written to a temporary file beside its target, under a name that nobody can guess or
//! has taken, and renamed when it is on the disk. The temporary file is removed when something fails.
//! What a killed process leaves behind is named `.TARGET.XXXXXX.partial`; [`remove_leftovers`] clears
//! that away for whoever alone writes a target.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::FileError;

const ENDING: &str = ".partial";

/// What SQLite writes beside a file that it is given.
const BESIDE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

pub(crate) fn failed(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> FileError + use<> {
    let path = path.to_owned();
    move |source| FileError { doing, path, source }
}

/// The directory that holds a file.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the temporary files of a target begin.
fn beginning(target: &Path) -> String {
    format!(".{}.", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Writes a file: there whole or not at all.
///
/// # Errors
///
/// Why it could not be written; then what was there is as it was.
pub fn replace(target: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = ReplacedFile::create(target)?;
    file.write_all(bytes).map_err(failed("write", target))?;
    file.commit()
}

/// A file that takes its place when it is whole. Dropped without [`commit`](ReplacedFile::commit) it
/// was never there.
#[derive(Debug)]
pub struct ReplacedFile {
    target: PathBuf,
    temporary: NamedTempFile,
}

impl ReplacedFile {
    /// Begins to write a file that everybody may read, as far as the process lets them.
    ///
    /// # Errors
    ///
    /// The directory cannot be written to.
    pub fn create(target: &Path) -> Result<Self, FileError> {
        Self::create_with_mode(target, 0o666)
    }

    /// Begins to write a file for its owner only.
    ///
    /// # Errors
    ///
    /// The directory cannot be written to.
    pub fn create_private(target: &Path) -> Result<Self, FileError> {
        Self::create_with_mode(target, 0o600)
    }

    fn create_with_mode(target: &Path, mode: u32) -> Result<Self, FileError> {
        let beginning = beginning(target);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&beginning).suffix(ENDING);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = mode;
        let temporary =
            builder.tempfile_in(directory_of(target)).map_err(failed("write", target))?;
        Ok(ReplacedFile { target: target.to_owned(), temporary })
    }

    /// The file that will be replaced.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The temporary file, for what has to open it by its name.
    #[must_use]
    pub fn temporary(&self) -> &Path {
        self.temporary.path()
    }

    /// Makes it durable and gives it its place.
    ///
    /// # Errors
    ///
    /// Why it could not be; then what was there is as it was, or the disk has stopped working.
    pub fn commit(self) -> Result<(), FileError> {
        let ReplacedFile { target, temporary } = self;
        temporary
            .as_file()
            .sync_all()
            .and_then(|()| temporary.persist(&target).map_err(|error| error.error))
            .map_err(failed("write", &target))?;
        sync_directory(directory_of(&target))
    }
}

impl ReplacedFile {
    /// As [`commit`](Self::commit), but a file that has the name already is never replaced.
    ///
    /// # Errors
    ///
    /// As [`commit`](Self::commit), and that the file is there already.
    pub fn commit_new(self) -> Result<(), FileError> {
        let ReplacedFile { target, temporary } = self;
        // Opened again: whoever was given the name may have replaced what it leads to.
        File::open(temporary.path())
            .and_then(|file| file.sync_all())
            .and_then(|()| temporary.persist_noclobber(&target).map_err(|error| error.error))
            .map_err(failed("write", &target))?;
        sync_directory(directory_of(&target))
    }
}

impl Write for ReplacedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.temporary.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temporary.as_file_mut().flush()
    }
}

impl Seek for ReplacedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.temporary.as_file_mut().seek(position)
    }
}

/// Gives a finished file its name, durably: the file is synced, renamed, and the directory synced.
///
/// # Errors
///
/// Why that failed.
pub fn publish_file(partial: &Path, target: &Path) -> Result<(), FileError> {
    File::open(partial).and_then(|file| file.sync_all()).map_err(failed("write", target))?;
    rename(partial, target)
}

/// Renames a file or directory whose content is durable, and makes the new name durable.
///
/// # Errors
///
/// Why that failed.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    std::fs::rename(from, to).map_err(failed("write", to))?;
    sync_parents(from, to)
}

/// Moves a finished file to its place, durably, also to another file system. What is there already is
/// replaced as a whole.
///
/// # Errors
///
/// Why that failed; then the file is where it was.
pub fn move_file(from: &Path, to: &Path) -> Result<(), FileError> {
    match publish_file(from, to) {
        Err(error) if error.source.kind() == io::ErrorKind::CrossesDevices => {
            let mut copy = ReplacedFile::create(to)?;
            let mut original = File::open(from).map_err(failed("read", from))?;
            io::copy(&mut original, &mut copy).map_err(failed("write", to))?;
            copy.commit()?;
            std::fs::remove_file(from).map_err(failed("remove", from))
        }
        moved => moved,
    }
}

pub(crate) fn sync_parents(partial: &Path, target: &Path) -> Result<(), FileError> {
    sync_directory(directory_of(target))?;
    if directory_of(partial) != directory_of(target) {
        sync_directory(directory_of(partial))?;
    }
    Ok(())
}

/// Makes the names in a directory durable.
///
/// # Errors
///
/// Why it could not be synced.
pub fn sync_directory(directory: &Path) -> Result<(), FileError> {
    // Elsewhere directories cannot be opened, and renames are the file system's to keep.
    if cfg!(unix) {
        File::open(directory)
            .and_then(|file| file.sync_all())
            .map_err(failed("sync", directory))?;
    }
    Ok(())
}

/// Removes the temporary files of a target that killed processes left behind. Only for whoever alone
/// writes it: another process may be writing one of them.
pub fn remove_leftovers(target: &Path) {
    let Ok(entries) = std::fs::read_dir(directory_of(target)) else { return };
    let beginning = beginning(target);
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_temporary = BESIDE
            .iter()
            .any(|beside| name.strip_suffix(beside).is_some_and(|name| name.ends_with(ENDING)));
        if name.starts_with(&beginning) && is_temporary {
            // What cannot be removed is in nobody's way.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_when_it_is_whole_and_nothing_else_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list.json");
        replace(&path, b"one").unwrap();
        let mut file = ReplacedFile::create(&path).unwrap();
        file.write_all(b"half of tw").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(names(directory.path()).len(), 2);
        drop(file);
        assert_eq!(names(directory.path()), ["list.json"]);
        let mut file = ReplacedFile::create(&path).unwrap();
        file.write_all(b"__two").unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(b"xx").unwrap();
        file.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"xxtwo");
        assert_eq!(names(directory.path()), ["list.json"]);
    }

    #[test]
    fn two_writers_of_one_target_do_not_meet() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        let (mut one, mut other) =
            (ReplacedFile::create(&path).unwrap(), ReplacedFile::create(&path).unwrap());
        one.write_all(b"one").unwrap();
        other.write_all(b"other").unwrap();
        other.commit().unwrap();
        one.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        let (mut one, mut other) =
            (ReplacedFile::create(&path).unwrap(), ReplacedFile::create(&path).unwrap());
        one.write_all(b"one").unwrap();
        other.write_all(b"other").unwrap();
        one.commit_new().unwrap();
        let error = other.commit_new().unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(names(directory.path()), ["list"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_its_owners_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        std::fs::write(&path, "open to all").unwrap();
        let mut file = ReplacedFile::create_private(&path).unwrap();
        file.write_all(b"secret").unwrap();
        file.commit().unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_fails_names_the_target_and_leaves_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("taken");
        std::fs::create_dir_all(path.join("inside")).unwrap();
        let error = replace(&path, b"no file").unwrap_err();
        assert_eq!(error.to_string(), format!("could not write {}", path.display()));
        assert_eq!(names(directory.path()), ["taken"]);
        let nowhere = directory.path().join("no").join("file");
        assert!(replace(&nowhere, b"").unwrap_err().to_string().ends_with("no/file"));
    }

    #[test]
    fn finished_files_and_directories_get_their_names() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        std::fs::write(place("a.partial"), "a").unwrap();
        publish_file(&place("a.partial"), &place("a")).unwrap();
        std::fs::create_dir_all(place("b.partial").join("c")).unwrap();
        rename(&place("b.partial"), &place("b")).unwrap();
        move_file(&place("a"), &place("b").join("c").join("a")).unwrap();
        assert_eq!(names(directory.path()), ["b"]);
        assert_eq!(std::fs::read(place("b").join("c").join("a")).unwrap(), b"a");
        let error = rename(&place("none"), &place("x")).unwrap_err();
        assert_eq!(error.to_string(), format!("could not write {}", place("x").display()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_moves_to_another_file_system() {
        // A file system of its own on every Linux that is not a minimal container.
        let Ok(other) = tempfile::tempdir_in("/dev/shm") else {
            eprintln!("skipped: there is no second file system at /dev/shm");
            return;
        };
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), other.path().join("to"));
        std::fs::write(&from, "content").unwrap();
        std::fs::write(&to, "what was there").unwrap();
        move_file(&from, &to).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"content");
        assert!(!from.exists());
        assert_eq!(names(other.path()), ["to"]);
    }

    #[test]
    fn leftovers_of_a_target_are_removed_and_those_of_others_stay() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list");
        let left = ReplacedFile::create(&path).unwrap().temporary.keep().unwrap().1;
        let log = directory.path().join(".list.abc.partial-wal");
        std::fs::write(&log, "").unwrap();
        let others = [".lists.abc.partial", ".list.abc.partial-notes", "list"];
        let others = others.map(|name| directory.path().join(name));
        others.iter().for_each(|other| std::fs::write(other, "").unwrap());
        remove_leftovers(&path);
        assert!(!left.exists() && !log.exists());
        assert!(others.iter().all(|other| other.exists()));
    }
}
