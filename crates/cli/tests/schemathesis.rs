//! Calls made up from `/v1/openapi.json` by schemathesis, against the program itself over a store with
//! documents, families, sweeps and a watched one: whatever is asked, the answer is no server error.
//!
//! `scripts/test.sh` fetches schemathesis; without it the test says that it was skipped.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stderr, reason = "what was skipped is told")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use support::{Files, command, stderr, wonbon};

/// Made-up calls for each operation.
const EXAMPLES: &str = "20";

/// Ends with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn post(address: &str, path: &str, kind: &str, body: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");
    answer
}

/// Two sweeps of a few pages, some of which copy each other or change, and one that is watched.
fn fill(address: &str) {
    let text = |about: u64| -> String {
        (0..60).map(|at| format!("w{} ", (at * 7 + about * 13) % 977 + about * 1000)).collect()
    };
    for (sweep, edit) in [("2026-11-01", "before"), ("2026-11-08", "after")] {
        let lines: Vec<String> = (0..30_u64)
            .map(|number| {
                let changed = if number == 3 { edit } else { "" };
                let document = json!({
                    "url": format!("https://site{}.example/{number}", number % 4),
                    "title": format!("Page {number}"),
                    "text": text(number % 12) + changed,
                });
                document.to_string()
            })
            .collect();
        let path = format!("/v1/documents?sweep={sweep}");
        post(address, &path, "application/x-ndjson", &lines.join("\n"));
    }
    let watched = json!({"key": "https://site0.example/0"}).to_string();
    post(address, "/v1/watch", "application/json", &watched);
}

#[test]
fn no_made_up_call_is_a_server_error() {
    let named = std::env::var_os("WONBON_TOOLS").map(PathBuf::from);
    let tools = named.clone().unwrap_or_else(|| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools"))
    });
    let schemathesis = tools.join("python/bin/schemathesis");
    if !schemathesis.exists() {
        let missing = format!("there is no {}", schemathesis.display());
        assert!(named.is_none(), "{missing}");
        eprintln!("skipped: {missing}");
        return;
    }
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let backups = files.path().join("backups").to_str().unwrap().to_owned();
    std::fs::create_dir(&backups).unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--store", &store, "--backups", &backups];
    let mut serving = Running(
        command(&arguments)
            .env_remove("WONBON_TOKENS")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let mut line = String::new();
    BufReader::new(serving.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    fill(&address);
    let run = Command::new(&schemathesis)
        .current_dir(files.path())
        .args(["run", &format!("http://{address}/v1/openapi.json"), "--no-color"])
        .args(["--checks", "not_a_server_error", "--phases", "examples,coverage,fuzzing"])
        .args(["--max-examples", EXAMPLES, "--seed", "1997", "--generation-database", "none"])
        .args(["--suppress-health-check", "all", "--warnings", "off", "--request-timeout", "20"])
        .arg("--continue-on-failure")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{told}{}", String::from_utf8_lossy(&run.stderr));
    let count = |name: &str| -> Option<u32> {
        let line = told.lines().find_map(|line| line.trim().strip_prefix(name))?;
        line.trim().split(['/', ' ']).next()?.parse().ok()
    };
    assert!(count("Tested:").is_some_and(|tested| tested >= 29), "{told}");
    assert_eq!(count("Tested:"), count("Selected:"), "{told}");
    // It did not fall over on the way, and what it holds is as it should be.
    assert!(serving.0.try_wait().unwrap().is_none(), "the service ended");
    let id = serving.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(serving.0.wait().unwrap().code(), Some(0));
    let verified = wonbon(&["verify", "--store", &store]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
}
