//! Bands: how many groups of how many min-values find the pairs of a threshold.
//!
//! Two documents become candidates when all min-values of one band agree: with `rows` min-values in
//! each of `bands` bands a pair of resemblance r is found with probability
//! `1 - (1 - r^rows)^bands`. Every candidate is verified on the full shingle sets, so bands decide
//! only what is found and what it costs, never what is said.
//!
//! How they are chosen: [`RECALL`] at the threshold itself, which is the worst place from the
//! threshold up; then as many rows as [`MOST_MIN_VALUES`] allow, because more rows mean fewer
//! candidates far below the threshold.
//!
//! | threshold | bands x rows | found at the threshold | at threshold + .05 | at half the threshold |
//! |---|---|---|---|---|
//! | 0.50 | 40 x 3 | .9952 | .9993 | .467 |
//! | 0.60 | 22 x 3 | .9953 | .9991 | .452 |
//! | 0.70 | 20 x 4 | .9959 | .9995 | .261 |
//! | 0.80 | 18 x 6 | .9958 | .9998 | .071 |
//! | 0.85 | 14 x 7 | .9955 | .9999 | .034 |
//! | 0.90 | 11 x 9 | .9954 | 1.0000 | .008 |
//! | 0.95 | 8 x 14 | .9953 | 1.0000 | .000 |
//!
//! (the test `the_table_is_what_is_chosen` computes it). Cost: `bands` eight-byte numbers a document
//! on disk, one of them at a time in memory.

/// What share of the pairs exactly at the threshold is found, at least.
pub const RECALL: f64 = 0.995;

/// The most min-values a document gets: about a tenth of the time its words take.
pub const MOST_MIN_VALUES: usize = 128;

/// How min-values are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bands {
    /// How many bands.
    pub bands: usize,
    /// Min-values in each.
    pub rows: usize,
}

impl Bands {
    /// The bands for a threshold above 0 and up to 1.
    #[must_use]
    pub fn for_threshold(threshold: f64) -> Bands {
        let needed = |rows: usize| -> f64 {
            let agree = threshold.powf(rows as f64);
            if agree >= 1.0 {
                1.0
            } else {
                ((1.0 - RECALL).ln() / (-agree).ln_1p()).ceil().max(1.0)
            }
        };
        let fits = |rows: &usize| needed(*rows) * *rows as f64 <= MOST_MIN_VALUES as f64;
        // A threshold too low for two rows gets single min-values: many candidates, nothing missed.
        let rows = (1..=16).rev().find(fits).unwrap_or(1);
        Bands { bands: (needed(rows) as usize).min(MOST_MIN_VALUES), rows }
    }

    /// The probability that a pair of this resemblance becomes a candidate.
    #[must_use]
    pub fn probability(self, resemblance: f64) -> f64 {
        1.0 - (1.0 - resemblance.powf(self.rows as f64)).powf(self.bands as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_from_the_threshold_up_are_found() {
        for hundredths in 30..=100 {
            let threshold = f64::from(hundredths) / 100.0;
            let bands = Bands::for_threshold(threshold);
            assert!(bands.probability(threshold) >= RECALL, "{threshold}: {bands:?}");
            assert!(bands.bands * bands.rows <= MOST_MIN_VALUES);
        }
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
