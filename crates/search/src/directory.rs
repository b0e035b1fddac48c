//! The files of the search index: a directory without locks for readers, checksums, and wiping.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::index::SegmentComponent;
use tantivy::{Index, IndexMeta};

use crate::error::SearchError;

/// The file that names the segments of the last commit; replaced as a whole at each commit.
pub(crate) const META: &str = "meta.json";

/// A directory for reading alone: it writes nothing, and locks nothing either, so that a reader that
/// hangs cannot hold up the writer. The price is that files may vanish while a commit is being opened;
/// the reader then looks again.
#[derive(Clone, Debug)]
pub(crate) struct ReadOnlyDirectory(MmapDirectory);

impl ReadOnlyDirectory {
    pub(crate) fn open(dir: &Path) -> tantivy::Result<ReadOnlyDirectory> {
        Ok(ReadOnlyDirectory(MmapDirectory::open(dir)?))
    }
}

fn refused() -> io::Error {
    io::Error::from(io::ErrorKind::ReadOnlyFilesystem)
}

impl Directory for ReadOnlyDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let (io_error, filepath) = (Arc::new(refused()), path.to_owned());
        Err(DeleteError::IoError { io_error, filepath })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(refused(), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(refused())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

/// Reads every file of the commit and compares it with the checksum at its end.
pub(crate) fn verify_checksums(
    dir: &Path,
    index: &Index,
    meta: &IndexMeta,
) -> Result<(), SearchError> {
    let components = [
        SegmentComponent::Postings,
        SegmentComponent::Positions,
        SegmentComponent::FastFields,
        SegmentComponent::FieldNorms,
        SegmentComponent::Terms,
        SegmentComponent::Store,
        SegmentComponent::Delete,
    ];
    for segment in &meta.segments {
        for component in components.clone() {
            if matches!(component, SegmentComponent::Delete) && !segment.has_deletes() {
                continue;
            }
            let file = segment.relative_path(component);
            let right = index.directory().validate_checksum(&file);
            let right = right.map_err(|error| SearchError::engine("verify", dir, error.into()))?;
            if !right {
                let what = format!("the checksum of {} is wrong", file.display());
                return Err(SearchError::Damaged { path: dir.to_owned(), what });
            }
        }
    }
    Ok(())
}

/// The files of an index in `dir`, locks excepted. A file that no index makes is none of our business.
pub(crate) fn index_files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && is_index_file(&name) {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// `meta.json`, `.managed.json`, and what starts with the 32 digits of a segment.
fn is_index_file(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let segment = name.split_once('.').map_or("", |(segment, _)| segment);
    name == META
        || name == ".managed.json"
        || segment.len() == 32 && segment.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Removes the files of an index.
pub(crate) fn wipe(dir: &Path) -> io::Result<()> {
    let mut files = index_files(dir)?;
    // The list of the rest goes first: a wipe that is interrupted leaves no index that looks whole.
    files.sort_by_key(|file| file.file_name() != Some(OsStr::new(META)));
    files.iter().try_for_each(std::fs::remove_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wiping_leaves_what_no_index_makes() {
        let dir = tempfile::tempdir().unwrap();
        let segment = "0123456789abcdef0123456789abcdef";
        let ours = [META.to_owned(), ".managed.json".to_owned(), format!("{segment}.12.del")];
        let theirs = ["notes.txt", "meta.json.bak", "0123.idx", ".tantivy-writer.lock"];
        for name in ours.iter().map(String::as_str).chain(theirs) {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        std::fs::create_dir(dir.path().join(format!("{segment}.dir"))).unwrap();
        wipe(dir.path()).unwrap();
        assert!(ours.iter().all(|name| !dir.path().join(name).exists()));
        assert!(theirs.iter().all(|name| dir.path().join(name).exists()));
    }
}
