//! What resembles a text, what contains it, what is contained in it.

use wonbon_sketch::{Estimate, Overlap};

use crate::document::StoredDocument;
use crate::error::StoreError;
use crate::store::Store;

/// What is asked of a text and a stored document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// How alike the two are.
    Resemblance,
    /// The part of the text that the document has.
    Within,
    /// The part of the document that the text has.
    Contains,
}

impl Measure {
    /// The value, where the text is the left set and the document the right one.
    #[must_use]
    pub fn of(self, overlap: &Overlap) -> f64 {
        match self {
            Measure::Resemblance => overlap.resemblance(),
            Measure::Within => overlap.left_in_right(),
            Measure::Contains => overlap.right_in_left(),
        }
    }
}

/// Which documents are asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// By what they are ranked.
    pub measure: Measure,
    /// The least value that is shown.
    pub min: f64,
    /// How many are shown.
    pub limit: usize,
}

/// A document that answers a question.
#[derive(Debug, Clone)]
pub struct Match {
    /// The document.
    pub document: StoredDocument,
    /// The exact sizes: the text's set of shingles on the left, the document's on the right.
    pub overlap: Overlap,
    /// What the sketches said before.
    pub estimate: Estimate,
}

/// The documents that answer a question, best first.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Each verified; equal values stand in the order of creation.
    pub matches: Vec<Match>,
}

impl Store {
    /// Finds stored documents, originals and copies, by what they share with a text.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn ask(&self, text: &str, question: &Question) -> Result<Answer, StoreError> {
        let (shingles, ..) = self.inner.preparer.shingles(text);
        let mut matches = Vec::new();
        self.for_each(|document| {
            let (other, ..) = self.inner.preparer.shingles(&document.text);
            let overlap = shingles.overlap(&other);
            let value = question.measure.of(&overlap);
            if overlap.shared > 0 && value >= question.min {
                let estimate =
                    Estimate { value, standard_error: 0.0, samples: overlap.union() as u64 };
                matches.push(Match { document, overlap, estimate });
            }
            Ok::<(), StoreError>(())
        })?;
        let value = |found: &Match| question.measure.of(&found.overlap);
        matches.sort_by(|a, b| {
            let order = |found: &Match| (found.document.created, found.document.row);
            value(b).total_cmp(&value(a)).then_with(|| order(a).cmp(&order(b)))
        });
        matches.truncate(question.limit);
        Ok(Answer { matches })
    }
}
