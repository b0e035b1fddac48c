//! What a power cut leaves, built from a recording of a program's file operations.
//!
//! The model is what POSIX promises and no more. What was written to a file is durable once the file was synced; a name
//! that was created, renamed or removed is durable once its directory was synced. Of everything else a cut leaves
//! nothing, all of it, or some of it: a part of the later writes, whole or torn at sectors of 512 bytes, and
//! a beginning of the later changes of names.
//!
//! File systems promise more than this (most keep the order of changes of names), so what survives here
//! survives there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::generate::random::Random;

const SECTOR: usize = 512;

#[derive(Debug)]
enum Operation {
    Create { inode: u64, path: PathBuf },
    Write { inode: u64, offset: usize, bytes: Vec<u8> },
    Truncate { inode: u64, length: usize },
    Sync { inode: u64 },
    Rename { from: PathBuf, to: PathBuf },
    Remove { path: PathBuf },
    MakeDirectory { path: PathBuf },
    SyncDirectory { path: PathBuf },
    Said(Vec<u8>),
}

/// What becomes of changes that were not durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// All are lost.
    All,
    /// Some writes are lost, and some of the last changes of names.
    Some,
    /// As [`Loss::Some`], and writes are torn.
    Torn,
    /// None: as after a kill.
    Nothing,
}

/// A power cut.
#[derive(Clone, Copy, Debug)]
pub struct Cut {
    /// How many operations were made before it.
    pub after: usize,
    /// What is lost.
    pub loss: Loss,
    /// Chooses what of it.
    pub seed: u64,
}

/// The state of a directory, and the operations of one run on it.
#[derive(Debug)]
pub struct Recording {
    root: PathBuf,
    start: Tree,
    /// The inode numbers of the files that were there at the start.
    numbers: HashMap<u64, u64>,
    operations: Vec<Operation>,
}

/// Names and contents; files are named by numbers of our own, because inode numbers are given again.
#[derive(Clone, Debug, Default)]
struct Tree {
    directories: HashSet<PathBuf>,
    names: BTreeMap<PathBuf, u64>,
    files: HashMap<u64, Vec<u8>>,
}

impl Recording {
    /// Notes the state of a directory before a run.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    #[must_use]
    pub fn begin(root: &Path) -> Self {
        let mut recording = Recording {
            root: root.to_owned(),
            start: Tree::default(),
            numbers: HashMap::new(),
            operations: Vec::new(),
        };
        recording.take_directory(root);
        recording
    }

    fn take_directory(&mut self, directory: &Path) {
        use std::os::unix::fs::MetadataExt as _;
        let inside = directory.strip_prefix(&self.root).expect("it is below").to_owned();
        self.start.directories.insert(inside);
        for entry in std::fs::read_dir(directory).expect("the directory can be read") {
            let path = entry.expect("the directory can be read").path();
            if path.is_dir() {
                self.take_directory(&path);
                continue;
            }
            let number = self.start.files.len() as u64;
            let inode = path.metadata().expect("the file is there").ino();
            self.numbers.insert(inode, number);
            let inside = path.strip_prefix(&self.root).expect("it is below").to_owned();
            self.start.names.insert(inside, number);
            self.start.files.insert(number, std::fs::read(&path).expect("it can be read"));
        }
    }

    /// Reads what the layer recorded.
    ///
    /// # Panics
    ///
    /// If the log is not as the layer writes it.
    pub fn read(&mut self, log: &Path) {
        let bytes = std::fs::read(log).expect("the log can be read");
        let mut next = self.start.files.len() as u64;
        let mut at = 0;
        while at < bytes.len() {
            let head: [u64; 5] = std::array::from_fn(|index| {
                let from = at + index * 8;
                u64::from_le_bytes(bytes[from..from + 8].try_into().expect("eight bytes"))
            });
            let [kind, inode, offset, one, two] = head;
            let (one, two) = (one as usize, two as usize);
            let first = &bytes[at + 40..at + 40 + one];
            let second = &bytes[at + 40 + one..at + 40 + one + two];
            at += 40 + one + two;
            let offset = offset as usize;
            if kind == 1 {
                self.numbers.insert(inode, next);
                next += 1;
            }
            let number = || self.numbers.get(&inode).copied();
            self.operations.push(match kind {
                1 => Operation::Create { inode: next - 1, path: self.inside(first) },
                2 => match number() {
                    Some(inode) => Operation::Write { inode, offset, bytes: first.to_vec() },
                    None => panic!("a write to a file that was never created"),
                },
                3 => Operation::Truncate { inode: number().expect("known"), length: offset },
                4 => Operation::Sync { inode: number().expect("known") },
                5 => Operation::Rename { from: self.inside(first), to: self.inside(second) },
                6 => Operation::Remove { path: self.inside(first) },
                7 => Operation::MakeDirectory { path: self.inside(first) },
                8 => Operation::SyncDirectory { path: self.inside(first) },
                9 => Operation::Said(first.to_vec()),
                other => panic!("{other} is no kind of operation"),
            });
        }
    }

