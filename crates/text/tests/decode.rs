//! Charsets: what is declared, what is detected, what is plainly wrong.

use std::borrow::Cow;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, ISO_2022_JP, SHIFT_JIS, UTF_8};
use proptest::prelude::*;
use wonbon_text::decode::{decode, looks_like_html};

const KOREAN: &str = "어제 저녁에는 오래된 우물가를 지나 집으로 돌아왔다. 길가에는 이름을 모르는 \
    풀꽃이 피어 있었고, 멀리서 개 짖는 소리가 들렸다. 아무도 서두르지 않는 저녁이었다.";
const JAPANESE: &str = "昨日の夕方、古い井戸のそばを通って家に帰りました。道ばたには名前を知らない\
    草花が咲いていて、遠くで犬の鳴く声が聞こえました。だれも急がない夕方でした。";
const CHINESE: &str = "昨天傍晚我经过一口老井走回家。路边开着叫不出名字的野花，远处传来狗叫的声音。\
    那是一个谁也不着急的傍晚，天色慢慢地暗下来。";
const TAIWANESE: &str = "昨天傍晚我經過一口老井走回家。路邊開著叫不出名字的野花，遠處傳來狗叫的聲音。\
    那是一個誰也不著急的傍晚，天色慢慢地暗下來。";

fn samples() -> Vec<(&'static Encoding, &'static str)> {
    vec![
        (EUC_KR, KOREAN),
        (SHIFT_JIS, JAPANESE),
        (EUC_JP, JAPANESE),
        (ISO_2022_JP, JAPANESE),
        (GB18030, CHINESE),
        (BIG5, TAIWANESE),
    ]
}

#[test]
fn a_declared_charset_is_used() {
    for (encoding, text) in samples() {
        let bytes = encoding.encode(text).0;
        let decoded = decode(&bytes, Some(encoding.name()));
        assert_eq!(decoded.text, text, "{}", encoding.name());
        assert_eq!(decoded.charset, encoding.name());
        assert!(!decoded.malformed);
    }
}

#[test]
fn an_undeclared_charset_is_detected_on_a_paragraph() {
    for (encoding, text) in samples() {
        let bytes = encoding.encode(text).0;
        assert_eq!(decode(&bytes, None).text, text, "{}", encoding.name());
    }
}

#[test]
fn utf_16_is_read_with_and_without_a_mark() {
    let page = format!("<html><p>{KOREAN}</p></html>");
    for text in [KOREAN, "plain English text", &page] {
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&little, None).text, text);
        assert_eq!(decode(&big, None).text, text);
        assert_eq!(decode(&[b"\xff\xfe", &little[..]].concat(), Some("utf-8")).text, text);
        assert_eq!(decode(&[b"\xfe\xff", &big[..]].concat(), None).text, text);
    }
}

#[test]
fn valid_utf_8_is_borrowed_and_its_mark_is_cut_off() {
    let decoded = decode(KOREAN.as_bytes(), None);
    assert!(matches!(decoded.text, Cow::Borrowed(_)));
    assert_eq!(decoded.charset, "UTF-8");
    assert_eq!(decode(b"\xef\xbb\xbfabc", Some("euc-kr")).text, "abc");
}

#[test]
fn a_meta_names_the_charset_and_the_header_outranks_it() {
    let page = format!("<!doctype html><meta charset='EUC-KR'><p>{KOREAN}");
    let bytes = EUC_KR.encode(&page).0;
    assert_eq!(decode(&bytes, None).text, page);
    let page = format!(
        "<meta http-equiv=Content-Type content='text/html; charset=ks_c_5601-1987'>{KOREAN}"
    );
    assert_eq!(decode(&EUC_KR.encode(&page).0, None).text, page);
    let page = format!("<meta charset=shift_jis><p>{KOREAN}");
    assert_eq!(decode(&EUC_KR.encode(&page).0, Some("cp949")).text, page);
}

#[test]
fn a_declaration_that_is_plainly_wrong_is_overruled() {
    let euc_kr = EUC_KR.encode(KOREAN).0;
    let decoded = decode(&euc_kr, Some("utf-8"));
    assert_eq!((&*decoded.text, decoded.charset), (KOREAN, "EUC-KR"));
    for wrong in ["euc-kr", "iso-8859-1", "shift_jis", "windows-1252"] {
        assert_eq!(decode(KOREAN.as_bytes(), Some(wrong)).text, KOREAN, "declared {wrong}");
    }
}

