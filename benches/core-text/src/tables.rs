//! The tables that are printed: F1 and time by set, F1 by type of page, time on nested tags.

use std::fmt::Write as _;

use cpu_time::ThreadTime;

use crate::tools::Tool;
use crate::{Outcome, Row};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2000;

/// Prints all tables as Markdown.
pub fn print(outcomes: &[Outcome]) {
    print_sets(outcomes);
    print_kinds(outcomes);
    print_nested(outcomes);
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / count as f64)
}

/// A mean with its 95 % interval over resampled pages.
fn with_interval(values: &[f64]) -> String {
    let Some(middle) = mean(values.iter().copied()) else { return "–".to_owned() };
    let mut state = 1u64;
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let resampled = values.iter().map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                values[(state >> 33) as usize % values.len()]
            });
            resampled.sum::<f64>() / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let (low, high) = (means[RESAMPLES / 40], means[RESAMPLES - 1 - RESAMPLES / 40]);
    format!("{middle:.3} [{low:.3}, {high:.3}]")
}

/// The pages of WCXB that are compared.
fn wcxb_part() -> &'static str {
    if wonbon_text::extract::learning::compiled().learned_all {
        "WCXB, held-out sites (our compiled numbers know them: write numbers without them first)"
    } else {
        "WCXB, sites not learned from"
    }
}

fn print_sets(outcomes: &[Outcome]) {
    println!(
        "| set | pages | tool | F1 | precision | recall | ms/page mean | ms/page median | ms/page p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for (title, set) in [(wcxb_part(), "WCXB"), ("Zyte", "Zyte"), ("CleanEval", "CleanEval")] {
        for outcome in outcomes {
            let rows: Vec<&Row> =
                outcome.rows.iter().filter(|row| row.set == set && row.is_unseen).collect();
            let of = |value: fn(&Row) -> f64| rows.iter().map(move |row| value(row));
            let mut times: Vec<f64> = of(|row| row.milliseconds).collect();
            if times.is_empty() {
                continue;
            }
            times.sort_by(f64::total_cmp);
            let quantile = |q: f64| times[((times.len() - 1) as f64 * q) as usize];
            println!(
                "| {title} | {} | {} | {} | {:.3} | {:.3} | {:.2} | {:.2} | {:.2} |",
                rows.len(),
                outcome.name,
                with_interval(&of(|row| row.score.f1).collect::<Vec<_>>()),
                mean(of(|row| row.score.precision)).unwrap_or(f64::NAN),
                mean(of(|row| row.score.recall)).unwrap_or(f64::NAN),
                mean(times.iter().copied()).unwrap_or(f64::NAN),
                quantile(0.5),
                quantile(0.99),
            );
        }
    }
}

fn print_kinds(outcomes: &[Outcome]) {
    let is_shown = |row: &Row| row.set == "WCXB" && row.is_unseen;
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for row in outcomes[0].rows.iter().filter(|row| is_shown(row)) {
        match kinds.iter_mut().find(|(kind, _)| *kind == row.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((&row.kind, 1)),
        }
    }
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    print!("\n| F1 by page type, {} |", wcxb_part());
    for (kind, count) in &kinds {
        print!(" {kind} ({count}) |");
    }
    println!(" peak memory, MB |\n|---|{}---|", "---|".repeat(kinds.len()));
    for outcome in outcomes {
        let mut line = format!("| {} |", outcome.name);
        for (kind, _) in &kinds {
            let rows = outcome.rows.iter().filter(|row| is_shown(row) && row.kind == *kind);
            let values: Vec<f64> = rows.map(|row| row.score.f1).collect();
            // Writing to a string cannot fail.
            let _ = write!(line, " {} |", with_interval(&values));
        }
        match outcome.peak_kilobytes {
            Some(kilobytes) => println!("{line} {:.0} |", kilobytes as f64 / 1024.0),
            None => println!("{line} – |"),
        }
    }
}

fn print_nested(outcomes: &[Outcome]) {
    println!("\n| nested `div`s, ms | 1,000 | 5,000 | 50,000 | 1,000,000 |\n|---|---|---|---|---|");
    for tool in outcomes.iter().filter_map(|outcome| outcome.tool) {
        print!("| {} |", tool.name());
        for depth in [1_000, 5_000, 50_000, 1_000_000] {
            if depth > tool.deepest() {
                print!(" – |");
            } else {
                print!(" {:.1} |", nested(tool, depth));
            }
        }
        println!();
    }
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
