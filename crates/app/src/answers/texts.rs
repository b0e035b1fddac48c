//! Answers about a text: the documents that share something with it, and where it was taken from.

use serde::Serialize;

use super::Document;

/// A document that shares something with a text.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Match<'a> {
    /// The document, without its text.
    pub document: Document<'a>,
    /// Its exact resemblance to the text.
    pub resemblance: f64,
    /// The part of the text that the document has.
    pub containment_of_text: f64,
    /// The part of the document that the text has.
    pub containment_of_document: f64,
    /// How many shingles both have.
    pub shingles_shared: usize,
    /// What the index estimated for the value by which documents are ranked.
    pub estimate: Option<Estimate>,
}

/// An estimate and how far it may be off.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// From how many samples.
    pub samples: u64,
}

impl<'a> Match<'a> {
    /// The JSON form of a match.
    #[must_use]
    pub fn of(found: &'a wonbon_store::Match) -> Self {
        Match {
            document: Document::without_text(&found.document),
            resemblance: found.overlap.resemblance(),
            containment_of_text: found.overlap.left_in_right(),
            containment_of_document: found.overlap.right_in_left(),
            shingles_shared: found.overlap.shared,
            estimate: (found.estimate.samples > 0).then_some(Estimate {
                value: found.estimate.value,
                standard_error: found.estimate.standard_error,
                samples: found.estimate.samples,
            }),
        }
    }
}

/// A document from which part of a text was taken.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Source<'a> {
    /// The document, without its text.
    pub document: Document<'a>,
    /// How many words it explains that no source before it did.
    pub words: usize,
    /// How many words it explains, whether others do or not.
    pub words_in_all: usize,
    /// Which passages.
    pub passages: Vec<SourcePassage<'a>>,
}

/// A passage that a source explains.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SourcePassage<'a> {
    /// From which word to before which.
    pub words: [usize; 2],
    /// As the text has it.
    pub text: &'a str,
    /// As the source has it.
    pub source: &'a str,
}

/// Part of a text that nothing explains.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unexplained<'a> {
    /// From which word to before which.
    pub words: [usize; 2],
    /// As the text has it.
    pub text: &'a str,
}

/// How much of a text is explained.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Explained<'a> {
    /// Its words.
    pub words: usize,
    /// Of them explained.
    pub explained: usize,
    /// The rest.
    pub unexplained: Vec<Unexplained<'a>>,
}

impl<'a> Source<'a> {
    /// The JSON form of a source of a text.
    #[must_use]
    pub fn of(source: &'a wonbon_store::Source, text: &'a str) -> Self {
        let passages = source.passages.iter().map(|passage| SourcePassage {
            words: [passage.words.start, passage.words.end],
            text: &text[passage.place.clone()],
            source: &source.document.text[passage.source_place.clone()],
        });
        Source {
            document: Document::without_text(&source.document),
            words: source.words,
            words_in_all: source.words_in_all,
            passages: passages.collect(),
        }
    }
}

impl<'a> Explained<'a> {
    /// How much of a text its sources explain.
    #[must_use]
    pub fn of(sources: &wonbon_store::Sources, text: &'a str) -> Self {
        let unexplained = sources.unexplained.iter().map(|part| Unexplained {
            words: [part.words.start, part.words.end],
            text: &text[part.place.clone()],
        });
        Explained {
            words: sources.words,
            explained: sources.explained,
            unexplained: unexplained.collect(),
        }
    }
}
