//! Whatever the bytes and the declared charset, `decode` answers and keeps its promises.

use std::borrow::Cow;

use wonbon_text::decode::{decode as decode_bytes, looks_like_html};

const DECLARED: [Option<&str>; 8] = [
    None,
    Some("utf-8"),
    Some("euc-kr"),
    Some("shift_jis"),
    Some("gb18030"),
    Some("big5"),
    Some("iso-2022-jp"),
    Some("no such charset"),
];

/// The first byte picks the declared charset, the rest is decoded.
///
/// # Panics
///
/// When a promise of `decode` does not hold.
pub fn decode(data: &[u8]) {
    let (declared, bytes) = match data.split_first() {
        Some((&first, rest)) => (DECLARED[usize::from(first) % DECLARED.len()], rest),
        None => (None, data),
    };
    let decoded = decode_bytes(bytes, declared);
    assert_eq!(decoded, decode_bytes(bytes, declared), "the same bytes give the same text");
    assert!(decoded.text.len() <= 3 * bytes.len() + 3, "text grows at most threefold");
    if decoded.charset == "UTF-8" && !decoded.malformed {
        assert!(matches!(decoded.text, Cow::Borrowed(_)), "valid UTF-8 is borrowed");
    }
    if decoded.malformed {
        assert!(decoded.text.contains('\u{fffd}'), "malformed places show");
    }
    looks_like_html(&decoded.text);
}
