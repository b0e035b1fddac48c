//! An in-memory index of copies by their features, used only when an original arrives late.
//!
//! A document that becomes an original although later documents are stored may be the better original for
//! some of their copies. Finding those copies needs an index of copies. It differs from the index of
//! originals: thousands of copies of one document share nearly all features, so each feature value has a
//! linked list of the copies that have it, and an insert prepends to the list. The index is not durable, and
//! a store whose documents arrive in the order of creation never builds it.
//!
//! Cost: 12 bytes per feature and copy, and 12 per list head; an insert is O(k); a query walks the lists of
//! k features.

use std::collections::HashMap;

use wonbon_index::Row;

/// No copy.
const END: u32 = u32::MAX;

/// Copies by their features.
#[derive(Debug)]
pub(crate) struct CopyFeatures {
    count: usize,
    /// For each feature's place and value, the newest slot that has it.
    heads: Vec<HashMap<u64, u32>>,
    /// The features of slot after slot.
    features: Vec<u64>,
    /// For each feature of each slot, the next slot that has the same.
    next: Vec<u32>,
    /// The row of each slot; `None` when the copy is gone.
    rows: Vec<Option<Row>>,
    slots: HashMap<Row, u32>,
}

impl CopyFeatures {
    /// Of documents with `count` features.
    pub(crate) fn new(count: usize) -> Self {
        CopyFeatures {
            count,
            heads: vec![HashMap::new(); count],
            features: Vec::new(),
            next: Vec::new(),
            rows: Vec::new(),
            slots: HashMap::new(),
        }
    }

    pub(crate) fn insert(&mut self, row: Row, features: &[u64]) {
        self.remove(row);
        let slot = u32::try_from(self.rows.len()).expect("fewer slots than rows");
        self.rows.push(Some(row));
        self.features.extend_from_slice(features);
        for (heads, &feature) in self.heads.iter_mut().zip(features) {
            self.next.push(heads.insert(feature, slot).unwrap_or(END));
        }
        self.slots.insert(row, slot);
    }

    /// Forgets a copy, if it is indexed. When half of the slots are gone, the rest moves together.
    pub(crate) fn remove(&mut self, row: Row) {
        let Some(slot) = self.slots.remove(&row) else { return };
        self.rows[slot as usize] = None;
        if self.rows.len() > 1024 && self.slots.len() * 2 < self.rows.len() {
            let mut smaller = CopyFeatures::new(self.count);
            for (features, row) in self.features.chunks_exact(self.count).zip(&self.rows) {
                if let Some(row) = row {
                    smaller.insert(*row, features);
                }
            }
            *self = smaller;
        }
    }

    /// The copies that agree in at least `agreeing` files.
    pub(crate) fn matches(&self, features: &[u64], agreeing: usize) -> Vec<Row> {
        let mut found: HashMap<u32, usize> = HashMap::new();
        for (place, (heads, feature)) in self.heads.iter().zip(features).enumerate() {
            let mut slot = heads.get(feature).copied().unwrap_or(END);
            while slot != END {
                *found.entry(slot).or_default() += 1;
                slot = self.next[slot as usize * self.count + place];
            }
        }
        let enough = found.into_iter().filter(|&(_, count)| count >= agreeing);
        enough.filter_map(|(slot, _)| self.rows[slot as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_a_scan_finds(
            steps in prop::collection::vec(
                (any::<bool>(), 0_u32..60, prop::collection::vec(0_u64..4, 3)), 1..3000),
            asked in prop::collection::vec(0_u64..4, 3),
            agreeing in 1_usize..=3,
        ) {
            let mut copies = CopyFeatures::new(3);
            let mut model: HashMap<u32, Vec<u64>> = HashMap::new();
            for (insert, row, features) in steps {
                if insert {
                    copies.insert(Row(row), &features);
                    model.insert(row, features);
                } else {
                    copies.remove(Row(row));
                    model.remove(&row);
                }
            }
            let mut found = copies.matches(&asked, agreeing);
            found.sort_unstable();
            let mut expected: Vec<Row> = model
                .iter()
                .filter(|(_, has)| has.iter().zip(&asked).filter(|(a, b)| a == b).count() >= agreeing)
                .map(|(&row, _)| Row(row))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
