//! `instances`: several instances on one PostgreSQL, next to a store in a directory.
//!
//! PostgreSQL is Debian's, with its default settings (fsync and synchronous_commit on), on a Unix socket; it, the instances and
//! the clients share the cores. An instance is a handle of this process with everything of its own but the processor's caches.
//! A store is filled; then clients add, each waiting for its acknowledgement, from text to durable verdict; then
//! checks and searches are asked. With a round trip added, a proxy on the way to the server holds every byte for half of it in
//! either direction; the proxy's own work is in the figures.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use wonbon_store::{Follow, Freshness, NewDocument, Page, Query, Store, StoreParams};
use wonbon_testkit::generate::Corpus;
use wonbon_testkit::postgres::{Proxy, Server, ServerOptions, address};

use crate::InstancesArgs;
use crate::adds::{Adds, add_from, corpus, fill, percentiles, submit};

/// What is measured: how many instances, how many of them keep search, and microseconds added to a round trip.
struct Setting {
    instances: usize,
    following: usize,
    round_trip: u64,
}

const SETTINGS: [Setting; 5] = [
    Setting { instances: 1, following: 1, round_trip: 0 },
    Setting { instances: 2, following: 2, round_trip: 0 },
    Setting { instances: 3, following: 1, round_trip: 0 },
    Setting { instances: 3, following: 3, round_trip: 0 },
    Setting { instances: 1, following: 1, round_trip: 500 },
];

/// Answers a second, and median and 99th percentile in microseconds.
struct Asked {
    what: &'static str,
    rate: f64,
    latency: [f64; 2],
}

pub fn run(args: &InstancesArgs) -> anyhow::Result<()> {
    let server = Server::start(ServerOptions { settings: "-c fsync=on", ..Default::default() })
        .context("PostgreSQL is not installed")?;
    let directory = tempfile::tempdir()?;
    let corpus = corpus(args.seed);
    let next = AtomicU64::new(0);
    let mut text = heading(args);

    let alone = directory.path().join("store");
    let first = filled(&alone, &corpus, args, &next)?;
    let store = Store::open(&alone)?;
    let added = adds(std::slice::from_ref(&store), &corpus, args, &next)?;
    rows(&mut text, "a directory", "all", &added);
    let mut asked = vec![("a directory".to_owned(), questions(&store, &corpus, first, args)?)];
    let mut bytes = vec![("a directory", per_document(&store)?)];
    store.close()?;

    let place: PathBuf = server.address("wonbon", directory.path()).into();
    let first = filled(&place, &corpus, args, &next)?;
    for Setting { instances, following, round_trip } in SETTINGS {
        let delay = Duration::from_micros(round_trip / 2);
        let proxy = (round_trip > 0).then(|| Proxy::start_delayed(server.sockets(), delay));
        let place = match &proxy {
            Some(proxy) => address(&[proxy.sockets()], "wonbon", directory.path()).into(),
            None => place.clone(),
        };
        let stores = (0..instances)
            .map(|instance| {
                let follow = if instance < following { Follow::All } else { Follow::Nothing };
                Store::open_or_create_following(&place, None, follow)
            })
            .collect::<Result<Vec<_>, _>>()?;
        for store in &stores[..following] {
            store.catch_up()?;
        }
        let added = adds(&stores, &corpus, args, &next)?;
        let mut name = format!("PostgreSQL, {instances} instances");
        if round_trip > 0 {
            let _ = write!(name, ", {} ms added", round_trip as f64 / 1e3);
        }
        let name = name.replace("1 instances", "1 instance");
        rows(&mut text, &name, &following.to_string(), &added);
        if instances == 1 {
            asked.push((name, questions(&stores[0], &corpus, first, args)?));
        }
        if instances == 1 && round_trip == 0 {
            bytes.push(("PostgreSQL", per_document(&stores[0])?));
        }
        stores.into_iter().try_for_each(Store::close)?;
        eprintln!("{instances} instances, {following} follow, {round_trip} µs");
    }
    text.push_str("\n| store | asked | answers a second | p50, µs | p99, µs |\n|---|---|---|---|---|\n");
    for (name, all) in &asked {
        for Asked { what, rate, latency: [median, tail] } in all {
            let _ = writeln!(text, "| {name} | {what} | {rate:.0} | {median:.0} | {tail:.0} |");
        }
    }
    text.push_str("\n| store | bytes a document in tables |\n|---|---|\n");
    for (name, bytes) in bytes {
        let _ = writeln!(text, "| {name} | {bytes:.0} |");
    }
    File::create(args.report.out.with_extension("md"))?.write_all(text.as_bytes())?;
    Ok(())
}

