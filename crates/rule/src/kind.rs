//! What a document can be.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fingerprints::Fingerprints;

/// What a document is.
///
/// The order is that of the numbers under which databases keep kinds: it never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Nothing created earlier is like it by the rule.
    Original,
    /// Like its original by the rule.
    Copy,
    /// Has its original's bytes.
    Identical,
    /// Has its original's words in their order, in other bytes.
    SameText,
    /// Has its original's shingles in another order or number.
    SameShingles,
    /// Has no words: neither a copy nor an original.
    Empty,
}

impl Kind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Kind; 6] = [
        Kind::Original,
        Kind::Copy,
        Kind::Identical,
        Kind::SameText,
        Kind::SameShingles,
        Kind::Empty,
    ];

    /// The kind of a copy whose original has these fingerprints.
    #[must_use]
    pub fn of_copy(copy: &Fingerprints, original: &Fingerprints) -> Kind {
        if copy.content == original.content {
            Kind::Identical
        } else if copy.text == original.text {
            Kind::SameText
        } else if copy.shingle_set == original.shingle_set {
            Kind::SameShingles
        } else {
            Kind::Copy
        }
    }

    /// The name in tables and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Original => "original",
            Kind::Copy => "copy",
            Kind::Identical => "identical",
            Kind::SameText => "same-text",
            Kind::SameShingles => "same-shingles",
            Kind::Empty => "empty",
        }
    }

    /// Whether it is a copy of any kind.
    #[must_use]
    pub fn is_copy(self) -> bool {
        !matches!(self, Kind::Original | Kind::Empty)
    }

    /// The number under which databases keep it.
    #[must_use]
    pub fn number(self) -> i64 {
        self as i64
    }

    /// The kind of a number.
    #[must_use]
    pub fn from_number(number: i64) -> Option<Kind> {
        usize::try_from(number).ok().and_then(|number| Kind::ALL.get(number).copied())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_lead_back() {
        for (number, kind) in (0..).zip(Kind::ALL) {
            assert_eq!(kind.number(), number);
            assert_eq!(Kind::from_number(number), Some(kind));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("\"{}\"", kind.name()));
            assert_eq!(serde_json::from_str::<Kind>(&json).unwrap(), kind);
        }
        assert_eq!(Kind::from_number(6), None);
        assert_eq!(Kind::from_number(-1), None);
    }

    #[test]
    fn originals_and_empty_documents_are_no_copies() {
        let copies = Kind::ALL.into_iter().filter(|kind| kind.is_copy());
        let others = [Kind::Copy, Kind::Identical, Kind::SameText, Kind::SameShingles];
        assert!(copies.eq(Kind::ALL.into_iter().filter(|kind| others.contains(kind))));
        assert!(!Kind::Original.is_copy() && !Kind::Empty.is_copy() && Kind::Identical.is_copy());
    }

    #[test]
    fn the_closest_kind_of_copy_is_named() {
        let original = Fingerprints { content: [1; 16], text: 2, shingle_set: 3 };
        let with =
            |content, text, shingle_set| Fingerprints { content: [content; 16], text, shingle_set };
        for (copy, kind) in [
            (with(1, 2, 3), Kind::Identical),
            (with(9, 2, 3), Kind::SameText),
            (with(9, 9, 3), Kind::SameShingles),
            (with(9, 9, 9), Kind::Copy),
        ] {
            assert_eq!(Kind::of_copy(&copy, &original), kind);
        }
    }
}
