//! Weights of words: logistic regression over the class words around a block, over the words of
//! short blocks, and over the words of the heading above.
//!
//! A bucket that few sites use has no weight: it would name a site.

use std::collections::HashSet;

use core_text_learn::split;
use wonbon_text::extract::learning::{BUCKETS, PROSE_BUCKETS};

use crate::pages::Page;

/// Sites that must use a bucket.
const MIN_SITES: usize = 4;
/// Sites that must use a bucket of words of paragraphs, which are about anything.
const MIN_PROSE_SITES: usize = 12;
/// Weight of one in the tables.
const SCALE: f32 = 24.0;
const EPOCHS: usize = 6;
const RATE: f32 = 0.3;
/// Pull towards zero.
const RIDGE: f32 = 2e-6;

/// The tables.
pub struct Tables {
    pub class_words: [i8; BUCKETS],
    pub text_words: [i8; BUCKETS],
    pub heading_words: [i8; BUCKETS],
    pub prose_words: [i8; PROSE_BUCKETS],
}

/// Learns from the pages at these places.
pub fn learn(pages: &[Page], places: &[usize]) -> Tables {
    Tables {
        class_words: fit(pages, places, MIN_SITES, |page| &page.class_buckets),
        text_words: fit(pages, places, MIN_SITES, |page| &page.text_buckets),
        heading_words: fit(pages, places, MIN_SITES, |page| &page.heading_buckets),
        prose_words: fit(pages, places, MIN_PROSE_SITES, |page| &page.prose_buckets),
    }
}

fn fit<const SIZE: usize>(
    pages: &[Page],
    places: &[usize],
    min_sites: usize,
    buckets: impl Fn(&Page) -> &Vec<Vec<u16>>,
) -> [i8; SIZE] {
    let mut sites: Vec<HashSet<&str>> = vec![HashSet::new(); SIZE];
    for &at in places {
        for bucket in buckets(&pages[at]).iter().flatten() {
            sites[*bucket as usize].insert(&pages[at].site);
        }
    }
    let used: Vec<bool> = sites.iter().map(|sites| sites.len() >= min_sites).collect();
    // Adagrad, pages in an order that mixes their kinds.
    let mut order = places.to_vec();
    order.sort_by_key(|&at| split::scatter(&pages[at].name, 3));
    let (mut weights, mut squares) = (vec![0f32; SIZE], vec![1e-4f32; SIZE]);
    let (mut bias, mut bias_square) = (0f32, 1e-4f32);
    for _ in 0..EPOCHS {
        for &at in &order {
            let page = &pages[at];
            for ((row, &label), &weight) in
                buckets(page).iter().zip(&page.labels).zip(&page.weights)
            {
                if row.is_empty() || weight == 0.0 {
                    continue;
                }
                let logit: f32 =
                    bias + row.iter().map(|&bucket| weights[bucket as usize]).sum::<f32>();
                let error = (1.0 / (1.0 + (-logit).exp()) - label) * weight;
                bias_square += error * error;
                bias -= RATE * error / bias_square.sqrt();
                for &bucket in row {
                    let bucket = bucket as usize;
                    if used[bucket] {
                        let slope = error + RIDGE * weights[bucket];
                        squares[bucket] += slope * slope;
                        weights[bucket] -=
                            RATE * slope / squares[bucket].sqrt() / (row.len() as f32).sqrt();
                    }
                }
            }
        }
    }
    let mut table = [0i8; SIZE];
    for (to, &weight) in table.iter_mut().zip(&weights) {
        *to = (weight * SCALE).round().clamp(-127.0, 127.0) as i8;
    }
    table
}
