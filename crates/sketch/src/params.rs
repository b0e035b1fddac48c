//! How a sketch was made, as it is stored, compared and named in messages.
//!
//! The seed itself is never here, only its fingerprint.

use crate::error::SketchError;
use crate::seed::SeedFingerprint;
use std::fmt;

/// The kinds of sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SketchKind {
    /// [`crate::Features`].
    Features,
    /// [`crate::MinValues`].
    MinValues,
    /// [`crate::SmallestSketch`].
    Smallest,
    /// [`crate::ModulusSketch`].
    Modulus,
    /// [`crate::ScaledSketch`].
    Scaled,
    /// [`crate::SuperShingles`].
    SuperShingles,
}

impl fmt::Display for SketchKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SketchKind::Features => "features",
            SketchKind::MinValues => "min-values",
            SketchKind::Smallest => "a smallest-s sketch",
            SketchKind::Modulus => "a modulus sketch",
            SketchKind::Scaled => "a scaled modulus sketch",
            SketchKind::SuperShingles => "super-shingles",
        })
    }
}

/// The width of the fingerprints a sample is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Width {
    /// 40 bits, as in the 1997 paper: five bytes a value; two of a million different elements
    /// share a value with probability 0.37.
    Bits40,
    /// 64 bits; a million different elements are all different with probability 1 - 3e-8.
    #[default]
    Bits64,
}

impl Width {
    /// The number of bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Width::Bits40 => 40,
            Width::Bits64 => 64,
        }
    }

    /// The largest value of this width.
    #[must_use]
    pub const fn largest(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// Everything that decides what is in a sketch, and the name of its seed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SketchParams {
    /// Min-values fingerprinted in groups.
    Features {
        /// Number of features.
        groups: u16,
        /// Min-values in each.
        group_size: u16,
        /// Names the seed.
        seed: SeedFingerprint,
    },
    /// The min-values themselves.
    MinValues {
        /// Number of features they can be grouped to.
        groups: u16,
        /// Min-values in each.
        group_size: u16,
        /// Names the seed.
        seed: SeedFingerprint,
    },
    /// The smallest permuted values.
    Smallest {
        /// How many are kept.
        count: u32,
        /// Names the seed.
        seed: SeedFingerprint,
    },
    /// The permuted values divisible by a modulus.
    Modulus {
        /// The modulus.
        modulus: u64,
        /// The width of the values.
        width: Width,
        /// Names the seed.
        seed: SeedFingerprint,
    },
    /// The permuted values divisible by a power of `base` that grows with the set.
    Scaled {
        /// Moduli are powers of this.
        base: u32,
        /// The most values to be expected in a sketch.
        most: u32,
        /// The width of the values.
        width: Width,
        /// Names the seed.
        seed: SeedFingerprint,
    },
    /// Runs of a sketch's values.
    SuperShingles {
        /// How many values make one super-shingle.
        run: u32,
        /// How the sketch underneath was made.
        of: Box<SketchParams>,
    },
}

impl SketchParams {
    /// The kind of sketch.
    #[must_use]
    pub fn kind(&self) -> SketchKind {
        match self {
            SketchParams::Features { .. } => SketchKind::Features,
            SketchParams::MinValues { .. } => SketchKind::MinValues,
            SketchParams::Smallest { .. } => SketchKind::Smallest,
            SketchParams::Modulus { .. } => SketchKind::Modulus,
            SketchParams::Scaled { .. } => SketchKind::Scaled,
            SketchParams::SuperShingles { .. } => SketchKind::SuperShingles,
        }
    }

    /// The name of the seed.
    #[must_use]
    pub fn seed(&self) -> SeedFingerprint {
        match self {
            SketchParams::Features { seed, .. }
            | SketchParams::MinValues { seed, .. }
            | SketchParams::Smallest { seed, .. }
            | SketchParams::Modulus { seed, .. }
            | SketchParams::Scaled { seed, .. } => *seed,
            SketchParams::SuperShingles { of, .. } => of.seed(),
        }
    }

    /// Fine when equal, otherwise the error that names both.
    ///
    /// # Errors
    ///
    /// [`SketchError::ParamsMismatch`] when they differ.
    pub fn same_as(&self, other: &SketchParams) -> Result<(), SketchError> {
        if self == other {
            Ok(())
        } else {
            Err(SketchError::ParamsMismatch { left: self.clone(), right: other.clone() })
        }
    }
}

impl fmt::Display for SketchParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SketchParams::Features { groups, group_size, .. } => {
                write!(f, "{groups} features of {group_size} min-values")?;
            }
            SketchParams::MinValues { groups, group_size, .. } => {
                write!(f, "{groups} x {group_size} min-values")?;
            }
            SketchParams::Smallest { count, .. } => write!(f, "the smallest {count} values")?,
            SketchParams::Modulus { modulus, width, .. } => {
                write!(f, "the {}-bit values divisible by {modulus}", width.bits())?;
            }
            SketchParams::Scaled { base, most, width, .. } => {
                let bits = width.bits();
                write!(f, "about {most} {bits}-bit values divisible by a power of {base}")?;
            }
            SketchParams::SuperShingles { run, of } => {
                return write!(f, "super-shingles of {run} among {of}");
            }
        }
        write!(f, " (seed {})", self.seed())
    }
}

/// Checks a parameter against its limits.
pub(crate) fn check_range(
    what: &'static str,
    got: u64,
    least: u64,
    most: u64,
) -> Result<(), SketchError> {
    if (least..=most).contains(&got) {
        Ok(())
    } else {
        Err(SketchError::OutOfRange { what, least, most, got })
    }
}
