//! Bands: how many features of how many min-values find the pairs of a threshold.
//!
//! Two documents become candidates when all min-values of one band agree: with `rows` min-values in
//! each of `bands` bands a pair of resemblance r is found with probability
//! `1 - (1 - r^rows)^bands`. Every candidate is verified on the full shingle sets, so bands decide
//! only what is found and what it costs, never what is said.
//!
//! How they are chosen: at the threshold itself, the worst place from the threshold up, at most
//! [`MOST_MISSED`] of the pairs are missed, so that a verdict does not depend on the seed in practice.
//! Then as many rows as [`MOST_MIN_VALUES`] allow, because more rows mean fewer candidates far below the
//! threshold. Three rows are worth more min-values than that: with two, documents on the same subject
//! are candidates by the dozen.
//!
//! | threshold | bands x rows | found at the threshold | at threshold + .05 | at half the threshold |
//! |---|---|---|---|---|
//! | 0.50 | 52 x 3 | .9990 | .9999 | .559 |
//! | 0.60 | 29 x 3 | .9991 | .9999 | .548 |
//! | 0.70 | 26 x 4 | .9992 | .9999 | .325 |
//! | 0.80 | 18 x 5 | .9992 | 1.0000 | .169 |
//! | 0.85 | 18 x 7 | .9990 | 1.0000 | .044 |
//! | 0.90 | 13 x 8 | .9993 | 1.0000 | .022 |
//! | 0.95 | 9 x 12 | .9991 | 1.0000 | .001 |
//!
//! (the test `the_table_is_what_is_chosen` computes it). Cost: `bands` eight-byte numbers a document,
//! on disk in a batch run, on disk and in memory for an original in a store.

use wonbon_sketch::copy_probability;

/// The share of the pairs exactly at the threshold that is missed, at most.
pub const MOST_MISSED: f64 = 1e-3;

/// The most min-values a document gets: about a tenth of the time its words take.
const MOST_MIN_VALUES: usize = 128;

/// Three rows are taken while they need at most this many bands.
const MOST_BANDS_OF_THREE: usize = 64;

/// How min-values are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// How many bands: each is one feature.
    pub bands: usize,
    /// Min-values in each.
    pub rows: usize,
}

impl Bands {
    /// The bands for a threshold above 0 and up to 1.
    #[must_use]
    pub fn for_threshold(threshold: f64) -> Bands {
        let needed = |rows: usize| -> usize {
            let agree = threshold.powf(rows as f64);
            // At a threshold of 1 the logarithm is minus infinity, and one band is enough.
            (MOST_MISSED.ln() / (-agree).ln_1p()).ceil().clamp(1.0, 1e6) as usize
        };
        let fits = |rows: &usize| needed(*rows) * *rows <= MOST_MIN_VALUES;
        let rows = match (1..=16).rev().find(fits).unwrap_or(1) {
            1 | 2 if needed(3) <= MOST_BANDS_OF_THREE => 3,
            rows => rows,
        };
        // A threshold below 0.06 would need more bands than there may be; it misses a little more.
        let most = if rows == 1 { MOST_MIN_VALUES } else { usize::MAX };
        Bands { bands: needed(rows).min(most), rows }
    }

    /// The probability that a pair of this resemblance becomes a candidate.
    #[must_use]
    pub fn probability(self, resemblance: f64) -> f64 {
        copy_probability(resemblance, self.bands, self.rows, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_every_threshold_at_most_one_pair_in_a_thousand_is_missed() {
        for thousandths in 60..=1000 {
            let threshold = f64::from(thousandths) / 1000.0;
            let bands = Bands::for_threshold(threshold);
            let missed = 1.0 - bands.probability(threshold);
            assert!(missed <= MOST_MISSED + 1e-12, "{missed} at {threshold}: {bands:?}");
            assert!(bands.bands * bands.rows <= 3 * MOST_BANDS_OF_THREE, "{bands:?}");
        }
    }

    #[test]
    fn tiny_thresholds_get_the_most_bands_and_a_threshold_of_one_gets_one() {
        assert_eq!(Bands::for_threshold(0.01), Bands { bands: MOST_MIN_VALUES, rows: 1 });
        assert_eq!(Bands::for_threshold(1.0).bands, 1);
    }

    #[test]
    fn the_table_is_what_is_chosen() {
        let table: Vec<String> = [0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95]
            .into_iter()
            .map(|threshold: f64| {
                let bands = Bands::for_threshold(threshold);
                let found = |r: f64, digits: usize| {
                    let text = format!("{:.digits$}", bands.probability(r));
                    text.strip_prefix('0').map_or(text.clone(), str::to_owned)
                };
                format!(
                    "| {threshold:.2} | {} x {} | {} | {} | {} |",
                    bands.bands,
                    bands.rows,
                    found(threshold, 4),
                    found((threshold + 0.05).min(1.0), 4),
                    found(threshold / 2.0, 3),
                )
            })
            .collect();
        let source = include_str!("bands.rs");
        for line in table {
            assert!(source.contains(&format!("//! {line}")), "//! {line}");
        }
    }
}
