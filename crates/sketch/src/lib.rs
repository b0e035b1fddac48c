//! Fingerprints, permutations, features, sketches and estimators for sets.
//!
//! A document arrives as the set of its shingle hashes, or anything else as a set of elements
//! ([`sets`]): 64-bit integers in any order. From them this crate makes
//!
//! | what | kept | says |
//! |---|---|---|
//! | [`Features`] | k integers (6) | whether it is a copy: at least z of k agree |
//! | [`MinValues`] | t small integers (84) | resemblance |
//! | [`ElementSet`] | everything | resemblance and containment, exactly |
//!
//! Everything drawn at random is drawn from a [`Seed`], published or secret. What was made with
//! other parameters or another seed refuses to be compared. Estimates carry their standard
//! errors. Nothing here knows about text, files or threads.

pub mod exact;
pub mod rabin;
pub mod sets;

mod error;
mod estimate;
mod features;
mod mixing;
mod params;
mod permutations;
mod probability;
mod seed;
mod siphash;

pub use error::SketchError;
pub use estimate::{Estimate, containments_from_resemblance};
pub use exact::{ElementSet, Overlap};
pub use features::{FeatureMaker, FeatureParams, Features, FeaturesBuilder, MinValues};
pub use mixing::finalise;
pub use params::{SketchKind, SketchParams, Width};
pub use permutations::Path;
pub use probability::copy_probability;
pub use seed::{Seed, SeedFingerprint};
