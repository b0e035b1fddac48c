//! Min-values: the smallest image of a set under each of t linear permutations.
//!
//! An element is folded once to 32 bits by a seeded bijection and truncation (`mixing`), then
//! permutation i maps it to `a_i x + b_i mod 2^32`, `a_i` odd, both drawn from the seed. The
//! minimum over the set is the i-th min-value. Two sets agree in it with probability r.
//!
//! Why this family: linear maps modulo a power of two are the cheapest the CPU has lanes for
//! (one multiplication, one addition, one minimum), but alone they are not min-wise on
//! structured sets. On runs of consecutive integers, without the fold in front, the agreement
//! of min-values is off by 27 standard errors of 20,000 pairs, and by 17 with one
//! multiplication in place of the fold's two. With the fold `tests/curve.rs` finds nothing on
//! random or structured sets, nor did 400,000 pairs. It is paid once for an element, not once
//! for a permutation: 5 % of the time with AVX-512, 13 % with AVX2.
//!
//! Speed, million elements a second, one core of a 2-core Xeon with AVX-512, best of several
//! runs of `examples/permutation_speed.rs` on a busy machine:
//!
//! | | scalar | AVX2 | AVX-512 |
//! |---|---|---|---|
//! | 84 permutations, one long set | 30 | 167 | 241 |
//! | 84, sets of 300, features made | 29 | 150 | 200 |
//! | 128 permutations, one long set | 20 | 111 | 161 |
//! | 84, no fold (not usable) | 30 | 176 | 235 |
//! | 84, fold of one multiplication (not usable) | 30 | 164 | 231 |
//!
//! The last two rows and the 5 and 13 % are from one interleaved run, where the full fold
//! reached 224 and 155.
//!
//! Why 32 bits: half the lanes cost twice the time. Two sets of n elements share about
//! `n^2 / 2^32` folded values by accident: resemblance is off by 2e-6 at 20,000 elements, by
//! 0.002 at 20 million (a text of 100 MB).
//!
//! How: lanes run over *elements*, so t need not be a multiple of anything. Chunks of
//! [`CHUNK`] folded elements stay in the L1 cache while blocks of eight permutations, their
//! constants and running minima in registers, pass over them.
//!
//! Guarantee: scalar, AVX2 and AVX-512 paths give the same values. Not here: grouping into
//! features (`features`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::mixing::Fold32;
use crate::seed::{Purpose, Seed};
use std::fmt;

/// Folded elements handled at a time: 4 KB, well inside L1.
pub(crate) const CHUNK: usize = 1024;
/// Chunks are padded to whole vectors of the widest path.
const LANES: usize = 16;

/// Which instructions compute the min-values; every path gives the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermutationPath {
    /// Plain Rust; runs anywhere.
    Scalar,
    /// Eight lanes.
    Avx2,
    /// Sixteen lanes (needs the F and DQ parts of AVX-512).
    Avx512,
}

impl PermutationPath {
    /// The paths this CPU has, slowest first.
    #[must_use]
    pub fn available() -> Vec<PermutationPath> {
        [PermutationPath::Scalar, PermutationPath::Avx2, PermutationPath::Avx512]
            .into_iter()
            .filter(|path| Kernel::for_path(*path).is_some())
            .collect()
    }
}

impl fmt::Display for PermutationPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PermutationPath::Scalar => "scalar",
            PermutationPath::Avx2 => "AVX2",
            PermutationPath::Avx512 => "AVX-512",
        })
    }
}

/// The code of one path, with the proof that the CPU can run it.
#[derive(Debug, Clone, Copy)]
enum Kernel {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
}

impl Kernel {
    fn for_path(path: PermutationPath) -> Option<Self> {
        match path {
            PermutationPath::Scalar => Some(Kernel::Scalar),
            #[cfg(target_arch = "x86_64")]
            PermutationPath::Avx2 => avx2::Avx2::detect().map(Kernel::Avx2),
            #[cfg(target_arch = "x86_64")]
            PermutationPath::Avx512 => avx512::Avx512::detect().map(Kernel::Avx512),
            #[cfg(not(target_arch = "x86_64"))]
            PermutationPath::Avx2 | PermutationPath::Avx512 => None,
        }
    }

    fn best() -> Self {
        Self::for_path(PermutationPath::Avx512)
            .or_else(|| Self::for_path(PermutationPath::Avx2))
            .unwrap_or(Kernel::Scalar)
    }
}

