//! A shard of a [`KeyTable`](super::KeyTable): buckets of entries, and how many bits of an entry are the number of its slot.

use super::{CROWD, SHARD_ENTRIES};

/// No entry; no entry follows in this bucket or overflowed from it.
const FREE: u32 = u32::MAX;
/// An entry was removed from a full bucket: others may have overflowed from it.
const REMOVED: u32 = u32::MAX - 1;
const BUCKET_ENTRIES: usize = 16;
/// An entry so many buckets behind its own is a sign of a crowd.
pub(super) const CROWDED_BUCKETS: usize = CROWD / BUCKET_ENTRIES;

type Bucket = [u32; BUCKET_ENTRIES];

/// The entries whose hashes have their first bits in common.
#[derive(Debug, Clone)]
pub(super) struct Shard {
    /// How many first bits of the hash its entries have in common.
    pub(super) depth: u32,
    /// How many bits of an entry are the number of its slot.
    pub(super) slot_bits: u32,
    /// Entries and removed places.
    pub(super) used: usize,
    buckets: Vec<Bucket>,
}

impl Shard {
    /// A shard with room for `entries` and a little more.
    pub(super) fn sized(depth: u32, slot_bits: u32, entries: usize) -> Self {
        let buckets = (entries * 100).div_ceil(78 * BUCKET_ENTRIES).max(1);
        Shard { depth, slot_bits, used: 0, buckets: vec![[FREE; BUCKET_ENTRIES]; buckets] }
    }

    /// Bits that bucket and shard do not depend on, unless the table is larger than memory.
    #[inline]
    fn tag(&self, hash: u64) -> u32 {
        hash as u32 & low_bits(u32::BITS - self.slot_bits)
    }

    #[inline]
    fn entry(&self, hash: u64, slot: u32) -> u32 {
        (self.tag(hash) << self.slot_bits) | slot
    }

    /// A bit for each entry of a bucket that has this tag.
    #[inline]
    fn fitting(&self, bucket: usize, tag: u32) -> u32 {
        let slot_bits = self.slot_bits;
        let entries = self.buckets[bucket].iter().enumerate();
        entries.fold(0, |bits, (at, &entry)| bits | (u32::from(entry >> slot_bits == tag) << at))
    }

    /// Gives slot numbers so many bits, which the tags lose.
    #[cold]
    fn widen(&mut self, slot_bits: u32) {
        let (slot_of, tag_of) = (low_bits(self.slot_bits), low_bits(u32::BITS - slot_bits));
        for entry in self.buckets.iter_mut().flatten().filter(|entry| **entry < REMOVED) {
            let tag = (*entry >> self.slot_bits) & tag_of;
            *entry = (tag << slot_bits) | (*entry & slot_of);
        }
        self.slot_bits = slot_bits;
    }

    /// Where entries of this hash stand.
    #[inline]
    pub(super) fn place_of(&self, hash: u64) -> Place<'_> {
        let (at, tag) = (self.bucket_of(hash), self.tag(hash));
        Place { shard: self, at, tag, fitting: self.fitting(at, tag) }
    }

    /// Bytes of memory of its buckets.
    pub(super) fn bucket_bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
    }

    /// How many entries fit before it has to grow.
    pub(super) fn room(&self) -> usize {
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
    pub(super) fn filled(
        (depth, slot_bits): (u32, u32),
        slots: &mut [u32],
        hash_of: impl Fn(u32) -> u64,
        mut crowd: impl FnMut(u64, &[u32]),
    ) -> Self {
        // More than a shard has room for can only be a crowd: no use in placing it first.
        if slots.len() <= SHARD_ENTRIES {
            let mut shard = Shard::sized(depth, slot_bits, slots.len());
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
        let mut shard = Shard::sized(depth, slot_bits, alone);
        for slot in shard_slots {
            shard.place(hash_of(slot), slot);
        }
        shard
    }

    /// Places an entry; returns how many buckets behind its own.
    pub(super) fn place(&mut self, hash: u64, slot: u32) -> usize {
        if bits_of_slot(slot) > self.slot_bits {
            self.widen(bits_of_slot(slot));
        }
        let entry = self.entry(hash, slot);
        let mut at = self.bucket_of(hash);
        let mut behind = 0;
        loop {
            let free = |&entry: &u32| entry == FREE || entry == REMOVED;
            if let Some(place) = self.buckets[at].iter().position(free) {
                self.used += usize::from(self.buckets[at][place] == FREE);
                self.buckets[at][place] = entry;
                return behind;
            }
            at = self.behind(at);
            behind += 1;
        }
    }

    /// Removes an entry; returns whether it was there.
    pub(super) fn remove(&mut self, hash: u64, slot: u32) -> bool {
        if bits_of_slot(slot) > self.slot_bits {
            return false;
        }
        let wanted = self.entry(hash, slot);
        let mut at = self.bucket_of(hash);
        for _ in 0..self.buckets.len() {
            let bucket = &mut self.buckets[at];
            if let Some(place) = bucket.iter().position(|&entry| entry == wanted) {
                if bucket[BUCKET_ENTRIES - 1] == FREE {
                    let last = bucket.iter().rposition(|&entry| entry != FREE).unwrap_or(place);
                    bucket.swap(place, last);
                    bucket[last] = FREE;
                    self.used -= 1;
                } else {
                    bucket[place] = REMOVED;
                }
                return true;
            }
            if bucket.contains(&FREE) {
                return false;
            }
            at = self.behind(at);
        }
        false
    }

    /// The slots of all entries.
    pub(super) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        let slot_of = low_bits(self.slot_bits);
        let entries = self.buckets.iter().flatten();
        entries.filter(|&&entry| entry < REMOVED).map(move |&entry| entry & slot_of)
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
    /// As [`KeyTable::find`](super::KeyTable::find).
    #[inline]
    pub(crate) fn find(self, mut each: impl FnMut(u32) -> bool) {
        let Place { shard, mut at, tag, mut fitting } = self;
        let slot_of = low_bits(shard.slot_bits);
        for _ in 0..shard.buckets.len() {
            let bucket = &shard.buckets[at];
            while fitting != 0 {
                let entry = bucket[fitting.trailing_zeros() as usize];
                fitting &= fitting - 1;
                if entry < REMOVED && each(entry & slot_of) {
                    return;
                }
            }
            // Free places are the last.
            if bucket[BUCKET_ENTRIES - 1] == FREE {
                return;
            }
            at = shard.behind(at);
            fitting = shard.fitting(at, tag);
        }
    }
}

/// A number whose lowest bits are set: so many of them, fewer than 32.
#[inline]
fn low_bits(bits: u32) -> u32 {
    (1 << bits) - 1
}

/// How many bits the number of a slot takes: the last two numbers of so many bits are those of [`FREE`] and [`REMOVED`].
#[inline]
pub(super) fn bits_of_slot(slot: u32) -> u32 {
    u32::BITS - (slot + 2).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::super::MOST_SLOTS;
    use super::*;

    #[test]
    fn no_entry_looks_like_a_free_or_removed_place() {
        for slot_bits in 2..32 {
            let shard = Shard::sized(0, slot_bits, 0);
            let last = low_bits(slot_bits) - 2;
            assert_eq!((bits_of_slot(last), bits_of_slot(last + 1)), (slot_bits, slot_bits + 1));
            assert!(shard.entry(u64::MAX, last) < REMOVED);
        }
        assert_eq!(bits_of_slot(MOST_SLOTS as u32 - 1), 31);
    }
}
