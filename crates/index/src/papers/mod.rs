//! The three indexes of Lee, Lee and Kim ("블로그 서비스 시스템을 위한 효과적인 중복문서의 검출 기법",
//! 2010, section 3.3), on real paged trees: SQLite's B-trees and its R*-tree module.
//!
//! | index | trees | asked in this order, until an original is found |
//! |---|---|---|
//! | [`B6D1`] | six B-trees, one for each feature | tree 1 to 6; each list is compared with all lists before it |
//! | [`R15D2`] | fifteen R*-trees of points `(f_i, f_j)` | (1,2), (1,3), ..., (5,6) |
//! | [`R1D3`] | one R*-tree of points `(number of the pair, f_i, f_j)` | the same fifteen points |
//!
//! They are here to repeat the papers' experiments and to be compared with; Wonbon itself uses
//! [`crate::MemoryIndex`]. They answer only the papers' 2 of 6.
//!
//! A coordinate has 32 bits, as in the papers; a feature has 64. The trees hold the low half of each
//! feature, which misses no original; what they find is compared with the whole features, kept in a
//! table of their own, before it counts. Pages have 1,024 bytes, as in the papers; accesses are
//! counted by SQLite, and those of the comparison are distinguished, because the papers had none.
//!
//! Cost: see `docs/papers-indexes.md`, with measurements.
//!
//! Guarantees: answers from a sound file are exact. An insertion or removal is one transaction of
//! SQLite with its rollback journal. The file is one program's at a time. A file of something else is
//! refused when it is opened, a damaged page when SQLite stumbles over it; [`SqliteIndex::verify`]
//! reads everything and compares it.
//!
//! Not here: forced reinsertion, the part of the R*-tree that SQLite's module leaves out.

mod b6d1;
mod file;
mod page_counter;
mod r15d2;
mod r1d3;
mod sqlite_index;
mod trees;

pub use b6d1::SixBTrees;
pub use r1d3::OneRTree;
pub use r15d2::FifteenRTrees;
pub use sqlite_index::SqliteIndex;
pub use trees::Trees;

/// Six B-trees of one dimension.
///
/// ```
/// use wonbon_index::papers::B6D1;
/// use wonbon_index::{CopyIndex, IndexParams, Row};
/// let mut index = B6D1::temporary(IndexParams::default())?;
/// index.insert(Row(7), &[1, 2, 3, 4, 5, 6])?;
/// assert_eq!(index.first_match(&[9, 2, 9, 9, 5, 9])?.unwrap().row, Row(7));
/// # Ok::<(), wonbon_index::IndexError>(())
/// ```
pub type B6D1 = SqliteIndex<SixBTrees>;
/// Fifteen R*-trees of two dimensions.
pub type R15D2 = SqliteIndex<FifteenRTrees>;
/// One R*-tree of three dimensions.
pub type R1D3 = SqliteIndex<OneRTree>;

/// k: the papers' six features.
const FEATURES: usize = 6;
/// The papers' fifteen pairs of places, in their order.
const PAIRS: [(usize, usize); 15] = pairs();

/// The features of one original.
type Six = [u64; FEATURES];

const fn pairs() -> [(usize, usize); 15] {
    let mut pairs = [(0, 0); 15];
    let (mut number, mut first) = (0, 0);
    while first < FEATURES {
        let mut second = first + 1;
        while second < FEATURES {
            pairs[number] = (first, second);
            number += 1;
            second += 1;
        }
        first += 1;
    }
    pairs
}

/// Where a feature stands in a tree: equal features at the same place, different ones at different
/// places but for one chance in 2^32.
fn coordinate(feature: u64) -> i32 {
    feature as u32 as i32
}
