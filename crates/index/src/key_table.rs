//! Keys to slots: a hash table that stores neither keys nor hashes.
//!
//! An entry is 32 bits: the number of a slot, and a tag, which is as many bits of the key's hash as are left. A look-up
//! returns the slots whose tags match, and the caller compares the key in the slot. When the table moves an entry, it asks
//! the caller for the hash of the slot again. This makes fifteen tables affordable: 4 bytes an entry, where a table with
//! keys takes 12 to 20.
//!
//! Layout: buckets hold sixteen entries, one cache line; a full bucket overflows into the next.
//! Buckets make up shards of at most [`SHARD_ENTRIES`] entries, which grow by an eighth and split in
//! two, each on its own (extendible hashing), so that no insert ever waits for the whole table and
//! the load stays between 0.78 and 0.88.
//!
//! Each shard gives its slot numbers as many bits as the highest of them needs. An entry with a higher slot makes the shard
//! re-encode its entries with a shorter tag, which takes microseconds and asks for no hashes, so a table never has
//! to be laid out anew as a whole.
//!
//! Many entries of one hash would slow down all look-ups and inserts near them, because each would walk through all of
//! them. The table reports when an entry ends up far from its bucket (`CROWDED_BUCKETS`); the caller then removes the
//! entries of every hash that has [`CROWD`] or more from the table and keeps them as a list.
//!
//! Cost: about 4.9 bytes an entry; a look-up reads one cache line, sometimes two. With n slots it calls back for
//! 14 n / 2^32 slots that do not fit: 0.003 at a million, 0.2 at 67 million, 3 at a billion. An insert moves about eight
//! entries, spread over time.

mod shard;

pub(crate) use shard::Place;
use shard::{CROWDED_BUCKETS, Shard, bits_of_slot};

/// How many slots can be numbered: a tag has at least one bit.
pub(crate) const MOST_SLOTS: usize = (1 << 31) - 2;

/// The bits of a slot number in a new table. Sixteen bits of tag leave hardly a slot that does not fit.
const FIRST_SLOT_BITS: u32 = 16;
/// A shard with more entries than this is split.
const SHARD_ENTRIES: usize = 4096;
/// So many entries of one hash are better kept as a list.
pub(crate) const CROWD: usize = 64;

/// A table from hashes of keys to slots.
#[derive(Debug, Clone)]
pub(crate) struct KeyTable {
    /// For each value of the first `depth` bits of a hash, the number of its shard.
    directory: Vec<u32>,
    depth: u32,
    shards: Vec<Shard>,
    entries: usize,
}

impl KeyTable {
    pub(crate) fn new() -> Self {
        KeyTable::with_slot_bits(FIRST_SLOT_BITS)
    }

    /// A table whose slot numbers have so many bits at first.
    fn with_slot_bits(slot_bits: u32) -> Self {
        let shards = vec![Shard::sized(0, slot_bits, 0)];
        KeyTable { directory: vec![0], depth: 0, shards, entries: 0 }
    }

