//! The ways to choose z of k features, and the key each of them makes.
//!
//! Two documents agree in at least z places exactly if they agree in all places of one of these
//! subsets; so "at least z of k" becomes that many exact look-ups. In the order of the papers:
//! (1,2), (1,3), ..., (5,6) for 2 of 6.

use crate::{IndexError, IndexParams};

/// More tables than this are refused: 4 bytes a document each.
pub(crate) const MOST_SUBSETS: usize = 256;

/// All subsets of z of k places, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subsets {
    /// The places of all subsets, one subset after another.
    places: Vec<usize>,
    size: usize,
}

impl Subsets {
    pub(crate) fn new(params: IndexParams) -> Result<Self, IndexError> {
        let IndexParams { features, agreeing } = params;
        let tables = binomial(features, agreeing);
        if !(1..=MOST_SUBSETS).contains(&tables) || agreeing == 0 {
            return Err(IndexError::Params { params, tables, most: MOST_SUBSETS });
        }
        let mut subset: Vec<usize> = (0..agreeing).collect();
        let mut places = Vec::with_capacity(tables * agreeing);
        loop {
            places.extend_from_slice(&subset);
            // The last place that can still move on; the ones behind it follow closely.
            let Some(moving) =
                (0..agreeing).rev().find(|&at| subset[at] < features - agreeing + at)
            else {
                return Ok(Subsets { places, size: agreeing });
            };
            subset[moving] += 1;
            for at in moving + 1..agreeing {
                subset[at] = subset[at - 1] + 1;
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() / self.size
    }

    pub(crate) fn get(&self, number: usize) -> &[usize] {
        &self.places[number * self.size..][..self.size]
    }
}

/// How many ways there are to choose; `usize::MAX` when there are too many to count.
fn binomial(n: usize, k: usize) -> usize {
    if k > n {
        return 0;
    }
    (1..=k.min(n - k))
        .try_fold(1_usize, |ways, step| Some(ways.checked_mul(n - step + 1)? / step))
        .unwrap_or(usize::MAX)
}

/// The key that a document's features make under a subset of the places. Features are fingerprints,
/// but agreeing ones come together, so they are mixed rather than added.
#[inline]
pub(crate) fn key(features: &[u64], subset: &[usize]) -> u64 {
    const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
    subset.iter().fold(ODD, |key, &place| {
        let product = u128::from(key ^ features[place]) * u128::from(ODD);
        (product as u64) ^ ((product >> 64) as u64) ^ key.rotate_left(27)
    })
}

/// Whether two documents agree in all places of a subset.
#[inline]
pub(crate) fn agree(left: &[u64], right: &[u64], subset: &[usize]) -> bool {
    subset.iter().all(|&place| left[place] == right[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_six_are_the_papers_fifteen_pairs_in_their_order() {
        let subsets = Subsets::new(IndexParams::default()).unwrap();
        let pairs: Vec<&[usize]> = (0..subsets.len()).map(|number| subsets.get(number)).collect();
        let mut expected = Vec::new();
        for first in 0..6 {
            for second in first + 1..6 {
                expected.push(vec![first, second]);
            }
        }
        assert_eq!(pairs, expected);
    }

    #[test]
    fn every_choice_is_made_once() {
        for features in 1..=8 {
            for agreeing in 1..=features {
                let subsets = Subsets::new(IndexParams { features, agreeing }).unwrap();
                let all: std::collections::BTreeSet<&[usize]> =
                    (0..subsets.len()).map(|number| subsets.get(number)).collect();
                assert_eq!(all.len(), binomial(features, agreeing));
                assert!(all.iter().all(|subset| subset.windows(2).all(|two| two[0] < two[1])));
                assert!(all.iter().all(|subset| subset.iter().all(|&place| place < features)));
            }
        }
    }

    #[test]
    fn useless_and_enormous_choices_are_refused() {
        for (features, agreeing) in [(6, 0), (0, 0), (3, 4), (40, 20), (1000, 500)] {
            let error = Subsets::new(IndexParams { features, agreeing }).unwrap_err();
            assert!(matches!(error, IndexError::Params { .. }));
        }
    }
}
