//! Instances that are killed or whose clocks are wrong, and sessions that the server ends.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use wonbon_store::{Kind, NewDocument, Store, StoreParams};
use wonbon_testkit::long::number;

use super::support::{self, Place};
use super::{assert_as_one_writer_gives, mixed, standings, text};

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
        .args(["--exact", "kills::child", "--nocapture"])
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
    for kill in 0..number("WONBON_KILLS", 6) {
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

/// What a child does whose clock is wrong: adds and checks what it is told on its standard input, and says the verdicts.
#[test]
fn clock_child() {
    let Ok(address) = std::env::var("WONBON_CLOCK_STORE") else { return };
    let store = Store::open(Path::new(&address)).unwrap();
    println!("\nclock {}", wonbon_time::Timestamp::now().as_microseconds());
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (key, about) = line.split_once(' ').unwrap();
        println!("verdict {}", verdicts(&store, key, about.parse().unwrap()));
    }
}

/// What a check says of a document, and then its add.
fn verdicts(store: &Store, key: &str, about: u64) -> String {
    let text = text(about);
    let document = NewDocument::text(key, None, &text);
    let checked = store.check(&document).unwrap();
    let added = store.add(&document).unwrap().verdict;
    format!("{:?} {:?} {:?}", checked.original, added.kind, added.original)
}

/// A child with another clock, and how much that is off in microseconds.
struct ClockChild {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl ClockChild {
    fn start(place: &Place, library: &Path, off: &str, least_off: i64) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::clock_child", "--nocapture"])
            .env("WONBON_CLOCK_STORE", place.path())
            .env("LD_PRELOAD", library)
            .env("FAKETIME", off)
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut started = ClockChild { child, output };
        let clock: i64 = started.hear("clock ").parse().unwrap();
        let really = clock - wonbon_time::Timestamp::now().as_microseconds();
        assert!(really.abs() > least_off && (really < 0) == off.starts_with('-'), "{really}");
        started
    }

    fn hear(&mut self, what: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the child works");
            if let Some(told) = line.trim_end().strip_prefix(what) {
                return told.to_owned();
            }
        }
    }

    fn add(&mut self, key: &str, about: u64) -> String {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{key} {about}").unwrap();
        self.hear("verdict ")
    }
}

/// Of documents without a time the first that is acknowledged is the original, whatever the clocks of the instances say.
#[test]
fn wrong_clocks_make_nobody_the_original() {
    if support::server().is_none() {
        return;
    }
    let library = Path::new("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1");
    if !library.exists() {
        println!("skipped: libfaketime is not installed");
        return;
    }
    let place = support::place();
    let store = Store::create(place.path(), &StoreParams::default()).unwrap();
    let hour = 3_500_000_000;
    let mut late = ClockChild::start(&place, library, "-1h", hour);
    let mut early = ClockChild::start(&place, library, "+1h", hour);
    for about in 0..30 {
        let first = about as usize % 3;
        for turn in 0..3 {
            let instance = (first + turn) % 3;
            let key = format!("{instance}/{about}");
            let told = match instance {
                0 => verdicts(&store, &key, about),
                1 => late.add(&key, about),
                _ => early.add(&key, about),
            };
            let original = format!("{first}/{about}");
            let expected = match turn {
                0 => format!("None {:?} None", Kind::Original),
                _ => format!("Some({original:?}) {:?} Some({original:?})", Kind::Identical),
            };
            assert_eq!(told, expected, "{key}");
        }
    }
    for mut child in [late, early] {
        drop(child.child.stdin.take());
        assert!(child.child.wait().unwrap().success());
    }
    assert_as_one_writer_gives(&store);
}
