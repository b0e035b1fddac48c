//! A comparison of two documents: how much they share and where they differ.

use serde::Serialize;
use wonbon_text::difference::{Span, SpanKind};

use crate::compare::{self, Side};

/// How much two documents share.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Comparison<'a> {
    /// The first.
    pub a: &'a str,
    /// The second.
    pub b: &'a str,
    /// The exact resemblance.
    pub resemblance: f64,
    /// The part of A's shingles that B has.
    pub containment_a_in_b: f64,
    /// The part of B's shingles that A has.
    pub containment_b_in_a: f64,
    /// What the sketches say.
    pub estimate: ComparisonEstimate,
    /// How many features agree.
    pub features_equal: usize,
    /// Of how many.
    pub features: usize,
    /// Different shingles of A.
    pub shingles_a: usize,
    /// Different shingles of B.
    pub shingles_b: usize,
    /// Shingles of both.
    pub shingles_shared: usize,
    /// identical bytes, same text, same shingles, copy, partly contained or different.
    pub verdict: &'static str,
    /// Where the two differ, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differences: Option<Vec<Difference<'a>>>,
    /// Blocks that moved, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<Vec<MovedBlock<'a>>>,
}

/// What the sketches say of two documents.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparisonEstimate {
    /// Of the resemblance.
    pub resemblance: f64,
    /// Of the part of A that B has.
    pub containment_a_in_b: f64,
    /// Of the part of B that A has.
    pub containment_b_in_a: f64,
    /// How far the first may be off.
    pub resemblance_standard_error: f64,
    /// How far the second may be off.
    pub containment_a_in_b_standard_error: f64,
    /// How far the third may be off.
    pub containment_b_in_a_standard_error: f64,
}

/// A passage that differs: what A has there and what B has there, either may be empty.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Difference<'a> {
    /// What A has.
    pub a: &'a str,
    /// What B has.
    pub b: &'a str,
    /// From which word of A to before which.
    pub words_a: [usize; 2],
    /// From which word of B to before which.
    pub words_b: [usize; 2],
}

/// A block that stands at one place of A and at another of B: its number is its place in the list,
/// from 1.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct MovedBlock<'a> {
    /// The block.
    pub a: &'a str,
    /// Where it is in A.
    pub words_a: [usize; 2],
    /// Where it is in B.
    pub words_b: [usize; 2],
}

impl<'a> Comparison<'a> {
    /// Of two documents, their comparison and, if it is asked for, where they differ.
    #[must_use]
    pub fn of(
        (a, b): (&Side<'a>, &Side<'a>),
        compared: &compare::Comparison,
        found: Option<&wonbon_text::difference::Difference>,
    ) -> Self {
        Comparison {
            a: a.name,
            b: b.name,
            resemblance: compared.overlap.resemblance(),
            containment_a_in_b: compared.overlap.left_in_right(),
            containment_b_in_a: compared.overlap.right_in_left(),
            estimate: ComparisonEstimate {
                resemblance: compared.resemblance.value,
                containment_a_in_b: compared.a_in_b.value,
                containment_b_in_a: compared.b_in_a.value,
                resemblance_standard_error: compared.resemblance.standard_error,
                containment_a_in_b_standard_error: compared.a_in_b.standard_error,
                containment_b_in_a_standard_error: compared.b_in_a.standard_error,
            },
            features_equal: compared.features_equal,
            features: compared.features,
            shingles_a: a.set.len(),
            shingles_b: b.set.len(),
            shingles_shared: compared.overlap.shared,
            verdict: compared.verdict.name(),
            differences: found.map(|found| differences(a.text, b.text, found)),
            moved: found.map(|found| moved(a.text, found)),
        }
    }
}

fn moved<'a>(text: &'a str, found: &wonbon_text::difference::Difference) -> Vec<MovedBlock<'a>> {
    found
        .moved
        .iter()
        .map(|block| MovedBlock {
            a: &text[found.left.place(block.left.clone())],
            words_a: [block.left.start, block.left.end],
            words_b: [block.right.start, block.right.end],
        })
        .collect()
}

fn differences<'a>(
    a: &'a str,
    b: &'a str,
    found: &wonbon_text::difference::Difference,
) -> Vec<Difference<'a>> {
    let is_alone = |span: &Span| matches!(span.kind, SpanKind::OnlyLeft | SpanKind::OnlyRight);
    found
        .spans
        .chunk_by(|one, other| is_alone(one) && is_alone(other))
        .filter(|spans| is_alone(&spans[0]))
        .map(|spans| {
            let last = spans.len() - 1;
            let words_a = spans[0].left.start..spans[last].left.end;
            let words_b = spans[0].right.start..spans[last].right.end;
            Difference {
                a: &a[found.left.place(words_a.clone())],
                b: &b[found.right.place(words_b.clone())],
                words_a: [words_a.start, words_a.end],
                words_b: [words_b.start, words_b.end],
            }
        })
        .collect()
}
