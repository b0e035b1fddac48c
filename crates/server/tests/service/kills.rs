//! A service that is killed again and again while it takes streams of documents, crawls, deduplicates and
//! imports: what was acknowledged is there, jobs go on and end as if nothing had happened, and the store
//! is as it should be.
//!
//! `WONBON_KILLS` sets how often it is killed, 20 by default, and `WONBON_WRITERS` how many clients send
//! documents, 2 by default; scripts/hard.sh: 2,000 and 8.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::Guard;
use wonbon_crawl::plan::Plan;
use wonbon_crawl::progress::{Control, Unwatched};
use wonbon_store::Store;
use wonbon_testkit::crawl::toy_web::ToyHost;
use wonbon_testkit::long;

use crate::jobs::{
    begin, change, corpus, crawl_of, get, same_files, seed, slow_web, undisturbed_dedup,
    until_state,
};
use crate::process::{acknowledged, address_of, start_child, stream};

/// Pages of the web that is crawled.
const PAGES: u64 = 90;
/// Documents of the corpus that is deduplicated and imported.
const DOCUMENTS: u64 = 1500;

/// The addresses and links that a crawl nobody disturbs finds, sorted.
fn undisturbed_crawl(host: &ToyHost, directory: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut plan = Plan::default();
    plan.params.seeds = vec![seed(host)];
    plan.params.order = "bfs".to_owned();
    plan.pace.delay = Duration::ZERO;
    let guard = Guard::allowing(&["127.0.0.1".to_owned()], &Default::default()).unwrap();
    let agent = plan.params.agent.clone();
    let network = Network::new(NetworkConfig { agent, guard, ..NetworkConfig::default() }).unwrap();
    let crawl = Crawl::begin(directory, plan, None).unwrap();
    crawl.run(Arc::new(network), None, &Unwatched, &Control::default()).unwrap();
    wonbon_crawl::link_graph::write(directory).unwrap();
    links(directory)
}

/// Which page a crawl found to link to which.
fn links(directory: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let read = |name: &str| std::fs::read_to_string(directory.join("graph").join(name)).unwrap();
    let urls = read("urls.txt");
    let urls: Vec<&str> = urls.lines().collect();
    let mut links: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in read("states.tsv").lines() {
        let mut parts = line.split('\t');
        let page: usize = parts.next().unwrap().parse().unwrap();
        let state = format!("is {}", parts.next().unwrap());
        assert!(links.insert(urls[page].to_owned(), [state].into()).is_none(), "done with twice");
    }
    for line in read("edges.tsv").lines() {
        let (from, to) = line.split_once('\t').unwrap();
        let number = |text: &str| urls[text.parse::<usize>().unwrap()];
        links.entry(number(from).to_owned()).or_default().insert(number(to).to_owned());
    }
    links
}

/// A job of each kind, started anew when it has ended.
struct Work {
    asked: [Value; 3],
    numbers: [Vec<u64>; 3],
}

impl Work {
    /// Sees to it that a job of each kind is under way; tells how many were when the service came back.
    fn go_on(&mut self, address: SocketAddr) -> usize {
        let mut under_way = 0;
        for (asked, numbers) in self.asked.iter().zip(&mut self.numbers) {
            let state = numbers.last().map(|number| {
                let job = get(address, &format!("/v1/jobs/{number}"));
                if job["state"] == "failed" {
                    // After three kills in a row without progress it waits for a person to resume it.
                    let error = job["error"].as_str().unwrap();
                    assert!(error.starts_with("the service crashed 3 times in a row"), "{job}");
                    let (status, job) = change(address, *number, "resume");
                    assert_eq!(status, 202, "{job}");
                    return "waiting".to_owned();
                }
                job["state"].as_str().unwrap().to_owned()
            });
            if matches!(state.as_deref(), Some("running" | "waiting")) {
                under_way += 1;
            } else {
                numbers.push(begin(address, asked));
            }
        }
        under_way
    }
}

