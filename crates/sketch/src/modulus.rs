//! Modulus sketch: the values of a set, under one random permutation, that m divides.
//!
//! Broder et al. 1997, the theorem's V(D): every element is in or out by itself, so what two
//! sketches share is a fair sample of what the sets share. The shares of the union and of each
//! set are unbiased estimates of resemblance and of both containments. The paper's own run used
//! 40-bit values and m = 25; both are the defaults here.
//!
//! Cost: one multiplication chain and one divisibility test an element; n / m values kept, so
//! the sketch grows with the set (`scaled` keeps it bounded), and a set much smaller than m may
//! leave no sample at all, which the estimate then says.

use crate::error::SketchError;
use crate::estimate::Estimate;
use crate::exact::count_shared;
use crate::mixing::Sampler;
use crate::params::{SketchParams, Width, check_range};
use crate::seed::{Seed, SeedFingerprint};

/// How a modulus sketch is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModulusParams {
    /// m: one of so many elements is kept.
    pub modulus: u64,
    /// The width of the values.
    pub width: Width,
    /// Decides the permutation.
    pub seed: Seed,
}

impl ModulusParams {
    /// The largest modulus.
    pub const MOST: u64 = 1 << 32;
}

/// The 1997 paper's: one in 25, 40 bits.
impl Default for ModulusParams {
    fn default() -> Self {
        Self { modulus: 25, width: Width::Bits40, seed: Seed::default() }
    }
}

/// Makes modulus sketches.
///
/// ```
/// use wonbon_sketch::{ModulusMaker, ModulusParams, sets};
/// let maker = ModulusMaker::new(ModulusParams::default())?;
/// let part = maker.sketch(&sets::elements(0..2_000));
/// let whole = maker.sketch(&sets::elements(0..8_000));
/// assert_eq!(part.estimate_containment_in(&whole)?.value, 1.0);
/// let estimate = whole.estimate_containment_in(&part)?; // truly 1/4
/// assert!((estimate.value - 0.25).abs() < 4.0 * estimate.standard_error);
/// # Ok::<(), wonbon_sketch::SketchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModulusMaker {
    sampler: Sampler,
    divisor: Divisor,
    width: Width,
    seed: SeedFingerprint,
}

impl ModulusMaker {
    /// Draws the permutation from the seed.
    ///
    /// # Errors
    ///
    /// [`SketchError::OutOfRange`] when the modulus is 0 or too large.
    pub fn new(params: ModulusParams) -> Result<Self, SketchError> {
        ModulusSketch::check_modulus(params.modulus)?;
        Ok(Self {
            sampler: Sampler::new(&params.seed, params.width),
            divisor: Divisor::new(params.modulus),
            width: params.width,
            seed: params.seed.fingerprint(),
        })
    }

    /// The sketch of a set, given in any order, repetitions allowed.
    #[must_use]
    pub fn sketch(&self, elements: &[u64]) -> ModulusSketch {
        let mut builder = self.builder();
        builder.update(elements);
        builder.finish()
    }

    /// A builder that takes a set in pieces.
    #[must_use]
    pub fn builder(&self) -> ModulusBuilder {
        ModulusBuilder { maker: self.clone(), values: Vec::new(), sort_at: FIRST_SORT }
    }
}

/// Repeated values are first thrown out when there are this many.
const FIRST_SORT: usize = 1024;

/// Takes a set in pieces, in memory that grows with the sketch only.
#[derive(Debug, Clone)]
pub struct ModulusBuilder {
    maker: ModulusMaker,
    values: Vec<u64>,
    sort_at: usize,
}

impl ModulusBuilder {
    /// Adds elements to the set.
    pub fn update(&mut self, elements: &[u64]) {
        for element in elements {
            let value = self.maker.sampler.permute(*element);
            if self.maker.divisor.divides(value) {
                self.values.push(value);
                if self.values.len() >= self.sort_at {
                    self.sort_out();
                    self.sort_at = FIRST_SORT.max(2 * self.values.len());
                }
            }
        }
    }

    /// The sketch of what was added.
    #[must_use]
    pub fn finish(mut self) -> ModulusSketch {
        self.sort_out();
        let ModulusMaker { divisor, width, seed, .. } = self.maker;
        ModulusSketch { modulus: divisor.number, width, seed, values: self.values }
    }

