//! `wonbon serve` and `wonbon token`, as a person starts and ends them.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use support::{Files, command, json, json_lines, stderr, stdout, wonbon};

/// A running service and where it is.
struct Serving {
    child: Child,
    address: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        Serving::of(&mut command(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat()))
    }

    fn of(command: &mut Command) -> Self {
        let mut child = command
            .env_remove("WONBON_TOKENS")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        assert!(!address.is_empty(), "the service did not start");
        Serving { child, address }
    }

    fn request(&self, head: &str, body: &str) -> String {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        let (address, length) = (&self.address, body.len());
        let request = format!(
            "{head}\r\nhost: {address}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Asks it to end, and tells its exit code.
    fn end(self) -> Option<i32> {
        self.end_by("-TERM")
    }

    fn end_by(mut self, signal: &str) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

#[test]
fn a_store_is_served_and_closed_when_it_is_told_to_end() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let serving = Serving::start(&["--store", &store]);
    let head = "POST /v1/documents HTTP/1.1\r\ncontent-type: application/json";
    let added = serving.request(head, r#"{"id":"a","text":"the ferry did not come that morning"}"#);
    assert!(
        added.starts_with("HTTP/1.1 201") && added.contains("\"verdict\":\"original\""),
        "{added}"
    );
    let page = serving.request("GET / HTTP/1.1\r\naccept: text/html", "");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<h1>"), "{page}");
    let writing = wonbon(&["delete", "a", "--store", &store]);
    assert_eq!(writing.status.code(), Some(2), "one process writes at a time");
    assert_eq!(json(&wonbon(&["get", "a", "--json", "--store", &store]))["key"], "a");
    assert_eq!(serving.end(), Some(0));
    let verified = wonbon(&["verify", "--store", &store]);
    assert_eq!(verified.status.code(), Some(0), "{}", stderr(&verified));
}

#[test]
fn another_address_needs_tokens() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let refused = command(&["serve", "--listen", "0.0.0.0:0", "--store", &store])
        .env_remove("WONBON_TOKENS")
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("there are no tokens"), "{}", stderr(&refused));
    assert!(!files.path().join("store").exists(), "nothing was made");
}

#[test]
fn tokens_are_made_used_listed_and_revoked() {
    let files = Files::new();
    let tokens = files.path().join("tokens").to_str().unwrap().to_owned();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let made = wonbon(&[
        "token",
        "create",
        "crawler",
        "--scope",
        "add",
        "--expires",
        "30d",
        "--tokens",
        &tokens,
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let secret = stdout(&made).trim().to_owned();
    let serving = Serving::start(&["--store", &store, "--tokens", &tokens]);
    let status = |header: &str| serving.request(&format!("GET /v1/status HTTP/1.1{header}"), "");
    assert!(status("").starts_with("HTTP/1.1 401"));
    assert!(status(&format!("\r\nauthorization: Bearer {secret}")).starts_with("HTTP/1.1 200"));
    assert_eq!(serving.end(), Some(0));

    let listed = json_lines(stdout(&wonbon(&["token", "list", "--json", "--tokens", &tokens])));
    assert_eq!((&listed[0]["name"], &listed[0]["scopes"][0]), (&"crawler".into(), &"add".into()));
    assert_eq!(listed[0]["expired"], false);
    let table = wonbon(&["token", "list", "--tokens", &tokens]);
    assert!(
        stdout(&table).contains("until 20") && !stdout(&table).contains(&secret),
        "{}",
        stdout(&table)
    );
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(wonbon(&["token", "revoke", id, "--tokens", &tokens]).status.code(), Some(0));
    let again = wonbon(&["token", "revoke", id, "--tokens", &tokens]);
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr(&again).contains("there is no token"), "{}", stderr(&again));
    for wrong in ["yesterday", "2001-01-01", "0d"] {
        let refused = wonbon(&["token", "create", "x", "--expires", wrong, "--tokens", &tokens]);
        assert_eq!(refused.status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn the_demo_is_served_until_ctrl_c_and_leaves_nothing() {
    let files = Files::new();
    let temporary = files.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let mut demo = command(&["demo", "--serve", "--listen", "127.0.0.1:0"]);
    let serving = Serving::of(demo.env("TMPDIR", &temporary).env("WONBON_STORE", files.path()));
    let families = serving.request("GET /families HTTP/1.1\r\naccept: text/html", "");
    assert!(families.contains("A market town with three bridges"), "{families}");
    assert_ne!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(serving.end_by("-INT"), Some(0));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "the store went away");
    assert_eq!(std::fs::read_dir(files.path()).unwrap().count(), 1, "no other was written");
}

#[test]
fn the_demo_keeps_a_store_that_was_named() {
    let files = Files::new();
    let store = files.path().join("store").to_str().unwrap().to_owned();
    let arguments = ["demo", "--serve", "--listen", "127.0.0.1:0", "--store", &store];
    let serving = Serving::of(&mut command(&arguments));
    assert_eq!(serving.end_by("-INT"), Some(0));
    assert_eq!(json(&wonbon(&["status", "--json", "--store", &store]))["documents"], 72);
    let again = wonbon(&["demo", "--store", &store]);
    assert_eq!(again.status.code(), Some(2), "it is put into no store that there is");
    let elsewhere = wonbon(&["demo", "--serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(stderr(&elsewhere).contains("there are no tokens"), "{}", stderr(&elsewhere));
}
