//! Columns on disk: one number for each document in a file that is only appended to.
//!
//! Why: a corpus of two million documents has several hundred bytes of data for each document, and one step needs eight of
//! them. A step reads its column from end to end and drops it, so memory does not depend on how many columns there are.
//!
//! Why no sync: a killed process loses nothing that it has written to the operating system. To detect losses after a power
//! failure, every column carries a running checksum, recorded at the end of each part and compared when an unfinished run
//! continues.
//!
//! Cost: numbers in the byte order of the machine and nothing else, so reading is one copy.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytemuck::Pod;
use serde::{Deserialize, Serialize};

use crate::error::{ClusterError, io};

/// How far a column is, and what it holds up to there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Bytes.
    pub bytes: u64,
    /// A running checksum of the whole words of eight bytes: of every fourth, from the first one on.
    pub checksum: u64,
    /// The same from the second, the third and the fourth word on: four at a time, because each waits for the one
    /// before. Marks of earlier programs have one checksum of all words: a run that one of them left unfinished is
    /// taken for damaged and begins again.
    #[serde(default)]
    pub more: [u64; 3],
    /// The bytes behind the last whole word.
    pub tail: u64,
}

impl Mark {
    /// The mark after these bytes, the same however the bytes are cut into pieces.
    fn after(mut self, mut piece: &[u8]) -> Mark {
        while !self.bytes.is_multiple_of(32)
            && let Some((byte, rest)) = piece.split_first()
        {
            self.byte(*byte);
            piece = rest;
        }
        let (fours, rest) = piece.as_chunks::<32>();
        let [mut a, mut b, mut c, mut d] = self.lanes();
        for four in fours {
            let word = |at: usize| {
                u64::from_le_bytes(*four[at..].first_chunk().expect("a word ends inside"))
            };
            a = fold(a, word(0));
            b = fold(b, word(8));
            c = fold(c, word(16));
            d = fold(d, word(24));
        }
        self.set_lanes([a, b, c, d]);
        self.bytes += 32 * fours.len() as u64;
        rest.iter().for_each(|byte| self.byte(*byte));
        self
    }

    fn lanes(self) -> [u64; 4] {
        let [b, c, d] = self.more;
        [self.checksum, b, c, d]
    }

    fn set_lanes(&mut self, [a, b, c, d]: [u64; 4]) {
        (self.checksum, self.more) = (a, [b, c, d]);
    }

    fn byte(&mut self, byte: u8) {
        self.tail |= u64::from(byte) << (8 * (self.bytes % 8));
        self.bytes += 1;
        if self.bytes.is_multiple_of(8) {
            let mut lanes = self.lanes();
            let lane = &mut lanes[((self.bytes - 8) / 8 % 4) as usize];
            *lane = fold(*lane, self.tail);
            self.set_lanes(lanes);
            self.tail = 0;
        }
    }
}

/// Folds a word into a running checksum.
#[inline]
fn fold(checksum: u64, word: u64) -> u64 {
    let mixed = checksum ^ word ^ 0x9E37_79B9_7F4A_7C15;
    let product = u128::from(mixed) * 0xA076_1D64_78BD_642F;
    (product as u64) ^ ((product >> 64) as u64)
}

/// Appends to a column.
#[derive(Debug)]
pub(crate) struct ColumnWriter<T> {
    path: PathBuf,
    file: BufWriter<File>,
    mark: Mark,
    of: PhantomData<T>,
}

impl<T: Pod> ColumnWriter<T> {
    /// Continues after `mark` and truncates everything beyond it; an empty mark starts the column.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or what it holds up to the mark is not what was written.
    pub(crate) fn open(path: PathBuf, mark: Mark) -> Result<Self, ClusterError> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(io("open", &path))?;
        if mark.bytes > 0 {
            check(&mut file, &path, mark)?;
        }
        file.set_len(mark.bytes).map_err(io("write", &path))?;
        file.seek(SeekFrom::End(0)).map_err(io("write", &path))?;
        Ok(ColumnWriter {
            path,
            file: BufWriter::with_capacity(64 << 10, file),
            mark,
            of: PhantomData,
        })
    }

    /// Appends values.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn extend(&mut self, values: &[T]) -> Result<(), ClusterError> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.mark = self.mark.after(bytes);
        self.file.write_all(bytes).map_err(io("write", &self.path))
    }

    /// How many bytes the column has.
    #[must_use]
    pub(crate) fn bytes(&self) -> u64 {
        self.mark.bytes
    }

    /// Writes all buffered bytes to the operating system; returns the length of the column.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn flush(&mut self) -> Result<Mark, ClusterError> {
        self.file.flush().map_err(io("write", &self.path))?;
        Ok(self.mark)
    }
}