#[test]
fn nothing_acknowledged_is_lost_and_jobs_end_as_ever_after_many_kills() {
    let kills = long::share(long::number("WONBON_KILLS", 20));
    let writers = long::number("WONBON_WRITERS", 2);
    // Each part of a long form kills at other moments.
    let mut random = long::random(9);
    let host = slow_web(PAGES, Duration::from_millis(8));
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("jobs/in/corpus.jsonl");
    std::fs::create_dir_all(input.parent().unwrap()).unwrap();
    corpus(&input, DOCUMENTS);
    let files = json!(["corpus.jsonl"]);
    let mut work = Work {
        asked: [
            crawl_of(&host),
            json!({"kind": "dedup", "inputs": files}),
            json!({"kind": "import", "inputs": files}),
        ],
        numbers: Default::default(),
    };
    let mut all = BTreeSet::new();
    let (mut met_streams, mut met_jobs) = (0, 0);
    let lost = |all: &BTreeSet<String>| {
        let store = Store::open(&folder.path().join("store")).unwrap();
        for id in all {
            assert!(store.get(id).unwrap().is_some(), "{id} was acknowledged and is not there");
        }
        store.close().unwrap();
    };
    for kill in 0..kills {
        let mut child = start_child(folder.path(), &[]);
        let address = address_of(folder.path());
        met_jobs += work.go_on(address);
        let stop = AtomicBool::new(false);
        let told: Vec<BTreeSet<String>> = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..writers)
                .map(|client| {
                    let first = (kill * writers + client) * 1_000_000;
                    let stop = &stop;
                    scope.spawn(move || stream(address, first..first + 1_000_000, stop))
                })
                .collect();
            std::thread::sleep(Duration::from_millis(40 + random.below(160)));
            child.kill().unwrap();
            child.wait().unwrap();
            stop.store(true, Ordering::Relaxed);
            clients.into_iter().map(|client| acknowledged(&client.join().unwrap())).collect()
        });
        met_streams += u64::from(told.iter().any(|ids| !ids.is_empty()));
        let told: BTreeSet<String> = told.into_iter().flatten().collect();
        // What this life acknowledged is looked for at once, everything every tenth time.
        lost(&told);
        all.extend(told);
        if kill % 10 == 9 {
            lost(&all);
        }
    }
    // Undisturbed now, everything comes to its end.
    let mut child = start_child(folder.path(), &[]);
    let address = address_of(folder.path());
    let [crawls, dedups, _] = &work.numbers;
    for number in work.numbers.iter().flatten() {
        until_state(address, *number, "done");
    }
    let resumed: u64 = work
        .numbers
        .iter()
        .flatten()
        .map(|number| get(address, &format!("/v1/jobs/{number}"))["resumed"].as_u64().unwrap())
        .sum();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(met_streams > 0 && met_jobs > 0 && resumed > 0);
    let acknowledged = all.len() as u64;

    let jobs = folder.path().join("jobs");
    let alone = undisturbed_crawl(&host, &folder.path().join("crawl-alone"));
    assert_eq!(alone.len() as u64, PAGES);
    for number in crawls {
        assert_eq!(links(&jobs.join(format!("{number}/crawl"))), alone);
    }
    undisturbed_dedup(&input, &folder.path().join("dedup-alone"));
    for number in dedups {
        let out = jobs.join(format!("{number}/out"));
        let names = ["families.jsonl", "kept/corpus.jsonl"];
        same_files(&out, &folder.path().join("dedup-alone"), &names);
    }
    all.extend((0..DOCUMENTS).map(|number| format!("c{number}")));
    all.extend(alone.into_keys());
    lost(&all);
    let store = Store::open(&folder.path().join("store")).unwrap();
    let verified = store.verify().unwrap();
    assert_eq!((verified.differences, &verified.first), (0, &Vec::new()));
    long::report(
        "kills of the service",
        &[
            ("tried", kills),
            ("amid a stream", met_streams),
            ("jobs amid work", met_jobs as u64),
            ("jobs resumed", resumed),
            ("acknowledged", acknowledged),
            ("lost", 0),
        ],
    );
}
