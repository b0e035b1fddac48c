//! Exact resemblance and containment, from the full sets.
//!
//! An [`ElementSet`] is a sorted list without repetitions; two of them are merged to count what
//! they share. When one is much larger, the elements of the small one are searched for in the
//! large one by doubling steps instead.
//!
//! Conventions: two empty sets have resemblance 0 (an empty document is nobody's copy), and an
//! empty set is contained in nothing: containment 0.
//!
//! Why the standard library's sort: a bucket pass by the high bits was measured at 0.7 to 1.2
//! times its speed on sets of 100 to 20,000 elements (1.7 at 100,000), and it needs a second
//! buffer and a way out for structured elements.
//!
//! Cost: sorting once, O(n log n); comparing O(n + m), or O(n log(m / n)) when n is small.

use crate::sets::Element;

/// When one set is this many times larger, searching beats merging.
const SEARCH_FROM_RATIO: usize = 16;

/// A set of elements: sorted, each once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ElementSet {
    elements: Vec<u64>,
}

impl ElementSet {
    /// The set of these elements, given in any order, repetitions allowed.
    #[must_use]
    pub fn new(mut elements: Vec<u64>) -> Self {
        elements.sort_unstable();
        elements.dedup();
        Self { elements }
    }

    /// The set of these things, each made an element by [`crate::sets`]. (Not for integers that
    /// are elements already: those go to [`ElementSet::new`].)
    pub fn of<T: Element>(things: impl IntoIterator<Item = T>) -> Self {
        Self::new(crate::sets::elements(things))
    }

    /// The elements in increasing order.
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.elements
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The elements as a list, for reuse of its memory.
    #[must_use]
    pub fn into_vec(self) -> Vec<u64> {
        self.elements
    }

    /// Compares with another set: everything exact follows from the three sizes.
    #[must_use]
    pub fn overlap(&self, other: &ElementSet) -> Overlap {
        Overlap {
            left: self.len(),
            right: other.len(),
            shared: count_shared(&self.elements, &other.elements),
        }
    }

    /// The part of the union that both have; 0 for two empty sets.
    #[must_use]
    pub fn resemblance(&self, other: &ElementSet) -> f64 {
        self.overlap(other).resemblance()
    }

    /// The part of this set that `other` has too; 0 when this set is empty.
    #[must_use]
    pub fn containment_in(&self, other: &ElementSet) -> f64 {
        self.overlap(other).left_in_right()
    }
}

/// The sizes of two sets and of what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Overlap {
    /// The size of the left set.
    pub left: usize,
    /// The size of the right set.
    pub right: usize,
    /// The size of their intersection.
    pub shared: usize,
}

impl Overlap {
    /// The size of the union.
    #[must_use]
    pub fn union(&self) -> usize {
        self.left + self.right - self.shared
    }

    /// Intersection over union; 0 for two empty sets.
    #[must_use]
    pub fn resemblance(&self) -> f64 {
        share(self.shared, self.union())
    }

    /// The part of the left set that the right one has too; 0 when the left is empty.
    #[must_use]
    pub fn left_in_right(&self) -> f64 {
        share(self.shared, self.left)
    }

    /// The part of the right set that the left one has too; 0 when the right is empty.
    #[must_use]
    pub fn right_in_left(&self) -> f64 {
        share(self.shared, self.right)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// How many values two strictly increasing lists share.
pub(crate) fn count_shared(left: &[u64], right: &[u64]) -> usize {
    let (small, large) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    if large.len() / SEARCH_FROM_RATIO > small.len() {
        count_by_search(small, large)
    } else {
        count_by_merge(small, large)
    }
}

/// Both places move without a branch on which value was smaller: on random values that branch
/// would be mispredicted every other time.
fn count_by_merge(left: &[u64], right: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        shared += usize::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    shared
}

fn count_by_search(small: &[u64], mut large: &[u64]) -> usize {
    let mut shared = 0;
    for value in small {
        // Double the step until the value is passed, then halve within the last step.
        let mut step = 1;
        while large.get(step).is_some_and(|probe| probe < value) {
            step *= 2;
        }
        let start = step / 2;
        let end = large.len().min(step + 1);
        large = &large[start + large[start..end].partition_point(|probe| probe < value)..];
        match large.first() {
            Some(found) => shared += usize::from(found == value),
            None => break,
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(elements: &[u64]) -> ElementSet {
        ElementSet::new(elements.to_vec())
    }

    #[test]
    fn equal_sets_have_resemblance_one() {
        assert_eq!(set(&[3, 1, 2]).resemblance(&set(&[2, 3, 1, 1])), 1.0);
    }

    #[test]
    fn empty_sets_resemble_and_contain_nothing() {
        let (empty, some) = (set(&[]), set(&[1]));
        assert_eq!(empty.resemblance(&empty), 0.0);
        assert_eq!(empty.containment_in(&empty), 0.0);
        assert_eq!(empty.containment_in(&some), 0.0);
        assert_eq!(some.containment_in(&empty), 0.0);
    }

    #[test]
    fn a_part_is_contained_in_the_whole() {
        let overlap = set(&[1, 2]).overlap(&set(&[0, 1, 2, 3]));
        assert_eq!(overlap.left_in_right(), 1.0);
        assert_eq!(overlap.right_in_left(), 0.5);
        assert_eq!(overlap.resemblance(), 0.5);
    }
}
