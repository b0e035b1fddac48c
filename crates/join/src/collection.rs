//! The sets to join, in the form every algorithm wants them: one flat array of tokens.
//!
//! Tokens are numbered by ascending frequency and sorted inside each record, so that a prefix
//! of a record holds its rarest tokens. Records are numbered by ascending size (then by input
//! order), so that a size window is a range. Equal sets are kept once, with the lines they
//! stood on; empty sets are dropped, since they join with nothing.
//!
//! Tokens that no possible partner has (frequency one, or in a join of two files present in
//! one file only) get the lowest numbers: they sit at the front of records, where a fast join
//! steps over them.
//!
//! Cost: 4 bytes a token, 16 to 17 bytes a record, 8 bytes a repeated line. Records are
//! collected by size from the start and moved into the one array size by size, so that tokens
//! are not held twice. Building needs 8 bytes a distinct token and 8 to 16 bytes a record on
//! top.
//! Guarantee: the same input in the same order gives the same collection.
//! Not here: reading files; words to numbers ([`crate::interner`]).

use crate::error::JoinError;
use crate::interner::{Slots, mix};
use crate::vector::prefetch;

/// Which file a record came from. In a self join all are on the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first file.
    Left = 0,
    /// The second file.
    Right = 1,
}

impl Side {
    /// The other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// Sets ready to be joined.
#[derive(Debug, Clone, Default)]
pub struct Collection {
    two_sides: bool,
    tokens: Vec<u32>,
    starts: Vec<u64>,
    sizes: Vec<u32>,
    lines: Vec<u32>,
    sides: Vec<Side>,
    repeats: Vec<(u32, u32)>,
    vocabulary: u32,
    first_shared: u32,
}

impl Collection {
    /// Number of distinct, non-empty records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is nothing to join.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether this is a join of two files.
    #[must_use]
    pub fn has_two_sides(&self) -> bool {
        self.two_sides
    }

    /// The tokens of a record, ascending: rarest first.
    #[must_use]
    #[inline]
    pub fn record(&self, record: u32) -> &[u32] {
        let start = self.starts[record as usize] as usize;
        &self.tokens[start..start + self.sizes[record as usize] as usize]
    }

    /// Asks the processor for the first tokens of a record, if there is such a record.
    #[inline]
    pub(crate) fn fetch(&self, record: u32) {
        if let Some(&start) = self.starts.get(record as usize) {
            prefetch(&self.tokens, start as usize);
        }
    }

    /// The size of a record.
    #[must_use]
    #[inline]
    pub fn size(&self, record: u32) -> u32 {
        self.sizes[record as usize]
    }

    /// The sizes of all records, ascending.
    #[must_use]
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The side of a record.
    #[must_use]
    #[inline]
    pub fn side(&self, record: u32) -> Side {
        if self.two_sides { self.sides[record as usize] } else { Side::Left }
    }

    /// The first line on which the record stood.
    #[must_use]
    pub fn line(&self, record: u32) -> u32 {
        self.lines[record as usize]
    }

    /// The further lines with an equal set on the same side, as `(record, line)`, ascending.
    #[must_use]
    pub fn repeats(&self) -> &[(u32, u32)] {
        &self.repeats
    }

    /// The further lines of one record.
    #[must_use]
    pub fn repeats_of(&self, record: u32) -> &[(u32, u32)] {
        let start = self.repeats.partition_point(|&(of, _)| of < record);
        let count = self.repeats[start..].partition_point(|&(of, _)| of == record);
        &self.repeats[start..start + count]
    }

    /// The size of the set on each line of a side; zero where a line is empty.
    #[must_use]
    pub fn line_sizes(&self, side: Side) -> Vec<u32> {
        let first = (0..self.len() as u32).map(|record| (record, self.line(record)));
        let lines = first.chain(self.repeats.iter().copied());
        let on_side = || lines.clone().filter(|&(record, _)| self.side(record) == side);
        let count = on_side().map(|(_, line)| line as usize + 1).max().unwrap_or(0);
        let mut sizes = vec![0; count];
        for (record, line) in on_side() {
            sizes[line as usize] = self.size(record);
        }
        sizes
    }

    /// Number of distinct tokens; every token is below it.
    #[must_use]
    pub fn vocabulary(&self) -> u32 {
        self.vocabulary
    }

