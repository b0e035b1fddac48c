//! What the service counts, as Prometheus reads it.
//!
//! Counters are atomics that handlers add to; what the store knows itself (documents, bytes, how far
//! search is behind) is asked when somebody reads `/metrics`. Histograms are counted by route, method and
//! class of status, in fixed classes of time, so that a request costs two additions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wonbon_store::{Added, Store, StoreError};

use wonbon_app::answers::verdict_name;
use wonbon_app::jobs::Jobs;

/// Upper ends of the classes of time, in microseconds.
const CLASSES: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000,
    5_000_000, 30_000_000,
];

/// All that a document can be called when it is added.
const VERDICTS: [&str; 8] = [
    "original",
    "copy",
    "identical",
    "same-text",
    "same-shingles",
    "empty",
    "updated",
    "unchanged",
];

/// How long something took, in classes.
#[derive(Debug, Default)]
struct Histogram {
    classes: [AtomicU64; CLASSES.len() + 1],
    microseconds: AtomicU64,
}

impl Histogram {
    fn count(&self, took: Duration) {
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let class = CLASSES.partition_point(|end| *end < microseconds);
        self.classes[class].fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(microseconds, Ordering::Relaxed);
    }

    fn write(&self, text: &mut String, name: &str, labels: &str) {
        let mut sum = 0;
        for (class, count) in self.classes.iter().enumerate() {
            sum += count.load(Ordering::Relaxed);
            let end = CLASSES
                .get(class)
                .map_or_else(|| "+Inf".to_owned(), |end| format!("{}", *end as f64 / 1e6));
            line(text, &format!("{name}_bucket"), &format!("{labels},le=\"{end}\""), sum as f64);
        }
        let seconds = self.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        line(text, &format!("{name}_sum"), labels, seconds);
        line(text, &format!("{name}_count"), labels, sum as f64);
    }
}

/// The requests of one route: by class of status, from 1xx to 5xx.
#[derive(Debug, Default)]
struct OfRoute {
    statuses: [AtomicU64; 5],
    took: Histogram,
}

/// What the service counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    started: Instant,
    routes: BTreeMap<(&'static str, &'static str), OfRoute>,
    elsewhere: OfRoute,
    verdicts: [AtomicU64; VERDICTS.len()],
    redirects: AtomicU64,
    refused_adds: AtomicU64,
    durable: Histogram,
    /// Documents that wait for the writer.
    pub(crate) waiting: AtomicI64,
    /// Requests that are being answered.
    pub(crate) requests: AtomicI64,
    /// Connections that are open.
    pub(crate) connections: AtomicI64,
    /// Questions that wait for a thread or have one.
    pub(crate) questions: AtomicI64,
}

impl Metrics {
    /// For these routes.
    pub(crate) fn new(routes: impl Iterator<Item = (&'static str, &'static str)>) -> Self {
        Metrics {
            started: Instant::now(),
            routes: routes.map(|route| (route, OfRoute::default())).collect(),
            elsewhere: OfRoute::default(),
            verdicts: Default::default(),
            redirects: AtomicU64::new(0),
            refused_adds: AtomicU64::new(0),
            durable: Histogram::default(),
            waiting: AtomicI64::new(0),
            requests: AtomicI64::new(0),
            connections: AtomicI64::new(0),
            questions: AtomicI64::new(0),
        }
    }

    pub(crate) fn answered(&self, method: &str, path: &str, status: u16, took: Duration) {
        let route = self.routes.get(&(method, path)).unwrap_or(&self.elsewhere);
        let class = usize::from(status / 100).clamp(1, 5) - 1;
        route.statuses[class].fetch_add(1, Ordering::Relaxed);
        route.took.count(took);
    }

    pub(crate) fn added(&self, added: &Added, took: Duration) {
        let name = verdict_name(added);
        if let Some(at) = VERDICTS.iter().position(|known| *known == name) {
            self.verdicts[at].fetch_add(1, Ordering::Relaxed);
        }
        self.durable.count(took);
    }

    pub(crate) fn redirected(&self) {
        self.redirects.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused_adds.fetch_add(1, Ordering::Relaxed);
    }

