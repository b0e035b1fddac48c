//! Gradient boosting of oblivious trees for logistic loss.
//!
//! Rows are blocks. Each tree sees a random part of the rows and of the features; each of its
//! levels takes the question that lowers the loss of all its leaves most (second-order gain over
//! histograms of byte values). Leaves are fitted on all rows and rounded to what is compiled in, so
//! that later trees correct the rounding.

use wonbon_text::extract::learning::{DEPTH, LEAF_UNIT, Lesson, ObliviousTree};

use crate::pages::Page;

/// How to learn.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub trees: usize,
    pub rate: f32,
    pub ridge: f32,
    pub rows: f32,
    pub features: f32,
}

impl Settings {
    /// The settings that cross-validation preferred; the environment may try others.
    pub fn from_environment() -> Settings {
        let value = |name: &str, default: f32| {
            std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
        };
        Settings {
            trees: value("TREES", 300.0) as usize,
            rate: value("RATE", 0.05),
            ridge: value("RIDGE", 3.0),
            rows: value("ROWS", 0.35),
            features: value("FEATURES", 0.4),
        }
    }
}

/// Features, labels and weights of many blocks.
pub struct Rows {
    pub columns: Vec<Vec<u8>>,
    pub labels: Vec<f32>,
    pub weights: Vec<f32>,
}

impl Rows {
    /// The blocks of the pages at these places.
    pub fn gather(pages: &[Page], lessons: &[Lesson<'_>], places: &[usize]) -> Rows {
        let features = lessons.iter().map(Lesson::features).max().unwrap_or(0);
        let mut rows =
            Rows { columns: vec![Vec::new(); features], labels: Vec::new(), weights: Vec::new() };
        for &at in places {
            if lessons[at].blocks() == 0 {
                continue;
            }
            for (feature, column) in rows.columns.iter_mut().enumerate() {
                column.extend_from_slice(lessons[at].column(feature));
            }
            rows.labels.extend(&pages[at].labels);
            rows.weights.extend(&pages[at].weights);
        }
        rows
    }
}

/// The next number of a fixed sequence (splitmix64).
pub fn random(state: &mut u64) -> u32 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 32) as u32
}

fn is_chosen(state: &mut u64, part: f32) -> bool {
    (random(state) as f32) < part * u32::MAX as f32
}

/// Learns a layer.
pub fn learn(rows: &Rows, settings: Settings, seed: u64) -> Vec<ObliviousTree> {
    let mut state = seed.wrapping_mul(0x1234_5678_9abc_def1);
    let count = rows.labels.len();
    let mut scores = vec![0f32; count];
    let mut slopes = vec![(0f32, 0f32); count];
    let mut layer = Vec::new();
    for _ in 0..settings.trees {
        for (slope, ((&score, &label), &weight)) in
            slopes.iter_mut().zip(scores.iter().zip(&rows.labels).zip(&rows.weights))
        {
            let p = 1.0 / (1.0 + (-score).exp());
            *slope = ((p - label) * weight, (p * (1.0 - p)).max(0.02) * weight);
        }
        let sample: Vec<u32> = (0..count as u32)
            .filter(|&row| rows.weights[row as usize] > 0.0 && is_chosen(&mut state, settings.rows))
            .collect();
        let tree = grow(rows, settings, &slopes, &sample, &mut state);
        let mut leaf_of = vec![0u8; count];
        for (level, &(feature, threshold)) in tree.iter().enumerate() {
            for (leaf, &value) in leaf_of.iter_mut().zip(&rows.columns[feature as usize]) {
                *leaf |= u8::from(value > threshold) << level;
            }
        }
        let mut sums = [(0f64, 0f64); 1 << DEPTH];
        for (&leaf, slope) in leaf_of.iter().zip(&slopes) {
            let sum = &mut sums[leaf as usize];
            sum.0 += f64::from(slope.0);
            sum.1 += f64::from(slope.1);
        }
        let leaves = sums.map(|(slope, curve)| {
            let value = -slope / (curve + f64::from(settings.ridge)) * f64::from(settings.rate);
            (value * f64::from(LEAF_UNIT)).round() as i16
        });
        for (score, &leaf) in scores.iter_mut().zip(&leaf_of) {
            *score += f32::from(leaves[leaf as usize]) / LEAF_UNIT as f32;
        }
        layer.push(ObliviousTree { splits: tree, leaves });
    }
    layer
}

