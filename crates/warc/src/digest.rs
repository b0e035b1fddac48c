//! Digests as WARC writes them: SHA-1 in base 32, `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`.

use std::fmt;

use data_encoding::{BASE32_NOPAD_NOCASE, HEXLOWER_PERMISSIVE};
use sha1::{Digest as _, Sha1};

/// The SHA-1 of a block or a payload. It finds equal bodies and damage; it is no protection against
/// somebody who wants two bodies to have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 20]);

impl Digest {
    /// The digest of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Digest::of_parts(&[bytes])
    }

    /// The digest of parts, one after the other.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha1::new();
        for part in parts {
            hasher.update(part);
        }
        Digest(hasher.finalize().into())
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// The digest that was made of these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 20]) -> Self {
        Digest(bytes)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha1:{}", BASE32_NOPAD_NOCASE.encode_display(&self.0))
    }
}

/// A text that is no SHA-1 as WARC writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-1 in base 32 or 16")]
pub struct NotADigest;

impl std::str::FromStr for Digest {
    type Err = NotADigest;

    /// Reads `sha1:` and 32 letters of base 32, or 40 of base 16 as some writers have it.
    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let (algorithm, value) = text.trim().split_once(':').ok_or(NotADigest)?;
        if !(algorithm.eq_ignore_ascii_case("sha1") || algorithm.eq_ignore_ascii_case("sha-1")) {
            return Err(NotADigest);
        }
        let encoding = match value.len() {
            32 => BASE32_NOPAD_NOCASE,
            40 => HEXLOWER_PERMISSIVE,
            _ => return Err(NotADigest),
        };
        let mut bytes = [0; 20];
        encoding.decode_mut(value.as_bytes(), &mut bytes).map_err(|_| NotADigest)?;
        Ok(Digest(bytes))
    }
}