    /// Everything as text.
    pub(crate) fn text(&self, store: &Store, jobs: Option<&Jobs>) -> Result<String, StoreError> {
        let mut text = String::with_capacity(16 << 10);
        head(
            &mut text,
            "wonbon_requests_total",
            "counter",
            "requests by route and class of status",
        );
        let elsewhere = (("any", "elsewhere"), &self.elsewhere);
        let routes = || self.routes.iter().map(|(route, of)| (*route, of)).chain([elsewhere]);
        for ((method, path), of_route) in routes() {
            for (at, count) in of_route.statuses.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let labels =
                        format!("method=\"{method}\",route=\"{path}\",status=\"{}xx\"", at + 1);
                    line(&mut text, "wonbon_requests_total", &labels, count as f64);
                }
            }
        }
        let name = "wonbon_request_seconds";
        head(&mut text, name, "histogram", "time from the request's head to the answer's head");
        for ((method, path), of_route) in routes() {
            if of_route.statuses.iter().any(|count| count.load(Ordering::Relaxed) > 0) {
                let labels = format!("method=\"{method}\",route=\"{path}\"");
                of_route.took.write(&mut text, name, &labels);
            }
        }
        let name = "wonbon_adds_total";
        head(&mut text, name, "counter", "documents that were added, by verdict");
        for (verdict, count) in VERDICTS.iter().zip(&self.verdicts) {
            let count = count.load(Ordering::Relaxed);
            line(&mut text, name, &format!("verdict=\"{verdict}\""), count as f64);
        }
        let name = "wonbon_add_durable_seconds";
        head(&mut text, name, "histogram", "time from reading a document to its being durable");
        self.durable.write(&mut text, name, "kind=\"document\"");
        for (name, what, count) in [
            ("wonbon_redirects_total", "redirects that were noted", &self.redirects),
            ("wonbon_adds_refused_total", "documents that were refused", &self.refused_adds),
        ] {
            head(&mut text, name, "counter", what);
            line(&mut text, name, "", count.load(Ordering::Relaxed) as f64);
        }
        for (name, what, count) in [
            ("wonbon_queue_documents", "documents that wait for the writer", &self.waiting),
            ("wonbon_requests_open", "requests that are being answered", &self.requests),
            ("wonbon_connections_open", "connections that are open", &self.connections),
            ("wonbon_questions_open", "questions that wait or are answered", &self.questions),
        ] {
            head(&mut text, name, "gauge", what);
            line(&mut text, name, "", count.load(Ordering::Relaxed) as f64);
        }
        self.of_store(store, &mut text)?;
        if let Some(jobs) = jobs {
            of_jobs(jobs, &mut text);
        }
        Ok(text)
    }

    fn of_store(&self, store: &Store, text: &mut String) -> Result<(), StoreError> {
        let counts = store.counts()?;
        let name = "wonbon_documents";
        head(text, name, "gauge", "documents in the store, by kind");
        for (kind, count) in [
            ("original", counts.originals),
            ("copy", counts.copies),
            ("empty", counts.empty),
            ("old version", counts.old_versions),
            ("watched", counts.watched),
        ] {
            line(text, name, &format!("kind=\"{kind}\""), count as f64);
        }
        let name = "wonbon_behind_changes";
        head(text, name, "gauge", "changes that something derived has not seen yet");
        line(text, name, "part=\"search\"", store.search_behind()? as f64);
        line(text, name, "part=\"shingles\"", store.shingles_behind()? as f64);
        let disk = store.disk_bytes();
        let name = "wonbon_disk_bytes";
        head(text, name, "gauge", "bytes on disk, by part");
        for (part, bytes) in [
            ("database", disk.database),
            ("snapshot", disk.snapshot),
            ("search", disk.search),
            ("shingles", disk.shingles),
        ] {
            line(text, name, &format!("part=\"{part}\""), bytes as f64);
        }
        let name = "wonbon_memory_bytes";
        head(text, name, "gauge", "bytes of memory, by part");
        line(text, name, "part=\"index\"", store.index_bytes() as f64);
        if let Some(resident) = resident_bytes() {
            line(text, name, "part=\"process\"", resident as f64);
        }
        head(text, "wonbon_up_seconds", "gauge", "since when the service runs");
        line(text, "wonbon_up_seconds", "", self.started.elapsed().as_secs_f64());
        Ok(())
    }
}

/// Jobs by kind and state, and what all crawls together have counted.
fn of_jobs(jobs: &Jobs, text: &mut String) {
    let name = "wonbon_jobs";
    head(text, name, "gauge", "jobs, by kind and state");
    for ((kind, state), count) in jobs.counts() {
        line(text, name, &format!("kind=\"{kind}\",state=\"{state}\""), count as f64);
    }
    let counts = jobs.crawl_counts();
    for (name, kind, what, count) in [
        ("wonbon_crawl_pages_total", "counter", "pages that crawls brought", "pages"),
        ("wonbon_crawl_bytes_total", "counter", "bytes of bodies that crawls brought", "bytes"),
        (
            "wonbon_crawl_errors_total",
            "counter",
            "pages that servers or connections failed",
            "errors",
        ),
        ("wonbon_crawl_copies_total", "counter", "pages of crawls that are copies", "copies"),
        ("wonbon_crawl_queue_pages", "gauge", "pages that wait in crawls that run", "waiting"),
    ] {
        head(text, name, kind, what);
        line(text, name, "", counts.get(count).copied().unwrap_or(0) as f64);
    }
}

fn head(text: &mut String, name: &str, kind: &str, what: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "# HELP {name} {what}\n# TYPE {name} {kind}");
}

fn line(text: &mut String, name: &str, labels: &str, value: f64) {
    // Writing to a string does not fail.
    let _ = if labels.is_empty() {
        writeln!(text, "{name} {value}")
    } else {
        writeln!(text, "{name}{{{labels}}} {value}")
    };
}

/// What the process has in memory, where the system tells.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_each_time_once_and_sums_upwards() {
        let histogram = Histogram::default();
        for microseconds in [1, 100, 101, 3_000, 60_000_000] {
            histogram.count(Duration::from_micros(microseconds));
        }
        let mut text = String::new();
        histogram.write(&mut text, "x", "a=\"b\"");
        assert!(text.contains("x_bucket{a=\"b\",le=\"0.0001\"} 2\n"), "{text}");
        assert!(text.contains("x_bucket{a=\"b\",le=\"0.00025\"} 3\n"), "{text}");
        assert!(text.contains("x_bucket{a=\"b\",le=\"30\"} 4\n"), "{text}");
        assert!(text.contains("x_bucket{a=\"b\",le=\"+Inf\"} 5\n"), "{text}");
        assert!(
            text.contains("x_count{a=\"b\"} 5\n") && text.contains("x_sum{a=\"b\"} 60.003202\n"),
            "{text}"
        );
    }
}
