//! What can go wrong in a join, as facts a caller can act on.

use crate::measure::Measure;

/// Why a join could not be run or did not finish.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The text of a threshold is neither a decimal number nor a fraction.
    #[error("the threshold {text:?} is not a number such as 0.85 or 17/20")]
    ThresholdNotANumber {
        /// What was given.
        text: String,
    },
    /// Zero joins everything with everything.
    #[error("the threshold {text} is outside (0, 1]: it must be above zero")]
    ThresholdZero {
        /// What was given.
        text: String,
    },
    /// More digits than exact integer bounds can carry.
    #[error("the threshold {text} needs a denominator over 1000000000; give at most nine decimals")]
    ThresholdTooFine {
        /// What was given.
        text: String,
    },
    /// A relative measure lies in (0, 1].
    #[error("the threshold {threshold} is outside (0, 1] for {measure}")]
    ThresholdOutOfRange {
        /// The threshold as a fraction or whole number.
        threshold: String,
        /// The measure it was given for.
        measure: Measure,
    },
    /// The overlap measure counts tokens.
    #[error("the threshold {threshold} for overlap is not a whole number of tokens from 1 up")]
    OverlapNotWhole {
        /// The threshold as a fraction.
        threshold: String,
    },
    /// Record numbers, line numbers and token numbers have 32 bits.
    #[error("{what} number {count} does not fit: at most 4294967294 {what}s can be joined")]
    TooMany {
        /// `record` or `token`.
        what: &'static str,
        /// How many there were.
        count: u64,
    },
    /// A record was added to the second side of a collection made for a self join, or a part
    /// was read from spooled records that do not follow each other by size.
    #[error("record {line} does not belong there: {why}")]
    Misplaced {
        /// Its line.
        line: u32,
        /// Which promise it breaks.
        why: &'static str,
    },
    /// The progress watcher or the sink asked to stop.
    #[error("the join was stopped before it finished")]
    Stopped,
}
