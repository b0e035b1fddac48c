//! Word-level agreement of an extracted text with the true one.
//!
//! Words are lower-cased runs of letters and digits, each Han, kana or Hangul character one word.
//! Precision and recall count words as multisets, so the order does not matter and repeats do.

use std::collections::HashMap;

/// Precision, recall and their harmonic mean of one page.
#[derive(Debug, Clone, Copy, Default)]
pub struct Score {
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

fn is_cjk(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

fn count(text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let mut word = String::new();
    let mut take = |word: &mut String| {
        if !word.is_empty() {
            *counts.entry(std::mem::take(word)).or_insert(0) += 1;
        }
    };
    for c in text.chars() {
        if is_cjk(c) {
            take(&mut word);
            word.push(c);
            take(&mut word);
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else {
            take(&mut word);
        }
    }
    take(&mut word);
    counts
}

/// Compares `found` with `gold`.
pub fn score(found: &str, gold: &str) -> Score {
    let (found, gold) = (count(found), count(gold));
    let (found_words, gold_words) = (found.values().sum::<usize>(), gold.values().sum::<usize>());
    if found_words == 0 || gold_words == 0 {
        let both = f64::from(u8::from(found_words == gold_words));
        return Score { precision: both, recall: both, f1: both };
    }
    let shared: usize =
        found.iter().map(|(word, &n)| n.min(gold.get(word).copied().unwrap_or(0))).sum();
    let precision = shared as f64 / found_words as f64;
    let recall = shared as f64 / gold_words as f64;
    let f1 = if shared == 0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) };
    Score { precision, recall, f1 }
}
