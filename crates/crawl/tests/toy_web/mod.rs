//! Crawls of the web for tests ([`wonbon_testkit::crawl::toy_web`]), and what they leave.

#![allow(dead_code, unused_imports, reason = "every test uses a part")]
#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::collections::HashMap;
use std::io::{BufReader, Read};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::guard::Guard;
use wonbon_crawl::plan::Plan;
use wonbon_crawl::progress::{Control, Summary, Unwatched};
use wonbon_crawl::records::{Outcome, Record};
use wonbon_crawl::sink::PageSink;

pub(crate) use wonbon_testkit::crawl::toy_web::{Asked, Reply, Site, ToyHost, linking};

/// A plan for toy hosts: no delay, short waits, everything in the scope.
pub(crate) fn plan(seeds: &[String]) -> Plan {
    let mut plan = Plan::default();
    plan.params.seeds = seeds.to_vec();
    plan.params.scope = wonbon_crawl::plan::ScopeKind::All;
    plan.params.agent = "toybot/1.0 (+test)".to_owned();
    plan.params.limits.connect = Duration::from_secs(2);
    plan.params.limits.first_byte = Duration::from_secs(2);
    plan.params.limits.whole = Duration::from_secs(4);
    plan.pace.delay = Duration::ZERO;
    plan.pace.first_back_off = Duration::from_millis(20);
    plan.pace.commit_every = Duration::from_millis(20);
    plan.pace.threads = 2;
    plan
}

/// A network in which only the toy hosts' addresses may be asked.
pub(crate) fn network(plan: &Plan, hosts: &[&ToyHost]) -> Arc<Network> {
    let names: HashMap<String, Vec<IpAddr>> =
        hosts.iter().map(|host| (host.name.clone(), vec![host.address.ip()])).collect();
    let allow = hosts.iter().map(|host| host.address.ip().into()).collect();
    let config = NetworkConfig {
        agent: plan.params.agent.clone(),
        limits: plan.params.limits,
        guard: Guard::new(allow),
        names,
        certificates: None,
    };
    Arc::new(Network::new(config).unwrap())
}

/// Begins a crawl and runs it to its end.
pub(crate) fn crawl(directory: &Path, plan: &Plan, hosts: &[&ToyHost]) -> Summary {
    crawl_into(directory, plan, hosts, None)
}

pub(crate) fn crawl_into(
    directory: &Path,
    plan: &Plan,
    hosts: &[&ToyHost],
    sink: Option<Arc<dyn PageSink>>,
) -> Summary {
    let crawl = Crawl::begin(directory, plan.clone(), None).unwrap();
    crawl.run(network(plan, hosts), sink, &Unwatched, &Control::default()).unwrap()
}

/// What the log of a crawl says of every page that is done with: path and query (of a host with a
/// name, also the name), sorted.
pub(crate) fn outcomes(directory: &Path) -> Vec<(String, Outcome)> {
    let mut addresses: Vec<String> = Vec::new();
    let mut done: Vec<(String, Outcome)> = Vec::new();
    wonbon_crawl::log::read(&directory.join("crawl.log"), |record, _| {
        match record {
            Record::Seed(address) | Record::Known(address) => addresses.push(address),
            Record::Done(page) => {
                addresses.extend(page.new.iter().cloned());
                done.push((addresses[page.page as usize].clone(), page.outcome));
            }
            _ => {}
        }
        Ok(())
    })
    .unwrap();
    for (address, _) in &mut done {
        let url = url::Url::parse(address).unwrap();
        *address = format!("{}{}", url.host_str().unwrap(), &url[url::Position::BeforePath..]);
    }
    done.sort();
    done
}

/// The addresses of pages with this outcome, as [`outcomes`] writes them.
pub(crate) fn with_outcome(directory: &Path, outcome: Outcome) -> Vec<String> {
    let all = outcomes(directory);
    all.into_iter().filter(|(_, got)| *got == outcome).map(|(address, _)| address).collect()
}

/// Reads all records of the archive, checking their digests; tells kinds and targets.
pub(crate) fn archived(directory: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = std::fs::read_dir(directory.join("archive"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut records = Vec::new();
    for path in files {
        let file = std::fs::File::open(&path).unwrap();
        let mut reader = wonbon_warc::Reader::new(BufReader::new(file));
        while let Some(mut found) = reader.next_record().unwrap() {
            let kind = found.header().kind().to_string();
            let target = found.header().target().unwrap_or_default().to_owned();
            found.read_block(64 << 20).unwrap();
            records.push((kind, target));
        }
    }
    records
}

/// The lines of the file of texts.
pub(crate) fn texts(directory: &Path) -> Vec<serde_json::Value> {
    let file = std::fs::File::open(directory.join("texts.jsonl.zst")).unwrap();
    let mut text = String::new();
    zstd::Decoder::new(file).unwrap().read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
