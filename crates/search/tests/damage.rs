//! Damage is noticed and never answered from; a process that dies leaves the last commit.
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use wonbon_search::{
    Opened, Page, Query, Rebuilt, SearchConfig, SearchDocument, SearchError, SearchIndex,
    SearchReader,
};

const IDENTITY: &str = "damage";

fn open(dir: &Path) -> Opened {
    SearchIndex::open(dir, IDENTITY, &SearchConfig::default()).unwrap()
}

fn text(row: u32) -> String {
    format!("문서 {row} word{row} 漢字 common {}", "filler ".repeat(row as usize % 50))
}

fn put(index: &mut SearchIndex, row: u32) {
    index.put(&SearchDocument { row, text: &text(row), ..Default::default() }).unwrap();
}

/// An index of several segments, one with deletions.
fn filled(dir: &Path) {
    let mut index = open(dir).index;
    for row in 0..300 {
        put(&mut index, row);
        if row % 100 == 99 {
            index.commit(u64::from(row)).unwrap();
        }
    }
    index.remove(5).unwrap();
    index.commit(300).unwrap();
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|file| !file.file_name().unwrap().to_str().unwrap().ends_with(".lock"))
        .collect();
    files.sort();
    files
}

fn copied(from: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files(from) {
        fs::copy(&file, dir.path().join(file.file_name().unwrap())).unwrap();
    }
    dir
}

/// What must hold of any directory: opening works, and gives all of the commit or nothing of it.
fn whole_or_wiped(dir: &Path, what: &str) -> bool {
    let reader = SearchReader::open(dir, IDENTITY);
    if let Ok(Some(reader)) = &reader {
        assert_eq!(reader.mark(), 300, "{what}");
        assert_eq!(reader.documents(), 299, "{what}");
    }
    let opened = open(dir);
    if opened.rebuilt.is_some() {
        assert!(matches!(opened.rebuilt, Some(Rebuilt::Damaged { .. })), "{what}");
        assert!(!matches!(reader, Ok(Some(_))), "{what}: the reader noticed nothing");
        assert_eq!((opened.mark, opened.index.documents()), (0, 0), "{what}");
        return false;
    }
    assert_eq!((opened.mark, opened.index.documents()), (300, 299), "{what}");
    let found = opened
        .index
        .reader()
        .search(&Query::parse("common 문서 漢").unwrap(), Page { offset: 0, limit: 0 });
    assert_eq!(found.unwrap().total, 299, "{what}");
    true
}

#[test]
fn a_flipped_bit_anywhere_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let mut noticed = 0;
    for (number, file) in files(dir.path()).into_iter().enumerate() {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let length = fs::metadata(&file).unwrap().len() as usize;
        for part in 0..4 {
            // Both ends and two places between, which differ from file to file.
            let at = match part {
                0 => 0,
                3 => length - 1,
                _ => (part * 7_919 + number * 104_729) % length,
            };
            let damaged = copied(dir.path());
            let path = damaged.path().join(&name);
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= 1 << (number % 7);
            fs::write(&path, bytes).unwrap();
            let what = format!("{name}, byte {at} of {length}");
            let whole = whole_or_wiped(damaged.path(), &what);
            noticed += usize::from(!whole);
            // The lists of files hold more than the commit; what a segment is made of has no spare bytes.
            assert!(!whole || name.ends_with(".json"), "{what}: not noticed");
        }
    }
    assert!(noticed > 50);
}

#[test]
fn a_missing_cut_or_empty_file_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    for file in files(dir.path()) {
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        let spare = name == ".managed.json";
        let damaged = copied(dir.path());
        fs::remove_file(damaged.path().join(&name)).unwrap();
        assert!(!whole_or_wiped(damaged.path(), &format!("{name} removed")) || spare);
        for length in [0, 3, 7] {
            let damaged = copied(dir.path());
            let bytes = fs::read(&file).unwrap();
            fs::write(damaged.path().join(&name), &bytes[..bytes.len() * length / 8]).unwrap();
            assert!(!whole_or_wiped(damaged.path(), &format!("{name} cut to {length}/8")));
        }
    }
}

