//! Which documents share shingles with a text: an inverted index of <shingle, document>.
//!
//! Broder et al. 1997 sort all pairs of a shingle's value and a document to find what shares what.
//! Here the pairs are kept sorted while documents are added and removed. A document is indexed by its modulus sketch
//! ([`ShingleSampler`]): one shingle in eight of a long document, all of a short one. A query uses every shingle of its
//! text, so only one side is sampled, and a quoted paragraph is found anywhere in a document.
//!
//! How: pairs live in immutable segments ([`Segment`]): the newest in memory, older ones in files that
//! are mapped, each about twice as large as all newer ones together. A document in a newer segment hides
//! the same row in older ones; a deleted one is there without shingles. Merging drops what is hidden.
//!
//! Cost: 7 bytes a pair on disk, with the tables; memory for pairs that were not written yet and what
//! the system keeps of the files. An answer reads one bucket of about 32 pairs for each shingle and
//! segment, 0.2 to 0.5 microseconds, and no more than [`POSTING_BUDGET`] bytes beyond that: the rarest
//! shingles first, the commonest not at all, as in the paper.
//!
//! The index is derived data: it can be rebuilt from the texts, and callers verify its answers.

mod candidates;
mod files;
mod index;
mod mapped;
mod merge;
mod sampler;
mod segment;

pub use candidates::{Candidate, Found, POSTING_BUDGET};
pub use index::{OpenedShingles, ShingleIndex, ShingleReader};
pub use sampler::{MOST_LEVEL, ShingleSampler, ShingleSketch, level_of};
pub use segment::Segment;
