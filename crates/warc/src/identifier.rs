//! Names of records: `<urn:uuid:…>`.
//!
//! A record's name is made from where it stands and what it holds, so the same crawl written twice
//! has the same bytes, and a crawl that is resumed cannot give a name twice.

use std::fmt;

use uuid::{Builder, Uuid};

use crate::digest::Digest;

/// The name of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(Uuid);

impl RecordId {
    /// The name of a record that has these marks: a UUID of version 8 (made by a rule of its own).
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let digest = Digest::of_parts(parts);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.as_bytes()[..16]);
        RecordId(Builder::from_custom_bytes(bytes).into_uuid())
    }

    /// The number of the UUID.
    #[must_use]
    pub fn to_bits(self) -> u128 {
        self.0.as_u128()
    }

    /// The name with this number.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        RecordId(Uuid::from_u128(bits))
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0.urn())
    }
}

/// A text that is no name of a record with a UUID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a <urn:uuid:…>")]
pub struct NotARecordId;

impl std::str::FromStr for RecordId {
    type Err = NotARecordId;

    fn from_str(text: &str) -> Result<Self, NotARecordId> {
        let text = text.trim();
        let text = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
        let uuid = text
            .get(..9)
            .filter(|start| start.eq_ignore_ascii_case("urn:uuid:"))
            .map(|start| &text[start.len()..])
            .ok_or(NotARecordId)?;
        // Only with its four dashes.
        if uuid.len() != 36 {
            return Err(NotARecordId);
        }
        Uuid::try_parse(uuid).map(RecordId).map_err(|_| NotARecordId)
    }
}
