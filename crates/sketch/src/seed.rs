//! What decides the permutations: a seed, published or secret.
//!
//! With a published seed anyone can make the same sketches, and anyone can also look for the
//! few words whose change makes a copy slip past. With a secret one nobody outside can tell
//! which shingles count. Both are a 128-bit key; every number that depends on the seed is
//! `SipHash-2-4(key, purpose, index)`, so that derived numbers do not give the key away.
//!
//! Guarantee: neither `Debug`, `Display`, an error message nor a stored sketch ever shows the
//! key. They show its [`SeedFingerprint`], 64 bits that say "same seed" or "another seed". A
//! guessable secret can still be found by trying guesses against the fingerprint: use at least
//! 16 random bytes.

use crate::siphash::siphash24;
use std::fmt;

/// The key from which permutations are drawn.
///
/// ```
/// use wonbon_sketch::Seed;
/// let ours = Seed::secret(b"sixteen or more random bytes");
/// assert_ne!(ours.fingerprint(), Seed::default().fingerprint());
/// assert_eq!(format!("{ours:?}"), format!("Seed({})", ours.fingerprint()));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Seed {
    key: [u64; 2],
}

/// Names a seed without giving it away: 64 bits derived from it one way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeedFingerprint(u64);

/// What a derived number is for; part of the message, so that no two purposes share a number.
/// The discriminants are part of the sketch format: they never change.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    Fingerprint = 0,
    FoldKey = 1,
    Multiplier = 2,
    Addend = 3,
    SampleKey = 4,
}

/// Keys of the two hashes that turn secret bytes into a key: plain text, only to be different.
const SECRET_LEFT: [u64; 2] = [u64::from_le_bytes(*b"wonbon s"), u64::from_le_bytes(*b"ecret  1")];
const SECRET_RIGHT: [u64; 2] = [u64::from_le_bytes(*b"wonbon s"), u64::from_le_bytes(*b"ecret  2")];

impl Seed {
    /// A seed anyone may know. `Seed::default()` is number 0.
    #[must_use]
    pub const fn number(number: u64) -> Self {
        Self { key: [number, 0] }
    }

    /// A seed made from secret bytes of any length; 16 random bytes are enough.
    #[must_use]
    pub fn secret(bytes: &[u8]) -> Self {
        let half = |key: [u64; 2]| siphash24(key[0], key[1], bytes);
        Self { key: [half(SECRET_LEFT), half(SECRET_RIGHT)] }
    }

    /// The name under which this seed appears in messages and stored sketches.
    #[must_use]
    pub fn fingerprint(&self) -> SeedFingerprint {
        SeedFingerprint(self.derive(Purpose::Fingerprint, 0))
    }

    /// The `index`-th number for `purpose`: SipHash-2-4 of the two as little-endian words.
    pub(crate) fn derive(&self, purpose: Purpose, index: u64) -> u64 {
        let mut message = [0u8; 16];
        message[..8].copy_from_slice(&(purpose as u64).to_le_bytes());
        message[8..].copy_from_slice(&index.to_le_bytes());
        siphash24(self.key[0], self.key[1], &message)
    }
}

impl Default for Seed {
    fn default() -> Self {
        Self::number(0)
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Seed({})", self.fingerprint())
    }
}

impl SeedFingerprint {
    /// The 64 bits, for storing.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// A fingerprint read back from where it was stored.
    #[must_use]
    pub const fn from_u64(bits: u64) -> Self {
        Self(bits)
    }
}

impl fmt::Display for SeedFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for SeedFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SeedFingerprint({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_the_fingerprint_and_not_the_key() {
        let seed = Seed::number(0x1234_5678_9abc_def0);
        let shown = format!("{seed:?}");
        assert!(shown.contains(&seed.fingerprint().to_string()));
        assert!(!shown.contains("123456789abcdef0") && !shown.contains("1311768467463790320"));
    }

    #[test]
    fn every_secret_and_every_number_is_a_seed_of_its_own() {
        let seeds = [
            Seed::number(0),
            Seed::number(1),
            Seed::secret(b""),
            Seed::secret(b"a"),
            Seed::secret(b"b"),
            Seed::secret(&[0; 8]),
            Seed::secret(&[0; 16]),
        ];
        for (i, left) in seeds.iter().enumerate() {
            for right in &seeds[..i] {
                assert_ne!(left.fingerprint(), right.fingerprint());
            }
        }
    }

    #[test]
    fn purposes_do_not_share_numbers() {
        let seed = Seed::number(7);
        assert_ne!(seed.derive(Purpose::Multiplier, 3), seed.derive(Purpose::Addend, 3));
        assert_ne!(seed.derive(Purpose::Multiplier, 3), seed.derive(Purpose::Multiplier, 2));
    }
}
