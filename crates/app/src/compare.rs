//! Two documents side by side: how much they share, exactly and as their sketches see it.
//!
//! What `wonbon compare` and the service's comparison both need: shingle sets, min-values, features, and
//! one word for what the two are to each other. Cost: linear in the two texts; a text that repeats
//! itself is kept as its different shingles.

use wonbon_sketch::{
    ElementSet, Estimate, FeatureMaker, Features, MinValues, Overlap, SketchError,
    containments_from_resemblance,
};
use wonbon_store::Rule;
use wonbon_text::shingles::{ShingleCount, Shingler};

/// A document that is not a copy is "partly contained" from this part of its shingles on...
const PARTLY_CONTAINED: f64 = 0.2;
/// ...or from this many shared shingles on: a quotation may be a small part of both.
const QUOTED_SHINGLES: usize = 20;

/// One of two documents and all that is made of it.
#[derive(Debug)]
pub struct Side<'a> {
    /// What it is called.
    pub name: &'a str,
    /// It as it came.
    pub bytes: &'a [u8],
    /// Its core text.
    pub text: &'a str,
    /// How many words it has.
    pub count: ShingleCount,
    /// Its shingles.
    pub set: ElementSet,
    /// From which resemblance is estimated.
    pub min_values: MinValues,
    /// By which copies are decided.
    pub features: Features,
}

impl<'a> Side<'a> {
    /// Makes all of a document that a comparison needs.
    #[must_use]
    pub fn new(
        name: &'a str,
        bytes: &'a [u8],
        text: &'a str,
        shingler: &mut Shingler,
        maker: &FeatureMaker,
    ) -> Self {
        let mut collected = Vec::new();
        let mut keep = 1 << 20;
        let mut builder = maker.builder();
        let count = shingler.for_each_chunk(text, |chunk| {
            builder.update(chunk);
            collected.extend_from_slice(chunk);
            // A long text that repeats itself has few different shingles; keep only those.
            if collected.len() >= keep {
                collected = ElementSet::new(std::mem::take(&mut collected)).into_vec();
                keep = 2 * collected.len().max(1 << 20);
            }
        });
        let set = ElementSet::new(collected);
        let features = builder.features();
        Side { name, bytes, text, count, set, min_values: builder.min_values().clone(), features }
    }
}

/// What two documents are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same bytes.
    IdenticalBytes,
    /// The same words in the same order.
    SameText,
    /// The same set of shingles in another order or number.
    SameShingles,
    /// A copy by the rule.
    Copy,
    /// No copy, but part of one is in the other.
    PartlyContained,
    /// Nothing worth telling is shared.
    Different,
}

impl Relation {
    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Relation::IdenticalBytes => "identical bytes",
            Relation::SameText => "same text",
            Relation::SameShingles => "same shingles",
            Relation::Copy => "copy",
            Relation::PartlyContained => "partly contained",
            Relation::Different => "different",
        }
    }
}

/// How much two documents share.
#[derive(Debug)]
pub struct Comparison {
    /// The exact sizes.
    pub overlap: Overlap,
    /// The estimate of the resemblance.
    pub resemblance: Estimate,
    /// The estimate of the part of A that B has.
    pub a_in_b: Estimate,
    /// The estimate of the part of B that A has.
    pub b_in_a: Estimate,
    /// How many features there are.
    pub features: usize,
    /// How many of them agree.
    pub features_equal: usize,
    /// What the two are to each other.
    pub verdict: Relation,
}

impl Comparison {
    /// Compares two documents.
    ///
    /// # Errors
    ///
    /// When the two were not made with the same parameters.
    pub fn of(a: &Side<'_>, b: &Side<'_>, rule: Rule) -> Result<Self, SketchError> {
        let overlap = a.set.overlap(&b.set);
        let resemblance = a.min_values.estimate_resemblance(&b.min_values)?;
        let (a_in_b, b_in_a) =
            containments_from_resemblance(resemblance, a.set.len() as u64, b.set.len() as u64);
        let features_equal = a.features.agreeing(&b.features)?;
        let verdict = if a.bytes == b.bytes {
            Relation::IdenticalBytes
        } else if a.set.is_empty() || b.set.is_empty() {
            Relation::Different
        } else if same_words(a, b) {
            Relation::SameText
        } else if overlap.shared == overlap.union() {
            Relation::SameShingles
        } else if rule.makes_a_copy(overlap.resemblance(), features_equal) {
            Relation::Copy
        } else if overlap.left_in_right().max(overlap.right_in_left()) >= PARTLY_CONTAINED
            || overlap.shared >= QUOTED_SHINGLES
        {
            Relation::PartlyContained
        } else {
            Relation::Different
        };
        let features = a.features.values().len().max(b.features.values().len());
        Ok(Comparison { overlap, resemblance, a_in_b, b_in_a, features, features_equal, verdict })
    }
}

/// Whether the two have the same words in the same order. The hash is asked first; the words, whose
/// equality no hash can prove, only when it agrees.
fn same_words(a: &Side<'_>, b: &Side<'_>) -> bool {
    let normal_form = wonbon_text::words::normal_form;
    a.count == b.count && normal_form(a.text) == normal_form(b.text)
}