    fn sort_out(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
    }
}

/// Those values of a set that the modulus divides, in increasing order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModulusSketch {
    pub(crate) modulus: u64,
    pub(crate) width: Width,
    pub(crate) seed: SeedFingerprint,
    pub(crate) values: Vec<u64>,
}

crate::accessors::values!(
    ModulusSketch,
    u64,
    "The values in increasing order.",
    "Whether nothing was sampled."
);

impl ModulusSketch {
    pub(crate) fn check_modulus(modulus: u64) -> Result<(), SketchError> {
        check_range("the modulus", modulus, 1, ModulusParams::MOST)
    }

    /// How it was made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        let Self { modulus, width, seed, .. } = *self;
        SketchParams::Modulus { modulus, width, seed }
    }

    /// Estimates resemblance: the share of the two sketches' union that both have.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with other parameters or another seed.
    pub fn estimate_resemblance(&self, other: &ModulusSketch) -> Result<Estimate, SketchError> {
        self.params().same_as(&other.params())?;
        Ok(resemblance(&self.values, &other.values, self.modulus))
    }

    /// Estimates the containment of this set in the other: the share of this sketch that the
    /// other has too. Ask the other way round for the other containment.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with other parameters or another seed.
    pub fn estimate_containment_in(&self, other: &ModulusSketch) -> Result<Estimate, SketchError> {
        self.params().same_as(&other.params())?;
        Ok(containment(&self.values, &other.values, self.modulus))
    }
}

/// Resemblance from two samples of one value in `modulus`.
pub(crate) fn resemblance(left: &[u64], right: &[u64], modulus: u64) -> Estimate {
    let shared = count_shared(left, right);
    let union = left.len() + right.len() - shared;
    Estimate::of_share(shared as u64, union as u64, 1.0 / modulus as f64)
}

/// Containment of the left set in the right from two samples of one value in `modulus`.
pub(crate) fn containment(left: &[u64], right: &[u64], modulus: u64) -> Estimate {
    let shared = count_shared(left, right);
    Estimate::of_share(shared as u64, left.len() as u64, 1.0 / modulus as f64)
}

/// Tells multiples of a number without dividing.
///
/// With `number = odd * 2^e`, multiplication by the inverse of `odd` modulo 2^64 followed by a
/// rotation by `e` sends the multiples, and only them, to `0 ..= (2^64 - 1) / number`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Divisor {
    pub(crate) number: u64,
    inverse: u64,
    shift: u32,
    largest_quotient: u64,
}

impl Divisor {
    pub(crate) fn new(number: u64) -> Self {
        let shift = number.trailing_zeros();
        let odd = number >> shift;
        // Newton: an odd number is its own inverse modulo 8, and each step doubles the bits.
        let mut inverse = odd;
        for _ in 0..5 {
            let error = 2u64.wrapping_sub(odd.wrapping_mul(inverse));
            inverse = inverse.wrapping_mul(error);
        }
        Self { number, inverse, shift, largest_quotient: u64::MAX / number }
    }

    #[inline]
    pub(crate) fn divides(&self, value: u64) -> bool {
        value.wrapping_mul(self.inverse).rotate_right(self.shift) <= self.largest_quotient
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisibility_without_division_is_the_remainder_test() {
        for number in (1..200).chain([625, 1 << 20, 3 << 20, (1 << 32) - 1, 1 << 32]) {
            let divisor = Divisor::new(number);
            let around = (u64::MAX / number) * number;
            for base in [0, 7 * number, 1 << 40, around] {
                for offset in 0..300 {
                    let value = base.saturating_add(offset);
                    assert_eq!(divisor.divides(value), value % number == 0, "{value} {number}");
                }
            }
        }
    }

    #[test]
    fn repetition_does_not_grow_the_builder() {
        let params = ModulusParams { modulus: 1, ..ModulusParams::default() };
        let mut builder = ModulusMaker::new(params).unwrap().builder();
        for _ in 0..10_000 {
            builder.update(&[1, 2, 3, 4, 5]);
            assert!(builder.values.len() <= FIRST_SORT);
        }
        assert_eq!(builder.finish().values().len(), 5);
    }
}
