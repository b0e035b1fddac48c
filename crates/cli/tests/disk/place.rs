//! What tests of disks share: documents, a directory below which files fail, and what is looked at afterwards.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wonbon_store::Store;
use wonbon_testkit::disk::{Cut, Layer, Recording};

use crate::support::{command, json_lines, stderr};

/// Two documents in three are alone, the others copies of each other.
pub(crate) fn text(number: u64) -> String {
    let about = if number.is_multiple_of(3) { number % 2 } else { 10 + number };
    let words = (0..50).map(|at| format!("w{}", (about * 7919 + at * at * 31) % 4099));
    words.collect::<Vec<_>>().join(" ")
}

pub(crate) fn rows(numbers: std::ops::Range<u64>) -> String {
    let row = |number| {
        let created = format!("2020-01-{:02}", number % 28 + 1);
        json!({"id": format!("d{number}"), "created": created, "text": text(number)})
    };
    numbers.map(|number| format!("{}\n", row(number))).collect()
}

/// A directory that is recorded, and a place beside it for what is not.
pub(crate) struct Place {
    folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // As the system says it, so that the layer recognises it.
        let root = folder.path().canonicalize().unwrap().join("root");
        std::fs::create_dir(&root).unwrap();
        Place { folder, root }
    }

    pub(crate) fn beside(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn inside(&self, name: &str) -> String {
        self.root.join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.folder.path().join("operations")
    }

    /// Runs a command under the layer.
    pub(crate) fn record(&self, arguments: &[&str]) {
        let mut command = command(arguments);
        Layer::get().record(&mut command, &self.root, &self.log());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
    }

    /// Puts in the directory what a cut leaves.
    pub(crate) fn cut(&self, recording: &Recording, cut: Cut) {
        std::fs::remove_dir_all(&self.root).unwrap();
        std::fs::create_dir(&self.root).unwrap();
        recording.leave(cut, &self.root);
    }
}

/// All files below a directory with their sizes.
pub(crate) fn list(directory: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(list(&path)),
            false => drop(found.insert(path.clone(), path.metadata().unwrap().len())),
        }
    }
    found
}

/// Documents that were acknowledged in lines of JSON.
pub(crate) fn acknowledged(said: &[u8]) -> Vec<u64> {
    let said = String::from_utf8_lossy(said);
    let whole = said.rfind('\n').map_or("", |end| &said[..=end]);
    let key = |row: &Value| row["key"].as_str().map(|key| key[1..].parse().unwrap());
    json_lines(whole).iter().filter_map(key).collect()
}

pub(crate) fn verify(store: &Store) {
    let verified = store.verify().unwrap();
    assert_eq!(verified.differences, 0, "{:?}", verified.first);
}

/// Copies a directory to a place where nothing is.
pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(std::fs::copy(&path, &target).unwrap()),
        }
    }
}
