//! Pairs to standard output or a file: sorted, complete or not at all.
//!
//! A join finds pairs in the order of its records' sizes; the output is in the order of lines.
//! Pairs are sorted in memory, or, when a memory limit was given and they exceed their share of
//! it, in runs that are written to a temporary file and merged. A waiting pair takes 12 bytes: two
//! lines and what they share. Sizes, and so similarities, follow from the lines when it is printed.
//!
//! A file is written beside its destination under a temporary name and renamed when it is
//! complete and on disk. Something that is not a regular file (a device, a pipe) is written to
//! directly.

use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use wonbon_files::ReplacedFile;
use wonbon_join::{Collection, Measure, Pair, PairSink, Side};

/// A line on standard error; that it cannot be written is nobody's loss.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// How a pair is printed.
pub(crate) struct Format {
    json: bool,
    measure: Measure,
    two_files: bool,
    /// By line: the size of its set, for each side.
    sizes: [Vec<u32>; 2],
}

impl Format {
    /// For pairs of a collection, which need not live as long.
    pub(crate) fn new(collection: &Collection, measure: Measure, json: bool) -> Self {
        let two_files = collection.has_two_sides();
        let right = if two_files { collection.line_sizes(Side::Right) } else { Vec::new() };
        Self { json, measure, two_files, sizes: [collection.line_sizes(Side::Left), right] }
    }

    fn print(&self, pair: &Waiting, to: &mut dyn Write) -> io::Result<()> {
        let &Waiting { left, right, overlap } = pair;
        let [of_left, of_second] = &self.sizes;
        let of_right = if self.two_files { of_second } else { of_left };
        let (left_size, right_size) = (of_left[left as usize], of_right[right as usize]);
        let pair = Pair { left, right, overlap, left_size, right_size };
        let value = pair.value(self.measure, self.two_files);
        let whole = self.measure == Measure::Overlap;
        match (self.json, whole) {
            (false, false) => writeln!(to, "{left}\t{right}\t{value:.6}"),
            (false, true) => writeln!(to, "{left}\t{right}\t{overlap}"),
            (true, false) => writeln!(
                to,
                r#"{{"left":{left},"right":{right},"similarity":{value:.6},"overlap":{overlap}}}"#
            ),
            (true, true) => writeln!(
                to,
                r#"{{"left":{left},"right":{right},"similarity":{overlap},"overlap":{overlap}}}"#
            ),
        }
    }
}

/// Where pairs go.
pub(crate) enum Output {
    /// Standard output.
    Standard,
    /// A regular file, complete or absent.
    File(PathBuf),
    /// Something else that can be written to.
    Device(PathBuf),
}

impl Output {
    /// Says early that a destination cannot be written.
    pub(crate) fn check(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::Standard) };
        let wrong = || format!("could not write {}", path.display());
        match std::fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => {
                Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(wrong)
            }
            Ok(metadata) if !metadata.is_file() => Ok(Self::Device(path.to_owned())),
            _ => {
                ReplacedFile::create(path)?;
                Ok(Self::File(path.to_owned()))
            }
        }
    }

    /// Writes all pairs and counts them.
    pub(crate) fn write(&self, sorter: PairSorter, format: &Format) -> Result<u64> {
        match self {
            Self::Standard => {
                let mut to = BufWriter::with_capacity(1 << 18, io::stdout().lock());
                let mut count = 0;
                let written = sorter
                    .for_each(|pair| {
                        count += 1;
                        format.print(pair, &mut to)
                    })
                    .and_then(|()| to.flush());
                match written {
                    // Whoever reads has enough.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(count),
                    Err(error) => Err(error).context("could not write to standard output"),
                    Ok(()) => Ok(count),
                }
            }
            Self::Device(path) => {
                let wrong = || format!("could not write {}", path.display());
                let file = File::options().write(true).open(path).with_context(wrong)?;
                write_to(file, sorter, format).map(|(_, count)| count).with_context(wrong)
            }
            Self::File(path) => {
                let wrong = || format!("could not write {}", path.display());
                let file = ReplacedFile::create(path)?;
                let (file, count) = write_to(file, sorter, format).with_context(wrong)?;
                file.commit()?;
                Ok(count)
            }
        }
    }
}

fn write_to<W: Write>(to: W, sorter: PairSorter, format: &Format) -> io::Result<(W, u64)> {
    let mut to = BufWriter::with_capacity(1 << 18, to);
    let mut count = 0;
    sorter.for_each(|pair| {
        count += 1;
        format.print(pair, &mut to)
    })?;
    let to = to.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok((to, count))
}

const PAIR_BYTES: usize = size_of::<Waiting>();

/// A pair that waits to be sorted and printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    left: u32,
    right: u32,
    overlap: u32,
}

/// Collects pairs in any order and gives them back sorted.
pub(crate) struct PairSorter {
    pairs: Vec<Waiting>,
    most: usize,
    spilled: Option<File>,
    runs: Vec<u64>,
    failed: Option<io::Error>,
}

