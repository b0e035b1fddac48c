//! Words and shingles of arbitrary text equal the oracle's.

use std::num::NonZeroUsize;

use crate::text::{slow_shingles, slow_words};

/// The first byte chooses the shingle length, the rest is the text (malformed UTF-8 replaced).
pub fn words(data: &[u8]) {
    let Some((&first, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let shingle_words = NonZeroUsize::new(usize::from(first % 12) + 1).expect("at least one");

    let mut fast = Vec::new();
    wonbon_text::words::for_each_word_at(&text, |word, place| {
        assert!(text.get(place.clone()).is_some(), "place {place:?} cuts a character");
        fast.push(word.to_owned());
    });
    let slow = slow_words(&text);
    assert_eq!(fast, slow);
    assert_eq!(
        wonbon_text::shingles::shingles(&text, shingle_words),
        slow_shingles(&slow, shingle_words)
    );
    let mut hashes = Vec::new();
    wonbon_text::shingles::Shingler::new(shingle_words)
        .for_each_word_hash(&text, |hash| hashes.push(hash));
    let expected: Vec<u64> =
        slow.iter().map(|word| wonbon_text::shingles::word_hash(word)).collect();
    assert_eq!(hashes, expected);
    let normal = wonbon_text::words::normal_form(&text);
    assert_eq!(wonbon_text::words::normal_form(&normal), normal, "the normal form is its own");
}
