//! For joins: a brute-force oracle in rational arithmetic and seeded generators.
//!
//! Nothing here uses `wonbon-join`: the oracle states the definitions again in their plainest
//! form, so that a mistake there cannot hide here.

pub mod oracle;
pub mod shapes;
