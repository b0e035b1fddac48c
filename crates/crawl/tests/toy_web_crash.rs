//! Crawls that are killed: what is durable stays, nothing that is done is asked for again.
//!
//! The crawl runs in a child process, this very test binary started again, and is killed with
//! SIGKILL at random moments. `WONBON_KILLS` says how often: 20 by default, 50 in scripts/hard.sh.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stdout, reason = "says that a check was skipped")]

mod toy_web;

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use toy_web::{Asked, Reply, ToyHost, archived, linking, network, outcomes, plan, texts};
use wonbon_crawl::CrawlError;
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::Guard;
use wonbon_crawl::progress::{Control, Ended, Unwatched};
use wonbon_testkit::long;

const HOSTS: usize = 4;
const PAGES: usize = 6000;
const FOLDER: &str = "WONBON_TOY_FOLDER";
const PORTS: &str = "WONBON_TOY_PORTS";

fn address(number: usize, ports: &[u16]) -> String {
    let host = number % HOSTS;
    format!("http://h{host}.toy:{}/p/{number}", ports[host])
}

fn hosts() -> (Vec<ToyHost>, Vec<u16>) {
    let listeners: Vec<TcpListener> = (0..HOSTS)
        .map(|host| TcpListener::bind(format!("127.0.0.{}:0", 60 + host)).unwrap())
        .collect();
    let ports: Vec<u16> =
        listeners.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
    let hosts = listeners
        .into_iter()
        .enumerate()
        .map(|(host, listener)| {
            let ports = ports.clone();
            let site = move |asked: &Asked| {
                let number = asked.path.strip_prefix("/p/").and_then(|n| n.parse::<usize>().ok());
                let Some(number) = number.filter(|&number| number < PAGES) else {
                    return Reply::status(404);
                };
                if number % 50 == 7 {
                    return Reply::redirect(302, &address((number + 1) % PAGES, &ports));
                }
                let to = [2 * number + 1, 2 * number + 2, (number * 13 + 5) % PAGES];
                let to = to.into_iter().filter(|&to| to < PAGES);
                // Every tenth page is the same as others.
                let title = if number % 10 == 3 { 0 } else { number };
                Reply::page(linking(&format!("{title}"), to.map(|to| address(to, &ports))))
            };
            ToyHost::on(&format!("h{host}.toy"), listener, Arc::new(site))
        })
        .collect();
    (hosts, ports)
}

/// Crawls in this process, begun or gone on with, over the hosts whose ports are given.
fn crawl_here(folder: &Path, ports: &[u16]) {
    let mut plan = plan(&[address(0, ports)]);
    plan.pace.commit_every = Duration::from_millis(5);
    plan.pace.delay = Duration::ZERO;
    let ip = |host: usize| IpAddr::from([127, 0, 0, 60 + host as u8]);
    let names: HashMap<String, Vec<IpAddr>> =
        (0..HOSTS).map(|host| (format!("h{host}.toy"), vec![ip(host)])).collect();
    let config = NetworkConfig {
        agent: plan.params.agent.clone(),
        limits: plan.params.limits,
        guard: Guard::new((0..HOSTS).map(|host| ip(host).into()).collect()),
        names,
        certificates: None,
    };
    let crawl = match Crawl::resume(folder, plan.clone()) {
        // Killed before the first group was durable: nothing had begun.
        Err(CrawlError::NotBegun { .. } | CrawlError::NoCrawl { .. }) => {
            Crawl::begin(folder, plan, None)
        }
        resumed => resumed,
    };
    let network = Arc::new(Network::new(config).unwrap());
    let summary = crawl.unwrap().run(network, None, &Unwatched, &Control::default()).unwrap();
    assert_eq!(summary.ended, Ended::Exhausted);
}

/// The child: does nothing when the tests are run by a person.
#[test]
fn a_child_crawls_what_it_is_told() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let ports = std::env::var(PORTS).unwrap();
    let ports: Vec<u16> = ports.split(',').map(|port| port.parse().unwrap()).collect();
    crawl_here(Path::new(&folder), &ports);
}

