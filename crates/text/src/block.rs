//! Sixty-four bytes of text at once: which of them belong to words?
//!
//! A block is classified into bit masks, one bit a byte, and its ASCII letters are lower-cased in
//! place. ASCII, Hangul syllables and common punctuation of other scripts (quotation marks, dashes, brackets, full-width
//! marks) are understood; the first character that is none of these ends what
//! is taken of the block. Korean is taken here and not character by character because a Hangul
//! syllable stands for itself in the normal form (what could change it is a conjoining jamo behind
//! it, which is not taken) and because words of two to four syllables are too short for a loop whose
//! end the processor has to guess.
//!
//! Implementations, checked against each other: sixteen bytes a step with the vector instructions every
//! x86-64 has, eight bytes a step with plain integers elsewhere. A long text goes through [`runs`]: block
//! after block, where the borders of words come out as a list of places; with AVX-512 a block is one step.
//!
//! Cost: about half a cycle a byte; with AVX-512 a sixth.

/// The size of a block.
pub(crate) const BLOCK_BYTES: usize = 64;

/// What was found in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classified {
    /// The bytes of letters and digits, one bit each; no bits beyond what is taken.
    pub(crate) letters: u64,
    /// How many bytes are understood: whole characters, ASCII or Hangul.
    pub(crate) taken: usize,
}

/// Lower-cases the ASCII letters of the first `length` bytes and classifies them. The block starts
/// at the start of a character of valid UTF-8; bytes beyond `length` are of no meaning.
#[inline]
pub(crate) fn classify(block: &mut [u8; BLOCK_BYTES], length: usize) -> Classified {
    masks(block).classified(length)
}

/// The masks of a block; its ASCII letters are lower-cased.
#[inline]
fn masks(block: &mut [u8; BLOCK_BYTES]) -> Masks {
    #[cfg(target_arch = "x86_64")]
    return vectors::masks(block);
    #[cfg(not(target_arch = "x86_64"))]
    return integers::masks(block);
}

/// One bit for each byte of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Masks {
    /// ASCII letters and digits.
    alphanumeric: u64,
    /// Bytes of characters that are not ASCII.
    not_ascii: u64,
    /// First bytes of characters that are not ASCII.
    leads: u64,
    /// First bytes of Hangul syllables.
    hangul_leads: u64,
    /// First bytes of punctuation of two and of three bytes.
    mark_leads: [u64; 2],
}

impl Masks {
    #[inline]
    fn classified(self, length: usize) -> Classified {
        if self.not_ascii == 0 {
            return Classified { letters: self.alphanumeric & below(length), taken: length };
        }
        let [twos, threes] = self.mark_leads;
        let marks = twos | threes;
        let strange = self.leads & !self.hangul_leads & !marks;
        // A character that starts in the last bytes is not whole.
        let last = |bytes: usize| below(length) & !below(length.saturating_sub(bytes));
        let cut = (self.leads & !twos & last(2)) | (twos & last(1));
        let taken = ((strange | cut).trailing_zeros() as usize).min(length);
        let of_marks = marks | marks << 1 | threes << 2;
        let letters = self.alphanumeric | (self.not_ascii & !of_marks);
        Classified { letters: letters & below(taken), taken }
    }
}

/// The lowest `bits` bits.
#[inline]
fn below(bits: usize) -> u64 {
    if bits >= 64 { !0 } else { (1 << bits) - 1 }
}

/// In UTF-8 the syllables U+AC00 to U+D7A3 are EA B0 80 to ED 9E A3. EB and EC are always first
/// bytes of syllables; EA is when the second byte is at least B0; ED surely when it is below 9E
/// (the 36 syllables from U+D780 on are left to the slower road).
#[inline]
fn hangul_leads(eb_ec: u64, ea: u64, ed: u64, at_least_b0: u64, below_9e: u64) -> u64 {
    eb_ec | (ea & (at_least_b0 >> 1)) | (ed & (below_9e >> 1))
}

/// First bytes of punctuation of two and of three bytes, by the mask of the bytes in a range: middle dots; dashes and
/// quotation marks (U+2010 to U+2027); blocks and shapes (U+2580 to U+25FF); CJK marks and brackets; full-width marks. All of
/// them separate words, whatever follows.
#[inline(always)]
fn mark_leads(within: impl Fn(u8, u8) -> u64) -> [u64; 2] {
    let is = |byte| within(byte, byte);
    let (second, third) = (|mask: u64| mask >> 1, |mask: u64| mask >> 2);
    let middle_dot = is(0xC2) & second(is(0xB7));
    let next_80 = second(is(0x80));
    let dash_or_quote = next_80 & third(within(0x90, 0xA7) & !is(0x97));
    let shape = second(within(0x96, 0x97));
    let cjk = next_80 & third(within(0x80, 0x82) | within(0x88, 0x9F));
    let full_width = within(0x81, 0x8F) | within(0x9A, 0xA0) | within(0xBB, 0xBF);
    let threes = is(0xE2) & (dash_or_quote | shape)
        | is(0xE3) & cjk
        | is(0xEF) & second(is(0xBC)) & third(full_width);
    [middle_dot, threes]
}

pub(crate) mod runs;
#[cfg(target_arch = "x86_64")]
mod vectors;

