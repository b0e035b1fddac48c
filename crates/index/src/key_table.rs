//! Keys to slots: a hash table that stores neither keys nor hashes.
//!
//! An entry is 32 bits: the number of a slot and six bits of the key's hash. A look-up returns the slots whose six bits
//! match, and the caller compares the key in the slot. When the table moves an entry, it asks the caller for the hash of
//! the slot again. This makes fifteen tables affordable: 4 bytes an entry, where a table with keys takes 12 to 20.
//!
//! Layout: buckets hold sixteen entries, one cache line; a full bucket overflows into the next.
//! Buckets make up shards of at most [`SHARD_ENTRIES`] entries, which grow by an eighth and split in
//! two, each on its own (extendible hashing), so that no insert ever waits for the whole table and
//! the load stays between 0.78 and 0.88.
//!
//! Many entries of one hash would slow down all look-ups and inserts near them, because each would walk through all of
//! them. The table reports when an entry ends up far from its bucket ([`CROWDED_BUCKETS`]); the caller then removes the
//! entries of every hash that has [`CROWD`] or more from the table and keeps them as a list.
//!
//! Cost: about 4.9 bytes an entry; a look-up reads one cache line, sometimes two, and calls back for
//! one slot in five that does not fit. An insert moves about eight entries, spread over time.

/// How many slots can be numbered.
pub(crate) const MOST_SLOTS: usize = (1 << SLOT_BITS) - 2;

const SLOT_BITS: u32 = 26;
const SLOT: u32 = (1 << SLOT_BITS) - 1;
/// No entry; no entry follows in this bucket or overflowed from it.
const FREE: u32 = u32::MAX;
/// An entry was removed from a full bucket: others may have overflowed from it.
const REMOVED: u32 = u32::MAX - 1;
const BUCKET_ENTRIES: usize = 16;
/// A shard with more entries than this is split.
const SHARD_ENTRIES: usize = 4096;
/// So many entries of one hash are better kept as a list.
pub(crate) const CROWD: usize = 64;
/// An entry so many buckets behind its own is a sign of a crowd.
const CROWDED_BUCKETS: usize = CROWD / BUCKET_ENTRIES;

type Bucket = [u32; BUCKET_ENTRIES];

/// A table from hashes of keys to slots.
#[derive(Debug, Clone)]
pub(crate) struct KeyTable {
    /// For each value of the first `depth` bits of a hash, the number of its shard.
    directory: Vec<u32>,
    depth: u32,
    shards: Vec<Shard>,
    entries: usize,
}

#[derive(Debug, Clone)]
struct Shard {
    /// How many first bits of the hash its entries have in common.
    depth: u32,
    /// Entries and removed places.
    used: usize,
    buckets: Vec<Bucket>,
}

impl KeyTable {
    pub(crate) fn new() -> Self {
        KeyTable { directory: vec![0], depth: 0, shards: vec![Shard::sized(0, 0)], entries: 0 }
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
        let shards = starts
            .windows(2)
            .map(|ends| {
                let slots = &mut sorted[ends[0]..ends[1]];
                let shard = Shard::filled(depth, slots, |slot| hashes[slot as usize], &mut crowd);
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
        let shard = &self.shards[self.directory[first_bits(hash, self.depth)] as usize];
        let at = shard.bucket_of(hash);
        Place { shard, at, tag: tag(hash), fitting: fitting(&shard.buckets[at], tag(hash)) }
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
                let mut larger = Shard::sized(shard.depth, slots.len() + slots.len() / 8 + 1);
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
        let wanted = entry(hash, slot);
        let mut at = shard.bucket_of(hash);
        for _ in 0..shard.buckets.len() {
            let bucket = &mut shard.buckets[at];
            if let Some(place) = bucket.iter().position(|&entry| entry == wanted) {
                if bucket[BUCKET_ENTRIES - 1] == FREE {
                    let last = bucket.iter().rposition(|&entry| entry != FREE).unwrap_or(place);
                    bucket.swap(place, last);
                    bucket[last] = FREE;
                    shard.used -= 1;
                } else {
                    bucket[place] = REMOVED;
                }
                self.entries -= 1;
                return true;
            }
            if bucket.contains(&FREE) {
                return false;
            }
            at = shard.behind(at);
        }
        false
    }

    /// Divides the entries of a shard by one more bit of their hashes.
    fn split(&mut self, number: usize, hash_of: impl Fn(u32) -> u64) {
        let depth = self.shards[number].depth + 1;
        if depth > self.depth {
            self.directory = self.directory.iter().flat_map(|&shard| [shard, shard]).collect();
            self.depth = depth;
        }
        let (mut lower, mut upper): (Vec<_>, Vec<_>) = self.shards[number]
            .slots()
            .map(|slot| (hash_of(slot), slot))
            .partition(|&(hash, _)| first_bits(hash, depth) & 1 == 0);
        let filled = |entries: &mut Vec<(u64, u32)>| {
            let mut shard = Shard::sized(depth, entries.len());
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
        let buckets: usize = self.shards.iter().map(|shard| shard.buckets.capacity()).sum();
        buckets * size_of::<Bucket>()
            + self.shards.capacity() * size_of::<Shard>()
            + self.directory.capacity() * size_of::<u32>()
    }
}

/// Where the entries of a hash begin in a table.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    shard: &'a Shard,
    at: usize,
    tag: u32,
    /// Of the entries in the first bucket.
    fitting: u32,
}

impl Place<'_> {
    /// As [`KeyTable::find`].
    #[inline]
    pub(crate) fn find(self, mut each: impl FnMut(u32) -> bool) {
        let Place { shard, mut at, tag, mut fitting } = self;
        for _ in 0..shard.buckets.len() {
            let bucket = &shard.buckets[at];
            while fitting != 0 {
                let entry = bucket[fitting.trailing_zeros() as usize];
                fitting &= fitting - 1;
                if entry < REMOVED && each(entry & SLOT) {
                    return;
                }
            }
            // Free places are the last.
            if bucket[BUCKET_ENTRIES - 1] == FREE {
                return;
            }
            at = shard.behind(at);
            fitting = self::fitting(&shard.buckets[at], tag);
        }
    }
}

/// A bit for each entry of a bucket that has this tag.
#[inline]
fn fitting(bucket: &Bucket, tag: u32) -> u32 {
    let bits = bucket.iter().enumerate();
    bits.fold(0, |bits, (at, &entry)| bits | (u32::from(entry >> SLOT_BITS == tag) << at))
}

impl Shard {
    /// A shard with room for `entries` and a little more.
    fn sized(depth: u32, entries: usize) -> Self {
        let buckets = (entries * 100).div_ceil(78 * BUCKET_ENTRIES).max(1);
        Shard { depth, used: 0, buckets: vec![[FREE; BUCKET_ENTRIES]; buckets] }
    }

