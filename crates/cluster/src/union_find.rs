//! Union-find: the connected components of documents that are linked by pairs.
//!
//! Union by making the smaller number the root, with path halving: the root of a component is its
//! first document, whatever the order of the pairs, so results do not depend on it.
//!
//! Cost: four bytes a document, a few memory reads a pair.

/// Components of the numbers below a limit.
#[derive(Clone, Debug)]
pub(crate) struct UnionFind {
    parents: Vec<u32>,
}

impl UnionFind {
    /// Every number alone.
    #[must_use]
    pub(crate) fn new(count: u32) -> Self {
        UnionFind { parents: (0..count).collect() }
    }

    /// The smallest number of the component.
    pub(crate) fn root(&mut self, mut number: u32) -> u32 {
        while self.parents[number as usize] != number {
            let above = self.parents[self.parents[number as usize] as usize];
            self.parents[number as usize] = above;
            number = above;
        }
        number
    }

    /// Joins two components; returns whether they were two.
    pub(crate) fn join(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        if one == other {
            return false;
        }
        self.parents[one.max(other) as usize] = one.min(other);
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wonbon_testkit::cluster::components;

    use super::*;

    proptest! {
        #[test]
        fn roots_are_the_first_of_their_component(
            pairs in prop::collection::vec((0_u32..60, 0_u32..60), 0..80),
        ) {
            let mut found = UnionFind::new(60);
            for &(one, other) in &pairs {
                found.join(one, other);
            }
            let expected = components(60, &pairs);
            for number in 0..60 {
                prop_assert_eq!(found.root(number), expected[number as usize]);
            }
        }
    }
}
