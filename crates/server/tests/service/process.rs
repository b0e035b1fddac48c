//! Real servers and real connections: what is acknowledged is there after a clean end (and after kill
//! -9: `kills`), and clients that are slow, silent or too talkative harm nobody.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wonbon_server::{Config, Server};
use wonbon_store::Store;

use crate::jobs::jobs_in;
use crate::support::{Answer, text};

/// Serves a directory's store on a free port until `end`, and writes the address beside the store.
fn serve(directory: &Path, config: Config, end: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let store = Store::open_or_create(&directory.join("store"), None).unwrap();
    runtime.block_on(async {
        let config = Config { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..config };
        let server = Server::bind(store, 0.0, config).await.unwrap();
        let address = server.address().unwrap().to_string();
        let partial = directory.join("address.partial");
        std::fs::write(&partial, address).unwrap();
        std::fs::rename(partial, directory.join("address")).unwrap();
        server.run(end).await.unwrap();
    });
}

pub(crate) fn address_of(directory: &Path) -> SocketAddr {
    let begun = Instant::now();
    loop {
        if let Ok(text) = std::fs::read_to_string(directory.join("address")) {
            return text.parse().unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "the server did not start");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What a child does until it is killed.
#[test]
fn child() {
    let Ok(directory) = std::env::var("WONBON_SERVED") else { return };
    let directory = Path::new(&directory);
    let jobs = directory.join("jobs").is_dir().then(|| {
        let mut jobs = jobs_in(directory, &["127.0.0.1"]);
        jobs.at_once = 3;
        jobs
    });
    let config = Config { jobs, ..Config::default() };
    serve(directory, config, std::future::pending());
}

/// Starts a server process, by a program that is given it and its arguments or as it is.
pub(crate) fn start_child(directory: &Path, by: &[&str]) -> Child {
    let _ = std::fs::remove_file(directory.join("address"));
    let program = std::env::current_exe().unwrap();
    let mut command = match by {
        [] => Command::new(program),
        [first, rest @ ..] => {
            let mut command = Command::new(first);
            command.args(rest).arg(program);
            command
        }
    };
    command
        .args(["process::child", "--exact", "--nocapture"])
        .env("WONBON_SERVED", directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// A server in this process, and what ends it.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    end: tokio::sync::oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

pub(crate) fn start(directory: &Path, config: Config) -> Served {
    let _ = std::fs::remove_file(directory.join("address"));
    let (end, ended) = tokio::sync::oneshot::channel();
    let served = directory.to_owned();
    let thread = std::thread::spawn(move || {
        serve(&served, config, async move {
            let _ = ended.await;
        });
    });
    Served { address: address_of(directory), end, thread }
}

impl Served {
    pub(crate) fn stop(self) {
        self.end.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

/// A document by its number; some are copies of others.
fn line(number: u64) -> String {
    let about = if number.is_multiple_of(3) { number % 7 } else { 1000 + number };
    let document = json!({"id": format!("d{number}"), "created": number, "text": text(about)});
    format!("{document}\n")
}

/// Sends lines as a stream until it is told to stop or the connection breaks; gives back the verdicts
/// that came.
pub(crate) fn stream(
    address: SocketAddr,
    numbers: std::ops::Range<u64>,
    stop: &AtomicBool,
) -> Vec<Value> {
    let Ok(mut connection) = TcpStream::connect(address) else { return Vec::new() };
    let reading = connection.try_clone().unwrap();
    let verdicts = std::thread::spawn(move || read_stream(reading));
    let head = format!(
        "POST /v1/documents HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    let mut sent = connection.write_all(head.as_bytes());
    for number in numbers {
        if sent.is_err() || stop.load(Ordering::Relaxed) {
            break;
        }
        let line = line(number);
        sent = connection.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes());
    }
    let _ = connection.write_all(b"0\r\n\r\n");
    verdicts.join().unwrap()
}

/// The whole lines of JSON in a chunked answer that may break off anywhere.
fn read_stream(connection: TcpStream) -> Vec<Value> {
    let mut bytes = Vec::new();
    // A connection that breaks off has given what it gave.
    let _ = BufReader::new(connection).read_to_end(&mut bytes);
    let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return Vec::new();
    };
    let mut body = Vec::new();
    let mut rest = &bytes[at + 4..];
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let Ok(length) = usize::from_str_radix(&String::from_utf8_lossy(&rest[..end]), 16) else {
            break;
        };
        let chunk = &rest[end + 2..];
        body.extend_from_slice(&chunk[..length.min(chunk.len())]);
        rest = chunk.get(length + 2..).unwrap_or_default();
    }
    let whole = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    body[..whole].lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

pub(crate) fn acknowledged(verdicts: &[Value]) -> BTreeSet<String> {
    verdicts
        .iter()
        .filter(|verdict| verdict.get("verdict").is_some())
        .map(|verdict| verdict["key"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_clean_end_acknowledges_or_refuses_every_line() {
    let folder = tempfile::tempdir().unwrap();
    let served = start(folder.path(), Config::default());
    let stop = AtomicBool::new(false);
    let address = served.address;
    let verdicts = std::thread::scope(|scope| {
        let client = scope.spawn(|| stream(address, 0..1_000_000, &stop));
        std::thread::sleep(Duration::from_millis(300));
        served.stop();
        stop.store(true, Ordering::Relaxed);
        client.join().unwrap()
    });
    let taken = acknowledged(&verdicts);
    assert!(!taken.is_empty());
    let refused = verdicts.iter().find(|line| line["code"] == "shutting_down").unwrap();
    // Lines are numbered from 1: as many were taken as stand before the first that was refused.
    assert_eq!(refused["line"].as_u64().unwrap(), taken.len() as u64 + 1);
    let store = Store::open(&folder.path().join("store")).unwrap();
    assert_eq!(store.counts().unwrap().documents, taken.len() as u64);
    for id in taken {
        assert!(store.get(&id).unwrap().is_some());
    }
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

/// One request on a connection of its own.
pub(crate) fn request(address: SocketAddr, head: &str) -> std::io::Result<String> {
    let mut connection = TcpStream::connect(address)?;
    connection.set_read_timeout(Some(Duration::from_secs(30)))?;
    connection.write_all(head.as_bytes())?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

/// One request with some headers and a body, and its answer.
pub(crate) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let length = body.len();
    let answer =
        request(address, &format!("{head}content-length: {length}\r\n\r\n{body}")).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap();
            (name.parse().unwrap(), value.parse().unwrap())
        })
        .collect();
    Answer { status, headers, body: body.to_owned() }
}

#[test]
fn silent_and_slow_clients_are_let_go_and_others_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.limits.head_time = Duration::from_millis(500);
    config.limits.body_time = Duration::from_millis(200);
    config.limits.head_bytes = 8 << 10;
    config.limits.connections = 400;
    let served = start(folder.path(), config);
    let address = served.address;
    let idle: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut slow = TcpStream::connect(address).unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nhost: loc").unwrap();
    let fine = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    assert!(request(address, &fine).unwrap().starts_with("HTTP/1.1 200"));
    let unfinished = format!(
        "POST /v1/check HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: 50\r\nconnection: close\r\n\r\n{{\"text\""
    );
    let answer = request(address, &unfinished).unwrap();
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("too_slow"), "{answer}");
    let long = format!("GET /?{} HTTP/1.1\r\nhost: {address}\r\n\r\n", "q".repeat(40_000));
    let answer = request(address, &long).unwrap_or_default();
    assert!(!answer.starts_with("HTTP/1.1 2"), "{answer}");
    let nameless = request(address, "GET / HTTP/1.0\r\n\r\n").unwrap();
    assert!(nameless.starts_with("HTTP/1.0 421"), "{nameless}");
    // What says nothing is let go.
    slow.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut left = String::new();
    let _ = slow.read_to_string(&mut left);
    assert!(!left.contains(" 200 "), "{left}");
    for mut connection in idle {
        connection.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        assert_eq!(connection.read(&mut [0; 16]).unwrap_or(0), 0);
    }
    assert!(request(address, &fine).unwrap().starts_with("HTTP/1.1 200"));
    served.stop();
}

/// A number of `/metrics`.
pub(crate) fn metric(address: SocketAddr, name: &str) -> u64 {
    let text = ask(address, "GET", "/metrics", &[], "").body;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().unwrap()
}

/// Waits until a number of `/metrics` is what it has to become.
fn wait_for(address: SocketAddr, name: &str, wanted: u64) {
    let begun = Instant::now();
    while metric(address, name) != wanted {
        assert!(begun.elapsed() < Duration::from_secs(60), "{name} is not {wanted}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn large_bodies_of_many_connections_stay_within_one_budget() {
    const TOTAL: usize = 4 << 20;
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.limits.body_bytes = 1 << 20;
    config.limits.body_memory_bytes = TOTAL;
    config.limits.body_share_bytes = TOTAL / 2;
    let served = start(folder.path(), config);
    let address = served.address;
    let open = |path: &str, kind: &str, length: usize| {
        let mut connection = TcpStream::connect(address).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
        );
        connection.write_all(head.as_bytes()).unwrap();
        connection
    };
    // Without a token nothing is kept: the answer comes before the body.
    for _ in 0..24 {
        let mut login = open("/login", "application/x-www-form-urlencoded", 1 << 20);
        let mut answer = [0; 12];
        login.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    assert_eq!(metric(address, "wonbon_body_bytes{when=\"most\"}"), 0);
    // Bodies that never end, and lines that never do.
    let mut sending = Vec::new();
    for number in 0..32 {
        let mut connection = match number % 2 {
            0 => open("/v1/check", "application/json", 1 << 20),
            _ => open("/v1/documents", "application/x-ndjson", 1 << 30),
        };
        // Those that are refused are closed while this is sent.
        let _ = connection.write_all(&vec![b' '; 900 << 10]);
        sending.push(connection);
    }
    let most = metric(address, "wonbon_body_bytes{when=\"most\"}");
    assert!(most > 0 && most <= TOTAL as u64 / 2, "{most}");
    drop(sending);
    wait_for(address, "wonbon_body_bytes{when=\"now\"}", 0);
    let body = json!({"text": text(1)}).to_string();
    let kind = [("content-type", "application/json")];
    assert_eq!(ask(address, "POST", "/v1/check", &kind, &body).status, 200);
    served.stop();
}

#[test]
fn clients_that_do_not_read_and_those_with_too_many_connections_are_let_go() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.limits.write_time = Duration::from_millis(300);
    config.limits.connections_per_address = 20;
    let served = start(folder.path(), config);
    let address = served.address;
    // More than the system buffers for a connection.
    let words: Vec<String> = (0..2_000_000_u32).map(|at| format!("w{at}")).collect();
    let body = json!({"id": "long", "text": words.join(" ")}).to_string();
    let kind = [("content-type", "application/json")];
    assert_eq!(ask(address, "POST", "/v1/documents", &kind, &body).status, 201);
    let unread: Vec<TcpStream> = (0..5)
        .map(|_| {
            let mut connection = TcpStream::connect(address).unwrap();
            let head = format!("GET /v1/documents/long HTTP/1.1\r\nhost: {address}\r\n\r\n");
            connection.write_all(head.as_bytes()).unwrap();
            connection
        })
        .collect();
    // The one that asks is open.
    wait_for(address, "wonbon_connections_open", 1);
    drop(unread);
    let idle: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
    let mut refused = TcpStream::connect(address).unwrap();
    refused.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    assert_eq!(refused.read(&mut [0; 16]).unwrap_or(0), 0, "the 21st is closed");
    drop(idle);
    let begun = Instant::now();
    let fine = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    while !request(address, &fine).is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
        assert!(begun.elapsed() < Duration::from_secs(30), "places are given back");
    }
    served.stop();
}

#[test]
fn answers_that_nobody_reads_stay_within_one_budget() {
    const SHARE: usize = 24 << 20;
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.limits.answer_memory_bytes = 2 * SHARE;
    config.limits.answer_share_bytes = SHARE;
    let served = start(folder.path(), config);
    let address = served.address;
    // More than the system buffers for a connection.
    let words: Vec<String> = (0..1_500_000_u32).map(|at| format!("w{at}")).collect();
    let body = json!({"id": "long", "text": words.join(" ")}).to_string();
    let kind = [("content-type", "application/json")];
    assert_eq!(ask(address, "POST", "/v1/documents", &kind, &body).status, 201);
    let asked = || {
        let mut connection = TcpStream::connect(address).unwrap();
        let head = format!("GET /v1/documents/long HTTP/1.1\r\nhost: {address}\r\n\r\n");
        connection.write_all(head.as_bytes()).unwrap();
        let mut begun = [0; 12];
        connection.read_exact(&mut begun).unwrap();
        (String::from_utf8_lossy(&begun).into_owned(), connection)
    };
    let unread: Vec<(String, TcpStream)> = (0..8).map(|_| asked()).collect();
    let begun: Vec<&str> = unread.iter().map(|(begun, _)| begun.as_str()).collect();
    assert!(begun[0] == "HTTP/1.1 200" && begun[7] == "HTTP/1.1 503", "{begun:?}");
    let most = metric(address, "wonbon_answer_bytes{when=\"most\"}");
    assert!(most > 0 && most <= SHARE as u64, "{most}");
    // Small answers need no room, and whoever reads has the answer whole.
    assert_eq!(ask(address, "POST", "/v1/check", &kind, &body.replace("w1 ", "")).status, 200);
    drop(unread);
    wait_for(address, "wonbon_answer_bytes{when=\"now\"}", 0);
    let read = ask(address, "GET", "/v1/documents/long", &[], "");
    assert_eq!(read.status, 200);
    let read: Value = serde_json::from_str(&read.body).unwrap();
    assert_eq!(read["text"].as_str().unwrap(), words.join(" "));
    served.stop();
}

#[test]
fn another_address_without_tokens_is_refused_at_start() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let config = Config { listen: address.parse().unwrap(), ..Config::default() };
        let refused = config.check().unwrap_err();
        assert!(refused.to_string().contains("there are no tokens"), "{refused}");
        let config = Config { tokens: Some("tokens".into()), ..config };
        assert!(config.check().is_ok());
    }
}