    fn inside(&self, path: &[u8]) -> PathBuf {
        let path = PathBuf::from(String::from_utf8(path.to_vec()).expect("test paths are text"));
        path.strip_prefix(&self.root).expect("the layer notes what is below").to_owned()
    }

    /// How many operations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Cuts at random moments, with every kind of loss in turn. The last is after the end.
    #[must_use]
    pub fn cuts(&self, number: usize, seed: u64) -> Vec<Cut> {
        let mut random = Random::new(seed, 1, 0);
        (0..number)
            .map(|at| Cut {
                after: match at + 1 == number {
                    true => self.len(),
                    false => random.below(self.len() as u64 + 1) as usize,
                },
                loss: [Loss::All, Loss::Torn, Loss::Some, Loss::Nothing][at % 4],
                seed: seed ^ at as u64,
            })
            .collect()
    }

    /// What the program had said by then.
    #[must_use]
    pub fn said(&self, cut: Cut) -> Vec<u8> {
        let said = self.operations[..cut.after].iter().filter_map(|operation| match operation {
            Operation::Said(bytes) => Some(bytes.as_slice()),
            _ => None,
        });
        said.collect::<Vec<_>>().concat()
    }

    /// Writes what a power cut leaves into an empty directory.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn leave(&self, cut: Cut, directory: &Path) {
        let tree = self.after(cut);
        let mut directories: Vec<&PathBuf> = tree.directories.iter().collect();
        directories.sort();
        for path in directories.into_iter().filter(|path| !path.as_os_str().is_empty()) {
            let to = directory.join(path);
            // Parents come first; one whose name was lost has nothing below it.
            if to.parent().is_some_and(Path::is_dir) {
                std::fs::create_dir(to).expect("it can be made");
            }
        }
        for (path, number) in &tree.names {
            let to = directory.join(path);
            // The directory's own name was lost.
            if to.parent().is_some_and(Path::is_dir) {
                std::fs::write(to, &tree.files[number]).expect("it can be written");
            }
        }
    }

    fn after(&self, cut: Cut) -> Tree {
        let done = &self.operations[..cut.after];
        let mut random = Random::new(cut.seed, 2, cut.after as u64);
        let mut tree = self.start.clone();
        self.keep_names(done, cut.loss, &mut random, &mut tree);
        keep_contents(done, cut.loss, &mut random, &mut tree);
        tree
    }

    /// Changes of names that are durable or happen to be kept.
    fn keep_names(&self, done: &[Operation], loss: Loss, random: &mut Random, tree: &mut Tree) {
        let synced: HashMap<&Path, usize> = done
            .iter()
            .enumerate()
            .filter_map(|(at, operation)| match operation {
                Operation::SyncDirectory { path } => Some((path.as_path(), at)),
                _ => None,
            })
            .collect();
        let is_durable = |at: usize, path: &Path| {
            path.parent().and_then(|parent| synced.get(parent)).is_some_and(|&synced| synced > at)
        };
        let kept_until = match loss {
            Loss::All => 0,
            Loss::Nothing => done.len(),
            Loss::Some | Loss::Torn => random.below(done.len() as u64 + 1) as usize,
        };
        for (at, operation) in done.iter().enumerate() {
            let keeps = |path: &Path| at < kept_until || is_durable(at, path);
            match operation {
                Operation::Create { inode, path } => {
                    tree.files.insert(*inode, Vec::new());
                    if keeps(path) {
                        tree.names.insert(path.clone(), *inode);
                    }
                }
                Operation::MakeDirectory { path } if keeps(path) => {
                    tree.directories.insert(path.clone());
                }
                Operation::Remove { path } if keeps(path) => {
                    tree.names.remove(path);
                    tree.directories.remove(path);
                }
                Operation::Rename { from, to } if keeps(to) => rename(tree, from, to),
                _ => {}
            }
        }
    }
}

fn rename(tree: &mut Tree, from: &Path, to: &Path) {
    if let Some(number) = tree.names.remove(from) {
        tree.names.insert(to.to_owned(), number);
        return;
    }
    if !tree.directories.contains(from) {
        return;
    }
    let moved = |path: &Path| path.strip_prefix(from).map(|inside| join(to, inside)).ok();
    tree.directories = std::mem::take(&mut tree.directories)
        .into_iter()
        .map(|path| moved(&path).unwrap_or(path))
        .collect();
    tree.names = std::mem::take(&mut tree.names)
        .into_iter()
        .map(|(path, number)| (moved(&path).unwrap_or(path), number))
        .collect();
}

