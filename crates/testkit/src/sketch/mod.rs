//! Oracles and generators for `wonbon-sketch`, written from docs/formats.md and the papers, not
//! from the code they check.

mod min_values;
mod pairs;
mod rabin;
mod samples;

pub use min_values::{slow_derive, slow_features, slow_min_values};
pub use pairs::{Numbers, Pair, Source, pair};
pub use rabin::{is_irreducible, slow_rabin};
pub use samples::{
    slow_containment, slow_modulus, slow_permuted_40, slow_permuted_64, slow_resemblance,
    slow_scaled, slow_smallest, slow_super_shingles,
};