/// t linear permutations drawn from a seed.
#[derive(Debug)]
pub(crate) struct Permutations {
    fold: Fold32,
    multipliers: Vec<u32>,
    addends: Vec<u32>,
    kernel: Kernel,
}

impl Permutations {
    pub(crate) fn new(seed: &Seed, count: usize) -> Self {
        Self::with_kernel(seed, count, Kernel::best())
    }

    /// As `new`, on a given path; `None` where the CPU lacks it.
    pub(crate) fn on_path(seed: &Seed, count: usize, path: PermutationPath) -> Option<Self> {
        Some(Self::with_kernel(seed, count, Kernel::for_path(path)?))
    }

    fn with_kernel(seed: &Seed, count: usize, kernel: Kernel) -> Self {
        let draw = |purpose| (0..count as u64).map(move |i| (seed.derive(purpose, i) >> 32) as u32);
        Self {
            fold: Fold32::new(seed),
            multipliers: draw(Purpose::Multiplier).map(|a| a | 1).collect(),
            addends: draw(Purpose::Addend).collect(),
            kernel,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.multipliers.len()
    }

    /// Lowers each minimum to the smallest image among `elements`.
    pub(crate) fn lower(&self, elements: &[u64], buffer: &mut ChunkBuffer, minima: &mut [u32]) {
        assert_eq!(minima.len(), self.count(), "one minimum for each permutation");
        for chunk in elements.chunks(CHUNK) {
            let folded = &mut buffer.0[..chunk.len().next_multiple_of(LANES)];
            let work = Work { multipliers: &self.multipliers, addends: &self.addends, minima };
            match self.kernel {
                Kernel::Scalar => {
                    fold_chunk(self.fold, chunk, folded);
                    lower_scalar(&folded[..chunk.len()], work);
                }
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx2(avx2) => avx2.lower(self.fold, chunk, folded, work),
                #[cfg(target_arch = "x86_64")]
                Kernel::Avx512(avx512) => avx512.lower(self.fold, chunk, folded, work),
            }
        }
    }
}

/// Room for one chunk of folded elements.
#[derive(Debug, Clone)]
pub(crate) struct ChunkBuffer(Box<[u32; CHUNK]>);

impl ChunkBuffer {
    pub(crate) fn new() -> Self {
        Self(Box::new([0; CHUNK]))
    }
}

/// The permutations and the minima they are to lower; three slices of one length.
struct Work<'a> {
    multipliers: &'a [u32],
    addends: &'a [u32],
    minima: &'a mut [u32],
}

impl<'a> Work<'a> {
    /// The first `N` permutations, and the rest; `None` when fewer are left.
    #[cfg(target_arch = "x86_64")]
    fn split<const N: usize>(self) -> Result<(Block<'a, N>, Work<'a>), Work<'a>> {
        let Some((multipliers, more_multipliers)) = self.multipliers.split_first_chunk() else {
            return Err(self);
        };
        let Some((addends, more_addends)) = self.addends.split_first_chunk() else {
            return Err(self);
        };
        if self.minima.len() < N {
            return Err(self);
        }
        let (minima, more_minima) = self.minima.split_at_mut(N);
        let rest =
            Work { multipliers: more_multipliers, addends: more_addends, minima: more_minima };
        Ok((Block { multipliers, addends, minima }, rest))
    }
}

/// `N` permutations small enough to be held in registers.
#[cfg(target_arch = "x86_64")]
struct Block<'a, const N: usize> {
    multipliers: &'a [u32; N],
    addends: &'a [u32; N],
    minima: &'a mut [u32],
}

/// Folds `chunk` into the front of `folded` and repeats the last value to fill it.
#[inline(always)]
fn fold_chunk(fold: Fold32, chunk: &[u64], folded: &mut [u32]) {
    let (front, padding) = folded.split_at_mut(chunk.len());
    for (value, element) in front.iter_mut().zip(chunk) {
        *value = fold.fold(*element);
    }
    if let Some(last) = front.last() {
        padding.fill(*last);
    }
}

fn lower_scalar(folded: &[u32], work: Work<'_>) {
    let permutations = work.multipliers.iter().zip(work.addends);
    for ((multiplier, addend), minimum) in permutations.zip(work.minima) {
        let images = folded.iter().map(|x| x.wrapping_mul(*multiplier).wrapping_add(*addend));
        *minimum = images.fold(*minimum, u32::min);
    }
}
