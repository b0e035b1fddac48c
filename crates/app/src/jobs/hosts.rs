//! A fetcher that counts what goes through it: hosts, and requests that failed lately.
//!
//! The crawl's own counts say how many pages came and how many failed; people who watch one want to
//! know which hosts, and why. Counts begin with the process: they are for watching, not a record.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use wonbon_crawl::fetch::{Answer, Answering, Ask, FetchError, Fetcher};

use super::record::{Failure, HostCount};

/// Hosts that are counted; what comes later is not.
const MOST_HOSTS: usize = 10_000;
/// Hosts that are shown.
const SHOWN_HOSTS: usize = 25;
/// Failures that are kept.
const FAILURES: usize = 25;

/// Counts what goes through.
pub(super) struct Counting {
    fetcher: Arc<dyn Fetcher>,
    counted: Mutex<Counted>,
}

#[derive(Default)]
struct Counted {
    hosts: HashMap<String, HostCount>,
    failures: VecDeque<Failure>,
}

impl Counting {
    pub(super) fn new(fetcher: Arc<dyn Fetcher>) -> Self {
        Counting { fetcher, counted: Mutex::default() }
    }

    /// The hosts most asked, and the latest failures.
    pub(super) fn snapshot(&self) -> (Vec<HostCount>, Vec<Failure>) {
        let counted = self.counted.lock().expect("nobody panics with it");
        let mut hosts: Vec<&HostCount> = counted.hosts.values().collect();
        let asked = |host: &HostCount| host.answers + host.failures;
        hosts.sort_by(|a, b| asked(b).cmp(&asked(a)).then_with(|| a.host.cmp(&b.host)));
        let hosts = hosts.into_iter().take(SHOWN_HOSTS).cloned().collect();
        (hosts, counted.failures.iter().cloned().collect())
    }

    fn count(&self, host: &str, url: &str, got: Result<(u64, u16), String>) {
        let mut counted = self.counted.lock().expect("nobody panics with it");
        let Counted { hosts, failures } = &mut *counted;
        let why = match &got {
            Ok((_, status)) if *status >= 500 => Some(format!("status {status}")),
            Ok(_) => None,
            Err(why) => Some(why.clone()),
        };
        if hosts.len() < MOST_HOSTS || hosts.contains_key(host) {
            let of = hosts.entry(host.to_owned()).or_default();
            if of.host.is_empty() {
                host.clone_into(&mut of.host);
            }
            of.answers += u64::from(got.is_ok());
            of.bytes += got.as_ref().map_or(0, |(bytes, _)| *bytes);
            of.failures += u64::from(why.is_some());
        }
        if let Some(why) = why {
            failures.push_front(Failure { url: url.to_owned(), why });
            failures.truncate(FAILURES);
        }
    }
}

impl Fetcher for Counting {
    fn resolve<'a>(&'a self, host: &'a str) -> Answering<'a, Result<Vec<IpAddr>, FetchError>> {
        Box::pin(async move {
            let found = self.fetcher.resolve(host).await;
            if let Err(error) = &found {
                self.count(host, host, Err(error.to_string()));
            }
            found
        })
    }

    fn fetch(&self, ask: Ask) -> Answering<'_, Result<Answer, FetchError>> {
        Box::pin(async move {
            let url = ask.url.clone();
            let got = self.fetcher.fetch(ask).await;
            let counted = match &got {
                Ok(answer) => Ok((answer.body.len() as u64, answer.status)),
                Err(error) => Err(error.to_string()),
            };
            self.count(url.host_str().unwrap_or_default(), url.as_str(), counted);
            got
        })
    }

    fn is_live(&self) -> bool {
        self.fetcher.is_live()
    }
}