    /// Tokens from this number on occur in at least two records that could pair.
    #[must_use]
    pub fn first_shared(&self) -> u32 {
        self.first_shared
    }

    /// Number of tokens in all records together.
    #[must_use]
    pub fn token_count(&self) -> u64 {
        self.tokens.len() as u64
    }

    /// The largest size, zero for an empty collection.
    #[must_use]
    pub fn largest_size(&self) -> u32 {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// The first record of at least this size.
    #[must_use]
    pub fn first_of_size(&self, size: u32) -> u32 {
        self.sizes.partition_point(|&other| other < size) as u32
    }

    /// Bytes that an index over the shared tokens takes besides its postings.
    #[must_use]
    pub fn list_table_bytes(&self, threads: usize) -> u64 {
        u64::from(self.vocabulary - self.first_shared) * (4 + 8 * threads as u64)
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn bytes_held(&self) -> u64 {
        (self.tokens.capacity() * 4
            + self.starts.capacity() * 8
            + self.sizes.capacity() * 4
            + self.lines.capacity() * 4
            + self.sides.capacity()
            + self.repeats.capacity() * 8) as u64
    }
}

/// Takes records in input order and makes a [`Collection`].
///
/// ```
/// use wonbon_join::{CollectionBuilder, Side};
/// let mut builder = CollectionBuilder::for_self_join();
/// builder.push(Side::Left, &[3, 1, 2])?;
/// builder.push(Side::Left, &[])?;
/// builder.push(Side::Left, &[2, 1, 3, 3])?;
/// let collection = builder.finish();
/// assert_eq!(collection.len(), 1);
/// assert_eq!(collection.repeats(), &[(0, 2)]);
/// # Ok::<(), wonbon_join::JoinError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CollectionBuilder {
    two_sides: bool,
    buckets: Vec<Bucket>,
    starts: Vec<u64>,
    sizes: Vec<u32>,
    lines: Vec<u32>,
    sides: Vec<Side>,
    repeats: Vec<(u32, u32)>,
    seen: Slots,
    sorted: Vec<u32>,
    next_line: [u32; 2],
    vocabulary: u32,
    token_count: u64,
}

/// Records of similar sizes.
#[derive(Debug, Clone, Default)]
struct Bucket {
    tokens: Vec<u32>,
    records: Vec<u32>,
}

impl Bucket {
    /// A bucket that is no longer small gets a large piece of memory at once. What is not used
    /// of it costs nothing, and the allocator gives it back to the system when it is dropped.
    fn make_room(&mut self, size: usize) {
        const SMALL: usize = 1 << 12;
        const LARGE: usize = 1 << 18;
        let length = self.tokens.len();
        if length + size > SMALL && self.tokens.capacity() < LARGE {
            self.tokens.reserve_exact((LARGE - length).max(size));
        }
    }
}

/// The bucket of a size: eight to each doubling. Few enough that buckets are large pieces of
/// memory, which an allocator gives back to the system when they are moved into the collection.
fn bucket_of(size: u32) -> usize {
    if size < 8 {
        return size as usize;
    }
    let doublings = size.ilog2() - 3;
    (doublings * 8 + (size >> doublings)) as usize
}

impl CollectionBuilder {
    /// For joining records of one file with each other.
    #[must_use]
    pub fn for_self_join() -> Self {
        Self::with_sides(false)
    }

    /// For joining the records of one file with those of another.
    #[must_use]
    pub fn for_two_files() -> Self {
        Self::with_sides(true)
    }

    fn with_sides(two_sides: bool) -> Self {
        Self {
            two_sides,
            buckets: Vec::new(),
            starts: Vec::new(),
            sizes: Vec::new(),
            lines: Vec::new(),
            sides: Vec::new(),
            repeats: Vec::new(),
            seen: Slots::default(),
            sorted: Vec::new(),
            next_line: [0; 2],
            vocabulary: 0,
            token_count: 0,
        }
    }

