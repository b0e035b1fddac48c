//! The different elements of a stream, in the order in which they first came.
//!
//! Most documents have few repeated shingles. So the table is large enough that nearly every element finds its place
//! free: a branch that the processor guesses. And it need not be emptied for the next document: a place says which
//! document took it, and where in the list the element stands. Long documents ([`MOST_IN_LIST`] elements) go
//! over to a table of the elements themselves.
//!
//! Cost: about a nanosecond an element; 32 to 64 bytes for each element of the longest document up to that border,
//! 16 to 64 beyond.

/// Removes repetitions from the elements of one document after another.
///
/// ```
/// let (mut distinct, mut set) = (wonbon_sketch::Distinct::new(), Vec::new());
/// distinct.start(&set, 3);
/// distinct.add(&[7, 7, 8], &mut set);
/// distinct.add(&[8, 9], &mut set);
/// assert_eq!(set, [7, 8, 9]);
/// assert_eq!(distinct.count_shared(&set, &[9, 10]), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Distinct {
    /// In the high half, which document took the place; in the low one, the number of the element in its list.
    places: Vec<u32>,
    /// How many of the places this document uses: a power of two, or none.
    used: usize,
    /// The bits of an element that name its place are those above so many.
    shift: u32,
    /// The document, from 1 on.
    document: u16,
    /// Where its list begins.
    from: usize,
    /// How many elements are expected.
    expected: usize,
    /// What was added, if it is much.
    table: Option<Table>,
}

/// How many elements a list may have: their numbers have 16 bits.
const MOST_IN_LIST: usize = 1 << 16;

impl Distinct {
    /// Without elements.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets everything. What is added goes to the end of `set`, which nobody else may change meanwhile; room is made
    /// for about `expected` elements.
    pub fn start(&mut self, set: &[u64], expected: usize) {
        self.from = set.len();
        self.expected = expected.min(MOST_IN_LIST);
        self.table = None;
        self.used = 0;
    }

    fn next_document(&mut self) {
        self.document = self.document.wrapping_add(1);
        if self.document == 0 {
            self.places.fill(0);
            self.document = 1;
        }
    }

    /// Appends those of `elements` to `set` that were not there before.
    pub fn add(&mut self, elements: &[u64], set: &mut Vec<u64>) {
        let most = set.len() - self.from + elements.len();
        if self.table.is_none() && most > MOST_IN_LIST {
            let mut table = Table::new();
            for &element in &set[self.from..] {
                table.insert(element);
            }
            self.table = Some(table);
        }
        if let Some(table) = &mut self.table {
            set.extend(elements.iter().filter(|&&element| table.insert(element)));
            return;
        }
        if 4 * most > self.used {
            self.enlarge(most, &set[self.from..]);
        }
        let mut length = set.len();
        // One free place at the end, so that nothing has to be checked when one is filled.
        set.resize(length + elements.len(), 0);
        let (list, mark) = (&mut set[self.from..], u32::from(self.document) << 16);
        length -= self.from;
        for &element in elements {
            let is_new =
                insert(&mut self.places[..self.used], self.shift, mark, list, length, element);
            length += usize::from(is_new);
        }
        set.truncate(self.from + length);
    }

    /// How many of these different elements are in `set`, which is what [`add`](Self::add) left.
    #[must_use]
    pub fn count_shared(&self, set: &[u64], elements: &[u64]) -> usize {
        self.count_shared_from(set, elements, 0).unwrap_or_default()
    }

    /// The same, or none if it is less than `least`: that is often known before the end.
    #[must_use]
    pub fn count_shared_from(&self, set: &[u64], elements: &[u64], least: usize) -> Option<usize> {
        /// How many elements are looked at before counting what is left.
        const PIECE: usize = 32;

        let (mut shared, mut left) = (0, elements.len());
        for piece in elements.chunks(PIECE) {
            if shared + left < least {
                return None;
            }
            shared += self.count_piece(set, piece);
            left -= piece.len();
        }
        (shared >= least).then_some(shared)
    }

