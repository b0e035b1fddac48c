//! One line that says whether two tables of families are the same, whatever the order of their rows.
//!
//! Each row (id, kind, family, original, resemblance) is hashed to 128 bits, and the sums are added modulo
//! 2^128. So parts of a table can be summed up apart, in any order, on any machine, and added ([`merge`]); the
//! program, the Python package and Spark print the same digest for the same families. docs/formats.md has the
//! bytes.
//!
//! Cost: one SHA-256 of some 80 bytes a row. Two tables that differ have the same digest with probability
//! 2^-128 if nobody tries; it is no signature, because sums of hashes can be forged with effort.
//!
//! [`merge`]: FamilyDigest::merge

use std::fmt;

use sha2::{Digest as _, Sha256};
use wonbon_rule::Kind;

use crate::error::ClusterError;
use crate::strings::StringColumn;
use crate::verdicts::{FamilyRow, Verdicts};

/// The digest of the rows so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FamilyDigest {
    sum: u128,
}

impl FamilyDigest {
    /// Adds a row. A document without words has no family.
    pub fn add(
        &mut self,
        id: &str,
        kind: Kind,
        family: Option<u32>,
        original: &str,
        resemblance: f64,
    ) {
        let mut hash = Sha256::new();
        for text in [id, kind.name(), original] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        hash.update(family.unwrap_or(0).to_le_bytes());
        hash.update(resemblance.to_bits().to_le_bytes());
        let hashed: [u8; 32] = hash.finalize().into();
        let (half, _) = hashed.split_first_chunk::<16>().expect("32 bytes hold 16");
        self.sum = self.sum.wrapping_add(u128::from_le_bytes(*half));
    }

    /// Adds the rows of another part of the table.
    pub fn merge(&mut self, other: FamilyDigest) {
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// The sum, to be merged elsewhere.
    #[must_use]
    pub fn sum(self) -> u128 {
        self.sum
    }

    /// A digest whose sum was computed elsewhere.
    #[must_use]
    pub fn from_sum(sum: u128) -> Self {
        FamilyDigest { sum }
    }
}

/// 32 hexadecimal digits.
impl fmt::Display for FamilyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.sum)
    }
}

/// Calls `each` with every document from number `others` on: its number, its id, what it is, and the id of
/// its original. Returns the digest of all of them.
pub(crate) fn for_each_family_row(
    ids: &StringColumn,
    verdicts: &Verdicts,
    others: u32,
    mut each: impl FnMut(&str, &FamilyRow, &str) -> Result<(), ClusterError>,
) -> Result<FamilyDigest, ClusterError> {
    let mut digest = FamilyDigest::default();
    // Copies of one original often follow each other.
    let mut last = (u32::MAX, String::new());
    ids.for_each(|document, id| {
        if document < others {
            return Ok(());
        }
        let row = verdicts.row(document);
        let original = if row.original == document {
            id
        } else {
            if last.0 != row.original {
                last = (row.original, ids.get(row.original)?);
            }
            &last.1
        };
        digest.add(id, row.kind, row.family, original, row.resemblance);
        each(id, &row, original)
    })?;
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (&'static str, Kind, Option<u32>, &'static str, f64);

    const ROWS: [Row; 4] = [
        ("a", Kind::Original, Some(1), "a", 1.0),
        ("b", Kind::Copy, Some(1), "a", 0.8125),
        ("c", Kind::Empty, None, "c", 0.0),
        ("글", Kind::SameText, Some(1), "a", 1.0),
    ];

    fn digest(rows: impl IntoIterator<Item = Row>) -> FamilyDigest {
        let mut digest = FamilyDigest::default();
        for (id, kind, family, original, resemblance) in rows {
            digest.add(id, kind, family, original, resemblance);
        }
        digest
    }

    #[test]
    fn the_order_and_the_parts_do_not_matter_and_every_field_does() {
        let all = digest(ROWS);
        assert_eq!(all, digest(ROWS.into_iter().rev()));
        let mut parts = digest(ROWS[..1].iter().copied());
        parts.merge(FamilyDigest::from_sum(digest(ROWS[1..].iter().copied()).sum()));
        assert_eq!(all, parts);
        let mut seen = vec![all, digest([]), digest(ROWS[1..].iter().copied())];
        let changed: [Row; 5] = [
            ("x", Kind::Copy, Some(1), "a", 0.8125),
            ("b", Kind::Identical, Some(1), "a", 0.8125),
            ("b", Kind::Copy, Some(2), "a", 0.8125),
            ("b", Kind::Copy, Some(1), "b", 0.8125),
            ("b", Kind::Copy, Some(1), "a", 0.8126),
        ];
        for row in changed {
            let mut rows = ROWS;
            rows[1] = row;
            seen.push(digest(rows));
        }
        // What moves from one field to its neighbour is another row.
        seen.push(digest([("ab", Kind::Original, Some(1), "c", 1.0)]));
        seen.push(digest([("a", Kind::Original, Some(1), "bc", 1.0)]));
        for (at, one) in seen.iter().enumerate() {
            assert!(!seen[..at].contains(one), "{at}");
        }
    }

    #[test]
    fn the_digest_is_the_one_that_is_documented() {
        // Computed from the table in docs/formats.md with Python's hashlib.
        assert_eq!(digest(ROWS).to_string(), "4ca0b222cf700a12e702b0c74e353fff");
        assert_eq!(digest([]).to_string(), "0".repeat(32));
    }
}
