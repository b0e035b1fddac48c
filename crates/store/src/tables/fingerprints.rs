//! Fingerprints of rows that are kept with them: a row that was altered is noticed when it is read.

use std::hash::Hasher;

use wonbon_index::Row;
use wonbon_sketch::rabin::{RABIN_64, RabinHasher};
use wonbon_time::Timestamp;

use crate::decisions::{Decision, DecisionEntry};
use crate::sweeps::Sighting;

/// Of a run of sightings.
pub(super) fn sighting_fingerprint(row: Row, sighting: &Sighting) -> i64 {
    let mut hash = RabinHasher::new(&RABIN_64);
    let Sighting { first, last, version } = *sighting;
    let (first, last) = (first.as_microseconds(), last.as_microseconds());
    for number in [i64::from(row.0), first, last, i64::from(version)] {
        hash.write(&number.to_le_bytes());
    }
    hash.finish() as i64
}

/// Of where an address led.
pub(super) fn redirect_fingerprint(key: &str, sweep: Timestamp, target: &str) -> i64 {
    let mut hash = RabinHasher::new(&RABIN_64);
    hash.write(&(key.len() as u64).to_le_bytes());
    hash.write(key.as_bytes());
    hash.write(&sweep.as_microseconds().to_le_bytes());
    hash.write(target.as_bytes());
    hash.finish() as i64
}

impl DecisionEntry {
    /// Of everything in the entry, in a fixed order.
    pub(super) fn fingerprint(&self) -> i64 {
        let mut hash = RabinHasher::new(&RABIN_64);
        for text in [Some(&self.who), Some(&self.key), self.reason.as_ref()] {
            hash.write(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            hash.write(text.map_or(&[], |text| text.as_bytes()));
        }
        for number in [
            self.entry as i64,
            self.time.as_microseconds(),
            self.change as i64,
            Decision::number(self.before).unwrap_or(-1),
            Decision::number(self.after).unwrap_or(-1),
            self.undoes.map_or(-1, |entry| entry as i64),
        ] {
            hash.write(&number.to_le_bytes());
        }
        hash.finish() as i64
    }
}
