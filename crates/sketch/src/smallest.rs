//! Smallest-s sketch: the s smallest values of a set under one random permutation.
//!
//! Broder et al. 1997, the theorem's F(D): of the s smallest values of the union of two sets,
//! the share that both sketches have is an unbiased estimate of resemblance. The sketch has a
//! fixed size whatever the set; it says nothing about containment (`modulus` does).
//!
//! Cost: one multiplication chain and one comparison an element, a sort now and then; 8 bytes a
//! value kept, memory of two sketches while streaming.
//!
//! Guarantee: order and repetition of elements do not matter. A set of fewer than s elements is
//! kept whole, and two such sets are compared exactly.

use crate::error::SketchError;
use crate::estimate::Estimate;
use crate::mixing::Sampler;
use crate::params::{SketchParams, Width, check_range};
use crate::seed::{Seed, SeedFingerprint};

/// How a smallest-s sketch is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallestParams {
    /// s, how many values are kept. The standard error falls with its root.
    pub count: usize,
    /// Decides the permutation.
    pub seed: Seed,
}

impl SmallestParams {
    /// The most values a sketch may keep.
    pub const MOST: usize = 1 << 24;
}

/// 400 values: 3,200 bytes, a standard error of at most 0.025.
impl Default for SmallestParams {
    fn default() -> Self {
        Self { count: 400, seed: Seed::default() }
    }
}

/// Makes smallest-s sketches.
///
/// ```
/// use wonbon_sketch::{SmallestMaker, SmallestParams, sets};
/// let maker = SmallestMaker::new(SmallestParams::default())?;
/// let left = maker.sketch(&sets::elements(0..10_000));
/// let right = maker.sketch(&sets::elements(1_000..11_000));
/// let estimate = left.estimate_resemblance(&right)?; // truly 9/11
/// assert!((estimate.value - 9.0 / 11.0).abs() < 4.0 * estimate.standard_error);
/// # Ok::<(), wonbon_sketch::SketchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SmallestMaker {
    sampler: Sampler,
    count: u32,
    seed: SeedFingerprint,
}

impl SmallestMaker {
    /// Draws the permutation from the seed.
    ///
    /// # Errors
    ///
    /// [`SketchError::OutOfRange`] when the count is 0 or too large.
    pub fn new(params: SmallestParams) -> Result<Self, SketchError> {
        SmallestSketch::check_count(params.count as u64)?;
        Ok(Self {
            sampler: Sampler::new(&params.seed, Width::Bits64),
            count: params.count as u32,
            seed: params.seed.fingerprint(),
        })
    }

    /// The sketch of a set, given in any order, repetitions allowed.
    #[must_use]
    pub fn sketch(&self, elements: &[u64]) -> SmallestSketch {
        let mut builder = self.builder();
        builder.update(elements);
        builder.finish()
    }

    /// A builder that takes a set in pieces.
    #[must_use]
    pub fn builder(&self) -> SmallestBuilder {
        SmallestBuilder { maker: self.clone(), values: Vec::new(), below: None }
    }
}

/// Takes a set in pieces, in memory that does not grow with it.
#[derive(Debug, Clone)]
pub struct SmallestBuilder {
    maker: SmallestMaker,
    /// Candidates, at most twice the count; sorted out when full.
    values: Vec<u64>,
    /// Once `count` values are known: only smaller ones can matter.
    below: Option<u64>,
}

impl SmallestBuilder {
    /// Adds elements to the set.
    pub fn update(&mut self, elements: &[u64]) {
        let full = 2 * self.maker.count as usize;
        for element in elements {
            let value = self.maker.sampler.permute(*element);
            if self.below.is_none_or(|below| value < below) {
                self.values.push(value);
                if self.values.len() >= full {
                    self.sort_out();
                }
            }
        }
    }

    /// The sketch of what was added.
    #[must_use]
    pub fn finish(mut self) -> SmallestSketch {
        self.sort_out();
        let SmallestMaker { count, seed, .. } = self.maker;
        SmallestSketch { count, seed, values: self.values }
    }

    fn sort_out(&mut self) {
        self.values.sort_unstable();
        self.values.dedup();
        let count = self.maker.count as usize;
        if self.values.len() >= count {
            self.values.truncate(count);
            self.below = self.values.last().copied();
        }
    }
}

/// The s smallest values of a set, in increasing order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SmallestSketch {
    pub(crate) count: u32,
    pub(crate) seed: SeedFingerprint,
    pub(crate) values: Vec<u64>,
}

crate::accessors::values!(
    SmallestSketch,
    u64,
    "The values in increasing order.",
    "Whether the set was empty."
);

impl SmallestSketch {
    pub(crate) fn check_count(count: u64) -> Result<(), SketchError> {
        check_range("the number of smallest values", count, 1, SmallestParams::MOST as u64)
    }

    /// How it was made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        SketchParams::Smallest { count: self.count, seed: self.seed }
    }

    /// Whether the sketch surely holds the whole set.
    fn is_whole(&self) -> bool {
        self.values.len() < self.count as usize
    }

    /// Estimates resemblance: the share of the smallest s values of the union that both have.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with another count or seed.
    pub fn estimate_resemblance(&self, other: &SmallestSketch) -> Result<Estimate, SketchError> {
        self.params().same_as(&other.params())?;
        let whole = self.is_whole() && other.is_whole();
        let most = if whole { usize::MAX } else { self.count as usize };
        let (mut i, mut j, mut samples, mut shared) = (0, 0, 0, 0);
        let mut last = 0;
        while samples < most {
            let (left, right) = (self.values.get(i), other.values.get(j));
            last = match (left, right) {
                (None, None) => break,
                (Some(left), Some(right)) => *left.min(right),
                (Some(value), None) | (None, Some(value)) => *value,
            };
            let (in_left, in_right) = (left == Some(&last), right == Some(&last));
            i += usize::from(in_left);
            j += usize::from(in_right);
            shared += u64::from(in_left && in_right);
            samples += 1;
        }
        // The samples are all values up to `last`: that part of the union, as values are spread
        // evenly.
        let sampled = if whole { 1.0 } else { last as f64 / 2f64.powi(64) };
        Ok(Estimate::of_share(shared, samples as u64, sampled))
    }
}