    /// A table of the slots 0, 1, 2, ... with these hashes, built at once. Slots of a hash that has a
    /// crowd are handed to `crowd` instead.
    pub(crate) fn build(hashes: &[u64], mut crowd: impl FnMut(u64, &[u32])) -> Self {
        let mut depth = 0;
        while hashes.len() >> depth > SHARD_ENTRIES / 2 {
            depth += 1;
        }
        // Slots sorted by shard: counted, then placed.
        let shard_of = |hash: u64| first_bits(hash, depth);
        let mut starts = vec![0; (1 << depth) + 1];
        for &hash in hashes {
            starts[shard_of(hash) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut sorted = vec![0_u32; hashes.len()];
        let mut next = starts.clone();
        for (slot, &hash) in hashes.iter().enumerate() {
            let at = &mut next[shard_of(hash)];
            sorted[*at] = slot as u32;
            *at += 1;
        }
        let mut entries = 0;
        let last = hashes.len().saturating_sub(1) as u32;
        let slot_bits = FIRST_SLOT_BITS.max(bits_of_slot(last));
        let shards = starts
            .windows(2)
            .map(|ends| {
                let slots = &mut sorted[ends[0]..ends[1]];
                let hash_of = |slot: u32| hashes[slot as usize];
                let shard = Shard::filled((depth, slot_bits), slots, hash_of, &mut crowd);
                entries += shard.used;
                shard
            })
            .collect();
        KeyTable { directory: (0..1 << depth).collect(), depth, shards, entries }
    }

    /// Where entries of this hash stand. Apart from [`Place::find`], so that whoever looks into several
    /// tables can find all the places first: what they wait for in memory, they wait for at once.
    #[inline]
    pub(crate) fn place(&self, hash: u64) -> Place<'_> {
        self.shards[self.directory[first_bits(hash, self.depth)] as usize].place_of(hash)
    }

    /// Calls `each` with every slot that may have been added under this hash (all that were, and a
    /// few others); stops when it returns `true`.
    #[inline]
    pub(crate) fn find(&self, hash: u64, each: impl FnMut(u32) -> bool) {
        self.place(hash).find(each);
    }

    /// Adds a slot under a hash; returns whether there may be a crowd. `hash_of` gives the hash of any
    /// slot in the table.
    pub(crate) fn insert(&mut self, hash: u64, slot: u32, hash_of: impl Fn(u32) -> u64) -> bool {
        loop {
            let number = self.directory[first_bits(hash, self.depth)] as usize;
            let shard = &mut self.shards[number];
            if shard.used < shard.room() {
                self.entries += 1;
                return shard.place(hash, slot) >= CROWDED_BUCKETS;
            }
            // Many entries of one hash cannot be split apart; the directory must not grow for them.
            let even = (self.entries >> shard.depth) >= SHARD_ENTRIES / 16;
            if shard.used < SHARD_ENTRIES || !even {
                let slots: Vec<u32> = shard.slots().collect();
                let room = slots.len() + slots.len() / 8 + 1;
                let mut larger = Shard::sized(shard.depth, shard.slot_bits, room);
                for slot in slots {
                    larger.place(hash_of(slot), slot);
                }
                *shard = larger;
            } else {
                self.split(number, &hash_of);
            }
        }
    }

    /// Removes a slot that was added under a hash; returns whether it was there.
    pub(crate) fn remove(&mut self, hash: u64, slot: u32) -> bool {
        let shard = &mut self.shards[self.directory[first_bits(hash, self.depth)] as usize];
        let removed = shard.remove(hash, slot);
        self.entries -= usize::from(removed);
        removed
    }

    /// Divides the entries of a shard by one more bit of their hashes.
    fn split(&mut self, number: usize, hash_of: impl Fn(u32) -> u64) {
        let Shard { depth, slot_bits, .. } = self.shards[number];
        let depth = depth + 1;
        if depth > self.depth {
            self.directory = self.directory.iter().flat_map(|&shard| [shard, shard]).collect();
            self.depth = depth;
        }
        let (mut lower, mut upper): (Vec<_>, Vec<_>) = self.shards[number]
            .slots()
            .map(|slot| (hash_of(slot), slot))
            .partition(|&(hash, _)| first_bits(hash, depth) & 1 == 0);
        let filled = |entries: &mut Vec<(u64, u32)>| {
            let mut shard = Shard::sized(depth, slot_bits, entries.len());
            for (hash, slot) in entries.drain(..) {
                shard.place(hash, slot);
            }
            shard
        };
        let new = u32::try_from(self.shards.len()).expect("fewer shards than entries");
        self.shards[number] = filled(&mut lower);
        self.shards.push(filled(&mut upper));
        for (bits, shard) in self.directory.iter_mut().enumerate() {
            if *shard as usize == number && (bits >> (self.depth - depth)) & 1 == 1 {
                *shard = new;
            }
        }
    }

    /// Bytes of memory, with what was reserved.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.shards.iter().map(Shard::bucket_bytes).sum::<usize>()
            + self.shards.capacity() * size_of::<Shard>()
            + self.directory.capacity() * size_of::<u32>()
    }
}