fn heading(args: &InstancesArgs) -> String {
    format!(
        "# Several instances on one PostgreSQL\n\n{}\
         - documents of about 2 kB, half Korean-like, half English-like, a tenth of them copies; {} in the store before the \
         first add; default rule; each client waits for its acknowledgement\n\
         - PostgreSQL 15 with its default settings on a Unix socket; server, instances and clients share the cores\n\
         - follow: how many of the instances keep search and the index of shingles, beside the adds; search behind: how long \
         they took to catch up afterwards\n\n\
         | store | follow | clients | adds a second | p50, ms | p99, ms | search behind, s |\n\
         |---|---|---|---|---|---|---|\n",
        args.report.head(),
        args.documents
    )
}

/// A new store with documents; the number of the first of them.
fn filled(
    place: &Path,
    corpus: &Corpus,
    args: &InstancesArgs,
    next: &AtomicU64,
) -> anyhow::Result<u64> {
    let store = Store::create(place, &StoreParams::default())?;
    let first = next.fetch_add(args.documents, Ordering::Relaxed);
    fill(first..first + args.documents, |number| submit(&store, corpus, number))?;
    store.catch_up()?;
    store.close()?;
    Ok(first)
}

fn adds(
    stores: &[Store],
    corpus: &Corpus,
    args: &InstancesArgs,
    next: &AtomicU64,
) -> anyhow::Result<Vec<Adds>> {
    let clients = args.clients.iter().filter(|&&clients| clients >= stores.len());
    clients.map(|&clients| add_from(stores, corpus, next, clients, args.seconds)).collect()
}

fn rows(text: &mut String, store: &str, follow: &str, added: &[Adds]) {
    for Adds { clients, rate, latency: [median, tail], behind, .. } in added {
        let _ = writeln!(
            text,
            "| {store} | {follow} | {clients} | {rate:.0} | {:.2} | {:.2} | {behind:.1} |",
            median / 1e3,
            tail / 1e3
        );
    }
}

fn per_document(store: &Store) -> anyhow::Result<f64> {
    Ok(store.disk_bytes().database as f64 / store.counts()?.documents as f64)
}

/// Checks of documents of which half are stored, and searches.
fn questions(
    store: &Store,
    corpus: &Corpus,
    first: u64,
    args: &InstancesArgs,
) -> anyhow::Result<Vec<Asked>> {
    let texts: Vec<String> = (0..4000)
        .map(|at| corpus.document(if at % 2 == 0 { first + at } else { at + (1 << 40) }).text)
        .collect();
    let check = |at: usize, freshness| -> anyhow::Result<()> {
        let document = NewDocument::text("asked", None, &texts[at % texts.len()]);
        store.check_as_of(&document, freshness)?;
        Ok(())
    };
    let search = |at: usize| -> anyhow::Result<()> {
        let words: Vec<&str> = texts[at * 2 % texts.len()].split(' ').skip(3).take(2).collect();
        store.search(&Query::parse(&words.join(" "))?, Page { offset: 0, limit: 10 })?;
        Ok(())
    };
    let seconds = args.seconds;
    Ok(vec![
        ask("checks from 1 client", 1, seconds, |at| check(at, Freshness::Now))?,
        ask("checks from 64 clients", 64, seconds, |at| check(at, Freshness::Now))?,
        ask("checks with stale=ok from 64 clients", 64, seconds, |at| check(at, Freshness::Any))?,
        ask("searches from 1 client", 1, seconds, search)?,
    ])
}

/// Clients that ask one after another for some seconds.
fn ask(
    what: &'static str,
    clients: usize,
    seconds: f64,
    question: impl Fn(usize) -> anyhow::Result<()> + Sync,
) -> anyhow::Result<Asked> {
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(seconds);
    let times: Vec<Vec<Duration>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let question = &question;
                scope.spawn(move || -> anyhow::Result<Vec<Duration>> {
                    let mut times = Vec::new();
                    for at in client * 61.. {
                        if Instant::now() >= end {
                            break;
                        }
                        let asked = Instant::now();
                        question(at)?;
                        times.push(asked.elapsed());
                    }
                    Ok(times)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Result<_, _>>()
    })?;
    let elapsed = started.elapsed().as_secs_f64();
    let mut times: Vec<Duration> = times.into_iter().flatten().collect();
    let rate = times.len() as f64 / elapsed;
    Ok(Asked { what, rate, latency: percentiles(&mut times) })
}