    fn count_piece(&self, set: &[u64], elements: &[u64]) -> usize {
        if let Some(table) = &self.table {
            return elements.iter().filter(|&&element| table.contains(element)).count();
        }
        if self.used == 0 {
            return 0;
        }
        let (list, places) = (&set[self.from..], &self.places[..self.used]);
        let mark = u32::from(self.document) << 16;
        let contains = |element: u64| {
            let mut at = (element >> self.shift) as usize;
            loop {
                let number = places[at] ^ mark;
                if number >= MOST_IN_LIST as u32 {
                    return false;
                }
                if list[number as usize] == element {
                    return true;
                }
                at = (at + 1) & (places.len() - 1);
            }
        };
        elements.iter().filter(|&&element| contains(element)).count()
    }

    #[cold]
    fn enlarge(&mut self, most: usize, list: &[u64]) {
        self.used = (8 * most.max(self.expected)).next_power_of_two().max(64);
        self.shift = 64 - self.used.trailing_zeros();
        if self.places.len() < self.used {
            self.places.resize(self.used, 0);
        }
        self.next_document();
        let (places, mark) = (&mut self.places[..self.used], u32::from(self.document) << 16);
        let mut again = list.to_vec();
        for (number, &element) in list.iter().enumerate() {
            insert(places, self.shift, mark, &mut again, number, element);
        }
    }
}

/// Puts an element, as number `number` of the list, into its place; returns whether it was not there before.
#[inline]
fn insert(
    places: &mut [u32],
    shift: u32,
    mark: u32,
    list: &mut [u64],
    number: usize,
    element: u64,
) -> bool {
    let mut at = (element >> shift) as usize;
    loop {
        let there = places[at] ^ mark;
        if there >= MOST_IN_LIST as u32 {
            places[at] = mark | number as u32;
            list[number] = element;
            return true;
        }
        if list[there as usize] == element {
            return false;
        }
        at = (at + 1) & (places.len() - 1);
    }
}

/// Counts the different elements added to it.
///
/// ```
/// let mut counter = wonbon_sketch::DistinctCounter::new();
/// counter.add(&[7, 7, 8, 0]);
/// counter.add(&[8, 9]);
/// assert_eq!(counter.count(), 4);
/// ```
#[derive(Debug, Clone, Default)]
pub struct DistinctCounter {
    distinct: Distinct,
    set: Vec<u64>,
}

impl DistinctCounter {
    /// A counter that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds elements.
    pub fn add(&mut self, elements: &[u64]) {
        if self.set.is_empty() {
            self.distinct.start(&self.set, elements.len());
        }
        self.distinct.add(elements, &mut self.set);
    }

    /// How many different elements were added.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.set.len() as u64
    }

    /// Forgets all elements.
    pub fn clear(&mut self) {
        self.set.clear();
    }
}

/// A hash table of elements, which are well mixed already: no hashing, linear probing, half full at
/// most.
#[derive(Debug, Clone)]
struct Table {
    /// Elements at places by their high bits; 0 marks a free place. The length is a power of two.
    places: Vec<u64>,
    /// How many places are taken.
    taken: usize,
    /// Whether the element 0, which cannot stand in a place, was added.
    zero: bool,
}

impl Table {
    fn new() -> Self {
        Self { places: vec![0; 4 * MOST_IN_LIST], taken: 0, zero: false }
    }