#[inline]
fn first_bits(hash: u64, bits: u32) -> usize {
    if bits == 0 { 0 } else { (hash >> (u64::BITS - bits)) as usize }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn mix(n: u64) -> u64 {
        let n = (n ^ (n >> 31)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    }

    fn found(table: &KeyTable, hash: u64) -> Vec<u32> {
        let mut slots = Vec::new();
        table.find(hash, |slot| {
            slots.push(slot);
            false
        });
        slots
    }

    #[test]
    fn a_million_slots_are_found_in_little_memory() {
        let hashes: Vec<u64> = (0..1_000_000).map(mix).collect();
        let mut grown = KeyTable::new();
        for (slot, &hash) in hashes.iter().enumerate() {
            grown.insert(hash, slot as u32, |slot| hashes[slot as usize]);
        }
        let built = KeyTable::build(&hashes, |_, _| panic!("no crowd"));
        for table in [&grown, &built] {
            let mut others = 0;
            for (slot, &hash) in hashes.iter().enumerate() {
                let slots = found(table, hash);
                assert!(slots.contains(&(slot as u32)));
                others += slots.len() - 1;
            }
            assert!(others < 10_000, "{others} slots that do not fit");
            let bytes = table.memory_bytes() as f64 / hashes.len() as f64;
            assert!(bytes < 5.4, "{bytes} bytes an entry");
        }
    }

    #[test]
    fn equal_hashes_are_all_kept() {
        // Far more than a shard, and no number of splits divides them.
        let hash = mix(1);
        let mut table = KeyTable::new();
        for slot in 0..20_000 {
            table.insert(hash, slot, |_| hash);
        }
        assert!(table.memory_bytes() < 200_000, "{} bytes", table.memory_bytes());
        let mut slots = found(&table, hash);
        slots.sort_unstable();
        assert_eq!(slots, (0..20_000).collect::<Vec<_>>());
        for slot in (0..20_000).step_by(100) {
            assert!(table.remove(hash, slot));
        }
        assert_eq!(found(&table, hash).len(), 19_800);
    }

    #[test]
    fn crowds_are_handed_over_when_a_table_is_built() {
        // Two crowds, one far larger than a shard, among a hundred thousand others.
        let mut hashes: Vec<u64> = (0..100_000).map(mix).collect();
        hashes.extend(std::iter::repeat_n(mix(1_000_000), 20_000));
        hashes.extend(std::iter::repeat_n(mix(2_000_000), CROWD));
        hashes.extend(std::iter::repeat_n(mix(3_000_000), CROWD - 1));
        let mut crowds = HashMap::new();
        let table = KeyTable::build(&hashes, |hash, slots| {
            assert_eq!(crowds.insert(hash, slots.len()), None);
        });
        assert_eq!(crowds.get(&mix(1_000_000)), Some(&20_000));
        // What is barely a crowd may stay, if it crowds nobody.
        assert!(crowds.keys().all(|&hash| hash != mix(3_000_000)));
        let found_or_handed = |hash| {
            let there = |&slot: &u32| hashes[slot as usize] == hash;
            crowds.get(&hash).copied().unwrap_or(0)
                + found(&table, hash).iter().filter(|s| there(s)).count()
        };
        assert_eq!(found_or_handed(mix(2_000_000)), CROWD);
        assert_eq!(found_or_handed(mix(3_000_000)), CROWD - 1);
        assert!((0..100_000).all(|n| found_or_handed(mix(n)) == 1));
    }

    /// Every shard crosses the borders between numbers of bits by itself, up to slots beyond 26 bits.
    #[test]
    fn slots_of_any_number_of_bits_are_found_and_removed() {
        let slots: Vec<u32> = (2..31).flat_map(|bits| (1 << bits) - 4..(1 << bits) + 4).collect();
        let hash_of = |slot: u32| mix(u64::from(slot));
        let mut table = KeyTable::with_slot_bits(2);
        for slot in 0..20_000_u32 {
            table.insert(hash_of(slot), slot, hash_of);
        }
        let high: Vec<u32> = slots.into_iter().filter(|slot| *slot >= 20_000).collect();
        for &slot in &high {
            assert!(!table.remove(hash_of(slot), slot));
            table.insert(hash_of(slot), slot, hash_of);
        }
        for slot in (0..20_000).chain(high.iter().copied()) {
            assert!(found(&table, hash_of(slot)).contains(&slot), "{slot}");
        }
        for &slot in &high {
            assert!(table.remove(hash_of(slot), slot), "{slot}");
            assert!(!found(&table, hash_of(slot)).contains(&slot));
        }
        assert!((0..20_000).all(|slot| table.remove(hash_of(slot), slot)));
        assert_eq!(table.entries, 0);
    }

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(
            steps in prop::collection::vec((any::<bool>(), 0_u64..400), 1..4000),
            spread in 1_u64..2000,
            slot_bits in 2_u32..20,
        ) {
            let mut table = KeyTable::with_slot_bits(slot_bits);
            let mut model: HashMap<u32, u64> = HashMap::new();
            let hash_of = |slot: u32| mix(u64::from(slot) % spread);
            for (insert, slot) in steps {
                let slot = slot as u32;
                let there = model.contains_key(&slot);
                if insert && !there {
                    table.insert(hash_of(slot), slot, hash_of);
                    model.insert(slot, hash_of(slot));
                } else if !insert {
                    prop_assert_eq!(table.remove(hash_of(slot), slot), there);
                    model.remove(&slot);
                }
            }
            for slot in 0..400 {
                let slots = found(&table, hash_of(slot));
                let times = slots.iter().filter(|&&found| found == slot).count();
                prop_assert_eq!(times, usize::from(model.contains_key(&slot)));
            }
        }
    }
}