/// The rows that a tree sees.
struct Sample<'rows> {
    rows: &'rows Rows,
    ridge: f32,
    chosen: &'rows [u32],
    slopes: Vec<(f32, f32)>,
    /// The leaf of each so far.
    leaves: Vec<u8>,
}

/// The questions of the next tree.
fn grow(
    rows: &Rows,
    settings: Settings,
    slopes: &[(f32, f32)],
    chosen: &[u32],
    state: &mut u64,
) -> [(u8, u8); DEPTH] {
    let features: Vec<usize> =
        (0..rows.columns.len()).filter(|_| is_chosen(state, settings.features)).collect();
    let mut sample = Sample {
        rows,
        ridge: settings.ridge,
        chosen,
        slopes: chosen.iter().map(|&row| slopes[row as usize]).collect(),
        leaves: vec![0; chosen.len()],
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut splits = [(0, 255); DEPTH];
    for (level, split) in splits.iter_mut().enumerate() {
        // Each thread looks at some features; of equal gains the first feature's counts, whatever their number.
        let found: Vec<(f32, (u8, u8))> = std::thread::scope(|scope| {
            let parts = features.chunks(features.len().div_ceil(threads).max(1));
            let threads: Vec<_> =
                parts.map(|part| scope.spawn(|| sample.best_split(part, level))).collect();
            threads.into_iter().map(|thread| thread.join().expect("sums do not panic")).collect()
        });
        let mut best = 0.0;
        for (gain, found) in found {
            if gain > best {
                (best, *split) = (gain, found);
            }
        }
        let column = &rows.columns[split.0 as usize];
        for (leaf, &row) in sample.leaves.iter_mut().zip(chosen) {
            *leaf |= u8::from(column[row as usize] > split.1) << level;
        }
    }
    splits
}

impl Sample<'_> {
    /// The question about one of these features that lowers the loss most, and by how much.
    fn best_split(&self, features: &[usize], level: usize) -> (f32, (u8, u8)) {
        let leaves = 1usize << level;
        let mut sums = vec![[0f32; 2]; 256 * leaves];
        let (mut best, mut split) = (0.0, (0, 255));
        for &feature in features {
            let column = &self.rows.columns[feature];
            sums.fill([0.0; 2]);
            let mut highest = 0;
            for ((&row, slope), &leaf) in self.chosen.iter().zip(&self.slopes).zip(&self.leaves) {
                let value = column[row as usize];
                highest = highest.max(value);
                let sum = &mut sums[(leaf as usize) << 8 | value as usize];
                sum[0] += slope.0;
                sum[1] += slope.1;
            }
            let mut gains = [0f32; 256];
            for leaf in 0..leaves {
                let bins = &sums[leaf << 8..][..=highest as usize];
                let all =
                    bins.iter().fold([0f32; 2], |all, bin| [all[0] + bin[0], all[1] + bin[1]]);
                let value = |sum: [f32; 2]| sum[0] * sum[0] / (sum[1] + self.ridge);
                let mut low = [0f32; 2];
                for (gain, bin) in gains.iter_mut().zip(bins) {
                    low = [low[0] + bin[0], low[1] + bin[1]];
                    let high = [all[0] - low[0], (all[1] - low[1]).max(0.0)];
                    *gain += value(low) + value(high) - value(all);
                }
            }
            for (threshold, &gain) in gains[..highest as usize].iter().enumerate() {
                if gain > best {
                    (best, split) = (gain, (feature as u8, threshold as u8));
                }
            }
        }
        (best, split)
    }
}
