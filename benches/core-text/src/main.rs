//! Core text extractors side by side on pages with known core text.
//!
//! Measured: word F1, precision and recall per page, averaged, by page type; CPU time per page on
//! one core (best of `--rounds`, parsing included, decoding not: every tool gets the same decoded
//! text); peak memory of a process that runs one tool over everything, above what
//! the loaded pages take; time on nested tags.
//! Left out: metadata, order of the text, formatting.
//!
//! Data: the archives of ../shared/data/web. Run from the checkout:
//!
//! ```text
//! cd benches/core-text && cargo run --release -- ../../../shared/data/web --rounds 5
//! ```
//!
//! `--tool NAME` runs one tool and prints one line per page (name, kind, whether our model learned
//! nothing from its site, F1, precision, recall, ms), `--dump DIR` writes what it found beside the
//! true text. Tools in other languages: `--pages FILE` writes the decoded pages that the tables are about as JSON lines (`set`,
//! `name`, `url`, `html`), and `--found FILE` puts into the tables what a program found in them
//! (`tool`, `set`, `name`, `text`, `ms`); `others.py` is such a program.

mod tables;
mod tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use core_text_learn::data::{self, Sample};
use core_text_learn::score::{Score, score};
use core_text_learn::split;
use cpu_time::ThreadTime;
use tools::Tool;

struct Options {
    folder: PathBuf,
    rounds: usize,
    tool: Option<Tool>,
    dump: Option<PathBuf>,
    pages: Option<PathBuf>,
    found: Vec<PathBuf>,
}

fn options() -> Result<Options> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options {
        folder: PathBuf::new(),
        rounds: 3,
        tool: None,
        dump: None,
        pages: None,
        found: Vec::new(),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} wants a value"));
        match argument.as_str() {
            "--rounds" => options.rounds = value()?.parse()?,
            "--tool" => {
                let name = value()?;
                let tool = Tool::ALL.iter().find(|tool| tool.name() == name);
                options.tool = Some(*tool.with_context(|| format!("no tool {name}"))?);
            }
            "--dump" => options.dump = Some(value()?.into()),
            "--pages" => options.pages = Some(value()?.into()),
            "--found" => options.found.push(value()?.into()),
            _ => options.folder = argument.into(),
        }
    }
    if options.folder.as_os_str().is_empty() {
        bail!("which folder has the archives?");
    }
    Ok(options)
}

fn main() -> Result<()> {
    let options = options()?;
    match (&options.pages, options.tool) {
        (Some(file), _) => write_pages(&options.folder, file),
        (None, Some(tool)) => run_tool(&options, tool),
        (None, None) => compare(&options),
    }
}

/// The pages of the tables as every tool gets them, one JSON object a line.
fn write_pages(folder: &Path, file: &Path) -> Result<()> {
    let mut lines = String::new();
    for set in data::load(folder)? {
        for sample in set.samples.iter().filter(|sample| is_unseen(set.name, sample)) {
            let page = wonbon_text::decode::decode(&sample.bytes, None).text;
            let line = serde_json::json!({
                "set": set.name, "name": sample.name, "url": sample.url, "html": page,
            });
            lines += &format!("{line}\n");
        }
    }
    std::fs::write(file, lines).with_context(|| format!("writing {}", file.display()))
}

/// Whether our model learned nothing from the page's site.
fn is_unseen(set: &str, sample: &Sample) -> bool {
    set != "WCXB" || split::is_test(&split::site(sample.url.as_deref(), &sample.name))
}

/// What a program in another language found: its tools in their order.
fn read_found(folder: &Path, file: &Path) -> Result<Vec<Outcome>> {
    let sets = data::load(folder)?;
    let mut outcomes: Vec<Outcome> = Vec::new();
    let lines = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    for line in lines.lines() {
        let found: serde_json::Value = serde_json::from_str(line)?;
        let text_of = |key: &str| found[key].as_str().with_context(|| format!("no {key}: {line}"));
        let (tool, set, name) = (text_of("tool")?, text_of("set")?, text_of("name")?);
        let sample = sets
            .iter()
            .find(|known| known.name == set)
            .and_then(|set| set.samples.iter().find(|sample| sample.name == name))
            .with_context(|| format!("no page {set} {name}"))?;
        let row = Row {
            set: set.to_owned(),
            kind: sample.kind.clone(),
            is_unseen: is_unseen(set, sample),
            score: score(text_of("text")?, &sample.gold),
            milliseconds: found["ms"].as_f64().context("no ms")?,
        };
        if !outcomes.iter().any(|outcome| outcome.name == tool) {
            let name = tool.to_owned();
            outcomes.push(Outcome { name, tool: None, rows: Vec::new(), peak_kilobytes: None });
        }
        outcomes.iter_mut().filter(|o| o.name == tool).for_each(|o| o.rows.push(row.clone()));
    }
    Ok(outcomes)
}

