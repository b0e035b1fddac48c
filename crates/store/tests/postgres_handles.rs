//! Several processes on one PostgreSQL: exactly one original for each text whoever receives it, nothing acknowledged is
//! lost, nothing is stored twice, whatever is cut or killed. Without PostgreSQL's programs the tests say that they
//! were skipped.
//!
//! `WONBON_KILLS` and `WONBON_CUTS` set how often; scripts/hard.sh asks for more.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use support::Place;
use wonbon_store::{Freshness, Kind, NewDocument, Store, StoreError, StoreParams};

fn number_of(variable: &str, usual: u64) -> u64 {
    std::env::var(variable).map_or(usual, |text| text.parse().unwrap())
}

fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (number ^ (number >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) ^ (number >> 32)
}

fn text(about: u64) -> String {
    let words = (0..40).map(|at| format!("word{}", mixed(about * 100 + at) % 5000));
    words.collect::<Vec<_>>().join(" ")
}

/// What every document is, in the order of their numbers.
fn standings(store: &Store) -> Vec<(String, String, Kind, Option<String>)> {
    let mut all = Vec::new();
    let read: Result<(), StoreError> = store.for_each(|document| {
        let verdict = document.verdict;
        all.push((document.key, document.text, verdict.kind, verdict.original));
        Ok(())
    });
    read.unwrap();
    all
}

/// The store agrees with itself, and with a store in a directory that is given the same documents one after another.
fn assert_as_one_writer_gives(store: &Store) {
    assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    let all = standings(store);
    let directory = tempfile::tempdir().unwrap();
    let alone = Store::create(directory.path(), store.params()).unwrap();
    let pending: Vec<_> = all
        .iter()
        .map(|(key, text, ..)| {
            alone.submit(alone.prepare(&NewDocument::text(key, None, text)).unwrap()).unwrap()
        })
        .collect();
    for added in pending {
        added.wait().unwrap();
    }
    assert_eq!(all, standings(&alone));
}

#[test]
fn three_handles_give_one_original_for_each_text() {
    if support::server().is_none() {
        return;
    }
    let place = support::place();
    let stores: Vec<Store> = std::thread::scope(|scope| {
        // All at once: one of them makes the store.
        let opening: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| Store::open_or_create(place.path(), None).unwrap()))
            .collect();
        opening.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let originals = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for client in 0..9 {
            let (store, originals) = (&stores[client % 3], &originals);
            scope.spawn(move || {
                for at in 0..60 {
                    let key = format!("{client}/{at}");
                    let text = text(at % 40);
                    let document = NewDocument::text(&key, None, &text);
                    let kind = store.add(&document).unwrap().verdict.kind;
                    originals.fetch_add(u64::from(kind == Kind::Original), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(originals.into_inner(), 40);
    for store in &stores {
        // What others stored a moment ago is seen by a check, and found once search has caught up.
        let text = text(7);
        assert_eq!(
            store.check(&NewDocument::text("x", None, &text)).unwrap().kind,
            Kind::Identical
        );
        store.catch_up().unwrap();
        assert_eq!(store.verify().unwrap().first, Vec::<String>::new());
    }
    assert_as_one_writer_gives(&stores[0]);
}

/// An add that was acknowledged anywhere is seen by every check that begins after it.
#[test]
fn no_check_is_older_than_an_acknowledged_add() {
    if support::server().is_none() {
        return;
    }
    let place = support::place();
    let one = Store::create(place.path(), &StoreParams::default()).unwrap();
    let other = Store::open(place.path()).unwrap();
    for at in 0..200 {
        let (adds, checks) = if at % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let (key, text) = (format!("key {at}"), text(at));
        adds.add(&NewDocument::text(&key, None, &text)).unwrap();
        let verdict = checks.check(&NewDocument::text("asked", None, &text)).unwrap();
        assert_eq!(verdict.original.as_deref(), Some(key.as_str()));
        adds.delete(&key).unwrap();
        let verdict = checks.check(&NewDocument::text("asked", None, &text)).unwrap();
        assert_eq!(verdict.original, None, "{at}");
    }
}

#[test]
fn a_check_knows_what_it_is_asked_to_know() {
    if support::server().is_none() {
        return;
    }
    let place = support::place();
    let one = Store::create(place.path(), &StoreParams::default()).unwrap();
    let other = Store::open(place.path()).unwrap();
    let text = text(1);
    let asked = NewDocument::text("asked", None, &text);
    let added = one.add(&NewDocument::text("a", None, &text)).unwrap();
    assert_eq!(added.change, 1);
    let (verdict, _) = other.check_as_of(&asked, Freshness::AtLeast(added.change)).unwrap();
    assert_eq!(verdict.original.as_deref(), Some("a"));
    // What others did comes by itself.
    while other.shared_state().unwrap().unwrap().behind > 0 {
        std::thread::yield_now();
    }
    let (verdict, change) = other.check_as_of(&asked, Freshness::Any).unwrap();
    assert_eq!((verdict.original.as_deref(), change), (Some("a"), 1));
    let (one, other) = (one.shared_state().unwrap(), other.shared_state().unwrap());
    assert_eq!(one.unwrap().history, other.unwrap().history);
}

/// A proxy before the server's socket that cuts a connection after so many bytes from the server, once.
struct Proxy {
    folder: tempfile::TempDir,
    /// Bytes to let through until the cut; negative: none is asked for.
    left: Arc<AtomicI64>,
    /// Whether what the client sends is counted instead.
    upwards: Arc<AtomicBool>,
}

impl Proxy {
    fn start(server: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let (left, upwards) = (Arc::new(AtomicI64::new(-1)), Arc::new(AtomicBool::new(false)));
        let (counted, direction) = (left.clone(), upwards.clone());
        let target = server.join(".s.PGSQL.5432");
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&target)) else {
                    return;
                };
                for is_upward in [true, false] {
                    let (from, to) =
                        if is_upward { (&client, &server) } else { (&server, &client) };
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (counted, direction) = (counted.clone(), direction.clone());
                    std::thread::spawn(move || pass(from, to, is_upward, &counted, &direction));
                }
            }
        });
        Proxy { folder, left, upwards }
    }

    fn cut_after(&self, bytes: i64, upwards: bool) {
        self.upwards.store(upwards, Ordering::SeqCst);
        self.left.store(bytes, Ordering::SeqCst);
    }
}

