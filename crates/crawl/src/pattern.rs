//! Patterns of robots.txt: `*` stands for anything, `$` at the end for the end.
//!
//! A pattern matches a path that begins so. Matching takes the first place where each part between
//! stars fits: if any choice of places fits, the first ones do too, so there is no going back. Cost:
//! at worst the length of the path times the length of the longest part, whatever the stars; the
//! naive recursive matcher takes time exponential in the number of stars.

use crate::canonical::hexadecimal_byte;

/// A pattern, ready to match paths in their comparable form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// What stands between the stars; the first part is where the path begins. Empty parts between
    /// stars say nothing and are dropped.
    parts: Vec<Vec<u8>>,
    /// Whether the path has to end where the pattern ends.
    to_the_end: bool,
    /// How long the pattern is as written, in bytes of its comparable form.
    length: usize,
}

impl Pattern {
    /// The pattern that a text writes.
    ///
    /// ```
    /// use wonbon_crawl::pattern::Pattern;
    /// assert!(Pattern::new("/a*/b$").matches("/a/x/b"));
    /// assert!(!Pattern::new("/a*/b$").matches("/a/x/b/c"));
    /// assert!(Pattern::new("/caf%c3%a9").matches("/café"));
    /// ```
    #[must_use]
    pub fn new(text: &str) -> Self {
        Pattern::from_bytes(text.as_bytes())
    }

    /// The pattern that bytes write.
    pub(crate) fn from_bytes(text: &[u8]) -> Self {
        let (text, to_the_end) = match text.strip_suffix(b"$") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let written = comparable(text);
        let length = written.len() + usize::from(to_the_end);
        let pieces: Vec<&[u8]> = written.split(|&byte| byte == b'*').collect();
        let last = pieces.len() - 1;
        let parts = pieces
            .iter()
            .enumerate()
            .filter(|&(number, piece)| {
                number == 0 || !piece.is_empty() || (number == last && to_the_end)
            })
            .map(|(_, piece)| piece.to_vec())
            .collect();
        Pattern { parts, to_the_end, length }
    }

    /// How specific it is: its length in bytes.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Whether a path, perhaps with its query, begins as the pattern says.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.matches_comparable(&comparable(path.as_bytes()))
    }

    /// As [`matches`](Self::matches), for a path that is in its comparable form already.
    pub(crate) fn matches_comparable(&self, path: &[u8]) -> bool {
        let (first, others) = self.parts.split_first().expect("split gives at least one part");
        let Some(mut rest) = path.strip_prefix(first.as_slice()) else { return false };
        let Some((last, between)) = others.split_last() else {
            return !self.to_the_end || rest.is_empty();
        };
        for part in between {
            match find(rest, part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        if self.to_the_end { rest.ends_with(last) } else { find(rest, last).is_some() }
    }
}

/// Where a part begins.
fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

/// A path as RFC 9309 compares it: bytes that are not ASCII, spaces and controls are
/// percent-encoded; `%XX` of an unreserved character is that character; other `%XX` have upper case
/// digits. So `%2F` is not `/`, and `%7E` is `~`.
pub(crate) fn comparable(text: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let escape = |out: &mut Vec<u8>, byte: u8| {
        out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    };
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte == b'%' {
            match hexadecimal_byte(&text[at..]) {
                Some(byte) => {
                    at += 2;
                    if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                        out.push(byte);
                    } else {
                        escape(&mut out, byte);
                    }
                }
                None => out.push(b'%'),
            }
        } else if byte.is_ascii_graphic() {
            out.push(byte);
        } else {
            escape(&mut out, byte);
        }
    }
    out
}
