//! Files that jobs may read: those below the folder `in` of the jobs' directory, and nothing else.
//!
//! A path in a request is not trusted. It has to be relative and to consist of plain names, and after all
//! symbolic links are resolved it must still be below `in`. The same holds for everything in a folder.

use std::path::{Component, Path, PathBuf};

use crate::error::AppError;

/// How deep folders may stand in each other.
const MOST_DEPTH: usize = 32;

/// The folder of inputs below the jobs' directory.
pub(super) const FOLDER: &str = "in";

fn refused(given: &str, why: &'static str) -> AppError {
    AppError::BadInput { input: given.to_owned(), why }
}

/// The files that names mean.
pub(super) fn resolve(directory: &Path, given: &[String]) -> Result<Vec<PathBuf>, AppError> {
    if given.is_empty() {
        return Err(AppError::NoInputs);
    }
    let folder = std::fs::canonicalize(directory.join(FOLDER))
        .map_err(|source| AppError::Io { doing: "find the folder of inputs", source })?;
    given.iter().map(|given| one(&folder, given)).collect()
}

fn one(folder: &Path, given: &str) -> Result<PathBuf, AppError> {
    let path = Path::new(given);
    let is_plain = !given.is_empty()
        && !given.contains(['\0', '\\'])
        && path.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain {
        return Err(refused(given, "is no path below the folder of inputs"));
    }
    let found = std::fs::canonicalize(folder.join(path))
        .map_err(|_| refused(given, "is not in the folder of inputs"))?;
    if !stays_inside(folder, &found, 0) {
        return Err(refused(given, "leads out of the folder of inputs"));
    }
    Ok(found)
}

/// Whether something, and everything in it, is below the folder when links are followed.
fn stays_inside(folder: &Path, path: &Path, depth: usize) -> bool {
    let Ok(real) = std::fs::canonicalize(path) else {
        // A link to nothing is not read.
        return path.is_symlink();
    };
    if !real.starts_with(folder) || depth > MOST_DEPTH {
        return false;
    }
    if !real.is_dir() {
        return real.is_file();
    }
    let Ok(entries) = std::fs::read_dir(&real) else { return false };
    entries.flatten().all(|entry| stays_inside(folder, &entry.path(), depth + 1))
}

/// Names in the folder of inputs, for people to choose from.
pub(super) fn names(directory: &Path, most: usize) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory.join(FOLDER)) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .take(most * 10)
        .collect();
    names.sort();
    names.truncate(most);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(directory: &Path, given: &str) -> bool {
        let resolved = resolve(directory, &[given.to_owned()]);
        matches!(resolved, Err(AppError::BadInput { .. }))
    }

    #[test]
    fn only_what_is_below_the_folder_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let inside = directory.path().join("in/deep");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(inside.join("a.jsonl"), "{}").unwrap();
        std::fs::write(directory.path().join("secret.jsonl"), "{}").unwrap();
        let found = resolve(directory.path(), &["deep/a.jsonl".to_owned()]).unwrap();
        assert_eq!(found, [std::fs::canonicalize(inside.join("a.jsonl")).unwrap()]);
        assert_eq!(resolve(directory.path(), &["deep".to_owned()]).unwrap().len(), 1);
        let absolute = directory.path().join("in/deep/a.jsonl").display().to_string();
        for wrong in [
            "",
            ".",
            "..",
            "../secret.jsonl",
            "deep/../../secret.jsonl",
            "./deep",
            "none.jsonl",
            "/etc/passwd",
            &absolute,
            "deep\\a.jsonl",
            "deep\0",
            "-",
        ] {
            assert!(is_refused(directory.path(), wrong), "{wrong:?}");
        }
        assert!(matches!(resolve(directory.path(), &[]), Err(AppError::NoInputs)));
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_folder_are_refused_wherever_they_stand() {
        use std::os::unix::fs::symlink;
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("in");
        std::fs::create_dir_all(folder.join("deep")).unwrap();
        std::fs::write(folder.join("a.jsonl"), "{}").unwrap();
        std::fs::write(directory.path().join("secret.jsonl"), "{}").unwrap();
        symlink("../secret.jsonl", folder.join("out.jsonl")).unwrap();
        symlink("a.jsonl", folder.join("within.jsonl")).unwrap();
        assert!(is_refused(directory.path(), "out.jsonl"));
        assert!(resolve(directory.path(), &["within.jsonl".to_owned()]).is_ok());
        symlink("/etc", folder.join("deep/etc")).unwrap();
        assert!(is_refused(directory.path(), "deep"));
        std::fs::remove_file(folder.join("deep/etc")).unwrap();
        symlink("..", folder.join("deep/round")).unwrap();
        assert!(is_refused(directory.path(), "deep"), "a circle has no end");
    }
}