    /// How many entries fit before it has to grow.
    fn room(&self) -> usize {
        (self.buckets.len() * BUCKET_ENTRIES * 88 / 100).max(BUCKET_ENTRIES - 2)
    }

    /// Where an entry belongs: the bits behind those all entries share, spread over the buckets.
    #[inline]
    fn bucket_of(&self, hash: u64) -> usize {
        let bits = (hash << self.depth) >> 32;
        ((bits * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn behind(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// A shard of these slots, without the slots of crowds, which are handed over.
    fn filled(
        depth: u32,
        slots: &mut [u32],
        hash_of: impl Fn(u32) -> u64,
        mut crowd: impl FnMut(u64, &[u32]),
    ) -> Self {
        // More than a shard has room for can only be a crowd: no use in placing it first.
        if slots.len() <= SHARD_ENTRIES {
            let mut shard = Shard::sized(depth, slots.len());
            let crowded = slots.iter().fold(false, |crowded, &slot| {
                crowded | (shard.place(hash_of(slot), slot) >= CROWDED_BUCKETS)
            });
            if !crowded {
                return shard;
            }
        }
        slots.sort_unstable_by_key(|&slot| (hash_of(slot), slot));
        let groups = || slots.chunk_by(|&one, &other| hash_of(one) == hash_of(other));
        let (mut alone, mut shard_slots) = (0, Vec::new());
        for group in groups() {
            if group.len() >= CROWD {
                crowd(hash_of(group[0]), group);
            } else {
                alone += group.len();
                shard_slots.extend_from_slice(group);
            }
        }
        let mut shard = Shard::sized(depth, alone);
        for slot in shard_slots {
            shard.place(hash_of(slot), slot);
        }
        shard
    }

    /// Places an entry; returns how many buckets behind its own.
    fn place(&mut self, hash: u64, slot: u32) -> usize {
        let mut at = self.bucket_of(hash);
        let mut behind = 0;
        loop {
            let free = |&entry: &u32| entry == FREE || entry == REMOVED;
            if let Some(place) = self.buckets[at].iter().position(free) {
                self.used += usize::from(self.buckets[at][place] == FREE);
                self.buckets[at][place] = entry(hash, slot);
                return behind;
            }
            at = self.behind(at);
            behind += 1;
        }
    }

    fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        let entries = self.buckets.iter().flatten();
        entries.filter(|&&entry| entry != FREE && entry != REMOVED).map(|&entry| entry & SLOT)
    }
}

#[inline]
fn first_bits(hash: u64, bits: u32) -> usize {
    if bits == 0 { 0 } else { (hash >> (u64::BITS - bits)) as usize }
}

/// Six bits that bucket and shard do not depend on.
#[inline]
fn tag(hash: u64) -> u32 {
    (hash & 0x3F) as u32
}

#[inline]
fn entry(hash: u64, slot: u32) -> u32 {
    (tag(hash) << SLOT_BITS) | slot
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
            assert!(others < 400_000, "{others} slots that do not fit");
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

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds(
            steps in prop::collection::vec((any::<bool>(), 0_u64..400), 1..4000),
            spread in 1_u64..2000,
        ) {
            let mut table = KeyTable::new();
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
