//! Digests as WARC writes them: SHA-1 in base 32, `sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ`.

use std::fmt;

use sha1::{Digest as _, Sha1};

const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

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
        f.write_str("sha1:")?;
        // 20 bytes are 32 letters of 5 bits, without a rest.
        for five in self.0.as_chunks::<5>().0 {
            let bits = five.iter().fold(0_u64, |bits, &byte| bits << 8 | u64::from(byte));
            for letter in (0..8).rev() {
                let letter = LETTERS[(bits >> (letter * 5)) as usize & 31];
                write!(f, "{}", char::from(letter))?;
            }
        }
        Ok(())
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
        let (bits, letters): (u32, &[u8]) = match value.len() {
            32 => (5, LETTERS),
            40 => (4, b"0123456789ABCDEF"),
            _ => return Err(NotADigest),
        };
        let mut bytes = [0; 20];
        let (mut kept, mut held, mut at) = (0_u32, 0_u32, 0);
        for letter in value.bytes() {
            let letter = letter.to_ascii_uppercase();
            let place = letters.iter().position(|&known| known == letter).ok_or(NotADigest)?;
            kept = kept << bits | place as u32;
            held += bits;
            if held >= 8 {
                held -= 8;
                bytes[at] = (kept >> held) as u8;
                kept &= (1 << held) - 1;
                at += 1;
            }
        }
        Ok(Digest(bytes))
    }
}
