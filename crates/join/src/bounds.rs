//! Per-size tables of everything the filters need: the paper's idea of computing bounds once
//! per size instead of once per pair.
//!
//! All algorithms walk the records by ascending size and look back: a *probe* of size `x` meets
//! *indexed* records of size `y <= x`. For that order every needed fact follows from
//! [`Measure::required_overlap`], which grows with either size:
//!
//! - the smallest partner of `x`: the least `y` with `required(x, y) <= y`;
//! - the probe prefix: `x - required(x, smallest partner) + 1` tokens (paper, equation 5);
//! - the index prefix: `y - required(y, y) + 1` tokens (paper, equation 6);
//! - one row of required overlaps per probe size, indexed by partner size (equations 2 to 4).
//!
//! In a join of two files records of both files are walked together, each probing the other
//! file's index, so the same tables serve; only containment asks which side the probe is on.
//!
//! A collection keeps equal sets of one file once, so in a self join a pair of equal sizes never
//! shares all tokens. [`Bounds::of_distinct`] knows that: where equal sizes would have to, they
//! cannot pair, and small sets at high thresholds mostly cannot pair at all (at Jaccard 0.95 no
//! set below 19 tokens can). The paper's algorithms do without.
//!
//! Cost: three words a size and side, a row of at most `x` words while probes of size `x` are
//! processed.

use crate::collection::{Collection, Side};
use crate::measure::{Measure, PairSizes};
use crate::threshold::Threshold;

/// Tables for one collection, measure and threshold.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    measure: Measure,
    threshold: Threshold,
    two_sides: bool,
    /// Whether a pair of equal sizes differs for sure.
    distinct: bool,
    smallest_partner: [Vec<u32>; 2],
    probe_prefix: [Vec<u32>; 2],
    index_prefix: [Vec<u32>; 2],
}

impl Bounds {
    /// Tables for every size up to the largest in the collection.
    #[must_use]
    pub(crate) fn new(collection: &Collection, measure: Measure, threshold: Threshold) -> Self {
        let sides = collection.has_two_sides();
        Self::for_sizes(collection.largest_size(), sides, false, (measure, threshold))
    }

    /// The same, knowing that records of one file differ.
    #[must_use]
    pub(crate) fn of_distinct(
        collection: &Collection,
        measure: Measure,
        threshold: Threshold,
    ) -> Self {
        let sides = collection.has_two_sides();
        Self::for_sizes(collection.largest_size(), sides, !sides, (measure, threshold))
    }

    /// Tables for every size up to `largest`.
    fn for_sizes(
        largest: u32,
        two_sides: bool,
        distinct: bool,
        (measure, threshold): (Measure, Threshold),
    ) -> Self {
        let mut bounds = Self {
            measure,
            threshold,
            two_sides,
            distinct,
            smallest_partner: Default::default(),
            probe_prefix: Default::default(),
            index_prefix: Default::default(),
        };
        let sides = if two_sides { &[Side::Left, Side::Right][..] } else { &[Side::Left] };
        for &side in sides {
            let mut table = Vec::with_capacity(largest as usize + 1);
            table.push(1);
            for size in 1..=largest {
                // Never falls, so all sizes together take as many steps as there are sizes.
                let mut partner = table[size as usize - 1];
                let required = |partner| {
                    measure.required_overlap(threshold, bounds.pair_sizes(side, size, partner))
                };
                while partner <= size && required(partner) > partner {
                    partner += 1;
                }
                table.push(partner);
            }
            let probe_side = if two_sides { side.other() } else { side };
            bounds.probe_prefix[side as usize] = (0..=largest)
                .map(|size| {
                    let partner = table[size as usize];
                    if partner > size {
                        return 0;
                    }
                    (size + 1).saturating_sub(bounds.required(side, size, partner))
                })
                .collect();
            bounds.index_prefix[side as usize] = (0..=largest)
                .map(|size| {
                    // Where no set of this size can look, the next larger ones still can.
                    let equal = bounds.required(probe_side, size, size);
                    let larger = bounds.required(probe_side, size + 1, size);
                    (size + 1).saturating_sub(equal.min(larger))
                })
                .collect();
            bounds.smallest_partner[side as usize] = table;
        }
        bounds
    }

    /// The sizes of a pair as the measure wants them.
    #[must_use]
    pub(crate) fn pair_sizes(&self, probe_side: Side, probe: u32, indexed: u32) -> PairSizes {
        if self.two_sides && probe_side == Side::Left {
            PairSizes { reference: probe, other: indexed }
        } else {
            PairSizes { reference: indexed, other: probe }
        }
    }

    /// Shared tokens that a probe and an indexed record of these sizes need; more than there are
    /// where they cannot pair.
    #[must_use]
    pub(crate) fn required(&self, probe_side: Side, probe: u32, indexed: u32) -> u32 {
        let sizes = self.pair_sizes(probe_side, probe, indexed);
        let required = self.measure.required_overlap(self.threshold, sizes);
        let equal_sets = self.distinct && probe == indexed && required == probe;
        required + u32::from(equal_sets)
    }

    /// The least size, up to the probe's own, with which a probe can pair, if equal sets can; one
    /// more than the probe's size when there is none. Never falls with the probe's size.
    #[must_use]
    pub(crate) fn smallest_partner(&self, probe_side: Side, probe: u32) -> u32 {
        self.smallest_partner[probe_side as usize][probe as usize]
    }

    /// How many of its rarest tokens a probe of this size must look up: none where no earlier
    /// record can be its partner.
    #[must_use]
    #[inline]
    pub(crate) fn probe_prefix(&self, side: Side, size: u32) -> u32 {
        self.probe_prefix[side as usize][size as usize]
    }

