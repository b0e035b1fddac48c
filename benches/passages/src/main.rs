//! Our side of the benchmark of passages.
//!
//! `passages-bench generate MEGABYTES > corpus.jsonl`: posts of made-up words, and in every fifth of them, and twice in every
//! fiftieth, one of 2,000 planted passages of 60 to 200 words, the first ones far more often than the last.
//!
//! `passages-bench remove|list WORDS MEMORY_MB CORPUS... OUT`: the job of `wonbon dedup --passages-only` or `wonbon passages` on
//! one thread. Prints a line of JSON: seconds of CPU and of the clock for each phase, peak memory, the most bytes that the
//! run's folder had on disk (looked at every 50 ms), and what was found.

use std::io::{BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use wonbon_cluster::deciding::FamilyConfig;
use wonbon_cluster::dedup::{DedupConfig, PassageOptions, dedup};
use wonbon_cluster::passages::{ListConfig, PassageUnit, list_passages};
use wonbon_documents::{Dates, FieldNames, Limits, Unwatched};
use wonbon_testkit::generate::{Corpus, CorpusParams};

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [what, megabytes] if what == "generate" => generate(megabytes.parse()?),
        [what, words, memory, inputs @ .., out] if !inputs.is_empty() => {
            let inputs = inputs.iter().map(PathBuf::from).collect();
            let memory = memory.parse::<u64>()? << 20;
            measure(what == "list", words.parse()?, memory, inputs, PathBuf::from(out))
        }
        _ => Err("see the head of main.rs".into()),
    }
}

/// A sequence of numbers that looks random; the same for every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn generate(megabytes: u64) -> Result<(), Failed> {
    let mut numbers = Numbers(1997);
    let mean_words = 500;
    let documents = megabytes * 1_000_000 / 3000;
    let params = CorpusParams { documents, mean_words, copy_share: 0.0, korean_share: 0.0, seed: 1997, ..CorpusParams::default() };
    let planted = Corpus::new(CorpusParams { documents: 2000, mean_words: 130, seed: 7, ..params.clone() });
    let texts_of = |corpus: &Corpus| -> Result<Vec<String>, Failed> {
        let mut lines = Vec::new();
        corpus.write_json_lines(&mut lines)?;
        let rows = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        rows.map(|row| {
            let row: Value = serde_json::from_slice(row)?;
            Ok(row["text"].as_str().unwrap_or_default().to_owned())
        })
        .collect()
    };
    let passages = texts_of(&planted)?;
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut written = 0;
    let mut part = 0;
    // In parts, because the generator's texts are held in memory.
    while written < megabytes * 1_000_000 {
        let corpus = Corpus::new(CorpusParams {
            documents: 20_000.min(documents),
            seed: 1997 + part,
            ..params.clone()
        });
        for text in texts_of(&corpus)? {
            let mut text = text;
            for _ in 0..u64::from(numbers.below(5) == 0) + u64::from(numbers.below(50) == 0) {
                let number = numbers.below(2000) * numbers.below(2000) / 2000;
                let passage = &passages[number as usize];
                let at = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                let at = text[at..].find(' ').map_or(text.len(), |space| at + space);
                text.insert_str(at, &format!(" \n{passage}\n"));
            }
            written += text.len() as u64;
            writeln!(out, "{}", json!({"id": format!("{part}-{written}"), "text": text}))?;
            if written >= megabytes * 1_000_000 {
                break;
            }
        }
        part += 1;
    }
    Ok(out.flush()?)
}

fn measure(
    is_list: bool,
    words: usize,
    memory: u64,
    inputs: Vec<PathBuf>,
    out: PathBuf,
) -> Result<(), Failed> {
    let partial = out.with_file_name(format!(
        "{}.partial",
        out.file_name().unwrap_or_default().to_string_lossy()
    ));
    let running = Arc::new(AtomicBool::new(true));
    let watcher = std::thread::spawn({
        let (running, work) = (Arc::clone(&running), partial.join("work"));
        move || {
            let mut most = 0;
            while running.load(Ordering::Relaxed) {
                most = most.max(size(&work));
                std::thread::sleep(Duration::from_millis(50));
            }
            most
        }
    });
    let summary = if is_list {
        let config = ListConfig {
            inputs,
            output: out,
            fields: FieldNames::default(),
            words,
            min_documents: 2,
            places: 100,
            against: Vec::new(),
            strict: false,
            limits: Limits::default(),
            threads: NonZeroUsize::MIN,
            memory,
            part_bytes: 64 << 20,
        };
        serde_json::to_value(list_passages(&config, &Unwatched)?)?
    } else {
        let passages = PassageOptions {
            words,
            only: true,
            unit: PassageUnit::Word,
            min_left: 1,
            of_others_only: false,
        };
        let config = DedupConfig {
            inputs,
            output: out,
            fields: FieldNames::default(),
            dates: Dates::default(),
            method: FamilyConfig { memory, ..FamilyConfig::default() },
            pairs: None,
            annotate: false,
            strict: false,
            limits: Limits::default(),
            against: Vec::new(),
            part_bytes: 64 << 20,
            save_sketches: false,
            passages: Some(passages),
        };
        serde_json::to_value(dedup(&config, &Unwatched)?)?
    };
    running.store(false, Ordering::Relaxed);
    let disk = watcher.join().map_err(|_| "the watcher panicked")?;
    let phases = summary["phases"].as_array().cloned().unwrap_or_default();
    let sum = |name: &str| phases.iter().filter_map(|phase| phase[name].as_f64()).sum::<f64>();
    let text = summary["text_bytes"].as_f64().unwrap_or(0.0);
    let peak = phases.iter().filter_map(|phase| phase["peak_bytes"].as_u64()).max();
    println!(
        "{}",
        json!({
            "text_mb": text / 1e6,
            "cpu_seconds": sum("cpu_seconds"),
            "seconds": sum("seconds"),
            "mb_a_cpu_second": text / 1e6 / sum("cpu_seconds"),
            "peak_mb": peak.unwrap_or(0) / 1_000_000,
            "disk_to_text": disk as f64 / text,
            "phases": phases.iter().map(|phase| json!([phase["phase"], phase["cpu_seconds"]])).collect::<Vec<_>>(),
            "passages": summary["passages"],
            "repeated_bytes": summary["repeated_bytes"],
        })
    );
    Ok(())
}

fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}
