//! What is said of a document.

use crate::kind::Kind;

/// What is said of a document. Documents are named by `Key`: their key in a store, their number in a
/// batch run.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict<Key = String> {
    /// What it is.
    pub kind: Kind,
    /// Its original, if it is a copy.
    pub original: Option<Key>,
    /// Its exact resemblance to the original, if it is a copy.
    pub resemblance: Option<f64>,
    /// How many features it shares with the original, if it is a copy and they were compared.
    pub features_equal: Option<usize>,
    /// Whether more originals looked alike than are verified for one document: then a closer original may
    /// have been passed over. That takes hundreds of originals made from one template.
    pub stopped_early: bool,
}

impl<Key> Verdict<Key> {
    /// Of a document that is no copy.
    #[must_use]
    pub fn alone(kind: Kind) -> Self {
        Verdict {
            kind,
            original: None,
            resemblance: None,
            features_equal: None,
            stopped_early: false,
        }
    }
}
