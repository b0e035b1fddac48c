//! Whatever stands in the file of a snapshot, it is an index or refused by the name of the file.

use wonbon_index::{CopyIndex as _, IndexError, IndexParams, MemoryIndex};
use wonbon_sketch::rabin::RABIN_64;

/// Reads the bytes as they are, and with the length and the checksum that they would need.
///
/// # Panics
///
/// When a promise of `MemoryIndex::read_snapshot` does not hold.
pub(crate) fn snapshot(data: &[u8]) {
    read(data);
    let (header, row) = (36, 4 + 8 * IndexParams::default().features);
    if data.len() < header {
        return;
    }
    let mut dressed = data.to_vec();
    let originals = (dressed.len() - header) / row;
    dressed.truncate(header + originals * row);
    dressed[28..36].copy_from_slice(&(originals as u64).to_le_bytes());
    let checksum = RABIN_64.fingerprint(&dressed);
    dressed.extend(checksum.to_le_bytes());
    read(&dressed);
}

fn read(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("snapshot");
    std::fs::write(&path, bytes).expect("there is room");
    let (index, mark) = match MemoryIndex::read_snapshot(&path, IndexParams::default()) {
        Ok(read) => read,
        Err(error) => {
            assert!(!matches!(error, IndexError::Io { .. }), "the disk works: {error}");
            return;
        }
    };
    for (row, features) in index.originals() {
        let found = index.matches(features).expect("the features are as many as they have to be");
        assert!(found.iter().any(|found| found.row == row), "an original is found by its features");
    }
    index.write_snapshot(&path, mark).expect("there is room");
    let again = MemoryIndex::read_snapshot(&path, IndexParams::default()).expect("it was written");
    assert_eq!((again.0.len(), again.1), (index.len(), mark));
}
