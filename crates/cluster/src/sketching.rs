//! Turns one document into the numbers that a job over a corpus needs.
//!
//! One pass over the words gives everything: the fingerprint of the normal form, the different shingles in order of
//! appearance, their number, the fingerprint of their set, and a feature for each band. The text is not read again:
//! verification later reads the shingles.
//!
//! Cost: eight bytes on disk for each different shingle (about 1.3 times the text in languages with spaces), 40 bytes a
//! document and eight for each band; no allocation per document.

use std::num::NonZeroUsize;

use crate::passages::{PassageUnit, append_words};
use wonbon_rule::{fingerprint_content_half, fingerprint_set};
use wonbon_sketch::{Distinct, FeatureMaker, Features, FeaturesBuilder};
use wonbon_text::shingles::Shingler;
use wonbon_text::words::has_word;

/// What is known of some documents, column by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketches {
    /// The fingerprint of each document's bytes.
    pub bytes: Vec<u64>,
    /// The fingerprint of each document's normal form.
    pub normal: Vec<u64>,
    /// The fingerprint of each document's set of shingles; 0 for a document without words.
    pub set: Vec<u128>,
    /// How many different shingles each document has.
    pub shingles: Vec<u32>,
    /// The features of each document, one after another; a document without shingles has zeros.
    pub features: Vec<u64>,
    /// The shingles of each document, one document after another.
    pub elements: Vec<u64>,
    /// How many super-shingles each document has, where they are made.
    pub super_counts: Vec<u32>,
    /// The super-shingles of each document, one document after another.
    pub supers: Vec<u64>,
    /// The addresses of the documents, one after another, where they are kept.
    pub urls: Vec<u8>,
    /// Where each address ends.
    pub url_ends: Vec<u64>,
    /// The words of the documents, where passages are looked for.
    pub words: Vec<u8>,
    /// Where the words of each document end.
    pub word_ends: Vec<u64>,
    /// Where units begin in the words of each document, and how many.
    pub unit_starts: Vec<u32>,
    /// How many of these each document has.
    pub unit_counts: Vec<u32>,
}

impl Sketches {
    /// Appends the words of one document, and where units begin in them.
    pub(crate) fn add_words(&mut self, text: &str, unit: Option<PassageUnit>) {
        let before = self.unit_starts.len();
        append_words(text, unit, &mut self.words, &mut self.unit_starts);
        self.word_ends.push(self.words.len() as u64);
        self.unit_counts.push((self.unit_starts.len() - before) as u32);
    }
}

/// Makes sketches; one for each thread.
#[derive(Debug)]
pub(crate) struct Sketcher {
    shingler: Shingler,
    builder: FeaturesBuilder,
    features: Features,
    distinct: Distinct,
    groups: usize,
}

impl Sketcher {
    /// A sketcher by these parameters.
    #[must_use]
    pub(crate) fn new(maker: &FeatureMaker, groups: usize, shingle_words: NonZeroUsize) -> Self {
        Sketcher {
            shingler: Shingler::new(shingle_words),
            builder: maker.builder(),
            features: maker.features(&[]),
            distinct: Distinct::default(),
            groups,
        }
    }

    /// Appends one document without sketching it: what is known of every document, and no shingles.
    pub(crate) fn add_unsketched(bytes: &[u8], text: &str, sketches: &mut Sketches) {
        sketches.bytes.push(fingerprint_content_half(bytes));
        sketches.normal.push(0);
        sketches.set.push(u128::from(has_word(text)));
        sketches.shingles.push(0);
    }

    /// Appends one document: the bytes it came as and its core text.
    pub(crate) fn add(&mut self, bytes: &[u8], text: &str, sketches: &mut Sketches) {
        let start = sketches.elements.len();
        // A word and what separates it have five to seven bytes in most languages.
        self.distinct.start(&sketches.elements, text.len() / 6);
        let (distinct, elements) = (&mut self.distinct, &mut sketches.elements);
        let count = self.shingler.for_each_chunk(text, |chunk| distinct.add(chunk, elements));
        let set = &sketches.elements[start..];
        self.builder.clear();
        self.builder.update(set);
        self.builder.features_into(&mut self.features);
        sketches.bytes.push(fingerprint_content_half(bytes));
        sketches.normal.push(count.normal_form_hash);
        sketches.set.push(fingerprint_set(set));
        sketches.shingles.push(set.len() as u32);
        if set.is_empty() {
            sketches.features.extend(std::iter::repeat_n(0, self.groups));
        } else {
            sketches.features.extend_from_slice(self.features.values());
        }
    }
}