#[test]
fn one_bad_byte_does_not_overrule_the_declaration() {
    let mut bytes = KOREAN.repeat(3).into_bytes();
    bytes[100] = 0xff;
    let decoded = decode(&bytes, Some("utf-8"));
    assert_eq!(decoded.charset, "UTF-8");
    assert!(decoded.malformed && decoded.text.contains("아무도 서두르지 않는"));
}

#[test]
fn text_cut_inside_a_character_keeps_the_rest() {
    let bytes = &KOREAN.as_bytes()[..KOREAN.len() - 2];
    for declared in [None, Some("utf-8")] {
        let decoded = decode(bytes, declared);
        assert_eq!(decoded.charset, "UTF-8");
        assert!(decoded.text.starts_with(&KOREAN[..KOREAN.len() - 4]), "{declared:?}");
    }
    let bytes = EUC_KR.encode(KOREAN).0;
    let decoded = decode(&bytes[..bytes.len() - 2], None);
    assert_eq!(decoded.charset, "EUC-KR");
    assert!(KOREAN.starts_with(decoded.text.trim_end_matches('\u{fffd}')));
}

#[test]
fn a_file_of_zero_bytes_is_text_without_words() {
    let decoded = decode(&[0; 1 << 20], None);
    assert!(decoded.text.chars().all(|c| !c.is_alphanumeric()));
    assert!(!looks_like_html(&decoded.text));
}

#[test]
fn labels_outside_the_standard_are_known_and_nonsense_is_ignored() {
    let bytes = EUC_KR.encode("원본").0;
    for label in ["cp949", "MS949", "uhc", "text/html; charset=\"euc-kr\"", " EUC-KR "] {
        assert_eq!(decode(&bytes, Some(label)).text, "원본", "{label}");
    }
    assert_eq!(decode(b"abc", Some("klingon")).text, "abc");
    assert_eq!(decode(b"abc", Some("iso-2022-kr")).text, "abc");
}

#[test]
fn pages_and_fragments_look_like_html_and_texts_do_not() {
    for html in [
        "<!DOCTYPE html><p>a",
        " \n<html>",
        "<!-- c --><div class=x>a</div>",
        "<?xml version='1.0'?><html xmlns='x'>",
        "Warning: line 3\n<html><body>a</body></html>",
        "<p>a</p>",
    ] {
        assert!(looks_like_html(html), "{html}");
    }
    for text in [
        "",
        "plain",
        "a < b and c > d",
        "<rss><channel>",
        "<?xml version='1.0'?><feed>",
        "The <b> tag is old.",
        "<mail@example.org> wrote:",
        "<!-- never closed",
    ] {
        assert!(!looks_like_html(text), "{text}");
    }
}

proptest! {
    #[test]
    fn what_a_charset_can_say_comes_back(
        text in "[가-힣ぁ-んァ-ヶ一-龠a-zA-Z0-9 .,\n]{0,200}",
        which in 0usize..6,
    ) {
        let encoding = samples()[which].0;
        let can_say = |c: &char| !encoding.encode(c.encode_utf8(&mut [0; 4])).2;
        let text: String = text.chars().filter(can_say).collect();
        let bytes = encoding.encode(&text).0;
        prop_assert_eq!(&decode(&bytes, Some(encoding.name())).text, &text);
    }

    #[test]
    fn any_text_survives_as_utf_8(text in "\\PC*") {
        prop_assume!(!text.starts_with('\u{feff}'));
        let decoded = decode(text.as_bytes(), Some("utf-8"));
        prop_assert_eq!(&decoded.text, &text);
        prop_assert_eq!(decoded.charset, UTF_8.name());
    }

    #[test]
    fn any_bytes_are_decoded(bytes in prop::collection::vec(any::<u8>(), 0..400), first in any::<u8>()) {
        let mut data = vec![first];
        data.extend(bytes);
        wonbon_testkit::harness::decode(&data);
    }
}
