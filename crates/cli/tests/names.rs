//! Files and documents with names that nobody gives by accident: every one is read, nothing is written elsewhere, and no
//! name reaches the terminal as a command to it by way of a message.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use support::{Files, command, json_lines, stderr, stdout};
use wonbon_store::{Store, StoreError};

/// What names are made of.
const FRAGMENTS: [&[u8]; 34] = [
    b"\n",
    b"\r\n",
    b"\t",
    b"\x1b[2J",
    b"\x07",
    b"\x7f",
    b"\x01",
    b"\xff",
    b"\xfe",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    "\u{202e}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{2028}".as_bytes(),
    b" ",
    b"..",
    b"...",
    b"-rf",
    b"--help",
    b"~",
    b"$HOME",
    b"`id`",
    b";|&",
    b"'",
    b"\"",
    b"\\",
    b"%2e%2e%2f",
    b"%00",
    b"<script>",
    b"*?[a]",
    b"#",
    b":",
    "e\u{301}".as_bytes(),
    "\u{e9}".as_bytes(),
];

fn names() -> Vec<OsString> {
    let mut names: Vec<Vec<u8>> = Vec::new();
    for fragment in FRAGMENTS {
        names.push([fragment, b"x.txt"].concat());
        names.push([b"a", fragment, b"b.txt"].concat());
        names.push([b"d", fragment, b"/f.txt"].concat());
    }
    names.extend([
        b"lock".to_vec(),
        b".wonbon-partial".to_vec(),
        b"nul".to_vec(),
        b"con.txt".to_vec(),
    ]);
    names.push([b"n".repeat(251), b".txt".to_vec()].concat());
    names.into_iter().map(OsString::from_vec).collect()
}

fn text(number: usize) -> String {
    let words = (0..40).map(|at| format!("n{number}w{at}"));
    words.collect::<Vec<_>>().join(" ")
}

/// Everything below a directory.
fn list(directory: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            list(&path, found);
        }
        found.insert(path);
    }
}

/// Nothing in the messages moves a cursor, rings a bell or turns the line around.
fn check_said(said: &[u8]) {
    let said = String::from_utf8_lossy(said);
    let commands = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    if let Some(line) = said.lines().find(|line| line.contains(commands)) {
        panic!("it reaches the terminal: {line:?}");
    }
}

#[test]
fn files_of_every_name_are_read_and_nothing_is_written_elsewhere() {
    let files = Files::new();
    let input = files.path().join("in");
    let names = names();
    for (number, name) in names.iter().enumerate() {
        let path = input.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text(number)).unwrap();
    }
    // What is no file: a loop, a way out, a pipe.
    std::os::unix::fs::symlink(&input, input.join("loop")).unwrap();
    std::os::unix::fs::symlink("/etc", input.join("out")).unwrap();
    assert!(Command::new("mkfifo").arg(input.join("pipe.txt")).status().unwrap().success());
    // Hidden files, and those of no known kind, are passed over.
    let is_taken = |name: &OsString| {
        let name = name.as_encoded_bytes();
        !name.starts_with(b".") && name.ends_with(b".txt")
    };
    let taken = names.iter().enumerate().filter(|(_, name)| is_taken(name));
    let expected: BTreeSet<String> = taken.map(|(number, _)| text(number)).collect();
    assert!(expected.len() > 90);

    let input = input.to_str().unwrap();
    let store = files.path().join("store");
    let output =
        command(&["--store", store.to_str().unwrap(), "add", input, "-v"]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    check_said(&output.stderr);
    let opened = Store::open(&store).unwrap();
    let mut stored = BTreeSet::new();
    opened
        .for_each::<StoreError>(|document| {
            stored.insert(document.text);
            Ok(())
        })
        .unwrap();
    let lost: Vec<_> = expected.difference(&stored).collect();
    assert!(lost.is_empty(), "{} are lost: {lost:?}\n{}", lost.len(), stderr(&output));
    assert_eq!(stored.len(), expected.len(), "something else was read");

    let out = files.path().join("results");
    let mut before = BTreeSet::new();
    list(files.path(), &mut before);
    let output = command(&["dedup", input, "-o", out.to_str().unwrap()]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", stderr(&output));
    check_said(&output.stderr);
    let mut after = BTreeSet::new();
    list(files.path(), &mut after);
    let elsewhere: Vec<_> =
        after.difference(&before).filter(|path| !path.starts_with(&out)).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
    let kept: BTreeSet<String> = after
        .iter()
        .filter(|path| path.starts_with(out.join("kept")) && path.is_file())
        .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
        .collect();
    let missing = expected.iter().filter(|text| !kept.iter().any(|kept| kept.contains(*text)));
    assert_eq!(missing.count(), 0);
}

#[test]
fn documents_of_every_name_come_back() {
    let files = Files::new();
    let keys: Vec<String> = FRAGMENTS
        .iter()
        .filter_map(|fragment| std::str::from_utf8(fragment).ok())
        .flat_map(|fragment| [fragment.to_owned(), format!("a{fragment}b")])
        .chain(["../../../etc/passwd".to_owned(), "a\0b".to_owned(), "k".repeat(4096)])
        .collect();
    let rows: String = keys
        .iter()
        .enumerate()
        .map(|(number, key)| {
            let title = format!("title {key}");
            format!("{}\n", json!({"id": key, "title": title, "text": text(number)}))
        })
        .collect();
    let input = files.write("in.jsonl", rows);
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let output = command(&["--store", &store, "add", &input, "-v"]).output().unwrap();
    check_said(&output.stderr);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("NUL"), "{said}");
    // A key of blanks is none, one with a NUL is refused; every other one is a document.
    let output = command(&["--store", &store, "export"]).output().unwrap();
    let exported: BTreeSet<String> = json_lines(stdout(&output))
        .iter()
        .map(|row| row["text"].as_str().unwrap().to_owned())
        .collect();
    for (number, key) in keys.iter().enumerate() {
        let is_there = exported.contains(&text(number));
        assert!(is_there || key.trim().is_empty() || key.contains('\0'), "{key:?} is lost");
        if !is_there {
            continue;
        }
        let first = text(number).split(' ').next().unwrap().to_owned();
        for arguments in [
            &["get", "--", key.as_str()][..],
            &["search", &first],
            &["similar", "--", key],
            &["copies", "--", key],
        ] {
            if number % 5 > 0 && arguments[0] != "get" {
                continue;
            }
            let arguments = [&["--store", &store][..], arguments].concat();
            let output = command(&arguments).output().unwrap();
            check_said(&output.stderr);
        }
    }
}
