//! Files and directories for their owner only, and directories whose names are durable.
//!
//! Stores, backups, jobs and tokens hold what others may not read. Whatever we create for them gets the
//! mode 0700 or 0600. The mode of what exists already is the choice of whoever made it and is never
//! changed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::path::Path;

use crate::FileError;
use crate::replace::{directory_of, failed, sync_directory};

/// Creates a directory with those above it that are missing, each for its owner only. One that exists
/// stays as it is. Their names are durable afterwards.
///
/// # Errors
///
/// Why it could not be created.
pub fn create_private_directory(path: &Path) -> Result<(), FileError> {
    create_directory(path, true, true)
}

/// Creates a directory with those above it that are missing, with the usual modes. Their names are durable
/// afterwards.
///
/// # Errors
///
/// Why it could not be created.
pub fn create_directory_durably(path: &Path) -> Result<(), FileError> {
    create_directory(path, true, false)
}

/// Creates a directory for its owner only, where there is none.
///
/// # Errors
///
/// Why it could not be created: something is there, or the directory above is missing.
pub fn create_new_private_directory(path: &Path) -> Result<(), FileError> {
    create_directory(path, false, true)
}

fn create_directory(path: &Path, recursive: bool, is_private: bool) -> Result<(), FileError> {
    // A file that is synced is lost all the same if the name of a directory above it was not.
    let above = path.ancestors().take_while(|above| !above.as_os_str().is_empty());
    let missing = above.take_while(|above| above.symlink_metadata().is_err()).count();
    let mut builder = DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    if is_private {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(path).map_err(failed("make", path))?;
    path.ancestors().take(missing).try_for_each(|made| sync_directory(directory_of(made)))
}

/// Creates an empty file for its owner only, for whoever opens it by its name, SQLite say. No file may
/// be there.
///
/// # Errors
///
/// Why it could not be created.
pub fn create_private_file(path: &Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    make_private(&mut options);
    options.open(path).map_err(failed("make", path))
}

/// A file that is created by these options is for its owner only.
pub(crate) fn make_private(options: &mut OpenOptions) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    #[cfg(not(unix))]
    let _ = options;
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn what_is_created_is_private_and_what_exists_keeps_its_mode() {
        let top = tempfile::tempdir().unwrap();
        let there = top.path().join("there");
        std::fs::create_dir(&there).unwrap();
        std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o755)).unwrap();
        let deep = there.join("one").join("two");
        create_private_directory(&deep).unwrap();
        create_private_directory(&there).unwrap();
        assert_eq!([mode(&there), mode(&there.join("one")), mode(&deep)], [0o755, 0o700, 0o700]);
        let error = create_new_private_directory(&deep).unwrap_err();
        assert_eq!(error.source.kind(), std::io::ErrorKind::AlreadyExists);
        create_new_private_directory(&deep.join("three")).unwrap();
        assert_eq!(mode(&deep.join("three")), 0o700);
        let file = deep.join("file");
        create_private_file(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        let error = create_private_file(&file).unwrap_err();
        assert_eq!(error.source.kind(), std::io::ErrorKind::AlreadyExists);
    }
}