/// One tool over all pages: `page` lines, then `nested` and `peak` lines.
fn run_tool(options: &Options, tool: Tool) -> Result<()> {
    let sets = data::load(&options.folder)?;
    // From here on the peak is the tool's: the kernel forgets the one of loading the pages.
    std::fs::write("/proc/self/clear_refs", "5").context("resetting peak memory")?;
    let before = kilobytes("VmRSS")?;
    for set in &sets {
        for sample in &set.samples {
            let decoded = wonbon_text::decode::decode(&sample.bytes, None);
            let mut best = f64::INFINITY;
            let mut text = String::new();
            for _ in 0..options.rounds {
                let start = ThreadTime::now();
                text = tool.extract(&decoded.text, sample.url.as_deref());
                best = best.min(start.elapsed().as_secs_f64() * 1e3);
            }
            let s = score(&text, &sample.gold);
            println!(
                "page\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{best}",
                set.name,
                sample.name,
                sample.kind,
                is_unseen(set.name, sample),
                s.f1,
                s.precision,
                s.recall
            );
            if let Some(folder) = &options.dump {
                std::fs::create_dir_all(folder)?;
                let name = format!("{}-{}", set.name, sample.name);
                std::fs::write(folder.join(format!("{name}.found")), &text)?;
                std::fs::write(folder.join(format!("{name}.gold")), &sample.gold)?;
            }
        }
    }
    println!("peak\t{}", kilobytes("VmHWM")?.saturating_sub(before));
    Ok(())
}

/// A memory figure of this process.
fn kilobytes(name: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading memory figures")?;
    let line = status.lines().find(|line| line.starts_with(name)).context("no such figure")?;
    Ok(line.split_whitespace().nth(1).context("no value")?.parse()?)
}

#[derive(Clone)]
struct Row {
    set: String,
    kind: String,
    /// Whether the model learned nothing from its site.
    is_unseen: bool,
    score: Score,
    milliseconds: f64,
}

struct Outcome {
    name: String,
    /// One of those that run here.
    tool: Option<Tool>,
    rows: Vec<Row>,
    peak_kilobytes: Option<u64>,
}

fn compare(options: &Options) -> Result<()> {
    let mut outcomes = Vec::new();
    for &tool in Tool::ALL {
        // A process each: peak memory is the tool's own, and a crash is its own too.
        let output = Command::new(std::env::current_exe()?)
            .arg(&options.folder)
            .args(["--tool", tool.name(), "--rounds", &options.rounds.to_string()])
            .output()?;
        if !output.status.success() {
            bail!("{}: {}", tool.name(), String::from_utf8_lossy(&output.stderr));
        }
        let mut outcome = Outcome {
            name: tool.name().to_owned(),
            tool: Some(tool),
            rows: Vec::new(),
            peak_kilobytes: None,
        };
        for line in String::from_utf8(output.stdout)?.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields.as_slice() {
                ["page", set, _name, kind, unseen, f1, precision, recall, milliseconds] => {
                    outcome.rows.push(Row {
                        set: (*set).to_owned(),
                        kind: (*kind).to_owned(),
                        is_unseen: unseen.parse()?,
                        score: Score {
                            f1: f1.parse()?,
                            precision: precision.parse()?,
                            recall: recall.parse()?,
                        },
                        milliseconds: milliseconds.parse()?,
                    });
                }
                ["peak", kilobytes] => outcome.peak_kilobytes = Some(kilobytes.parse()?),
                _ => bail!("unexpected line from {}: {line}", tool.name()),
            }
        }
        outcomes.push(outcome);
    }
    for file in &options.found {
        outcomes.extend(read_found(&options.folder, file)?);
    }
    tables::print(&outcomes);
    compare_links(options)
}

/// Links of all WCXB pages: ours (resolved, with text) beside lol_html's tags (neither).
fn compare_links(options: &Options) -> Result<()> {
    let sets = data::load(&options.folder)?;
    let pages: Vec<_> =
        sets[0].samples.iter().map(|s| (wonbon_text::decode::decode(&s.bytes, None), s)).collect();
    let (mut ours, mut theirs) = ((0, f64::INFINITY), (0, f64::INFINITY));
    for _ in 0..options.rounds {
        let start = ThreadTime::now();
        let count: usize = pages
            .iter()
            .map(|(page, s)| wonbon_text::links::links(&page.text, s.url.as_deref()).len())
            .sum();
        ours = (count, ours.1.min(start.elapsed().as_secs_f64()));
        let start = ThreadTime::now();
        let mut count = 0;
        for (page, _) in &pages {
            let settings = lol_html::RewriteStrSettings::new()
                .append_element_content_handler(lol_html::element!("a[href], area[href]", |_| {
                    count += 1;
                    Ok(())
                }))
                .with_strict(false);
            lol_html::rewrite_str(&page.text, settings)?;
        }
        theirs = (count, theirs.1.min(start.elapsed().as_secs_f64()));
    }
    let per_page = 1e3 / pages.len() as f64;
    println!("\n| links of WCXB pages | found | ms/page |\n|---|---|---|");
    println!(
        "| wonbon `links` (resolved, http(s) only, with text) | {} | {:.3} |",
        ours.0,
        ours.1 * per_page
    );
    println!("| lol_html (start tags only) | {} | {:.3} |", theirs.0, theirs.1 * per_page);
    Ok(())
}