    /// Adds the next line of a side. Token numbers should be dense (see [`crate::interner`]):
    /// tables of the size of the largest are made. Order and repetition do not matter.
    ///
    /// # Errors
    /// Too many records, or a second side in a self join.
    pub fn push(&mut self, side: Side, tokens: &[u32]) -> Result<(), JoinError> {
        let line = self.next_line[side as usize];
        if !self.two_sides && side == Side::Right {
            return Err(JoinError::Misplaced { line, why: "a self join has one side" });
        }
        if line == u32::MAX - 1 || self.starts.len() == u32::MAX as usize - 1 {
            return Err(JoinError::TooMany { what: "record", count: u64::from(line) + 1 });
        }
        self.next_line[side as usize] += 1;
        if tokens.is_empty() {
            return Ok(());
        }
        if tokens.len() > i32::MAX as usize {
            return Err(JoinError::TooMany { what: "token", count: tokens.len() as u64 });
        }
        self.sorted.clear();
        self.sorted.extend_from_slice(tokens);
        if !self.sorted.is_sorted_by(|one, two| one < two) {
            self.sorted.sort_unstable();
            self.sorted.dedup();
        }
        let (set, size) = (&self.sorted, self.sorted.len() as u32);
        let at = bucket_of(size);
        if self.buckets.len() <= at {
            self.buckets.resize_with(at + 1, Bucket::default);
        }
        let hash = hash_set(side, set);
        let (buckets, starts, sizes, sides) =
            (&self.buckets, &self.starts, &self.sizes, &self.sides);
        let side_of = |record: u32| sides.get(record as usize).copied().unwrap_or(Side::Left);
        let set_of = |record: u32| {
            let (start, size) = (starts[record as usize] as usize, sizes[record as usize]);
            &buckets[bucket_of(size)].tokens[start..start + size as usize]
        };
        let found = self.seen.find(hash, |record| {
            sizes[record as usize] == size && side_of(record) == side && set_of(record) == set
        });
        match found {
            Ok(record) => self.repeats.push((record, line)),
            Err(_) => {
                let record = self.starts.len() as u32;
                self.seen.insert(hash, record, |record| hash_set(side_of(record), set_of(record)));
                self.vocabulary = self.vocabulary.max(set[size as usize - 1].saturating_add(1));
                self.token_count += u64::from(size);
                let bucket = &mut self.buckets[at];
                bucket.make_room(size as usize);
                self.starts.push(bucket.tokens.len() as u64);
                self.sizes.push(size);
                bucket.tokens.extend_from_slice(set);
                bucket.records.push(record);
                self.lines.push(line);
                if self.two_sides {
                    self.sides.push(side);
                }
            }
        }
        Ok(())
    }

    /// How many tokens are held so far.
    #[must_use]
    pub fn token_count(&self) -> u64 {
        self.token_count
    }

    /// Numbers tokens by frequency and records by size.
    #[must_use]
    pub fn finish(mut self) -> Collection {
        self.seen = Slots::default();
        let count = self.starts.len();
        let (new_number, first_shared) = self.numbers_by_frequency();
        let mut tokens: Vec<u32> = Vec::with_capacity(self.token_count as usize);
        let mut order: Vec<u32> = Vec::with_capacity(count);
        for mut bucket in std::mem::take(&mut self.buckets) {
            bucket.records.sort_by_key(|&record| self.sizes[record as usize]);
            for &record in &bucket.records {
                let start = self.starts[record as usize] as usize;
                let old = &bucket.tokens[start..start + self.sizes[record as usize] as usize];
                let start = tokens.len();
                tokens.extend(old.iter().map(|&token| new_number[token as usize]));
                tokens[start..].sort_unstable();
            }
            order.append(&mut bucket.records);
        }
        drop(new_number);
        let sizes: Vec<u32> = order.iter().map(|&record| self.sizes[record as usize]).collect();
        let mut next = 0;
        let mut starts = self.starts;
        for (start, &size) in starts.iter_mut().zip(&sizes) {
            *start = next;
            next += u64::from(size);
        }
        let lines = order.iter().map(|&record| self.lines[record as usize]).collect();
        let sides = if self.two_sides {
            order.iter().map(|&record| self.sides[record as usize]).collect()
        } else {
            Vec::new()
        };
        if !self.repeats.is_empty() {
            let mut position = vec![0; count];
            for (new, &old) in order.iter().enumerate() {
                position[old as usize] = new as u32;
            }
            for (record, _) in &mut self.repeats {
                *record = position[*record as usize];
            }
            self.repeats.sort_unstable();
        }
        Collection {
            two_sides: self.two_sides,
            tokens,
            starts,
            sizes,
            lines,
            sides,
            repeats: self.repeats,
            vocabulary: self.vocabulary,
            first_shared,
        }
    }

