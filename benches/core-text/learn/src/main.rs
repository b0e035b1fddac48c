//! Learns the numbers of the core text extractor and compares ways to choose blocks.
//!
//! Data: the WCXB development pages (Foley 2026, CC-BY-4.0), both archives of
//! `../shared/data/web`. Pages are split by site (registrable domain): one fifth of the sites are
//! the test part, which only `test` opens; the rest is the development part, cut into
//! [`FOLDS`] folds for cross-validation.
//!
//! ```text
//! cargo run --release --bin learn -- ../../../shared/data/web cross-validate
//! cargo run --release --bin learn -- ../../../shared/data/web write ../../crates/text/src/extract/numbers.rs
//! cargo run --release --bin learn -- ../../../shared/data/web test
//! ```
//!
//! Fixed seeds, a thread a fold: the same pages give the same numbers. Trees see scores of tables of words
//! that were learned without the page's fold, as they will on unseen pages.
//!
//! `SHOW=DIR` writes every page's blocks with truth and score, `PAGES=FILE` every page's F1; `TREES`,
//! `RATE`, `RIDGE`, `ROWS` and `FEATURES` try other settings.

mod labels;
mod logistic;
mod pages;
mod tables;
mod trees;
mod write;

use std::path::Path;

use anyhow::{Context, Result, bail};
use core_text_learn::score::score;
use wonbon_text::extract::learning::{DEPTH, Lesson, Model, ObliviousTree, compiled};

use pages::{Page, Report};
use trees::{Rows, Settings};

/// Folds of the development part.
pub const FOLDS: usize = 4;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, command, rest @ ..] = arguments.as_slice() else {
        bail!("usage: learn FOLDER cross-validate [all]|write FILE [all]|test")
    };
    let folder = Path::new(folder);
    match command.as_str() {
        "cross-validate" => cross_validate(folder, rest.first().is_some_and(|word| word == "all")),
        "write" => {
            let file = rest.first().context("write wants a file")?;
            write(folder, Path::new(file), rest.get(1).is_some_and(|word| word == "all"))
        }
        "test" => test(folder),
        _ => bail!("no command {command}"),
    }
}

fn fold_model(tables: &tables::Tables) -> Model {
    Model {
        class_words: tables.class_words,
        text_words: tables.text_words,
        heading_words: tables.heading_words,
        prose_words: tables.prose_words,
        learned_all: false,
        trees: Vec::new().into(),
    }
}

fn in_fold(pages: &[Page], fold: usize) -> impl Iterator<Item = usize> + '_ {
    (0..pages.len()).filter(move |&at| pages[at].fold == fold)
}

fn out_of_fold(pages: &[Page], fold: usize) -> Vec<usize> {
    (0..pages.len()).filter(|&at| pages[at].fold != fold).collect()
}

/// Lessons whose tables of words come from the other folds.
fn lessons_out_of_fold(pages: &[Page]) -> Vec<Lesson<'_>> {
    let mut lessons: Vec<Option<Lesson<'_>>> = (0..pages.len()).map(|_| None).collect();
    for fold in 0..FOLDS {
        let model = fold_model(&tables::learn(pages, &out_of_fold(pages, fold)));
        for at in in_fold(pages, fold) {
            lessons[at] = Some(pages[at].lesson(&model));
        }
    }
    lessons.into_iter().flatten().collect()
}

