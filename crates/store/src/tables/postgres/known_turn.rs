//! Which turn a process has taken in last, and whether the store still has it.
//!
//! Why a name and not a number: after a failover to a standby that was behind, turns that were acknowledged are gone, and others
//! take their numbers. Whoever has seen the lost ones has to begin anew, also when the numbers have been reached again. A turn's
//! name is drawn at random, so the store has it exactly as long as the turn is part of its history.
//!
//! The file holds the name beside what a process derives from the tables, so that this is noticed at the next start too. It is
//! written in place, without a sync, before anything derived is made durable: what is derived and claims to be of a later
//! change than the file says is not trusted.
//!
//! Cost: a write of 32 bytes a turn, some microseconds.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::error::StoreError;

/// A change, a name, and eight bytes of their digest.
const BYTES: usize = 8 + NAME_BYTES + 8;
const NAME_BYTES: usize = 16;

/// A turn: the last change that was made when it ended, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownTurn {
    pub(crate) change: u64,
    pub(crate) name: Vec<u8>,
}

/// The file.
#[derive(Debug)]
pub(crate) struct KnownTurnFile(File);

impl KnownTurnFile {
    /// Opens the file in a directory, or makes it; and what it says, if that can be read.
    pub(crate) fn open(directory: &Path) -> Result<(Self, Option<KnownTurn>), StoreError> {
        let path = directory.join("turn");
        let io = |source| StoreError::Io { doing: "open", path: path.clone(), source };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(io)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        Ok((KnownTurnFile(file), decode(&bytes)))
    }

    /// Writes what is known now; a file that cannot be written says nothing.
    pub(crate) fn write(&self, turn: &KnownTurn) {
        if self.0.write_all_at(&encode(turn), 0).is_err() {
            self.forget();
        }
    }

    /// From now on it says nothing.
    pub(crate) fn forget(&self) {
        // Half a turn has a wrong digest.
        let _ = self.0.set_len(0);
    }
}

fn encode(turn: &KnownTurn) -> Vec<u8> {
    let mut bytes = turn.change.to_le_bytes().to_vec();
    bytes.extend_from_slice(&turn.name);
    let digest = Sha256::digest(&bytes);
    bytes.extend_from_slice(&digest[..8]);
    bytes
}

fn decode(bytes: &[u8]) -> Option<KnownTurn> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    let (change, name) = bytes[..8 + NAME_BYTES].split_at(8);
    let turn =
        KnownTurn { change: u64::from_le_bytes(change.try_into().ok()?), name: name.to_vec() };
    (encode(&turn) == bytes).then_some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_half_of_it_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let (file, before) = KnownTurnFile::open(directory.path()).unwrap();
        assert_eq!(before, None);
        let turns = [7, u64::MAX].map(|change| KnownTurn { change, name: vec![change as u8; 16] });
        for turn in &turns {
            file.write(turn);
            let (_, read) = KnownTurnFile::open(directory.path()).unwrap();
            assert_eq!(read.as_ref(), Some(turn));
        }
        let (one, other) = (encode(&turns[0]), encode(&turns[1]));
        for at in 1..BYTES {
            let torn = [&one[..at], &other[at..]].concat();
            assert_eq!(decode(&torn), None, "{at}");
            assert_eq!(decode(&one[..at]), None, "{at}");
        }
        file.forget();
        assert_eq!(KnownTurnFile::open(directory.path()).unwrap().1, None);
    }
}
