//! Floors: loops that only read the JSON and hash each word, for "how much does the rest cost?".
//!
//! Five, because the answer depends on how well the floor itself is written. All but the last read
//! the JSON as our loop does; the last is what one writes in ten minutes with the usual crates.
//!
//! | floor | words |
//! |---|---|
//! | `our_hashes` | ours, in normal form, hashed as our shingles hash them: the same walk, so the ratio tells what shingles and permutations add |
//! | `our_words` | ours, in normal form, handed out as strings and hashed by foldhash |
//! | `byte_words` | runs of bytes that are ASCII letters, digits or not ASCII, lower-cased: wrong for every script but Latin without accents, and as cheap as a word can be |
//! | `std_words`, `plain` | runs of `char::is_alphanumeric`: no normal form, no lower case, Han and kana not cut |

use std::borrow::Cow;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use foldhash::fast::FixedState;
use wonbon_text::shingles::{DEFAULT_SHINGLE_WORDS, Shingler};
use wonbon_text::words::for_each_word;

use crate::Tally;
use crate::loops::for_each_text;

fn hash(state: &FixedState, word: &str) -> u64 {
    let mut hasher = state.build_hasher();
    hasher.write(word.as_bytes());
    hasher.finish()
}

fn std_words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

pub(crate) fn our_hashes(file: &Path) -> anyhow::Result<Tally> {
    let (mut tally, mut shingler) = (Tally::default(), Shingler::new(DEFAULT_SHINGLE_WORDS));
    for_each_text(file, |text| {
        let mut sum = 0_u64;
        shingler.for_each_word_hash(text, |hash| sum = sum.wrapping_add(hash));
        tally.document(sum);
    })?;
    Ok(tally)
}

pub(crate) fn our_words(file: &Path) -> anyhow::Result<Tally> {
    let (mut tally, state) = (Tally::default(), FixedState::default());
    for_each_text(file, |text| {
        let mut sum = 0_u64;
        for_each_word(text, |word| sum = sum.wrapping_add(hash(&state, word)));
        tally.document(sum);
    })?;
    Ok(tally)
}

pub(crate) fn std_words(file: &Path) -> anyhow::Result<Tally> {
    let (mut tally, state) = (Tally::default(), FixedState::default());
    for_each_text(file, |text| {
        let hashes = std_words_of(text).map(|word| hash(&state, word));
        tally.document(hashes.fold(0, u64::wrapping_add));
    })?;
    Ok(tally)
}

pub(crate) fn byte_words(file: &Path) -> anyhow::Result<Tally> {
    /// What a byte is in a word; 0 outside of words.
    const LETTER: [u8; 256] = {
        let mut letter = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let value = byte as u8;
            if value >= 0x80 || value.is_ascii_alphanumeric() {
                letter[byte] = value.to_ascii_lowercase();
            }
            byte += 1;
        }
        letter
    };
    let mut tally = Tally::default();
    for_each_text(file, |text| {
        let (mut sum, mut hash) = (0_u64, 0_u64);
        for &byte in text.as_bytes() {
            let letter = LETTER[usize::from(byte)];
            if letter == 0 {
                sum = sum.wrapping_add(hash);
                hash = 0;
            } else {
                hash =
                    (hash.rotate_left(5) ^ u64::from(letter)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            }
        }
        tally.document(sum.wrapping_add(hash));
    })?;
    Ok(tally)
}

#[derive(serde::Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

pub(crate) fn plain(file: &Path) -> anyhow::Result<Tally> {
    let (mut tally, state) = (Tally::default(), FixedState::default());
    let mut reader = BufReader::with_capacity(256 << 10, File::open(file)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let row: Row = serde_json::from_slice(&line).context("a line is no document")?;
        let hashes = std_words_of(&row.text).map(|word| hash(&state, word));
        tally.document(hashes.fold(0, u64::wrapping_add));
        line.clear();
    }
    Ok(tally)
}