/// Ways to choose blocks side by side; every page is judged by what was learned without its fold.
fn cross_validate(folder: &Path, of_all: bool) -> Result<()> {
    let pages = if of_all { pages::all(folder)? } else { pages::development(folder)? };
    let blocks: usize = pages.iter().map(|page| page.labels.len()).sum();
    eprintln!("{} pages, {blocks} blocks", pages.len());
    let lessons = lessons_out_of_fold(&pages);
    let settings = Settings::from_environment();
    let mut report = Report::new(&pages);
    report.add("rules", |at| lessons[at].ruled_text());
    let (mut linear, mut boosted) = (vec![Vec::new(); pages.len()], vec![Vec::new(); pages.len()]);
    let learned: Vec<_> = std::thread::scope(|scope| {
        let learn = |fold| {
            let (pages, lessons) = (&pages, &lessons);
            scope.spawn(move || {
                let rows = Rows::gather(pages, lessons, &out_of_fold(pages, fold));
                (logistic::learn(&rows), trees::learn(&rows, settings, 1 + fold as u64))
            })
        };
        let threads: Vec<_> = (0..FOLDS).map(learn).collect();
        threads.into_iter().map(|thread| thread.join().expect("learning does not panic")).collect()
    });
    for (fold, (weights, trees)) in learned.iter().enumerate() {
        for at in in_fold(&pages, fold) {
            linear[at] = logistic::scores(weights, &lessons[at]);
            boosted[at] = lessons[at].scores(trees);
        }
    }
    report.add("logistic regression", |at| lessons[at].text(&linear[at]));
    report.add("boosted trees", |at| lessons[at].text(&boosted[at]));
    report.add("every block judged rightly", |at| {
        let kept: Vec<bool> = pages[at].labels.iter().map(|&label| label > 0.5).collect();
        lessons[at].text_of(&kept)
    });
    report.print();
    if let Some(folder) = std::env::var_os("SHOW") {
        std::fs::create_dir_all(&folder)?;
        for (at, page) in pages.iter().enumerate() {
            show(Path::new(&folder), page, &lessons[at], &boosted[at])?;
        }
    }
    Ok(())
}

/// A page's blocks with truth and score, one a line.
fn show(folder: &Path, page: &Page, lesson: &Lesson<'_>, scores: &[i32]) -> Result<()> {
    let text = lesson.text(scores);
    let mut out = format!(
        "{} {:?} f1 {:.3} {:?}\n",
        page.kind,
        page.url,
        f1(&text, page),
        score(&text, &page.gold)
    );
    for block in 0..lesson.blocks() {
        let snippet: String = lesson
            .block_text(block)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .chars()
            .take(90)
            .collect();
        out += &format!(
            "{:.2} {:6.2} {:3} {:4} {snippet}\n",
            page.labels[block],
            scores[block] as f32 / 1024.0,
            lesson.ruled(block),
            lesson.words()[block]
        );
    }
    std::fs::write(folder.join(format!("{}.txt", page.name)), out)?;
    Ok(())
}

/// Learns everything from some pages.
fn learn(pages: &[Page]) -> Model {
    let all: Vec<usize> = (0..pages.len()).collect();
    let lessons = lessons_out_of_fold(pages);
    let rows = Rows::gather(pages, &lessons, &all);
    let trees = trees::learn(&rows, Settings::from_environment(), 21);
    let tables = tables::learn(pages, &all);
    if let Some(lesson) = lessons.iter().find(|lesson| lesson.blocks() > 0) {
        print_used(&trees, &lesson.names(&fold_model(&tables)));
    }
    Model { trees: trees.into(), ..fold_model(&tables) }
}

/// The features by how often and how early trees ask for them.
fn print_used(trees: &[ObliviousTree], names: &[&str]) {
    let mut counts = vec![0usize; names.len()];
    for tree in trees {
        for (level, &(feature, _)) in tree.splits.iter().enumerate() {
            counts[feature as usize] += DEPTH - level;
        }
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(counts[at]));
    for at in order {
        eprintln!("{:5} {}", counts[at], names[at]);
    }
}

/// Learns the numbers: of the development part, or of all pages once nothing is decided any more.
fn write(folder: &Path, file: &Path, of_all: bool) -> Result<()> {
    let pages = if of_all { pages::all(folder)? } else { pages::development(folder)? };
    let model = Model { learned_all: of_all, ..learn(&pages) };
    std::fs::write(file, write::source(&model))
        .with_context(|| format!("writing {}", file.display()))
}

/// The compiled-in numbers on the test part, and on the sets that nothing is learned from.
fn test(folder: &Path) -> Result<()> {
    let name = if compiled().learned_all {
        "WCXB, sites that the compiled numbers were learned from: no measure of them"
    } else {
        "WCXB, sites not learned from"
    };
    let mut sets = vec![(name, pages::test(folder)?)];
    sets.extend(pages::others(folder)?);
    for (name, pages) in &sets {
        println!("\n{name}\n");
        let mut report = Report::new(pages);
        let nothing = fold_model(&tables::learn(pages, &[]));
        report.add("rules", |at| pages[at].lesson(&nothing).ruled_text());
        report.add("compiled in", |at| {
            wonbon_text::extract::extract(&pages[at].html, pages[at].url.as_deref()).text
        });
        report.print();
    }
    Ok(())
}

/// F1 of a page's text.
pub fn f1(text: &str, page: &Page) -> f64 {
    score(text, &page.gold).f1
}
