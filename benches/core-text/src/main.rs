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
//! true text.

mod tools;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use cpu_time::ThreadTime;
use core_text_learn::data;
use core_text_learn::score::{Score, score};
use core_text_learn::split;
use tools::Tool;

struct Options {
    folder: PathBuf,
    rounds: usize,
    tool: Option<Tool>,
    dump: Option<PathBuf>,
}

fn options() -> Result<Options> {
    let mut arguments = std::env::args().skip(1);
    let mut options = Options { folder: PathBuf::new(), rounds: 3, tool: None, dump: None };
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
    match options.tool {
        Some(tool) => run_tool(&options, tool),
        None => compare(&options),
    }
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
                split::is_test(&split::site(sample.url.as_deref(), &sample.name)),
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

/// A page of that many nested tags, in milliseconds.
fn nested(tool: Tool, depth: usize) -> f64 {
    let page = format!(
        "<html><body>{}<p>the core of it</p>{}</body></html>",
        "<div>".repeat(depth),
        "</div>".repeat(depth)
    );
    let start = ThreadTime::now();
    tool.extract(&page, None);
    start.elapsed().as_secs_f64() * 1e3
}

/// A memory figure of this process.
fn kilobytes(name: &str) -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("reading memory figures")?;
    let line = status.lines().find(|line| line.starts_with(name)).context("no such figure")?;
    Ok(line.split_whitespace().nth(1).context("no value")?.parse()?)
}

struct Row {
    set: String,
    kind: String,
    /// Whether the model learned nothing from its site.
    is_unseen: bool,
    score: Score,
    milliseconds: f64,
}

struct Outcome {
    tool: Tool,
    rows: Vec<Row>,
    peak_kilobytes: u64,
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
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
        let mut outcome = Outcome { tool, rows: Vec::new(), peak_kilobytes: 0 };
        for line in String::from_utf8(output.stdout)?.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            match fields.as_slice() {
                ["page", set, _name, kind, unseen, f1, precision, recall, milliseconds] => {
                    outcome.rows.push(Row {
                        set: (*set).to_owned(),
                        kind: (*kind).to_owned(),
                        is_unseen: *set != "WCXB" || unseen.parse()?,
                        score: Score {
                            f1: f1.parse()?,
                            precision: precision.parse()?,
                            recall: recall.parse()?,
                        },
                        milliseconds: milliseconds.parse()?,
                    });
                }
                ["peak", kilobytes] => outcome.peak_kilobytes = kilobytes.parse()?,
                _ => bail!("unexpected line from {}: {line}", tool.name()),
            }
        }
        outcomes.push(outcome);
    }
    print_tables(&outcomes);
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
    println!("| wonbon `links` (resolved, http(s) only, with text) | {} | {:.3} |", ours.0, ours.1 * per_page);
    println!("| lol_html (start tags only) | {} | {:.3} |", theirs.0, theirs.1 * per_page);
    Ok(())
}

fn print_tables(outcomes: &[Outcome]) {
    println!("| set | pages | tool | F1 | precision | recall | F1 on sites not learned from | ms/page mean | ms/page median | ms/page p99 |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for set in ["WCXB", "Zyte", "CleanEval"] {
        for outcome in outcomes {
            let rows: Vec<&Row> = outcome.rows.iter().filter(|row| row.set == set).collect();
            let of = |value: fn(&Row) -> f64| {
                mean(rows.iter().map(|row| value(row))).unwrap_or(f64::NAN)
            };
            let unseen = mean(rows.iter().filter(|row| row.is_unseen).map(|row| row.score.f1));
            let mut times: Vec<f64> = rows.iter().map(|row| row.milliseconds).collect();
            times.sort_by(f64::total_cmp);
            let quantile = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
            println!(
                "| {set} | {} | {} | {:.4} | {:.4} | {:.4} | {:.4} | {:.2} | {:.2} | {:.2} |",
                rows.len(),
                outcome.tool.name(),
                of(|row| row.score.f1),
                of(|row| row.score.precision),
                of(|row| row.score.recall),
                unseen.unwrap_or(f64::NAN),
                of(|row| row.milliseconds),
                quantile(0.5),
                quantile(0.99),
            );
        }
    }
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for row in outcomes[0].rows.iter().filter(|row| row.set == "WCXB" && row.is_unseen) {
        match kinds.iter_mut().find(|(kind, _)| *kind == row.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&row.kind, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    print!("\n| WCXB F1 by page type, sites not learned from |");
    for (kind, count) in &kinds {
        print!(" {kind} ({count}) |");
    }
    println!(" peak memory, MB |\n|---|{}---|", "---|".repeat(kinds.len()));
    for outcome in outcomes {
        print!("| {} |", outcome.tool.name());
        for (kind, _) in &kinds {
            let rows = outcome.rows.iter().filter(|row| row.set == "WCXB" && row.is_unseen && row.kind == *kind);
            print!(" {:.3} |", mean(rows.map(|row| row.score.f1)).unwrap_or(f64::NAN));
        }
        println!(" {:.0} |", outcome.peak_kilobytes as f64 / 1024.0);
    }
    println!("\n| nested `div`s, ms | 1,000 | 5,000 | 50,000 | 1,000,000 |\n|---|---|---|---|---|");
    for outcome in outcomes {
        print!("| {} |", outcome.tool.name());
        for depth in [1_000, 5_000, 50_000, 1_000_000] {
            if depth > outcome.tool.deepest() {
                print!(" – |");
            } else {
                print!(" {:.1} |", nested(outcome.tool, depth));
            }
        }
        println!();
    }
}
