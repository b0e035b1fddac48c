//! Answers about passages of a text that stand in stored documents.

use serde::Serialize;
use wonbon_store::{StoredPassage, StoredPassages};

use super::Document;

/// What of a text stands in stored documents, run by run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PassagesAnswer<'a> {
    /// In the order of the text.
    pub passages: Vec<TextPassage<'a>>,
    /// The documents that have them, the one with most words of the text first.
    pub documents: Vec<Document<'a>>,
    /// Words of the text.
    pub words: usize,
    /// How many of them stand in a passage.
    pub repeated: usize,
    /// Whether all documents that share something with the text were looked at.
    pub complete: bool,
}

/// A run of words of the text that stored documents have too.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TextPassage<'a> {
    /// From which word to before which.
    pub words: [usize; 2],
    /// As the text has it.
    pub text: &'a str,
    /// Where it stands.
    pub places: Vec<PassagePlace<'a>>,
}

/// Where a passage stands.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PassagePlace<'a> {
    /// The document.
    pub key: &'a str,
    /// The first byte of its text and the one behind the last.
    pub bytes: [usize; 2],
    /// As the document has it.
    pub text: &'a str,
}

impl<'a> TextPassage<'a> {
    /// The JSON form of a passage of a text.
    #[must_use]
    pub fn of(passage: &StoredPassage, found: &'a StoredPassages, text: &'a str) -> Self {
        let places = passage.places.iter().map(|(number, place)| {
            let document = &found.documents[*number];
            PassagePlace {
                key: &document.key,
                bytes: [place.start, place.end],
                text: &document.text[place.clone()],
            }
        });
        TextPassage {
            words: [passage.words.start, passage.words.end],
            text: &text[passage.place.clone()],
            places: places.collect(),
        }
    }
}

impl<'a> PassagesAnswer<'a> {
    /// The JSON form of the passages of a text.
    #[must_use]
    pub fn of(found: &'a StoredPassages, text: &'a str) -> Self {
        let passages = found.passages.iter();
        PassagesAnswer {
            passages: passages.map(|passage| TextPassage::of(passage, found, text)).collect(),
            documents: found.documents.iter().map(Document::without_text).collect(),
            words: found.words,
            repeated: found.repeated,
            complete: found.complete,
        }
    }
}
