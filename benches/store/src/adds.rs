//! `adds`: the whole store at growing numbers of documents.
//!
//! At each step the store is filled to N documents, closed and opened again; then measured are the
//! index's question alone, a whole check (text to verdict), and durable adds from 1, 8 and 64 clients,
//! each client waiting for its acknowledgement before it sends the next, search indexing running
//! beside. The disk's own fsync is measured in the same minute: one client cannot be faster than it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use cpu_time::ProcessTime;
use wonbon_index::CopyIndex;
use wonbon_store::{NewDocument, Pending, Store, StoreError, StoreParams};
use wonbon_testkit::generate::{Corpus, CorpusParams};
use wonbon_time::Timestamp;

use crate::AddsArgs;

/// Documents on their way while a store is filled.
const IN_FLIGHT: usize = 2000;

/// Posts of about 2 kB, a tenth of them copies of an earlier one.
pub fn corpus(seed: u64) -> Corpus {
    Corpus::new(CorpusParams {
        documents: u64::MAX,
        mean_words: 230,
        copy_share: 0.1,
        most_changed: 0.02,
        korean_share: 0.5,
        seed,
    })
}

struct Step {
    documents: u64,
    fill_seconds: f64,
    open_seconds: f64,
    index_bytes: f64,
    database_bytes: f64,
    search_bytes: f64,
    shingle_bytes: f64,
    question: [f64; 2],
    check: [f64; 2],
    adds: Vec<Adds>,
}

/// What a number of clients reached.
pub struct Adds {
    pub clients: usize,
    /// Of the disk, in seconds, over a file and behind its end: the mean of just before and just after.
    fsync: [f64; 2],
    /// Adds a second.
    pub rate: f64,
    /// Processor time of the whole process for an add, search caught up included, in microseconds.
    processor: f64,
    /// Median and 99th percentile in microseconds.
    pub latency: [f64; 2],
    /// How long search took to catch up afterwards, in seconds.
    pub behind: f64,
}

pub fn run(args: &AddsArgs) -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let place = args.place.clone().unwrap_or_else(|| directory.path().join("store"));
    let corpus = corpus(args.seed);
    let mut filled = 0;
    let mut steps = Vec::new();
    Store::create(&place, &StoreParams::default())?.close()?;
    for &documents in &args.steps {
        let store = Store::open(&place)?;
        let started = Instant::now();
        fill(filled..documents, |number| submit(&store, &corpus, number))?;
        store.catch_up()?;
        let fill_seconds = started.elapsed().as_secs_f64();
        store.close()?;
        let started = Instant::now();
        let store = Store::open(&place)?;
        let open_seconds = started.elapsed().as_secs_f64();
        store.catch_up()?;
        let (question, check) = ask(&store, &corpus, documents, args.questions)?;
        let (index_len, index_bytes) = (store.index_len() as f64, store.index_bytes() as f64);
        let disk = store.disk_bytes();
        let mut stores = vec![store];
        while stores.len() < args.instances {
            stores.push(Store::open(&place)?);
        }
        let mut adds = Vec::new();
        let next = AtomicU64::new(documents);
        for &clients in &args.clients {
            let before = fsyncs(directory.path())?;
            let mut measured = add_from(&stores, &corpus, &next, clients, args.seconds)?;
            let after = fsyncs(directory.path())?;
            measured.fsync = [0, 1].map(|way| (before[way] + after[way]) / 2.0);
            adds.push(measured);
        }
        steps.push(Step {
            documents,
            fill_seconds,
            open_seconds,
            index_bytes: index_bytes / index_len,
            database_bytes: disk.database as f64 / documents as f64,
            search_bytes: disk.search as f64 / documents as f64,
            shingle_bytes: disk.shingles as f64 / documents as f64,
            question,
            check,
            adds,
        });
        filled = next.into_inner();
        stores.into_iter().try_for_each(Store::close)?;
        // Progress for whoever waits.
        eprintln!("{documents} documents: filled in {fill_seconds:.0} s");
    }
    let mut file = File::create(args.report.out.with_extension("md"))?;
    file.write_all(report(args, &steps).as_bytes())?;
    Ok(())
}

