//! What RFC 9309 says about rules and paths, followed word by word.
//!
//! Everything is compared as given: paths and patterns without percent-encoding and in ASCII.

/// Whether a pattern matches the beginning of a path: `*` stands for any bytes, `$` at the end for
/// the end. Tries every place for every star.
#[must_use]
pub fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('$') {
        Some(pattern) => fits(pattern.as_bytes(), path.as_bytes(), true),
        None => fits(pattern.as_bytes(), path.as_bytes(), false),
    }
}

fn fits(pattern: &[u8], path: &[u8], to_the_end: bool) -> bool {
    match pattern.split_first() {
        None => !to_the_end || path.is_empty(),
        Some((b'*', rest)) => (0..=path.len()).any(|skip| fits(rest, &path[skip..], to_the_end)),
        Some((byte, rest)) => path
            .split_first()
            .is_some_and(|(first, path)| first == byte && fits(rest, path, to_the_end)),
    }
}

/// Whether rules (`true` for allow) allow a path: the most specific match is the one of the longest
/// pattern; allow is the least restrictive of equals; no match allows.
#[must_use]
pub fn allows(rules: &[(bool, &str)], path: &str) -> bool {
    let matching =
        rules.iter().filter(|(_, pattern)| !pattern.is_empty() && matches(pattern, path));
    let longest = matching.map(|&(allow, pattern)| (pattern.len(), allow)).max();
    path == "/robots.txt" || longest.is_none_or(|(_, allow)| allow)
}
