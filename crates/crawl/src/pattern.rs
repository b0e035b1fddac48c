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
        // Stars are looked for before the rest is encoded: `%2A` is no star.
        let pieces: Vec<Vec<u8>> = text.split(|&byte| byte == b'*').map(comparable).collect();
        let stars = pieces.len() - 1;
        let length = pieces.iter().map(Vec::len).sum::<usize>() + stars + usize::from(to_the_end);
        let last = stars;
        let parts = pieces
            .into_iter()
            .enumerate()
            .filter(|(number, piece)| {
                *number == 0 || !piece.is_empty() || (*number == last && to_the_end)
            })
            .map(|(_, piece)| piece)
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

/// Characters that stand for themselves in a path that is compared: the unreserved ones of RFC 3986,
/// and the reserved ones but `*`, `$` and `'`. The first two are special in patterns, so a literal one is
/// percent-encoded on both sides; the last is percent-encoded in URLs by some parsers and not by others.
fn is_plain(byte: u8) -> bool {
    is_unreserved(byte) || b":/?#[]@!&()+,;=".contains(&byte)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// A path as RFC 9309 compares it (section 2.2.2): `%XX` of an unreserved character is that character,
/// other `%XX` have upper case digits, and everything that is not plain is percent-encoded. So `%2F` is
/// not `/`, `%7E` is `~`, and `<`, `{` or a quotation mark are the same plain and encoded.
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
        match hexadecimal_byte(&text[at..]).filter(|_| byte == b'%') {
            Some(encoded) => {
                at += 2;
                if is_unreserved(encoded) {
                    out.push(encoded);
                } else {
                    escape(&mut out, encoded);
                }
            }
            None if is_plain(byte) => out.push(byte),
            None => escape(&mut out, byte),
        }
    }
    out
}