    /// How many of its rarest tokens a record of this size must have in the index, given that
    /// only records of its size or larger will look: none where none of them can be its partner.
    #[must_use]
    #[inline]
    pub(crate) fn index_prefix(&self, side: Side, size: u32) -> u32 {
        self.index_prefix[side as usize][size as usize]
    }
}

/// Required overlaps of one probe size with each partner size from the smallest up to its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    probe: Option<(Side, u32)>,
    smallest: u32,
    required: Vec<u32>,
    most_different: Vec<u32>,
}

impl Row {
    /// Fills the row for a probe, unless it holds that size already.
    pub(crate) fn prepare(&mut self, bounds: &Bounds, side: Side, size: u32) {
        if self.probe == Some((side, size)) {
            return;
        }
        self.probe = Some((side, size));
        self.smallest = bounds.smallest_partner(side, size);
        self.required.clear();
        self.most_different.clear();
        let mut most = 0;
        for partner in self.smallest..=size {
            let required = bounds.required(side, size, partner);
            self.required.push(required);
            most = most.max((size + partner).saturating_sub(2 * required));
            self.most_different.push(most);
        }
    }

    /// The least partner size of the row.
    #[must_use]
    pub(crate) fn smallest(&self) -> u32 {
        self.smallest
    }

    /// Shared tokens needed with a partner of this size.
    ///
    /// # Panics
    /// For sizes outside the window.
    #[must_use]
    #[inline]
    pub(crate) fn required(&self, partner: u32) -> u32 {
        self.required[(partner - self.smallest) as usize]
    }

    /// In how many tokens the probe and any partner up to this size may differ.
    ///
    /// # Panics
    /// For sizes outside the window.
    #[must_use]
    #[inline]
    pub(crate) fn most_different(&self, partner: u32) -> u32 {
        self.most_different[(partner - self.smallest) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::MEASURES;

    #[test]
    fn smallest_partner_and_prefixes_agree_with_trying_every_size() {
        for measure in MEASURES {
            for (n, d) in [(1, 10), (1, 2), (3, 5), (4, 5), (17, 20), (9, 10), (1, 1)] {
                let threshold = if measure == Measure::Overlap {
                    Threshold::new(n + 2, 1).unwrap()
                } else {
                    Threshold::new(n, d).unwrap()
                };
                for (two_sides, distinct) in [(false, false), (false, true), (true, false)] {
                    let bounds = Bounds::for_sizes(60, two_sides, distinct, (measure, threshold));
                    let sides = if two_sides { 2 } else { 1 };
                    for side in [Side::Left, Side::Right].into_iter().take(sides) {
                        for size in 1..=60 {
                            let pairs = |x, y| {
                                let sizes = bounds.pair_sizes(side, x, y);
                                let most = if distinct && x == y { y - 1 } else { y };
                                measure.required_overlap(threshold, sizes) <= most
                            };
                            let feasible: Vec<u32> = (1..=size)
                                .filter(|&y| bounds.required(side, size, y) <= y)
                                .collect();
                            assert!(
                                feasible.iter().copied().eq((1..=size).filter(|&y| pairs(size, y)))
                            );
                            let partner = bounds.smallest_partner(side, size);
                            match feasible.first() {
                                Some(&first) => assert_eq!(partner, first),
                                None => assert!(partner >= size),
                            }
                            let prefix = feasible
                                .iter()
                                .map(|&y| size + 1 - bounds.required(side, size, y))
                                .max();
                            assert_eq!(bounds.probe_prefix(side, size), prefix.unwrap_or(0));
                            let probe_side = if two_sides { side.other() } else { side };
                            let indexed = (size..=61)
                                .map(|x| {
                                    (size + 1).saturating_sub(bounds.required(probe_side, x, size))
                                })
                                .max();
                            assert_eq!(Some(bounds.index_prefix(side, size)), indexed);
                        }
                    }
                }
            }
        }
    }

    /// Table 1 of the paper: prefix sizes at t 0.8 around size 12.
    #[test]
    fn prefixes_equal_table_1_of_the_paper() {
        let threshold = "0.8".parse().unwrap();
        let bounds = Bounds::for_sizes(15, false, false, (Measure::Jaccard, threshold));
        let prefixes = |x: u32, y: u32| {
            let required = bounds.required(Side::Left, x, y);
            (required, x + 1 - required, y + 1 - required)
        };
        assert_eq!(prefixes(12, 12), (11, 2, 2));
        assert_eq!(prefixes(12, 11), (11, 2, 1));
        assert_eq!(prefixes(12, 10), (10, 3, 1));
        assert_eq!(prefixes(13, 12), (12, 2, 1));
        assert_eq!(prefixes(14, 12), (12, 3, 1));
        assert_eq!(prefixes(15, 12), (12, 4, 1));
        assert_eq!(bounds.index_prefix(Side::Left, 12), 2);
        assert_eq!(bounds.smallest_partner(Side::Left, 12), 10);
    }

    #[test]
    fn small_distinct_sets_cannot_pair_at_high_thresholds() {
        let at = (Measure::Jaccard, "0.95".parse().unwrap());
        let bounds = Bounds::for_sizes(40, false, true, at);
        let prefixes =
            |size| (bounds.probe_prefix(Side::Left, size), bounds.index_prefix(Side::Left, size));
        // 19 of 20 is the first pair; two sets of 39 can share 38.
        assert_eq!([18, 19, 20, 38, 39].map(prefixes), [(0, 0), (0, 1), (2, 1), (2, 1), (2, 2)]);
    }
}
