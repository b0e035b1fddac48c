//! Metrics of the service in the text format of OpenMetrics, which Prometheus reads.
//!
//! Handlers add to counters, gauges and histograms. What the store and the jobs know themselves
//! (documents, bytes, how far search is behind) is asked when somebody reads `/metrics`. Cost of a
//! request: one look-up by its route, whose counters and histogram are kept once they were made.

use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use prometheus_client::encoding::text::{encode, encode_registry};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use wonbon_store::{Added, Kind, Store, StoreError, Stored};

use crate::body_budget::BodyBudget;

use wonbon_app::answers::change_name;
use wonbon_app::jobs::Jobs;

/// What the text is called in HTTP.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Upper ends of the classes of time, in seconds.
const CLASSES: [f64; 14] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// All that an add can change.
const CHANGES: [Stored; 3] = [Stored::New, Stored::Updated, Stored::Unchanged];

/// Names with their values.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// Histograms of time, by labels.
type Times<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;

fn times<const N: usize>() -> Times<N> {
    Family::new_with_constructor(|| Histogram::new(CLASSES))
}

/// What is counted of one route; made when it is first asked.
#[derive(Debug)]
struct RouteCounts {
    labels: Labels<2>,
    /// By class of status.
    answered: [OnceLock<Counter>; STATUSES.len()],
    took: OnceLock<Histogram>,
}

/// Classes of status.
const STATUSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

impl RouteCounts {
    fn new(method: &'static str, path: &'static str) -> Self {
        RouteCounts {
            labels: [("method", method), ("route", path)],
            answered: Default::default(),
            took: OnceLock::new(),
        }
    }
}

fn registry() -> Registry {
    Registry::with_prefix("wonbon")
}

/// What the service counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: Instant,
    registry: Registry,
    /// By method and path.
    routes: HashMap<(&'static str, &'static str), RouteCounts>,
    /// What no route answered.
    elsewhere: RouteCounts,
    answered: Family<Labels<3>, Counter>,
    took: Times<2>,
    adds: Family<Labels<2>, Counter>,
    durable: Times<1>,
    redirects: Counter,
    refused_adds: Counter,
    /// Documents that wait for the writer.
    pub(crate) waiting: Gauge,
    /// Requests that are being answered.
    pub(crate) requests: Gauge,
    /// Connections that are open.
    pub(crate) connections: Gauge,
    /// Questions that wait for a thread or have one.
    pub(crate) questions: Gauge,
}

/// Something that is under way, until it is dropped: what a client gives up half-way is counted off too.
pub(crate) struct Counted(Gauge);

