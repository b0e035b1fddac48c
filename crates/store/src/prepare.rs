//! Prepares a document: computes everything about it that does not depend on other documents.
//!
//! This is the expensive part of an add (core text, words, shingles, features, compression), so it runs in the caller's
//! thread. Only look-ups and inserts are left for the one writer.
//!
//! Cost: for a text of 2 kB about 10 microseconds for the features and 20 to 30 for compression.

use std::borrow::Cow;
use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::sync::Arc;

use wonbon_index::shingles::{ShingleSampler, ShingleSketch};
use wonbon_rule::{Fingerprints, fingerprint_content, fingerprint_set};
use wonbon_sketch::{ElementSet, FeatureMaker, finalise};
use wonbon_text::extract::{Page, core_text, extract};
use wonbon_text::shingles::Shingler;
use wonbon_text::site::site_of_address;
use wonbon_time::Timestamp;
use zstd::zstd_safe::{CParameter, ParamSwitch};

use crate::document::{Content, Expected, MOST_CONTENT_BYTES, NewDocument, check_key, without_nul};
use crate::error::StoreError;
use crate::judge::KnownResemblances;
use crate::params::{MadeBy, StoreParams};

/// The longest text that is handed to the search thread in memory.
const MOST_PLAIN_BYTES: usize = 256 << 10;

/// The level of compression: one at which 2 kB take 10 to 20 microseconds.
const COMPRESSION_LEVEL: i32 = 1;
/// Texts up to this many bytes are compressed without Huffman-coded literals. Rebuilding the Huffman table and decoding
/// with it takes half the time of decompressing 2 kB, and a page of results shows ten texts. Without it a text takes a
/// tenth (Chinese, Japanese), a fifth (Korean) or a third (English) more space and half the time to read.
const PLAIN_LITERALS_BYTES: usize = 4 << 10;

/// A document read as far as its features.
pub(crate) struct Examined<'d> {
    text: Cow<'d, str>,
    title: Option<String>,
    language: Option<String>,
    published: Option<Timestamp>,
    /// As they come: neither sorted nor each once.
    pub(crate) shingles: Vec<u64>,
    words: u64,
    pub(crate) text_fingerprint: u64,
    pub(crate) features: Vec<u64>,
}

/// A document made ready.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) key: String,
    pub(crate) created: Option<Timestamp>,
    /// Whether it may have been created before.
    pub(crate) created_at_the_latest: bool,
    pub(crate) published: Option<Timestamp>,
    pub(crate) url: Option<String>,
    pub(crate) site: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) sweep: Option<Timestamp>,
    pub(crate) words: u64,
    pub(crate) fingerprints: Fingerprints,
    pub(crate) shingles: ElementSet,
    /// k of them; none for a document without words.
    pub(crate) features: Vec<u64>,
    /// For the index of shingles.
    pub(crate) sketch: ShingleSketch,
    /// The core text, compressed.
    pub(crate) text: Vec<u8>,
    /// The core text as it is, for search; none if it is long.
    pub(crate) plain: Option<Arc<str>>,
    /// What has to be true for it to be stored.
    pub(crate) expected: Option<Expected>,
    /// Its resemblances to copies that may come to it, if it arrives late.
    pub(crate) known: Option<Arc<KnownResemblances>>,
}

impl Prepared {
    /// The same, stored only if this is true when it is its turn; otherwise
    /// [`StoreError::NotAsExpected`].
    #[must_use]
    pub fn only_if(self, expected: Expected) -> Self {
        Prepared { expected: Some(expected), ..self }
    }

    /// The document's key.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// Makes documents ready; may be used from many threads.
#[derive(Debug, Clone)]
pub(crate) struct Preparer {
    maker: FeatureMaker,
    shingle_words: NonZeroUsize,
    sampler: ShingleSampler,
    made_by: MadeBy,
}

impl Preparer {
    pub(crate) fn new(params: &StoreParams) -> Result<Self, StoreError> {
        Ok(Preparer {
            maker: params.feature_maker()?,
            shingle_words: params.shingle_words,
            sampler: ShingleSampler::new(&params.features().0.seed)?,
            made_by: params.made_by,
        })
    }