/// Writes a whole column and syncs it to the disk.
pub(crate) fn write_column<T: Pod>(path: &Path, values: &[T]) -> Result<Mark, ClusterError> {
    let mut column = ColumnWriter::open(path.to_owned(), Mark::default())?;
    column.extend(values)?;
    let mark = column.flush()?;
    column.file.get_ref().sync_all().map_err(io("write", path))?;
    Ok(mark)
}

/// Whether the start of a file is what the mark says.
fn check(file: &mut File, path: &Path, mark: Mark) -> Result<(), ClusterError> {
    let mut left = mark.bytes;
    let mut found = Mark::default();
    let mut piece = vec![0; 1 << 20];
    while left > 0 {
        let length = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let piece = &mut piece[..length];
        if file.read_exact(piece).is_err() {
            return Err(ClusterError::Damaged { path: path.to_owned() });
        }
        found = found.after(piece);
        left -= length as u64;
    }
    if found == mark { Ok(()) } else { Err(ClusterError::Damaged { path: path.to_owned() }) }
}

/// How much of a column is read at a time.
const PIECE_BYTES: usize = 256 << 10;

/// A column to read.
#[derive(Debug)]
pub(crate) struct Column<T> {
    path: PathBuf,
    file: File,
    length: u64,
    of: PhantomData<T>,
}

impl<T: Pod> Column<T> {
    /// Opens a column.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(crate) fn open(path: PathBuf) -> Result<Self, ClusterError> {
        let file = File::open(&path).map_err(io("open", &path))?;
        let bytes = file.metadata().map_err(io("read", &path))?.len();
        Ok(Column { path, file, length: bytes / size_of::<T>() as u64, of: PhantomData })
    }

    /// How many values there are.
    #[must_use]
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Reads `values.len()` values from `start` on.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub(crate) fn read_at(&self, start: u64, values: &mut [T]) -> Result<(), ClusterError> {
        self.file
            .read_exact_at(bytemuck::cast_slice_mut(values), start * size_of::<T>() as u64)
            .map_err(io("read", &self.path))
    }

    /// One value.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(crate) fn get(&self, at: u64) -> Result<T, ClusterError> {
        let mut value = [T::zeroed()];
        self.read_at(at, &mut value)?;
        Ok(value[0])
    }

    /// The whole column.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(crate) fn read_all(&self) -> Result<Vec<T>, ClusterError> {
        let mut values = vec![T::zeroed(); usize::try_from(self.length).unwrap_or(usize::MAX)];
        self.read_at(0, &mut values)?;
        Ok(values)
    }

    /// Calls `each` with every value and its place, in order, a piece in memory at a time.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or the first error of `each`.
    pub(crate) fn for_each(
        &self,
        mut each: impl FnMut(u64, T) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        self.for_each_piece(|start, piece| {
            piece.iter().zip(start..).try_for_each(|(value, place)| each(place, *value))
        })
    }

    /// Calls `each` with piece after piece of the column and the place of its first value.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or the first error of `each`.
    pub(crate) fn for_each_piece(
        &self,
        mut each: impl FnMut(u64, &[T]) -> Result<(), ClusterError>,
    ) -> Result<(), ClusterError> {
        let mut piece: Vec<T> = Vec::new();
        piece.resize(PIECE_BYTES / size_of::<T>(), T::zeroed());
        let mut at = 0;
        while at < self.length {
            let length = piece.len().min(usize::try_from(self.length - at).unwrap_or(usize::MAX));
            self.read_at(at, &mut piece[..length])?;
            each(at, &piece[..length])?;
            at += length as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn a_mark_does_not_depend_on_how_bytes_are_cut(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
        ) {
            let cut = pieces.iter().fold(Mark::default(), |mark, piece| mark.after(piece));
            prop_assert_eq!(cut, Mark::default().after(&pieces.concat()));
        }

        #[test]
        fn a_column_goes_on_behind_its_mark(
            first in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..50), 0..5),
            lost in prop::collection::vec(any::<u64>(), 0..50),
            second in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("column");
            let mut writer = ColumnWriter::open(path.clone(), Mark::default()).unwrap();
            first.iter().for_each(|piece| writer.extend(piece).unwrap());
            let mark = writer.flush().unwrap();
            writer.extend(&lost).unwrap();
            drop(writer);
            let mut writer = ColumnWriter::open(path.clone(), mark).unwrap();
            writer.extend(&second).unwrap();
            writer.flush().unwrap();
            let expected: Vec<u64> = first.concat().into_iter().chain(second).collect();
            prop_assert_eq!(Column::<u64>::open(path).unwrap().read_all().unwrap(), expected);
        }
    }

    #[test]
    fn a_changed_byte_before_the_mark_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("column");
        let mut writer = ColumnWriter::<u8>::open(path.clone(), Mark::default()).unwrap();
        writer.extend(b"some bytes that are worth keeping").unwrap();
        let mark = writer.flush().unwrap();
        drop(writer);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[11] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = ColumnWriter::<u8>::open(path, mark).unwrap_err();
        assert!(matches!(error, ClusterError::Damaged { .. }));
    }
}