/// Without a slash at the end when `inside` is empty.
fn join(to: &Path, inside: &Path) -> PathBuf {
    if inside.as_os_str().is_empty() { to.to_owned() } else { to.join(inside) }
}

/// Contents that are durable or happen to be kept.
fn keep_contents(done: &[Operation], loss: Loss, random: &mut Random, tree: &mut Tree) {
    let mut synced: HashMap<u64, usize> = HashMap::new();
    for (at, operation) in done.iter().enumerate() {
        if let Operation::Sync { inode } = operation {
            synced.insert(*inode, at);
        }
    }
    for (at, operation) in done.iter().enumerate() {
        let is_durable = |inode: &u64| synced.get(inode).is_some_and(|&synced| synced > at);
        match operation {
            Operation::Write { inode, offset, bytes } => {
                let file = tree.files.entry(*inode).or_default();
                let whole = is_durable(inode) || loss == Loss::Nothing;
                if whole || (loss == Loss::Some && random.below(2) == 0) {
                    write(file, *offset, bytes);
                } else if loss == Loss::Torn {
                    for (sector, part) in sectors(*offset, bytes) {
                        if random.below(2) == 0 {
                            write(file, sector, part);
                        }
                    }
                }
            }
            Operation::Truncate { inode, length } => {
                let keeps = match loss {
                    Loss::All => false,
                    Loss::Nothing => true,
                    Loss::Some | Loss::Torn => random.below(2) == 0,
                };
                if is_durable(inode) || keeps {
                    tree.files.entry(*inode).or_default().resize(*length, 0);
                }
            }
            _ => {}
        }
    }
}

fn write(file: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[offset..end].copy_from_slice(bytes);
}

/// The parts of a write that lie in different sectors, each with its offset.
fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = offset + at;
        let room = (SECTOR - start % SECTOR).min(bytes.len() - at);
        let part = &bytes[at..at + room];
        at += room;
        (!part.is_empty()).then_some((start, part))
    })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::Layer;
    use super::*;

    /// Records a script of the shell.
    fn record(root: &Path, script: &str) -> Recording {
        let mut recording = Recording::begin(root);
        let log = tempfile_beside(root);
        let mut command = Command::new("python3");
        command.args(["-c", script]).current_dir(root);
        Layer::get().record(&mut command, root, &log);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        recording.read(&log);
        recording
    }

    fn tempfile_beside(root: &Path) -> PathBuf {
        root.parent().unwrap().join("log")
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_synced_is_left_and_nothing_else_must_be() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("old"), "before").unwrap();
        let recording = record(
            &root,
            "import os\n\
             f = open('new', 'w'); f.write('x' * 2000); f.flush(); os.fsync(f.fileno())\n\
             print('written', flush=True)\n\
             d = os.open('.', os.O_RDONLY); os.fsync(d)\n\
             f.write('y' * 2000); f.flush()\n\
             os.rename('old', 'renamed')\n",
        );
        let leave = |after: usize, loss: Loss, seed: u64| {
            let to = tempfile::tempdir().unwrap();
            recording.leave(Cut { after, loss, seed }, to.path());
            to
        };
        let end = recording.len();
        let all = leave(end, Loss::All, 0);
        assert_eq!(names(all.path()), ["new", "old"]);
        assert_eq!(std::fs::read(all.path().join("new")).unwrap(), vec![b'x'; 2000]);
        let nothing = leave(end, Loss::Nothing, 0);
        assert_eq!(names(nothing.path()), ["new", "renamed"]);
        assert_eq!(std::fs::read(nothing.path().join("new")).unwrap().len(), 4000);
        // Before the directory was synced the name is not durable, although the file is.
        let said = recording.said(Cut { after: end, loss: Loss::All, seed: 0 });
        assert_eq!(said, b"written\n");
        let before = (0..end)
            .rev()
            .find(|&after| recording.said(Cut { after, loss: Loss::All, seed: 0 }).is_empty());
        assert_eq!(names(leave(before.unwrap(), Loss::All, 0).path()), ["old"]);
        let torn: HashSet<Vec<u8>> = (0..40)
            .map(|seed| std::fs::read(leave(end, Loss::Torn, seed).path().join("new")).unwrap())
            .collect();
        assert!(torn.len() > 4, "{}", torn.len());
        assert!(torn.iter().all(|bytes| bytes.starts_with(&[b'x'; 2000])));
    }
}
