//! What a join did, for people and for programs.

use std::fmt::Write as _;
use std::time::Duration;

use wonbon_join::{Counters, Threshold};

/// Everything `--stats` prints.
pub(crate) struct Stats {
    pub algorithm: &'static str,
    pub measure: &'static str,
    pub threshold: Threshold,
    pub threads: usize,
    pub lines: u64,
    pub records: u64,
    pub tokens: u64,
    pub counters: Counters,
    pub pairs: u64,
    pub reading: Duration,
    pub ordering: Duration,
    pub joining: Duration,
    pub writing: Duration,
}

impl Stats {
    /// One fact a line.
    pub(crate) fn as_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<16}{value}");
        };
        line("algorithm", self.algorithm.to_owned());
        line("threshold", format!("{} {}", self.measure, self.threshold));
        line("threads", self.threads.to_string());
        line("lines", self.lines.to_string());
        line("distinct sets", self.records.to_string());
        line("tokens", self.tokens.to_string());
        line("postings", self.counters.postings.to_string());
        line("comparisons", self.counters.comparisons.to_string());
        line("candidates", self.counters.candidates.to_string());
        line("distinct pairs", self.counters.results.to_string());
        line("pairs", self.pairs.to_string());
        line("reading", format!("{:.3} s", self.reading.as_secs_f64()));
        line("ordering", format!("{:.3} s", self.ordering.as_secs_f64()));
        line("joining", format!("{:.3} s", self.joining.as_secs_f64()));
        line("writing", format!("{:.3} s", self.writing.as_secs_f64()));
        let memory = peak_memory()
            .map_or("unknown".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6));
        line("peak memory", memory);
        text.truncate(text.trim_end().len());
        text
    }

    /// One JSON object.
    pub(crate) fn as_json(&self) -> String {
        serde_json::json!({
            "algorithm": self.algorithm,
            "measure": self.measure,
            "threshold": self.threshold.to_string(),
            "threads": self.threads,
            "lines": self.lines,
            "distinct_sets": self.records,
            "tokens": self.tokens,
            "postings": self.counters.postings,
            "comparisons": self.counters.comparisons,
            "candidates": self.counters.candidates,
            "distinct_pairs": self.counters.results,
            "pairs": self.pairs,
            "reading_seconds": self.reading.as_secs_f64(),
            "ordering_seconds": self.ordering.as_secs_f64(),
            "joining_seconds": self.joining.as_secs_f64(),
            "writing_seconds": self.writing.as_secs_f64(),
            "peak_memory_bytes": peak_memory(),
        })
        .to_string()
    }
}

/// The most memory this process has had resident, where the system says it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