/// Submits these documents from two threads.
pub fn fill(
    numbers: std::ops::Range<u64>,
    submit: impl Fn(u64) -> anyhow::Result<Pending> + Sync,
) -> anyhow::Result<()> {
    let next = AtomicU64::new(numbers.start);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| -> anyhow::Result<()> {
                    let mut waiting: std::collections::VecDeque<Pending> = Default::default();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= numbers.end {
                            break;
                        }
                        waiting.push_back(submit(number)?);
                        if waiting.len() > IN_FLIGHT {
                            waiting.pop_front().context("it is not empty")?.wait()?;
                        }
                    }
                    for pending in waiting {
                        pending.wait()?;
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })
}

pub fn submit(store: &Store, corpus: &Corpus, number: u64) -> anyhow::Result<Pending> {
    let document = corpus.document(number);
    let key = format!("https://blog{}.example/{number}", number % 1000);
    let new = NewDocument {
        title: Some(document.title.as_str().into()),
        ..NewDocument::text(&key, Some(Timestamp::from_microseconds(number as i64)), &document.text)
    };
    Ok(store.submit(store.prepare(&new)?)?)
}

/// Median and 99th percentile in microseconds: the index's question, and a whole check.
fn ask(
    store: &Store,
    corpus: &Corpus,
    documents: u64,
    questions: u64,
) -> anyhow::Result<([f64; 2], [f64; 2])> {
    let maker = store.params().feature_maker()?;
    let shingle_words = store.params().shingle_words;
    let index = store.index();
    let index = index.read().expect("no one panics with it");
    let (mut alone, mut whole) = (Vec::new(), Vec::new());
    let mut found = 0;
    let mut prepared = Vec::new();
    for question in 0..questions {
        // Half of them are stored documents, half were never seen.
        let number = question * 7919 % documents + if question % 2 == 0 { 0 } else { 1 << 40 };
        let text = corpus.document(number).text;
        let shingles = wonbon_text::shingles::shingles(&text, shingle_words);
        prepared.push((maker.features(&shingles).values().to_vec(), text));
    }
    for (features, _) in &prepared {
        let started = Instant::now();
        found += usize::from(index.first_match(features)?.is_some());
        alone.push(started.elapsed());
    }
    drop(index);
    anyhow::ensure!(found as u64 >= questions / 3, "only {found} of {questions} found");
    for (_, text) in prepared.iter().take(2000) {
        let started = Instant::now();
        store.check(&NewDocument::text("asked", None, text))?;
        whole.push(started.elapsed());
    }
    Ok((percentiles(&mut alone), percentiles(&mut whole)))
}

pub fn percentiles(times: &mut [Duration]) -> [f64; 2] {
    times.sort_unstable();
    [times.len() / 2, times.len() * 99 / 100].map(|at| times[at].as_secs_f64() * 1e6)
}

/// Clients that each wait for their acknowledgement.
pub fn add_from(
    stores: &[Store],
    corpus: &Corpus,
    next: &AtomicU64,
    clients: usize,
    seconds: f64,
) -> anyhow::Result<Adds> {
    // Made beforehand: a client's text exists before it is sent.
    let most = (seconds * 25_000.0) as u64;
    let first = next.load(Ordering::Relaxed);
    let posts: Vec<_> = (first..first + most).map(|number| corpus.document(number)).collect();
    let at = AtomicU64::new(0);
    let processor = ProcessTime::now();
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(seconds);
    let times: Vec<Vec<Duration>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                let (store, posts, at) = (&stores[client % stores.len()], &posts, &at);
                scope.spawn(move || -> anyhow::Result<Vec<Duration>> {
                    let mut times = Vec::new();
                    while Instant::now() < end {
                        let place = at.fetch_add(1, Ordering::Relaxed);
                        let Some(post) = posts.get(place as usize) else { break };
                        let key =
                            format!("https://blog{}.example/{}", post.number % 1000, post.number);
                        let started = Instant::now();
                        let new = NewDocument {
                            title: Some(post.title.as_str().into()),
                            ..NewDocument::text(
                                &key,
                                Some(Timestamp::from_microseconds(post.number as i64)),
                                &post.text,
                            )
                        };
                        store.add(&new)?;
                        times.push(started.elapsed());
                    }
                    Ok(times)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Result<_, _>>()
    })?;
    let elapsed = started.elapsed().as_secs_f64();
    next.fetch_add(at.into_inner().min(most), Ordering::Relaxed);
    let mut times: Vec<Duration> = times.into_iter().flatten().collect();
    let added = times.len() as f64;
    let stopped = Instant::now();
    for store in stores {
        match store.catch_up() {
            Err(StoreError::NotFollowed { .. }) => {}
            caught_up => caught_up?,
        }
    }
    Ok(Adds {
        clients,
        fsync: [f64::NAN; 2],
        rate: added / elapsed,
        processor: processor.elapsed().as_secs_f64() / added * 1e6,
        latency: percentiles(&mut times),
        behind: stopped.elapsed().as_secs_f64(),
    })
}

