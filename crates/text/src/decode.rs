//! Bytes to text: which charset is this, and what does it say in UTF-8?
//!
//! The order is the browsers', with two distrusts added because Korean and Japanese pages need
//! them:
//!
//! 1. a byte order mark decides;
//! 2. without one, UTF-16 is recognised by its zero bytes: nearly all in one half of the pairs,
//!    and no lone surrogates;
//! 3. the charset the caller declares (from the HTTP header), else the one named by a `meta` in
//!    the first 1,024 bytes;
//! 4. valid UTF-8;
//! 5. what `chardetng` makes of the bytes, without a country hint (a wrong hint breaks it).
//!
//! The distrusts: a declared charset under which the bytes are malformed loses to valid UTF-8, and
//! to the detected charset when this one leaves at most a tenth as many malformed places (a page
//! that says UTF-8 and is EUC-KR). A declared single-byte charset can never be malformed, so it
//! loses to valid UTF-8 right away. A few bad bytes in a page that otherwise fits (a cut in the
//! middle of a character, one pasted word) do not overthrow the declaration.
//!
//! Malformed places become U+FFFD. Text that is valid UTF-8 is borrowed, not copied.
//!
//! Cost: linear. At most two decodings and one detection over 256 KiB; no state.
//! Not here: ISO-2022-KR, HZ and UTF-7, which browsers refuse as well; UTF-32 without a byte order mark.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE};
use memchr::{memchr, memmem};

/// How far a `meta` with the charset is looked for, as the HTML standard has it.
const PRESCANNED_BYTES: usize = 1024;

/// How many bytes, from the first that is not ASCII, the detector reads; bounds its cost on long
/// files, where more text would not tell more.
const DETECTED_BYTES: usize = 1 << 18;

/// How many bytes are looked at for UTF-16 without a byte order mark.
const PAIRED_BYTES: usize = 1 << 16;

/// Text, and the charset it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'bytes> {
    /// The text without a byte order mark.
    pub text: Cow<'bytes, str>,
    /// The charset's name in the Encoding Standard, such as `UTF-8` or `EUC-KR` (which includes
    /// code page 949).
    pub charset: &'static str,
    /// Whether some bytes had no meaning in this charset and became U+FFFD.
    pub malformed: bool,
}

/// Decodes `bytes` to text. `declared` is the charset the HTTP header names: a label such as
/// `euc-kr`, or a whole `Content-Type` value. Unknown labels count as none.
///
/// ```
/// use wonbon_text::decode::decode;
/// let decoded = decode(b"\xbf\xf8\xba\xbb", Some("euc-kr"));
/// assert_eq!((&*decoded.text, decoded.charset), ("원본", "EUC-KR"));
/// ```
pub fn decode<'bytes>(bytes: &'bytes [u8], declared: Option<&str>) -> Decoded<'bytes> {
    if let Some(order) = utf_32_by_mark(bytes) {
        return read_utf_32(&bytes[4..], order);
    }
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return read(&bytes[length..], encoding);
    }
    if let Some(encoding) = utf_16_without_mark(bytes) {
        return read(bytes, encoding);
    }
    let declared = declared.and_then(label).or_else(|| declared_in_meta(bytes));
    let utf_8 = match std::str::from_utf8(bytes) {
        Ok(_) => Utf8::Valid,
        Err(error) if error.error_len().is_none() && !bytes[..error.valid_up_to()].is_ascii() => {
            Utf8::Cut
        }
        Err(_) => Utf8::No,
    };
    // ISO-2022-JP is ASCII with escapes; everything else that is ASCII is also UTF-8.
    if utf_8 == Utf8::Valid && bytes.is_ascii() && memchr(0x1b, bytes).is_none() {
        return read(bytes, UTF_8);
    }
    match declared {
        Some(encoding) if encoding == UTF_8 => {
            if utf_8 == Utf8::No {
                unless_detected_better(bytes, read(bytes, UTF_8))
            } else {
                read(bytes, UTF_8)
            }
        }
        Some(encoding) if utf_8 != Utf8::No => {
            let decoded = read(bytes, encoding);
            let escaped = encoding == encoding_rs::ISO_2022_JP && bytes.is_ascii();
            if (decoded.malformed || encoding.is_single_byte()) && !escaped {
                read(bytes, UTF_8)
            } else {
                decoded
            }
        }
        Some(encoding) => unless_detected_better(bytes, read(bytes, encoding)),
        None if utf_8 != Utf8::No && memmem::find(bytes, b"\x1b$").is_none() => read(bytes, UTF_8),
        None => read(bytes, detect(bytes, Utf8Detection::Allow)),
    }
}

