//! Scaled modulus sketch: for documents of very different size.
//!
//! Broder et al. 1997: a fixed modulus leaves no sample of a short document and a large one of
//! a long document. Here the modulus is a power of `base` (2) chosen by the size of the set so
//! that the sample is expected to stay below `most` (100) and, for large sets, above
//! `most / base`. Since the multiples of `base^(i+1)` are among those of `base^i`, a sketch can
//! be thinned to any larger modulus; two sketches are compared at the larger of their two.
//!
//! Cost: as `modulus`; at most about `most` values kept. The price, as the paper says: the
//! containment of a very short document in a very long one rests on few samples, or none. The
//! standard error says so.

use crate::error::SketchError;
use crate::estimate::Estimate;
use crate::exact::ElementSet;
use crate::mixing::Sampler;
use crate::modulus::{Divisor, containment, resemblance};
use crate::params::{SketchParams, Width, check_range};
use crate::seed::{Seed, SeedFingerprint};
use std::borrow::Cow;

/// How a scaled modulus sketch is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScaledParams {
    /// Moduli are powers of this.
    pub base: u32,
    /// The most values to be expected in a sketch; more make the standard error smaller.
    pub most: u32,
    /// The width of the values.
    pub width: Width,
    /// Decides the permutation.
    pub seed: Seed,
}

/// The 1997 paper's: powers of 2, between 50 and 100 values expected.
impl Default for ScaledParams {
    fn default() -> Self {
        Self { base: 2, most: 100, width: Width::Bits64, seed: Seed::default() }
    }
}

/// Makes scaled modulus sketches.
///
/// ```
/// use wonbon_sketch::{ElementSet, ScaledMaker, ScaledParams};
/// let maker = ScaledMaker::new(ScaledParams::default())?;
/// let part = maker.sketch(&ElementSet::of(0..1_600));
/// let whole = maker.sketch(&ElementSet::of(0..100_000));
/// assert_eq!((part.modulus(), whole.modulus()), (16, 1024));
/// let estimate = whole.estimate_containment_in(&part)?; // truly 0.016
/// assert!((estimate.value - 0.016).abs() < 4.0 * estimate.standard_error);
/// # Ok::<(), wonbon_sketch::SketchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScaledMaker {
    sampler: Sampler,
    base: u32,
    most: u32,
    width: Width,
    seed: SeedFingerprint,
}

impl ScaledMaker {
    /// Draws the permutation from the seed.
    ///
    /// # Errors
    ///
    /// [`SketchError::OutOfRange`] when `base` is below 2 or `most` is 0, or either too large.
    pub fn new(params: ScaledParams) -> Result<Self, SketchError> {
        ScaledSketch::check_params(params.base, params.most)?;
        Ok(Self {
            sampler: Sampler::new(&params.seed, params.width),
            base: params.base,
            most: params.most,
            width: params.width,
            seed: params.seed.fingerprint(),
        })
    }

    /// The sketch of a set. It takes the set whole, since its size decides the modulus.
    #[must_use]
    pub fn sketch(&self, set: &ElementSet) -> ScaledSketch {
        let modulus = self.modulus_for(set.len() as u64);
        let divisor = Divisor::new(modulus);
        let values = set.as_slice().iter().map(|element| self.sampler.permute(*element));
        let mut values: Vec<u64> = values.filter(|value| divisor.divides(*value)).collect();
        values.sort_unstable();
        values.dedup();
        let Self { base, most, width, seed, .. } = *self;
        ScaledSketch { base, most, width, seed, modulus, values }
    }

    /// The smallest power of `base` of which a set of this size is at most `most` times.
    fn modulus_for(&self, size: u64) -> u64 {
        let mut modulus = 1;
        while size.div_ceil(modulus) > u64::from(self.most) {
            modulus *= u64::from(self.base);
        }
        modulus
    }
}

/// Those values of a set that its modulus divides, in increasing order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScaledSketch {
    pub(crate) base: u32,
    pub(crate) most: u32,
    pub(crate) width: Width,
    pub(crate) seed: SeedFingerprint,
    pub(crate) modulus: u64,
    pub(crate) values: Vec<u64>,
}

crate::accessors::values!(
    ScaledSketch,
    u64,
    "The values in increasing order.",
    "Whether nothing was sampled."
);

impl ScaledSketch {
    pub(crate) fn check_params(base: u32, most: u32) -> Result<(), SketchError> {
        check_range("the base of the modulus", u64::from(base), 2, 1 << 16)?;
        check_range("the most values expected in a sketch", u64::from(most), 1, 1 << 24)
    }

    /// How it was made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        let Self { base, most, width, seed, .. } = *self;
        SketchParams::Scaled { base, most, width, seed }
    }

    /// The modulus that fitted this set.
    #[must_use]
    pub fn modulus(&self) -> u64 {
        self.modulus
    }

    /// Estimates resemblance at the larger of the two moduli.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with other parameters or another seed.
    pub fn estimate_resemblance(&self, other: &ScaledSketch) -> Result<Estimate, SketchError> {
        self.params().same_as(&other.params())?;
        let modulus = self.modulus.max(other.modulus);
        Ok(resemblance(&self.thinned(modulus), &other.thinned(modulus), modulus))
    }

    /// Estimates the containment of this set in the other at the larger of the two moduli.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with other parameters or another seed.
    pub fn estimate_containment_in(&self, other: &ScaledSketch) -> Result<Estimate, SketchError> {
        self.params().same_as(&other.params())?;
        let modulus = self.modulus.max(other.modulus);
        Ok(containment(&self.thinned(modulus), &other.thinned(modulus), modulus))
    }

    /// The values that a larger power of `base` divides.
    fn thinned(&self, modulus: u64) -> Cow<'_, [u64]> {
        if modulus == self.modulus {
            return Cow::Borrowed(&self.values);
        }
        let divisor = Divisor::new(modulus);
        self.values.iter().copied().filter(|value| divisor.divides(*value)).collect()
    }
}