/// Eight bytes at a time: a byte below 0x80 plus `0x80 - c` has its high bit set exactly if it is at
/// least `c`, and never carries into the next byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod integers {
    use super::{BLOCK_BYTES, Masks, hangul_leads, mark_leads};

    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;

    /// The high bit of each byte whose low seven bits are `first` to `last`.
    #[inline]
    fn within(low: u64, first: u8, last: u8) -> u64 {
        let at_least = |c: u8| low + ONES * u64::from(0x80 - c);
        at_least(first) & !at_least(last + 1) & HIGH
    }

    /// Gathers the high bit of each byte into the low eight bits; all other bits must be clear.
    #[inline]
    fn bits(high: u64) -> u64 {
        (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
    }

    /// One bit for each byte from `first` to `last`, which are not ASCII.
    fn not_ascii_within(block: &[u8; BLOCK_BYTES], first: u8, last: u8) -> u64 {
        let pieces = block.as_chunks::<8>().0.iter().enumerate();
        pieces.fold(0, |mask, (index, piece)| {
            let bytes = u64::from_le_bytes(*piece);
            // The last value has no next one among seven bits: it is what is not below.
            let low = bytes & !HIGH;
            let at_least = low + ONES * u64::from(0x80 - (first & 0x7F));
            let above = if last == 0xFF { 0 } else { low + ONES * u64::from(0x7F - (last & 0x7F)) };
            mask | bits(at_least & !above & bytes & HIGH) << (8 * index)
        })
    }

    #[inline]
    pub(super) fn masks(block: &mut [u8; BLOCK_BYTES]) -> Masks {
        let mut masks = Masks::default();
        let (mut eb_ec, mut ea, mut ed, mut at_least_b0, mut below_9e) = (0, 0, 0, 0, 0);
        for (index, piece) in block.as_chunks_mut::<8>().0.iter_mut().enumerate() {
            let bytes = u64::from_le_bytes(*piece);
            let low = bytes & !HIGH;
            let not_ascii = bytes & HIGH;
            let letter = within(low | (ONES * 0x20), b'a', b'z') & !not_ascii;
            let digit = within(low, b'0', b'9') & !not_ascii;
            *piece = (bytes | (letter >> 2)).to_le_bytes();
            let at = 8 * index;
            masks.alphanumeric |= bits(letter | digit) << at;
            masks.not_ascii |= bits(not_ascii) << at;
            // What follows are the low seven bits of bytes that are not ASCII: 0x6B for EB.
            masks.leads |= bits(within(low, 0x40, 0x7E) & not_ascii) << at;
            eb_ec |= bits(within(low, 0x6B, 0x6C) & not_ascii) << at;
            ea |= bits(within(low, 0x6A, 0x6A) & not_ascii) << at;
            ed |= bits(within(low, 0x6D, 0x6D) & not_ascii) << at;
            at_least_b0 |= bits(within(low, 0x30, 0x7E) & not_ascii) << at;
            below_9e |= bits(within(low, 0x00, 0x1D) & not_ascii) << at;
        }
        if masks.not_ascii != 0 {
            masks.hangul_leads = hangul_leads(eb_ec, ea, ed, at_least_b0, below_9e);
            if masks.leads != masks.hangul_leads {
                masks.mark_leads = mark_leads(|first, last| not_ascii_within(block, first, last));
            }
        } else {
            masks.leads = 0;
        }
        masks
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::char_class::{CharClass, char_class};

    fn is_mark(c: char) -> bool {
        matches!(c,
            '·' | '\u{2010}'..='\u{2016}' | '\u{2018}'..='\u{2027}' | '\u{2580}'..='\u{25FF}'
            | '\u{3000}'..='\u{3002}' | '\u{3008}'..='\u{301F}' | '\u{FF01}'..='\u{FF0F}'
            | '\u{FF1A}'..='\u{FF20}' | '\u{FF3B}'..='\u{FF3F}')
    }

    #[test]
    fn marks_separate_words_whatever_stands_beside_them() {
        for c in ('\u{80}'..=char::MAX).filter(|&c| is_mark(c)) {
            assert_eq!(char_class(c), CharClass::Separator, "{c:?}");
        }
    }

    /// The same by looking at one character after another.
    fn slow(text: &str) -> (Vec<u8>, Classified) {
        let (mut taken, mut letters) = (0, 0_u64);
        for c in text.chars() {
            let whole = taken + c.len_utf8() <= BLOCK_BYTES;
            if !whole || !(c.is_ascii() || ('가'..='\u{D77F}').contains(&c) || is_mark(c)) {
                break;
            }
            for _ in 0..c.len_utf8() {
                letters |= u64::from(c.is_alphanumeric()) << taken;
                taken += 1;
            }
        }
        let lowered = text.as_bytes()[..taken].to_ascii_lowercase();
        (lowered, Classified { letters, taken })
    }

    fn check(text: &str) {
        let length = text.len().min(BLOCK_BYTES);
        let mut block = [0xEB; BLOCK_BYTES];
        block[..length].copy_from_slice(&text.as_bytes()[..length]);
        let mut other = block;
        let masks = integers::masks(&mut other);
        let found = classify(&mut block, length);
        let (lowered, expected) = slow(text);
        assert_eq!(found, expected, "{text:?}");
        assert_eq!(block[..found.taken], lowered, "{text:?}");
        assert_eq!(masks.classified(length), expected, "{text:?} by integers");
        assert_eq!(block, other, "{text:?} by integers");
    }

    #[test]
    fn every_character_is_taken_or_not_as_one_looks_at_it() {
        for c in (0..=0x10FFFF_u32).filter_map(char::from_u32) {
            check(&format!("a가{c}Z9"));
        }
    }

    #[test]
    fn characters_at_the_end_of_a_block_are_whole_or_left() {
        for before in 55..70 {
            for c in ["x", "글", "é", "漢", "😀", "힣", "·", "“", "（"] {
                check(&format!("{}{c}글Tail", ".".repeat(before)));
            }
        }
    }

    proptest! {
        #[test]
        fn both_implementations_equal_the_slow_one(text in "([ -~]|[가-힣]|[가-힣]|[·‐-※▀-◿　-〟！-｠]|\\PC){0,80}") {
            check(&text);
        }
    }
}
