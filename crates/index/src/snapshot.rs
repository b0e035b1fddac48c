//! A snapshot: the originals of an index in one checksummed file.
//!
//! What is written is rows and features, not tables: tables are built from them faster than they
//! could be read and checked. The file appears whole or not at all, and a file that is not exactly
//! what was written is refused; an index can always be built from the store instead.
//!
//! Bytes, little-endian: the 8 letters `wonbonIX`; version 1, k, z, each 4 bytes; the caller's mark
//! and the number of originals, each 8 bytes; the rows, 4 bytes each; the features, 8 bytes each;
//! the Rabin fingerprint of all that, 8 bytes.

use std::fs::File;
use std::hash::Hasher;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use wonbon_files::{ReplacedFile, remove_leftovers};
use wonbon_sketch::rabin::{RABIN_64, RabinHasher};

use crate::{CopyIndex, IndexError, IndexParams, MemoryIndex, Row};

const MAGIC: &[u8; 8] = b"wonbonIX";
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 8 + 3 * 4 + 2 * 8;
const CHECKSUM_BYTES: u64 = 8;
/// Features and rows are converted in pieces of this many bytes.
const PIECE_BYTES: usize = 1 << 16;

impl MemoryIndex {
    /// Writes the originals to a file. `mark` is the caller's: what the snapshot is a snapshot of. One
    /// process at a time writes a snapshot.
    ///
    /// # Errors
    ///
    /// [`IndexError::Io`]; then the file, if there was one, is as it was.
    pub fn write_snapshot(&self, path: &Path, mark: u64) -> Result<(), IndexError> {
        let io = |source| IndexError::Io { doing: "write", path: path.to_owned(), source };
        remove_leftovers(path);
        let file = ReplacedFile::create(path)?;
        let checked = Checked { inner: file, hash: RabinHasher::new(&RABIN_64) };
        let mut out = BufWriter::with_capacity(PIECE_BYTES, checked);
        self.write_to(&mut out, mark).map_err(io)?;
        let Checked { inner: mut file, hash } =
            out.into_inner().map_err(|error| io(error.into_error()))?;
        file.write_all(&hash.finish().to_le_bytes()).map_err(io)?;
        Ok(file.commit()?)
    }

    fn write_to(&self, out: &mut impl Write, mark: u64) -> std::io::Result<()> {
        let IndexParams { features, agreeing } = self.params();
        out.write_all(MAGIC)?;
        for number in [VERSION, features as u32, agreeing as u32] {
            out.write_all(&number.to_le_bytes())?;
        }
        let originals = self.len() as u64;
        out.write_all(&mark.to_le_bytes())?;
        out.write_all(&originals.to_le_bytes())?;
        for (row, _) in self.originals() {
            out.write_all(&row.0.to_le_bytes())?;
        }
        for (_, features) in self.originals() {
            for feature in features {
                out.write_all(&feature.to_le_bytes())?;
            }
        }
        Ok(())
    }

    /// Reads a snapshot: the index and the mark it was written with.
    ///
    /// # Errors
    ///
    /// [`IndexError::Damaged`] if the file is not what was written,
    /// [`IndexError::ParamsMismatch`] if it was made for another comparison, [`IndexError::Io`].
    pub fn read_snapshot(path: &Path, params: IndexParams) -> Result<(Self, u64), IndexError> {
        let io = |source| IndexError::Io { doing: "read", path: path.to_owned(), source };
        let damaged = |what| IndexError::Damaged { path: path.to_owned(), what };
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        if length < HEADER_BYTES + CHECKSUM_BYTES {
            return Err(damaged("it is too short"));
        }
        let mut input = Checked { inner: BufReader::new(file), hash: RabinHasher::new(&RABIN_64) };
        let header: [u8; HEADER_BYTES as usize] = input.bytes().map_err(io)?;
        let number_4 =
            |at: usize| u32::from_le_bytes(*header[at..].first_chunk().expect("4 bytes"));
        let number_8 =
            |at: usize| u64::from_le_bytes(*header[at..].first_chunk().expect("8 bytes"));
        if !header.starts_with(MAGIC) {
            return Err(damaged("it is no snapshot of an index"));
        }
        if number_4(8) != VERSION {
            return Err(damaged("it has a version that this program does not know"));
        }
        let got = IndexParams { features: number_4(12) as usize, agreeing: number_4(16) as usize };
        if got != params {
            return Err(IndexError::ParamsMismatch { path: path.to_owned(), want: params, got });
        }
        let (mark, originals) = (number_8(20), number_8(28));
        // The length says how much memory is needed before any is taken.
        let body = originals
            .checked_mul(4 + 8 * params.features as u64)
            .and_then(|body| body.checked_add(HEADER_BYTES + CHECKSUM_BYTES));
        if body != Some(length) {
            return Err(damaged("its length is not what its header says"));
        }
        let originals = originals as usize;
        let rows = input.numbers(originals, |bytes| Row(u32::from_le_bytes(bytes))).map_err(io)?;
        let features =
            input.numbers(originals * params.features, u64::from_le_bytes).map_err(io)?;
        let expected = input.hash.finish();
        let mut checksum = [0; CHECKSUM_BYTES as usize];
        input.inner.read_exact(&mut checksum).map_err(io)?;
        if u64::from_le_bytes(checksum) != expected {
            return Err(damaged("its checksum does not match"));
        }
        Ok((MemoryIndex::build(params, rows, features)?, mark))
    }
}

/// Bytes on their way to or from a file, fingerprinted.
struct Checked<T> {
    inner: T,
    hash: RabinHasher,
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.write(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Checked<R> {
    fn bytes<const N: usize>(&mut self) -> std::io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.inner.read_exact(&mut bytes)?;
        self.hash.write(&bytes);
        Ok(bytes)
    }

    /// `count` numbers of `N` bytes.
    fn numbers<const N: usize, T>(
        &mut self,
        count: usize,
        number: impl Fn([u8; N]) -> T,
    ) -> std::io::Result<Vec<T>> {
        let mut numbers = Vec::with_capacity(count);
        let mut piece = vec![0; PIECE_BYTES / N * N];
        while numbers.len() < count {
            let take = piece.len().min((count - numbers.len()) * N);
            self.inner.read_exact(&mut piece[..take])?;
            self.hash.write(&piece[..take]);
            numbers.extend(piece[..take].as_chunks::<N>().0.iter().map(|&bytes| number(bytes)));
        }
        Ok(numbers)
    }
}