/// The time of writing 8 kB and syncing, one after the other for a second: what a loop that does nothing
/// else reaches. Over a file that is there, as the store's log mostly is written, or behind its end.
fn fsync_seconds(directory: &Path, over: bool) -> anyhow::Result<f64> {
    const PLACES: u64 = 1024;
    let path = directory.join("fsync");
    let file = File::create(&path)?;
    if over {
        file.write_all_at(&vec![7; PLACES as usize * 8192], 0)?;
        file.sync_all()?;
    }
    let (started, mut written) = (Instant::now(), 0);
    while started.elapsed() < Duration::from_secs(1) {
        let place = if over { written % PLACES } else { written };
        file.write_all_at(&[8; 8192], place * 8192)?;
        file.sync_data()?;
        written += 1;
    }
    std::fs::remove_file(path)?;
    Ok(started.elapsed().as_secs_f64() / written as f64)
}

/// Both ways.
fn fsyncs(directory: &Path) -> anyhow::Result<[f64; 2]> {
    Ok([fsync_seconds(directory, true)?, fsync_seconds(directory, false)?])
}

fn report(args: &AddsArgs, steps: &[Step]) -> String {
    let mut text = String::new();
    text.push_str("# The whole store: checks and durable adds\n\n");
    text.push_str(&args.report.head());
    text.push_str(
        "- documents of about 2 kB, half Korean-like, half English-like, a tenth of them copies; rule 2of6; \
         each client waits for its acknowledgement; search and the index of shingles are kept up beside\n\
         - question: the index alone, features to answer; check: text to verdict, the database included; \
         microseconds, median / 99th percentile\n\
         - fsync: writing 8 kB and syncing, one after the other, over a file that is there / behind the end of one; \
         mean of a second just before and a second just after; one client at best makes 1 / fsync adds a second\n\
         - processor: time of all threads for an add, until search has caught up\n\n",
    );
    text.push_str(
        "| documents | question | check | index, bytes an original | database, bytes a document | \
         search, bytes a document | shingles, bytes a document | open, s | fill and index, documents a second |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    let mut before = 0;
    for step in steps {
        let _ = writeln!(
            text,
            "| {} | {:.1} / {:.1} | {:.0} / {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | {:.0} |",
            step.documents,
            step.question[0],
            step.question[1],
            step.check[0],
            step.check[1],
            step.index_bytes,
            step.database_bytes,
            step.search_bytes,
            step.shingle_bytes,
            step.open_seconds,
            (step.documents - before) as f64 / step.fill_seconds
        );
        before = step.documents;
    }
    text.push_str(
        "\n| documents | fsync, ms | clients | adds a second | of 1 / fsync | p50, ms | p99, ms | \
         processor, µs an add | search behind, s |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for step in steps {
        for Adds { clients, fsync, rate, processor, latency, behind } in &step.adds {
            let _ = writeln!(
                text,
                "| {} | {:.2} / {:.2} | {clients} | {rate:.0} | {:.2} / {:.2} | {:.2} | {:.2} | {processor:.0} | {behind:.1} |",
                step.documents,
                fsync[0] * 1e3,
                fsync[1] * 1e3,
                rate * fsync[0],
                rate * fsync[1],
                latency[0] / 1e3,
                latency[1] / 1e3,
            );
        }
    }
    text
}
