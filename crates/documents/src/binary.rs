//! The checks whether an answer from the web is a document: its type, and whether its bytes are text or binary.
//!
//! A program, a picture or a compressed file has no words, but decoding would find some. Every entry point uses this check: a
//! NUL byte, or a high share of control characters, in the first [`HEAD_BYTES`] is binary. Texts in UTF-16 and UTF-32 are full
//! of NUL bytes and are recognised first.

use wonbon_text::decode::is_utf_16_or_32;

/// Types of documents for readers.
const TYPES: [&str; 5] =
    ["text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown"];

/// Whether what has this `Content-Type` is a document for readers. Where there is none, the bytes tell.
#[must_use]
pub fn is_document_type(content_type: Option<&str>) -> bool {
    let essence = content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    essence.is_empty() || TYPES.iter().any(|known| essence.eq_ignore_ascii_case(known))
}

/// How many bytes are looked at.
const HEAD_BYTES: usize = 8 << 10;

/// One control character in so many bytes is too many for a text.
const BYTES_PER_CONTROL: usize = 20;

/// So many control characters never make a text binary: old texts end in one or hold a few.
const FEW_CONTROLS: usize = 3;

/// Whether content is binary, judged by its first bytes.
///
/// ```
/// use wonbon_documents::is_binary;
/// assert!(is_binary(b"\x7fELF\x02\x01\x01\0\0\0"));
/// assert!(!is_binary(b"the end of a DOS text\r\n\x1a"));
/// assert!(!is_binary(b"\xff\xfeH\0i\0"));
/// ```
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if is_utf_16_or_32(bytes) {
        return false;
    }
    // The escape begins a change of charset in ISO-2022 and a colour in text art.
    let is_control =
        |byte: u8| byte == 0x7F || (byte < 0x20 && !(0x08..=0x0D).contains(&byte) && byte != 0x1B);
    let controls = head.iter().filter(|&&byte| is_control(byte)).count();
    memchr::memchr(0, head).is_some()
        || (controls > FEW_CONTROLS && controls * BYTES_PER_CONTROL > head.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_texts_are_documents_and_feeds_are_not() {
        for document in
            [None, Some(""), Some("text/html; charset=euc-kr"), Some(" TEXT/Plain "), Some(";a=b")]
        {
            assert!(is_document_type(document), "{document:?}");
        }
        for other in ["application/rss+xml", "text/xml", "text/css", "application/pdf", "x"] {
            assert!(!is_document_type(Some(other)), "{other}");
        }
    }

    #[test]
    fn programs_pictures_and_compressed_bytes_are_binary() {
        let noise: Vec<u8> = (1..=255).chain(1..=255).collect();
        for bytes in [&b"\x7fELF\x02\x01\x01\0\0"[..], b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &noise] {
            assert!(is_binary(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn texts_of_every_charset_are_not() {
        let utf_16: Vec<u8> =
            "짧은 글 a short text".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let utf_32: Vec<u8> = "글 text".chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
        for bytes in [
            &b""[..],
            b"\x1a",
            b"one two three\r\n\x1a",
            b"a\x0cform feed\x08 and \x1b[1mbold\x1b[0m",
            "한글과 漢字".as_bytes(),
            b"\xbf\xf8\xba\xbb\xb0\xfa \xbb\xe7\xba\xbb",
            b"\x1b$B$3$l\x1b(B",
            &[b"\xff\xfe", &utf_16[..]].concat(),
            &utf_16,
            &[b"\x00\x00\xfe\xff", &utf_32[..]].concat(),
        ] {
            assert!(!is_binary(bytes), "{bytes:?}");
        }
    }
}
