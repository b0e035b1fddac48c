//! What the tests of the program share: running it and writing down what it did.

#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the program.
pub(crate) fn wonbon(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// The program with its arguments, not yet started.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wonbon"));
    command.args(arguments).env_remove("WONBON_STORE").env("NO_COLOR", "1");
    command
}

/// Runs the program with something on its standard input.
pub(crate) fn wonbon_reading(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || {
        // The program may end without reading all of it.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
}

/// Standard output as text.
pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// Standard error as text.
pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Lines of JSON.
pub(crate) fn json_lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The one line of JSON that a successful run printed.
pub(crate) fn json(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    let lines = json_lines(stdout(output));
    assert_eq!(lines.len(), 1);
    lines.into_iter().next().unwrap()
}

/// Exit code, standard output and standard error in one text; times taken and the path of the
/// directory are taken out.
pub(crate) fn transcript(output: &Output, directory: Option<&Path>) -> String {
    let mut transcript = format!("exit code {}\n", output.status.code().unwrap());
    for (name, text) in [("stdout", stdout(output)), ("stderr", stderr(output))] {
        writeln!(transcript, "--- {name}").unwrap();
        for line in text.lines() {
            let mut words: Vec<&str> = line.split(' ').collect();
            for at in 1..words.len() {
                if words[at] == "microseconds." {
                    words[at - 1] = "[time]";
                }
            }
            writeln!(transcript, "{}", words.join(" ")).unwrap();
        }
    }
    match directory {
        Some(directory) => transcript.replace(directory.to_str().unwrap(), "[dir]"),
        None => transcript,
    }
}

/// A directory for one test, with files in it.
pub(crate) struct Files {
    directory: tempfile::TempDir,
}

impl Files {
    pub(crate) fn new() -> Self {
        Files { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file; gives its path.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path: PathBuf = self.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}
