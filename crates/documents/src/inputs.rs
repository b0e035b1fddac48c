//! Finds the input files: paths and folders become numbered files with unique names.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{InputError, io};
use crate::fields::FieldNames;
use crate::formats::read_field_names;
use crate::limits::Limits;
use crate::name_text::{name_text, write_name};
use crate::open::STANDARD_INPUT;

/// One file of the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// Where it is.
    #[serde(serialize_with = "write_name")]
    pub path: PathBuf,
    /// Its name relative to what was asked for, different from those of all other files: where its
    /// kept rows go. Empty for what has none, such as standard input on its way into a store.
    #[serde(serialize_with = "write_name")]
    pub name: PathBuf,
    /// Its size when the run began.
    pub bytes: u64,
    /// When it was changed last, in nanoseconds since 1970.
    pub modified: u128,
}

impl InputFile {
    /// Where it is, as text that differs for different paths.
    #[must_use]
    pub fn path_text(&self) -> Cow<'_, str> {
        name_text(&self.path)
    }

    /// What a row is called that has neither id nor address; empty if the file has no name.
    #[must_use]
    pub(crate) fn row_name(&self, row: u64) -> String {
        match name_text(&self.name) {
            name if name.is_empty() => String::new(),
            name => format!("{name}:{row}"),
        }
    }
}

/// A row, or a whole file, that is no document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The input.
    pub file: String,
    /// The row, counted from one; none where the rest of the file is meant.
    pub row: Option<u64>,
    /// What is wrong with it, to stand behind its name.
    pub why: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => write!(f, "{}:{row} {}", self.file, self.why),
            None => write!(f, "{} {}", self.file, self.why),
        }
    }
}

/// What is read, and how.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The files, in order.
    pub files: Vec<InputFile>,
    /// Files in folders that are of no known kind, links to folders, pipes and devices.
    pub unknown: Vec<PathBuf>,
    /// Which field of a row means what.
    pub fields: FieldNames,
    /// Whether a row that is no document ends the run.
    pub strict: bool,
    /// Where a compressed Parquet file is unpacked while it is read. The unpacked file has no name,
    /// so that nothing is left of it however the run ends.
    pub unpack: PathBuf,
    /// How much of a file may be held in memory.
    pub limits: Limits,
}

impl Inputs {
    /// Finds the files: a folder stands for the files in it, in the order of their names, at any
    /// depth; hidden ones are left out. Links to folders are not followed, because they may lead in circles
    /// or elsewhere, and pipes in folders are not opened, because nobody may ever write to them. `-` is
    /// standard input, which can be read once.
    ///
    /// # Errors
    ///
    /// If a path does not exist or cannot be looked at.
    pub fn find(paths: &[PathBuf], fields: FieldNames) -> Result<Inputs, InputError> {
        let mut inputs = Inputs {
            files: Vec::new(),
            unknown: Vec::new(),
            fields,
            strict: false,
            unpack: std::env::temp_dir(),
            limits: Limits::default(),
        };
        for path in paths {
            if path.as_os_str() == "-" {
                let (path, name) = (path.clone(), STANDARD_INPUT.into());
                inputs.files.push(InputFile { path, name, bytes: 0, modified: 0 });
                continue;
            }
            let metadata = std::fs::metadata(path).map_err(io("open", path))?;
            if metadata.is_dir() {
                inputs.add_folder(path, path)?;
            } else {
                let name = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
                inputs.add_file(path, name)?;
            }
        }
        let mut names = OutputNames::default();
        for (number, file) in (1..).zip(&mut inputs.files) {
            file.name = names.take(&file.name, number);
        }
        Ok(inputs)
    }

    fn add_folder(&mut self, top: &Path, folder: &Path) -> Result<(), InputError> {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(io("read", folder))? {
            paths.push(entry.map_err(io("read", folder))?.path());
        }
        paths.sort();
        for path in paths {
            let hidden =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if hidden {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                self.add_folder(top, &path)?;
            } else if path.is_file() && is_known(&path) {
                let name = path.strip_prefix(top).unwrap_or(&path).to_owned();
                self.add_file(&path, name)?;
            } else {
                self.unknown.push(path);
            }
        }
        Ok(())
    }

