//! The words of `class` and `id` values, and the bucket of the learned table that each falls into.
//!
//! A value is split at everything that is not a letter and before capitals after small letters, so
//! `postSidebar`, `post-sidebar` and `post_sidebar` are the same two words. Words share
//! [`BUCKETS`] buckets by a hash: the table of the model then has a fixed size and knows no site's
//! names.
//!
//! Cost: linear in the value; a page's distinct values are split once
//! ([`MarkReader`](super::marks::MarkReader) remembers them).

use super::tags::Tag;

/// Buckets of a table of words.
pub(crate) const BUCKETS: usize = 4096;

/// Buckets of the table of words of paragraphs, which has more to tell apart.
pub(crate) const PROSE_BUCKETS: usize = 8192;

/// Longest word that is hashed; what is longer was generated.
const MAX_WORD_BYTES: usize = 24;

/// Calls `word` with each word of each name that a person may have chosen.
pub(crate) fn for_each_name<'value>(value: &'value str, mut name_of: impl FnMut(&'value str)) {
    for name in value.split_ascii_whitespace() {
        // Long values are generated; utility classes (`md:hidden`) speak of layout.
        if name.len() <= 80 && !name.contains([':', '[']) {
            name_of(name);
        }
    }
}

/// Calls `word_of` with each word of a name.
pub(crate) fn for_each_word<'name>(name: &'name str, mut word_of: impl FnMut(&'name str)) {
    let mut start = None;
    let bytes = name.as_bytes();
    for at in 0..=bytes.len() {
        let letter = bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
        let boundary = at > 0
            && letter
            && bytes[at].is_ascii_uppercase()
            && bytes[at - 1].is_ascii_lowercase();
        if let Some(from) = start
            && (!letter || boundary)
        {
            word_of(&name[from..at]);
            start = None;
        }
        if letter && start.is_none() {
            start = Some(at);
        }
    }
}

/// The bucket of a class word, whatever the case of its letters; `None` for words too long to be
/// anybody's choice.
pub(crate) fn class_bucket(word: &str) -> Option<usize> {
    (word.len() <= MAX_WORD_BYTES).then(|| bucket(word.bytes().map(|b| b.to_ascii_lowercase())))
}

/// The bucket of a tag, in the same table.
pub(crate) fn tag_bucket(tag: Tag) -> usize {
    bucket([0, tag as u8].into_iter())
}

/// The bucket of some bytes (FNV-1a, folded).
pub(crate) fn bucket(bytes: impl Iterator<Item = u8>) -> usize {
    let hash =
        bytes.fold(0x811c_9dc5u32, |hash, b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193));
    (hash ^ (hash >> 15)).wrapping_mul(0x85eb_ca6b) as usize >> 20 & (BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_letters_do_and_before_capitals() {
        let mut words = Vec::new();
        for_each_name("postSidebar post-sidebar_2x md:hidden", |name| {
            for_each_word(name, |word| words.push(word));
        });
        assert_eq!(words, ["post", "Sidebar", "post", "sidebar", "x"]);
        assert_eq!(class_bucket("Sidebar"), class_bucket("sidebar"));
    }
}