/// Whether the text is an HTML page or a fragment of one, rather than plain text that mentions
/// tags: it starts (after spaces, comments and an XML declaration) with a doctype or a tag HTML
/// knows, or has `<html` or `<body` early and its end tag somewhere behind.
pub fn looks_like_html(text: &str) -> bool {
    let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    loop {
        let skipped = if rest.starts_with("<!--") {
            rest.find("-->").map(|end| end + 3)
        } else if rest.starts_with("<?xml") {
            rest.find('>').map(|end| end + 1)
        } else {
            break;
        };
        match skipped {
            Some(end) => rest = rest[end..].trim_start(),
            None => return false,
        }
    }
    if let Some(behind) = rest.strip_prefix('<') {
        let behind = behind.strip_prefix('/').unwrap_or(behind);
        if behind.len() >= 8 && behind.as_bytes()[..8].eq_ignore_ascii_case(b"!doctype") {
            // Other XML vocabularies have doctypes too.
            let root = behind[8..].trim_start();
            return root.len() >= 4 && root.as_bytes()[..4].eq_ignore_ascii_case(b"html");
        }
        let end = behind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(behind.len());
        let closed = matches!(
            behind.as_bytes().get(end),
            Some(b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
        );
        if closed && crate::extract::is_html_tag(&behind[..end]) {
            return true;
        }
    }
    let early = &rest.as_bytes()[..rest.len().min(PRESCANNED_BYTES)];
    ["html", "body"].iter().any(|name| {
        find_tag(early, "<", name)
            .is_some_and(|at| find_tag(&rest.as_bytes()[at..], "</", name).is_some())
    })
}

#[derive(PartialEq, Eq)]
enum Utf8 {
    Valid,
    /// Valid but for an unfinished character at the very end.
    Cut,
    No,
}

fn read<'bytes>(bytes: &'bytes [u8], encoding: &'static Encoding) -> Decoded<'bytes> {
    let (text, malformed) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, charset: encoding.name(), malformed }
}

/// The declared reading, unless the detected charset fits much better.
fn unless_detected_better<'bytes>(
    bytes: &'bytes [u8],
    declared: Decoded<'bytes>,
) -> Decoded<'bytes> {
    if !declared.malformed {
        return declared;
    }
    let encoding = detect(bytes, Utf8Detection::Allow);
    if encoding.name() == declared.charset {
        return declared;
    }
    let detected = read(bytes, encoding);
    let (bad, better) = (replaced(&declared.text), replaced(&detected.text));
    // A single-byte charset fits anything, so its fit proves nothing: it must not take a page
    // away from a declaration that makes sense of most of it.
    let meaningful = declared.text.chars().filter(|c| !c.is_ascii()).count() - bad;
    let plausible = !encoding.is_single_byte() || bad > meaningful / 4;
    if plausible && better * 10 <= bad { detected } else { declared }
}

fn replaced(text: &str) -> usize {
    memmem::find_iter(text.as_bytes(), "\u{fffd}").count()
}

fn detect(bytes: &[u8], utf_8: Utf8Detection) -> &'static Encoding {
    let start = bytes.iter().position(|b| !b.is_ascii() || *b == 0x1b).unwrap_or(bytes.len());
    let end = bytes.len().min(start + DETECTED_BYTES);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    // A sample cut from a longer text may end inside a character: only the real end is `last`,
    // and a text cut short must not be held against the charset either.
    detector.feed(&bytes[start..end], false);
    detector.guess(None, utf_8)
}

/// The encoding a label names, including names that Korean and Japanese software writes and the
/// Encoding Standard does not list. `None` for unknown labels and those that browsers refuse.
fn label(declared: &str) -> Option<&'static Encoding> {
    let lower = declared.to_ascii_lowercase();
    let name = lower.find("charset").map_or(lower.as_str(), |at| {
        let value = lower[at + 7..].trim_start();
        value.strip_prefix('=').unwrap_or(value)
    });
    let name = name.split([';', ',']).next().unwrap_or(name);
    let name = name.trim().trim_matches(['"', '\'']).trim();
    let name = match name {
        "cp949" | "ms949" | "uhc" | "euckr" | "x-windows-949" | "ksc5601" => "euc-kr",
        "cp932" | "shiftjis" | "x-ms-cp932" => "shift_jis",
        "eucjp" | "ujis" => "euc-jp",
        "cp936" | "ms936" => "gbk",
        "cp950" | "ms950" => "big5",
        "utf_8" | "utf8mb4" => "utf-8",
        other => other,
    };
    Encoding::for_label(name.as_bytes()).filter(|encoding| *encoding != REPLACEMENT)
}

