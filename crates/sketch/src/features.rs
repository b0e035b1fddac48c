//! Features: what decides, in a few integers, whether a document is a copy.
//!
//! The t = k x s min-values of a set stand in k groups of s; each group, as little-endian
//! bytes, is fingerprinted to one 64-bit integer (Lee, Lee, Kim 2008: k 6, s 14). A feature of
//! two sets agrees when all s min-values of its group do, with probability `r^s`; two sets are
//! copies when z or more of the k agree (`copy_probability`). Different groups agree by
//! accident with probability 2^-64.
//!
//! Cost: one pass over the elements, 84 multiplications each, in lanes; 48 bytes kept. Memory
//! while streaming does not depend on the number of elements.
//!
//! Guarantees: order and repetition of elements do not matter; an empty set has no features
//! and is nobody's copy; features of other parameters or another seed refuse to be compared.

use crate::error::SketchError;
use crate::estimate::Estimate;
use crate::params::{SketchParams, check_range};
use crate::permutations::{ChunkBuffer, PermutationPath, Permutations};
use crate::rabin::RABIN_64;
use crate::seed::{Seed, SeedFingerprint};
use std::sync::Arc;

/// How features are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureParams {
    /// k, the number of features. More of them find more copies at the same z, and more
    /// accidental ones; each costs 8 bytes a document.
    pub groups: usize,
    /// s, the number of min-values in a feature. More make the step of the curve steeper and
    /// move it to higher resemblance; each costs k permutations.
    pub group_size: usize,
    /// Decides the permutations.
    pub seed: Seed,
}

impl FeatureParams {
    /// The most features, and the most min-values in one.
    pub const MOST: usize = 4096;
    /// The most min-values in all.
    pub const MOST_MIN_VALUES: usize = 65_536;
}

/// The papers' 6 features of 14 min-values, under the published seed number 0.
impl Default for FeatureParams {
    fn default() -> Self {
        Self { groups: 6, group_size: 14, seed: Seed::default() }
    }
}

/// What must be equal for features to be comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    pub(crate) groups: u16,
    pub(crate) group_size: u16,
    pub(crate) seed: SeedFingerprint,
}

impl Shape {
    pub(crate) fn check(groups: u64, group_size: u64) -> Result<(), SketchError> {
        let most = FeatureParams::MOST as u64;
        check_range("the number of features", groups, 1, most)?;
        check_range("the number of min-values in a feature", group_size, 1, most)?;
        let in_all = FeatureParams::MOST_MIN_VALUES as u64;
        check_range("the number of min-values", groups * group_size, 1, in_all)
    }

    pub(crate) fn min_value_count(self) -> usize {
        usize::from(self.groups) * usize::from(self.group_size)
    }

    fn as_features(self) -> SketchParams {
        let Self { groups, group_size, seed } = self;
        SketchParams::Features { groups, group_size, seed }
    }

    fn as_min_values(self) -> SketchParams {
        let Self { groups, group_size, seed } = self;
        SketchParams::MinValues { groups, group_size, seed }
    }
}

/// Makes features and min-values; build one and use it for all documents. Clones share the
/// permutations, and it may be used from many threads.
///
/// ```
/// use wonbon_sketch::{FeatureMaker, FeatureParams, sets};
/// let maker = FeatureMaker::new(FeatureParams::default())?;
/// let one = maker.features(&sets::elements(["rose", "lily", "tulip"]));
/// let two = maker.features(&sets::elements(["tulip", "rose", "lily", "rose"]));
/// assert_eq!(one.agreeing(&two)?, 6);
/// assert!(one.is_copy(&two, 2)?);
/// # Ok::<(), wonbon_sketch::SketchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FeatureMaker {
    shape: Shape,
    permutations: Arc<Permutations>,
}

impl FeatureMaker {
    /// Draws the permutations from the seed; the fastest path of this CPU is used.
    ///
    /// # Errors
    ///
    /// [`SketchError::OutOfRange`] when a number is 0 or too large.
    pub fn new(params: FeatureParams) -> Result<Self, SketchError> {
        let shape = Self::shape(&params)?;
        let permutations = Permutations::new(&params.seed, shape.min_value_count());
        Ok(Self { shape, permutations: Arc::new(permutations) })
    }