/// Passes bytes on until an end closes, or the cut is reached: then both ends are closed at this byte.
fn pass(
    mut from: UnixStream,
    mut to: UnixStream,
    is_upward: bool,
    left: &AtomicI64,
    upwards: &AtomicBool,
) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        let mut passed = read;
        if left.load(Ordering::SeqCst) >= 0 && upwards.load(Ordering::SeqCst) == is_upward {
            let before = left.fetch_sub(read as i64, Ordering::SeqCst);
            if before < read as i64 {
                left.store(-1, Ordering::SeqCst);
                passed = before.max(0) as usize;
            }
        }
        let cut = passed < read;
        if to.write_all(&buffer[..passed]).is_err() || cut {
            let _ = from.shutdown(std::net::Shutdown::Both);
            let _ = to.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// The place of a store behind a proxy.
fn behind(proxy: &Proxy, place: &Place) -> PathBuf {
    let address = place.path().to_str().unwrap();
    let sockets = support::server().unwrap().sockets().to_str().unwrap().replace('/', "%2F");
    let folder = proxy.folder.path().to_str().unwrap().replace('/', "%2F");
    address.replace(&sockets, &folder).into()
}

/// Wherever the connection of a turn is cut, in either direction, the document is stored once and the client hears it.
#[test]
fn a_cut_at_any_byte_of_a_turn_stores_the_document_once() {
    let Some(server) = support::server() else { return };
    let place = support::place();
    let proxy = Proxy::start(server.sockets());
    let steady = Store::create(place.path(), &StoreParams::default()).unwrap();
    let cut = Store::open(&behind(&proxy, &place)).unwrap();
    cut.add(&NewDocument::text("warm", None, "statements are prepared once")).unwrap();
    let cuts = number_of("WONBON_CUTS", 60);
    for at in 0..cuts {
        let (key, text) = (format!("key {at}"), text(at / 2));
        proxy.cut_after((at * 31 % 1500) as i64, at % 2 == 0);
        let added = cut.add(&NewDocument::text(&key, None, &text)).unwrap();
        let kind = if at % 2 == 0 { Kind::Original } else { Kind::Identical };
        assert_eq!(added.verdict.kind, kind, "cut {at}");
        assert_eq!(steady.get(&key).unwrap().unwrap().verdict.kind, kind, "cut {at}");
    }
    proxy.cut_after(-1, false);
    let keys: BTreeSet<String> =
        standings(&steady).into_iter().map(|document| document.0).collect();
    assert_eq!(keys.len() as u64, cuts + 1);
    let rows = steady.counts().unwrap().documents;
    assert_eq!(rows, cuts + 1, "each once");
    assert_eq!(cut.verify().unwrap().first, Vec::<String>::new());
    assert_as_one_writer_gives(&steady);
}

/// Sessions that the server ends, again and again, while three handles add.
#[test]
fn sessions_that_are_ended_lose_nothing() {
    let Some(server) = support::server() else { return };
    let place = support::place();
    // Sessions of this test only: others run beside it.
    let address = format!("{}&application_name=ended", place.path().display());
    let stores: Vec<Store> =
        (0..3).map(|_| Store::open_or_create(Path::new(&address), None).unwrap()).collect();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clients: Vec<_> = stores
            .iter()
            .enumerate()
            .map(|(client, store)| {
                scope.spawn(move || {
                    for at in 0..150 {
                        let (key, text) = (format!("{client}/{at}"), text(at % 60));
                        store.add(&NewDocument::text(&key, None, &text)).unwrap();
                    }
                })
            })
            .collect();
        let ended = &ended;
        scope.spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                server.psql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE application_name = 'ended' ORDER BY random() LIMIT 1",
                );
            }
        });
        for client in clients {
            client.join().unwrap();
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(stores[0].counts().unwrap().documents, 450);
    assert_as_one_writer_gives(&stores[1]);
}

