//! Bombs: what unpacks to much, or never ends, costs what the limits allow and no more.
//!
//! A child process, this very binary, crawls a site of bombs and says how much memory it ever had.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

mod toy_web;

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use toy_web::{Reply, ToyHost, linking, plan};
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::Guard;
use wonbon_crawl::progress::{Control, Unwatched};
use wonbon_time::Timestamp;

const SEED: &str = "WONBON_TOY_SEED";
const FOLDER: &str = "WONBON_TOY_FOLDER";
/// The most memory the child may have: room for large bodies (128 MiB), two threads that read pages
/// of 16 MiB made of nothing but tags, and what a process has anyway.
const MOST_BYTES: u64 = 700 << 20;

#[test]
fn a_child_crawls_what_it_is_told() {
    let (Ok(seed), Ok(folder)) = (std::env::var(SEED), std::env::var(FOLDER)) else { return };
    let mut plan = plan(&[seed]);
    plan.pace.connections = 16;
    plan.pace.concurrency = 16;
    plan.params.limits.whole = std::time::Duration::from_secs(60);
    let config = NetworkConfig {
        agent: plan.params.agent.clone(),
        limits: plan.params.limits,
        guard: Guard::new(vec!["127.0.0.90/32".parse().unwrap()]),
        ..NetworkConfig::default()
    };
    let crawl = Crawl::begin(folder.as_ref(), plan, None).unwrap();
    let network = Arc::new(Network::new(config).unwrap());
    let summary = crawl.run(network, None, &Unwatched, &Control::default()).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
    println!("PEAK {} {:?}", kilobytes * 1024, summary.stats.outcomes);
}

/// Zeros, two times gzip, zstd; each unpacks to a gigabyte.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    const PIECES: usize = 1024;
    let piece = vec![b' '; 1 << 20];
    let gzip = |write: &dyn Fn(&mut dyn Write)| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        write(&mut out);
        out.finish().unwrap()
    };
    let once = gzip(&|out| (0..PIECES).for_each(|_| out.write_all(&piece).unwrap()));
    let twice = gzip(&|out| out.write_all(&once).unwrap());
    let mut zstd = zstd::Encoder::new(Vec::new(), 3).unwrap();
    (0..PIECES).for_each(|_| zstd.write_all(&piece).unwrap());
    vec![("gzip", once), ("gzip, gzip", twice), ("zstd", zstd.finish().unwrap())]
}

#[test]
fn bombs_do_not_fill_the_memory() {
    if std::env::var(SEED).is_ok() {
        return;
    }
    let bombs = bombs();
    let tags = "<b>".repeat(5 << 20);
    let links: String = (0..200_000).map(|link| format!("<a href=/x{link}>")).collect();
    let host = ToyHost::start("127.0.0.90", 90, move |asked| {
        let number: usize =
            asked.path.rsplit('/').next().and_then(|text| text.parse().ok()).unwrap_or(0);
        match asked.path.as_str() {
            "/robots.txt" => Reply::typed("text/plain", "User-agent: *\nDisallow: /x"),
            "/" => {
                let names = ["bomb", "tags", "endless", "packed-tags"];
                let links =
                    names.iter().flat_map(|name| (0..12).map(move |n| format!("/{name}/{n}")));
                Reply::page(linking("home", links.chain(["/links".to_owned()])))
            }
            "/links" => Reply::page(links.clone()),
            path if path.starts_with("/bomb/") => {
                let (coding, body) = &bombs[number % bombs.len()];
                Reply::page(body.clone()).with("Content-Encoding", coding)
            }
            path if path.starts_with("/tags/") => Reply::page(tags.as_bytes()[..7 << 20].to_vec()),
            path if path.starts_with("/packed-tags/") => {
                Reply::page(zstd::encode_all(tags.as_bytes(), 1).unwrap())
                    .with("Content-Encoding", "zstd")
            }
            _ => Reply::Endless,
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_child_crawls_what_it_is_told", "--nocapture"])
        .env(FOLDER, folder.path().join("crawl"))
        .env(SEED, host.url("/"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let line = said.lines().find_map(|line| line.split("PEAK ").nth(1)).unwrap();
    let peak: u64 = line.split_whitespace().next().unwrap().parse().unwrap();
    println!("peak {} MiB: {line}", peak >> 20);
    assert!(line.contains("\"too-large\": 24"), "{line}");
    assert!(peak < MOST_BYTES, "{} MiB", peak >> 20);
}

/// Bytes of this process that are in memory.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let now = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    now.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() * 1024
}

#[test]
#[ignore = "takes a while, and measures well only alone: --ignored --nocapture"]
fn a_million_known_addresses_take_less_than_200_megabytes() {
    use wonbon_crawl::log::{LogWriter, read};
    use wonbon_crawl::records::{Commit, Done, Outcome, Record};
    const KNOWN: u32 = 1_000_000;
    const LINKS: u32 = 100;
    let folder = tempfile::tempdir().unwrap();
    let address = |page: u32| {
        let (site, number) = (page % 2000, u64::from(page) * 2_654_435_761 % 1_000_000_007);
        format!(
            "https://www.site{site}.example/articles/of-the-day/{number:010}/what-happened-then.html"
        )
    };
    let length = address(77).len();
    let mut plan = plan(&[address(0)]);
    plan.params.order = "damped".to_owned();
    drop(Crawl::begin(folder.path(), plan.clone(), None).unwrap());
    let path = folder.path().join("crawl.log");
    let end = read(&path, |_, _| Ok(())).unwrap();
    let mut log = LogWriter::resume(&path, &end).unwrap();
    // Every hundredth page came and made a hundred others known; each also links to earlier ones.
    let mut known = 1;
    let mut page = 0;
    while known < KNOWN {
        let mut done =
            Done::new(page, Outcome::Kept, Timestamp::from_microseconds(i64::from(page)));
        done.new = (known..known + LINKS).map(address).collect();
        done.links = (known..known + LINKS).chain([known / 2, known / 3]).collect();
        done.links.dedup();
        known += LINKS;
        log.push(&Record::Taken(page));
        log.push(&Record::Done(Box::new(done)));
        page += 1;
        if page % 500 == 0 {
            log.commit(Commit::default()).unwrap();
        }
    }
    log.commit(Commit::default()).unwrap();
    drop(log);
    let before = resident_bytes();
    let crawl = Crawl::resume(folder.path(), plan).unwrap();
    let taken = resident_bytes() - before;
    println!(
        "{known} known addresses of {length} bytes, {} done: {:.1} MB",
        crawl.done(),
        taken as f64 / 1e6
    );
    assert!(taken < 200_000_000 / u64::from(KNOWN) * u64::from(known), "{taken}");
}
