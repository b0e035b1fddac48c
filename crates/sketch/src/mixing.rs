//! Bijections that make 64-bit and 40-bit values look random.
//!
//! Rabin fingerprints, counters and other people's hashes keep structure: sums, runs, common low
//! bits. Samples by order or by remainder need values without any. Three bijections give that:
//!
//! - [`finalise`]: fixed, makes an element out of a fingerprint (`sets`);
//! - `Sampler`: keyed by the seed, the random permutation of `smallest`, `modulus` and `scaled`,
//!   on 64 bits or, after a 40-bit Rabin fingerprint, on 40;
//! - `Fold32`: keyed by the seed, the first step of `features`: to the high 32 bits.
//!
//! Each is two or three rounds of "fold the high half onto the low one, multiply by an odd
//! number", which maps one to one; a key enters before and after the first multiplication.
//! Cost: two or three multiplications an element.
//!
//! Guarantee: written down in docs/formats.md and never changed within a format version.

use crate::params::Width;
use crate::rabin::RABIN_40;
use crate::seed::{Purpose, Seed};

/// First odd multiplier: 2^64 over the golden ratio.
const ODD_1: u64 = 0x9e37_79b9_7f4a_7c15;
/// Second odd multiplier: the fraction of the square root of 3.
const ODD_2: u64 = 0xbb67_ae85_84ca_a73b;
/// Third odd multiplier: the fraction of the square root of 7.
const ODD_3: u64 = 0xa54f_f53a_5f1d_36f1;

/// A fixed bijection of 64-bit values in which every input bit reaches every output bit.
#[must_use]
pub const fn finalise(value: u64) -> u64 {
    let value = (value ^ value >> 32).wrapping_mul(ODD_1);
    let value = (value ^ value >> 29).wrapping_mul(ODD_2);
    let value = (value ^ value >> 32).wrapping_mul(ODD_3);
    value ^ value >> 32
}

/// From an element to the 32 bits the linear permutations work on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fold32 {
    keys: [u64; 2],
}

impl Fold32 {
    pub(crate) fn new(seed: &Seed) -> Self {
        Self { keys: [0, 1].map(|index| seed.derive(Purpose::FoldKey, index)) }
    }

    #[inline(always)]
    pub(crate) fn fold(self, element: u64) -> u32 {
        let value = (element ^ self.keys[0]).wrapping_mul(ODD_1);
        let value = (value ^ value >> 32).wrapping_add(self.keys[1]).wrapping_mul(ODD_2);
        (value >> 32) as u32
    }
}

/// The random permutation a sample is taken by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampler {
    keys: [u64; 2],
    width: Width,
}

impl Sampler {
    pub(crate) fn new(seed: &Seed, width: Width) -> Self {
        Self { keys: [0, 1].map(|index| seed.derive(Purpose::SampleKey, index)), width }
    }

    #[inline]
    pub(crate) fn permute(self, element: u64) -> u64 {
        match self.width {
            Width::Bits64 => {
                let value = element ^ self.keys[0];
                let value = (value ^ value >> 32).wrapping_mul(ODD_1).wrapping_add(self.keys[1]);
                let value = (value ^ value >> 29).wrapping_mul(ODD_2);
                let value = (value ^ value >> 32).wrapping_mul(ODD_3);
                value ^ value >> 32
            }
            Width::Bits40 => {
                let largest = Width::Bits40.largest();
                let value = RABIN_40.fingerprint(&element.to_le_bytes());
                let value = value ^ self.keys[0] & largest;
                let value = (value ^ value >> 20).wrapping_mul(ODD_1).wrapping_add(self.keys[1]);
                let value = value & largest;
                let value = (value ^ value >> 17).wrapping_mul(ODD_2) & largest;
                let value = (value ^ value >> 20).wrapping_mul(ODD_3) & largest;
                value ^ value >> 20
            }
        }
    }
}
