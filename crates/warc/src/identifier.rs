//! Names of records: `<urn:uuid:…>`.
//!
//! A record's name is made from where it stands and what it holds, so the same crawl written twice
//! has the same bytes, and a crawl that is resumed cannot give a name twice.

use std::fmt;

use crate::digest::Digest;

/// The name of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(u128);

impl RecordId {
    /// The name of a record that has these marks: a UUID of version 8 (made by a rule of its own).
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Self {
        let digest = Digest::of_parts(parts);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest.as_bytes()[..16]);
        bytes[6] = bytes[6] & 0x0f | 0x80;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        RecordId(u128::from_be_bytes(bytes))
    }

    /// The number of the UUID.
    #[must_use]
    pub fn to_bits(self) -> u128 {
        self.0
    }

    /// The name with this number.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        RecordId(bits)
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = format!("{:032x}", self.0);
        let (a, b, c, d, e) = (&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]);
        write!(f, "<urn:uuid:{a}-{b}-{c}-{d}-{e}>")
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
        let groups: Vec<usize> = uuid.split('-').map(str::len).collect();
        if groups != [8, 4, 4, 4, 12] {
            return Err(NotARecordId);
        }
        let digits: String = uuid.split('-').collect();
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NotARecordId);
        }
        u128::from_str_radix(&digits, 16).map(RecordId).map_err(|_| NotARecordId)
    }
}
