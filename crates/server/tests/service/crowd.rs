//! A crowd of bad clients beside one that asks: silent ones, slow ones, those that do not read, those that close half of a
//! connection, and bodies of a gigabyte that never come. The one that asks is answered, nobody is refused a place, and
//! when the crowd has gone nothing of it is left.
//!
//! `WONBON_CONNECTIONS` sets how many bad clients there are, 300 by default; scripts/hard.sh: 10,000. How long checks take
//! alone and beside the crowd is printed, and no part of the verdict: a busy machine is no defect.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use wonbon_testkit::long;

use crate::process::{address_of, ask, metric, start_child};
use crate::support::text;

/// Checks for each of the two figures.
const CHECKS: usize = 400;

/// More than the system buffers for a connection whose client keeps its window small.
const LONG_WORDS: u32 = 60_000;

/// A connection from one of many addresses: one address may have 4,096, and all of 127.0.0.0/8 is this machine.
fn connect_from(number: u64, address: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let connection = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let last = 2 + (number / 2000) as u8;
        socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
        socket.connect(address).await.unwrap().into_std().unwrap()
    });
    connection.set_nonblocking(false).unwrap();
    connection
}

/// A bad client of one of five kinds, by its number.
fn bad_client(address: SocketAddr, number: u64) -> TcpStream {
    let mut connection = connect_from(number, address);
    let host = format!("host: {address}\r\n");
    let said = match number % 5 {
        0 => String::new(),
        1 => "GET /healthz HTTP/1.1\r\nhost: 127".to_owned(),
        2 => format!("GET /v1/documents/long HTTP/1.1\r\n{host}\r\n"),
        3 => format!(
            "POST /v1/check HTTP/1.1\r\n{host}content-type: application/json\r\ncontent-length: 90\r\n\r\n{{"
        ),
        _ => format!(
            "POST /v1/documents HTTP/1.1\r\n{host}content-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n{}",
            1 << 30,
            " ".repeat(2000)
        ),
    };
    connection.write_all(said.as_bytes()).unwrap();
    if number % 5 == 3 {
        let _ = connection.shutdown(std::net::Shutdown::Write);
    }
    connection
}

/// Whether an answer has come to the length that it says.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        length.is_some_and(|length| body.len() >= length.parse().unwrap())
    })
}

/// The times of checks by one client that keeps its connection, sorted.
fn check_often(address: SocketAddr) -> Vec<Duration> {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_nodelay(true).unwrap();
    connection.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut times = Vec::new();
    for number in 0..CHECKS as u64 {
        let body = json!({"text": text(number)}).to_string();
        let length = body.len();
        let asked = format!(
            "POST /v1/check HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let begun = Instant::now();
        connection.write_all(asked.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !is_whole(&answer) {
            let mut piece = [0; 4096];
            let length = connection.read(&mut piece).unwrap();
            assert!(length > 0, "closed: {}", String::from_utf8_lossy(&answer));
            answer.extend_from_slice(&piece[..length]);
        }
        times.push(begun.elapsed());
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
    times.sort_unstable();
    times
}

#[test]
fn a_crowd_of_bad_clients_keeps_nobody_from_an_answer() {
    let clients = long::number("WONBON_CONNECTIONS", 300);
    let limit =
        Rlimit { current: getrlimit(Resource::Nofile).maximum, ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // A process of its own: both ends of 10,000 connections are more files than one may have.
    let mut child = start_child(folder.path(), &[]);
    let address = address_of(folder.path());
    let words: Vec<String> = (0..LONG_WORDS).map(|at| format!("w{at}")).collect();
    let body = json!({"id": "long", "text": words.join(" ")}).to_string();
    let kind = [("content-type", "application/json")];
    assert_eq!(ask(address, "POST", "/v1/documents", &kind, &body).status, 201);
    let alone = check_often(address);
    let crowd: Vec<TcpStream> = (0..clients).map(|number| bad_client(address, number)).collect();
    let open = metric(address, "wonbon_connections_open");
    let beside = check_often(address);
    drop(crowd);
    let begun = Instant::now();
    while metric(address, "wonbon_connections_open") > 1 {
        assert!(begun.elapsed() < Duration::from_secs(120), "connections are left");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(ask(address, "POST", "/v1/check", &kind, r#"{"text":"a b c"}"#).status, 200);
    child.kill().unwrap();
    child.wait().unwrap();
    let p99 = |times: &[Duration]| times[times.len() * 99 / 100].as_micros() as u64;
    long::report(
        "bad clients",
        &[
            ("tried", clients),
            ("open at once", open),
            ("checks beside them", CHECKS as u64),
            ("microseconds p99 alone", p99(&alone)),
            ("microseconds p99 beside them", p99(&beside)),
            ("hung", 0),
        ],
    );
}
