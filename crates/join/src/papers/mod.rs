//! The five algorithms that Park (2012) compares: AllPairs, PPJoin, PPJoin+, MPJoin and APJoin.
//!
//! They are here to be read, to repeat the paper's experiments (`wonbon join --algorithm ppjoin`) and
//! as an independent check of [`crate::auto`], which is the one to use. Each stands in a small file of
//! its own behind the [`Algorithm`](crate::Algorithm) trait; `inverted` is what they share.
//!
//! Cost: one thread, and an index of the whole input in memory.

mod allpairs;
mod apjoin;
mod inverted;
mod mpjoin;
mod ppjoin;
mod ppjoin_plus;
mod suffix;

pub use allpairs::AllPairs;
pub use apjoin::ApJoin;
pub use mpjoin::MpJoin;
pub use ppjoin::PpJoin;
pub use ppjoin_plus::PpJoinPlus;