    /// The place of an element: one that is free, or its own.
    #[inline]
    fn place(&self, element: u64) -> usize {
        let mut at = (element >> (64 - self.places.len().trailing_zeros())) as usize;
        while self.places[at] != 0 && self.places[at] != element {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }

    fn contains(&self, element: u64) -> bool {
        if element == 0 { self.zero } else { self.places[self.place(element)] != 0 }
    }

    /// Adds an element; returns whether it was not there before.
    fn insert(&mut self, element: u64) -> bool {
        if element == 0 {
            return !std::mem::replace(&mut self.zero, true);
        }
        let place = self.place(element);
        if self.places[place] != 0 {
            return false;
        }
        self.places[place] = element;
        self.taken += 1;
        if 2 * self.taken > self.places.len() {
            self.grow();
        }
        true
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; 4 * self.places.len()];
        let old = std::mem::replace(&mut self.places, larger);
        for element in old.into_iter().filter(|&element| element != 0) {
            let place = self.place(element);
            self.places[place] = element;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// The elements once each, in order, by a table of the standard library.
    fn slow(elements: &[u64]) -> Vec<u64> {
        let mut seen = HashSet::new();
        elements.iter().copied().filter(|&element| seen.insert(element)).collect()
    }

    proptest! {
        #[test]
        fn each_element_is_listed_once_and_shared_ones_are_counted(
            documents in prop::collection::vec(
                prop::collection::vec(prop::collection::vec(0_u64..3000, 0..600), 0..5), 1..4),
            other in prop::collection::hash_set(0_u64..3000, 0..300),
            expected in 0_usize..300,
            mixed in any::<bool>(),
        ) {
            let (mut distinct, mut counter) = (Distinct::new(), DistinctCounter::new());
            let mixed = |elements: &[u64]| -> Vec<u64> {
                elements.iter().map(|&e| if mixed && e > 0 { crate::finalise(e) } else { e }).collect()
            };
            let other = mixed(&other.into_iter().collect::<Vec<u64>>());
            // Documents stand one after another in one list.
            let mut set = vec![7];
            for document in &documents {
                let from = set.len();
                distinct.start(&set, expected);
                counter.clear();
                for piece in document {
                    distinct.add(&mixed(piece), &mut set);
                    counter.add(&mixed(piece));
                }
                let wanted = slow(&mixed(&document.concat()));
                prop_assert_eq!(&set[from..], &wanted);
                prop_assert_eq!(counter.count(), wanted.len() as u64);
                let shared = other.iter().filter(|element| wanted.contains(element)).count();
                prop_assert_eq!(distinct.count_shared(&set, &other), shared);
                for least in [shared.saturating_sub(1), shared, shared + 1, shared + 40] {
                    let found = distinct.count_shared_from(&set, &other, least);
                    prop_assert_eq!(found, (shared >= least).then_some(shared));
                }
            }
        }
    }

    #[test]
    fn a_place_taken_65535_documents_ago_is_free() {
        let (mut distinct, mut set) = (Distinct::new(), Vec::new());
        for round in 0..70_000_u64 {
            set.clear();
            distinct.start(&set, 2);
            let elements = [round % 3, 5].map(crate::finalise);
            distinct.add(&elements, &mut set);
            assert_eq!(set, elements, "round {round}");
            assert_eq!(distinct.count_shared(&set, &[crate::finalise(4)]), 0);
        }
    }

    #[test]
    fn long_documents_go_over_to_the_table() {
        let (mut distinct, mut set) = (Distinct::new(), Vec::new());
        for round in 0..3 {
            set.clear();
            distinct.start(&set, 1000);
            for start in (0..400_000_u64).step_by(1000) {
                let chunk: Vec<u64> = (start..start + 1000).map(crate::finalise).collect();
                distinct.add(&chunk, &mut set);
                distinct.add(&chunk[..10], &mut set);
            }
            distinct.add(&[0, 0], &mut set);
            let zero_is_new = u64::from((0..400_000).map(crate::finalise).all(|e| e != 0));
            assert_eq!(set.len() as u64, 400_000 + zero_is_new, "round {round}");
            let some = [0, crate::finalise(399_999), crate::finalise(400_001)];
            assert_eq!(distinct.count_shared(&set, &some), 2);
        }
        set.clear();
        distinct.start(&set, 2);
        distinct.add(&[5, 5], &mut set);
        assert_eq!(set, [5]);
    }
}
