//! Super-shingles: a sketch of a sketch.
//!
//! Broder et al. 1997: the values of a sketch, in increasing order, are shingled again, by runs
//! of `run` neighbours, and each run is fingerprinted. Two sketches that share one super-shingle
//! have `run` neighbouring values in common, so the documents almost surely resemble each other:
//! one equal integer finds the pair, without counting shared shingles. As the paper says, they
//! work badly for short documents and cannot find containment.
//!
//! A sketch of fewer than `run` values, but not none, is one super-shingle.
//!
//! Cost: one 64-bit fingerprint of `8 run` bytes for each value of the sketch.

use crate::error::SketchError;
use crate::exact::count_shared;
use crate::modulus::ModulusSketch;
use crate::params::{SketchParams, check_range};
use crate::rabin::RABIN_64;
use crate::smallest::SmallestSketch;

/// A sketch whose values can be shingled again: made the same way for every set.
///
/// Scaled sketches are not here: at different moduli they have no runs in common.
pub trait Sample {
    /// How it was made.
    fn params(&self) -> SketchParams;
    /// The values in increasing order.
    fn values(&self) -> &[u64];
}

impl Sample for SmallestSketch {
    fn params(&self) -> SketchParams {
        self.params()
    }

    fn values(&self) -> &[u64] {
        self.values()
    }
}

impl Sample for ModulusSketch {
    fn params(&self) -> SketchParams {
        self.params()
    }

    fn values(&self) -> &[u64] {
        self.values()
    }
}

/// The largest number of values in one super-shingle.
const MOST_RUN: u64 = 1 << 16;

/// The super-shingles of a sketch: the fingerprints of its runs of `run` neighbouring values.
///
/// ```
/// use wonbon_sketch::{SmallestMaker, SmallestParams, sets, super_shingles};
/// let maker = SmallestMaker::new(SmallestParams { count: 100, ..Default::default() })?;
/// let left = super_shingles(&maker.sketch(&sets::elements(0..10_000)), 10)?;
/// let right = super_shingles(&maker.sketch(&sets::elements(100..10_100)), 10)?;
/// let other = super_shingles(&maker.sketch(&sets::elements(5_000..15_000)), 10)?;
/// assert!(left.shared(&right)? > 0);
/// assert_eq!(left.shared(&other)?, 0);
/// # Ok::<(), wonbon_sketch::SketchError>(())
/// ```
///
/// # Errors
///
/// [`SketchError::OutOfRange`] when `run` is 0 or too large.
pub fn super_shingles(sketch: &impl Sample, run: u32) -> Result<SuperShingles, SketchError> {
    SuperShingles::check_run(run)?;
    let mut bytes = Vec::new();
    let mut fingerprint = |run: &[u64]| {
        bytes.clear();
        bytes.extend(run.iter().flat_map(|value| value.to_le_bytes()));
        RABIN_64.fingerprint(&bytes)
    };
    let sampled = sketch.values();
    let mut values: Vec<u64> = if sampled.is_empty() {
        Vec::new()
    } else {
        sampled.windows(sampled.len().min(run as usize)).map(&mut fingerprint).collect()
    };
    values.sort_unstable();
    values.dedup();
    Ok(SuperShingles { run, of: sketch.params(), values })
}

/// The set of super-shingles of a sketch, in increasing order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SuperShingles {
    pub(crate) run: u32,
    pub(crate) of: SketchParams,
    pub(crate) values: Vec<u64>,
}

crate::accessors::values!(
    SuperShingles,
    u64,
    "The super-shingles in increasing order.",
    "Whether there are none: nothing was sampled."
);

impl SuperShingles {
    pub(crate) fn check_run(run: u32) -> Result<(), SketchError> {
        check_range("the number of values in a super-shingle", u64::from(run), 1, MOST_RUN)
    }

    /// How they were made.
    #[must_use]
    pub fn params(&self) -> SketchParams {
        SketchParams::SuperShingles { run: self.run, of: Box::new(self.of.clone()) }
    }

    /// How many super-shingles both have. One is enough to take the documents for alike.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when made from other sketches or by other runs.
    pub fn shared(&self, other: &SuperShingles) -> Result<usize, SketchError> {
        self.params().same_as(&other.params())?;
        Ok(count_shared(&self.values, &other.values))
    }
}