    /// The new number of each token, and the first number that can be shared.
    fn numbers_by_frequency(&self) -> (Vec<u32>, u32) {
        let vocabulary = self.vocabulary as usize;
        let mut frequency = vec![0_u32; vocabulary];
        for &token in self.buckets.iter().flat_map(|bucket| &bucket.tokens) {
            frequency[token as usize] += 1;
        }
        // A token's class is its frequency, or zero when no possible partner has it.
        let mut class = frequency;
        if self.two_sides {
            let mut on_side = vec![0_u8; vocabulary];
            for bucket in &self.buckets {
                for &record in &bucket.records {
                    let (record, start) = (record as usize, self.starts[record as usize] as usize);
                    for &token in &bucket.tokens[start..start + self.sizes[record] as usize] {
                        on_side[token as usize] |= 1 << self.sides[record] as u8;
                    }
                }
            }
            for (class, sides) in class.iter_mut().zip(on_side) {
                *class = if sides == 3 { *class } else { 0 };
            }
        } else {
            for class in &mut class {
                *class = if *class > 1 { *class } else { 0 };
            }
        }
        // Sorted by counting: where each class begins, then token by token.
        let largest = class.iter().copied().max().unwrap_or(0) as usize;
        let mut next = vec![0_u32; largest + 2];
        for &class in &class {
            next[class as usize + 1] += 1;
        }
        let first_shared = next[1];
        for at in 1..next.len() {
            next[at] += next[at - 1];
        }
        let mut new_number = class;
        for number in &mut new_number {
            let next = &mut next[*number as usize];
            *number = *next;
            *next += 1;
        }
        (new_number, first_shared)
    }
}

/// A sum over the tokens, so that no step waits for the one before.
fn hash_set(side: Side, tokens: &[u32]) -> u64 {
    let spread = |token: u32| {
        let value = (u64::from(token) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (value ^ (value >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
    };
    let start = side as u64 + tokens.len() as u64 * 2;
    mix(tokens.iter().fold(start, |sum, &token| sum.wrapping_add(spread(token))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_ordered_by_size_and_tokens_by_frequency() {
        let mut builder = CollectionBuilder::for_self_join();
        for tokens in [&[5, 0, 1][..], &[0], &[], &[1, 0], &[0, 1]] {
            builder.push(Side::Left, tokens).unwrap();
        }
        let collection = builder.finish();
        assert_eq!(collection.sizes(), &[1, 2, 3]);
        assert_eq!([0, 1, 2].map(|record| collection.line(record)), [1, 3, 0]);
        assert_eq!(collection.repeats(), &[(1, 4)]);
        assert_eq!(collection.line_sizes(Side::Left), &[3, 1, 0, 2, 2]);
        // Token 0 is in three records, 1 in two, 5 in one; 2, 3 and 4 in none.
        assert_eq!(collection.record(0), &[5]);
        assert_eq!(collection.record(1), &[4, 5]);
        assert_eq!(collection.record(2), &[3, 4, 5]);
        assert_eq!(collection.first_shared(), 4);
    }

    #[test]
    fn tokens_on_one_side_only_come_first() {
        let mut builder = CollectionBuilder::for_two_files();
        builder.push(Side::Left, &[0, 1]).unwrap();
        builder.push(Side::Left, &[0, 1, 2]).unwrap();
        builder.push(Side::Right, &[1]).unwrap();
        builder.push(Side::Right, &[1]).unwrap();
        let collection = builder.finish();
        assert_eq!(collection.first_shared(), 2);
        assert_eq!(collection.record(0), &[2]);
        assert_eq!(collection.side(0), Side::Right);
        assert_eq!(collection.repeats(), &[(0, 1)]);
    }

    #[test]
    fn buckets_are_ordered_by_size() {
        let mut last = 0;
        for size in 1..200_000 {
            let bucket = bucket_of(size);
            assert!(bucket == last || bucket == last + 1, "{size}");
            last = bucket;
        }
        assert!(bucket_of(i32::MAX as u32) < 300);
    }

    #[test]
    fn a_second_side_is_refused_in_a_self_join() {
        let mut builder = CollectionBuilder::for_self_join();
        let error = builder.push(Side::Right, &[1]).unwrap_err();
        assert!(matches!(error, JoinError::Misplaced { line: 0, .. }));
    }
}