fn child(folder: &Path, ports: &[u16]) -> Child {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_child_crawls_what_it_is_told", "--nocapture"])
        .env(FOLDER, folder)
        .env(PORTS, ports.join(","))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn a_crawl_killed_at_random_moments_ends_with_the_same_pages_and_a_clean_archive() {
    let kills: usize = long::share(long::number("WONBON_KILLS", 20)) as usize;
    let (hosts, ports) = hosts();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("crawl");
    // A linear congruence is random enough for moments.
    let mut random = 0x2545_f491_4f6c_dd1d_u64 ^ u64::from(std::process::id());
    let mut done_by: Vec<(Instant, HashSet<String>)> = Vec::new();
    let mut killed = 0;
    for _ in 0..kills {
        let mut child = child(&folder, &ports);
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Short lives: on a fast machine the crawl must not end before most of the kills.
        std::thread::sleep(Duration::from_micros(5_000 + (random >> 33) % 35_000));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            killed += 1;
        }
        child.wait().unwrap();
        let now = Instant::now();
        if folder.join("crawl.log").metadata().is_ok_and(|file| file.len() > 12) {
            let done = outcomes(&folder).into_iter().map(|(address, _)| address).collect();
            done_by.push((now, done));
        }
    }
    assert!(killed * 2 > kills, "only {killed} of {kills} were killed");
    let output = child(&folder, &ports).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let whole = tempfile::tempdir().unwrap();
    let whole = whole.path().join("crawl");
    let mut asked: Vec<(Instant, String)> = Vec::new();
    for host in &hosts {
        let requests = host.asked.lock().unwrap();
        asked.extend(requests.iter().map(|a| (a.at, format!("{}{}", host.name, a.path))));
    }
    crawl_here(&whole, &ports);
    let got = outcomes(&folder);
    let pages = |all: &[(String, wonbon_crawl::records::Outcome)]| -> Vec<String> {
        all.iter().map(|(address, _)| address.clone()).collect()
    };
    let mut unique = pages(&got);
    unique.dedup();
    assert_eq!(unique.len(), got.len(), "a page is done with once");
    assert_eq!(got.len(), PAGES);
    assert_eq!(pages(&got), pages(&outcomes(&whole)));
    // What was durable when the process was killed was never asked for again.
    for (at, address) in &asked {
        let known = done_by.iter().find(|(killed, done)| killed < at && done.contains(address));
        assert!(known.is_none(), "{address} was asked for again");
    }
    // Every page that is done with has its records, whole; and the texts can be read.
    let records = archived(&folder);
    let came: HashSet<&str> = records
        .iter()
        .filter(|(kind, _)| kind == "response" || kind == "revisit")
        .map(|(_, target)| target.as_str())
        .collect();
    assert_eq!(came.len(), PAGES + HOSTS, "every page and every robots.txt");
    let rows = texts(&folder);
    assert_eq!(rows.len(), texts(&whole).len());
    warcio_check(&folder);
    long::report(
        "kills of a crawl",
        &[("tried", kills as u64), ("amid work", killed as u64), ("lost", 0)],
    );
}

/// What another program says of the archive, where it can be had.
fn warcio_check(folder: &Path) {
    let programs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("warcio");
    let program = programs.join("bin/warcio");
    if !program.exists() {
        let made = Command::new("python3").args(["-m", "venv"]).arg(&programs).status();
        let install = ["-m", "pip", "install", "--quiet", "warcio"];
        let installed = Command::new(programs.join("bin/python")).args(install).status();
        if !made.is_ok_and(|made| made.success()) || !installed.is_ok_and(|done| done.success()) {
            println!("skipped: warcio could not be installed");
            return;
        }
    }
    for entry in std::fs::read_dir(folder.join("archive")).unwrap() {
        let path = entry.unwrap().path();
        let checked = Command::new(&program).arg("check").arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&checked.stdout);
        assert!(checked.status.success(), "{said}");
    }
}

#[test]
fn a_crawl_that_was_stopped_goes_on() {
    let host = ToyHost::start("stop.toy", 70, |asked| match asked.path.as_str() {
        "/robots.txt" => Reply::status(404),
        path => {
            let number: usize = path[1..].parse().unwrap_or(0);
            let page = Reply::page(linking(path, [format!("/{}", (number + 1).min(60))]));
            Reply::After(Duration::from_millis(5), Box::new(page))
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let plan = plan(&[host.url("/0")]);
    let mut lives = 0;
    let mut crawl = Crawl::begin(folder.path(), plan.clone(), None).unwrap();
    loop {
        lives += 1;
        let control = Control::default();
        let stopper = control.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            stopper.stop();
        });
        let summary = crawl.run(network(&plan, &[&host]), None, &Unwatched, &control).unwrap();
        if summary.ended == Ended::Exhausted {
            break;
        }
        crawl = Crawl::resume(folder.path(), plan.clone()).unwrap();
    }
    assert!(lives > 1);
    // A crawl that is asked to stop finishes what it began: nothing is asked for twice.
    let mut paths = host.paths();
    paths.sort();
    paths.dedup();
    assert_eq!((paths.len(), host.paths().len()), (62, 62));
    archived(folder.path());
}

#[test]
fn what_is_no_crawl_or_another_one_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("crawl");
    let plan = plan(&["http://a.toy/".to_owned()]);
    let message = |result: Result<Crawl, CrawlError>| result.unwrap_err().to_string();
    assert!(message(Crawl::resume(&directory, plan.clone())).contains("holds no crawl"));
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("notes.txt"), "mine").unwrap();
    assert!(message(Crawl::begin(&directory, plan.clone(), None)).contains("is not empty"));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1);
    std::fs::remove_file(directory.join("notes.txt")).unwrap();
    let running = Crawl::begin(&directory, plan.clone(), None).unwrap();
    assert!(message(Crawl::begin(&directory, plan.clone(), None)).contains("a crawl already"));
    assert!(message(Crawl::resume(&directory, plan.clone())).contains("another process"));
    drop(running);
    let mut other = plan.clone();
    other.params.depth = Some(3);
    let refused = message(Crawl::resume(&directory, other));
    assert!(refused.contains("depth null, not 3"), "{refused}");
    let mut bad = plan.clone();
    for (seed, expected) in
        [("mailto:x@y", "no http or https address"), ("/relative", "no http or https address")]
    {
        bad.params.seeds = vec![seed.to_owned()];
        assert!(
            message(Crawl::begin(&folder.path().join("b"), bad.clone(), None)).contains(expected)
        );
    }
    bad = plan.clone();
    bad.params.exclude = vec!["/".to_owned()];
    let refused = message(Crawl::begin(&folder.path().join("b"), bad, None));
    assert!(refused.contains("outside the scope"), "{refused}");
    assert!(!folder.path().join("b").exists());
    let resumed = Crawl::resume(&directory, plan).unwrap();
    assert_eq!(resumed.done(), 0);
}