#[test]
fn a_rebuilt_index_is_as_good_as_new() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    fs::write(dir.path().join("meta.json"), "").unwrap();
    let error = SearchReader::open(dir.path(), IDENTITY).err().unwrap();
    assert!(matches!(error, SearchError::Damaged { .. }), "{error}");
    let mut opened = open(dir.path());
    assert!(matches!(opened.rebuilt, Some(Rebuilt::Damaged { .. })));
    put(&mut opened.index, 1);
    opened.index.commit(1).unwrap();
    drop(opened.index);
    let opened = open(dir.path());
    assert_eq!((opened.mark, opened.rebuilt, opened.index.documents()), (1, None, 1));
}

/// Not a test of its own: what the other two start as another process. Commits 10 documents at a time,
/// tells each mark when it is durable, and goes on until it is ended or has nothing more to read.
#[test]
fn child_process() {
    let Ok(dir) = std::env::var("WONBON_SEARCH_CHILD") else { return };
    let stepwise = std::env::var("WONBON_SEARCH_STEPWISE").is_ok();
    let mut opened = open(Path::new(&dir));
    let mut row = opened.mark as u32;
    let mut told = std::io::stdout();
    let mut lines = std::io::stdin().lines();
    loop {
        if stepwise && lines.next().is_none() {
            return;
        }
        for _ in 0..10 {
            put(&mut opened.index, row);
            row += 1;
        }
        opened.index.commit(u64::from(row)).unwrap();
        writeln!(told, "\nmark {row}").unwrap();
        told.flush().unwrap();
    }
}

fn start_child(dir: &Path, stepwise: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["child_process", "--exact", "--nocapture"]).env("WONBON_SEARCH_CHILD", dir);
    if stepwise {
        command.env("WONBON_SEARCH_STEPWISE", "1");
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn marks(child: &mut Child) -> impl Iterator<Item = u32> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    lines.filter_map(|line| line.strip_prefix("mark ").map(|mark| mark.parse().unwrap()))
}

#[test]
fn a_killed_writer_leaves_the_last_commit() {
    let dir = tempfile::tempdir().unwrap();
    let mut before = 0;
    for round in 0..12_u32 {
        let mut child = start_child(dir.path(), false);
        let mut marks = marks(&mut child);
        // Some commits, then a moment that differs from round to round.
        let told = (&mut marks).take(1 + round as usize % 4).last().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(u64::from(round) * 700));
        child.kill().unwrap();
        child.wait().unwrap();
        let told = marks.last().unwrap_or(told);

        let opened = open(dir.path());
        assert_eq!(opened.rebuilt, None);
        let mark = opened.mark as u32;
        assert!(mark >= told, "mark {told} was told, {mark} is there");
        assert!(mark > before && mark.is_multiple_of(10));
        let rows: Vec<u32> = (0..mark).collect();
        assert_eq!(opened.index.reader().rows().unwrap(), rows);
        before = mark;
    }
}

#[test]
fn a_reader_sees_the_commits_of_another_process() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let reader = SearchReader::open(dir.path(), IDENTITY).unwrap().unwrap();
    let mut child = start_child(dir.path(), true);
    let mut steps = child.stdin.take().unwrap();
    let mut marks = marks(&mut child);
    for step in 1..=20_u32 {
        writeln!(steps, "on").unwrap();
        assert_eq!(marks.next(), Some(step * 10));
        let query = Query::parse("common").unwrap();
        let found = reader.search(&query, Page { offset: 0, limit: 1_000 }).unwrap();
        assert_eq!((found.total, reader.mark()), (u64::from(step) * 10, u64::from(step) * 10));
        assert!(!reader.refresh().unwrap() || reader.mark() == u64::from(step) * 10);
    }
    drop(steps);
    assert!(child.wait().unwrap().success());
}
