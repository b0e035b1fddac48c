//! Exact resemblance and containment on real corpora equal the published truth.
//!
//! The truth files were made by another program with other words (`wonbon_testkit::cluster::truth`).
//! Where a value differs, the test computes it again with the words of that program and finds its
//! value: the difference is explained by the normal form, pair by pair.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]
#![allow(clippy::print_stdout, reason = "says how many differences were explained")]

use std::collections::HashMap;
use std::num::NonZeroUsize;

use wonbon_documents::{FieldNames, LineReader, Lines, RowParser, open};
use wonbon_sketch::{ElementSet, Overlap};
use wonbon_testkit::cluster::truth::truth_shingles;
use wonbon_testkit::corpora::corpus;
use wonbon_text::shingles::shingles;

const FIVE: NonZeroUsize = NonZeroUsize::new(5).unwrap();

fn texts(name: &str) -> Option<HashMap<String, String>> {
    let mut reader = LineReader::new(open(&corpus(name)?).unwrap());
    let (mut lines, mut rows) = (Lines::default(), RowParser::new(FieldNames::default()));
    let mut texts = HashMap::new();
    while reader.next_lines(&mut lines).unwrap() {
        rows.for_each_row(&mut lines, &|_| None, |_, row| {
            let row = row.unwrap();
            texts.insert(row.id.clone().into_owned(), row.text().to_owned());
        });
    }
    Some(texts)
}

/// Compares every pair of a truth file. The numbers are columns: containment of the first document
/// in the second, and resemblance.
fn check(name: &str, ending: &str, containment: Option<usize>, resemblance: usize) {
    let Some(texts) = texts(&format!("{name}.jsonl.zst")) else { return };
    let Some(truth) = corpus(&format!("truth/{name}.{ending}")) else { return };
    let truth = std::fs::read_to_string(truth).unwrap();
    let mut ours: HashMap<&str, ElementSet> = HashMap::new();
    let (mut pairs, mut explained) = (0, 0);
    for line in truth.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |column: usize| fields[column].parse::<f64>().unwrap();
        let agrees = |overlap: Overlap| {
            let close = |value: f64, column| (value - number(column)).abs() < 6e-5;
            close(overlap.resemblance(), resemblance)
                && containment.is_none_or(|column| close(overlap.left_in_right(), column))
        };
        for id in &fields[..2] {
            ours.entry(id).or_insert_with(|| ElementSet::new(shingles(&texts[*id], FIVE)));
        }
        pairs += 1;
        if !agrees(ours[fields[0]].overlap(&ours[fields[1]])) {
            let [first, second] = [0, 1].map(|at| truth_shingles(&texts[fields[at]], FIVE));
            let theirs = first.overlap(&second);
            assert!(agrees(theirs), "{name}: {line} is not explained by its words: {theirs:?}");
            explained += 1;
        }
    }
    assert!(pairs > 0, "no pairs in the truth of {name}");
    println!("{name}.{ending}: {pairs} pairs, {explained} of them by the other program's words");
    if name.starts_with("en-") {
        assert_eq!(explained, 0, "English words are the same in both");
    }
}

#[test]
fn korean_petitions_have_the_published_resemblances() {
    check("ko-petitions", "w5.tsv", None, 2);
    check("ko-petitions", "w5.contain.tsv", Some(2), 3);
}

#[test]
fn korean_precedents_have_the_published_resemblances() {
    check("ko-precedents", "w5.tsv", None, 2);
    check("ko-precedents", "w5.contain.tsv", Some(2), 3);
}

#[test]
fn reuters_news_have_the_published_resemblances() {
    check("en-reuters21578", "w5.tsv", None, 2);
    check("en-reuters21578", "w5.contain.tsv", Some(2), 3);
}

#[test]
fn usenet_posts_have_the_published_resemblances() {
    check("en-usenet20news", "w5.tsv", None, 2);
    check("en-usenet20news", "w5.contain.tsv", Some(2), 3);
}
