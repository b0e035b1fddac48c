//! The simplest model on the same features: logistic regression on standardised bytes.

use wonbon_text::extract::learning::{LEAF_UNIT, Lesson};

use crate::trees::{Rows, random};

const EPOCHS: usize = 2;
const RATE: f32 = 0.02;

/// Mean, one over deviation and weight of each feature; the last is the constant.
pub struct Weights {
    features: Vec<(f32, f32, f32)>,
    constant: f32,
}

/// Learns by Adagrad, rows in a random order.
pub fn learn(rows: &Rows) -> Weights {
    let count = rows.labels.len();
    let mut features: Vec<(f32, f32, f32)> = rows
        .columns
        .iter()
        .map(|column| {
            let mean = column.iter().map(|&v| f64::from(v)).sum::<f64>() / count as f64;
            let square =
                column.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / count as f64;
            (mean as f32, if square > 0.0 { (1.0 / square.sqrt()) as f32 } else { 0.0 }, 0.0)
        })
        .collect();
    let mut squares = vec![1e-4f32; features.len() + 1];
    let mut constant = 0f32;
    let mut state = 5;
    for _ in 0..EPOCHS {
        for _ in 0..count / 2 {
            let row = random(&mut state) as usize % count;
            let mut logit = constant;
            for (column, &(mean, scale, weight)) in rows.columns.iter().zip(&features) {
                logit += (f32::from(column[row]) - mean) * scale * weight;
            }
            let error =
                (1.0 / (1.0 + (-logit).exp()) - rows.labels[row]) * rows.weights[row] * 20.0;
            if error == 0.0 {
                continue;
            }
            for ((column, feature), square) in
                rows.columns.iter().zip(&mut features).zip(&mut squares)
            {
                let slope = error * (f32::from(column[row]) - feature.0) * feature.1;
                *square += slope * slope;
                feature.2 -= RATE * slope / square.sqrt();
            }
            let last = squares.len() - 1;
            squares[last] += error * error;
            constant -= RATE * error / squares[last].sqrt();
        }
    }
    Weights { features, constant }
}

/// Scores of a page's blocks.
pub fn scores(weights: &Weights, lesson: &Lesson<'_>) -> Vec<i32> {
    (0..lesson.blocks())
        .map(|block| {
            let mut logit = weights.constant;
            for (at, &(mean, scale, weight)) in weights.features.iter().enumerate() {
                logit += (f32::from(lesson.column(at)[block]) - mean) * scale * weight;
            }
            (logit.clamp(-30.0, 30.0) * LEAF_UNIT as f32) as i32
        })
        .collect()
}