/// What a child does until it is killed: adds, and says so.
#[test]
fn child() {
    let Ok(address) = std::env::var("WONBON_CHILD_STORE") else { return };
    let name = std::env::var("WONBON_CHILD_NAME").unwrap();
    let store = Store::open(Path::new(&address)).unwrap();
    let mut output = std::io::stdout();
    for at in 0_u64.. {
        let (key, text) = (format!("{name}/{at}"), text(at % 50));
        store.add(&NewDocument::text(&key, None, &text)).unwrap();
        output.write_all(format!("acknowledged {key}\n").as_bytes()).unwrap();
        output.flush().unwrap();
    }
}

fn start_child(place: &Place, name: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env("WONBON_CHILD_STORE", place.path())
        .env("WONBON_CHILD_NAME", name)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

/// The key that a line of a child acknowledges; what a kill cut off does not count.
fn acknowledged(line: &str) -> Option<&str> {
    line.strip_suffix('\n')?.split_once("acknowledged ").map(|(_, key)| key)
}

#[test]
fn a_killed_instance_loses_nothing_and_stops_nobody() {
    if support::server().is_none() {
        return;
    }
    let place = support::place();
    let store = Store::create(place.path(), &StoreParams::default()).unwrap();
    let mut told: BTreeMap<String, u64> = BTreeMap::new();
    for kill in 0..number_of("WONBON_KILLS", 6) {
        let (mut child, mut output) = start_child(&place, &format!("child {kill}"));
        let mut line = String::new();
        // It is killed in the midst of its work, at another point each time.
        let enough = 3 + mixed(kill) % 60;
        let mut heard = 0;
        while heard < enough && output.read_line(&mut line).unwrap() > 0 {
            if let Some(key) = acknowledged(&line) {
                *told.entry(key.to_owned()).or_default() += 1;
                heard += 1;
            }
            line.clear();
        }
        assert_eq!(heard, enough, "the child works");
        child.kill().unwrap();
        // The other goes on at once.
        let key = format!("survivor/{kill}");
        store.add(&NewDocument::text(&key, None, &text(kill))).unwrap();
        told.insert(key, 1);
        child.wait().unwrap();
        // What it said before the kill is still in the pipe.
        while output.read_line(&mut line).unwrap() > 0 {
            if let Some(key) = acknowledged(&line) {
                *told.entry(key.to_owned()).or_default() += 1;
            }
            line.clear();
        }
    }
    let all = standings(&store);
    let there: BTreeSet<&str> = all.iter().map(|document| document.0.as_str()).collect();
    assert_eq!(there.len(), all.len(), "each once");
    for key in told.keys() {
        assert!(there.contains(key.as_str()), "{key} was acknowledged");
    }
    assert_as_one_writer_gives(&store);
}

#[test]
fn a_copy_is_equal_and_a_second_one_is_refused() {
    if support::server().is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (first, last) = (directory.path().join("first"), directory.path().join("last"));
    let place = support::place();
    let store = Store::create(&first, &StoreParams::default()).unwrap();
    for at in 0..120 {
        let (key, text) = (format!("key {}", at % 100), text(at % 70));
        store.add(&NewDocument::text(&key, None, &text)).unwrap();
    }
    store.watch("key 3").unwrap();
    let decision = wonbon_store::Decision::Original;
    store.decide("key 75", decision, &wonbon_store::By::default(), None).unwrap();
    let expected: Vec<_> = standings(&store);
    let all = |store: &Store, key: &str| {
        let found = store.get(key).unwrap().unwrap();
        let history = store.history(key, None).unwrap();
        (found, format!("{history:?}"))
    };
    let known: Vec<_> = expected.iter().map(|(key, ..)| all(&store, key)).collect();
    let decisions = store.decisions(None, None, 100).unwrap();
    store.close().unwrap();

    Store::copy(&first, place.path(), |_| true).unwrap();
    let refused = Store::copy(&first, place.path(), |_| true);
    assert!(matches!(refused, Err(StoreError::AlreadyThere { .. })), "{refused:?}");
    Store::copy(place.path(), &last, |_| true).unwrap();
    for copy in [place.path(), &last] {
        let copy = Store::open(copy).unwrap();
        assert_eq!(standings(&copy), expected);
        for (key, known) in expected.iter().map(|document| &document.0).zip(&known) {
            assert_eq!(&all(&copy, key), known);
        }
        assert_eq!(copy.decisions(None, None, 100).unwrap(), decisions);
        assert_eq!(copy.watched().unwrap().len(), 1);
        assert_eq!(copy.verify().unwrap().first, Vec::<String>::new());
    }
}

#[test]
fn what_is_wrong_is_one_sentence_without_the_password() {
    let Some(server) = support::server() else { return };
    let place = support::place();
    let address = place.path().to_str().unwrap();
    let store = Store::create(place.path(), &StoreParams::default()).unwrap();

    let nul = store.add(&NewDocument::text("a\0b", None, "text"));
    assert!(matches!(nul, Err(StoreError::NulInKey)), "{nul:?}");
    let schema = address.split("schema=").nth(1).unwrap().split('&').next().unwrap();
    server.psql(&format!("UPDATE {schema}.head SET tables = 99"));
    let newer = Store::open(place.path());
    assert!(matches!(newer, Err(StoreError::NewerTables { stored: 99, .. })), "{newer:?}");
    // A program that is running stops writing at once.
    let stopped = store.add(&NewDocument::text("a", None, "text"));
    assert!(stopped.is_err(), "{stopped:?}");
    server.psql(&format!("UPDATE {schema}.head SET tables = 1"));
    store.add(&NewDocument::text("a", None, "text")).unwrap();

    server.psql(
        "CREATE ROLE reader LOGIN PASSWORD 'hidden' ; ALTER ROLE reader \
                 SET default_transaction_read_only = on",
    );
    let reader = address.replace("postgres://wonbon@", "postgres://reader:hidden@");
    let nowhere = "postgres://me:hidden@127.0.0.1:1/db?sslmode=disable";
    let elsewhere =
        place.path().to_str().unwrap().replace(&format!("schema={schema}"), "schema=none");
    for (place, words) in [
        (reader.as_str(), "permission denied"),
        (nowhere, "cannot be reached"),
        (elsewhere.as_str(), "there is no store"),
        ("postgres://me:hidden@host/db?sslmode=perhaps", "no sslmode"),
    ] {
        let error = Store::open(Path::new(place)).expect_err(place).to_string();
        assert!(error.contains(words) && !error.contains("hidden"), "{place}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}