    fn add_file(&mut self, path: &Path, name: PathBuf) -> Result<(), InputError> {
        let metadata = std::fs::metadata(path).map_err(io("open", path))?;
        let modified = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |time| time.as_nanos());
        self.files.push(InputFile { path: path.to_owned(), name, bytes: metadata.len(), modified });
        Ok(())
    }

    /// The same files, called by their paths as they were given.
    #[must_use]
    pub fn named_by_path(mut self) -> Inputs {
        for file in &mut self.files {
            if file.path.as_os_str() != "-" {
                file.name = file.path.clone();
            }
        }
        self
    }

    /// The names of the fields of the first row: of the first file that holds rows. Standard input and
    /// pipes are not looked at, because they can be read only once.
    #[must_use]
    pub fn first_fields(&self) -> Vec<String> {
        self.files
            .iter()
            .filter(|file| file.path.is_file())
            .filter_map(|file| read_field_names(&file.path, &self.unpack, self.limits))
            .next()
            .unwrap_or_default()
    }

    /// The bytes of all files as they lie on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// Names of files in one folder: no two are the same, and none is a folder that another needs.
#[derive(Debug, Default)]
struct OutputNames {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
}

impl OutputNames {
    /// Takes a name, or the first free one of that name in a folder `number`, `number + 1`, ...
    fn take(&mut self, name: &Path, number: usize) -> PathBuf {
        let numbered = (number..).map(|number| Path::new(&number.to_string()).join(name));
        let mut free = [name.to_owned()].into_iter().chain(numbered).filter(|name| {
            let mut folders = name.ancestors().skip(1);
            let is_folder = self.folders.contains(name);
            !is_folder && !self.files.contains(name) && folders.all(|one| !self.files.contains(one))
        });
        let taken = free.next().expect("there are more numbers than names");
        drop(free);
        self.folders.extend(taken.ancestors().skip(1).map(Path::to_owned));
        self.files.insert(taken.clone());
        taken
    }
}

/// Endings of files that are taken from folders; `.gz` and `.zst` may follow.
const KNOWN: [&str; 13] = [
    "parquet", "jsonl", "ndjson", "json", "csv", "tsv", "txt", "text", "md", "html", "htm",
    "xhtml", "warc",
];

fn is_known(path: &Path) -> bool {
    let Some(name) = path.file_name() else { return false };
    let name = name.to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    Path::new(name).extension().is_some_and(|ending| KNOWN.iter().any(|known| ending == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str], given: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let given: Vec<_> = given.iter().map(|path| folder.path().join(path)).collect();
        let inputs = Inputs::find(&given, FieldNames::default()).unwrap();
        inputs.files.iter().map(|file| file.name.display().to_string()).collect()
    }

    #[test]
    fn folders_are_read_in_order_and_what_is_hidden_or_unknown_is_not() {
        let files = ["d/b.txt", "d/a/c.jsonl.gz", "d/.hidden.txt", "d/picture.png"];
        assert_eq!(names(&files, &["d"]), ["a/c.jsonl.gz", "b.txt"]);
    }

    #[test]
    fn no_two_files_have_one_name() {
        let files = ["d/3/a.jsonl", "x/a.jsonl", "y/a.jsonl"];
        let found = names(&files, &["d", "x/a.jsonl", "y/a.jsonl"]);
        assert_eq!(found, ["3/a.jsonl", "a.jsonl", "4/a.jsonl"]);
    }

    #[test]
    fn output_names_are_unique_and_none_is_the_folder_of_another() {
        let mut names = OutputNames::default();
        let taken: Vec<String> = [
            ("3/a.jsonl", "3/a.jsonl"),
            ("a.jsonl", "a.jsonl"),
            ("a.jsonl", "4/a.jsonl"),
            ("a.jsonl", "5/a.jsonl"),
            ("4/a.jsonl", "5/4/a.jsonl"),
            ("a.jsonl/b.txt", "6/a.jsonl/b.txt"),
            ("3", "7/3"),
        ]
        .into_iter()
        .zip(1..)
        .map(|((name, expected), number)| {
            assert_eq!(names.take(Path::new(name), number), Path::new(expected));
            expected.to_owned()
        })
        .collect();
        for (at, one) in taken.iter().enumerate() {
            let one = Path::new(one);
            assert!(
                taken[..at]
                    .iter()
                    .all(|other| { !one.starts_with(other) && !Path::new(other).starts_with(one) })
            );
        }
    }
}
