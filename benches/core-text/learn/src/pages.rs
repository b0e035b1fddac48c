//! Pages with their true texts, and tables of results.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use core_text_learn::data::{self, Sample};
use core_text_learn::split;
use wonbon_text::extract::learning::{Lesson, Model};

use crate::{FOLDS, f1, labels};

/// A page, and what is learned from.
pub struct Page {
    pub name: String,
    pub kind: String,
    pub url: Option<String>,
    pub html: String,
    pub gold: String,
    pub site: String,
    pub fold: usize,
    /// Of each block, the part that is core text.
    pub labels: Vec<f32>,
    /// Of each block, what it weighs in learning.
    pub weights: Vec<f32>,
    pub class_buckets: Vec<Vec<u16>>,
    pub text_buckets: Vec<Vec<u16>>,
    pub heading_buckets: Vec<Vec<u16>>,
    pub prose_buckets: Vec<Vec<u16>>,
}

impl Page {
    /// The page as a model's tables of words show it.
    pub fn lesson(&self, model: &Model) -> Lesson<'_> {
        Lesson::new(&self.html, self.url.as_deref(), model)
    }
}

fn read(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Page>> {
    let pages = data::wcxb(folder)?.into_iter().map(page);
    Ok(pages.filter(|page| is_wanted(&page.site)).collect())
}

fn page(sample: Sample) -> Page {
    let site = split::site(sample.url.as_deref(), &sample.name);
    Page {
        fold: split::fold(&site, FOLDS),
        site,
        name: sample.name,
        kind: sample.kind,
        url: sample.url,
        html: wonbon_text::decode::decode(&sample.bytes, None).text.into_owned(),
        gold: sample.gold,
        labels: Vec::new(),
        weights: Vec::new(),
        class_buckets: Vec::new(),
        text_buckets: Vec::new(),
        heading_buckets: Vec::new(),
        prose_buckets: Vec::new(),
    }
}

/// Pages of other sets.
pub fn others(folder: &Path) -> Result<Vec<(&'static str, Vec<Page>)>> {
    let sets = data::load(folder)?.into_iter().filter(|set| set.name != "WCXB");
    Ok(sets.map(|set| (set.name, set.samples.into_iter().map(page).collect())).collect())
}

/// The pages that are learned from, labelled.
pub fn development(folder: &Path) -> Result<Vec<Page>> {
    labelled(folder, |site| !split::is_test(site))
}

/// All pages, labelled.
pub fn all(folder: &Path) -> Result<Vec<Page>> {
    labelled(folder, |_| true)
}

fn labelled(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<Page>> {
    let mut pages = read(folder, is_wanted)?;
    for page in &mut pages {
        labels::label(page);
    }
    Ok(pages)
}

/// The pages that are only measured.
pub fn test(folder: &Path) -> Result<Vec<Page>> {
    read(folder, split::is_test)
}

/// F1 by way of choosing and by type of page.
pub struct Report<'pages> {
    pages: &'pages [Page],
    rows: Vec<(String, Vec<f64>)>,
}

impl<'pages> Report<'pages> {
    pub fn new(pages: &'pages [Page]) -> Self {
        Report { pages, rows: Vec::new() }
    }

    /// Measures one way.
    pub fn add(&mut self, name: &str, text: impl Fn(usize) -> String) {
        let values = (0..self.pages.len()).map(|at| f1(&text(at), &self.pages[at])).collect();
        self.rows.push((name.to_owned(), values));
        eprintln!("{name}: {:.4}", mean(&self.rows[self.rows.len() - 1].1));
    }

    /// Prints a Markdown table with 95 % bootstrap intervals.
    pub fn print(&self) {
        let mut kinds: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, page) in self.pages.iter().enumerate() {
            kinds.entry(&page.kind).or_default().push(at);
        }
        print!("| | all ({}) |", self.pages.len());
        for (kind, members) in &kinds {
            print!(" {kind} ({}) |", members.len());
        }
        println!("\n|---|---|{}", "---|".repeat(kinds.len()));
        for (name, values) in &self.rows {
            let (low, high) = interval(values);
            print!("| {name} | {:.4} [{low:.4}, {high:.4}] |", mean(values));
            for members in kinds.values() {
                let of: Vec<f64> = members.iter().map(|&at| values[at]).collect();
                print!(" {:.3} |", mean(&of));
            }
            println!();
        }
        if let Some(file) = std::env::var_os("PAGES") {
            let mut text = String::new();
            for (at, page) in self.pages.iter().enumerate() {
                text += &format!("{}\t{}", page.name, page.kind);
                for (_, values) in &self.rows {
                    text += &format!("\t{:.4}", values[at]);
                }
                text.push('\n');
            }
            if let Err(error) = std::fs::write(&file, text) {
                eprintln!("{}: {error}", file.display());
            }
        }
    }
}

pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The 95 % interval of the mean over 2,000 resamples.
pub fn interval(values: &[f64]) -> (f64, f64) {
    let mut state = 1u64;
    let mut means: Vec<f64> = (0..2000)
        .map(|_| {
            let mut sum = 0.0;
            for _ in values {
                sum += values[crate::trees::random(&mut state) as usize % values.len()];
            }
            sum / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    (means[50], means[1949])
}