    /// Samples shingles for the index of them.
    pub(crate) fn sampler(&self) -> &ShingleSampler {
        &self.sampler
    }

    /// w, the words of a shingle.
    pub(crate) fn shingle_words(&self) -> NonZeroUsize {
        self.shingle_words
    }

    pub(crate) fn prepare(&self, document: &NewDocument<'_>) -> Result<Prepared, StoreError> {
        check_key(&document.key)?;
        let examined = self.examine(document)?;
        let text = compress(&examined.text)?;
        let plain = (examined.text.len() <= MOST_PLAIN_BYTES).then(|| Arc::from(&*examined.text));
        let Examined { title, language, published, words, text_fingerprint, features, .. } =
            examined;
        let shingles = ElementSet::new(examined.shingles);
        let owned = |value: &Option<Cow<'_, str>>| value.as_deref().map(without_nul);
        let url = document.url.as_deref();
        Ok(Prepared {
            key: document.key.clone().into_owned(),
            created: document.created,
            created_at_the_latest: document.created_at_the_latest,
            published,
            url: owned(&document.url),
            site: owned(&document.site).or_else(|| site_of_address(url.unwrap_or(&document.key))),
            author: owned(&document.author),
            title,
            language,
            sweep: document.sweep,
            words,
            fingerprints: self.fingerprint(document, text_fingerprint, &shingles),
            features,
            sketch: self.sampler.sketch(&shingles),
            shingles,
            text,
            plain,
            expected: None,
            known: None,
        })
    }

    /// Reads a document as far as its features: enough to ask the index whether it may be a copy.
    pub(crate) fn examine<'d>(
        &self,
        document: &'d NewDocument<'_>,
    ) -> Result<Examined<'d>, StoreError> {
        let bytes = document.content.bytes();
        if bytes.len() > MOST_CONTENT_BYTES {
            return Err(StoreError::TooLong { bytes: bytes.len(), most: MOST_CONTENT_BYTES });
        }
        let owned = |value: &Option<Cow<'_, str>>| value.as_deref().map(without_nul);
        let mut title = owned(&document.title);
        let mut language = owned(&document.language);
        let mut published = document.published;
        let url = document.url.as_deref();
        let mut of_page = |page: Page| {
            let claimed = page.published.and_then(|text| Timestamp::parse_iso(&text).ok());
            published = published.or(claimed);
            title = title.take().or(page.title);
            language = language.take().or(page.language);
            page.text.into()
        };
        let text: Cow<'_, str> = match document.content {
            Content::Text(text) | Content::Extracted { text, .. } => text.into(),
            Content::Html(html) => of_page(extract(html, url)),
            Content::Bytes { bytes, declared } => of_page(core_text(bytes, declared, url).page),
        };
        let [title, language] = [title, language].map(|text| text.as_deref().map(without_nul));
        let (shingles, words, text_fingerprint) = self.shingles_as_they_come(&text);
        let features = self.maker.features(&shingles).values().to_vec();
        Ok(Examined {
            text,
            title,
            language,
            published,
            shingles,
            words,
            text_fingerprint,
            features,
        })
    }

    /// The fingerprints of a document whose words and shingles are known.
    pub(crate) fn fingerprint(
        &self,
        document: &NewDocument<'_>,
        text: u64,
        shingles: &ElementSet,
    ) -> Fingerprints {
        Fingerprints {
            content: fingerprint_content(document.content.bytes()),
            text,
            shingle_set: self.fingerprint_set(shingles),
        }
    }

    /// The fingerprint of a set of shingles, as the rows of this store have it.
    pub(crate) fn fingerprint_set(&self, shingles: &ElementSet) -> u64 {
        match self.made_by {
            MadeBy::Current => fingerprint_set(shingles.as_slice()) as u64,
            MadeBy::Earlier(_) => fingerprint_set_in_order(shingles),
        }
    }

    /// The shingle set of a text, its number of words and the fingerprint of their sequence.
    pub(crate) fn shingles(&self, text: &str) -> (ElementSet, u64, u64) {
        let (shingles, words, text_fingerprint) = self.shingles_as_they_come(text);
        (ElementSet::new(shingles), words, text_fingerprint)
    }

    /// The same, neither sorted nor each once.
    pub(crate) fn shingles_as_they_come(&self, text: &str) -> (Vec<u64>, u64, u64) {
        thread_local! {
            static SHINGLER: RefCell<Option<(NonZeroUsize, Shingler)>> = const { RefCell::new(None) };
        }
        SHINGLER.with_borrow_mut(|slot| {
            if slot.as_ref().is_none_or(|(words, _)| *words != self.shingle_words) {
                *slot = Some((self.shingle_words, Shingler::new(self.shingle_words)));
            }
            let (_, shingler) = slot.as_mut().expect("it was just made");
            let mut all = Vec::new();
            let count = shingler.for_each_chunk(text, |chunk| all.extend_from_slice(chunk));
            (all, count.words, count.normal_form_hash)
        })
    }

    /// The features of a set of shingles.
    pub(crate) fn features(&self, shingles: &ElementSet) -> Vec<u64> {
        self.maker.features(shingles.as_slice()).values().to_vec()
    }
}

