//! Pairs of sets with an exact resemblance, from random and from structured elements.

use std::collections::HashSet;

/// Seeded pseudo-random numbers (splitmix64).
#[derive(Debug, Clone)]
pub struct Numbers(pub u64);

impl Numbers {
    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = self.0;
        let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    }

    /// The next number, below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.draw() % limit
    }
}

/// Where elements come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Random 64-bit values.
    Random,
    /// Consecutive integers from a random place, as they are.
    Consecutive,
    /// Consecutive integers from a random place, as elements made by `sets`.
    ConsecutiveThings,
    /// Shingles of five words, each word a number below 5,000, combined as the polynomial
    /// `sum word * 31^i`: overlapping, all from a range of 33 bits.
    Polynomial,
}

/// Two sets of which everything is known.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The left set, each element once.
    pub left: Vec<u64>,
    /// The right set, each element once.
    pub right: Vec<u64>,
    /// How many elements they share.
    pub shared: usize,
    /// The size of the union.
    pub union: usize,
}

impl Pair {
    /// Intersection over union.
    pub fn resemblance(&self) -> f64 {
        self.shared as f64 / self.union as f64
    }
}

/// A pair that shares exactly `percent` of a union of `union` elements. A quarter of what is
/// not shared is the left set's own, so that the two containments differ. Elements stand in
/// the order of their source: the left set begins it, the right set ends it.
///
/// # Panics
///
/// When `percent` of `union` is no whole number.
pub fn pair(source: Source, union: usize, percent: usize, numbers: &mut Numbers) -> Pair {
    assert_eq!(union * percent % 100, 0, "the resemblance must be exact");
    let elements = distinct_elements(source, union, numbers);
    let shared = union * percent / 100;
    let left_only = (union - shared) / 4;
    Pair {
        left: elements[..left_only + shared].to_vec(),
        right: elements[left_only..].to_vec(),
        shared,
        union,
    }
}

fn distinct_elements(source: Source, count: usize, numbers: &mut Numbers) -> Vec<u64> {
    let start = numbers.below(1 << 40);
    let mut seen = HashSet::new();
    let mut elements = Vec::with_capacity(count);
    let mut words = [(); 5].map(|()| numbers.below(5_000));
    while elements.len() < count {
        let element = match source {
            Source::Random => numbers.draw(),
            Source::Consecutive => start + elements.len() as u64,
            Source::ConsecutiveThings => {
                wonbon_sketch::sets::Element::element(&(start + elements.len() as u64))
            }
            Source::Polynomial => {
                words.rotate_left(1);
                words[4] = numbers.below(5_000);
                words.iter().fold(0, |sum, word| sum * 31 + word)
            }
        };
        // Runs cannot repeat, and remembering costs more than all the sketches of a pair.
        let is_run = matches!(source, Source::Consecutive | Source::ConsecutiveThings);
        if is_run || seen.insert(element) {
            elements.push(element);
        }
    }
    elements
}
