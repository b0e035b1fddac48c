//! Two documents side by side: how much they share, exactly and as their sketches see it.
//!
//! What `wonbon compare` and the service's comparison both need: shingle sets, min-values, features, and
//! one word for what the two are to each other. Cost: linear in the two texts; a text that repeats
//! itself is kept as its different shingles.

use std::num::NonZeroUsize;

use serde::Deserialize;
use wonbon_sketch::{
    ElementSet, Estimate, FeatureMaker, FeatureParams, Features, MinValues, Overlap, SketchError,
    containments_from_resemblance,
};
use wonbon_store::{Rule, Store, StoredDocument};
use wonbon_text::difference::Difference;
use wonbon_text::extract::extract;
use wonbon_text::shingles::{ShingleCount, Shingler};

use crate::answers;
use crate::error::{AppError, RequestError};
use crate::questions::{document, non_empty};

/// A document that is not a copy is "partly contained" from this part of its shingles on...
const PARTLY_CONTAINED: f64 = 0.2;
/// ...or from this many shared shingles on: a quotation may be a small part of both.
const QUOTED_SHINGLES: usize = 20;

/// Two stored documents.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
pub struct CompareQuestion {
    /// The key or address of the first.
    pub a: Option<String>,
    /// The key or address of the second.
    pub b: Option<String>,
    /// Show where they differ too.
    pub differences: Option<bool>,
}

impl CompareQuestion {
    /// The two documents; none if not both are said.
    ///
    /// # Errors
    ///
    /// [`AppError::UnknownDocument`], or the store's.
    pub fn texts(&self, store: &Store) -> Result<Option<[NamedText; 2]>, AppError> {
        let (Some(a), Some(b)) = (non_empty(&self.a), non_empty(&self.b)) else { return Ok(None) };
        Ok(Some([NamedText::stored(store, a)?, NamedText::stored(store, b)?]))
    }
}

/// One of two documents: a stored one, or one that is sent.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparedSide {
    /// The key or address of a stored document.
    pub key: Option<String>,
    /// A text.
    pub text: Option<String>,
    /// A page, whose core text is taken.
    pub html: Option<String>,
}

/// Two documents.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ComparisonRequest {
    /// The first.
    pub a: ComparedSide,
    /// The second.
    pub b: ComparedSide,
    /// Show where they differ too.
    pub differences: Option<bool>,
}

impl ComparisonRequest {
    /// The two documents.
    ///
    /// # Errors
    ///
    /// [`AppError::UnknownDocument`], [`AppError::Request`], or the store's.
    pub fn texts(self, store: &Store) -> Result<[NamedText; 2], AppError> {
        Ok([NamedText::from_side(store, "a", self.a)?, NamedText::from_side(store, "b", self.b)?])
    }
}

/// A text and what it is called.
#[derive(Debug)]
pub struct NamedText {
    /// What it is called.
    pub name: String,
    /// Its core text.
    pub text: String,
    /// The bytes by which two are identical; of a stored document its text.
    pub bytes: Vec<u8>,
    /// The document it is, if it is stored.
    pub document: Option<StoredDocument>,
}

impl NamedText {
    fn stored(store: &Store, key: &str) -> Result<Self, AppError> {
        let document = document(store, key)?;
        Ok(NamedText {
            name: document.key.clone(),
            text: document.text.clone(),
            bytes: document.text.clone().into_bytes(),
            document: Some(document),
        })
    }

    fn from_side(store: &Store, side: &'static str, given: ComparedSide) -> Result<Self, AppError> {
        let (text, bytes) = match given {
            ComparedSide { key: Some(key), text: None, html: None } => {
                return NamedText::stored(store, &key);
            }
            ComparedSide { key: None, text: Some(text), html: None } => {
                let bytes = text.clone().into_bytes();
                (text, bytes)
            }
            ComparedSide { key: None, text: None, html: Some(html) } => {
                (extract(&html, None).text, html.into_bytes())
            }
            _ => return Err(RequestError::Side { side }.into()),
        };
        Ok(NamedText { name: side.to_owned(), text, bytes, document: None })
    }

    /// As it is compared.
    #[must_use]
    pub fn to_compare(&self) -> TextToCompare<'_> {
        TextToCompare { name: &self.name, bytes: &self.bytes, text: &self.text }
    }
}

/// How two documents are compared.
#[derive(Debug, Clone)]
pub struct CompareConfig {
    /// Words in a shingle.
    pub shingle_words: NonZeroUsize,
    /// How features are made.
    pub features: FeatureParams,
    /// What makes a copy.
    pub rule: Rule,
}

impl CompareConfig {
    /// As a store decides.
    #[must_use]
    pub fn of_store(store: &Store) -> Self {
        let params = store.params();
        CompareConfig {
            shingle_words: params.shingle_words,
            features: params.features().0,
            rule: params.rule,
        }
    }
}

/// A document as it is compared.
#[derive(Debug, Clone, Copy)]
pub struct TextToCompare<'a> {
    /// What it is called.
    pub name: &'a str,
    /// It as it came.
    pub bytes: &'a [u8],
    /// Its core text.
    pub text: &'a str,
}

/// Two documents and what they share.
#[derive(Debug)]
pub struct ComparedTexts<'a> {
    /// The two.
    pub sides: [Side<'a>; 2],
    /// What they share.
    pub comparison: Comparison,
}

impl<'a> ComparedTexts<'a> {
    /// Compares two documents.
    ///
    /// # Errors
    ///
    /// [`SketchError`] if features cannot be made as it is said.
    pub fn of(texts: [TextToCompare<'a>; 2], config: &CompareConfig) -> Result<Self, SketchError> {
        let maker = FeatureMaker::new(config.features.clone())?;
        let mut shingler = Shingler::new(config.shingle_words);
        let sides = texts.map(|text| Side::new(text, &mut shingler, &maker));
        let comparison = Comparison::of(&sides[0], &sides[1], config.rule)?;
        Ok(ComparedTexts { sides, comparison })
    }

    /// As JSON, with where they differ if that was found.
    #[must_use]
    pub fn answer(&self, found: Option<&Difference>) -> answers::Comparison<'a> {
        let [a, b] = &self.sides;
        answers::Comparison::of((a, b), &self.comparison, found)
    }
}

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
    fn new(
        TextToCompare { name, bytes, text }: TextToCompare<'a>,
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
    /// Compares two documents; an error if the two were not made with the same parameters.
    fn of(a: &Side<'_>, b: &Side<'_>, rule: Rule) -> Result<Self, SketchError> {
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