/// The charset in a `meta` of the first bytes, as the HTML standard's prescan finds it: either
/// `charset=` or `http-equiv` with `content`; UTF-16 named there means UTF-8, since the `meta`
/// could be read as ASCII.
fn declared_in_meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(PRESCANNED_BYTES)];
    // Latin-1 keeps every byte one character, so ranges stay what they are.
    let head: String = head.iter().map(|&b| char::from(b)).collect();
    let mut tokenizer = crate::extract::tokens::Tokenizer::new(&head);
    while let Some(token) = tokenizer.next() {
        let crate::extract::tokens::Token::Start { name, .. } = token else { continue };
        let name = name.of(&head);
        if !name.eq_ignore_ascii_case("meta") {
            if ["script", "style", "title"].iter().any(|raw| name.eq_ignore_ascii_case(raw)) {
                tokenizer.raw_text(&name.to_ascii_lowercase());
            }
            continue;
        }
        let named = tokenizer.attribute("charset").or_else(|| {
            let content = tokenizer.attribute("content")?;
            let pragma = tokenizer.attribute("http-equiv")?;
            let is_type = pragma.trim().eq_ignore_ascii_case("content-type");
            (is_type && content.to_ascii_lowercase().contains("charset")).then_some(content)
        });
        if let Some(encoding) = named.and_then(label) {
            let sixteen = encoding == UTF_16LE || encoding == UTF_16BE;
            return Some(if sixteen { UTF_8 } else { encoding });
        }
    }
    // An XML declaration is not part of the prescan, but XHTML pages often have nothing else.
    let declaration = head.strip_prefix("<?xml")?;
    let declaration = &declaration[..declaration.find('>')?];
    let value = &declaration[declaration.find("encoding")? + 8..];
    label(value.trim_start_matches([' ', '=']).trim_end_matches('?'))
}

/// UTF-16 shows in its zero bytes (spaces, digits, markup): one half of the byte pairs has many,
/// the other few (letters such as U+AC00 end in one). Lone surrogates or many control characters speak against it.
fn utf_16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = &bytes[..bytes.len().min(PAIRED_BYTES) & !1];
    memchr(0, sample)?;
    let mut zeros = [0usize; 2];
    for pair in sample.chunks_exact(2) {
        zeros[0] += usize::from(pair[0] == 0);
        zeros[1] += usize::from(pair[1] == 0);
    }
    let pairs = sample.len() / 2;
    let (high, encoding) = if zeros[0] > zeros[1] { (0, UTF_16BE) } else { (1, UTF_16LE) };
    if zeros[high] * 50 < pairs || zeros[1 - high] * 3 > zeros[high] {
        return None;
    }
    let (mut controls, mut surrogate_before) = (0usize, false);
    for pair in sample.chunks_exact(2) {
        let unit = u16::from_be_bytes([pair[high], pair[1 - high]]);
        let (lead, trail) = (unit & 0xfc00 == 0xd800, unit & 0xfc00 == 0xdc00);
        if trail != surrogate_before {
            return None;
        }
        surrogate_before = lead;
        let space = matches!(unit, 0x09 | 0x0a | 0x0c | 0x0d);
        controls += usize::from((unit < 0x20 && !space) || (0xe000..0xf900).contains(&unit));
    }
    (controls * 50 <= pairs).then_some(encoding)
}

/// Whether bytes are text in UTF-16 or UTF-32, by their mark or, for UTF-16, by their zero bytes. Other
/// texts have no zero bytes.
#[must_use]
pub fn is_utf_16_or_32(bytes: &[u8]) -> bool {
    let marked = Encoding::for_bom(bytes).is_some_and(|(encoding, _)| encoding != UTF_8);
    marked || utf_32_by_mark(bytes).is_some() || utf_16_without_mark(bytes).is_some()
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Big,
    Little,
}

/// The little-endian mark is that of UTF-16 and a zero character, which begins no text.
fn utf_32_by_mark(bytes: &[u8]) -> Option<ByteOrder> {
    match bytes.first_chunk()? {
        [0, 0, 0xfe, 0xff] => Some(ByteOrder::Big),
        [0xff, 0xfe, 0, 0] => Some(ByteOrder::Little),
        _ => None,
    }
}

fn read_utf_32(bytes: &[u8], order: ByteOrder) -> Decoded<'static> {
    let units = bytes.chunks_exact(4);
    let cut = (!units.remainder().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
    let mut malformed = cut.is_some();
    let text = units
        .map(|unit| {
            let unit = [unit[0], unit[1], unit[2], unit[3]];
            let code = match order {
                ByteOrder::Big => u32::from_be_bytes(unit),
                ByteOrder::Little => u32::from_le_bytes(unit),
            };
            char::from_u32(code).unwrap_or_else(|| {
                malformed = true;
                char::REPLACEMENT_CHARACTER
            })
        })
        .chain(cut)
        .collect::<String>();
    let charset = match order {
        ByteOrder::Big => "UTF-32BE",
        ByteOrder::Little => "UTF-32LE",
    };
    Decoded { text: text.into(), charset, malformed }
}

/// Where `<name` or `</name`, followed by the end of a name, stands.
fn find_tag(text: &[u8], open: &str, name: &str) -> Option<usize> {
    memmem::find_iter(text, open).find(|at| {
        let behind = &text[at + open.len()..];
        behind.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
            && behind
                .get(name.len())
                .is_some_and(|b| matches!(b, b'>' | b'/') || b.is_ascii_whitespace())
    })
}