    /// As [`FeatureMaker::new`], on one given path: for tests and measurements.
    ///
    /// # Errors
    ///
    /// As [`FeatureMaker::new`], and [`SketchError::PathUnavailable`].
    pub fn on_path(params: FeatureParams, path: PermutationPath) -> Result<Self, SketchError> {
        let shape = Self::shape(&params)?;
        let permutations = Permutations::on_path(&params.seed, shape.min_value_count(), path)
            .ok_or(SketchError::PathUnavailable { path })?;
        Ok(Self { shape, permutations: Arc::new(permutations) })
    }

    fn shape(params: &FeatureParams) -> Result<Shape, SketchError> {
        Shape::check(params.groups as u64, params.group_size as u64)?;
        Ok(Shape {
            groups: params.groups as u16,
            group_size: params.group_size as u16,
            seed: params.seed.fingerprint(),
        })
    }

    /// How the features are made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        self.shape.as_features()
    }

    /// The features of a set, given in any order, repetitions allowed.
    ///
    /// Allocates; for many documents keep a [`FeaturesBuilder`].
    #[must_use]
    pub fn features(&self, elements: &[u64]) -> Features {
        let mut builder = self.builder();
        builder.update(elements);
        builder.features()
    }

    /// The min-values of a set, given in any order, repetitions allowed.
    #[must_use]
    pub fn min_values(&self, elements: &[u64]) -> MinValues {
        let mut builder = self.builder();
        builder.update(elements);
        builder.min_values
    }

    /// A builder that takes a set in pieces and can be used again for the next set.
    #[must_use]
    pub fn builder(&self) -> FeaturesBuilder {
        FeaturesBuilder {
            permutations: Arc::clone(&self.permutations),
            buffer: ChunkBuffer::new(),
            min_values: MinValues { shape: self.shape, values: Vec::new() },
        }
    }
}

/// Takes a set in pieces, in memory that does not grow with it.
///
/// ```
/// use wonbon_sketch::{FeatureMaker, FeatureParams, Features};
/// let maker = FeatureMaker::new(FeatureParams::default())?;
/// let mut builder = maker.builder();
/// let mut features = maker.features(&[]);
/// for document in [[1u64, 2, 3], [4, 5, 6]] {
///     builder.clear();
///     builder.update(&document[..2]);
///     builder.update(&document[2..]);
///     builder.features_into(&mut features); // no allocation from the second document on
///     assert_eq!(features, maker.features(&document));
/// }
/// # Ok::<(), wonbon_sketch::SketchError>(())
/// ```
#[derive(Debug, Clone)]
pub struct FeaturesBuilder {
    permutations: Arc<Permutations>,
    buffer: ChunkBuffer,
    min_values: MinValues,
}

impl FeaturesBuilder {
    /// Adds elements to the set.
    pub fn update(&mut self, elements: &[u64]) {
        if elements.is_empty() {
            return;
        }
        let minima = &mut self.min_values.values;
        if minima.is_empty() {
            minima.resize(self.permutations.count(), u32::MAX);
        }
        self.permutations.lower(elements, &mut self.buffer, minima);
    }

    /// Forgets the set; memory is kept.
    pub fn clear(&mut self) {
        self.min_values.values.clear();
    }

    /// The min-values of what was added so far.
    #[must_use]
    pub fn min_values(&self) -> &MinValues {
        &self.min_values
    }

    /// The features of what was added so far.
    #[must_use]
    pub fn features(&self) -> Features {
        self.min_values.features()
    }

    /// As [`FeaturesBuilder::features`], into features made before.
    pub fn features_into(&self, features: &mut Features) {
        self.min_values.features_into(features);
    }
}

/// The t min-values of a set, or none when it is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MinValues {
    pub(crate) shape: Shape,
    pub(crate) values: Vec<u32>,
}

crate::accessors::values!(
    MinValues,
    u32,
    "The min-values, group after group; empty for an empty set.",
    "Whether the set was empty."
);