/// The fingerprint of a set as stores of earlier programs have it.
fn fingerprint_set_in_order(shingles: &ElementSet) -> u64 {
    let start = shingles.len() as u64;
    shingles
        .as_slice()
        .iter()
        .fold(start, |hash, &shingle| finalise(hash.rotate_left(17) ^ shingle))
}

/// A text as the database keeps it: compressed, with a checksum of its own.
pub(crate) fn compress(text: &str) -> Result<Vec<u8>, StoreError> {
    thread_local! {
        static COMPRESSOR: RefCell<Option<zstd::bulk::Compressor<'static>>> = const { RefCell::new(None) };
    }
    COMPRESSOR
        .with_borrow_mut(|slot| {
            if slot.is_none() {
                let mut compressor = zstd::bulk::Compressor::new(COMPRESSION_LEVEL)?;
                compressor.include_checksum(true)?;
                *slot = Some(compressor);
            }
            let compressor = slot.as_mut().expect("it was just made");
            let literals = match text.len() <= PLAIN_LITERALS_BYTES {
                true => ParamSwitch::Disable,
                false => ParamSwitch::Auto,
            };
            compressor.set_parameter(CParameter::LiteralCompressionMode(literals))?;
            compressor.compress(text.as_bytes())
        })
        .map_err(|error| StoreError::WriteFailed { what: error.to_string() })
}

/// What [`compress`] made; `None` if it is not exactly that.
pub(crate) fn decompress(bytes: &[u8]) -> Option<String> {
    let most = zstd::zstd_safe::get_frame_content_size(bytes).ok()??;
    let most = usize::try_from(most).ok().filter(|&most| most <= MOST_CONTENT_BYTES * 2)?;
    thread_local! {
        static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
    }
    let text = DECOMPRESSOR.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = zstd::bulk::Decompressor::new().ok();
        }
        slot.as_mut()?.decompress(bytes, most).ok()
    })?;
    simdutf8::basic::from_utf8(&text).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_come_back_and_damaged_ones_do_not() {
        let text = "Wonbon finds 원본 and copies. ".repeat(400);
        for length in [0, 1, 100, PLAIN_LITERALS_BYTES, PLAIN_LITERALS_BYTES + 1, text.len()] {
            let length = (0..=length).rev().find(|&at| text.is_char_boundary(at)).unwrap();
            let mut bytes = compress(&text[..length]).unwrap();
            assert_eq!(decompress(&bytes).as_deref(), Some(&text[..length]));
            assert_eq!(decompress(&bytes[..bytes.len() - 1]), None);
            *bytes.last_mut().unwrap() ^= 1;
            assert_eq!(decompress(&bytes), None, "{length} bytes");
        }
    }
}