impl PairSorter {
    /// With a memory limit, an eighth of it holds pairs.
    pub(crate) fn new(memory: Option<u64>) -> Self {
        let most = memory.map_or(usize::MAX, |bytes| {
            usize::try_from(bytes / 8).unwrap_or(usize::MAX) / PAIR_BYTES
        });
        Self { pairs: Vec::new(), most, spilled: None, runs: Vec::new(), failed: None }
    }

    /// Whether spilling went well.
    pub(crate) fn check(&mut self) -> Result<()> {
        match self.failed.take() {
            None => Ok(()),
            Some(error) => Err(error).context("could not write a temporary file for sorting"),
        }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.pairs.sort_unstable();
        let file = match &mut self.spilled {
            Some(file) => file,
            None => self.spilled.insert(tempfile::tempfile()?),
        };
        let mut to = BufWriter::with_capacity(1 << 16, &mut *file);
        for pair in &self.pairs {
            for value in [pair.left, pair.right, pair.overlap] {
                to.write_all(&value.to_le_bytes())?;
            }
        }
        to.flush()?;
        drop(to);
        self.runs.push(self.pairs.len() as u64);
        self.pairs.clear();
        Ok(())
    }

    /// Calls `each` for every pair, in order.
    fn for_each(mut self, mut each: impl FnMut(&Waiting) -> io::Result<()>) -> io::Result<()> {
        self.pairs.sort_unstable();
        let Some(file) = self.spilled else {
            return self.pairs.iter().try_for_each(each);
        };
        let mut runs = Vec::new();
        let mut at = 0;
        for &count in &self.runs {
            runs.push(Run::at(&file, at, count)?);
            at += count * PAIR_BYTES as u64;
        }
        let last = runs.len();
        let mut in_memory = self.pairs.iter();
        let mut heads = BinaryHeap::new();
        for (number, run) in runs.iter_mut().enumerate() {
            heads.extend(run.next()?.map(|pair| std::cmp::Reverse((pair, number))));
        }
        heads.extend(in_memory.next().map(|&pair| std::cmp::Reverse((pair, last))));
        while let Some(std::cmp::Reverse((pair, number))) = heads.pop() {
            each(&pair)?;
            let next = match runs.get_mut(number) {
                Some(run) => run.next()?,
                None => in_memory.next().copied(),
            };
            heads.extend(next.map(|pair| std::cmp::Reverse((pair, number))));
        }
        Ok(())
    }
}

/// A sorted run in the temporary file, read a piece at a time.
struct Run<'a> {
    file: &'a File,
    at: u64,
    left: u64,
    piece: BufReader<io::Cursor<Vec<u8>>>,
}

const PIECE: u64 = 3000;

impl<'a> Run<'a> {
    fn at(file: &'a File, at: u64, left: u64) -> io::Result<Self> {
        Ok(Self { file, at, left, piece: BufReader::new(io::Cursor::new(Vec::new())) })
    }

    fn next(&mut self) -> io::Result<Option<Waiting>> {
        if self.piece.fill_buf()?.is_empty() {
            let count = self.left.min(PIECE);
            if count == 0 {
                return Ok(None);
            }
            let mut bytes = vec![0; count as usize * PAIR_BYTES];
            self.file.seek(SeekFrom::Start(self.at))?;
            self.file.read_exact(&mut bytes)?;
            self.at += bytes.len() as u64;
            self.left -= count;
            self.piece = BufReader::with_capacity(PAIR_BYTES, io::Cursor::new(bytes));
        }
        let mut values = [0_u32; 3];
        for value in &mut values {
            let mut bytes = [0; 4];
            self.piece.read_exact(&mut bytes)?;
            *value = u32::from_le_bytes(bytes);
        }
        let [left, right, overlap] = values;
        Ok(Some(Waiting { left, right, overlap }))
    }
}

impl PairSink for PairSorter {
    fn accept(&mut self, pairs: &[Pair]) -> ControlFlow<()> {
        self.pairs.extend(pairs.iter().map(|&Pair { left, right, overlap, .. }| Waiting {
            left,
            right,
            overlap,
        }));
        if self.pairs.len() >= self.most
            && let Err(error) = self.spill()
        {
            self.failed = Some(error);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_runs_come_back_in_the_order_of_one_sort() {
        let pairs: Vec<Pair> = (0..20_000_u32)
            .map(|i| {
                let left = i.wrapping_mul(2_654_435_761) >> 12;
                Pair { left, right: left + 1 + i, overlap: i, left_size: i, right_size: i + 1 }
            })
            .collect();
        let mut sorter = PairSorter::new(Some(8 * 12 * 700));
        for some in pairs.chunks(97) {
            assert!(sorter.accept(some).is_continue());
        }
        assert!(sorter.runs.len() > 10);
        let mut back = Vec::new();
        sorter
            .for_each(|pair| {
                back.push((pair.left, pair.right, pair.overlap));
                Ok(())
            })
            .unwrap();
        let mut sorted = Vec::from_iter(pairs.iter().map(|p| (p.left, p.right, p.overlap)));
        sorted.sort_unstable();
        assert_eq!(back, sorted);
    }
}