impl MinValues {
    /// How they were made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        self.shape.as_min_values()
    }

    /// The features they are grouped to.
    #[must_use]
    pub fn features(&self) -> Features {
        let mut features = Features { shape: self.shape, values: Vec::new() };
        self.features_into(&mut features);
        features
    }

    fn features_into(&self, features: &mut Features) {
        features.shape = self.shape;
        features.values.clear();
        let groups = self.values.chunks(usize::from(self.shape.group_size));
        features.values.extend(groups.map(fingerprint_group));
    }

    /// Estimates resemblance as the share of min-values that agree; unbiased, with variance
    /// `r (1 - r) / t`. An empty set resembles nothing.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with other parameters or another seed.
    pub fn estimate_resemblance(&self, other: &MinValues) -> Result<Estimate, SketchError> {
        if self.shape != other.shape {
            return Err(SketchError::ParamsMismatch { left: self.params(), right: other.params() });
        }
        if self.is_empty() || other.is_empty() {
            return Ok(Estimate { value: 0.0, standard_error: 0.0, samples: 0 });
        }
        let pairs = self.values.iter().zip(&other.values);
        let agreeing = pairs.filter(|(left, right)| left == right).count();
        Ok(Estimate::of_share(agreeing as u64, self.values.len() as u64, 0.0))
    }
}

/// Groups of up to this many min-values are fingerprinted without a heap buffer.
const GROUP_ON_STACK: usize = 64;

fn fingerprint_group(min_values: &[u32]) -> u64 {
    if min_values.len() <= GROUP_ON_STACK {
        let mut bytes = [0u8; 4 * GROUP_ON_STACK];
        for (slot, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(min_values) {
            *slot = value.to_le_bytes();
        }
        RABIN_64.fingerprint(&bytes[..4 * min_values.len()])
    } else {
        let bytes: Vec<u8> = min_values.iter().flat_map(|value| value.to_le_bytes()).collect();
        RABIN_64.fingerprint(&bytes)
    }
}

/// The k features of a set, or none when it is empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Features {
    pub(crate) shape: Shape,
    pub(crate) values: Vec<u64>,
}

crate::accessors::values!(
    Features,
    u64,
    "The features in order; empty for an empty set.",
    "Whether the set was empty."
);

impl Features {
    /// How they were made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        self.shape.as_features()
    }

    /// How many features agree, place by place. Empty sets agree in none.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with other parameters or another seed.
    pub fn agreeing(&self, other: &Features) -> Result<usize, SketchError> {
        if self.shape != other.shape {
            return Err(SketchError::ParamsMismatch { left: self.params(), right: other.params() });
        }
        let pairs = self.values.iter().zip(&other.values);
        Ok(pairs.filter(|(left, right)| left == right).count())
    }

    /// Whether at least `least_agreeing` features agree (the papers: 2 of 6). An empty set is
    /// nobody's copy, whatever the number.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made with other parameters or another seed.
    pub fn is_copy(&self, other: &Features, least_agreeing: usize) -> Result<bool, SketchError> {
        let agreeing = self.agreeing(other)?;
        Ok(!self.is_empty() && !other.is_empty() && agreeing >= least_agreeing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_set_has_no_features_and_is_nobodys_copy() {
        let maker = FeatureMaker::new(FeatureParams::default()).unwrap();
        let empty = maker.features(&[]);
        assert!(empty.is_empty() && empty.values().is_empty());
        assert!(!empty.is_copy(&empty, 0).unwrap());
        assert_eq!(empty.agreeing(&maker.features(&[1])).unwrap(), 0);
        assert_eq!(
            maker.min_values(&[]).estimate_resemblance(&maker.min_values(&[])).unwrap().value,
            0.0
        );
    }

    #[test]
    fn sizes_of_nothing_or_too_much_are_refused() {
        for (groups, group_size) in [(0, 14), (6, 0), (4097, 1), (1, 4097), (4096, 4096)] {
            let params = FeatureParams { groups, group_size, seed: Seed::default() };
            let refused = FeatureMaker::new(params);
            assert!(
                matches!(refused, Err(SketchError::OutOfRange { .. })),
                "{groups} {group_size}"
            );
        }
    }

    #[test]
    fn large_groups_are_fingerprinted_like_small_ones() {
        let params = FeatureParams { groups: 1, group_size: 100, seed: Seed::default() };
        let min_values = FeatureMaker::new(params).unwrap().min_values(&[1, 2, 3]);
        let bytes: Vec<u8> = min_values.values().iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(min_values.features().values(), [RABIN_64.fingerprint(&bytes)]);
    }
}
