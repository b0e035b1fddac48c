//! The fast words and shingles equal the slow ones on every kind of text.

use proptest::prelude::*;
use wonbon_testkit::harness;

/// Characters that make the gears hand over to each other: ASCII, Hangul whole and in jamo, Han,
/// kana with and without marks, compatibility forms, ligatures, marks alone, separators.
fn lively_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[ -~]{0,12}",
        4 => "[가-힣]{1,6}",
        2 => "[\u{1100}-\u{1112}][\u{1161}-\u{1175}][\u{11A8}-\u{11C2}]?",
        2 => "[가-힣][\u{11A8}-\u{11C2}\u{1161}]",
        3 => "[一-龥ぁ-んァ-ヶー々]{1,4}",
        2 => "[か-とカ-ト][\u{3099}\u{309A}]",
        2 => "[ｦ-ﾟＡ-Ｚ０-９，。！]{1,4}",
        2 => "[a-zA-Z=<>][\u{300}-\u{345}\u{338}]{1,3}",
        2 => "[½ﬁ™№①㈜㎏ǅİΣς…]",
        2 => "[´¨¸ᾼΆa=][\u{731}\u{5B0}\u{301}\u{345}\u{327}\u{3099}´]{1,4}",
        2 => "[À-ÿΑ-Ωа-яА-Я]{1,5}",
        1 => "[\u{900}-\u{97F}\u{E00}-\u{E5B}]{1,5}",
        2 => "[ \n\t,.!\u{A0}\u{3000}\u{200B}\u{AD}]{1,3}",
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn lively_texts_have_the_oracles_words(text in lively_text(), first in any::<u8>()) {
        harness::words(&[&[first], text.as_bytes()].concat());
    }

    #[test]
    fn arbitrary_bytes_have_the_oracles_words(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        harness::words(&bytes);
    }
}

#[test]
fn every_character_alone_between_letters_and_among_marks_has_the_oracles_words() {
    // U+0731 is a mark that counts as a letter and goes before an acute accent in normal form.
    for c in (0..=0x10FFFF_u32).filter_map(char::from_u32) {
        harness::words(format!("\u{0}{c} a{c}Z か{c}가").as_bytes());
        harness::words(format!("\u{0}{c}\u{731}k a\u{301}{c}\u{731}").as_bytes());
        harness::words(format!("\u{0}\u{731}{c}k -{c}\u{301}\u{731}Z").as_bytes());
    }
}
