//! Simple texts: those whose normal form stands where the text stands, byte for byte.
//!
//! A *simple* character is its own normal form, or its small letter is, as long in bytes; and none of them
//! changes a neighbour or is changed by one. ASCII is simple, and so are the letters of Latin-1, Hangul
//! syllables, Han, kana and common punctuation: most pages have no others. In such a text whatever is
//! looked for in normal form stands in [`made_small`] at the very place where it stands in the text, so
//! that plain searching finds it.
//!
//! Cost: ASCII and Hangul 64 bytes at a time, about a microsecond for 2 kB; a few cycles a character for
//! the rest.

use crate::block::{BLOCK_BYTES, classify};

/// Characters that are looked at one by one where a block is of no use.
const CHARACTERS: usize = 16;

/// The text in small letters, byte for byte in the same places; `None` if not all of its characters are
/// simple.
///
/// ```
/// use wonbon_text::simple::made_small;
/// assert_eq!(made_small("À la Carte, 한글").unwrap(), "à la carte, 한글".as_bytes());
/// assert_eq!(made_small("ﬁne"), None);
/// ```
#[must_use]
pub fn made_small(text: &str) -> Option<Vec<u8>> {
    let mut small = text.as_bytes().to_vec();
    let mut at = 0;
    while at < small.len() {
        let taken = take_block(&mut small[at..]);
        at += taken;
        if taken >= CHARACTERS {
            continue;
        }
        for _ in 0..CHARACTERS {
            if at == small.len() {
                break;
            }
            at += make_small(&mut small[at..])?;
        }
    }
    Some(small)
}

/// Makes the ASCII and Hangul at the beginning small, up to the size of a block, and returns how many bytes
/// that is.
fn take_block(bytes: &mut [u8]) -> usize {
    if let Some(block) = bytes.first_chunk_mut() {
        return classify(block, BLOCK_BYTES).taken;
    }
    let mut block = [b' '; BLOCK_BYTES];
    block[..bytes.len()].copy_from_slice(bytes);
    let taken = classify(&mut block, bytes.len()).taken;
    bytes[..taken].copy_from_slice(&block[..taken]);
    taken
}

/// Makes the first character small and returns its length; `None` if it is not simple.
fn make_small(bytes: &mut [u8]) -> Option<usize> {
    let bits = |byte: u8| u32::from(byte & 0x3F);
    match bytes {
        [first @ 0..=0x7F, ..] => {
            first.make_ascii_lowercase();
            Some(1)
        }
        [first @ 0xC2..=0xC3, second, ..] => {
            match char::from_u32(u32::from(*first & 0x1F) << 6 | bits(*second))? {
                'À'..='Ö' | 'Ø'..='Þ' => *second += 0x20,
                'ß'..='ÿ'
                | '×'
                | '\u{A0}'
                | '¡'
                | '§'
                | '©'
                | '«'
                | '®'
                | '°'
                | '±'
                | '¶'
                | '·'
                | '»'
                | '¿' => {}
                _ => return None,
            }
            Some(2)
        }
        [first @ 0xE2..=0xED, second, third, ..] => {
            let code = u32::from(*first & 0xF) << 12 | bits(*second) << 6 | bits(*third);
            match char::from_u32(code)? {
                '가'..='힣'
                | '\u{4E00}'..='\u{9FFF}'
                | 'ぁ'..='ゖ'
                | 'ァ'..='ヺ'
                | '、'
                | '。'
                | '「'..='』'
                | '‐'..='―'
                | '‘'..='‟'
                | '•'
                | '…' => {}
                _ => return None,
            }
            Some(3)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::words::normal_form;

    #[test]
    fn simple_characters_are_their_own_normal_form() {
        let mut simple = 0;
        for c in char::MIN..=char::MAX {
            // Between letters, so that what joins or parts them shows.
            let text = format!("a{c}b");
            let Some(small) = made_small(&text) else { continue };
            let small = String::from_utf8(small).unwrap();
            let letters: String = small.chars().filter(|c| c.is_alphanumeric()).collect();
            assert_eq!(normal_form(&text).replace(' ', ""), letters, "{c:?}");
            simple += 1;
        }
        assert!(simple > 32_000, "{simple} simple characters");
    }

    #[test]
    fn common_texts_are_simple_and_marks_and_ligatures_are_not() {
        for text in
            ["Plain, “quoted” – text…", "Café à la CRÈME", "한국어 문장.", "漢字と「かな」、カナ。"]
        {
            assert!(made_small(text).is_some(), "{text}");
        }
        for text in ["ﬁne", "e\u{301}", "ＦＵＬＬ", "\u{1112}\u{1161}", "ªº", "Σίσυφος"]
        {
            assert!(made_small(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn small_letters_stand_where_the_letters_stood(text in "[a-dA-DÀÉé가-깋漢ひ、… \n1-3]{0,300}") {
            let small = String::from_utf8(made_small(&text).unwrap()).unwrap();
            prop_assert_eq!(&small, &text.to_lowercase());
            prop_assert_eq!(normal_form(&small), normal_form(&text));
        }

        #[test]
        fn one_strange_character_anywhere_is_noticed(before in "[ab가나é漢 ]{0,200}", behind in "[ab가 ]{0,200}") {
            let text = format!("{before}\u{301}{behind}");
            prop_assert_eq!(made_small(&text), None);
        }
    }
}
