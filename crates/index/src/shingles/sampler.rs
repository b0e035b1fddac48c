//! What is indexed of a document: its modulus sketch, the modulus by its size.
//!
//! The moduli are 1, 2, 4 and 8, so that a sample by a larger one is part of a sample by a smaller one
//! and documents of different sizes can be compared: at the larger modulus of the two. A document of up
//! to 63 shingles is kept whole, a longer one leaves at least 32 values on average. (The 1997 paper
//! takes one in 25: of a paragraph of 40 words it would often keep nothing.)
//!
//! Cost: two multiplications a shingle.

use wonbon_sketch::{ElementSet, ModulusMaker, ModulusParams, Seed, SketchError, Width};

/// The highest level: one shingle in 2 to this power is kept.
pub const MOST_LEVEL: u32 = 3;

/// A document with fewer shingles is kept whole; each doubling halves the share that is kept.
const WHOLE_BELOW: usize = 64;

/// The level of a document with so many shingles: one in 2 to this power is kept.
#[must_use]
pub fn level_of(shingles: usize) -> u32 {
    match (shingles / WHOLE_BELOW).checked_ilog2() {
        Some(doublings) => (doublings + 1).min(MOST_LEVEL),
        None => 0,
    }
}

/// The sketch of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShingleSketch {
    /// How many different shingles the document has.
    pub shingles: u32,
    /// Those that are kept: permuted, in increasing order.
    pub values: Vec<u64>,
}

/// Makes sketches; two samplers of one seed agree.
#[derive(Debug, Clone)]
pub struct ShingleSampler {
    /// One for each level.
    makers: Vec<ModulusMaker>,
    seed: u64,
}

impl ShingleSampler {
    /// Draws the permutation from the seed.
    ///
    /// # Errors
    ///
    /// The sketch crate's, which has none for these moduli.
    pub fn new(seed: &Seed) -> Result<Self, SketchError> {
        let maker = |level: u32| {
            let seed = seed.clone();
            ModulusMaker::new(ModulusParams { modulus: 1 << level, width: Width::Bits64, seed })
        };
        let makers = (0..=MOST_LEVEL).map(maker).collect::<Result<_, _>>()?;
        Ok(ShingleSampler { makers, seed: seed.fingerprint().to_u64() })
    }

    /// Says "same seed" or "another seed".
    #[must_use]
    pub fn seed_fingerprint(&self) -> u64 {
        self.seed
    }

    /// What is indexed of a document.
    #[must_use]
    pub fn sketch(&self, shingles: &ElementSet) -> ShingleSketch {
        let maker = &self.makers[level_of(shingles.len()) as usize];
        ShingleSketch {
            shingles: u32::try_from(shingles.len()).unwrap_or(u32::MAX),
            values: maker.sketch(shingles.as_slice()).values().to_vec(),
        }
    }

    /// All values of a text, to ask with.
    #[must_use]
    pub fn all(&self, shingles: &ElementSet) -> Vec<u64> {
        self.makers[0].sketch(shingles.as_slice()).values().to_vec()
    }
}

/// The level up to which a value is kept.
pub(super) fn value_level(value: u64) -> u32 {
    value.trailing_zeros().min(MOST_LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_is_the_part_of_all_values_that_its_level_keeps() {
        let sampler = ShingleSampler::new(&Seed::number(7)).unwrap();
        for count in [0, 1, 63, 64, 127, 128, 255, 256, 5000] {
            let shingles = ElementSet::new((0..count).map(wonbon_sketch::finalise).collect());
            let all = sampler.all(&shingles);
            assert_eq!(all.len(), count as usize);
            let level = level_of(count as usize);
            let kept: Vec<u64> =
                all.into_iter().filter(|&value| value_level(value) >= level).collect();
            let sketch = sampler.sketch(&shingles);
            assert_eq!((sketch.shingles, sketch.values), (count as u32, kept));
        }
    }

    #[test]
    fn short_documents_are_kept_whole_and_long_ones_to_an_eighth() {
        let levels = [0, 63, 64, 127, 128, 255, 256, 1 << 30].map(level_of);
        assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3, 3]);
    }
}
