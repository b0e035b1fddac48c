//! Fingerprints, permutations, features, sketches and estimators for sets.
//!
//! A document arrives as the set of its shingle hashes, or anything else as a set of elements
//! ([`sets`]): 64-bit integers in any order. From them this crate makes
//!
//! | what | kept | says |
//! |---|---|---|
//! | [`Features`] | k integers (6) | whether it is a copy: at least z of k agree |
//! | [`MinValues`] | t small integers (84) | resemblance |
//! | [`SmallestSketch`] | the s smallest values | resemblance |
//! | [`ModulusSketch`] | one value in m | resemblance, both containments |
//! | [`ScaledSketch`] | 50 to 100 values | the same, between sets of very different size |
//! | [`SuperShingles`] | runs of a sketch | whether two sketches share a run |
//! | [`ElementSet`] | everything | resemblance and containment, exactly |
//!
//! Everything drawn at random is drawn from a [`Seed`], published or secret. What was made with
//! other parameters or another seed refuses to be compared. Estimates carry their standard
//! errors. Every sketch can be written as bytes and read again ([`Sketch`]). Nothing here knows about text, files or threads.

#![warn(unreachable_pub)]

pub mod exact;
pub mod rabin;
pub mod sets;

mod accessors;
mod distinct;
mod error;
mod estimate;
mod features;
mod format;
mod mixing;
mod modulus;
mod params;
mod permutations;
mod probability;
mod scaled;
mod seed;
mod siphash;
mod smallest;
mod super_shingles;

pub use distinct::{Distinct, DistinctCounter};
pub use error::SketchError;
pub use estimate::{Estimate, containments_from_resemblance};
pub use exact::{ElementSet, Overlap};
pub use features::{FeatureMaker, FeatureParams, Features, FeaturesBuilder, MinValues};
pub use format::Sketch;
pub use mixing::finalise;
pub use modulus::{ModulusBuilder, ModulusMaker, ModulusParams, ModulusSketch};
pub use params::{SketchKind, SketchParams, Width};
pub use permutations::PermutationPath;
pub use probability::copy_probability;
pub use scaled::{ScaledMaker, ScaledParams, ScaledSketch};
pub use seed::{Seed, SeedFingerprint};
pub use smallest::{SmallestBuilder, SmallestMaker, SmallestParams, SmallestSketch};
pub use super_shingles::{Sample, SuperShingles, super_shingles};