impl Counted {
    pub(crate) fn begin(gauge: &Gauge) -> Self {
        gauge.inc();
        Counted(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    /// For these routes.
    pub(crate) fn new(routes: impl Iterator<Item = (&'static str, &'static str)>) -> Self {
        let mut metrics = Metrics {
            started: Instant::now(),
            registry: registry(),
            routes: routes
                .map(|(method, path)| ((method, path), RouteCounts::new(method, path)))
                .collect(),
            elsewhere: RouteCounts::new("any", "elsewhere"),
            answered: Family::default(),
            took: times(),
            adds: Family::default(),
            durable: times(),
            redirects: Counter::default(),
            refused_adds: Counter::default(),
            waiting: Gauge::default(),
            requests: Gauge::default(),
            connections: Gauge::default(),
            questions: Gauge::default(),
        };
        // What did not happen yet is told as zero.
        for (change, kind) in
            CHANGES.into_iter().flat_map(|change| Kind::ALL.map(|kind| (change, kind)))
        {
            drop(
                metrics
                    .adds
                    .get_or_create(&[("change", change_name(change)), ("verdict", kind.name())]),
            );
        }
        drop(metrics.durable.get_or_create(&[("kind", "document")]));
        let registry = &mut metrics.registry;
        let help = "requests by route and class of status";
        registry.register("requests", help, metrics.answered.clone());
        let help = "time from the request's head to the answer's head";
        registry.register("request_seconds", help, metrics.took.clone());
        let help = "documents that were added, by what changed and by verdict";
        registry.register("adds", help, metrics.adds.clone());
        let help = "time from reading a document to its being durable";
        registry.register("add_durable_seconds", help, metrics.durable.clone());
        registry.register("redirects", "redirects that were noted", metrics.redirects.clone());
        let help = "documents that were refused";
        registry.register("adds_refused", help, metrics.refused_adds.clone());
        for (name, help, gauge) in [
            ("queue_documents", "documents that wait for the writer", &metrics.waiting),
            ("requests_open", "requests that are being answered", &metrics.requests),
            ("connections_open", "connections that are open", &metrics.connections),
            ("questions_open", "questions that wait or are answered", &metrics.questions),
        ] {
            registry.register(name, help, gauge.clone());
        }
        metrics
    }

    pub(crate) fn count_answer(&self, method: &str, path: &str, status: u16, took: Duration) {
        let route = self.routes.get(&(method, path)).unwrap_or(&self.elsewhere);
        let class = usize::from(status / 100).clamp(1, STATUSES.len()) - 1;
        let answered = || {
            let [method, path] = route.labels;
            self.answered.get_or_create(&[method, path, ("status", STATUSES[class])]).clone()
        };
        route.answered[class].get_or_init(answered).inc();
        let took_by = route.took.get_or_init(|| self.took.get_or_create(&route.labels).clone());
        took_by.observe(took.as_secs_f64());
    }

    pub(crate) fn added(&self, added: &Added, took: Duration) {
        let labels =
            [("change", change_name(added.stored)), ("verdict", added.verdict.kind.name())];
        self.adds.get_or_create(&labels).inc();
        self.durable.get_or_create(&[("kind", "document")]).observe(took.as_secs_f64());
    }

    pub(crate) fn redirected(&self) {
        self.redirects.inc();
    }

    pub(crate) fn refused(&self) {
        self.refused_adds.inc();
    }

    /// Everything as text.
    pub(crate) fn text(
        &self,
        store: &Store,
        [bodies, answers]: [&BodyBudget; 2],
        jobs: Option<&Jobs>,
    ) -> Result<String, StoreError> {
        let mut now = registry();
        store_gauges(store, &mut now)?;
        let up = ConstGauge::new(self.started.elapsed().as_secs_f64());
        now.register("up_seconds", "since when the service runs", up);
        let of_bodies =
            "bytes of bodies and lines that requests hold, and the most since the start";
        let of_answers =
            "bytes of large answers that wait for their clients, and the most since the start";
        for (name, help, budget) in
            [("body_bytes", of_bodies, bodies), ("answer_bytes", of_answers, answers)]
        {
            let (held, most) = budget.counts();
            let values = [("now", held as u64), ("most", most as u64)];
            register_gauges(&mut now, name, help, "when", values);
        }
        if let Some(jobs) = jobs {
            job_gauges(jobs, &mut now);
        }
        let mut text = String::with_capacity(16 << 10);
        encode_registry(&mut text, &self.registry)
            .and_then(|()| encode(&mut text, &now))
            .expect("writing to a string does not fail");
        Ok(text)
    }
}

/// Numbers that are known now, by one label.
fn register_gauges(
    registry: &mut Registry,
    name: &str,
    help: &str,
    label: &'static str,
    values: impl IntoIterator<Item = (&'static str, u64)>,
) {
    let gauges = Family::<Labels<1>, Gauge<u64, AtomicU64>>::default();
    for (value, count) in values {
        gauges.get_or_create(&[(label, value)]).set(count);
    }
    registry.register(name, help, gauges);
}

fn store_gauges(store: &Store, registry: &mut Registry) -> Result<(), StoreError> {
    let counts = store.counts()?;
    let documents = [
        ("original", counts.originals),
        ("copy", counts.copies),
        ("empty", counts.empty),
        ("old version", counts.old_versions),
        ("watched", counts.watched),
    ];
    register_gauges(registry, "documents", "documents in the store, by kind", "kind", documents);
    let behind = [("search", store.search_behind()?), ("shingles", store.shingles_behind()?)];
    let help = "changes that something derived has not seen yet";
    register_gauges(registry, "behind_changes", help, "part", behind);
    let disk = store.disk_bytes();
    let bytes = [
        ("database", disk.database),
        ("snapshot", disk.snapshot),
        ("search", disk.search),
        ("shingles", disk.shingles),
    ];
    register_gauges(registry, "disk_bytes", "bytes on disk, by part", "part", bytes);
    let memory = [("index", Some(store.index_bytes() as u64)), ("process", resident_bytes())];
    let memory = memory.into_iter().filter_map(|(part, bytes)| Some((part, bytes?)));
    register_gauges(registry, "memory_bytes", "bytes of memory, by part", "part", memory);
    Ok(())
}

/// Jobs by kind and state, and what all crawls together have counted.
fn job_gauges(jobs: &Jobs, registry: &mut Registry) {
    let gauges = Family::<Labels<2>, Gauge<u64, AtomicU64>>::default();
    for ((kind, state), count) in jobs.counts() {
        gauges.get_or_create(&[("kind", kind), ("state", state)]).set(count);
    }
    registry.register("jobs", "jobs, by kind and state", gauges);
    let counts = jobs.crawl_counts();
    let count = |name: &str| counts.get(name).copied().unwrap_or(0);
    for (name, help, counted) in [
        ("crawl_pages", "pages that crawls brought", "pages"),
        ("crawl_bytes", "bytes of bodies that crawls brought", "bytes"),
        ("crawl_errors", "pages that servers or connections failed", "errors"),
        ("crawl_copies", "pages of crawls that are copies", "copies"),
    ] {
        registry.register(name, help, ConstCounter::new(count(counted)));
    }
    let waiting = ConstGauge::new(i64::try_from(count("waiting")).unwrap_or(i64::MAX));
    registry.register("crawl_queue_pages", "pages that wait in crawls that run", waiting);
}

/// What the process has in memory, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
